//! Calls, branches and loops, with values that are there and values to come.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use crate::support::{Body, Host, Program, QUEUES, Register, With, int, message, run};
use tfrt_host::{Chain, ErrorCode, ExecutionContext, Rest, bef::Attribute};

/// How a value comes to be.
const SOURCES: [&str; 2] = ["tfrt.constant.i32", "tfrt_test.async_constant.i32"];

#[test]
fn branches_choose_by_present_and_coming_conditions() {
    for (kind, source) in [("tfrt.if", "tfrt.constant.i1"), ("tfrt.cond", "tfrt_test.async_constant.i1")] {
        let mut p = Program::new();
        let first = p.function("first", &["i32", "i32"], |f| vec![f.parameters[0]]);
        let second = p.function("second", &["i32", "i32"], |f| vec![f.parameters[1]]);
        p.function("main", &[], |f| {
            let values = [f.i32(45), f.i32(129)];
            [true, false]
                .map(|condition| {
                    let condition = f.attribute(
                        source,
                        Attribute::Data(tfrt_host::bef::DType::I1, vec![condition.into()]),
                        "i1",
                    );
                    f.flow(kind, &[first, second], &[condition, values[0], values[1]], &["i32"])[0]
                })
                .to_vec()
        });
        run(p, |results, _| {
            assert_eq!(results.iter().map(int).collect::<Vec<_>>(), [45, 129], "{kind} {source}")
        });
    }
}

#[test]
fn case_takes_the_last_function_for_numbers_without_one() {
    for source in SOURCES {
        let mut p = Program::new();
        let functions = [10, 20, 30].map(|value| p.function("", &[], |f| vec![f.i32(value)]));
        p.function("main", &[], |f| {
            [0, 1, 2, 7, -1]
                .map(|number| {
                    let number = f.attribute(source, Attribute::scalar(number), "i32");
                    f.flow("tfrt.case", &functions, &[number], &["i32"])[0]
                })
                .to_vec()
        });
        run(p, |results, _| assert_eq!(results.iter().map(int).collect::<Vec<_>>(), [10, 20, 30, 30, 30]));
    }
}

#[test]
fn an_error_in_the_condition_is_the_result_and_one_in_another_argument_is_handed_on() {
    let mut p = Program::new();
    let first = p.function("first", &["i32", "i32"], |f| vec![f.parameters[0]]);
    let second = p.function("second", &["i32", "i32"], |f| vec![f.parameters[1]]);
    p.function("main", &[], |f| {
        let (good, bad) = (f.i32(3), f.op("tfrt_test.fail", &[], "i32"));
        let late_bad = f.op("tfrt_test.report_error_async", &[], "i32");
        let yes = f.op("tfrt.lessequal.i32", &[good, good], "i1");
        let wrong = f.op("tfrt.lessequal.i32", &[good, bad], "i1");
        let late_wrong = f.op("tfrt.lessequal.i32", &[good, late_bad], "i1");
        [[yes, good, bad], [yes, bad, good], [wrong, good, good], [late_wrong, good, good]]
            .map(|arguments| f.flow("tfrt.if", &[first, second], &arguments, &["i32"])[0])
            .to_vec()
    });
    run(p, |results, _| {
        assert_eq!(int(&results[0]), 3);
        assert_eq!(message(&results[1]), "something bad happened");
        assert_eq!(message(&results[2]), "something bad happened");
        assert_eq!(message(&results[3]), "something bad happened asynchronously");
    });
}

#[test]
fn repeat_carries_values() {
    for source in SOURCES {
        for adder in ["tfrt.add.i32", "tfrt_test.async_add.i32"] {
            let mut p = Program::new();
            let body = p.function("", &["i32", "i32"], |f| {
                let (a, b) = (f.parameters[0], f.parameters[1]);
                vec![b, f.op(adder, &[a, b], "i32")]
            });
            p.function("main", &[], |f| {
                let (zero, one) = (f.i32(0), f.i32(1));
                [0, 1, 20]
                    .map(|count| {
                        let count = f.attribute(source, Attribute::scalar(count), "i32");
                        f.flow("tfrt.repeat.i32", &[body], &[count, zero, one], &["i32", "i32"])[0]
                    })
                    .to_vec()
            });
            run(p, |results, _| {
                assert_eq!(results.iter().map(int).collect::<Vec<_>>(), [0, 1, 6765], "{source} {adder}");
            });
        }
    }
}

