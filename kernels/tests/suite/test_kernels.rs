//! Test kernels and native functions.

use tfrt_host::{
    ErrorCode,
    bef::{Attribute, FunctionKind},
};

use crate::support::{Host, Program, QUEUES, With, int, message, run};

#[test]
fn errors_come_early_late_and_in_part() {
    let mut p = Program::new();
    p.function("main", &[], |f| {
        let (zero, one) = (f.i32(0), f.i32(1));
        let mut results = f.with("tfrt_test.partial_fail", &[], &["i32", "i32"], With::default());
        results.push(f.op("tfrt_test.report_error_async", &[], "i32"));
        results.push(f.op("tfrt_test.report_error_concrete_async", &[zero], "i32"));
        results.push(f.op("tfrt_test.report_error_indirect_async", &[one], "i32"));
        results
    });
    run(p, |results, _| {
        assert_eq!((int(&results[0]), int(&results[3])), (1, 0));
        assert_eq!(message(&results[1]), "something bad happened");
        for number in [2, 4] {
            assert_eq!(message(&results[number]), "something bad happened asynchronously");
            assert_eq!(results[number].error().unwrap().code, ErrorCode::Unknown);
        }
    });
}

#[test]
fn tracked_values_live_as_long_as_they_are_used() {
    let mut p = Program::new();
    p.function("main", &[], |f| {
        let chain = f.chain();
        let one = f.attribute("vt.constant", Attribute::scalar(1), "!vt.value");
        let two = f.attribute("vt.constant", Attribute::scalar(2), "!vt.value");
        let sum = f.op("vt.add", &[one, two], "!vt.value");
        let shared = f.with("tfrt_test.share_to_two", &[sum], &["!vt.value"; 2], With::default());
        let chain = f.op("vt.print", &[shared[0], chain], "!tfrt.chain");
        vec![f.op("vt.print", &[shared[1], chain], "!tfrt.chain")]
    });
    run(p, |_, printed| {
        let expected: String = [
            "constructed vt.value(1)\nmove constructed vt.value(1)\n",
            "constructed vt.value(2)\nmove constructed vt.value(2)\n",
            "constructed vt.value(3)\nmove constructed vt.value(3)\n",
            "destroyed vt.value(1)\ndestroyed vt.value(2)\n",
            "print vt_value(3)\nprint vt_value(3)\ndestroyed vt.value(3)\n",
        ]
        .concat();
        assert_eq!(printed, expected);
    });
}

#[test]
fn resources_go_with_their_kernel_or_their_value() {
    for cancel in [false, true] {
        let mut p = Program::new();
        p.function("main", &[], |f| {
            let chain = f.chain();
            let resource = f.with(
                "tfrt_test.allocate_resource",
                &[chain],
                &["!tfrt.test.resource", "!tfrt.chain"],
                With::default(),
            );
            let mut chain = resource[1];
            if cancel {
                chain = f.with("tfrt_test.cancel", &[chain], &["i32", "!tfrt.chain"], With::default())[1];
            }
            vec![f.op("tfrt_test.deallocate_resource", &[resource[0], chain], "!tfrt.chain")]
        });
        run(p, |results, printed| {
            let end = if cancel { "" } else { "tfrt_test.deallocate_resource done\n" };
            assert_eq!(printed, format!("Allocated TestResource\nDestroyed TestResource\n{end}"));
            assert_eq!(results[0].error().map(|error| error.code), cancel.then_some(ErrorCode::Cancelled));
        });
    }
}

#[test]
fn a_host_has_one_sample_shared_context() {
    let mut p = Program::new();
    p.function("main", &[], |f| {
        let chain = f.chain();
        let mut name = || {
            f.with(
                "tfrt_test.use_sample_shared_context",
                &[chain],
                &["!tfrt.string", "!tfrt.chain"],
                With::default(),
            )[0]
        };
        vec![name(), name()]
    });
    run(p, |results, _| {
        for result in results {
            assert_eq!(result.get::<String>().unwrap(), "sample_shared_context0");
        }
    });
}

#[test]
fn strings_are_made_joined_and_printed() {
    let mut p = Program::new();
    p.function("main", &[], |f| {
        let bark = f.attribute("tfrt_test.get_string", Attribute::string("bark"), "!tfrt.string");
        let rarf = f.attribute("tfrt_test.get_string", Attribute::string("rarf"), "!tfrt.string");
        let joined = f.op("tfrt_test.append_string", &[bark, rarf], "!tfrt.string");
        let chain = f.chain();
        let chain = f.op("tfrt_test.print_string", &[joined, chain], "!tfrt.chain");
        let get = f.op("tfrt_test.async_value_get", &[], "!tfrt.string");
        let states = f.op("tfrt_test.async_value_ref", &[], "!tfrt.string");
        let chain = f.op("tfrt_test.print_string", &[get, chain], "!tfrt.chain");
        let chain = f.op("tfrt_test.print_string", &[states, chain], "!tfrt.chain");
        vec![f.op("tfrt_test.string_equal", &[bark, rarf], "i1"), chain]
    });
    run(p, |results, printed| {
        let expected = "string = barkrarf\nstring = base1:base2:final_class:3\n\
                        string = available:2;unavailable;(3);available:3;unavailable;available:4\n";
        assert_eq!(printed, expected);
        assert_eq!(results[0].get(), Some(&false));
    });
}

