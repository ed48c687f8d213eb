//! Ops of ONNX that TensorFlow lacks, under the name `onnx.*`.
//!
//! Their semantics, attributes and layouts (`NCHW`) are those of the newest opset. Two attributes
//! describe optional values, each with a 0 or 1 for every formal one: `operand_segment_sizes` says
//! which inputs are given; without it the given inputs are the first formal ones.
//! `result_segment_sizes` says which outputs the call wants; without it they are the ones that ONNX
//! requires, or all outputs if it requires none.

pub(super) mod arguments;
mod arithmetic;
pub(super) mod attention;
pub(super) mod bytes;
pub(super) mod col2im;
pub(super) mod conv;
mod coupling;
mod deform_conv;
pub(super) mod elements;
pub(super) mod fourier;
pub(super) mod global_pool;
pub(super) mod grid;
pub(super) mod integer_products;
mod linear_attention;
mod matrix;
mod n_grams;
mod narrow;
pub(super) mod normalize;
pub(super) mod pad;
mod parallel;
pub(super) mod pool;
pub(super) mod quantize;
mod random;
pub(super) mod recurrent;
pub(super) mod resize;
pub(super) mod roi;
pub(super) mod scatter;
mod sequence;
pub(super) mod shape;
mod signal;
pub(super) mod softmax;
mod strings;
pub(in crate::ops) mod suppression;
mod tensor_scatter;
mod tokenizer;
mod top_k;
mod trees;
mod two;
mod unique;
pub(super) mod unpool;
pub(super) mod window;
mod work;

use crate::OpRegistry;

pub(super) fn register(ops: &mut OpRegistry) {
    arithmetic::register(ops);
    attention::register(ops);
    col2im::register(ops);
    conv::register(ops);
    coupling::register(ops);
    deform_conv::register(ops);
    elements::register(ops);
    fourier::register(ops);
    global_pool::register(ops);
    grid::register(ops);
    integer_products::register(ops);
    linear_attention::register(ops);
    matrix::register(ops);
    n_grams::register(ops);
    narrow::register(ops);
    normalize::register(ops);
    pad::register(ops);
    pool::register(ops);
    quantize::register(ops);
    random::register(ops);
    recurrent::register(ops);
    resize::register(ops);
    roi::register(ops);
    scatter::register(ops);
    sequence::register(ops);
    shape::register(ops);
    signal::register(ops);
    softmax::register(ops);
    strings::register(ops);
    suppression::register(ops);
    tensor_scatter::register(ops);
    tokenizer::register(ops);
    top_k::register(ops);
    trees::register(ops);
    unique::register(ops);
    unpool::register(ops);
}
