//! How much more memory the allocator reserves than programs hold at once, on traces of whole
//! programs.

#[path = "../../../benches/support/allocations.rs"]
#[expect(dead_code, reason = "shared with the bench")]
mod allocations;
#[path = "../../../benches/support/replay.rs"]
#[expect(dead_code, reason = "shared with the bench")]
mod replay;

use allocations::{Trace, traces, unseen_traces};
use replay::{Caching, Replay};

/// By how many calls devices are behind the host: not at all, some, and more than most blocks live.
const LAGS: [u64; 3] = [0, 20, 200];

/// The most that was reserved in some replays, against the most that is held at once.
fn ratio(trace: &Trace, lag: u64, by_page: bool, replays: usize) -> f64 {
    let mut caching = Caching::new(lag, by_page);
    (0..replays).for_each(|_| caching.replay(trace));
    assert_eq!(caching.statistics().bytes_in_use, 0, "{}", trace.name);
    caching.peak_reserved() as f64 / trace.peak_live() as f64
}

#[test]
fn by_the_page_little_more_is_reserved_than_is_held() {
    for trace in traces() {
        for lag in LAGS {
            let ratio = ratio(&trace, lag, true, 5);
            assert!((1.0..1.15).contains(&ratio), "{}, {lag} calls behind: {ratio:.3}", trace.name);
        }
    }
}

#[test]
fn so_it_is_with_programs_that_nothing_was_chosen_for() {
    for trace in (0..2).flat_map(unseen_traces) {
        for lag in LAGS {
            let ratio = ratio(&trace, lag, true, 3);
            assert!((1.0..1.15).contains(&ratio), "{}, {lag} calls behind: {ratio:.3}", trace.name);
        }
    }
}

/// In segments, programs of several streams leave holes of all sizes, which fit nothing and do not
/// move.
#[test]
fn in_segments_one_stream_needs_little_more() {
    const LIMITS: [(&str, f64); 4] =
        [("ResNet-50 training", 1.15), ("ragged sequences", 1.15), ("many streams", 1.35), ("serving", 2.0)];
    for (trace, (name, limit)) in traces().iter().zip(LIMITS) {
        assert_eq!(trace.name, name);
        for lag in [0, 20] {
            let ratio = ratio(trace, lag, false, 2);
            assert!((1.0..limit).contains(&ratio), "{name}, {lag} calls behind: {ratio:.3}");
        }
    }
}
