//! Finds missing ordering in programs, on CPU devices.
//!
//! Each stream has a vector clock, which contains what is known to be done when its next operation
//! begins. Recording an event keeps the stream's clock. A stream that waits for the event learns
//! that clock, and so does the host when it sees the event or the end of a stream. Later work knows
//! what the host knows. Two operations that access the same bytes, one of them writing, must be
//! ordered by what they know. That does not depend on which ran first, so a missing event is found
//! in every run, not only in unlucky ones. Collectives order as they are defined: a receiver comes
//! after the earlier work of all senders, whichever rank is queued first.
//!
//! An operation accesses what it declares, and launches are observed while they run. Uses are
//! checked when the operation is done, when everything ordered before it was checked. Variables of
//! modules are bytes like others, except that they always have contents.
//!
//! The host counts as one thread: an operation queued by any of its threads comes after everything
//! that one of them has seen. That is right for kernels that chains order, on any threads. Kernels
//! that no chain orders have the order of this run. So a missing *chain* between two device calls
//! may look like an order, which hides a mistake but never invents one. With the single-threaded
//! queue that order is the program's, and every run finds the same.
//!
//! The checker does not check what the host does with its memory: a copy in flight holds its host
//! buffer, so a host kernel that does not wait receives an error that names both origins
//! (`front/host_hold.rs`). Copies of different streams share a hold, so copies from and to pinned
//! memory are checked against each other. Unified memory is checked like other memory, through
//! either address, except that it always has contents.
//!
//! Launches that run at the same time may hand bytes over: a thread writes, fences and stores to a
//! flag, and another one waits for the flag, fences and reads. Such accesses are in order if the
//! launches did so in this run ([`Handover`](crate::observer::Handover)). Atomic accesses, and
//! others that threads synchronize by, are no race among each other.
//!
//! Each branch of a captured graph has a clock, too. It begins with what the launch knows, and the
//! stream of the launch knows all branches when the graph ends.
//!
//! The checker never changes a program's behaviour; it collects reports. It is off unless a device
//! is created with one, and then costs nothing.
//!
//! | file | idea |
//! |---|---|
//! | `observe` | what streams and events tell, and what happens to memory |
//! | `state` | the operations: their accesses, and the order that they have |
//! | `clock` | vector clocks |
//! | `memory` | the buffers that contain each byte |
//! | `shadow` | the last users of each byte |
//! | `describe` | the text of reports |
//! | `report` | reports of mistakes |

mod clock;
mod describe;
mod memory;
mod observe;
mod report;
mod shadow;
mod state;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use parking_lot::Mutex;

use crate::origin::Origin;

pub use report::{Mistake, Report};

use state::State;

/// The most different reports that are kept.
const MAX_REPORTS: usize = 100;

/// A checker. Pass it to the devices whose work it should check.
#[derive(Debug, Default)]
pub struct Checker {
    state: Mutex<State>,
}

impl Checker {
    /// Creates a checker.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Returns the reports so far, in the order in which they were found.
    pub fn reports(&self) -> Vec<Report> {
        let state = self.state.lock();
        let mut reports = state.reports.clone();
        // These may still turn out to be unordered instead of early, so they are not kept.
        for early in state.shadow.early_reads() {
            add(&mut reports, state.early_read(&early));
        }
        reports
    }

    /// Returns all reports at the end of the program. Streams, events and buffers that still exist
    /// are leaks.
    pub fn finish(&self) -> Vec<Report> {
        let mut reports = self.reports();
        let state = self.state.lock();
        let mut leak = |mistake, what: String, at: &Origin| {
            let message = format!("{what} still exists at the end of the program");
            add(
                &mut reports,
                Report { mistake, message, at: at.clone(), other: None, advice: None, times: 1 },
            );
        };
        for (number, stream) in state.streams.iter().enumerate().filter(|(_, stream)| !stream.destroyed) {
            leak(Mistake::LeakedStream, format!("stream {number}"), &stream.created);
        }
        let mut events: Vec<_> = state.events.iter().collect();
        events.sort_unstable_by_key(|(id, _)| **id);
        for (_, event) in events {
            if let Some(created) = &event.created {
                leak(Mistake::LeakedEvent, "an event".to_owned(), created);
            }
        }
        for buffer in state.memory.live() {
            leak(Mistake::LeakedBuffer, format!("a buffer of {} bytes", buffer.bytes), &buffer.granted);
        }
        for (bytes, origin) in state.memory.live_raw() {
            leak(Mistake::LeakedBuffer, format!("device memory of {bytes} bytes"), origin);
        }
        reports
    }
}

/// Adds a report, or counts it if it is a duplicate.
fn add(reports: &mut Vec<Report>, report: Report) {
    if let Some(known) = reports.iter_mut().find(|known| known.is_same(&report)) {
        known.times += 1;
    } else if reports.len() < MAX_REPORTS {
        reports.push(report);
    }
}
