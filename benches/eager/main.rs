//! Eager ops on tiny tensors: `benches/eager/run` builds this and has `peers.py` call it by turns
//! with other libraries.
//!
//! Its first line of output is its name; then it answers each line of its standard input with one
//! of JSON, nanoseconds a call by what was called and how: the ops' methods in Rust, an op looked
//! up before, and a program of calls in a row. `queued` is until the call returns, with small
//! tensors' results computed; `result` until the elements are outside of the runtime; on a device
//! that does nothing, `queued` is until its stream has the launch. `call` is an op of two tensors
//! that computes nothing: what it takes to come to an op's work and back.
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::{borrow::Cow, collections::BTreeMap, error::Error, hint::black_box, io, time::Instant};

use tfrt::device::Devices;
use tfrt::eager::{CoreRuntime, Eager, OpAttrs, OpInvocation, OpRegistry, OpResult, Tensor, TensorHandle};
use tfrt::host::{AsyncValue, ExecutionContext, work_queue};
use tfrt::{Choice, DeviceOptions, Program, Runtime};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;
type Times = BTreeMap<String, f64>;

const X: [f32; 4] = [1.0, 2.0, 3.0, 4.0];
const Y: [f32; 4] = [0.5, 1.0, -1.0, 2.0];
const CALLS: usize = 2_000;
/// Calls of an op in a program.
const IN_A_ROW: usize = 100;
/// The ops, and how many arguments they take.
const OPS: [(&str, &str, usize); 3] =
    [("add", "tf.AddV2", 2), ("matmul", "tf.MatMul", 2), ("relu", "tf.Relu", 1)];

/// Nanoseconds that each of so many calls takes.
fn nanoseconds<T>(calls: usize, mut call: impl FnMut() -> Outcome<T>) -> Outcome<f64> {
    let start = Instant::now();
    for _ in 0..calls {
        black_box(call()?);
    }
    Ok(start.elapsed().as_nanos() as f64 / calls as f64)
}

/// An op as a method of tensors.
fn method(name: &str, x: &Tensor, y: &Tensor) -> Outcome<Tensor> {
    Ok(match name {
        "add" => x.add(y)?,
        "matmul" => x.matmul(y)?,
        _ => x.relu()?,
    })
}

fn methods(x: &Tensor, y: &Tensor, times: &mut Times) -> Outcome {
    for (name, ..) in OPS {
        let result = || Ok(method(name, x, y)?.to_vec::<f32>()?);
        times.insert(format!("{name}, queued"), nanoseconds(CALLS, || method(name, x, y))?);
        times.insert(format!("{name}, result"), nanoseconds(CALLS, result)?);
    }
    Ok(())
}

fn on_a_device(x: &Tensor, y: &Tensor, times: &mut Times) -> Outcome {
    for (name, ..) in OPS {
        times.insert(format!("{name}, queued, on a device"), nanoseconds(CALLS, || method(name, x, y))?);
    }
    Ok(())
}

/// Ops that were looked up before.
fn looked_up(
    core: &CoreRuntime,
    cx: &ExecutionContext,
    arguments: &[TensorHandle],
    times: &mut Times,
) -> Outcome {
    let (handler, attrs) = (core.cpu(), OpAttrs::new());
    for (name, op, count) in OPS {
        let op = handler.make_op(op)?;
        let call = || {
            let arguments = arguments[..count].iter().map(Cow::Borrowed).collect();
            Ok(op.call(OpInvocation { cx, arguments, attrs: &attrs, result_count: 1, chain: None }))
        };
        times.insert(format!("{name}, queued, looked up before"), nanoseconds(CALLS, call)?);
    }
    Ok(())
}

/// An op of two tensors whose result is the first.
fn nothing_computed(cx: &ExecutionContext, arguments: &[TensorHandle], times: &mut Times) -> Outcome {
    const NAME: &str = "bench.First";
    let mut ops = OpRegistry::new();
    ops.add(NAME)
        .metadata(|call| {
            let [first, _] = call.take()?;
            Ok([first.clone()].into_iter().collect())
        })
        .cpu(|call| Ok(OpResult::from(call.arguments[0].clone())));
    let (op, attrs) = (CoreRuntime::new(ops).cpu().make_op(NAME)?, OpAttrs::new());
    let call = || {
        let arguments = arguments.iter().map(Cow::Borrowed).collect();
        Ok(op.call(OpInvocation { cx, arguments, attrs: &attrs, result_count: 1, chain: None }))
    };
    times.insert("call, queued, looked up before".to_owned(), nanoseconds(CALLS, call)?);
    Ok(())
}

