//! Calling ops: what it costs beside their work, many clients at a time, any number of threads, and
//! from Rust.

mod support;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    borrow::Cow,
    cell::Cell,
    collections::HashSet,
    future::Future,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
};

use support::{Case, Runner, context};
use tfrt_eager::{CoreRuntime, DeviceTensor, Eager, OpAttrs, OpInvocation, TensorHandle};
use tfrt_host::{AsyncValue, ErrorCode, IndirectPromise};
use tfrt_tensor::{Accessor, Complex, DType, DenseHostTensor, HostTensor, StringHostTensor, bf16, f16};

static ME: Accessor = Accessor::new("test of calls");

/// Counts the allocations of each thread, and keeps the bytes of its largest.
struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

#[expect(unsafe_code, reason = "a global allocator is unsafe to implement; this one passes every call on")]
// SAFETY: every call is passed to the system's allocator, which implements the trait correctly.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = COUNT.try_with(|count| count.set(count.get() + 1));
        let _ = LARGEST.try_with(|largest| largest.set(largest.get().max(layout.size())));
        // SAFETY: the caller upholds the contract of `GlobalAlloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `GlobalAlloc`, which is the same.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn vector(runner: &Runner, values: &[f32]) -> TensorHandle {
    runner.handle(DenseHostTensor::from_slice([values.len()], values, &support::allocator()).expect("memory"))
}

fn values(handle: &TensorHandle) -> Vec<f32> {
    let tensor = handle.host_tensor().expect("available").expect("no error");
    tensor.dense().expect("dense").read::<f32>(&ME).expect("no writer").to_vec()
}

#[test]
fn an_op_allocates_less_than_three_times() {
    let runner = Runner::new("s");
    let add = runner.core.cpu().make_op("tf.AddV2").expect("an op");
    let (x, y, attrs) = (vector(&runner, &[1.0, 2.0]), vector(&runner, &[3.0, 4.0]), OpAttrs::new());
    let call = || {
        let arguments = [&x, &y].into_iter().map(Cow::Borrowed).collect();
        add.call(OpInvocation { cx: &runner.cx, arguments, attrs: &attrs, result_count: 1, chain: None })
    };
    // Lists of the thread are filled by the first calls.
    (0..100).for_each(|_| drop(call()));
    let before = COUNT.get();
    let calls = 1_000;
    for _ in 0..calls {
        assert_eq!(values(&call()[0]), [4.0, 6.0]);
    }
    // One of them is the vector that the values are read into.
    let each = (COUNT.get() - before) as f64 / f64::from(calls) - 1.0;
    assert!(each < 3.0, "{each} allocations for each op");
}

/// Where a tensor's elements are.
fn address(handle: &TensorHandle) -> usize {
    let tensor = handle.host_tensor().expect("available").expect("no error");
    tensor.dense().expect("dense").buffer().as_ptr().addr()
}

