//! The text of reports.

use std::sync::Arc;

use super::report::{Mistake, Report};
use super::shadow::{Conflict, EarlyRead, Operation};
use super::state::State;

impl State {
    pub(super) fn report_conflict(&mut self, conflict: &Conflict, operation: &Arc<Operation>, writes: bool) {
        let &Conflict { ref earlier, earlier_wrote, address } = conflict;
        if earlier.is_grant {
            return self.report_early_use(earlier, operation);
        }
        // Reported in the order of the program, whichever ran first.
        let (first, first_wrote, second, second_wrote) = if earlier.sequence < operation.sequence {
            (earlier, earlier_wrote, operation, writes)
        } else {
            (operation, writes, earlier, earlier_wrote)
        };
        let verb = |wrote| if wrote { "writes" } else { "reads" };
        let message = format!(
            "{} on stream {} {} bytes that {} on stream {} {}, and nothing orders the two{}",
            second.name,
            second.stream,
            verb(second_wrote),
            first.name,
            first.stream,
            verb(first_wrote),
            self.whose(address)
        );
        let advice = format!(
            "record an event on stream {} after {}, and let stream {} wait for it before {}",
            first.stream, first.origin, second.stream, second.origin
        );
        self.report(Report {
            mistake: Mistake::Race,
            message,
            at: second.origin.clone(),
            other: Some((if first_wrote { "written" } else { "read" }, first.origin.clone())),
            advice: Some(advice),
            times: 1,
        });
    }

    /// Describes the buffer that contains an address, or contained it last, for messages. It may
    /// have been dropped when the report is made.
    fn whose(&self, address: u64) -> String {
        let pinned = self.pinned.range(..=address).next_back();
        if pinned.is_some_and(|(start, bytes)| address < start + bytes) {
            return " (in pinned host memory)".to_owned();
        }
        if !self.memory.knows(address) {
            return " (in a variable of a module)".to_owned();
        }
        self.memory.holder(address).map_or_else(String::new, |buffer| {
            format!(" (a buffer of {} bytes allocated by {})", buffer.bytes, buffer.granted)
        })
    }

    fn report_early_use(&mut self, grant: &Operation, operation: &Operation) {
        let message = format!(
            "{} on stream {} uses a buffer that was allocated for stream {}, and is not ordered behind its allocation",
            operation.name, operation.stream, grant.stream
        );
        let advice = format!(
            "record an event on stream {} after {}, and let stream {} wait for it before {}",
            grant.stream, grant.origin, operation.stream, operation.origin
        );
        self.report(Report {
            mistake: Mistake::UseBeforeAllocation,
            message,
            at: operation.origin.clone(),
            other: Some(("allocated", grant.origin.clone())),
            advice: Some(advice),
            times: 1,
        });
    }

    pub(super) fn early_read(&self, early: &EarlyRead) -> Report {
        let EarlyRead { read, granted, address, toucher } = early;
        let toucher = toucher.as_ref().map_or_else(String::new, |toucher| format!(": {toucher}"));
        Report {
            mistake: Mistake::Uninitialized,
            message: format!(
                "{} reads device memory that was never written{}{toucher}",
                read.name,
                self.offset(*address)
            ),
            at: read.origin.clone(),
            other: granted.as_ref().map(|grant| ("allocated", grant.origin.clone())),
            advice: None,
            times: 1,
        }
    }

    pub(super) fn report_early_reads(&mut self, reads: &[EarlyRead]) {
        for early in reads {
            self.report(self.early_read(early));
        }
    }

    fn offset(&self, address: u64) -> String {
        self.memory.holder(address).map_or_else(String::new, |b| {
            format!(", from byte {} of a buffer of {} bytes", address - b.address, b.bytes)
        })
    }
}
