//! Each op with arguments and attributes that nobody means: the cases of `tests/reference/*.txt`,
//! in each of which one thing is replaced. A call may give an error or any results; what it may not
//! do is panic.

#![expect(clippy::unwrap_used, reason = "a test ends that way")]

mod support;

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
};

use fastrand::Rng;
use support::{Case, Runner, allocator};
use tfrt_tensor::{
    DType, DenseHostTensor, Element, HostTensor, ScalarHostTensor, StringHostTensor, TensorMetadata,
    TensorShape, with_element,
};

/// Numbers where an extent, an axis or a size is due: none asks for memory that there may be and
/// nobody should take.
const NUMBERS: [i64; 11] = [i64::MIN, -9, -2, -1, 0, 1, 2, 3, 7, 1 << 50, i64::MAX];
/// Shapes without elements that have more than can be counted along some of their dimensions, and
/// odd ones with some.
const SHAPES: [&[usize]; 15] = [
    &[],
    &[0],
    &[1],
    &[3],
    &[2, 3],
    &[2, 0],
    &[0, 3],
    &[1, 4, 5, 2],
    &[0, 4, 5, 2],
    &[1, 4, 5, 0],
    &[0, 1 << 50, 1 << 50],
    &[1 << 50, 0, 1 << 50],
    &[0, 1 << 50, 1 << 50, 1 << 50],
    &[0, i64::MAX as usize],
    &[1, 1, 1, 1, 1, 1, 1],
];
const TYPES: [DType; 16] = [
    DType::I1,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::UI8,
    DType::UI16,
    DType::UI32,
    DType::UI64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
    DType::Complex64,
    DType::Complex128,
    DType::String,
];

fn elements<T: Element>(shape: TensorShape) -> HostTensor {
    let count = shape.num_elements().unwrap();
    DenseHostTensor::from_slice(shape, &vec![T::default(); count], &allocator()).unwrap().into()
}

/// A tensor of zeros, or of one value in a shape of any size.
fn tensor(random: &mut Rng, dtype: DType) -> HostTensor {
    let shape = TensorShape::new(random.choice(SHAPES).unwrap()).unwrap();
    if dtype == DType::String {
        let count = shape.num_elements().unwrap();
        return StringHostTensor::new(shape, vec![String::new(); count]).unwrap().into();
    }
    let is_scalar = random.u8(0..4) == 0;
    let large = TensorShape::new(&[1 << 50]).unwrap();
    with_element!(
        dtype,
        |T| match is_scalar {
            true => ScalarHostTensor::new(large, T::default()).into(),
            false => elements::<T>(shape),
        },
        else panic!("{dtype} has no elements")
    )
}

/// A tensor of integers in the shape of another one.
fn integers(random: &mut Rng, metadata: &TensorMetadata) -> HostTensor {
    let count = metadata.shape.num_elements().unwrap();
    let numbers: Vec<i64> = (0..count).map(|_| random.choice(NUMBERS).unwrap()).collect();
    let narrow: Vec<i32> = numbers.iter().map(|&number| number as i32).collect();
    let shape = metadata.shape.clone();
    let made = match metadata.dtype {
        DType::I64 => DenseHostTensor::from_slice(shape, &numbers, &allocator()),
        _ => DenseHostTensor::from_slice(shape, &narrow, &allocator()),
    };
    made.unwrap().into()
}

/// Replaces one number of the attributes, if there is one.
fn with_hostile_attribute(random: &mut Rng, line: &str) -> String {
    let (start, end) = (line.find('{').unwrap(), line.find('}').unwrap());
    let is_part = |c: char| c.is_ascii_digit() || c == '-';
    let attrs = &line[start..end];
    let starts: Vec<usize> = attrs
        .char_indices()
        .filter(|&(at, c)| is_part(c) && attrs[..at].ends_with([':', ',']))
        .map(|(at, _)| at)
        .collect();
    let Some(&at) = random.choice(&starts) else { return line.to_owned() };
    let length = attrs[at..].find(|c| !is_part(c)).unwrap_or(attrs.len() - at);
    format!("{}{}{}", &line[..start + at], random.choice(NUMBERS).unwrap(), &line[start + at + length..])
}

/// The case of a line with something in it replaced.
fn hostile(random: &mut Rng, line: &str) -> Option<Case> {
    let change = random.u8(0..4);
    if change == 0 {
        return Case::parse(&with_hostile_attribute(random, line)).ok();
    }
    let mut case = Case::parse(line).unwrap();
    let at = random.usize(0..case.arguments.len().max(1));
    let argument = case.arguments.get_mut(at)?;
    let dtype = argument.dtype();
    *argument = match change {
        1 if matches!(dtype, DType::I32 | DType::I64) => integers(random, argument.metadata()),
        1 | 2 => tensor(random, dtype),
        _ => {
            let dtype = random.choice(TYPES).unwrap();
            tensor(random, dtype)
        }
    };
    Some(case)
}