#[test]
fn repeat_without_values_runs_its_body_each_time() {
    let mut p = Program::new();
    let body = p.function("", &[], |f| {
        let chain = f.chain();
        f.op("tfrt_test.print_hello", &[chain], "!tfrt.chain");
        vec![]
    });
    p.function("main", &[], |f| {
        let count = f.i32(5);
        f.flow("tfrt.repeat.i32", &[body], &[count], &[])
    });
    run(p, |_, printed| assert_eq!(printed, "hello host executor!\n".repeat(5)));
}

/// `%sum = while %sum < limit { %sum + 1 }`
fn counting_while(less: &str, adder: &str, limit: i32) -> Program {
    let mut p = Program::new();
    let body = p.function("", &["i32", "i32"], |f| {
        let one = f.i32(1);
        let sum = f.op(adder, &[f.parameters[0], one], "i32");
        let limit = f.parameters[1];
        vec![sum, limit, f.op(less, &[sum, limit], "i1")]
    });
    p.function("main", &[], |f| {
        let (zero, limit) = (f.i32(0), f.i32(limit));
        let more = f.op(less, &[zero, limit], "i1");
        f.flow("tfrt.while", &[body], &[more, zero, limit], &["i32", "i32"])
    });
    p
}

#[test]
fn while_runs_until_its_condition_fails() {
    for adder in ["tfrt.add.i32", "tfrt_test.async_add.i32"] {
        for limit in [0, 1, 100] {
            run(counting_while("tfrt.less.i32", adder, limit), |results, _| {
                assert_eq!(int(&results[0]), limit)
            });
        }
    }
}

#[test]
fn long_loops_need_neither_stack_nor_memory() {
    const LIMIT: i32 = 100_000;
    for adder in ["tfrt.add.i32", "tfrt_test.async_add.i32"] {
        run(counting_while("tfrt.less.i32", adder, LIMIT), |results, _| assert_eq!(int(&results[0]), LIMIT));
        let mut p = Program::new();
        let body = p.function("", &["i32", "i32"], |f| {
            let sum = f.op(adder, &[f.parameters[0], f.parameters[1]], "i32");
            vec![sum, f.parameters[1]]
        });
        p.function("main", &[], |f| {
            let (count, zero, one) = (f.i32(LIMIT), f.i32(0), f.i32(1));
            f.flow("tfrt.repeat.i32", &[body], &[count, zero, one], &["i32", "i32"])
        });
        run(p, |results, _| assert_eq!(int(&results[0]), LIMIT));
    }
}

#[test]
fn work_that_loops_leave_behind_runs() {
    // Each iteration starts work that no result waits for.
    const COUNT: i32 = 50_000;
    let mut p = Program::new();
    let body = p.function("", &["!test.atomic.i32", "!tfrt.chain"], |f| {
        let one = f.i32(1);
        let late = f.op("tfrt_test.async_add.i32", &[one, one], "i32");
        f.op("tfrt_test.atomic.add.i32", &[f.parameters[0], late, f.parameters[1]], "!tfrt.chain");
        f.parameters.clone()
    });
    p.function("main", &["!test.atomic.i32"], |f| {
        let (count, chain) = (f.i32(COUNT), f.chain());
        f.flow(
            "tfrt.repeat.i32",
            &[body],
            &[count, f.parameters[0], chain],
            &["!test.atomic.i32", "!tfrt.chain"],
        )
    });
    p.function("create", &[], |f| vec![f.op("tfrt_test.atomic.create.i32", &[], "!test.atomic.i32")]);
    p.function("get", &["!test.atomic.i32"], |f| {
        let chain = f.chain();
        let arguments = [f.parameters[0], chain];
        f.with("tfrt_test.atomic.get.i32", &arguments, &["i32", "!tfrt.chain"], With::default())
    });
    let program = p.load();
    for queue in QUEUES {
        let host = Host::new(queue);
        let counter = host.run(&program, "create", vec![]);
        host.run(&program, "main", counter.clone());
        let got = host.run(&program, "get", counter);
        assert_eq!(int(&got[0]), 2 * COUNT);
    }
}

/// Work under way, now and at most, as a kernel counts it that finishes later.
#[derive(Default)]
struct UnderWay {
    now: AtomicUsize,
    most: AtomicUsize,
}

