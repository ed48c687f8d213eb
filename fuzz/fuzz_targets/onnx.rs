//! Any bytes as an ONNX model: it is refused, or it becomes an op graph that the verifier accepts after each pass, and a program.

#![no_main]

use std::{ops::ControlFlow, sync::LazyLock};

use libfuzzer_sys::fuzz_target;
use tfrt_compiler::{
    Evaluator,
    import::{ImportOptions, onnx},
    lower, pass,
};
use tfrt_fuzz::allocator;
use tfrt_host::{HostContext, work_queue};

static EVALUATOR: LazyLock<Evaluator> = LazyLock::new(|| {
    let queue = work_queue::from_str("s").expect("a queue of one thread");
    Evaluator::new(&HostContext::builder(queue, allocator()).build()).expect("a core runtime")
});

fuzz_target!(|bytes: &[u8]| {
    let imported = onnx::read_bytes("in.onnx", bytes, &ImportOptions::default(), &EVALUATOR);
    let Ok((mut graph, _)) = imported else { return };
    if let Err(errors) = pass::verify_op_graph(&graph, &EVALUATOR) {
        panic!("the importer makes a graph that is wrong: {errors}");
    }
    let verified = pass::PassOptions { verify_each: true };
    let run = pass::run(pass::PASSES, &mut graph, &EVALUATOR, verified, &mut |_, _, _| ControlFlow::Continue(()));
    if let Err(errors) = run {
        panic!("a pass leaves a graph that is wrong: {errors}");
    }
    let _ = lower::corert::lower(&graph, &EVALUATOR);
});
