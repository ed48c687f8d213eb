//! Work on streams in the program's trace.

use std::time::Instant;

use tfrt_device::front::Context;
use tfrt_device::hal::Pattern;
use tfrt_device::trace::CATEGORY;
use tfrt_host::tracing::{self, Event};

use super::Case;
use super::support::Bench;

pub(crate) const CASES: &[Case] = &[("traces/work_is_on_its_stream's_row", work_is_on_its_streams_row)];

/// Takes the trace, and returns the work of each stream.
pub(super) fn take_rows() -> Vec<Vec<Event>> {
    let is_row = |events: &Vec<Event>| events.iter().all(|event| event.category == CATEGORY);
    tracing::take().tracks.into_iter().map(|track| track.events).filter(is_row).collect()
}

fn work_is_on_its_streams_row(context: &Context) {
    let bench = Bench::new(context);
    let (a, b) = (bench.upload(&[1u8; 4096]), bench.upload(&[2u8; 4096]));
    bench.stream.synchronize().unwrap();
    drop(tracing::take());
    tracing::enable();
    let start = Instant::now();
    for _ in 0..3 {
        bench.stream.set(&a, 0, Pattern::U32(7), 1024).unwrap();
        bench.stream.copy((&b, 8), (&a, 0), 512, false).unwrap();
    }
    bench.stream.synchronize().unwrap();
    let elapsed = start.elapsed();
    tracing::disable();
    let rows = take_rows();
    let [row] = &rows[..] else { panic!("expected one row: {rows:?}") };
    let names: Vec<_> = row.iter().map(|event| &*event.name).collect();
    let round = ["memory set, 4096 bytes", "copy from device to device, 512 bytes"];
    assert_eq!(names, [round, round, round].concat());
    assert!(row.is_sorted_by(|before, after| before.end_ns() <= after.start_ns), "work overlaps: {row:?}");
    let busy_ns: u64 = row.iter().filter_map(|event| event.duration_ns).sum();
    assert!(u128::from(busy_ns) <= elapsed.as_nanos(), "{busy_ns} ns of work in {elapsed:?}");
    // While tracing is off, nothing is recorded.
    bench.stream.set(&a, 0, Pattern::U32(7), 1024).unwrap();
    bench.stream.synchronize().unwrap();
    assert!(take_rows().is_empty());
}
