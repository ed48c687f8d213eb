//! Each op against TensorFlow or ONNX Runtime: the cases of `tests/reference/*.txt`, which
//! `make.py` and `make_onnx.py` write there.
//!
//! Integers, truths and strings must be equal, and so must casts; other floating-point numbers may
//! differ by the tolerance of their type, see [`tolerance`]. Where TensorFlow refuses a call, ours
//! must be an error too, of whatever text.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test ends that way")]

#[path = "reference/onnx_devices.rs"]
mod onnx_devices;
#[path = "reference/onnx_networks.rs"]
mod onnx_networks;
#[path = "reference/onnx_products.rs"]
mod onnx_products;
mod support;

use std::{fmt::Write as _, fs};

use support::{Case, Runner};
use tfrt_eager::{Op, OpAttrs, Results, TensorHandle};
use tfrt_host::{AsyncValueRef, Chain};
use tfrt_tensor::{
    Accessor, Complex, DType, DenseHostTensor, HostTensor, TensorMetadata, TensorShape, bf16, f16,
    with_element,
};

static ME: Accessor = Accessor::new("reference test");

/// How far a result may be off: relative to the greater number, and absolutely near zero.
fn tolerance(dtype: DType) -> (f64, f64) {
    match dtype {
        DType::F64 | DType::Complex128 => (1e-12, 1e-13),
        DType::F32 | DType::Complex64 => (4e-6, 1e-6),
        DType::F16 => (2e-3, 1e-3),
        DType::BF16 => (1.6e-2, 8e-3),
        _ => EXACT,
    }
}

/// How far a result of an op may be off. ONNX Runtime approximates exponential functions and sums
/// in other orders.
fn tolerance_of(op: &str, dtype: DType) -> (f64, f64) {
    let (relative, absolute) = tolerance(dtype);
    if op.starts_with("onnx.") { (4.0 * relative, 4.0 * absolute) } else { (relative, absolute) }
}

/// Of numbers that are not floating-point ones.
const EXACT: (f64, f64) = (0.0, 0.0);

/// Whether two numbers are the same or less than a tolerance apart. (Between infinity and another
/// number both are infinite.)
fn is_close(x: f64, y: f64, (relative, absolute): (f64, f64)) -> bool {
    let bound = absolute + relative * x.abs().max(y.abs());
    x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() < bound
}

#[test]
fn infinity_is_close_to_itself_alone() {
    let tolerance = tolerance(DType::F32);
    assert!(is_close(f64::INFINITY, f64::INFINITY, tolerance) && is_close(1.0, 1.000001, tolerance));
    for other in [5.0, f64::NEG_INFINITY, f64::NAN, f64::MAX] {
        assert!(
            !is_close(f64::INFINITY, other, tolerance) && !is_close(other, f64::INFINITY, tolerance),
            "{other}"
        );
    }
}

/// What a tensor of floating-point or complex numbers holds, of complex ones both parts.
fn numbers(tensor: &HostTensor) -> Vec<f64> {
    let allocator = support::allocator();
    let dense = tensor.to_dense(&ME, &allocator).expect("no strings");
    match dense.dtype() {
        DType::F64 => dense.read::<f64>(&ME).unwrap().to_vec(),
        DType::F32 => dense.read::<f32>(&ME).unwrap().iter().map(|&x| f64::from(x)).collect(),
        DType::F16 => dense.read::<f16>(&ME).unwrap().iter().map(|&x| x.to_f64()).collect(),
        DType::BF16 => dense.read::<bf16>(&ME).unwrap().iter().map(|&x| x.to_f64()).collect(),
        DType::Complex64 => {
            let parts = |x: &Complex<f32>| [x.re, x.im].map(f64::from);
            dense.read::<Complex<f32>>(&ME).unwrap().iter().flat_map(parts).collect()
        }
        DType::Complex128 => {
            dense.read::<Complex<f64>>(&ME).unwrap().iter().flat_map(|x| [x.re, x.im]).collect()
        }
        other => panic!("{other} is no floating-point type"),
    }
}

