//! ResNet-50 as a program, against ONNX Runtime: `tests/reference/resnet50.py` builds the same network with the same seeded
//! weights and writes down the scores it gives.
#![cfg(feature = "full")]

use tfrt::{Program, Runtime, host::AsyncValue};
use tfrt_models::resnet50::{self, CLASSES};
use tfrt_tensor::{Accessor, DenseHostTensor, HostTensor, TensorMetadata, TensorShape};

static ME: Accessor = Accessor::new("ResNet-50 test");

const SEED: u64 = 1;
/// Images of this extent take a twelfth of the time of the usual ones.
const EXTENT: usize = 64;
const BATCH: usize = 2;

fn tensor(runtime: &Runtime, dims: &[usize], values: &[f32]) -> AsyncValue {
    let metadata = TensorMetadata::new(tfrt::host::DType::F32, TensorShape::new(dims).expect("a shape"));
    let tensor = DenseHostTensor::allocate(metadata, runtime.host().allocator()).expect("memory");
    tensor.write::<f32>(&ME).expect("nobody else has it").copy_from_slice(values);
    AsyncValue::new(HostTensor::from(tensor))
}

/// The one result of a function.
fn call(program: &Program, function: &str, arguments: Vec<AsyncValue>) -> AsyncValue {
    let mut results = program.call(function, arguments).expect("the function is there");
    let result = results.pop().expect("a result");
    assert!(result.error().is_none(), "{function}: {:?}", result.error());
    result
}

fn scores(queue: &str) -> Vec<f32> {
    let queue = tfrt::host::work_queue::from_str(queue).expect("a queue");
    let runtime = Runtime::builder().work_queue(queue).build().expect("a runtime");
    let program =
        runtime.load("resnet50.mlir", resnet50::program(EXTENT).into_bytes()).expect("a program that loads");
    let images = resnet50::seeded_images(BATCH, EXTENT, SEED);
    let mut arguments = vec![tensor(&runtime, &[BATCH, EXTENT, EXTENT, 3], &images)];
    for (at, layer) in resnet50::layers().iter().enumerate() {
        let weights = resnet50::seeded_weights(layer, at, SEED);
        let extents = [layer.window, layer.window, layer.in_channels, layer.out_channels];
        let filter = tensor(&runtime, &extents, &weights.filter);
        let bias = tensor(&runtime, &extents[3..], &weights.bias);
        arguments.push(call(&program, "pack", vec![filter, bias]));
    }
    let result = call(&program, "infer", arguments);
    let scores = result.get::<HostTensor>().expect("a tensor").dense().expect("a dense one");
    assert_eq!(scores.shape().dims(), [BATCH, 1, 1, CLASSES]);
    scores.read::<f32>(&ME).expect("f32").to_vec()
}

#[test]
fn it_agrees_with_onnx_runtime() {
    let text = include_str!("reference/resnet50.txt");
    let expected: Vec<f32> =
        text.split_whitespace().map(|number| number.parse().expect("a number")).collect();
    let found = scores("mstd:2");
    assert_eq!(found.len(), expected.len());
    let largest = expected.iter().fold(0f32, |most, score| most.max(score.abs()));
    let off = found.iter().zip(&expected).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max);
    assert!(off <= 1e-4 * largest, "off by {off}, where scores go up to {largest}");
    // Neither the number of threads nor which of them did what makes a difference.
    assert!(scores("s") == found);
}
