//! Modules for tests.

use std::collections::HashMap;
use std::fmt::Write;

use tfrt_ir::{Module, OpId, OpRegistry, ParseOptions, Source, ValueId, parse_module};

pub(crate) fn parse(text: &str) -> Module {
    let source = Source::new("program.mlir", text);
    parse_module(&source, &OpRegistry::new(), &ParseOptions::default()).expect("the program is well-formed")
}

/// The module in generic form with values numbered in order, locations left out.
pub(crate) fn dump(module: &Module) -> String {
    let mut out = String::new();
    let mut values = HashMap::new();
    for (op, _) in module.ops_in(module.body()) {
        dump_op(module, op, 0, &mut values, &mut out);
    }
    out
}

fn dump_op(module: &Module, op: OpId, depth: usize, values: &mut HashMap<ValueId, usize>, out: &mut String) {
    let operation = module.op(op);
    let operands: Vec<_> = operation.operands.iter().map(|operand| values.get(operand)).collect();
    let attributes: Vec<_> = operation
        .attributes
        .iter()
        .filter(|(name, _)| name.as_str() != "sym_visibility")
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    write!(out, "{:depth$}{} {operands:?} {attributes:?}", "", operation.name).expect("strings grow");
    for (&result, ty) in operation.results.iter().zip(module.result_types(op)) {
        let number = values.len();
        values.insert(result, number);
        write!(out, " %{number}: {ty}").expect("strings grow");
    }
    out.push('\n');
    for &region in &operation.regions {
        for &block in &module.region(region).blocks {
            out.push_str(&" ".repeat(depth + 2));
            for &argument in &module.block(block).arguments {
                let number = values.len();
                values.insert(argument, number);
                write!(out, " %{number}: {}", module.value_type(argument)).expect("strings grow");
            }
            out.push('\n');
            for (op, _) in module.ops_in(block) {
                dump_op(module, op, depth + 4, values, out);
            }
        }
    }
}