fn texts(tensor: &HostTensor) -> Vec<String> {
    if let HostTensor::String(strings) = tensor {
        return strings.strings().iter().map(|text| text.escape_ascii().to_string()).collect();
    }
    let dense = tensor.to_dense(&ME, &support::allocator()).expect("no strings");
    with_element!(
        dense.dtype(),
        |T| dense.read::<T>(&ME).unwrap().iter().map(|x| format!("{x:?}")).collect(),
        else panic!("{} has no memory form", dense.dtype())
    )
}

/// What differs between two tensors by more than a tolerance.
fn difference(found: &HostTensor, expected: &HostTensor, tolerance: (f64, f64)) -> Option<String> {
    if found.metadata() != expected.metadata() {
        return Some(format!("{} instead of {}", found.metadata(), expected.metadata()));
    }
    if tolerance == EXACT {
        let (found, expected) = (texts(found), texts(expected));
        return (found != expected).then(|| format!("{found:?} instead of {expected:?}"));
    }
    let is_complex = matches!(expected.dtype(), DType::Complex64 | DType::Complex128);
    let (found, expected) = (numbers(found), numbers(expected));
    // A part of a complex number may be the rounding of the other one.
    let other = |i: usize| if is_complex { expected[i ^ 1].abs() } else { 0.0 };
    let is_close_at = |i: usize| {
        let (relative, absolute) = tolerance;
        let beside = if other(i).is_finite() { relative * other(i) } else { 0.0 };
        is_close(found[i], expected[i], (relative, absolute + beside))
    };
    let wrong: Vec<_> = (0..expected.len())
        .filter(|&i| !is_close_at(i))
        .map(|i| format!("[{i}] {} instead of {}", found[i], expected[i]))
        .collect();
    (!wrong.is_empty()).then(|| wrong.join(", "))
}

/// What is wrong with the results of a case.
fn judge(case: &Case, results: &[TensorHandle]) -> Option<String> {
    let found: Vec<_> =
        results.iter().map(|handle| handle.host_tensor().expect("all are available")).collect();
    let Some(expected) = &case.expected else {
        return (found.iter().all(Result::is_ok)).then(|| "an error is expected".to_owned());
    };
    let wrong = found.iter().zip(expected).enumerate().filter_map(|(i, (found, expected))| {
        let wrong = match found {
            Ok(found) if case.op == "tf.Cast" => difference(found, expected, EXACT)?,
            Ok(found) => difference(found, expected, tolerance_of(&case.op, expected.dtype()))?,
            Err(error) => format!("error: {error}"),
        };
        Some(format!("result {i}: {wrong}"))
    });
    let wrong: Vec<_> = wrong.collect();
    (!wrong.is_empty()).then(|| wrong.join("; "))
}

/// How many variables the ops of training change, which are their first arguments.
fn variables(op: &str) -> usize {
    match op {
        "tf.ResourceApplyAdam" | "tf.ResourceApplyRMSProp" => 3,
        "tf.ResourceApplyMomentum" | "tf.ResourceApplyKerasMomentum" => 2,
        "tf.ResourceApplyGradientDescent" | "tf.AssignAddVariableOp" | "tf.AssignSubVariableOp" => 1,
        _ => 0,
    }
}

/// Runs an op on variables of the values that the case has, and gives what they hold afterwards.
fn change(runner: &Runner, case: &Case, count: usize) -> Results {
    let none = OpAttrs::new();
    let handle = |value: &HostTensor| {
        let mut attrs = OpAttrs::new();
        attrs.set_type("dtype", value.dtype()).unwrap();
        let handle = runner.call("tf.VarHandleOp", [], &attrs, 1).remove(0);
        runner.call("tf.AssignVariableOp", [handle.clone(), runner.handle(value.clone())], &none, 0);
        handle
    };
    let (before, rest) = case.arguments.split_at(count);
    let handles: Vec<_> = before.iter().map(handle).collect();
    let rest = rest.iter().map(|tensor| runner.handle(tensor.clone()));
    let mut chain = AsyncValueRef::available(Chain);
    runner.call_in_order(&case.op, handles.iter().cloned().chain(rest), &case.attrs, &mut chain);
    let failed = chain.get().expect("done at once").err();
    let read = |handle: &TensorHandle| match &failed {
        Some(error) => TensorHandle::from_error(runner.core.host_device().clone(), error.clone()),
        None => runner.brought(&runner.call("tf.ReadVariableOp", [handle.clone()], &none, 1).remove(0)),
    };
    handles.iter().map(read).collect()
}

