//! Plans of random graphs and of the shapes that networks have.

use proptest::prelude::*;

use super::*;

fn op(after: &[usize], time_ns: u64) -> Op {
    Op { after: after.to_vec(), time_ns, share: 0.1, ..Op::default() }
}

/// Ops that each write a buffer of a size and read those of the ops that they follow.
fn dataflow(nodes: &[(&[usize], u64, u64)]) -> Problem {
    let mut problem = Problem::default();
    for (index, &(after, time_ns, size_bytes)) in nodes.iter().enumerate() {
        problem.buffers.push(Buffer { size_bytes, ..Buffer::default() });
        let (reads, writes) = (after.to_vec(), vec![index]);
        problem.ops.push(Op { reads, writes, ..op(after, time_ns) });
    }
    problem
}

fn planned(problem: &Problem, streams: Streams) -> Plan {
    let plan = plan(problem, &Options { streams, ..Options::default() }).expect("a problem");
    assert_eq!(check(problem, &plan), Ok(()));
    plan
}

fn event_counts(problem: &Problem) -> Vec<usize> {
    planned(problem, Streams::Auto).predictions.iter().map(|prediction| prediction.event_count).collect()
}

/// Modules one after the other: branches of so many ops, and an op that joins them.
fn modules(branches: &[usize], count: usize) -> Problem {
    let mut problem = Problem { ops: vec![op(&[], 1000)], buffers: Vec::new() };
    for _ in 0..count {
        let fork = problem.ops.len() - 1;
        let mut ends = Vec::new();
        for &length in branches {
            let mut last = fork;
            for _ in 0..length {
                problem.ops.push(op(&[last], 1000));
                last = problem.ops.len() - 1;
            }
            ends.push(last);
        }
        problem.ops.push(op(&ends, 1000));
    }
    problem
}

#[test]
fn events_of_networks_with_branches_are_the_fewest() {
    // Modules with four branches have two events for each further stream. Less if a stream takes
    // two of them.
    let counts = event_counts(&modules(&[1, 2, 2, 2], 9));
    assert_eq!(counts.len(), 4);
    assert!(counts.iter().zip([0, 18, 36, 54]).all(|(count, most)| *count <= most), "{counts:?}");
    assert_eq!(event_counts(&modules(&[1, 1], 8)), [0, 16]);
    assert_eq!(event_counts(&modules(&[3, 1], 4)), [0, 8]);
    assert_eq!(event_counts(&modules(&[1], 20)), [0]);
}

#[test]
fn streams_are_used_only_if_they_gain() {
    let wide = modules(&[3, 3], 4);
    assert!(planned(&wide, Streams::Auto).schedule.stream_count == 2);
    // One op of 32 runs beside others.
    let plan = planned(&modules(&[30, 1], 4), Streams::Auto);
    assert_eq!((plan.schedule.stream_count, plan.width), (1, 2));
    assert!(plan.predictions[1].time_ns < plan.predictions[0].time_ns);
    // Ops that fill the device gain nothing.
    let mut full = wide;
    full.ops.iter_mut().for_each(|op| op.share = 1.0);
    assert_eq!(planned(&full, Streams::Auto).schedule.stream_count, 1);
}

#[test]
fn copies_have_a_stream() {
    let mut problem = dataflow(&[(&[], 100, 1024), (&[0], 1000, 1024), (&[1], 100, 1024), (&[], 100, 512)]);
    problem.ops[0].queue = Queue::Copy;
    problem.ops[2].queue = Queue::Copy;
    let plan = planned(&problem, Streams::AtMost(1));
    assert_eq!(plan.schedule.streams, [1, 0, 1, 0]);
    assert_eq!(plan.schedule.copy_stream, Some(1));
    let events = [(None, Some(0)), (Some(0), Some(1)), (Some(1), Some(2)), (Some(2), None)];
    let events = events.map(|(after, before)| Event { after, before });
    assert_eq!(plan.schedule.events, events);
    assert_eq!(plan.predictions[0].event_count, 0);
}

#[test]
fn chains_reuse_two_buffers() {
    let problem = dataflow(&[(&[], 1, 1000), (&[0], 1, 1000), (&[1], 1, 1000), (&[2], 1, 1000)]);
    let layout = planned(&problem, Streams::Auto).layout;
    assert_eq!((layout.arena_bytes, layout.lower_bound_bytes), (2048, 2048));
    assert_eq!(layout.peak_buffers.len(), 2);
}