fn panics(runner: &Runner, case: &Case) -> bool {
    let called = catch_unwind(AssertUnwindSafe(|| drop(runner.run(case))));
    called.is_err() || !runner.host.work_queue().take_panics().is_empty()
}

/// How often each case is called, each time with something else replaced.
const ROUNDS: usize = 4;

/// Calls all cases of all families with something replaced; the calls that panicked.
fn survive(on_device: bool) {
    let folder = format!("{}/../tests/reference", env!("CARGO_MANIFEST_DIR"));
    let runner = if on_device { Runner::on_device("mstd:2") } else { Runner::new("mstd:2") };
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|file| file.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    files.sort();
    let (mut random, mut panicked, mut calls) = (Rng::with_seed(1), Vec::new(), 0);
    for file in files.iter().cycle().take(ROUNDS * files.len()) {
        let text = fs::read_to_string(file).unwrap();
        for line in text.lines().filter(|line| line.starts_with("tf.") || line.starts_with("onnx.")) {
            let Some(case) = hostile(&mut random, line) else { continue };
            calls += 1;
            if panics(&runner, &case) {
                let arguments: Vec<_> = case.arguments.iter().map(HostTensor::metadata).collect();
                panicked.push(format!("{} {:?} {arguments:?}", case.op, case.attrs));
            }
        }
    }
    assert!(calls > 1000, "{calls} calls");
    assert!(panicked.is_empty(), "{} of {calls} calls panicked:\n{}", panicked.len(), panicked.join("\n"));
}

#[test]
fn no_call_panics_in_host_memory() {
    survive(false);
}

#[test]
fn no_call_panics_on_a_device() {
    survive(true);
}

/// Sizes that add up to more than can be counted.
#[test]
fn sums_of_sizes_are_counted() {
    let [in_host_memory, on_device] = [Runner::new("mstd:2"), Runner::on_device("mstd:2")];
    let most = i64::MAX;
    let around = format!(
        "strides=li:1,1,1,1 padding=s:EXPLICIT explicit_paddings=li:0,0,{most},{most},{most},{most},0,0"
    );
    let (images, filter) = ("f32[1,1,2,1] 1 2", "f32[1,1,1,1] 3");
    for call in [
        format!("tf.Pad {{}} f32[3] 1 2 3; i64[1,2] {most} {most}"),
        format!("tf.PadV2 {{}} f32[3] 1 2 3; i64[1,2] {most} {most}; f32[] 0"),
        format!("tf.MirrorPad {{mode=s:REFLECT}} f32[3] 1 2 3; i64[1,2] {most} {most}"),
        format!("tf.Conv2D {{{around}}} {images}; {filter}"),
        format!("tf.Conv2DBackpropInput {{{around}}} i32[4] 1 1 2 1; {filter}; {images}"),
        format!("tf.Conv2DBackpropFilter {{{around}}} {images}; i32[4] 1 1 1 1; {images}"),
        format!("tf.MaxPool {{ksize=li:1,1,1,1 {around}}} {images}"),
        format!("tf.Slice {{}} f32[3] 1 2 3; i64[1] {most}; i64[1] {most}"),
        format!("tf.StridedSlice {{}} f32[3] 1 2 3; i64[1] {most}; i64[1] {}; i64[1] {}", i64::MIN, i64::MIN),
        format!("tf.SplitV {{}} f32[3] 1 2 3; i64[2] {most} {most}; i32[] 0"),
        format!("tf.Tile {{}} f32[3] 1 2 3; i64[1] {most}"),
        format!("tf.StridedSliceGrad {{}} i64[2] {most} {most}; i64[1] 0; i64[1] 1; i64[1] 1; f32[1] 1"),
        format!("tf.SpaceToBatchND {{}} f32[1,3,1] 1 2 3; i64[1] 1; i64[1,2] {most} {most}"),
        format!("tf.SpaceToBatchND {{}} f32[1,2,1] 1 2; i64[1] {most}; i64[1,2] {most} {}", most - 2),
        format!("tf.BatchToSpaceND {{}} f32[0,2,2,1]; i64[2] {most} {most}; i64[2,2] {most} {most} 0 0"),
        format!("tf.SpaceToDepth {{block_size=i:{most}}} f32[1,0,0,1]"),
        format!("tf.DepthToSpace {{block_size=i:{most}}} f32[1,2,2,0]"),
        format!("tf.ScatterNd {{}} i64[1,1] 0; f32[1] 1; i64[1] {most}"),
        format!("tf.ScatterNd {{}} i64[1,2] {most} {most}; f32[1] 1; i64[2] {most} {most}"),
        format!("tf.ReverseSequence {{seq_dim=i:{most} batch_dim=i:{}}} f32[2] 1 2; i64[2] 1 1", i64::MIN),
        format!("tf.ResizeNearestNeighborGrad {{}} {images}; i64[2] {most} {most}"),
        format!("tf.ResizeNearestNeighborGrad {{}} {images}; i64[2] 1 {}", 1u64 << 60),
        format!("tf.ResizeNearestNeighbor {{}} {images}; i64[2] 1 {}", 1u64 << 60),
        format!("tf.ResizeBilinear {{}} {images}; i64[2] {} 1", 1u64 << 60),
        "tf.AudioSpectrogram {window_size=i:4 stride=i:1} f32[0,1152921504606846976]".to_owned(),
        "tf.MirrorPad {mode=s:SYMMETRIC} f32[0,1125899906842624]; i32[2,2] 0 0 1 1".to_owned(),
        "tf.Fingerprint {} f32[1125899906842624,0]; str[] \"farmhash64\"".to_owned(),
        format!(
            "tf.MaxPoolWithArgmax {{ksize=li:1,{most},{most},1 strides=li:1,1,1,1 padding=s:SAME}} {images}"
        ),
        "tf.Einsum {equation=s:ab%2c...%2d%3e...ab} f32[0,1099511627776]; f32[1099511627776,0,2]".to_owned(),
    ] {
        let case = Case::parse(&format!("{call} -> error")).unwrap();
        for runner in [&in_host_memory, &on_device] {
            assert!(!panics(runner, &case), "{call}");
        }
    }
}

