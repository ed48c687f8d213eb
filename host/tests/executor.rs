//! The executor's behaviour, on both queues.

mod support;

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use support::{Host, Program, With, registry};
use tfrt_bef::{Attribute, FunctionKind};
use tfrt_host::{
    Arg, AsyncValue, Diagnostic, ErrorCode, ExecutionContext, KernelSignature, Out, Rest, Status,
};

/// Workers that find nothing to do look again for a while; under Miri that takes minutes.
const QUEUES: &[&str] = if cfg!(miri) { &["s"] } else { &["s", "mstd:1", "mstd:2"] };

fn i32_of(value: &AsyncValue) -> i32 {
    *value.get::<i32>().expect("an i32")
}

#[test]
fn serial_kernels_compute() {
    let mut p = Program::new();
    let f = p.function(&["i32"]);
    let one = p.i32(&f, 1);
    let mut sum = f.parameters[0];
    for _ in 0..100 {
        sum = p.kernel(&f, "add", &[sum, one], &["i32"])[0];
    }
    p.add("f", &f, &[sum, sum]);
    let program = p.load(&registry()).unwrap();
    for queue in QUEUES {
        let results = Host::new(queue).run(&program, "f", vec![AsyncValue::new(5i32)]);
        assert_eq!(results.iter().map(i32_of).collect::<Vec<_>>(), [105, 105]);
    }
}

#[test]
fn asynchronous_kernels_defer_their_users() {
    /// Miri is a thousand times slower.
    const PARTS: i32 = if cfg!(miri) { 16 } else { 64 };
    for kernel in ["async_add", "heavy_add", "blocking_add"] {
        let mut p = Program::new();
        let f = p.function(&[]);
        let one = p.i32(&f, 1);
        let parts: Vec<_> = (0..PARTS).map(|_| p.kernel(&f, kernel, &[one, one], &["i32"])[0]).collect();
        let mut sum = one;
        for part in parts {
            sum = p.kernel(&f, "add", &[sum, part], &["i32"])[0];
        }
        p.add("f", &f, &[sum]);
        let program = p.load(&registry()).unwrap();
        for queue in QUEUES {
            let sum = i32_of(&Host::new(queue).run(&program, "f", vec![])[0]);
            assert_eq!(sum, 2 * PARTS + 1, "{kernel} on {queue}");
        }
    }
}

#[test]
fn an_error_skips_exactly_what_depends_on_it() {
    let mut p = Program::new();
    let f = p.function(&[]);
    let one = p.i32(&f, 1);
    let zero = p.i32(&f, 0);
    let bad = p.kernel(&f, "div", &[one, zero], &["i32"])[0];
    let worse = p.kernel(&f, "async_add", &[bad, one], &["i32"])[0];
    let good = p.kernel(&f, "async_add", &[one, one], &["i32"])[0];
    let mixed = p.kernel(&f, "add", &[good, worse], &["i32"])[0];
    p.add("f", &f, &[bad, worse, good, mixed]);
    let program = p.load(&registry()).unwrap();
    for queue in QUEUES {
        let host = Host::new(queue);
        let results = host.run(&program, "f", vec![]);
        for number in [0, 1, 3] {
            let error = results[number].error().unwrap();
            assert_eq!(error.message, "Divide by zero");
            assert_eq!(error.location.as_ref().unwrap().line, 3);
            assert_eq!(error.notes, ["in kernel 'div'"]);
        }
        assert_eq!(i32_of(&results[2]), 2);
        assert_eq!(host.errors.lock().unwrap().len(), 1, "told once");
    }
}

#[test]
fn a_kernel_may_fail_in_part() {
    let mut registry = registry();
    registry.add("split", |a: i32| (Out(Ok(a)), Out::<i32>(Err(Diagnostic::from("half")))));
    let mut p = Program::new();
    let f = p.function(&["i32"]);
    let parts = p.kernel(&f, "split", &[f.parameters[0]], &["i32", "i32"]);
    p.add("f", &f, &parts);
    let program = p.load(&registry).unwrap();
    let results = Host::new("s").run(&program, "f", vec![AsyncValue::new(3i32)]);
    assert_eq!(i32_of(&results[0]), 3);
    assert_eq!(results[1].error().unwrap().message, "half");
}

