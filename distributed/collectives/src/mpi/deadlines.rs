//! Collectives that do not finish in time, and the ranks that are to blame.
//!
//! The first rank of a group knows who has not come to a collective. For one that has started, it
//! cannot know: so a rank whose collective is late tells the first rank that it is stuck. The first
//! rank waits a moment for the others to tell the same, and then names those that did not.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use tfrt_host::{Diagnostic, ErrorCode};

use super::library::MpiError;
use super::message::{Kind, Message};
use super::progress::{Arrival, GroupState, Progress};

/// Returns the time that messages about a collective get, which may take `limit`. The first rank
/// says who is missing so long before the deadline, so that all ranks can report it.
pub(super) fn margin(limit: Duration) -> Duration {
    const MAX_MARGIN: Duration = Duration::from_millis(200);
    (limit / 10).min(MAX_MARGIN)
}

/// Which members of a group are stuck in a collective that is late.
#[derive(Default)]
pub(super) struct Stuck {
    /// On the first rank: the collective in which each member is stuck, by place.
    places: HashMap<usize, String>,
    /// On the first rank: when it names those that have not said that they are stuck.
    named_at: Option<Instant>,
    /// On the others: whether this rank has said so.
    is_told: bool,
}

impl Stuck {
    /// On the first rank: notes what a member has said.
    pub(super) fn hear(&mut self, place: usize, message: Message, now: Instant) {
        self.places.insert(place, message.text);
        self.named_at.get_or_insert(now + message.remaining);
    }
}

fn too_late(text: String) -> Diagnostic {
    Diagnostic::new(ErrorCode::DeadlineExceeded, text)
}

fn message(kind: Kind, remaining: Duration, text: String) -> Message {
    Message { kind, key: 0, agreement: 0, remaining, text }
}

impl Progress {
    /// Fails if a collective of a group is late and the reason is known, or will not be known.
    pub(super) fn check_deadlines(&mut self, index: usize) -> Result<(), Diagnostic> {
        let now = Instant::now();
        self.tell_stuck(index, now)?;
        let group = &self.groups[index];
        let first = self.named(group.members[0]);
        if group.place == 0 {
            if let Some(text) = self.silent(group, now).or_else(|| self.missing(group, now)) {
                self.tell(index, &message(Kind::Fatal, Duration::ZERO, text.clone()))?;
                return Err(too_late(text));
            }
        } else if let Some(running) = group.running.iter().find(|r| r.deadline + 3 * r.margin <= now) {
            return Err(too_late(format!(
                "{} has started on all ranks, but did not finish before the deadline, and {first}, which leads the \
                 group, does not answer",
                running.place
            )));
        }
        if let Some(waiting) = group.waiting.iter().find(|waiting| waiting.call.deadline <= now) {
            let group = &waiting.call.group;
            let text = format!("{first}, which leads group '{group}', did not answer before the deadline");
            return Err(too_late(text));
        }
        Ok(())
    }

    /// Tells the first rank that a collective of this rank is late.
    fn tell_stuck(&mut self, index: usize, now: Instant) -> Result<(), MpiError> {
        let group = &mut self.groups[index];
        let Some(running) = group.running.iter().find(|running| running.deadline <= now) else {
            return Ok(());
        };
        let stuck = message(Kind::Stuck, running.margin, running.place.clone());
        if group.place == 0 {
            group.stuck.hear(0, stuck, now);
        } else if !group.stuck.is_told {
            group.stuck.is_told = true;
            self.sends.push(self.library.send(stuck.encode(), group.members[0], group.tag)?);
        }
        Ok(())
    }

    /// On the first rank: says who has not answered, when the others have had the time to.
    fn silent(&self, group: &GroupState, now: Instant) -> Option<String> {
        group.stuck.named_at.filter(|at| *at <= now)?;
        let (_, place) = group.stuck.places.iter().min()?;
        let is_silent = |place: &usize| group.whereabouts(*place).is_none();
        let silent = (1..group.members.len()).filter(is_silent).map(|place| self.named(group.members[place]));
        let silent: Vec<_> = silent.collect();
        let blame = match &silent[..] {
            [] => "although all ranks answer: the network between two of them has failed".to_owned(),
            [one] => format!("and {one} does not answer"),
            more => format!("and {} do not answer", more.join(", ")),
        };
        Some(format!("{place} has started on all ranks, but did not finish before the deadline, {blame}"))
    }

    /// On the first rank: says who has not come to a collective whose deadline is near.
    fn missing(&self, group: &GroupState, now: Instant) -> Option<String> {
        let is_late = |arrival: &&Arrival| arrival.deadline <= now + margin(arrival.message.remaining);
        let heads =
            |queues: &Vec<VecDeque<Arrival>>| queues.iter().filter_map(VecDeque::front).any(|a| is_late(&a));
        let (_, queues) = group.arrivals.iter().find(|(_, queues)| heads(queues))?;
        let what = &queues.iter().find_map(VecDeque::front)?.message.text;
        let absent = queues.iter().enumerate().filter(|(_, queue)| queue.is_empty()).map(|(place, _)| {
            let name = self.named(group.members[place]);
            match group.whereabouts(place) {
                Some(text) => format!("{name} (which waits in {text})"),
                None => name,
            }
        });
        let absent: Vec<_> = absent.collect();
        Some(format!("{} did not come to {what} before the deadline", absent.join(", ")))
    }
}

impl GroupState {
    /// On the first rank: the collective in which a member is, as far as it has said so.
    fn whereabouts(&self, place: usize) -> Option<&str> {
        let stuck = self.stuck.places.get(&place).map(String::as_str);
        let arrived = || self.arrivals.values().find_map(|queues| queues[place].front());
        stuck.or_else(|| arrived().map(|arrival| arrival.message.text.as_str()))
    }
}