/// Elements are moved by their size, yet never among those of another type of this size.
#[test]
fn elements_of_another_type_are_refused() {
    let runner = Runner::new("s");
    for call in [
        "tf.PadV2 {} f32[2] 1 2; i64[1,2] 0 1; i32[] 1",
        "tf.MatrixDiagV2 {} f32[2] 1 2; i32[] 0; i32[] -1; i32[] -1; i32[] 1",
        "tf.MatrixDiagPartV2 {} f32[2,2] 1 2 3 4; i32[] 1; i32[] 1",
        "tf.MatrixSetDiag {} f32[2,2] 1 2 3 4; i32[2] 1 2",
        "tf.SelectV2 {} i1[1] 1; f32[1] 1; i32[1] 1",
        "tf.ConcatV2 {} f32[1] 1; i32[1] 1; i32[] 0",
        "tf.TensorListPushBack {} f32[0,1]; i32[1] 1",
        "tf.TensorListSetItem {} f32[1,1] 1; i32[] 0; i32[1] 1",
        "onnx.Pad {} f32[2] 1 2; i64[2] 0 1; i32[] 1",
        "onnx.ScatterElements {} f32[2] 1 2; i64[1] 0; i32[1] 1",
        "onnx.TensorScatter {axis=i:1} f32[1,2] 1 2; i32[1,1] 1",
        "onnx.SequenceInsert {} f32[1] 1; i64[1,1] 1; i32[1] 1",
    ] {
        let case = Case::parse(&format!("{call} -> error")).unwrap();
        let error = runner.run(&case)[0].host_tensor().unwrap().unwrap_err();
        let message = error.message.to_lowercase();
        assert!(message.contains("i32") || message.contains("data type"), "{call}: {message}");
    }
}

/// Tensors without elements have extents of any size, for which nobody is to make room.
#[test]
fn extents_of_empty_tensors_are_no_sizes() {
    let [in_host_memory, on_device] = [Runner::new("mstd:2"), Runner::on_device("mstd:2")];
    let empty = "f32[0,1099511627776,1099511627776]";
    for call in [
        "tf.LRN {} f32[0,1,1,1099511627776] ->".to_owned(),
        "tf.LRNGrad {} f32[0,1,1,1099511627776]; f32[0,1,1,1099511627776]; f32[0,1,1,1099511627776] ->"
            .to_owned(),
        format!("tf.ConcatV2 {{}} {empty}; {empty}; i32[] 0 ->"),
        format!("tf.Pack {{}} {empty}; {empty} ->"),
        format!("tf.GatherV2 {{}} {empty}; i32[0]; i32[] 0 ->"),
        "tf.ResizeArea {} f32[0,1099511627776,1099511627776,3]; i32[2] 2 2 ->".to_owned(),
        "tf.ResizeBicubic {} f32[0,2,2,3]; i32[2] 2147483647 2147483647 ->".to_owned(),
        "tf.ResizeBicubicGrad {} f32[0,1099511627776,1099511627776,3]; f32[0,2,2,3] ->".to_owned(),
    ] {
        let case = Case::parse(&format!("{call} {empty}")).unwrap();
        for runner in [&in_host_memory, &on_device] {
            assert!(!panics(runner, &case), "{call}");
            let results = runner.run(&case);
            assert!(results[0].error().is_none(), "{call}: {:?}", results[0].error());
        }
    }
}