#[test]
fn a_panicking_kernel_is_an_error_and_the_rest_goes_on() {
    let mut p = Program::new();
    let f = p.function(&["i32"]);
    let bad = p.kernel(&f, "panic", &[f.parameters[0]], &["i32"])[0];
    let late = p.kernel(&f, "async_add", &[f.parameters[0], f.parameters[0]], &["i32"])[0];
    let bad_late = p.kernel(&f, "panic", &[late], &["i32"])[0];
    let good = p.kernel(&f, "add", &[f.parameters[0], late], &["i32"])[0];
    p.add("f", &f, &[bad, bad_late, good]);
    let program = p.load(&registry()).unwrap();
    for queue in QUEUES {
        let results = Host::new(queue).run(&program, "f", vec![AsyncValue::new(3i32)]);
        for number in [0, 1] {
            let error = results[number].error().unwrap();
            assert_eq!((error.code, &*error.message), (ErrorCode::Internal, "the kernel panicked: oh no"));
        }
        assert_eq!(i32_of(&results[2]), 9);
    }
}

#[test]
fn a_panic_ends_a_synchronous_function() {
    let mut p = Program::new();
    let id = p.declare("f");
    let f = p.function(&["i32"]);
    let sum = p.kernel(&f, "add", &[f.parameters[0], f.parameters[0]], &["i32"])[0];
    let bad = p.kernel(&f, "panic", &[sum], &["i32"])[0];
    let after = p.kernel(&f, "add", &[bad, sum], &["i32"])[0];
    p.define(id, FunctionKind::Sync, &f, &[sum, after]);
    let program = p.load(&registry()).unwrap();
    for result in Host::new("s").run(&program, "f", vec![AsyncValue::new(3i32)]) {
        let error = result.error().unwrap();
        assert_eq!(error.message, "the kernel panicked: oh no");
        assert_eq!(error.location.as_ref().unwrap().line, 2);
    }
}

#[test]
fn a_result_that_was_not_set_is_an_error_whatever_its_register_held() {
    let mut registry = registry();
    registry.add_raw("forgetful", KernelSignature::any(), |_| {});
    let mut p = Program::new();
    let f = p.function(&["i32"]);
    let sum = p.kernel(&f, "add", &[f.parameters[0], f.parameters[0]], &["i32"])[0];
    let sum = p.kernel(&f, "add", &[sum, sum], &["i32"])[0];
    p.add("f", &f, &[sum]);
    let g = p.function(&["i32"]);
    let (first, second) =
        (p.kernel(&g, "forgetful", &[], &["i32"]), p.kernel(&g, "forgetful", &[], &["i32"]));
    p.add("g", &g, &[first[0], second[0]]);
    let program = p.load(&registry).unwrap();
    let host = Host::new("s");
    // Leaves scalars in the registers that the other function gets.
    assert_eq!(i32_of(&host.run(&program, "f", vec![AsyncValue::new(1i32)])[0]), 4);
    for result in host.run(&program, "g", vec![AsyncValue::new(1i32)]) {
        assert_eq!(result.error().unwrap().message, "a kernel did not set this result");
    }
}

#[test]
fn cancellation_reaches_what_has_not_started() {
    let mut registry = registry();
    registry.add("cancel", |a: i32, cx: &tfrt_host::ExecutionContext| {
        cx.request().cancel();
        a
    });
    let mut p = Program::new();
    let f = p.function(&["i32"]);
    let late = p.kernel(&f, "async_add", &[f.parameters[0], f.parameters[0]], &["i32"])[0];
    let waiting = p.kernel(&f, "add", &[late, late], &["i32"])[0];
    let before = p.kernel(&f, "add", &[f.parameters[0], f.parameters[0]], &["i32"])[0];
    let cancelled = p.kernel(&f, "cancel", &[before], &["i32"])[0];
    let after = p.kernel(&f, "add", &[before, before], &["i32"])[0];
    p.add("f", &f, &[before, cancelled, after, waiting]);
    let program = p.load(&registry).unwrap();
    let results = Host::new("s").run(&program, "f", vec![AsyncValue::new(1i32)]);
    assert_eq!(i32_of(&results[0]), 2);
    assert_eq!(i32_of(&results[1]), 2);
    assert_eq!(results[2].error().unwrap().code, ErrorCode::Cancelled);
    assert_eq!(results[3].error().unwrap().code, ErrorCode::Cancelled);
}