#[test]
fn results_take_the_memory_of_operands_that_nothing_needs() {
    let mut problem = dataflow(&[(&[], 1, 1000), (&[0], 1, 1000), (&[0, 1], 1, 1000)]);
    problem.ops[1].in_place = vec![InPlace { result: 1, operand: 0 }];
    problem.ops[2].in_place = vec![InPlace { result: 2, operand: 0 }, InPlace { result: 2, operand: 1 }];
    let layout = planned(&problem, Streams::Auto).layout;
    // The second op's operand is read by the third one.
    assert_eq!(layout.in_place, [InPlace { result: 2, operand: 0 }]);
    assert_eq!(layout.places[2], layout.places[0]);
    assert_eq!(layout.arena_bytes, 2048);
}

#[test]
fn two_results_never_take_the_same_operand() {
    let mut problem = dataflow(&[(&[], 1, 1000), (&[0], 1, 1000)]);
    problem.buffers.push(Buffer { size_bytes: 1000, ..Buffer::default() });
    problem.ops[1].writes.push(2);
    problem.ops[1].in_place = vec![InPlace { result: 1, operand: 0 }, InPlace { result: 2, operand: 0 }];
    let layout = planned(&problem, Streams::Auto).layout;
    assert_eq!(layout.in_place.len(), 1);
    assert_ne!(layout.places[1], layout.places[2]);
}

#[test]
fn parts_lie_in_their_whole() {
    let mut problem = dataflow(&[(&[], 1, 512), (&[], 1, 512), (&[0, 1], 0, 1024), (&[2], 1, 1024)]);
    let rows = |offset_bytes| Rows { offset_bytes, row_bytes: 4, stride_bytes: 8, count: 128 };
    problem.buffers[0].memory = Memory::Part { whole: 2, rows: rows(0) };
    problem.buffers[1].memory = Memory::Part { whole: 2, rows: rows(4) };
    problem.ops[2].reads.clear();
    problem.ops[2].writes.clear();
    let layout = planned(&problem, Streams::AtMost(2)).layout;
    assert_eq!(layout.arena_bytes, 2048);
    assert_eq!(layout.places[1].offset_bytes, layout.places[2].offset_bytes + 4);
    // Parts that overlap need an order.
    problem.buffers[1].memory = Memory::Part { whole: 2, rows: rows(2) };
    let error = plan(&problem, &Options::default()).unwrap_err();
    assert_eq!(error, PlanError::Unordered { first: 0, second: 1, buffer: 1 });
}

#[test]
fn branches_on_different_streams_share_no_memory() {
    let problem = modules_with_buffers();
    let one = planned(&problem, Streams::AtMost(1)).layout;
    let two = planned(&problem, Streams::AtMost(2)).layout;
    assert!(two.arena_bytes > one.arena_bytes, "{} and {}", two.arena_bytes, one.arena_bytes);
    assert_eq!(two.arena_bytes, two.lower_bound_bytes);
}

/// Two branches of three ops each, with a buffer for each op.
fn modules_with_buffers() -> Problem {
    dataflow(&[
        (&[], 1000, 256),
        (&[0], 1000, 1024),
        (&[1], 1000, 1024),
        (&[2], 1000, 256),
        (&[0], 1000, 1024),
        (&[4], 1000, 1024),
        (&[5], 1000, 256),
        (&[3, 6], 1000, 256),
    ])
}

#[test]
fn what_is_wrong_with_a_problem_is_named() {
    let mut problem = dataflow(&[(&[], 1, 8), (&[0], 1, 8)]);
    problem.ops[1].after.clear();
    let plan_of = |problem: &Problem| plan(problem, &Options::default()).unwrap_err();
    assert_eq!(plan_of(&problem), PlanError::Unordered { first: 0, second: 1, buffer: 0 });
    problem.ops[0].after = vec![1];
    assert_eq!(plan_of(&problem), PlanError::Order { op: 0, after: 1 });
    problem.ops[0].after.clear();
    problem.ops[1].reads = vec![7];
    assert_eq!(plan_of(&problem), PlanError::Buffer { buffer: 7 });
    let problem = Problem {
        ops: vec![Op { in_place: vec![InPlace { result: 0, operand: 0 }], ..op(&[], 1) }],
        ..problem
    };
    assert_eq!(plan_of(&problem), PlanError::InPlace { op: 0 });
}

#[test]
fn a_plan_that_lacks_an_event_is_refused() {
    let problem = modules_with_buffers();
    let plan = planned(&problem, Streams::AtMost(2));
    assert_eq!(plan.schedule.stream_count, 2);
    for index in 0..plan.schedule.events.len() {
        let mut broken = plan.clone();
        broken.schedule.events.remove(index);
        assert!(check(&problem, &broken).is_err(), "event {index}");
    }
    let mut broken = plan;
    broken.layout.places[2] = broken.layout.places[5];
    assert!(matches!(check(&problem, &broken), Err(Violation::Overlap { .. })));
}

