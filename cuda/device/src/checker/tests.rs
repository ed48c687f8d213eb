//! The checker fed with operations, as a device would.

use tfrt_host::SourceLocation;

use super::*;
use crate::observer::{Access, AccessKind, Exchange, Handover, Id, Observed, Observer, Queued};

mod exchanges;
mod random;

const S: Id = 1;
const T: Id = 2;
const E: Id = 10;

/// Returns an origin at line `line`.
fn at(line: u32) -> Origin {
    Origin {
        kernel: Some("k".to_owned()),
        location: Some(SourceLocation { file: "p.mlir".into(), line, column: 1 }),
    }
}

/// A program of two streams and a buffer of 1,024 bytes at 4,096, allocated for the first one. Each
/// call has its own line.
struct Program {
    checker: Arc<Checker>,
    next: Id,
}

impl Program {
    fn new() -> Self {
        let checker = Checker::new();
        checker.stream_created(S, 0, at(1));
        checker.stream_created(T, 0, at(2));
        checker.event_created(E, at(3));
        checker.allocated(4096, 1 << 20, false, at(4));
        checker.buffer_granted(4096, 1024, S, at(5));
        Self { checker, next: 100 }
    }

    fn queue(&mut self, stream: Id, line: u32, accesses: &[Access]) -> Id {
        self.next += 1;
        let queued =
            Queued { operation: self.next, stream, name: "an operation", accesses, origin: at(line) };
        self.checker.queued(&queued).unwrap();
        self.next
    }

    /// Queues and runs an operation.
    fn run(&mut self, stream: Id, line: u32, accesses: &[Access]) {
        let operation = self.queue(stream, line, accesses);
        self.done(operation, &[]);
    }

    fn done(&self, operation: Id, observed: &[Access]) {
        self.checker.started(operation).unwrap();
        self.checker.finished(operation, &Observed { accesses: observed, ..Observed::nothing() }).unwrap();
    }

    fn record(&self, stream: Id) {
        self.checker.event_recorded(E, stream, at(90));
    }

    fn wait(&self, stream: Id) {
        self.checker.stream_waits(stream, E, true, at(91)).unwrap();
    }

    /// Returns the mistakes with the lines of their two origins.
    fn found(&self) -> Vec<(Mistake, u32, Option<u32>)> {
        let line = |origin: &Origin| origin.location.as_ref().map_or(0, |location| location.line);
        let reports = self.checker.reports();
        reports.iter().map(|r| (r.mistake, line(&r.at), r.other.as_ref().map(|(_, o)| line(o)))).collect()
    }
}

fn read() -> Access {
    Access::read(4096, 1024)
}

fn write() -> Access {
    Access::write(4096, 1024)
}

fn launch() -> Access {
    Access { address: 4096, bytes: 1024, kind: AccessKind::Launch }
}

#[test]
fn one_stream_is_in_order() {
    let mut p = Program::new();
    p.run(S, 10, &[write()]);
    p.run(S, 11, &[read()]);
    p.run(S, 12, &[read(), write()]);
    assert_eq!(p.found(), []);
}