#[test]
fn a_deadline_cancels() {
    let mut p = Program::new();
    let f = p.function(&["i32"]);
    p.add("id", &f, &[f.parameters[0]]);
    let g = p.function(&["i32"]);
    let sum = p.kernel(&g, "add", &[g.parameters[0], g.parameters[0]], &["i32"])[0];
    p.add("g", &g, &[sum]);
    let program = p.load(&registry()).unwrap();
    let host = Host::new("s");
    let request = host.request();
    request.set_deadline(std::time::Duration::from_millis(1)).unwrap();
    while !request.is_cancelled() {
        std::thread::yield_now();
    }
    let results = host.run_in(&request, &program, "g", vec![AsyncValue::new(1i32)]);
    assert_eq!(results[0].error().unwrap().code, ErrorCode::DeadlineExceeded);
}

#[test]
fn a_panic_in_spawned_work_keeps_its_text_and_place() {
    let mut registry = registry();
    registry.add("spawn", |_: i32, cx: &ExecutionContext| {
        cx.spawn(|| -> Result<i32, Diagnostic> { std::panic::panic_any("oh no") })
    });
    registry.add("spawn_blocking", |number: i32, cx: &ExecutionContext| {
        cx.spawn_blocking(move || -> Result<i32, Diagnostic> {
            std::panic::panic_any(format!("number {number}"))
        })
    });
    let mut p = Program::new();
    let f = p.function(&["i32"]);
    let one = f.parameters[0];
    let results = ["spawn", "spawn_blocking"].map(|kernel| p.kernel(&f, kernel, &[one], &["i32"])[0]);
    p.add("f", &f, &results);
    let program = p.load(&registry).unwrap();
    for queue in QUEUES {
        let host = Host::new(queue);
        let results = host.run(&program, "f", vec![AsyncValue::new(3i32)]);
        for (number, text) in ["oh no", "number 3"].into_iter().enumerate() {
            let error = results[number].error().unwrap();
            assert_eq!(error.message, format!("the kernel panicked: {text}"));
            assert_eq!(error.location.as_ref().unwrap().line, number as u32 + 1);
        }
        assert_eq!(host.host.work_queue().take_panics(), []);
    }
}

#[test]
fn a_deadline_ends_the_wait_for_blocking_kernels() {
    let (release, gate) = std::sync::mpsc::channel::<()>();
    let gate = Arc::new(std::sync::Mutex::new(gate));
    let mut registry = registry();
    let wait = gate.clone();
    registry
        .add("wait", move |a: i32| {
            // Ends when the sender is gone.
            let _ = wait.lock().unwrap().recv();
            a
        })
        .blocking();
    registry
        .add("wait_twice", move |a: i32| {
            let _ = gate.lock().unwrap().recv();
            (a, a)
        })
        .blocking();
    registry.add("spawn_endless", |cx: &ExecutionContext| cx.spawn_blocking(endless));
    registry.add("never", |cx: &ExecutionContext| {
        let (promise, value) = tfrt_host::Promise::<i32>::new();
        cx.resources().insert("never", std::sync::Mutex::new(Some(promise)));
        value
    });
    /// Waits until the test has seen the deadline.
    fn endless() -> Result<i32, Diagnostic> {
        while !SEEN.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        Ok(1)
    }
    static SEEN: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

    let mut p = Program::new();
    let f = p.function(&["i32"]);
    let a = f.parameters[0];
    let one = p.kernel(&f, "wait", &[a], &["i32"])[0];
    let after = p.kernel(&f, "add", &[one, a], &["i32"])[0];
    let two = p.kernel(&f, "wait_twice", &[a], &["i32", "i32"]);
    let spawned = p.kernel(&f, "spawn_endless", &[], &["i32"])[0];
    let never = p.kernel(&f, "never", &[], &["i32"])[0];
    p.add("f", &f, &[a, one, after, two[0], two[1], spawned, never]);
    let program = p.load(&registry).unwrap();
    let host = Host::new("mstd:2");
    let request = host.request();
    let cx = ExecutionContext::new(request.clone(), program.clone());
    request.set_deadline(std::time::Duration::from_millis(30)).unwrap();
    let results = program.function("f").unwrap().execute(&cx, [AsyncValue::new(7i32)]);
    // The kernels run until this test is over, and the one value is never produced.
    let results = request.await_values(results).unwrap();
    assert_eq!(i32_of(&results[0]), 7, "what was there stays");
    for result in &results[1..] {
        assert_eq!(result.error().unwrap().code, ErrorCode::DeadlineExceeded);
    }
    SEEN.store(true, Ordering::Release);
    drop(release);
    host.host.quiesce().unwrap();
}