#[test]
fn a_result_takes_the_memory_of_what_the_caller_gave_up_and_of_nothing_else() {
    let runner = Runner::new("s");
    let (add, attrs) = (runner.core.cpu().make_op("tf.AddV2").expect("an op"), OpAttrs::new());
    let call = |arguments: [Cow<'_, TensorHandle>; 2]| {
        let arguments = arguments.into_iter().collect();
        let invocation =
            OpInvocation { cx: &runner.cx, arguments, attrs: &attrs, result_count: 1, chain: None };
        let sums = add.call(invocation);
        assert_eq!(values(&sums[0]), [4.0, 6.0]);
        address(&sums[0])
    };
    let y = vector(&runner, &[3.0, 4.0]);
    let x = || vector(&runner, &[1.0, 2.0]);
    let (given, kept) = (x(), x());
    let (at, other) = (address(&given), kept.clone());
    assert_eq!(call([Cow::Owned(given), Cow::Borrowed(&y)]), at, "the last share was given");
    assert_ne!(call([Cow::Owned(kept), Cow::Borrowed(&y)]), address(&other), "somebody has another share");
    assert_ne!(call([Cow::Borrowed(&other), Cow::Borrowed(&y)]), address(&other), "it was lent");
    assert_eq!([values(&other), values(&y)], [[1.0, 2.0], [3.0, 4.0]]);
    let ((promise, pending), given) = (IndirectPromise::new(), x());
    let (at, pending) = (address(&given), TensorHandle::from_pending(y.device().clone(), pending));
    let arguments = [given, pending].into_iter().map(Cow::Owned).collect();
    let sums =
        add.call(OpInvocation { cx: &runner.cx, arguments, attrs: &attrs, result_count: 1, chain: None });
    assert!(!sums[0].is_available());
    promise.forward_to(y.into_tensor());
    assert_eq!((values(&sums[0]), address(&sums[0])), (vec![4.0, 6.0], at), "also where it waited");
    let ((promise, pending), given) = (IndirectPromise::new(), x());
    let (at, device) = (address(&given), given.device().clone());
    let metadata = given.metadata().expect("known").expect("no error");
    let add_two = |sum| {
        let arguments = [sum, vector(&runner, &[2.0, 2.0])].into_iter().map(Cow::Owned).collect();
        add.call(OpInvocation { cx: &runner.cx, arguments, attrs: &attrs, result_count: 1, chain: None })
            .remove(0)
    };
    let sum = add_two(add_two(TensorHandle::new(device, &metadata, pending)));
    promise.forward_to(given.into_tensor());
    assert_eq!((values(&sum), address(&sum)), (vec![5.0, 6.0], at), "and what came by a promise");
}

/// Nobody makes lists as long as the images are high, and on a device none before there is memory
/// for the result.
#[test]
fn gradients_of_images_take_the_memory_of_their_result() {
    let taken = |runner: &Runner, call: &str| {
        let case = Case::parse(&format!("{call} -> error")).expect("a case");
        LARGEST.set(0);
        let failed = runner.run(&case)[0].error().map(|error| error.code);
        (LARGEST.get(), failed)
    };
    let [in_host_memory, on_device] = [Runner::new("s"), Runner::on_device("s")];
    let [bilinear, nearest] = [
        |height: usize| format!("tf.ResizeBilinearGrad {{}} f32[1,1,1,1] 1; f32[0,{height},1,1]"),
        |height: usize| format!("tf.ResizeNearestNeighborGrad {{}} f32[1,1,1,1] 1; i32[2] {height} 1"),
    ];
    for call in [bilinear, nearest] {
        let height = 1 << 20;
        let (bytes, failed) = taken(&in_host_memory, &call(height));
        assert!(failed.is_none() && bytes < height * 5, "{bytes} bytes, {failed:?}");
        // More than the device has.
        let (bytes, failed) = taken(&on_device, &call(1 << 27));
        assert!(failed == Some(ErrorCode::OutOfMemory) && bytes < height * 5, "{bytes} bytes, {failed:?}");
    }
}

/// Where few units go, lists for a device are as long as these are many, however large the result
/// is.
#[test]
fn scattering_takes_host_memory_for_what_is_scattered() {
    let runner = Runner::on_device("s");
    let (rows, attrs) = (1usize << 21, OpAttrs::new());
    let number = |row: usize| row as i64;
    let indices = [rows - 1, 7, rows - 1].map(number);
    let indices = DenseHostTensor::from_slice([3, 1], &indices, &support::allocator()).expect("memory");
    let shape = DenseHostTensor::from_slice([1], &[number(rows)], &support::allocator()).expect("memory");
    let arguments = [runner.handle(indices), vector(&runner, &[1.0, 2.0, 3.0]), runner.handle(shape)];
    LARGEST.set(0);
    let result = runner.call("tf.ScatterNd", arguments, &attrs, 1).remove(0);
    // A device that is the host takes the result's memory there, too.
    assert!(LARGEST.get() < rows * 5, "{} bytes", LARGEST.get());
    let found = values(&runner.brought(&result));
    let touched: Vec<_> = found.iter().copied().enumerate().filter(|&(_, x)| x != 0.0).collect();
    assert_eq!((found.len(), touched), (rows, vec![(7, 2.0), (rows - 1, 4.0)]));
}

