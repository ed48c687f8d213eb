//! `tfrt ops`: the reference of all ops, made of what they are registered with.

use std::fmt::Write as _;

use tfrt_eager::{
    Op, OpRegistry,
    ops::{Description, description},
};
use tfrt_host::DType;

use super::{Failure, reference::Args};
use crate::Console;

/// Runs the command.
pub(super) fn run(args: &Args, console: &mut Console) -> Result<(), Failure> {
    let mut registry = OpRegistry::new();
    tfrt_eager::ops::register(&mut registry);
    args.deliver("ops", &reference(&registry), console)
}

/// All ops but those of tests, by name.
fn reference(registry: &OpRegistry) -> String {
    let mut ops: Vec<&Op> = registry.ops().filter(|op| !op.name().starts_with("tfrt_test.")).collect();
    ops.sort_unstable_by_key(|op| op.name());
    let mut text = String::from(
        "# Ops\n\nMade from the registered ops by `tfrt ops --write docs/ops.md`. Each has TensorFlow's arguments, results and \
         attributes. The types are those of tensors wherever the op runs, but for strings, which are in host memory alone; another \
         type is an error of the call. On devices nobody looks at a tensor's elements before an op runs: integers divided by \
         zero give zero there, and indices and labels out of bounds zeros or NaN, where the host gives an error. Indices by which \
         ops scatter come to the host, which looks at them.\n\n| op | attributes | types | runs on |\n|---|---|---|---|\n",
    );
    for op in ops {
        let Description { types, attributes } =
            description(op.name()).unwrap_or(Description { types: &[], attributes: "" });
        let types: Vec<_> = types.iter().map(|&dtype| type_name(dtype)).collect();
        let types = if types.is_empty() { String::new() } else { format!("`{}`", types.join(" ")) };
        let attributes = match attributes {
            "" => String::new(),
            attributes => format!("`{attributes}`"),
        };
        let places = match (op.runs_on_host(), op.runs_on_devices()) {
            (true, true) => "host, devices",
            (true, false) => "host",
            (false, _) => "devices",
        };
        let remark = if op.is_side_effecting() { " *(in the order of chains)*" } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| `{}` | {attributes} | {types} | {places}{remark} |", op.name());
    }
    text
}

fn type_name(dtype: DType) -> &'static str {
    match dtype {
        // As a tensor's element it is no value of a program.
        DType::String => "string",
        dtype => dtype.mlir_name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_says_where_an_op_runs() {
        let mut registry = OpRegistry::new();
        tfrt_eager::ops::register(&mut registry);
        let text = reference(&registry);
        let row = "| `tf.LogicalAnd` |  | `i1` | host, devices |";
        assert!(text.contains(row), "{text}");
        assert!(text.contains("| `tf.MatMul` | `transpose_a: bool = false, transpose_b: bool = false` |"));
        assert!(!text.contains("tfrt_test"));
    }
}
