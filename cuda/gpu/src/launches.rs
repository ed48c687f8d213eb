//! Work of a context that may not have finished. When the context fails, its error names the work
//! that may be the cause.
//!
//! A driver reports a fault at any later call, and does not say what caused it. So each launch is
//! recorded with its origin, and forgotten when its stream is known to have passed it. A fault is
//! then due to the remaining work, which is a single launch if the program waits for each one.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use tfrt_device::error::DeviceError;
use tfrt_device::origin::Caller;

/// The greatest number of recorded launches. Older ones are forgotten.
const MAX_NOTED: usize = 256;

/// A point on a stream: the number of the last launch before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    stream: usize,
    number: u64,
}

struct Launch {
    point: Point,
    what: Arc<str>,
    caller: Caller,
}

/// The queued work that is not known to have finished.
#[derive(Default)]
pub(super) struct Launches(Mutex<State>);

#[derive(Default)]
struct State {
    last_number: u64,
    left: VecDeque<Launch>,
    /// Whether work was forgotten that may not have finished.
    is_cut: bool,
}

impl Launches {
    /// Records work that was just queued on a stream.
    pub(super) fn add(&self, stream: usize, what: &Arc<str>) {
        let caller = Caller::here();
        let mut state = self.0.lock();
        state.last_number += 1;
        if state.left.len() == MAX_NOTED {
            state.left.pop_front();
            state.is_cut = true;
        }
        let point = Point { stream, number: state.last_number };
        state.left.push_back(Launch { point, what: Arc::clone(what), caller });
    }

    /// Returns the current end of a stream.
    pub(super) fn end_of(&self, stream: usize) -> Point {
        Point { stream, number: self.0.lock().last_number }
    }

    /// Forgets the work that a stream has passed.
    pub(super) fn forget_until(&self, point: Point) {
        let is_done =
            |launch: &Launch| launch.point.stream == point.stream && launch.point.number <= point.number;
        let mut state = self.0.lock();
        state.left.retain(|launch| !is_done(launch));
        state.is_cut &= !state.left.is_empty();
    }

    /// Adds the work that may be the cause to an error.
    pub(super) fn blame(&self, mut error: DeviceError) -> DeviceError {
        let state = self.0.lock();
        let text = if error.detail.is_empty() { error.status.message() } else { &error.detail };
        match (state.left.front(), state.left.back()) {
            (Some(only), Some(_)) if state.left.len() == 1 && !state.is_cut => {
                error.detail = format!("{text}, in {}", only.what);
                return error.of_work(|| only.caller.origin());
            }
            (Some(first), Some(last)) => {
                let (count, cut) = (state.left.len(), if state.is_cut { " at least" } else { "" });
                let place = |launch: &Launch| match launch.caller.origin() {
                    origin if origin == Default::default() => launch.what.to_string(),
                    origin => format!("{} queued by {origin}", launch.what),
                };
                error.detail = format!(
                    "{text}, in one of{cut} {count} launches: from {} to {}",
                    place(first),
                    place(last)
                );
            }
            _ => {}
        }
        error
    }
}

#[cfg(test)]
mod tests {
    use tfrt_device::error::Status;

    use super::*;

    fn blamed(launches: &Launches) -> String {
        launches.blame(DeviceError::from(Status::IllegalAddress)).detail
    }

    #[test]
    fn work_that_is_done_is_not_blamed() {
        let launches = Launches::default();
        let [a, b, c] = ["'a'", "'b'", "'c'"].map(Arc::from);
        let bare = blamed(&launches);
        launches.add(1, &a);
        let point = launches.end_of(1);
        launches.add(2, &b);
        launches.add(1, &c);
        assert!(
            blamed(&launches).ends_with("in one of 3 launches: from 'a' to 'c'"),
            "{}",
            blamed(&launches)
        );
        launches.forget_until(point);
        assert!(blamed(&launches).ends_with("in one of 2 launches: from 'b' to 'c'"));
        launches.forget_until(launches.end_of(2));
        assert!(blamed(&launches).ends_with("in 'c'"));
        launches.forget_until(launches.end_of(1));
        assert_eq!(blamed(&launches), bare);
    }

    #[test]
    fn no_more_is_noted_than_there_is_room_for() {
        let launches = Launches::default();
        let what = Arc::from("'a'");
        (0..=MAX_NOTED).for_each(|_| launches.add(1, &what));
        assert!(blamed(&launches).contains("in one of at least 256 launches"));
    }
}
