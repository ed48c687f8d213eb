//! Streams and events.

use std::time::Duration;

use tfrt_device::error::Status;
use tfrt_device::front::Context;
use tfrt_device::hal::{EventOptions, Pattern, StreamOptions};

use super::Case;
use super::support::{Bench, fails, outcome, wait};

pub(crate) const CASES: &[Case] = &[
    ("events/record_and_poll", record_and_poll),
    ("events/never_recorded", never_recorded),
    ("events/order_streams", order_streams),
    ("events/not_reached_before_work", not_reached_before_work),
    ("events/recorded_again_on_another_stream", recorded_again_on_another_stream),
    ("events/completion_does_not_block", completion_does_not_block),
    ("events/elapsed", elapsed),
    ("events/priorities_are_clamped", priorities_are_clamped),
    ("events/many_streams", many_streams),
    ("events/destroyed_twice", destroyed_twice),
];

fn plain(context: &Context) -> tfrt_device::front::Event {
    context.create_event(EventOptions::default()).unwrap()
}

fn record_and_poll(context: &Context) {
    let bench = Bench::new(context);
    let event = plain(context);
    for _ in 0..20 {
        event.record(&bench.stream).unwrap();
        wait(|then| event.when_reached(then));
        assert!(event.query().unwrap());
    }
    event.synchronize().unwrap();
}

/// What was never recorded is reached, and is not waited for.
fn never_recorded(context: &Context) {
    let bench = Bench::new(context);
    let event = plain(context);
    assert!(event.query().unwrap());
    bench.stream.wait(&event).unwrap();
    bench.stream.synchronize().unwrap();
    wait(|then| event.when_reached(then));
}

fn order_streams(context: &Context) {
    let bench = Bench::new(context);
    let second = context.create_stream(StreamOptions::default()).unwrap();
    let count = 1usize << 18;
    let (a, b) = (bench.upload(&vec![0u32; count]), bench.upload(&vec![0u32; count]));
    for round in 1..20u32 {
        let (written, read) = (plain(context), plain(context));
        bench.stream.set(&a, 0, Pattern::U32(round), count as u64).unwrap();
        written.record(&bench.stream).unwrap();
        second.wait(&written).unwrap();
        second.copy((&b, 0), (&a, 0), 4 * count as u64, false).unwrap();
        read.record(&second).unwrap();
        bench.stream.wait(&read).unwrap();
        assert_eq!(bench.download::<u32>(&b, count)[count - 1], round);
    }
}

fn not_reached_before_work(context: &Context) {
    let bench = Bench::new(context);
    let (open, closed) = std::sync::mpsc::channel::<()>();
    bench.stream.host_callback(move || assert!(closed.recv().is_err())).unwrap();
    let event = plain(context);
    event.record(&bench.stream).unwrap();
    assert!(!event.query().unwrap());
    assert!(!bench.stream.query().unwrap());
    drop(open);
    event.synchronize().unwrap();
    assert!(event.query().unwrap());
}

/// A wait ends with the record that it was made for, not with a later record that another stream
/// reaches first.
fn recorded_again_on_another_stream(context: &Context) {
    let bench = Bench::new(context);
    let [other, third] = [0, 1].map(|_| context.create_stream(StreamOptions::default()).unwrap());
    let (open, closed) = std::sync::mpsc::channel::<()>();
    bench.stream.host_callback(move || assert!(closed.recv().is_err())).unwrap();
    let event = plain(context);
    event.record(&bench.stream).unwrap();
    third.wait(&event).unwrap();
    event.record(&other).unwrap();
    event.synchronize().unwrap();
    assert!(event.query().unwrap() && !third.query().unwrap());
    drop(open);
    third.synchronize().unwrap();
}

/// A completion that comes late holds up none of another stream.
fn completion_does_not_block(context: &Context) {
    let bench = Bench::new(context);
    let other = context.create_stream(StreamOptions::default()).unwrap();
    let (open, closed) = std::sync::mpsc::channel::<()>();
    bench
        .stream
        .host_callback(move || assert!(closed.recv_timeout(Duration::from_secs(20)).is_err()))
        .unwrap();
    let (sender, late) = std::sync::mpsc::channel();
    bench.stream.when_done(move |outcome| drop(sender.send(outcome))).unwrap();
    for _ in 0..10 {
        wait(|then| other.when_done(then));
    }
    assert!(late.try_recv().is_err());
    drop(open);
    late.recv().unwrap().unwrap();
}

fn elapsed(context: &Context) {
    let bench = Bench::new(context);
    let timed = || context.create_event(EventOptions { timing: true, ..EventOptions::default() }).unwrap();
    let (start, end) = (timed(), timed());
    fails(start.elapsed_ms(&end), Status::InvalidHandle);
    start.record(&bench.stream).unwrap();
    end.record(&bench.stream).unwrap();
    end.synchronize().unwrap();
    assert!(start.elapsed_ms(&end).unwrap() >= 0.0);
    // Recorded again, it marks the later time.
    std::thread::sleep(Duration::from_millis(20));
    end.record(&bench.stream).unwrap();
    end.synchronize().unwrap();
    assert!(start.elapsed_ms(&end).unwrap() >= 20.0);
    fails(start.elapsed_ms(&plain(context)), Status::InvalidHandle);
}

fn priorities_are_clamped(context: &Context) {
    let (least, most) = context.priority_range().unwrap();
    assert!(most <= least);
    for priority in [i32::MIN, most, least, i32::MAX] {
        context.create_stream(StreamOptions { priority }).unwrap().synchronize().unwrap();
    }
}

/// More streams than anybody has threads, each waiting for the one before.
fn many_streams(context: &Context) {
    let streams: Vec<_> = (0..64).map(|_| context.create_stream(StreamOptions::default()).unwrap()).collect();
    let mut before = plain(context);
    before.record(&streams[0]).unwrap();
    for stream in &streams[1..] {
        stream.wait(&before).unwrap();
        let event = plain(context);
        event.record(stream).unwrap();
        before = event;
    }
    wait(|then| before.when_reached(then));
    for stream in &streams {
        stream.synchronize().unwrap();
    }
}

fn destroyed_twice(context: &Context) {
    let bench = Bench::new(context);
    let event = plain(context);
    event.destroy().unwrap();
    fails(event.destroy(), Status::InvalidHandle);
    fails(event.record(&bench.stream), Status::InvalidHandle);
    fails(event.query(), Status::InvalidHandle);
    fails(bench.stream.wait(&event), Status::InvalidHandle);
    fails(outcome(|then| event.when_reached(then)), Status::InvalidHandle);
}