#[test]
fn attributes_of_all_sorts_arrive() {
    let leaf = Attribute::Aggregate(vec![Attribute::string("leaf"), Attribute::array(&[1i32, 0])]);
    let value = Attribute::Aggregate(vec![leaf, Attribute::Aggregate(vec![])]);
    let good = match &value {
        Attribute::Aggregate(parts) => {
            Attribute::Aggregate(vec![parts[0].clone(), Attribute::array(&[1.0f32])])
        }
        _ => unreachable!("just made"),
    };
    let mut p = Program::new();
    p.function("main", &[], |f| {
        let types = ["!tfrt.string", "i32", "i32", "f32"];
        let mut results =
            f.with("tfrt_test.flat", &[], &types, With { attributes: &[("value", good)], ..With::default() });
        results.extend(f.with(
            "tfrt_test.flat",
            &[],
            &types,
            With { attributes: &[("value", value)], ..With::default() },
        ));
        let numbers = ["a", "b", "c"].map(|name| (name, Attribute::scalar(7i32)));
        results.extend(f.with(
            "tfrt_test.sync_sum_attributes",
            &[],
            &["i32"],
            With { attributes: &numbers, ..With::default() },
        ));
        results
    });
    run(p, |results, _| {
        assert_eq!(results[0].get::<String>().unwrap(), "leaf");
        assert_eq!((int(&results[1]), int(&results[2]), results[3].get()), (1, 0, Some(&1.0f32)));
        assert!(message(&results[4]).contains("[[string"));
        assert_eq!(int(&results[8]), 21);
    });
}

#[test]
fn late_copies_arrive() {
    let mut p = Program::new();
    let body =
        p.function("", &["i32"], |f| vec![f.op("tfrt_test.async_add.i32", &[f.parameters[0]; 2], "i32")]);
    p.function("main", &[], |f| {
        let (three, us) = (f.i32(3), f.i32(10));
        let slept = f.op("tfrt_test.blocking.usleep", &[us], "!tfrt.chain");
        vec![
            f.op("tfrt_test.async_copy.with_delay.i32", &[three], "i32"),
            f.op("tfrt_test.async_copy_2.i32", &[three], "i32"),
            f.op("tfrt_test.copy.with_delay.i32", &[three], "i32"),
            f.with("tfrt_test.do.async", &[three], &["i32"], With { functions: &[body], ..With::default() })
                [0],
            slept,
        ]
    });
    run(p, |results, printed| {
        assert_eq!(results[..4].iter().map(int).collect::<Vec<_>>(), [3, 3, 3, 6]);
        assert_eq!(printed, "Slept for 10 microseconds\n");
    });
}

#[test]
fn native_functions_take_late_arguments() {
    let mut p = Program::new();
    let add = p.native("native_add", &["i32", "i32"], &["i32"]);
    let async_add = p.native("native_async_add", &["i32", "i32"], &["i32"]);
    let error = p.native("native_error", &[], &["i32"]);
    let async_sink = p.native("native_async_sink", &["i32"], &["!tfrt.chain"]);
    p.function("main", &[], |f| {
        let one = f.i32(1);
        let late = f.op("tfrt_test.async_add.i32", &[one, one], "i32");
        let bad = f.op("tfrt_test.report_error_async", &[], "i32");
        [(add, vec![one, late]), (async_add, vec![late, late]), (add, vec![bad, one]), (error, vec![])]
            .map(|(function, arguments)| f.flow("tfrt.call", &[function], &arguments, &["i32"])[0])
            .into_iter()
            .chain(f.flow("tfrt.call", &[async_sink], &[late], &["!tfrt.chain"]))
            .collect()
    });
    run(p, |results, _| {
        assert_eq!((int(&results[0]), int(&results[1])), (3, 4));
        assert_eq!(message(&results[2]), "something bad happened asynchronously");
        assert_eq!(message(&results[3]), "something bad happened");
        assert!(results[4].error().is_none());
    });
}

#[test]
fn places_of_a_program_are_told_apart() {
    let mut p = Program::new();
    let with = |name: &'static str| [("name", Attribute::string(name))];
    p.function("main", &[], |f| {
        ["a", "b", "c"]
            .map(|name| {
                let attributes = &with(name);
                f.with("tfrt_test.unique_loc", &[], &["!tfrt.chain"], With { attributes, ..With::default() })
                    [0]
            })
            .to_vec()
    });
    run(p, |results, _| assert!(results.iter().all(|result| result.error().is_none())));
}

