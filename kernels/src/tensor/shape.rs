//! Shapes: `ts.*` and `ts_sync.*`.

use tfrt_host::{Arg, Attr, Chain, Diagnostic, ErrorCode, ExecutionContext, KernelRegistry};
use tfrt_tensor::{FixedRankShape, PartialTensorShape, TensorShape};

fn build_shape(value: Attr<[i64]>) -> Result<TensorShape, Diagnostic> {
    TensorShape::from_signed(value.0)
}

fn build_partial_shape(value: Attr<[i64]>) -> Result<PartialTensorShape, Diagnostic> {
    PartialTensorShape::ranked(value.0)
}

fn to_shape(shape: Arg<PartialTensorShape>) -> Result<TensorShape, Diagnostic> {
    shape.to_shape()
}

fn to_partial_shape(shape: Arg<TensorShape>) -> PartialTensorShape {
    PartialTensorShape::from(&*shape)
}

fn signed(number: usize) -> Result<i64, Diagnostic> {
    i64::try_from(number)
        .map_err(|_| Diagnostic::new(ErrorCode::OutOfRange, format!("{number} does not fit an i64")))
}

fn num_elements(shape: Arg<TensorShape>) -> Result<i64, Diagnostic> {
    signed(shape.num_elements()?)
}

fn dimension(shape: Arg<TensorShape>, index: i32) -> Result<i64, Diagnostic> {
    let index = usize::try_from(index).map_err(|_| {
        Diagnostic::new(
            ErrorCode::OutOfRange,
            format!("dimension {index} of shape {} does not exist", *shape),
        )
    })?;
    signed(shape.dim(index)?)
}

fn print_shape(shape: Arg<TensorShape>, _chain: Chain, cx: &ExecutionContext) -> Chain {
    cx.host().print(format_args!("shape = {}\n", *shape));
    Chain
}

fn print_partial_shape(shape: Arg<PartialTensorShape>, _chain: Chain, cx: &ExecutionContext) -> Chain {
    cx.host().print(format_args!("partial_tensor_shape = {}\n", *shape));
    Chain
}

macro_rules! fixed_rank {
    ($registry:ident, $($rank:literal)*) => {$(
        $registry
            .add(concat!("ts.as_fixed_rank_shape.", $rank), |shape: Arg<TensorShape>| shape.fixed::<$rank>())
            .doc("The shape as one of a rank known to the program; another rank is an error.");
        $registry
            .add(
                concat!("ts.print_fixed_rank_shape.", $rank),
                |shape: FixedRankShape<$rank>, _chain: Chain, cx: &ExecutionContext| {
                    cx.host().print(format_args!("fixed_rank_shape = {shape}\n"));
                    Chain
                },
            )
            .side_effecting()
            .doc("Prints `fixed_rank_shape = [d0, d1, …]`.");
    )*};
}

pub(super) fn register(registry: &mut KernelRegistry) {
    for dialect in ["ts", "ts_sync"] {
        let name = |kernel: &str| format!("{dialect}.{kernel}");
        registry.add(name("build_shape"), build_shape).doc("A shape of these extents.");
        registry
            .add(name("build_partial_shape"), build_partial_shape)
            .doc("A shape of these extents, -1 for one that is not known.");
        registry
            .add(name("to_partial_shape"), to_partial_shape)
            .doc("The shape as one that could have unknown extents.");
        registry
            .add(name("to_shape"), to_shape)
            .doc("The shape, if its rank and all extents are known; else an error that says which are not.");
        registry.add(name("get_num_elements"), num_elements).doc("The product of the extents.");
    }
    registry
        .add("ts.build_unranked_partial_shape", PartialTensorShape::unranked)
        .doc("The shape nothing is known of.");
    registry
        .add("ts.equal_shape", |a: Arg<TensorShape>, b: Arg<TensorShape>| *a == *b)
        .doc("Whether two shapes have the same extents.");
    registry.add("ts.get_dimension", dimension).doc("The extent of one dimension.");
    registry.add("ts.print_shape", print_shape).side_effecting().doc("Prints `shape = [d0, d1, …]`.");
    registry
        .add("ts.print_partial_shape", print_partial_shape)
        .side_effecting()
        .doc("Prints `partial_tensor_shape = [d0, -1, …]` or `partial_tensor_shape = Unknown rank`.");
    fixed_rank!(registry, 0 1 2 3 4);
}