/// What an op does not declare although TensorFlow accepts the case: an attribute, or a type.
fn undeclared(op: &Op, case: &Case) -> Option<String> {
    let expected = case.expected.as_ref()?;
    let is_declared = |name: &str| op.attributes().iter().any(|attribute| attribute.name == name);
    if let Some((name, _)) = case.attrs.iter().find(|(name, _)| !is_declared(name)) {
        return Some(format!("attribute '{name}' is not declared"));
    }
    let missing = op
        .attributes()
        .iter()
        .find(|attribute| attribute.is_required() && case.attrs.get(attribute.name).is_none());
    if let Some(attribute) = missing {
        return Some(format!("attribute '{attribute}' is declared as required"));
    }
    // Most ops take indices, sizes or conditions besides what they compute with; generators of
    // numbers take a state.
    let besides = |dtype: DType| matches!(dtype, DType::I1 | DType::I32 | DType::I64 | DType::UI64);
    let dtypes = || case.arguments.iter().chain(expected).map(HostTensor::dtype);
    let undeclared: Vec<_> = dtypes().filter(|dtype| !op.types().contains(dtype)).collect();
    let are_declared =
        undeclared.iter().all(|&dtype| besides(dtype)) && dtypes().any(|dtype| op.types().contains(&dtype));
    (!are_declared).then(|| format!("types {undeclared:?} are not declared"))
}

/// Whether a case cannot be computed on a device: strings are in host memory alone.
fn lacks_strings(results: &[TensorHandle]) -> bool {
    let is_lacking = |handle: &TensorHandle| {
        let error = handle.error().map(|error| error.to_string());
        error.is_some_and(|error| error.contains("strings cannot be in device memory"))
    };
    results.iter().any(is_lacking)
}

/// Whether TensorFlow refuses a case for a divisor, an exponent or an index at which devices do not
/// look first, as TensorFlow does not on GPUs: a divisor of zero gives zero there, a negative
/// exponent of an integer the power without its fraction, what is out of bounds zeros or NaN, and
/// none of that is an error.
fn is_unchecked(case: &Case) -> bool {
    let [of, with, ..] = case.arguments.as_slice() else { return false };
    if !matches!(with.dtype(), DType::I32 | DType::I64) {
        return false;
    }
    let values: Vec<i64> = texts(with).iter().map(|text| text.parse().unwrap()).collect();
    match &*case.op {
        "tf.Div" | "tf.FloorDiv" | "tf.FloorMod" | "tf.Mod" | "tf.TruncateDiv" | "tf.TruncateMod" => {
            values.contains(&0)
        }
        "tf.Pow" => values.iter().any(|&exponent| exponent < 0),
        "tf.Gather"
        | "tf.GatherV2"
        | "tf.GatherNd"
        | "tf.SparseSoftmaxCrossEntropyWithLogits"
        | "onnx.GatherElements"
        | "onnx.GatherND" => {
            // Out of the bounds of every dimension, whichever the op looks at.
            let dims = of.shape().dims();
            let greatest = dims.iter().copied().max().unwrap_or(0) as i64;
            let least = if case.op.starts_with("onnx.") { -greatest } else { 0 };
            !dims.contains(&0) && values.iter().any(|index| !(least..greatest).contains(index))
        }
        _ => false,
    }
}

