//! How much more memory the allocator reserves than programs hold at once, on traces of whole programs.

#[path = "../../benches/support/allocations.rs"]
#[expect(dead_code, reason = "shared with the bench")]
mod allocations;

use allocations::{Caching, Replay, traces};

/// The most that is reserved, against the most that is held at once. The streams of the last two hold blocks of all sizes
/// for any time, which leaves holes in fixed segments: a first fit without any respect for streams needs 1.15 and 1.29.
const LIMITS: [(&str, f64); 4] =
    [("ResNet-50 training", 1.15), ("ragged sequences", 1.15), ("many streams", 1.4), ("serving", 1.9)];

#[test]
fn little_more_is_reserved_than_is_held() {
    for (trace, (name, limit)) in traces().iter().zip(LIMITS) {
        assert_eq!(trace.name, name);
        // A device that keeps up with the host, and one that is some calls behind.
        for lag in [0, 20] {
            let mut caching = Caching::new(lag);
            caching.replay(trace);
            caching.replay(trace);
            let ratio = caching.peak_reserved() as f64 / trace.peak_live() as f64;
            assert!((1.0..limit).contains(&ratio), "{name}, {lag} calls behind: {ratio:.3}");
            assert_eq!(caching.statistics().bytes_in_use, 0);
        }
    }
}