#[test]
fn on_a_device_too_memory_is_taken_of_what_the_caller_gave_up_and_of_nothing_else() {
    let runner = Runner::on_device("s");
    let (add, attrs) = (runner.handler.make_op("tf.AddV2").expect("an op"), OpAttrs::new());
    let sum = |arguments: [Cow<'_, TensorHandle>; 2]| {
        let arguments = arguments.into_iter().collect();
        let invocation =
            OpInvocation { cx: &runner.cx, arguments, attrs: &attrs, result_count: 1, chain: None };
        add.call(invocation).remove(0)
    };
    let address = |handle: &TensorHandle| {
        handle.tensor().get::<DeviceTensor>().expect("on the device").buffer().address()
    };
    let (one, zero) = (vector(&runner, &[1.0, 2.0]), vector(&runner, &[0.0, 0.0]));
    let x = || sum([Cow::Borrowed(&one), Cow::Borrowed(&zero)]);
    let (given, kept, y) = (x(), x(), x());
    let (at, other) = (address(&given), kept.clone());
    let first = sum([Cow::Owned(given), Cow::Borrowed(&y)]);
    assert_eq!(address(&first), at, "the last share was given");
    let second = sum([Cow::Owned(kept), Cow::Borrowed(&y)]);
    assert!(![address(&other), address(&y)].contains(&address(&second)), "somebody has another share");
    let third = sum([Cow::Borrowed(&other), Cow::Borrowed(&y)]);
    assert!(![address(&other), address(&y)].contains(&address(&third)), "both were lent");
    for (handle, expected) in [
        (&first, [2.0, 4.0]),
        (&second, [2.0, 4.0]),
        (&third, [2.0, 4.0]),
        (&other, [1.0, 2.0]),
        (&y, [1.0, 2.0]),
    ] {
        assert_eq!(values(&runner.brought(handle)), expected);
    }
    // What comes from the host for this call alone is the call's.
    let doubled = sum([Cow::Borrowed(&one), Cow::Borrowed(&one)]);
    assert_eq!(values(&runner.brought(&doubled)), [2.0, 4.0]);
    assert_eq!(values(&one), [1.0, 2.0]);
}

/// Clients that each compute their own numbers, a step at a time, half of which are cancelled on
/// the way.
#[test]
fn a_thousand_clients_do_not_disturb_each_other() {
    let runner = Arc::new(Runner::new("mstd:2"));
    let clients: Vec<_> = (0..1_000).map(|_| context(&runner.host)).collect();
    let handler = runner.core.cpu();
    let step = |client: usize, x: TensorHandle| {
        // Later, so that the ops of all clients are under way together.
        let attrs = OpAttrs::new();
        let run = |op: &str, arguments: Vec<TensorHandle>| {
            let cx = &clients[client];
            let mut results =
                CoreRuntime::execute(cx, &*handler, op, arguments, &attrs, 1, None).expect("an op");
            results.pop().expect("a result")
        };
        let later = run("tfrt_test.async.noop", vec![x.clone()]);
        run("tf.AddV2", vec![run("tf.Mul", vec![later, x.clone()]), x])
    };
    let start = |client: usize| vector(&runner, &[client as f32, 1.0]);
    let first: Vec<_> = (0..clients.len()).map(|client| step(client, start(client))).collect();
    clients.iter().step_by(2).for_each(|cx| cx.request().cancel());
    let last: Vec<_> = first.into_iter().enumerate().map(|(client, x)| step(client, x)).collect();
    let pending: Vec<AsyncValue> = last.iter().map(|handle| handle.tensor().clone()).collect();
    runner.host.await_values(&pending).expect("not on a compute thread");
    for (client, result) in last.iter().enumerate() {
        if client % 2 == 0 {
            assert_eq!(result.error().expect("cancelled").code, ErrorCode::Cancelled);
        } else {
            // x² + x, twice.
            let once = |x: f32| x * x + x;
            assert_eq!(values(result), [once(once(client as f32)), once(once(1.0))], "client {client}");
        }
    }
}