/// Runs all cases of a family, on a device those of ops that run there.
fn check(family: &str, on_device: bool) {
    let path = format!("{}/../tests/reference/{family}.txt", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(&path).expect("the family's cases");
    let runner = if on_device { Runner::on_device("mstd:2") } else { Runner::new("mstd:2") };
    let (mut report, mut wrong) = (String::new(), 0);
    for (number, line) in text.lines().enumerate() {
        let case = Case::parse(line).unwrap_or_else(|error| panic!("{path}:{}: {error}", number + 1));
        let op = runner.core.ops().op(&case.op).unwrap_or_else(|| panic!("{path}:{}: no op", number + 1));
        if on_device && (!op.runs_on_devices() || (case.expected.is_none() && is_unchecked(&case))) {
            continue;
        }
        let results = match variables(&case.op) {
            0 => runner.run(&case),
            count => change(&runner, &case, count),
        };
        if on_device && lacks_strings(&results) {
            continue;
        }
        if let Some(what) = judge(&case, &results).or_else(|| undeclared(op, &case)) {
            wrong += 1;
            let _ = writeln!(report, "{family}.txt:{}: {line}\n    {what}", number + 1);
        }
    }
    assert!(wrong == 0, "{wrong} of {} cases differ\n{report}", text.lines().count());
}

macro_rules! families {
    ($($name:ident)*) => {
        /// The families below.
        const FAMILIES: &[&str] = &[$(stringify!($name)),*];

        $(
            #[test]
            fn $name() {
                check(stringify!($name), false);
            }
        )*

        /// On a device, within the same tolerances.
        mod device {
            $(
                #[test]
                fn $name() {
                    super::check(stringify!($name), true);
                }
            )*
        }
    };
}

families! {
    activation arithmetic audio batch_norm cast compare complex_numbers concat constant convolution draws encoded_images gather gradients image integers layout
    linear_algebra lists matmul nchw onnx_elements onnx_network onnx_quantized onnx_recurrent onnx_signal order overlaps pictures pooling random_numbers recurrent reduce segments sequences shape slice softmax special_functions strings text_bytes training unary
}

/// A file without a name above would be written and never compared.
#[test]
fn every_file_is_a_family() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/reference");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names = files.filter_map(|file| Some(file.strip_suffix(".txt")?.to_owned()));
    // Values of whole networks, which the tests of these read.
    let mut families: Vec<_> = names.filter(|name| !name.starts_with("resnet50")).collect();
    families.sort();
    assert_eq!(families, FAMILIES);
}

/// The convolution of an image by a filter, which is kept laid out from one call to the next.
fn convolve(runner: &Runner, image: &TensorHandle, filter: TensorHandle) -> Vec<f64> {
    let mut attrs = OpAttrs::new();
    attrs.set_array("strides", &[1i64, 1, 1, 1]).unwrap();
    attrs.set_string("padding", "SAME").unwrap();
    let results = runner.call("tf.Conv2D", [image.clone(), filter], &attrs, 1);
    runner.host.await_values(&[results[0].tensor().clone()]).unwrap();
    numbers(results[0].host_tensor().unwrap().unwrap())
}

#[test]
fn a_filter_that_changes_in_place_is_laid_out_again() {
    let runner = Runner::new("mstd:2");
    let none = OpAttrs::new();
    let tensor = |dims: &[usize], values: &dyn Fn(usize) -> f32| {
        let metadata = TensorMetadata::new(DType::F32, TensorShape::new(dims).unwrap());
        let tensor = DenseHostTensor::allocate(metadata, &support::allocator()).unwrap();
        tensor.write::<f32>(&ME).unwrap().iter_mut().enumerate().for_each(|(i, x)| *x = values(i));
        tensor
    };
    let extents = [3, 3, 4, 5];
    let image = runner.handle(tensor(&[1, 6, 6, 4], &|i| (i % 7) as f32 - 3.0));
    let (filter, step) = (|i: usize| (i % 5) as f32 - 2.0, |i: usize| (i % 3) as f32);
    let expected =
        |filter: &dyn Fn(usize) -> f32| convolve(&runner, &image, runner.handle(tensor(&extents, filter)));
    let (before, after) = (expected(&filter), expected(&|i| filter(i) - step(i)));
    assert_ne!(before, after);

    // A variable that an op of training changes.
    let mut attrs = OpAttrs::new();
    attrs.set_type("dtype", DType::F32).unwrap();
    let variable = runner.call("tf.VarHandleOp", [], &attrs, 1).remove(0);
    let mut chain = AsyncValueRef::available(Chain);
    let value = runner.handle(tensor(&extents, &filter));
    runner.call_in_order("tf.AssignVariableOp", [variable.clone(), value], &none, &mut chain);
    let read = || runner.call("tf.ReadVariableOp", [variable.clone()], &attrs, 1).remove(0);
    assert_eq!(
        [convolve(&runner, &image, read()), convolve(&runner, &image, read())],
        [before.clone(), before.clone()]
    );
    let change = runner.handle(tensor(&extents, &step));
    runner.call_in_order("tf.AssignSubVariableOp", [variable.clone(), change], &none, &mut chain);
    assert_eq!(
        [convolve(&runner, &image, read()), convolve(&runner, &image, read())],
        [after.clone(), after.clone()]
    );

    // A tensor that a kernel writes.
    let shared = tensor(&extents, &filter);
    assert_eq!(convolve(&runner, &image, runner.handle(shared.clone())), before);
    shared.write::<f32>(&ME).unwrap().iter_mut().enumerate().for_each(|(i, x)| *x = filter(i) - step(i));
    assert_eq!(convolve(&runner, &image, runner.handle(shared)), after);
}

