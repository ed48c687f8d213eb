//! The ops, one file a family; each is defined once: its name, its metadata function, its
//! implementations.

mod activation;
mod arithmetic;
mod attention;
mod audio;
mod band;
mod batch_norm;
mod bits;
mod block_lstm;
mod blocks;
mod boxes;
mod cast;
mod colours;
mod compare;
mod complex;
pub(crate) mod concat;
mod constant;
mod convolution;
mod ctc;
mod detection;
mod device;
mod diagonal;
mod difference;
mod dilation_gradients;
mod drawing;
mod draws;
mod einsum;
mod elementwise;
mod encode_png;
mod encoded_images;
mod examples;
mod fail;
mod fused;
mod fused_elementwise;
mod gather;
mod gradients;
mod hashes;
mod image;
mod images;
mod kept_product;
pub(crate) mod layout;
mod linear_algebra;
mod list;
pub(crate) mod matmul;
mod model;
mod moves;
mod onnx;
mod order;
mod patches;
mod patterns;
mod plain;
mod pooling;
mod prepared_convolution;
mod printf;
mod ragged;
mod random;
mod ranking;
mod reduce;
mod resample;
pub mod scalar_loop;
mod scatter;
mod sequence_examples;
mod sets;
mod shape;
mod slice;
mod softmax;
mod sparse;
mod special;
mod string_bytes;
mod string_lists;
mod string_numbers;
pub(crate) mod strings;
pub(crate) mod support;
mod test_ops;
mod types;
mod unary;
mod unicode;
mod variable;
mod window;
mod wire;

use crate::OpRegistry;

/// Adds every op of this crate.
pub fn register(ops: &mut OpRegistry) {
    activation::register(ops);
    arithmetic::register(ops);
    attention::register(ops);
    band::register(ops);
    batch_norm::register(ops);
    blocks::register(ops);
    cast::register(ops);
    compare::register(ops);
    concat::register(ops);
    constant::register(ops);
    convolution::register(ops);
    prepared_convolution::register(ops);
    detection::register(ops);
    diagonal::register(ops);
    einsum::register(ops);
    fail::register(ops);
    fused_elementwise::register(ops);
    gather::register(ops);
    gradients::register(ops);
    image::register(ops);
    layout::register(ops);
    list::register(ops);
    matmul::register(ops);
    model::register(ops);
    onnx::register(ops);
    order::register(ops);
    patterns::register(ops);
    pooling::register(ops);
    random::register(ops);
    reduce::register(ops);
    scalar_loop::register(ops);
    scatter::register(ops);
    shape::register(ops);
    slice::register(ops);
    softmax::register(ops);
    string_numbers::register(ops);
    strings::register(ops);
    test_ops::register(ops);
    unary::register(ops);
    variable::register(ops);
    audio::register(ops);
    block_lstm::register(ops);
    boxes::register(ops);
    ctc::register(ops);
    encode_png::register(ops);
    encoded_images::register(ops);
    examples::register(ops);
    hashes::register(ops);
    linear_algebra::register(ops);
    ragged::register(ops);
    sets::register(ops);
    sparse::register(ops);
    special::register(ops);
    string_bytes::register(ops);
    unicode::register(ops);
    bits::register(ops);
    difference::register(ops);
    draws::register(ops);
    colours::register(ops);
    patches::register(ops);
    dilation_gradients::register(ops);
    drawing::register(ops);
    sequence_examples::register(ops);
    resample::register(ops);
    device::register(ops);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_defined_once_and_can_be_run() {
        let mut ops = OpRegistry::new();
        register(&mut ops);
        ops.check().unwrap();
        assert!(ops.ops().all(|op| op.cpu.is_some() || op.device.is_some()));
    }
}