#[test]
fn calls_that_multiply_are_refused_with_their_call_chain() {
    let mut p = Program::new();
    let id = p.declare("f");
    let f = p.function(&["i32"]);
    let call = |p: &mut Program| {
        p.with(&f, "call", &[f.parameters[0]], &["i32"], With { functions: &[id], ..With::default() })[0]
    };
    let (left, right) = (call(&mut p), call(&mut p));
    let sum = p.kernel(&f, "add", &[left, right], &["i32"])[0];
    p.define(id, FunctionKind::Async, &f, &[sum]);
    let program = p.load(&registry()).unwrap();
    for queue in QUEUES {
        let host = Host::with_max_pending_calls(queue, 200);
        let results = host.run(&program, "f", vec![AsyncValue::new(2i32)]);
        let error = results[0].error().unwrap();
        assert_eq!(error.code, ErrorCode::ResourceExhausted);
        assert_eq!(error.message, "more than 200 function calls are pending");
        assert!(error.location.is_some());
        assert!(error.notes[0].starts_with("called at test.mlir:"), "{:?}", error.notes);
        assert_eq!(host.errors.lock().unwrap().len(), 1, "reported once");
    }
}

#[test]
fn pending_calls_are_counted_until_they_end() {
    let mut p = Program::new();
    let callee = p.declare("callee");
    let c = p.function(&["i32"]);
    let late = p.kernel(&c, "async_add", &[c.parameters[0], c.parameters[0]], &["i32"])[0];
    let sum = p.kernel(&c, "add", &[late, late], &["i32"])[0];
    p.define(callee, FunctionKind::Async, &c, &[sum]);
    let f = p.function(&["i32"]);
    let calls: Vec<_> = (0..3)
        .map(|_| {
            let with = With { functions: &[callee], ..With::default() };
            p.with(&f, "call", &[f.parameters[0]], &["i32"], with)[0]
        })
        .collect();
    p.add("f", &f, &calls);
    let program = p.load(&registry()).unwrap();
    // Three at a time are pending, and thirty over all.
    let host = Host::with_max_pending_calls("s", 3);
    let request = host.request();
    for _ in 0..10 {
        let results = host.run_in(&request, &program, "f", vec![AsyncValue::new(2i32)]);
        assert_eq!(results.iter().map(i32_of).collect::<Vec<_>>(), [8, 8, 8]);
    }
    let results = Host::with_max_pending_calls("s", 2).run(&program, "f", vec![AsyncValue::new(2i32)]);
    assert_eq!(results[2].error().unwrap().code, ErrorCode::ResourceExhausted);
}