/// A product that is computed on the work queue, whose axes the result has in another order.
#[test]
fn large_products_come_in_the_order_of_the_equation() {
    let extents = [24, 48, 96, 80];
    let [a, b, c, d] = extents;
    let tensor = |dims: &[usize], modulus: usize| {
        let count = dims.iter().product();
        let values: Vec<f32> = (0..count).map(|i| (i % modulus) as f32 - 3.0).collect();
        DenseHostTensor::from_slice(TensorShape::new(dims).unwrap(), &values, &support::allocator()).unwrap()
    };
    let mut attrs = OpAttrs::new();
    attrs.set_string("equation", "abc,cd->adb").unwrap();
    for runner in [Runner::new("mstd:2"), Runner::on_device("mstd:2")] {
        let factors = [tensor(&[a, b, c], 7), tensor(&[c, d], 5)].map(|tensor| runner.handle(tensor));
        let result = runner.brought(&runner.call("tf.Einsum", factors, &attrs, 1)[0]);
        runner.host.await_values(&[result.tensor().clone()]).unwrap();
        let found = numbers(result.host_tensor().unwrap().unwrap());
        assert_eq!(found.len(), a * d * b);
        let value = |i: usize, modulus: usize| (i % modulus) as f64 - 3.0;
        for (place, &found) in found.iter().enumerate().step_by(97) {
            let (i, l, j) = (place / (d * b), place / b % d, place % b);
            let terms = (0..c).map(|k| value((i * b + j) * c + k, 7) * value(k * d + l, 5));
            assert_eq!(found, terms.sum::<f64>(), "[{i}, {l}, {j}]");
        }
    }
}

/// An op's result for the arguments and attributes of a case.
fn result_of(runner: &Runner, line: &str) -> HostTensor {
    let case = Case::parse(&format!("{line} -> error")).unwrap();
    runner.run(&case)[0].host_tensor().unwrap().unwrap_or_else(|error| panic!("{line}: {error}")).clone()
}

/// In each type, along each axis, and of no elements.
#[test]
fn normalizations_on_devices_are_those_of_the_host() {
    let (host, device) = (Runner::new("s"), Runner::on_device("s"));
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        let x = format!("{dtype}[2,4,3] {}", "0.5 -1 2 3 0.25 -2 1 4 ".repeat(3).trim());
        let columns = format!("{dtype}[3] 1 -0.5 2");
        let (scale, bias) = (format!("{dtype}[4] 1 -0.5 2 0.25"), format!("{dtype}[4] 0 1 -1 0.5"));
        let rows = format!("{dtype}[4,3] 1 2 3 4 5 6 -1 -2 -3 -4 -5 -6");
        let empty = format!("{dtype}[2,0,3]");
        for line in [
            format!("onnx.LayerNormalization {{}} {x}; {columns}; {columns}"),
            format!("onnx.LayerNormalization {{axis=i:1 epsilon=f:0.1}} {x}; {rows}"),
            format!("onnx.LayerNormalization {{axis=i:1}} {x}; {columns}; {dtype}[1] 2"),
            format!("onnx.LayerNormalization {{}} {empty}; {columns}"),
            format!("onnx.RMSNormalization {{}} {x}; {columns}"),
            format!("onnx.RMSNormalization {{axis=i:0}} {x}; {rows}"),
            format!("onnx.InstanceNormalization {{}} {x}; {scale}; {bias}"),
            format!("onnx.GroupNormalization {{num_groups=i:2}} {x}; {scale}; {bias}"),
            format!("onnx.GroupNormalization {{num_groups=i:1 epsilon=f:0.5}} {x}; {scale}; {bias}"),
        ] {
            let (expected, found) = (result_of(&host, &line), result_of(&device, &line));
            if let Some(difference) = difference(&found, &expected, tolerance(dtype)) {
                panic!("{line}: {difference}");
            }
        }
    }
}

