//! Ops of ONNX that TensorFlow lacks, under the name `onnx.*`.
//!
//! Their semantics, attributes and layouts (`NCHW`) are those of the newest opset. Two attributes describe optional values,
//! each with a 0 or 1 for every formal one: `operand_segment_sizes` says which inputs are given; without it the given inputs
//! are the first formal ones. `result_segment_sizes` says which outputs the call wants; without it they are the ones that
//! ONNX requires, or all outputs if it requires none.

mod arguments;
mod conv;
mod global_pool;
mod normalize;
mod pad;
mod parallel;
mod pool;
mod recurrent;
mod resize;
mod softmax;
mod two;
mod window;

use crate::OpRegistry;

pub(super) fn register(ops: &mut OpRegistry) {
    conv::register(ops);
    global_pool::register(ops);
    normalize::register(ops);
    pad::register(ops);
    pool::register(ops);
    recurrent::register(ops);
    resize::register(ops);
    softmax::register(ops);
}