struct Token(Arc<AtomicUsize>);
tfrt_host::value_type!(Token, "!test.token");
impl Drop for Token {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn values_die_with_their_last_use() {
    let drops = Arc::new(AtomicUsize::new(0));
    let mut registry = registry();
    let made = drops.clone();
    registry.add("token", move || Token(made.clone()));
    let seen = drops.clone();
    registry.add("dropped", move || seen.load(Ordering::Relaxed) as i32);
    registry.add("use", |_: Arg<Token>, _: Arg<Token>| ());
    let mut p = Program::new();
    let f = p.function(&["!test.token"]);
    let token = p.kernel(&f, "token", &[], &["!test.token"])[0];
    let made = p.kernel(&f, "dropped", &[], &["i32"])[0];
    p.kernel(&f, "use", &[token, token], &[]);
    let used = p.kernel(&f, "dropped", &[], &["i32"])[0];
    p.kernel(&f, "token", &[], &["!test.token"]);
    let ignored = p.kernel(&f, "dropped", &[], &["i32"])[0];
    p.add("f", &f, &[made, used, ignored]);
    let program = p.load(&registry).unwrap();
    let parameter = AsyncValue::new(Token(drops.clone()));
    let results = Host::new("s").run(&program, "f", vec![parameter]);
    // The unused parameter dies before the first kernel.
    assert_eq!(results.iter().map(i32_of).collect::<Vec<_>>(), [1, 2, 3]);
}

#[test]
fn non_strict_calls_pass_pending_and_failed_values() {
    let mut p = Program::new();
    let callee = {
        let f = p.function(&["i32", "i32"]);
        p.add("first", &f, &[f.parameters[0]])
    };
    let f = p.function(&[]);
    let one = p.i32(&f, 1);
    let zero = p.i32(&f, 0);
    let bad = p.kernel(&f, "div", &[one, zero], &["i32"])[0];
    let late = p.kernel(&f, "async_add", &[one, one], &["i32"])[0];
    let call = |p: &mut Program, f: &support::Body, a, b| {
        p.with(f, "call", &[a, b], &["i32"], With { functions: &[callee], ..With::default() })[0]
    };
    let good = call(&mut p, &f, late, bad);
    let failed = call(&mut p, &f, bad, late);
    p.add("f", &f, &[good, failed]);
    let program = p.load(&registry()).unwrap();
    for queue in QUEUES {
        let results = Host::new(queue).run(&program, "f", vec![]);
        assert_eq!(i32_of(&results[0]), 2);
        assert_eq!(results[1].status(), Status::Failed);
    }
}

#[test]
fn synchronous_and_native_functions_are_called() {
    let mut registry = registry();
    registry.add_native("twice", |cx, arguments, _| match arguments[0].get::<i32>() {
        Some(a) => vec![AsyncValue::new(a * 2)],
        None => vec![cx.error(ErrorCode::InvalidArgument, "not there")],
    });
    let mut p = Program::new();
    let native = p.native("twice", &["i32"], &["i32"]);
    let sync = p.declare("sync");
    let s = p.function(&["i32"]);
    let one = p.i32(&s, 1);
    let sum = p.kernel(&s, "div", &[one, s.parameters[0]], &["i32"])[0];
    p.define(sync, FunctionKind::Sync, &s, &[sum]);
    let f = p.function(&["i32"]);
    let a =
        p.with(&f, "call", &[f.parameters[0]], &["i32"], With { functions: &[native], ..With::default() })[0];
    let b =
        p.with(&f, "call", &[f.parameters[0]], &["i32"], With { functions: &[sync], ..With::default() })[0];
    p.add("f", &f, &[a, b]);
    let program = p.load(&registry).unwrap();
    let results = Host::new("s").run(&program, "f", vec![AsyncValue::new(1i32)]);
    assert_eq!((i32_of(&results[0]), i32_of(&results[1])), (2, 1));
    let results = Host::new("s").run(&program, "f", vec![AsyncValue::new(0i32)]);
    assert_eq!(results[1].error().unwrap().message, "Divide by zero");
}

#[test]
fn loading_reports_every_unknown_kernel() {
    let mut p = Program::new();
    let f = p.function(&["i32"]);
    p.kernel(&f, "nope", &[f.parameters[0]], &[]);
    p.kernel(&f, "nope", &[f.parameters[0]], &[]);
    p.kernel(&f, "nada", &[f.parameters[0]], &[]);
    p.with(
        &f,
        "constant",
        &[],
        &["i32"],
        With { attribute: Some(Attribute::string("x")), ..With::default() },
    );
    p.add("f", &f, &[]);
    let errors = p.load(&registry()).unwrap_err();
    let messages: Vec<_> = errors.iter().map(|error| &*error.message).collect();
    assert_eq!(messages[..2], ["unknown kernel name 'nope'", "unknown kernel name 'nada'"]);
    assert_eq!(errors[1].location.as_ref().unwrap().line, 3);
    assert_eq!(messages.len(), 3, "{messages:?}");
}

#[test]
fn wrong_types_are_errors_with_the_kernels_place() {
    let mut p = Program::new();
    let f = p.function(&["f32"]);
    let sum = p.kernel(&f, "add", &[f.parameters[0], f.parameters[0]], &["i32"])[0];
    p.add("f", &f, &[sum]);
    let program = p.load(&registry()).unwrap();
    let results = Host::new("s").run(&program, "f", vec![AsyncValue::new(1f32)]);
    assert_eq!(results[0].error().unwrap().message, "argument 0 should be of type i32, got f32");
    let results = Host::new("s").run(&program, "f", vec![]);
    assert_eq!(results[0].error().unwrap().message, "function 'f' takes 1 arguments, got 0");
}

#[test]
fn loading_reports_kernels_that_do_not_fit() {
    let mut p = Program::new();
    let f = p.function(&["i32"]);
    p.kernel(&f, "add", &[f.parameters[0]], &["i32"]);
    p.kernel(&f, "new.chain", &[], &[]);
    p.add("f", &f, &[]);
    let errors = p.load(&registry()).unwrap_err();
    let messages: Vec<_> = errors.iter().map(|error| &*error.message).collect();
    assert_eq!(
        messages,
        ["kernel 'add': expected 2 arguments, got 1", "kernel 'new.chain': expected 1 results, got 0"]
    );
}

#[test]
fn calls_of_scalar_kernels_have_the_operands_of_their_function() {
    let mut registry = registry();
    registry.add_raw("nothing", KernelSignature::default(), |_| {});
    let mut p = Program::new();
    let f = p.function(&["i32"]);
    p.kernel(&f, "add", &[], &[]);
    p.kernel(&f, "nothing", &[], &[]);
    p.kernel(&f, "nothing", &[f.parameters[0]], &[]);
    p.add("f", &f, &[]);
    let errors = p.load(&registry).unwrap_err();
    let messages: Vec<_> = errors.iter().map(|error| &*error.message).collect();
    assert_eq!(
        messages,
        ["kernel 'add': expected 2 arguments, got 0", "kernel 'nothing': expected 0 arguments, got 1"]
    );
}

#[test]
fn blocking_kernels_never_run_on_a_compute_thread() {
    let mut p = Program::new();
    let f = p.function(&["i32"]);
    let one = f.parameters[0];
    let nonstrict = || With { nonstrict: true, ..With::default() };
    p.with(&f, "blocking_add", &[one, one], &["i32"], nonstrict());
    p.kernel(&f, "impatient", &[one], &["i32"]);
    p.with(&f, "add", &[one, one], &["i32"], nonstrict());
    p.kernel(&f, "blocking_add", &[one, one], &["i32"]);
    p.add("f", &f, &[]);
    let sync = p.declare("sync");
    let s = p.function(&["i32"]);
    p.kernel(&s, "blocking_add", &[s.parameters[0], s.parameters[0]], &["i32"]);
    p.define(sync, FunctionKind::Sync, &s, &[]);
    let errors = p.load(&registry()).unwrap_err();
    let found: Vec<_> = errors
        .iter()
        .map(|error| (error.location.as_ref().unwrap().line, error.code, &*error.message))
        .collect();
    let code = ErrorCode::FailedPrecondition;
    let nonstrict = "may wait and cannot run before its arguments are available (bef.nonstrict)";
    assert_eq!(
        found,
        [
            (1, code, &*format!("kernel 'blocking_add' {nonstrict}")),
            (2, code, &*format!("kernel 'impatient' {nonstrict}")),
            (5, code, "kernel 'blocking_add' may wait and cannot be called in a synchronous function"),
        ]
    );
}

#[test]
fn variadic_kernels_see_all_arguments() {
    let mut registry = registry();
    registry.add("sum", |rest: Rest<i32>| -> Result<i32, Diagnostic> {
        rest.iter().map(|value| Ok(*value?)).sum()
    });
    let mut p = Program::new();
    let f = p.function(&["i32"]);
    let many = vec![f.parameters[0]; 100];
    let sum = p.kernel(&f, "sum", &many, &["i32"])[0];
    let late = p.kernel(&f, "async_add", &[sum, sum], &["i32"])[0];
    let late = p.kernel(&f, "sum", &vec![late; 100], &["i32"])[0];
    p.add("f", &f, &[sum, late]);
    let program = p.load(&registry).unwrap();
    let results = Host::new("s").run(&program, "f", vec![AsyncValue::new(2i32)]);
    assert_eq!((i32_of(&results[0]), i32_of(&results[1])), (200, 40_000));
}

#[test]
fn endless_recursion_is_an_error() {
    let mut p = Program::new();
    let id = p.declare("f");
    let f = p.function(&["i32"]);
    let again =
        p.with(&f, "call", &[f.parameters[0]], &["i32"], With { functions: &[id], ..With::default() })[0];
    p.define(id, FunctionKind::Async, &f, &[again]);
    let program = p.load(&registry()).unwrap();
    for queue in QUEUES {
        let results = Host::new(queue).run(&program, "f", vec![AsyncValue::new(2i32)]);
        assert_eq!(results[0].error().unwrap().code, ErrorCode::ResourceExhausted);
    }
}

/// Miri is a thousand times slower.
const MANY: i32 = if cfg!(miri) { 40 } else { 1_000_000 };

#[test]
fn a_million_kernels_run_in_bounded_stack() {
    for kernel in ["add", "async_add"] {
        let mut p = Program::new();
        let f = p.function(&["i32"]);
        let (mut chain, one) = (f.parameters[0], f.parameters[0]);
        for _ in 0..MANY {
            chain = p.kernel(&f, kernel, &[chain, one], &["i32"])[0];
        }
        p.add("chain", &f, &[chain]);
        let program = p.load(&registry()).unwrap();
        for queue in QUEUES {
            let results = Host::new(queue).run(&program, "chain", vec![AsyncValue::new(1i32)]);
            assert_eq!(i32_of(&results[0]), MANY + 1, "{kernel} on {queue}");
        }
    }
}