/// Runs `main` of a program whose bodies use `counted.chain`, a chain that comes later; the most of
/// them under way at once.
fn most_under_way(program: Program, queue: &str) -> usize {
    let under_way = Arc::new(UnderWay::default());
    let counted = under_way.clone();
    let program = program.load_with(|registry| {
        registry.add("counted.chain", move |_: Rest<'_, Chain>, cx: &ExecutionContext| {
            counted.most.fetch_max(counted.now.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
            let counted = counted.clone();
            cx.spawn(move || {
                counted.now.fetch_sub(1, Ordering::Relaxed);
                Ok(Chain)
            })
        });
    });
    Host::new(queue).run(&program, "main", vec![]);
    assert_eq!(under_way.now.load(Ordering::Relaxed), 0, "all done");
    under_way.most.load(Ordering::Relaxed)
}

#[test]
fn loops_pipeline_their_iterations_within_bounds() {
    // Iterations whose results wait for what they start, but whose starts do not.
    let tracked = || {
        let mut p = Program::new();
        let body = p.function("", &["!tfrt.chain"], |f| {
            let late = f.op("counted.chain", &[], "!tfrt.chain");
            vec![f.op("tfrt.merge.chains", &[f.parameters[0], late], "!tfrt.chain")]
        });
        p.function("main", &[], |f| {
            let (count, chain) = (f.i32(2000), f.chain());
            f.flow("tfrt.repeat.i32", &[body], &[count, chain], &["!tfrt.chain"])
        });
        p
    };
    // Iterations that no result tells anything of.
    let untracked = || {
        let mut p = Program::new();
        let body = p.function("", &[], |f| {
            f.op("counted.chain", &[], "!tfrt.chain");
            vec![]
        });
        p.function("main", &[], |f| {
            let count = f.i32(30_000);
            f.flow("tfrt.repeat.i32", &[body], &[count], &[])
        });
        p
    };
    assert_eq!(most_under_way(tracked(), "s"), 32);
    assert!(most_under_way(tracked(), "mstd:3") <= 33);
    assert_eq!(most_under_way(untracked(), "s"), 8192);
}

#[test]
fn parallel_loops_start_blocks_within_bounds() {
    let parallel = || {
        let mut p = Program::new();
        let body = p.function("", &["i32", "i32"], |f| vec![f.op("counted.chain", &[], "!tfrt.chain")]);
        p.function("main", &[], |f| {
            let bounds = [f.i32(0), f.i32(5000), f.i32(1)];
            f.with(
                "tfrt.parallel_for.i32",
                &bounds,
                &["!tfrt.chain"],
                With { functions: &[body], ..With::default() },
            )
        });
        p
    };
    assert_eq!(most_under_way(parallel(), "s"), 257);
    assert!(most_under_way(parallel(), "mstd:3") <= 256 + 4);
}

#[test]
fn an_error_stops_a_while_and_a_negative_count_is_one() {
    let mut p = Program::new();
    let body = p.function("", &["i32"], |f| {
        let bad = f.op("tfrt_test.fail", &[], "i32");
        vec![f.parameters[0], f.op("tfrt.equal.i32", &[bad, bad], "i1")]
    });
    let same = p.function("", &["i32"], |f| vec![f.parameters[0]]);
    p.function("main", &[], |f| {
        let (one, minus) = (f.i32(1), f.i32(-3));
        let yes = f.op("tfrt.equal.i32", &[one, one], "i1");
        let stopped = f.flow("tfrt.while", &[body], &[yes, one], &["i32"])[0];
        vec![stopped, f.flow("tfrt.repeat.i32", &[same], &[minus, one], &["i32"])[0]]
    });
    run(p, |results, _| {
        assert_eq!(message(&results[0]), "something bad happened");
        assert_eq!(message(&results[1]), "cannot repeat -3 times");
    });
}

#[test]
fn functions_that_do_not_fit_are_errors() {
    let mut p = Program::new();
    let two = p.function("two", &["i32"], |f| vec![f.parameters[0]; 2]);
    p.function("main", &[], |f| {
        let one = f.i32(1);
        let yes = f.op("tfrt.equal.i32", &[one, one], "i1");
        let called = |f: &mut Body<'_>, name: &str, functions: &[_], arguments: &[Register]| {
            f.flow(name, functions, arguments, &["i32"])[0]
        };
        vec![
            called(f, "tfrt.call", &[two], &[one]),
            called(f, "tfrt.if", &[two, two], &[yes, one]),
            called(f, "tfrt.repeat.i32", &[two], &[one, one]),
            called(f, "tfrt.repeat.i32", &[two], &[one, one, one]),
            called(f, "tfrt.while", &[two], &[one, one]),
        ]
    });
    run(p, |results, _| {
        for (result, expected) in results.iter().zip([
            "function 'two' has 2 results, 1 are expected",
            "function 'two' has 2 results, 1 are expected",
            "function 'two' has 2 results, 1 are expected",
            "a loop over 2 values cannot have 1 results",
            "argument 0 should be of type i1, got i32",
        ]) {
            assert_eq!(message(result), expected);
        }
    });
}

