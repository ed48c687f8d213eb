//! Turns: calls of a program that shares its memory between them, one after the other.
//!
//! A program that planned its memory has one arena, and a call may touch it when the call before
//! has queued all its work. `tfrt_cuda.turn.take` gives a turn when the last one was given back. A
//! turn that a failed call drops is given back too.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use tfrt_host::work_queue::Task;
use tfrt_host::{Arg, AsyncValueRef, Chain, ExecutionContext, KernelRegistry, Promise, value_type};

use crate::follow;

/// Who may go, and who waits.
#[derive(Default)]
struct State {
    is_taken: bool,
    waiting: VecDeque<(ExecutionContext, Promise<Turn>)>,
}

/// A source of turns. Clones share it.
#[derive(Clone, Default)]
struct Turns(Arc<Mutex<State>>);

value_type!(Turns, "!tfrt_cuda.turns");

impl fmt::Display for Turns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("turns")
    }
}

impl Turns {
    /// Passes the turn to the next one that waits, on the work queue.
    fn pass(&self) {
        let mut state = self.0.lock();
        let Some((cx, promise)) = state.waiting.pop_front() else {
            state.is_taken = false;
            return;
        };
        drop(state);
        let turn = Turn(Mutex::new(Some(self.clone())));
        // A task that is refused is dropped, and with it the turn, which passes it on.
        cx.host().clone().add_task(Task::new(move || promise.emplace(turn)));
    }
}

/// The right to use the memory; empty once it was given back.
struct Turn(Mutex<Option<Turns>>);

value_type!(Turn, "!tfrt_cuda.turn");

impl fmt::Display for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a turn")
    }
}

impl Turn {
    fn give_back(&self) {
        let turns = self.0.lock().take();
        if let Some(turns) = turns {
            turns.pass();
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.give_back();
    }
}

fn take(
    turns: Arg<Turns>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> (AsyncValueRef<Turn>, AsyncValueRef<Chain>) {
    let mut state = turns.0.lock();
    if !state.is_taken {
        state.is_taken = true;
        let turn = Turn(Mutex::new(Some(turns.clone())));
        return (AsyncValueRef::available(turn), AsyncValueRef::available(Chain));
    }
    let (promise, turn) = Promise::new();
    state.waiting.push_back((cx.clone(), promise));
    drop(state);
    let chain = follow(&turn);
    (turn, chain)
}

fn give_back(turn: Arg<Turn>, _chain: Chain) -> Chain {
    turn.give_back();
    Chain
}

pub(crate) fn register(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_cuda.turn.create", |_chain: Chain| (Turns::default(), Chain))
        .side_effecting()
        .doc("Returns a source of turns, for calls that share memory.");
    registry.add("tfrt_cuda.turn.take", take).side_effecting().doc(
        "Takes a turn. The turn and the chain come when the last turn was given back, in the order of the requests.",
    );
    registry
        .add("tfrt_cuda.turn.give_back", give_back)
        .side_effecting()
        .doc("Gives a turn back, behind all work of the call that was queued.");
}