/// Results do not depend on how many threads compute them.
#[test]
fn the_number_of_threads_does_not_matter() {
    let results = ["s", "mstd:1", "mstd:4"].map(|queue| {
        let runner = Runner::new(queue);
        let numbers: Vec<f32> = (0..300_000).map(|i| (i as f32 * 0.37).sin()).collect();
        let shape = [600, 500];
        let x = DenseHostTensor::from_slice(shape, &numbers, &support::allocator()).expect("memory");
        let axes = DenseHostTensor::from_slice([2], &[0i32, 1], &support::allocator()).expect("memory");
        let (x, attrs) = (runner.handle(x), OpAttrs::new());
        let mut transposed = OpAttrs::new();
        transposed.set("transpose_b", true).expect("one of its name");
        let y = runner.call("tf.Softmax", [x.clone()], &attrs, 1);
        let z = runner.call("tf.MatMul", [y[0].clone(), x.clone()], &transposed, 1);
        let w = runner.call("tf.Mul", [z[0].clone(), z[0].clone()], &attrs, 1);
        let sum = runner.call("tf.Sum", [w[0].clone(), runner.handle(axes)], &attrs, 1);
        let pending = [w[0].tensor().clone(), sum[0].tensor().clone()];
        runner.host.await_values(&pending).expect("not on a compute thread");
        let bits = |handle: &TensorHandle| -> Vec<u32> {
            let tensor: &HostTensor = handle.host_tensor().expect("available").expect("no error");
            tensor
                .dense()
                .expect("dense")
                .read::<f32>(&ME)
                .expect("no writer")
                .iter()
                .map(|x| x.to_bits())
                .collect()
        };
        (bits(&w[0]), bits(&sum[0]))
    });
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn tensors_have_methods() {
    let runner = Runner::new("mstd:2");
    let cpu = Eager::on_cpu(&runner.host).expect("a context");
    let x = cpu.tensor([1, 2], &[1.0f32, -2.0]).expect("memory");
    let w = cpu.tensor([2, 2], &[1.0f32, 0.0, 0.5, 1.0]).expect("memory");
    let y = cpu.matmul(&x, &w).and_then(|y| y.add(&x)?.relu()).expect("shapes that fit");
    assert_eq!(y.to_vec::<f32>(), Ok(vec![1.0, 0.0]));
    let sum = w.transpose(&[1, 0]).and_then(|w| w.reshape(&[-1])?.sum(&[0])).expect("shapes that fit");
    assert_eq!(sum.to_vec::<f32>(), Ok(vec![2.5]));
    assert_eq!(sum.cast(DType::I32).expect("a type").to_vec::<i32>(), Ok(vec![2]));
    let error = x.matmul(&x).expect_err("shapes that do not fit");
    assert!(error.message.contains("incompatible shapes"), "{error}");
    assert_eq!(cpu.call("tf.Nothing", &[], &OpAttrs::new(), 1).expect_err("no op").code, ErrorCode::NotFound);
    cpu.request().cancel();
    assert!(x.relu().is_err());
}

/// A tensor is a future: whoever awaits it is woken when it is there.
#[test]
fn tensors_are_futures() {
    struct Unpark(std::thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let runner = Runner::new("mstd:2");
    let cpu = Eager::on_cpu(&runner.host).expect("a context");
    let x = cpu.tensor([2], &[3.0f32, 4.0]).expect("memory");
    let later = cpu.call("tfrt_test.async.noop", &[&x], &OpAttrs::new(), 1).expect("an op").remove(0);
    let mut squares = std::pin::pin!(later.square().expect("an op"));
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let tensor = loop {
        match squares.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(tensor) => break tensor.expect("no error"),
            Poll::Pending => std::thread::park(),
        }
    };
    assert_eq!(*tensor.dense().expect("dense").read::<f32>(&ME).expect("no writer"), [9.0, 16.0]);
}

#[test]
fn ops_declare_their_types_and_each_attribute_once() {
    let runner = Runner::new("s");
    runner.core.ops().check().expect("ops that are there, each once");
    let ops = || runner.core.ops().ops().filter(|op| !op.name().starts_with("tfrt_test."));
    let bare: Vec<_> = ops().filter(|op| op.runs_on_host() && op.types().is_empty()).collect();
    assert!(bare.is_empty(), "without types: {bare:?}");
    let twice = ops().filter(|op| {
        let names: HashSet<_> = op.attributes().iter().map(|attribute| attribute.name).collect();
        names.len() != op.attributes().len()
    });
    let twice: Vec<_> = twice.collect();
    assert!(twice.is_empty(), "with two attributes of one name: {twice:?}");
}

/// A tensor of one element, a one.
fn one(dtype: DType) -> HostTensor {
    if dtype == DType::String {
        return StringHostTensor::new([1], vec!["1"]).expect("one string").into();
    }
    macro_rules! single {
        ($value:expr) => {
            DenseHostTensor::from_slice([1], &[$value], &support::allocator()).expect("memory").into()
        };
    }
    match dtype {
        DType::I1 => single!(true),
        DType::I8 => single!(1i8),
        DType::I16 => single!(1i16),
        DType::I32 => single!(1i32),
        DType::I64 => single!(1i64),
        DType::UI8 => single!(1u8),
        DType::UI16 => single!(1u16),
        DType::UI32 => single!(1u32),
        DType::UI64 => single!(1u64),
        DType::F16 => single!(f16::ONE),
        DType::BF16 => single!(bf16::ONE),
        DType::F32 => single!(1f32),
        DType::F64 => single!(1f64),
        DType::Complex64 => single!(Complex::new(1f32, 0.0)),
        DType::Complex128 => single!(Complex::new(1f64, 0.0)),
        other => unreachable!("{other} is no type of elements"),
    }
}

/// Ops that take tensors of one type and no attributes are called with each type: they must take
/// the types that they declare.
#[test]
fn ops_take_the_types_that_they_declare() {
    let runner = Runner::new("s");
    let types = runner.core.ops().op("tf.Identity").expect("an op").types();
    let (mut compared, mut wrong) = (0, Vec::new());
    for op in runner.core.ops().ops().filter(|op| op.name().starts_with("tf.")) {
        let (name, declared) = (op.name(), op.types());
        if op.is_side_effecting() || !op.runs_on_host() {
            continue;
        }
        for count in 1..=3 {
            let takes = |dtype: &DType| {
                let arguments = (0..count).map(|_| runner.handle(one(*dtype)));
                let results = runner.call(name, arguments, &OpAttrs::new(), 1);
                runner.brought(&results[0]).error().is_none()
            };
            let taken: Vec<_> = types.iter().copied().filter(takes).collect();
            // Others take shapes or indices.
            if !taken.contains(&DType::UI16) && !taken.contains(&DType::F64) {
                continue;
            }
            compared += 1;
            if taken != types.iter().copied().filter(|dtype| declared.contains(dtype)).collect::<Vec<_>>() {
                wrong.push(format!("{name} takes {taken:?} and declares {declared:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(compared > 100, "only {compared} ops take tensors of one type");
}

/// Reductions to few results are cut by what they read, and then combined: whole numbers have one
/// sum in any order.
#[test]
fn reductions_of_much_to_little_are_right_on_any_number_of_threads() {
    let (rows, columns) = (40_001, 5);
    let values: Vec<f32> = (0..rows * columns).map(|i| (i % 17) as f32 - 8.0).collect();
    let of_column = |column: usize| values.iter().skip(column).step_by(columns).sum::<f32>();
    let expected: Vec<f32> = (0..columns).map(of_column).collect();
    for queue in ["s", "mstd:1", "mstd:3"] {
        let runner = Runner::new(queue);
        let sum = |op: &str, axes: &[i32]| {
            let tensor = |tensor: Result<DenseHostTensor, _>| runner.handle(tensor.expect("memory"));
            let x = tensor(DenseHostTensor::from_slice([rows, columns], &values, &support::allocator()));
            let axes = tensor(DenseHostTensor::from_slice([axes.len()], axes, &support::allocator()));
            let arguments: Vec<_> = if op == "tf.Sum" { vec![x, axes] } else { vec![x] };
            let result = runner.brought(&runner.call(op, arguments, &OpAttrs::new(), 1)[0]);
            let result =
                result.host_tensor().expect("available").expect("no error").dense().expect("dense").clone();
            result.read::<f32>(&ME).expect("no writer").to_vec()
        };
        assert_eq!(sum("tf.Sum", &[0]), expected, "{queue}");
        assert_eq!(sum("tf.BiasAddGrad", &[]), expected, "{queue}");
        assert_eq!(sum("tf.Sum", &[0, 1]), [expected.iter().sum::<f32>()], "{queue}");
    }
}