fn benchmark_attributes(count: i32) -> [(&'static str, Attribute); 4] {
    [
        ("duration_secs", Attribute::scalar(10)),
        ("max_count", Attribute::scalar(count)),
        ("name", Attribute::string("add.i32")),
        ("num_warmup_runs", Attribute::scalar(10)),
    ]
}

#[test]
fn benchmarks_run_and_report() {
    for adder in ["tfrt.add.i32", "tfrt_test.async_add.i32"] {
        let mut p = Program::new();
        let body = p.function("", &["i32"], |f| vec![f.op(adder, &[f.parameters[0]; 2], "i32")]);
        p.function("main", &[], |f| {
            let one = f.i32(1);
            let attributes = &benchmark_attributes(3000);
            f.with(
                "tfrt_test.benchmark",
                &[one],
                &["!tfrt.chain"],
                With { functions: &[body], attributes, ..With::default() },
            )
        });
        run(p, |results, printed| {
            assert!(results[0].error().is_none());
            let names: Vec<_> =
                printed.lines().filter_map(|line| line.rsplit_once(':')).map(|(name, _)| name).collect();
            let expected = [
                "Duration(ns)",
                "Count",
                "Time Min(ns)",
                "Time 50%(ns)",
                "Time 95%(ns)",
                "Time 99%(ns)",
                "CPU Min(ns)",
                "CPU 50%(ns)",
                "CPU 95%(ns)",
                "CPU 99%(ns)",
                "CPU utilization(percent)",
            ]
            .map(|name| format!("BM:add.i32:{name}"));
            assert_eq!(names, expected);
            assert!(printed.contains("BM:add.i32:Count: 3000\n"), "{printed}");
        });
    }
}

#[test]
fn benchmarks_end_with_an_error() {
    let mut p = Program::new();
    let bad = p.function("", &[], |f| vec![f.op("tfrt_test.report_error_async", &[], "i32")]);
    let good = p.function("", &[], |f| vec![f.i32(1)]);
    let nothing = p.function("", &[], |_| vec![]);
    p.function("main", &[], |f| {
        [(bad, 5), (nothing, 5), (good, 0)]
            .map(|(body, count)| {
                let attributes = &benchmark_attributes(count);
                f.with(
                    "tfrt_test.benchmark",
                    &[],
                    &["!tfrt.chain"],
                    With { functions: &[body], attributes, ..With::default() },
                )[0]
            })
            .to_vec()
    });
    run(p, |results, _| {
        assert_eq!(message(&results[0]), "something bad happened asynchronously");
        assert!(message(&results[1]).contains("exactly one return value"));
        assert_eq!(message(&results[2]), "the benchmark 'add.i32' has no measured run");
    });
}

#[test]
fn synchronous_benchmarks_take_synchronous_functions() {
    let mut p = Program::new();
    let body = p.function_of(FunctionKind::Sync, "twice", &["i32"], |f| {
        f.op("tfrt.add_s.i32", &[f.parameters[0]; 2], "i32");
        vec![]
    });
    p.function_of(FunctionKind::Sync, "main", &[], |f| {
        let one = f.i32(1);
        let [duration, count, _, warm_up] = benchmark_attributes(50);
        let attributes = &[duration, count, warm_up];
        f.with(
            "tfrt_test.sync_benchmark",
            &[one],
            &[],
            With { functions: &[body], attributes, ..With::default() },
        );
        vec![]
    });
    run(p, |_, printed| assert!(printed.contains("BM:twice:Count: 50\n"), "{printed}"));
}

#[test]
fn quiesce_waits_for_what_nobody_waits_for() {
    let mut p = Program::new();
    p.function("main", &[], |f| {
        let (one, chain) = (f.i32(1), f.chain());
        let counter = f.op("tfrt_test.atomic.create.i32", &[], "!test.atomic.i32");
        for _ in 0..100 {
            let late = f.op("tfrt_test.async_copy.i32", &[one], "i32");
            f.op("tfrt_test.atomic.add.i32", &[counter, late, chain], "!tfrt.chain");
        }
        let quiet = f.op("tfrt_test.quiesce", &[chain], "!tfrt.chain");
        f.with("tfrt_test.atomic.get.i32", &[counter, quiet], &["i32", "!tfrt.chain"], With::default())
    });
    run(p, |results, _| assert_eq!(int(&results[0]), 100));
}

#[test]
fn quiesce_within_a_task_is_an_error() {
    let mut p = Program::new();
    p.function("main", &[], |f| {
        let us = f.i32(10);
        let slept = f.op("tfrt_test.blocking.usleep", &[us], "!tfrt.chain");
        let late = f.op("tfrt_test.async_copy.with_delay.i32", &[us], "i32");
        let late = f.op("tfrt_test.as_chain", &[late], "!tfrt.chain");
        [slept, late].map(|chain| f.op("tfrt_test.quiesce", &[chain], "!tfrt.chain")).to_vec()
    });
    run(p, |results, _| {
        for result in results {
            assert_eq!(message(result), "a task must not wait for the queue to be empty");
        }
    });
}

#[test]
fn errors_are_told_once() {
    let mut p = Program::new();
    p.function("main", &[], |f| {
        let bad = f.op("tfrt_test.fail", &[], "i32");
        vec![f.op("tfrt.add.i32", &[bad, bad], "i32")]
    });
    let program = p.load();
    for queue in QUEUES {
        let host = Host::new(queue);
        host.run(&program, "main", vec![]);
        assert_eq!(host.errors.lock().unwrap().len(), 1);
    }
}
