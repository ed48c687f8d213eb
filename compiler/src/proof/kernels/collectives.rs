//! Collectives: work of some ranks that comes before work of others.

use std::collections::HashMap;

use super::{
    super::{
        memory::{Access, Kind as Manner},
        order::NodeId,
        values::{Kind, Value},
        walk::Walk,
        world::{Caller, Step},
    },
    Call,
};

/// A communicator of one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::proof) struct Rank {
    /// What all ranks were made with.
    id: usize,
    rank: u64,
}

/// An exchange: a collective, or a message from one rank to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Exchange {
    All { id: usize, number: usize },
    Message { id: usize, from: u64, to: u64, number: usize },
}

/// A collective that is kept until its group ends.
#[derive(Debug)]
struct Kept {
    rank: Rank,
    roles: Option<Roles>,
    stream: usize,
    accesses: Vec<Access>,
    step: Step,
}

/// The exchanges of a program so far.
#[derive(Debug, Default)]
pub(in crate::proof) struct Exchanges {
    ids: usize,
    /// What is done when all that tell have told.
    points: HashMap<Exchange, NodeId>,
    /// How many exchanges of a kind each rank has come to.
    counts: HashMap<(Rank, Option<Peers>), usize>,
    /// The last work of each rank. A communicator runs its calls one after the other, whatever
    /// their streams are.
    last: HashMap<Rank, NodeId>,
    /// The members of groups, and the collectives that are kept. A group that has ended has no
    /// members.
    groups: Vec<(Vec<Rank>, Vec<Kept>)>,
}

/// Who tells, and who learns.
#[derive(Clone, Copy, Debug)]
struct Roles {
    tells: bool,
    learns: bool,
    /// Of a message.
    peers: Option<Peers>,
}

/// The sender and the receiver of a message.
type Peers = (u64, u64);

impl Walk<'_> {
    /// Runs a kernel of collectives; `None` for another one.
    pub(super) fn collective_kernel(&mut self, name: &str, call: &Call<'_>) -> Option<Vec<Value>> {
        let name = name.strip_prefix("ccl.")?;
        let chain = call.result(Kind::Opaque);
        if name == "unique_id" {
            self.exchanges.ids += 1;
            return Some(vec![call.result(Kind::CommunicatorId(self.exchanges.ids)), chain]);
        }
        if name == "create" {
            let rank = match (call.kind(1), call.int(3)) {
                (Some(&Kind::CommunicatorId(id)), Some(rank)) => Kind::Communicator(Rank { id, rank }),
                _ => Kind::Opaque,
            };
            return Some(vec![call.result(rank), chain]);
        }
        if name == "group_start" {
            let members = call.operands.iter().filter_map(|value| match value.kind {
                Kind::Communicator(rank) => Some(rank),
                _ => None,
            });
            self.exchanges.groups.push((members.collect(), Vec::new()));
            return Some(vec![call.result(Kind::Group(self.exchanges.groups.len() - 1)), chain]);
        }
        if let ("group_end", Some(&Kind::Group(group))) = (name, call.kind(0)) {
            let (_, kept) = std::mem::take(&mut self.exchanges.groups[group]);
            self.run_collectives(&call.caller, kept);
            return Some(vec![chain]);
        }
        let buffers = if matches!(name, "send" | "recv") { 1 } else { 2 };
        let (count, stream) = match name {
            "destroy" => return Some(vec![chain]),
            "all_reduce" | "reduce_scatter" | "all_gather" => (3, 4),
            "broadcast" | "reduce" => (3, 5),
            "send" | "recv" => (2, 4),
            _ => return None,
        };
        let (Some(&Kind::Communicator(rank)), Some(&Kind::Stream(stream))) =
            (call.kind(0), call.kind(stream))
        else {
            self.world.doubt(&call.caller.step, "it is not known which rank's collective this is");
            return Some(vec![chain]);
        };
        let roles = call.int(count).filter(|&count| count > 0).and_then(|_| roles(name, call, rank));
        let mut accesses = Vec::new();
        for index in 1..=buffers {
            let is_written = index == buffers && name != "send";
            let manner = if is_written { Manner::Write } else { Manner::Read };
            accesses.extend(call.device(index).map(|part| Access::from_start(part.root, manner, part.bytes)));
        }
        let kept = Kept { rank, roles, stream, accesses, step: call.caller.step.clone() };
        match self.exchanges.groups.iter_mut().find(|(members, _)| members.contains(&rank)) {
            Some((_, group)) => group.push(kept),
            None => self.run_collectives(&call.caller, vec![kept]),
        }
        Some(vec![chain])
    }

    /// Queues collectives at once. Work of ranks that tell comes before what ranks that learn do
    /// after.
    fn run_collectives(&mut self, caller: &Caller, calls: Vec<Kept>) {
        let mut points = Vec::new();
        for call in &calls {
            let Some(roles) = call.roles else { continue };
            let point = self.point(call.rank, roles);
            if roles.tells {
                let before = self.world.end_of(caller, call.stream);
                self.world.graph.connect(before, point);
            }
            points.extend(roles.learns.then_some((call.stream, point)));
        }
        for Kept { rank, stream, accesses, step, .. } in calls {
            let caller = Caller { step, ..caller.clone() };
            if let Some(&last) = self.exchanges.last.get(&rank) {
                self.world.follow(&caller, stream, last);
            }
            if let Some(node) = self.world.queue(&caller, stream, accesses) {
                self.exchanges.last.insert(rank, node);
            }
        }
        points.into_iter().for_each(|(stream, point)| self.world.follow(caller, stream, point));
    }

    /// The point of a rank's next exchange of a kind, which all ranks share.
    fn point(&mut self, rank: Rank, roles: Roles) -> NodeId {
        let number = self.exchanges.counts.entry((rank, roles.peers)).or_default();
        let exchange = match roles.peers {
            Some((from, to)) => Exchange::Message { id: rank.id, from, to, number: *number },
            None => Exchange::All { id: rank.id, number: *number },
        };
        *number += 1;
        let graph = &mut self.world.graph;
        *self.exchanges.points.entry(exchange).or_insert_with(|| graph.add([]))
    }
}

fn roles(name: &str, call: &Call<'_>, rank: Rank) -> Option<Roles> {
    let of_root = |tells: fn(bool) -> bool, learns: fn(bool) -> bool| {
        let is_root = call.int(4)? == rank.rank;
        Some(Roles { tells: tells(is_root), learns: learns(is_root), peers: None })
    };
    match name {
        "broadcast" => of_root(|is_root| is_root, |is_root| !is_root),
        "reduce" => of_root(|_| true, |is_root| is_root),
        "send" => Some(Roles { tells: true, learns: false, peers: Some((rank.rank, call.int(3)?)) }),
        "recv" => Some(Roles { tells: false, learns: true, peers: Some((call.int(3)?, rank.rank)) }),
        _ => Some(Roles { tells: true, learns: true, peers: None }),
    }
}
