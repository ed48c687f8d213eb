//! What a program contains: its sections, functions and kernels, and the model that it was compiled
//! from.

use std::{collections::BTreeMap, fmt::Write as _, path::Path};

use serde_json::{Value, json};
use tfrt_bef::Inspection;
use tfrt_compiler::lower::SETUP;
use tfrt_convert::bef_to_mlir;
use tfrt_ir::{Attribute, Location, Module};
use tfrt_models::kernels::{ModelSignature, ModelWeights};

use super::{Args, print_graph, with_prefix};
use crate::{
    Console, Errors, Runtime,
    tools::cli::{Failure, model, print_json, program::read_program, report::visible},
};

/// Runs the command.
pub(super) fn run(args: &Args, path: &Path, runtime: &Runtime, console: &mut Console) -> Result<(), Failure> {
    let bef = read_program(path, runtime, console)?;
    let location = Location::file(path.to_string_lossy().as_ref(), 0, 0);
    let ops = crate::operations(runtime.registry())?;
    let to_module = |bytes: &[u8]| {
        bef_to_mlir(bytes.to_vec(), &ops, &location).map(|converted| converted.module).map_err(Errors::from)
    };
    if let Some(format) = args.graph {
        return print_graph(&to_module(bef.bytes())?, args.function.as_deref(), format, console);
    }
    let inspection = bef.inspect();
    let compiled = match inspection.functions.iter().any(|f| f.name == tfrt_compiler::lower::SIGNATURE) {
        true => Compiled::of(&to_module(bef.bytes())?, bef.bytes(), path, runtime)?,
        false => None,
    };
    if args.json {
        let mut json = to_json(&inspection);
        if let Some(compiled) = &compiled {
            json["model"] = compiled.to_json();
        }
        print_json(console, &json);
    } else {
        console.print(compiled.map_or_else(String::new, |compiled| compiled.to_text()));
        console.print(to_text(&inspection));
    }
    Ok(())
}

/// What a program says of the model that it was compiled from.
struct Compiled {
    signature: ModelSignature,
    /// The ops by name.
    ops: BTreeMap<String, usize>,
    /// The elements and bytes of the weights; `None` if their file is not there.
    weights: Option<(u64, u64)>,
}

impl Compiled {
    fn of(module: &Module, bef: &[u8], path: &Path, runtime: &Runtime) -> Result<Option<Self>, Failure> {
        let program = runtime.load(&path.to_string_lossy(), bef.to_vec())?;
        let Some(model) = model::of_program(&program, path, None, false, runtime)? else { return Ok(None) };
        let mut ops = BTreeMap::new();
        // The setup function calls ops to place the weights, which is no part of the model.
        let functions = module.functions().filter(|function| function.name() != SETUP);
        for op in functions.flat_map(|function| module.walk(function.op())) {
            if let Some(name) = module.op(op).attr("op_name").and_then(Attribute::as_str) {
                *ops.entry(name.to_owned()).or_default() += 1;
            }
        }
        let weights = match &model.weights {
            Some(ModelWeights::File(file)) => {
                let (mut elements, mut bytes) = (0, 0);
                for name in file.names() {
                    let tensor = file.tensor(name, runtime.host().allocator())?;
                    elements += tensor.num_elements() as u64;
                    bytes += tensor.size_bytes() as u64;
                }
                Some((elements, bytes))
            }
            _ => None,
        };
        Ok(Some(Self { signature: model.signature, ops, weights }))
    }

    fn to_text(&self) -> String {
        let mut text = String::from("compiled from a model\n");
        for (title, ports) in [("inputs", &self.signature.inputs), ("outputs", &self.signature.outputs)] {
            text += &format!("\n{title}\n");
            for (name, ty) in ports {
                text += &format!("  {name}: {ty}\n");
            }
        }
        text += "\nops\n";
        let mut ops: Vec<_> = self.ops.iter().collect();
        ops.sort_by_key(|&(_, count)| std::cmp::Reverse(*count));
        for (name, count) in ops {
            text += &format!("  {name:<32}{count:>6}\n");
        }
        text += &match self.weights {
            Some((elements, bytes)) => format!("\nparameters: {elements} ({}B)\n\n", with_prefix(bytes)),
            None => "\nthe file with the parameters is not there\n\n".to_owned(),
        };
        visible(&text).into_owned()
    }

    fn to_json(&self) -> Value {
        let ports = |ports: &[(String, String)]| {
            ports.iter().map(|(name, ty)| json!({ "name": name, "type": ty })).collect::<Vec<_>>()
        };
        json!({
            "inputs": ports(&self.signature.inputs), "outputs": ports(&self.signature.outputs), "ops": self.ops,
            "parameters": self.weights.map(|(elements, _)| elements),
            "parameter_bytes": self.weights.map(|(_, bytes)| bytes),
        })
    }
}

fn to_text(inspection: &Inspection) -> String {
    let mut text = format!("BEF version {}, {} bytes\n\nsections\n", inspection.version, inspection.bytes);
    for section in &inspection.sections {
        let name = section.name.map_or_else(|| format!("unknown ({})", section.code), str::to_owned);
        let entries = section.entries.map_or_else(String::new, |entries| format!("{entries} entries"));
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "  {name:<20} {:>8} bytes at {:>8}, alignment {:>2}  {entries}",
            section.bytes, section.offset, section.alignment
        );
    }
    text += "\nfunctions\n";
    for function in &inspection.functions {
        let name = if function.name.is_empty() { "(region)" } else { &function.name };
        let _ = writeln!(
            text,
            "  {name}({}) -> ({}): {}, {} kernels, {} registers, {} bytes",
            function.arguments.join(", "),
            function.results.join(", "),
            function.kind,
            function.kernels,
            function.registers,
            function.record_bytes
        );
    }
    text += "\nkernels\n";
    for kernel in &inspection.kernels {
        let _ = writeln!(text, "  {kernel}");
    }
    text
}

fn to_json(inspection: &Inspection) -> Value {
    let sections: Vec<_> = inspection
        .sections
        .iter()
        .map(|s| {
            json!({
                "code": s.code, "name": s.name, "offset": s.offset, "bytes": s.bytes,
                "alignment": s.alignment, "entries": s.entries,
            })
        })
        .collect();
    let functions: Vec<_> = inspection
        .functions
        .iter()
        .map(|f| {
            json!({
                "name": f.name, "kind": f.kind, "arguments": f.arguments, "results": f.results,
                "kernels": f.kernels, "registers": f.registers, "bytes": f.record_bytes,
            })
        })
        .collect();
    json!({
        "version": inspection.version, "bytes": inspection.bytes, "sections": sections,
        "functions": functions, "kernels": inspection.kernels, "types": inspection.types,
    })
}