#[test]
fn cancellation_ends_loops() {
    for adder in ["tfrt.add.i32", "tfrt_test.async_add.i32"] {
        let mut p = Program::new();
        let body = p.function("", &["i32", "!tfrt.chain"], |f| {
            let cancel =
                f.with("tfrt_test.cancel", &[f.parameters[1]], &["i32", "!tfrt.chain"], With::default());
            let one = f.i32(1);
            vec![f.op(adder, &[f.parameters[0], one], "i32"), cancel[1]]
        });
        p.function("main", &[], |f| {
            let (count, zero, chain) = (f.i32(i32::MAX), f.i32(0), f.chain());
            f.flow("tfrt.repeat.i32", &[body], &[count, zero, chain], &["i32", "!tfrt.chain"])
        });
        let program = p.load();
        for queue in QUEUES {
            let results = Host::new(queue).run(&program, "main", vec![]);
            assert_eq!(results[0].error().map(|error| error.code), Some(ErrorCode::Cancelled));
        }
    }
}

/// Sums the bounds of the blocks of a range.
fn parallel_sum(kernel: &str, synchronous: bool, adder: &str, [start, end, block_size]: [i32; 3]) -> Program {
    let mut p = Program::new();
    let body = p.function("", &["i32", "i32", "!test.atomic.i32"], |f| {
        let chain = f.chain();
        let counter = f.parameters[2];
        let sum = f.op(adder, &[f.parameters[0], f.parameters[1]], "i32");
        let chain = f.op("tfrt_test.atomic.add.i32", &[counter, sum, chain], "!tfrt.chain");
        if synchronous { vec![] } else { vec![chain] }
    });
    p.function("main", &[], |f| {
        let counter = f.op("tfrt_test.atomic.create.i32", &[], "!test.atomic.i32");
        let bounds = [f.i32(start), f.i32(end), f.i32(block_size), counter];
        let with = With { functions: &[body], ..With::default() };
        let done = f.with(kernel, &bounds, &["!tfrt.chain"], with)[0];
        f.with("tfrt_test.atomic.get.i32", &[counter, done], &["i32", "!tfrt.chain"], With::default())
    });
    p
}

#[test]
fn parallel_loops_cover_their_range_once() {
    let cases = [
        ([0, 10, 1], 100),
        ([0, 10, 3], 3 + 3 + 6 + 6 + 9 + 9 + 10),
        ([5, 5, 1], 0),
        ([-2, 2, 100], 0),
        ([0, 1000, 1], 1_000_000),
    ];
    for (range, expected) in cases {
        for (kernel, synchronous, adder) in [
            ("tfrt.parallel_for.i32", true, "tfrt.add.i32"),
            ("tfrt.parallel_for.i32", false, "tfrt.add.i32"),
            ("tfrt.parallel_call.i32", false, "tfrt_test.async_add.i32"),
        ] {
            run(parallel_sum(kernel, synchronous, adder, range), |results, _| {
                assert_eq!(int(&results[0]), expected, "{range:?} {adder}");
            });
        }
    }
}

#[test]
fn parallel_loops_refuse_bad_ranges_and_hand_on_the_first_error() {
    for (range, expected) in
        [([0, 10, 0], "the block size must be positive"), ([3, 1, 1], "the range from 3 to 1 is negative")]
    {
        run(parallel_sum("tfrt.parallel_for.i32", false, "tfrt.add.i32", range), |results, _| {
            assert_eq!(message(&results[0]), expected);
        });
    }
    let mut p = Program::new();
    let body = p.function("", &["i32", "i32"], |f| {
        let quotient =
            f.with("tfrt.div.i32", &[f.parameters[1], f.parameters[0]], &["i32", "i32"], With::default());
        vec![f.op("tfrt_test.as_chain", &quotient, "!tfrt.chain")]
    });
    p.function("main", &[], |f| {
        let bounds = [f.i32(-5), f.i32(5), f.i32(1)];
        f.with(
            "tfrt.parallel_for.i32",
            &bounds,
            &["!tfrt.chain"],
            With { functions: &[body], ..With::default() },
        )
    });
    run(p, |results, _| assert_eq!(message(&results[0]), "Divide by zero"));
}
