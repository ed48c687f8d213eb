//! Fused convolutions whose plan is kept with the attributes of the call.

#![expect(clippy::unwrap_used, reason = "a test ends that way")]

mod support;

use support::Runner;
use tfrt_eager::OpAttrs;
use tfrt_tensor::{Accessor, DenseHostTensor, TensorShape};

static ME: Accessor = Accessor::new("test of convolutions");

/// Small whole numbers, whose products and sums are exact.
fn value(place: usize, modulus: usize) -> f32 {
    (place % modulus) as f32 - 2.0
}

fn tensor(dims: &[usize], modulus: usize) -> DenseHostTensor {
    let values: Vec<f32> = (0..dims.iter().product()).map(|place| value(place, modulus)).collect();
    DenseHostTensor::from_slice(TensorShape::new(dims).unwrap(), &values, &support::allocator()).unwrap()
}

/// The sum for a pixel and an output channel of a 1 × 1 convolution with a bias.
fn sum(pixel: usize, channel: usize, [inputs, outputs]: [usize; 2]) -> f32 {
    let products = (0..inputs).map(|k| value(pixel * inputs + k, 7) * value(k * outputs + channel, 5));
    products.sum::<f32>() + value(channel, 3)
}

/// The attribute that says what is applied to the sums last, and the function that it means.
type Ending = (&'static str, &'static str, fn(f32) -> f32);

#[test]
fn calls_with_the_same_attributes_may_have_other_shapes() {
    let runner = Runner::new("mstd:2");
    // The last one has no loop that computes it in place.
    let endings: [Ending; 4] = [
        ("activation", "Relu", |sum| sum.max(0.0)),
        ("activation", "Relu6", |sum| sum.clamp(0.0, 6.0)),
        ("steps", "AddV2 x0 3; Relu6 s0; Mul x0 s1", |sum| (sum + 3.0).clamp(0.0, 6.0) * sum),
        ("steps", "Mul x0 x0; AddV2 s0 x0", |sum| sum * sum + sum),
    ];
    for (name, ending, f) in endings {
        let mut attrs = OpAttrs::new();
        attrs.set_array("strides", &[1_i64, 1, 1, 1]).unwrap();
        attrs.set_string("padding", "SAME").unwrap();
        attrs.set_string(name, ending).unwrap();
        for ([height, width], channels) in [
            ([9, 8], [16, 24]),
            ([70, 61], [16, 24]),
            ([9, 8], [16, 40]),
            ([1, 1], [300, 500]),
            ([9, 8], [16, 24]),
        ] {
            let [inputs, outputs] = channels;
            let x = tensor(&[1, height, width, inputs], 7);
            let operands = [x, tensor(&[1, 1, inputs, outputs], 5), tensor(&[outputs], 3)];
            let operands = operands.map(|tensor| runner.handle(tensor));
            let result = runner.call("tfrt.FusedConv2D", operands, &attrs, 1);
            let result = runner.brought(&result[0]);
            let result = result.host_tensor().unwrap().unwrap();
            let result = result.dense().unwrap();
            assert_eq!(result.shape().dims(), [1, height, width, outputs]);
            let expected =
                (0..height * width * outputs).map(|at| f(sum(at / outputs, at % outputs, channels)));
            let found = result.read::<f32>(&ME).unwrap();
            assert!(found.iter().copied().eq(expected), "{ending}: {height} × {width}, {channels:?}");
        }
    }
}