/// As many as threads and blocks of a device share unevenly.
#[test]
fn random_numbers_and_ranges_are_those_of_the_host_on_devices_too() {
    let (host, device) = (Runner::new("mstd:2"), Runner::on_device("mstd:2"));
    let check = |line: &str, tolerance| {
        let (expected, found) = (result_of(&host, line), result_of(&device, line));
        if let Some(difference) = difference(&found, &expected, tolerance) {
            panic!("{line}: {difference}");
        }
    };
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        let attrs = format!("{{dtype=t:{dtype} seed=i:5 seed2=i:-6}} i32[2]");
        check(&format!("tf.RandomUniform {attrs} 211 191"), EXACT);
        check(&format!("tf.RandomStandardNormal {attrs} 211 191"), tolerance(dtype));
        check(&format!("tf.TruncatedNormal {attrs} 31 67"), tolerance(dtype));
        check(&format!("tf.Range {{}} {dtype}[] -3.5; {dtype}[] 12.25; {dtype}[] 0.00039"), EXACT);
        check(&format!("tf.LinSpace {{}} {dtype}[] 12.5; {dtype}[] -3.25; i32[] 40301"), EXACT);
    }
    for dtype in [DType::I32, DType::I64] {
        check(
            &format!(
                "tf.RandomUniformInt {{seed=i:5 seed2=i:-6}} i64[1] 40301; {dtype}[] -7; {dtype}[] 1000"
            ),
            EXACT,
        );
        check(
            &format!("tf.StatelessRandomUniformInt {{}} i32[1] 7; i64[2] 1 2; {dtype}[] -7; {dtype}[] 1000"),
            EXACT,
        );
    }
    for (dtype, start, limit, delta) in [
        ("i8", -128, 127, 2),
        ("i16", 32767, -32768, -17),
        ("i32", i32::MIN.into(), i32::MAX.into(), 1 << 16),
        ("i64", i64::MAX, i64::MIN, -(1i64 << 53)),
        ("ui8", 0, 255, 1),
        ("ui16", 0, 65535, 13),
        ("ui32", 7, u32::MAX.into(), 2_000_003),
    ] {
        check(&format!("tf.Range {{}} {dtype}[] {start}; {dtype}[] {limit}; {dtype}[] {delta}"), EXACT);
    }
}

/// What says how many numbers there are, and which, may be another op's result on the device.
#[test]
fn seeds_and_bounds_come_from_devices() {
    let runner = Runner::on_device("mstd:2");
    let number = |value: i64| {
        let tensor = DenseHostTensor::from_slice(TensorShape::scalar(), &[value], &support::allocator());
        runner.handle(tensor.unwrap())
    };
    let pair = |first: i64, second: i64| {
        let bounds = [number(first), number(2 * second - first), number(second - first)];
        runner.call("tf.Range", bounds, &OpAttrs::new(), 1).remove(0)
    };
    assert!(pair(3, 5).tensor().get::<tfrt_eager::DeviceTensor>().is_some());
    let mut attrs = OpAttrs::new();
    attrs.set_type("dtype", DType::F32).unwrap();
    let found = runner.call("tf.StatelessRandomUniform", [pair(3, 5), pair(7, -9)], &attrs, 1);
    let expected = "tf.StatelessRandomUniform {dtype=t:f32} i64[2] 3 5; i64[2] 7 -9";
    let found = runner.brought(&found[0]).host_tensor().unwrap().unwrap().clone();
    assert_eq!(difference(&found, &result_of(&Runner::new("s"), expected), EXACT), None);
}
