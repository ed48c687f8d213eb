//! `tfrt kernels`: the reference of all kernels, made from their registrations.

use std::{fmt::Write as _, path::PathBuf};

use serde_json::json;
use tfrt_host::{AttributeSpec, Kernel, KernelRegistry, Placement, TypeSpec};

use super::{
    Failure,
    reference::{Entry, ReferenceArgs},
};
use crate::{Console, tools};

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) reference: ReferenceArgs,
    /// Load kernels from a shared LIBRARY, whose code runs in this process
    #[arg(long = "kernels", value_name = "LIBRARY")]
    shared_libraries: Vec<PathBuf>,
}

/// Runs the command.
pub(super) fn run(args: &Args, console: &mut Console) -> Result<(), Failure> {
    let registry = tools::kernels(&args.shared_libraries)?;
    let entries = || registry.kernels().map(entry).collect();
    args.reference.deliver("kernels", || reference(&registry), entries, console)
}

fn entry(kernel: &Kernel) -> Entry {
    let name = kernel.name().to_owned();
    let signature = signature(kernel);
    let mut text = format!("{name}: {signature}\n");
    for line in kernel.doc().lines() {
        // Writing to a string does not fail.
        let _ = writeln!(text, "    {line}");
    }
    let properties = properties(kernel);
    if !properties.is_empty() {
        let _ = writeln!(text, "    ({})", properties.join("; "));
    }
    let json = json!({
        "name": name, "signature": signature, "doc": kernel.doc(), "properties": properties,
    });
    Entry { name, text, json }
}

/// Writes one section for each dialect, which is the part of the name before the first dot.
fn reference(registry: &KernelRegistry) -> String {
    let mut text = String::from(
        "# Kernels\n\nMade from the kernels' own signatures by `tfrt kernels --write docs/kernels.md`. `…` stands for any \
         number of further ones.\n",
    );
    let mut section = "";
    for kernel in registry.kernels() {
        let dialect = kernel.name().split('.').next().unwrap_or_default();
        if dialect != section {
            section = dialect;
            // Writing to a string cannot fail.
            let _ = write!(text, "\n## {section}\n\n| kernel | signature | |\n|---|---|---|\n");
        }
        // The attributes have a code span of their own.
        let signature = signature(kernel).replacen(" {", "` `{", 1);
        let _ = writeln!(text, "| `{}` | `{signature}` | {} |", kernel.name(), remarks(kernel));
    }
    text
}

fn signature(kernel: &Kernel) -> String {
    let signature = kernel.signature();
    let types = |fixed: &[TypeSpec], rest: Option<TypeSpec>| {
        let fixed = fixed.iter().map(|&spec| type_name(spec).to_owned());
        fixed.chain(rest.map(|spec| format!("{}…", type_name(spec)))).collect::<Vec<_>>().join(", ")
    };
    let mut text = format!(
        "({}) -> ({})",
        types(&signature.arguments, signature.rest_arguments),
        types(&signature.results, signature.rest_results)
    );
    let named = signature.attributes.iter().map(|a| format!("{}: {}", a.name, attribute_name(a.spec)));
    let rest = signature.rest_attributes.map(|spec| format!("{}…", attribute_name(spec)));
    let attributes: Vec<_> = named.chain(rest).collect();
    if !attributes.is_empty() {
        let _ = write!(text, " {{{}}}", attributes.join(", "));
    }
    text
}

fn type_name(spec: TypeSpec) -> &'static str {
    spec.name().unwrap_or("any")
}

fn attribute_name(spec: AttributeSpec) -> String {
    match spec {
        AttributeSpec::Scalar(dtype) => dtype.mlir_name().to_owned(),
        AttributeSpec::Array(dtype) => format!("[{}]", dtype.mlir_name()),
        AttributeSpec::String => "string".to_owned(),
        AttributeSpec::Type => "type".to_owned(),
        AttributeSpec::TypeArray => "[type]".to_owned(),
        AttributeSpec::Shape => "shape".to_owned(),
        AttributeSpec::Dense => "dense".to_owned(),
        AttributeSpec::Aggregate => "[any]".to_owned(),
        AttributeSpec::Any => "any".to_owned(),
    }
}

fn remarks(kernel: &Kernel) -> String {
    let mut text = kernel.doc().replace('|', "\\|").replace('\n', " ");
    let properties = properties(kernel);
    if !properties.is_empty() {
        let _ = write!(text, " *({})*", properties.join("; "));
    }
    text
}

/// Describes what a kernel's signature does not say.
fn properties(kernel: &Kernel) -> Vec<String> {
    let functions = match (kernel.signature().functions, kernel.signature().rest_functions) {
        (0, _) => None,
        (1, false) => Some("takes a function".to_owned()),
        (count, more) => Some(format!("takes {count}{} functions", if more { " or more" } else { "" })),
    };
    let placement = match kernel.placement() {
        Placement::Inline => None,
        Placement::Parallel => Some("runs beside others".to_owned()),
        Placement::Blocking => Some("may wait".to_owned()),
    };
    let mutated = kernel.mutated_arguments();
    let mutates = (!mutated.is_empty()).then(|| {
        format!("changes {}", mutated.iter().map(|a| format!("argument {a}")).collect::<Vec<_>>().join(", "))
    });
    let effects = kernel.is_side_effecting().then(|| "has side effects".to_owned());
    let non_strict = kernel.is_non_strict().then(|| "non-strict".to_owned());
    [functions, placement, mutates, effects, non_strict].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use tfrt_host::Attr;

    use super::*;

    #[test]
    fn the_reference_says_what_the_signature_says() {
        let mut registry = KernelRegistry::new();
        registry
            .add("my.add", |x: i32, by: Attr<i32>| x.wrapping_add(by.0))
            .attributes(&["by"])
            .doc("A sum.")
            .side_effecting();
        let text = reference(&registry);
        assert!(
            text.contains("| `my.add` | `(i32) -> (i32)` `{by: i32}` | A sum. *(has side effects)* |"),
            "{text}"
        );
    }
}