#[test]
fn an_empty_problem_has_an_empty_plan() {
    let plan = planned(&Problem::default(), Streams::Auto);
    assert_eq!((plan.schedule.order.len(), plan.layout.arena_bytes), (0, 0));
}

/// A graph of up to 40 ops with random edges, costs, buffers, views and results in place.
fn problems() -> impl Strategy<Value = Problem> {
    let node = (any::<[u8; 3]>(), 0..5_u64, 1..20_u64, 1..3000_u64, any::<u8>());
    prop::collection::vec(node, 1..40).prop_map(|nodes| {
        let mut problem = Problem::default();
        for (index, (edges, scale, time, size_bytes, kind)) in nodes.into_iter().enumerate() {
            let near = index.saturating_sub(8);
            let mut after: Vec<usize> = edges
                .iter()
                .filter(|edge| index > 0 && **edge % 3 != 0)
                .map(|&edge| near + edge as usize % (index - near))
                .collect();
            after.sort_unstable();
            after.dedup();
            problem.buffers.push(Buffer { size_bytes, ..Buffer::default() });
            let mut op = Op {
                reads: after.clone(),
                writes: vec![index],
                share: f64::from(kind % 11) / 10.0,
                ..op(&after, time * 10_u64.pow(scale as u32))
            };
            if kind % 7 == 0 {
                op.queue = Queue::Copy;
            }
            let fits = |&&operand: &&usize| problem.buffers[operand].size_bytes >= size_bytes;
            if kind % 3 == 0 {
                let pairs = after.iter().filter(fits).map(|&operand| InPlace { result: index, operand });
                op.in_place = pairs.collect();
            }
            problem.ops.push(op);
        }
        problem
    })
}

fn devices() -> impl Strategy<Value = Device> {
    (0..3000_u64, 0..3000_u64, 0..500_u64).prop_map(|(issue_ns, event_ns, wait_issue_ns)| Device {
        issue_ns,
        event_ns,
        wait_issue_ns,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn plans_of_random_graphs_are_valid(problem in problems(), device in devices(), count in 1..6_usize) {
        for streams in [Streams::Auto, Streams::AtMost(count)] {
            let options = Options { streams, device, max_search_steps: 2000, ..Options::default() };
            let plan = plan(&problem, &options).expect("a problem");
            prop_assert_eq!(check(&problem, &plan), Ok(()));
            prop_assert!(plan.layout.arena_bytes >= plan.layout.lower_bound_bytes);
            prop_assert!(plan.schedule.time_ns >= plan.critical_path_ns);
            if streams == Streams::Auto {
                prop_assert!(plan.schedule.time_ns <= plan.predictions[0].time_ns);
            }
        }
    }

    #[test]
    fn every_event_of_a_plan_is_needed(problem in problems(), device in devices()) {
        let options = Options { streams: Streams::AtMost(3), device, max_search_steps: 0, ..Options::default() };
        let plan = plan(&problem, &options).expect("a problem");
        for index in 0..plan.schedule.events.len() {
            let mut broken = plan.clone();
            broken.schedule.events.remove(index);
            prop_assert!(check(&problem, &broken).is_err(), "event {}", index);
        }
    }

    #[test]
    fn packings_of_random_intervals_do_not_overlap(
        buffers in prop::collection::vec((0..50_u64, 1..20_u64, 1..100_u64), 1..60)
    ) {
        let intervals: Vec<_> =
            buffers.into_iter().map(|(start, length, size)| (start, start + length, size)).collect();
        let instance = Instance::of_intervals(&intervals);
        let live = |time: u64| intervals.iter().filter(move |(start, end, _)| *start <= time && time < *end);
        let most = (0..70).map(|time| live(time).map(|(_, _, size)| size).sum::<u64>()).max();
        prop_assert_eq!(Some(instance.lower_bound()), most);
        let packing = instance.pack(20_000);
        prop_assert!(packing.size >= packing.lower_bound);
        for (index, (a, offset)) in intervals.iter().zip(&packing.offsets).enumerate() {
            prop_assert!(offset + a.2 <= packing.size);
            for (b, other) in intervals.iter().zip(&packing.offsets).take(index) {
                let is_apart = offset + a.2 <= *other || other + b.2 <= *offset;
                prop_assert!(a.1 <= b.0 || b.1 <= a.0 || is_apart);
            }
        }
    }
}