/// The program's functions, whose calls take as long as [`IN_A_ROW`] of their ops.
fn in_a_program(
    cx: &ExecutionContext,
    program: &Program,
    arguments: &[AsyncValue],
    times: &mut Times,
) -> Outcome {
    for (name, ..) in OPS {
        let function = program.file().function(name).ok_or("a function that was written above")?;
        let call = || {
            let results = function.execute(cx, arguments.to_vec());
            match results.iter().find_map(AsyncValue::error) {
                Some(error) => Err(error.message.clone().into()),
                None => Ok(results),
            }
        };
        let each = nanoseconds(CALLS / IN_A_ROW, call)? / IN_A_ROW as f64;
        times.insert(format!("{name}, queued, in a program"), each);
    }
    Ok(())
}

/// A program with a function for each op, which calls it [`IN_A_ROW`] times on the same arguments
/// and gives the last result, and one that makes the arguments.
fn program() -> String {
    let mut text = String::from(
        "func @arguments() -> (!corert.ophandler, !corert.tensorhandle, !corert.tensorhandle) {
  %null = \"corert.create_null_op_handler\"() : () -> !corert.ophandler
  %cpu = \"corert.create_cpu_op_handler\"(%null) : (!corert.ophandler) -> !corert.ophandler
  %x = corert.const_dense_tensor dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %y = corert.const_dense_tensor dense<[[0.5, 1.0], [-1.0, 2.0]]> : tensor<2x2xf32>
  tfrt.return %cpu, %x, %y : !corert.ophandler, !corert.tensorhandle, !corert.tensorhandle
}
",
    );
    for (name, op, count) in OPS {
        let arguments = if count == 2 { "%x, %y" } else { "%x" };
        text.push_str(&format!(
            "func @{name}(%cpu: !corert.ophandler, %x: !corert.tensorhandle, %y: !corert.tensorhandle) -> !corert.tensorhandle {{\n"
        ));
        for call in 0..IN_A_ROW {
            text.push_str(&format!("  %r{call} = corert.executeop(%cpu) \"{op}\"({arguments}) : 1\n"));
        }
        text.push_str(&format!("  tfrt.return %r{} : !corert.tensorhandle\n}}\n", IN_A_ROW - 1));
    }
    text
}

fn main() -> Outcome {
    let queue = work_queue::from_str("mstd:2").map_err(|error| error.to_string())?;
    let devices = DeviceOptions::new(Choice::Noop, 1);
    let runtime =
        Runtime::builder().work_queue(queue).devices(devices).build().map_err(|errors| errors.to_string())?;
    let program = runtime.load("eager.mlir", program().into_bytes()).map_err(|errors| errors.to_string())?;
    let (core, cx) =
        (CoreRuntime::of(runtime.host()), ExecutionContext::new(runtime.request(), program.file().clone()));
    let eager = runtime.cpu()?;
    let (x, y) = (eager.tensor([2, 2], &X)?, eager.tensor([2, 2], &Y)?);
    let handles = [x.handle().clone(), y.handle().clone()];
    let arguments = program.call("arguments", [])?;
    let device = Devices::of(runtime.host()).platform()?.device(0)?;
    let on_device = Eager::on_device(runtime.host(), &device)?;
    let there = |values: &[f32]| Ok::<_, Box<dyn Error>>(on_device.tensor([2, 2], values)?.reshape(&[2, 2])?);
    let (device_x, device_y) = (there(&X)?, there(&Y)?);
    println!("{}", serde_json::to_string(concat!("ours ", env!("CARGO_PKG_VERSION")))?);
    for line in io::stdin().lines() {
        line?;
        let mut times = Times::new();
        methods(&x, &y, &mut times)?;
        on_a_device(&device_x, &device_y, &mut times)?;
        looked_up(&core, &cx, &handles, &mut times)?;
        nothing_computed(&cx, &handles, &mut times)?;
        in_a_program(&cx, &program, &arguments, &mut times)?;
        println!("{}", serde_json::to_string(&times)?);
    }
    Ok(())
}