#[test]
fn streams_need_an_event_between_conflicting_uses() {
    let mut p = Program::new();
    p.run(S, 10, &[write()]);
    p.run(T, 11, &[read()]);
    assert_eq!(p.found(), [(Mistake::Race, 11, Some(10))]);
    let text = p.checker.reports()[0].to_string();
    for part in [
        "p.mlir:11:1: DataRace: an operation on stream 1 reads bytes that an operation on stream 0 writes",
        "a buffer of 1024 bytes allocated by 'k' at p.mlir:5:1",
        "note: written by 'k' at p.mlir:10:1",
        "record an event on stream 0 after 'k' at p.mlir:10:1, and let stream 1 wait for it before 'k' at p.mlir:11:1",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}

#[test]
fn atomic_operations_are_in_order_with_each_other() {
    let atomic = Access { kind: AccessKind::Atomic, ..write() };
    let mut p = Program::new();
    p.run(S, 10, &[write()]);
    p.record(S);
    p.wait(T);
    p.run(S, 11, &[atomic]);
    p.run(T, 12, &[atomic]);
    p.run(S, 13, &[atomic]);
    assert_eq!(p.found(), []);
    // But not with others: the second stream knows nothing of the first one's work since the event.
    p.run(T, 14, &[read()]);
    assert_eq!(p.found(), [(Mistake::Race, 14, Some(13))]);
    for plain in [read(), write()] {
        let mut p = Program::new();
        p.run(S, 10, &[write()]);
        p.record(S);
        p.wait(T);
        p.run(S, 11, &[plain]);
        p.run(T, 12, &[atomic]);
        assert_eq!(p.found(), [(Mistake::Race, 12, Some(11))]);
    }
    // An atomic operation reads the old contents.
    let mut p = Program::new();
    p.run(S, 10, &[atomic]);
    p.checker.buffer_released(4096, 1024, at(11));
    p.checker.freed(4096);
    assert_eq!(p.found(), [(Mistake::Uninitialized, 10, Some(5))]);
    // The buffer is known even after it was dropped.
    let expected =
        "an operation reads device memory that was never written, from byte 0 of a buffer of 1024 bytes";
    assert_eq!(p.checker.reports()[0].message, expected);
}

#[test]
fn a_range_over_several_buffers_is_several() {
    let mut p = Program::new();
    p.checker.buffer_granted(4096 + 1024, 512, S, at(6));
    p.checker.buffer_granted(4096 + 2048, 512, S, at(7));
    let launched = p.queue(S, 10, &[launch()]);
    p.done(launched, &[Access::write(4096, 1536)]);
    assert_eq!(p.found(), []);
    // The bytes between two buffers belong to no buffer.
    let launched = p.queue(S, 11, &[launch()]);
    let toucher = |address, _| Some(format!("st at {address}"));
    let observed =
        Observed { accesses: &[Access::write(4096, 2048 + 4)], toucher: &toucher, ..Observed::nothing() };
    p.checker.finished(launched, &observed).unwrap();
    let expected = "an operation accesses 512 bytes from byte 512 of a buffer of 512 bytes: st at 5632";
    assert_eq!(p.checker.reports().iter().map(|r| r.message.clone()).collect::<Vec<_>>(), [expected]);
}

#[test]
fn an_event_orders_and_only_what_is_before_it() {
    let mut p = Program::new();
    p.run(S, 10, &[write()]);
    p.record(S);
    p.wait(T);
    p.run(T, 11, &[read()]);
    assert_eq!(p.found(), []);
    // After the event, so not ordered with work after the wait.
    p.run(S, 12, &[write()]);
    assert_eq!(p.found(), [(Mistake::Race, 12, Some(11))]);
}

#[test]
fn order_is_handed_on() {
    let mut p = Program::new();
    let (u, f) = (3, 11);
    p.checker.stream_created(u, 0, at(6));
    p.checker.event_created(f, at(7));
    p.run(S, 10, &[write()]);
    p.record(S);
    p.wait(T);
    p.checker.event_recorded(f, T, at(20));
    p.checker.stream_waits(u, f, true, at(21)).unwrap();
    p.run(u, 22, &[write()]);
    assert_eq!(p.found(), []);
}

#[test]
fn host_observations_precede_the_work_it_queues() {
    for see in [|p: &Program| p.checker.host_saw_stream(S), |p: &Program| p.checker.host_saw_event(E)] {
        let mut p = Program::new();
        p.run(S, 10, &[write()]);
        p.record(S);
        see(&p);
        p.run(T, 11, &[read(), write()]);
        assert_eq!(p.found(), []);
    }
}

#[test]
fn readers_share_and_a_later_writer_conflicts_with_each() {
    let mut p = Program::new();
    let (u, f) = (3, 11);
    p.checker.stream_created(u, 0, at(6));
    p.checker.event_created(f, at(7));
    p.run(S, 10, &[write()]);
    p.record(S);
    p.wait(T);
    p.wait(u);
    p.run(S, 11, &[read()]);
    p.run(T, 12, &[read()]);
    assert_eq!(p.found(), []);
    // Ordered only after the first reader.
    p.record(S);
    p.wait(u);
    p.run(u, 13, &[write()]);
    assert_eq!(p.found(), [(Mistake::Race, 13, Some(12))]);
}

#[test]
fn other_bytes_do_not_conflict() {
    let mut p = Program::new();
    p.run(S, 10, &[Access::write(4096, 100)]);
    p.record(S);
    p.wait(T);
    p.run(T, 11, &[Access::write(4196, 100)]);
    p.run(S, 12, &[Access::write(4096, 100)]);
    assert_eq!(p.found(), []);
    p.run(S, 13, &[Access::write(4195, 2)]);
    assert_eq!(p.found(), [(Mistake::Race, 13, Some(11))]);
}

/// The report does not depend on which ran first, for memory with and without contents.
#[test]
fn reports_follow_the_program_and_not_the_run() {
    let uses: [&[Access]; 3] = [&[read()], &[write()], &[read(), write()]];
    let pairs = uses.iter().flat_map(|first| uses.iter().map(move |second| (*first, *second)));
    let cases =
        pairs.skip(1).flat_map(|(first, second)| [true, false].map(|written| (first, second, written)));
    // In memory without contents, the first read is a separate mistake.
    for (first, second, written) in
        cases.filter(|(first, _, written)| *written || first[0].kind == AccessKind::Write)
    {
        let reports = [false, true].map(|swapped| {
            let mut p = Program::new();
            if written {
                p.run(S, 9, &[write()]);
            }
            p.checker.host_saw_stream(S);
            let (first, second) = (p.queue(S, 10, first), p.queue(T, 11, second));
            let order = if swapped { [second, first] } else { [first, second] };
            order.into_iter().for_each(|operation| p.done(operation, &[]));
            assert_eq!(p.found(), [(Mistake::Race, 11, Some(10))]);
            p.checker.reports()
        });
        assert_eq!(reports[0], reports[1]);
    }
}

#[test]
fn launches_are_what_they_were_seen_to_do() {
    let mut p = Program::new();
    p.run(S, 10, &[write()]);
    p.record(S);
    let launched = p.queue(S, 11, &[launch()]);
    p.wait(T);
    let reads = p.queue(T, 12, &[read()]);
    p.done(launched, &[Access::read(4096, 8)]);
    p.done(reads, &[]);
    assert_eq!(p.found(), []);
    let launched = p.queue(S, 13, &[launch()]);
    p.done(launched, &[Access::write(5000, 4)]);
    assert_eq!(p.found(), [(Mistake::Race, 13, Some(12))]);
}

#[test]
fn a_launch_stays_within_what_it_was_given() {
    let mut p = Program::new();
    let launched = p.queue(S, 10, &[launch()]);
    p.done(launched, &[Access::write(4096, 1024), Access::write(4096 + 1024, 4)]);
    assert_eq!(p.found(), [(Mistake::OutOfBounds, 10, Some(5))]);
}

#[test]
fn a_launch_may_touch_buffers_side_by_side() {
    let mut p = Program::new();
    // Another buffer just after the first one. The launch receives both or one.
    p.checker.buffer_granted(4096 + 1024, 512, S, at(9));
    let both = [launch(), Access { address: 4096 + 1024, bytes: 512, kind: AccessKind::Launch }];
    let launched = p.queue(S, 10, &both);
    p.done(launched, &[Access::write(4096, 1024 + 512)]);
    assert_eq!(p.found(), []);
    let launched = p.queue(S, 11, &both);
    p.done(launched, &[Access::write(4096, 1024 + 512 + 4)]);
    assert_eq!(p.found(), [(Mistake::OutOfBounds, 11, Some(9))]);
}

#[test]
fn a_launch_that_does_not_tell_may_have_written() {
    let mut p = Program::new();
    p.run(S, 10, &[launch()]);
    p.run(S, 11, &[read()]);
    assert_eq!(p.found(), []);
}

#[test]
fn a_buffer_belongs_to_its_stream_first() {
    let mut p = Program::new();
    p.run(S, 10, &[write()]);
    // Allocated after work of S that is ordered with nothing else.
    p.checker.buffer_granted(8192, 512, S, at(11));
    p.run(T, 12, &[Access::write(8192, 512)]);
    assert_eq!(p.found(), [(Mistake::UseBeforeAllocation, 12, Some(11))]);
    p.checker.buffer_granted(16384, 512, S, at(13));
    p.record(S);
    p.wait(T);
    p.run(T, 14, &[Access::write(16384, 512)]);
    assert_eq!(p.found().len(), 1);
}

#[test]
fn use_after_free_is_by_queueing_and_not_by_running() {
    let mut p = Program::new();
    let in_time = p.queue(S, 10, &[write()]);
    p.checker.buffer_released(4096, 1024, at(11));
    p.done(in_time, &[]);
    assert_eq!(p.found(), []);
    p.run(S, 12, &[read()]);
    assert_eq!(p.found(), [(Mistake::UseAfterFree, 12, Some(11))]);
}

#[test]
fn work_on_a_buffer_s_last_owner_does_not_touch_the_next() {
    let mut p = Program::new();
    let last_use = p.queue(S, 10, &[write()]);
    p.queue(S, 11, &[]);
    p.checker.buffer_released(4096, 1024, at(12));
    p.checker.buffer_granted(4096, 512, S, at(13));
    p.done(last_use, &[]);
    assert_eq!(p.found(), []);
    // The next owner does not see what the previous one wrote.
    p.run(S, 14, &[Access::read(4096, 512)]);
    assert_eq!(p.found(), [(Mistake::Uninitialized, 14, Some(13))]);
}

#[test]
fn memory_that_nobody_wrote_is_not_read() {
    let mut p = Program::new();
    p.run(S, 10, &[Access::write(4096, 512)]);
    p.run(S, 11, &[Access::read(4096, 512)]);
    assert_eq!(p.found(), []);
    p.run(S, 12, &[Access::read(4096, 513)]);
    let reports = p.checker.reports();
    assert_eq!(p.found(), [(Mistake::Uninitialized, 12, Some(5))]);
    assert!(reports[0].message.ends_with("from byte 512 of a buffer of 1024 bytes"), "{}", reports[0]);
    // Although it is written later, it was read too early.
    p.run(S, 13, &[write()]);
    assert_eq!(p.found(), [(Mistake::Uninitialized, 12, Some(5))]);
}

#[test]
fn waiting_for_what_was_never_recorded_is_a_mistake() {
    let p = Program::new();
    p.checker.stream_waits(T, E, false, at(10)).unwrap();
    assert_eq!(p.found(), [(Mistake::NeverRecorded, 10, Some(3))]);
}

#[test]
fn loops_are_reported_once_with_a_count() {
    let mut p = Program::new();
    for _ in 0..3 {
        p.run(S, 10, &[write()]);
        p.run(T, 11, &[write()]);
    }
    let reports = p.checker.reports();
    assert_eq!(p.found(), [(Mistake::Race, 11, Some(10)), (Mistake::Race, 10, Some(11))]);
    assert_eq!(reports.iter().map(|r| r.times).sum::<u64>(), 5);
}

#[test]
fn remaining_resources_are_leaks() {
    let p = Program::new();
    let kinds = |p: &Program| p.checker.finish().iter().map(|r| r.mistake).collect::<Vec<_>>();
    use Mistake::{LeakedBuffer, LeakedEvent, LeakedStream};
    assert_eq!(kinds(&p), [LeakedStream, LeakedStream, LeakedEvent, LeakedBuffer]);
    assert_eq!(
        p.checker.finish()[3].to_string().lines().next(),
        Some("p.mlir:5:1: ResourceExhausted: a buffer of 1024 bytes still exists at the end of the program")
    );
    p.checker.buffer_released(4096, 1024, at(10));
    p.checker.freed(4096);
    p.checker.event_destroyed(E);
    p.checker.stream_destroyed(S);
    p.checker.stream_destroyed(T);
    assert_eq!(kinds(&p), []);
}

/// A mistake, and the expected report.
type Case<'a> = (&'a dyn Fn(&mut Program), &'a str);

/// Returns all text of a report, one line each.
fn said(report: &Report) -> String {
    let other = report.other.iter().map(|(what, origin)| format!("{what} by {origin}"));
    let lines = [report.at.to_string(), report.message.clone()].into_iter().chain(other);
    lines.chain(report.advice.clone()).collect::<Vec<_>>().join("\n")
}

#[test]
fn each_report_says_where_and_which_event_would_have_helped() {
    let race = |p: &mut Program| {
        p.run(S, 10, &[write()]);
        p.run(T, 11, &[read()]);
    };
    let early_use = |p: &mut Program| {
        p.run(S, 10, &[write()]);
        p.checker.buffer_granted(8192, 512, S, at(11));
        p.run(T, 12, &[Access::write(8192, 512)]);
    };
    let late_use = |p: &mut Program| {
        p.run(S, 10, &[write()]);
        p.checker.buffer_released(4096, 1024, at(11));
        p.run(S, 12, &[read()]);
    };
    let early_read = |p: &mut Program| p.run(S, 10, &[read()]);
    let wait = |p: &mut Program| p.checker.stream_waits(T, E, false, at(10)).unwrap();
    let cases: [Case<'_>; 5] = [
        (
            &race,
            "'k' at p.mlir:11:1\n\
             an operation on stream 1 reads bytes that an operation on stream 0 writes, and nothing orders the two \
             (a buffer of 1024 bytes allocated by 'k' at p.mlir:5:1)\n\
             written by 'k' at p.mlir:10:1\n\
             record an event on stream 0 after 'k' at p.mlir:10:1, and let stream 1 wait for it before \
             'k' at p.mlir:11:1",
        ),
        (
            &early_use,
            "'k' at p.mlir:12:1\n\
             an operation on stream 1 uses a buffer that was allocated for stream 0, and is not ordered behind its \
             allocation\n\
             allocated by 'k' at p.mlir:11:1\n\
             record an event on stream 0 after 'k' at p.mlir:11:1, and let stream 1 wait for it before \
             'k' at p.mlir:12:1",
        ),
        (
            &late_use,
            "'k' at p.mlir:12:1\n\
             an operation uses a buffer that was released\n\
             released by 'k' at p.mlir:11:1",
        ),
        (
            &early_read,
            "'k' at p.mlir:10:1\n\
             an operation reads device memory that was never written, from byte 0 of a buffer of 1024 bytes\n\
             allocated by 'k' at p.mlir:5:1",
        ),
        (
            &wait,
            "'k' at p.mlir:10:1\n\
             stream 1 waits for an event that was never recorded, so it does not wait\n\
             created by 'k' at p.mlir:3:1\n\
             record the event before a stream waits for it",
        ),
    ];
    for (mistake, expected) in cases {
        let mut p = Program::new();
        mistake(&mut p);
        assert_eq!(p.checker.reports().iter().map(said).collect::<Vec<_>>(), [expected]);
    }
    let leaks: Vec<_> = Program::new().checker.finish().iter().map(said).collect();
    let left = |line: u32, what: &str| {
        format!("'k' at p.mlir:{line}:1\n{what} still exists at the end of the program")
    };
    let expected = [(1, "stream 0"), (2, "stream 1"), (3, "an event"), (5, "a buffer of 1024 bytes")];
    assert_eq!(leaks, expected.map(|(line, what)| left(line, what)));
}

/// A launch writes bytes and then a flag, and another one waits for the flag and then reads the
/// bytes.
#[test]
fn bytes_that_are_handed_over_are_in_order() {
    const FLAG: u64 = 4096 + 512;
    let (writes, reads) = ([Access::write(4096, 64)], [Access::read(4096, 64)]);
    let flags = Some(vec![FLAG]);
    let teller = Handover { told: flags.clone(), heard: Some(vec![]), ..Handover::default() };
    let listener = Handover { told: Some(vec![]), heard: flags, ..Handover::default() };
    let hasty = Handover { early: [(64, 1)].into(), ..listener.clone() };
    let deaf = Handover { heard: Some(vec![]), ..listener.clone() };
    for (second, expected) in [(&listener, 0), (&hasty, 1), (&deaf, 1)] {
        for is_swapped in [false, true] {
            let mut p = Program::new();
            let (first_queued, second_queued) = (p.queue(S, 10, &[]), p.queue(T, 11, &[]));
            let mut ends = [(first_queued, &teller, &writes), (second_queued, second, &reads)];
            if is_swapped {
                ends.reverse();
            }
            for (operation, handover, accesses) in ends {
                let observed = Observed { accesses, handover: Some(handover), ..Observed::nothing() };
                p.checker.finished(operation, &observed).unwrap();
            }
            let races = p.found().iter().filter(|(mistake, ..)| *mistake == Mistake::Race).count();
            assert_eq!(races, expected, "{second:?} {is_swapped}");
        }
    }
}

#[test]
fn loads_that_threads_synchronize_by_race_with_ordinary_stores_alone() {
    let of = |kind| Access { address: 4096, bytes: 4, kind };
    let cases = [
        (AccessKind::Atomic, AccessKind::Poll, 0),
        (AccessKind::Poll, AccessKind::Poll, 0),
        (AccessKind::Read, AccessKind::Poll, 0),
        (AccessKind::Write, AccessKind::Poll, 1),
        (AccessKind::Poll, AccessKind::Write, 1),
        (AccessKind::Atomic, AccessKind::Read, 1),
    ];
    for (first, second, expected) in cases {
        let mut p = Program::new();
        p.run(S, 9, &[write()]);
        p.record(S);
        p.wait(T);
        p.run(S, 10, &[of(first)]);
        p.run(T, 11, &[of(second)]);
        let races = p.found().iter().filter(|(mistake, ..)| *mistake == Mistake::Race).count();
        assert_eq!(races, expected, "{first:?} {second:?}");
    }
}
