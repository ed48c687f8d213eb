//! [`execute`]: runs the nodes of a graph as they become ready.
//!
//! One thread at a time runs nodes, and never waits. When the pending results of an island become
//! available, the thread that completes them continues with the nodes that became ready.

use std::sync::Arc;

use parking_lot::Mutex;
use tfrt_host::{
    AsyncValue, CancellationHook, Chain, Diagnostic, ExecutionContext, Function, IndirectPromise, Status,
    work_queue::Task,
};
use tfrt_tensor::{HostTensor, ScalarHostTensor};

use super::layout::Layout;
use super::plan::{GraphPlan, NodeKind};
use super::rendezvous::{Rendezvous, Token};
use super::state::{Ready, State};
use crate::kernels::condition::{Verdict, number, verdict};
use crate::{CoreRuntime, TensorHandle};

/// The number of nodes that run before other work gets its turn.
const MAX_NODES_AT_ONCE: usize = 4096;

/// A call of a graph.
pub(crate) struct Call {
    pub(crate) cx: ExecutionContext,
    pub(crate) plan: GraphPlan,
    pub(crate) functions: Vec<Function>,
    pub(crate) chain: AsyncValue,
    pub(crate) arguments: Vec<AsyncValue>,
    /// The promises of a chain and of the graph's results.
    pub(crate) results: Vec<IndirectPromise>,
}

/// The outcome of a node that did not finish immediately.
enum Outcome {
    /// The results of an island, the first of them a chain.
    Island(Vec<AsyncValue>),
    /// The value that decides a Switch has arrived, in host memory or as a handle.
    Decided(AsyncValue),
    Received(Token),
}

struct Inbox {
    state: Option<Box<State>>,
    outcomes: Vec<(Ready, Outcome)>,
    results: Option<Vec<IndirectPromise>>,
    /// The number of nodes that wait for something outside the graph.
    pending: usize,
    receiving: usize,
    hook: Option<CancellationHook>,
}

struct Run {
    cx: ExecutionContext,
    functions: Vec<Function>,
    chain: AsyncValue,
    rendezvous: Arc<Rendezvous>,
    inbox: Mutex<Inbox>,
}

/// Runs a graph.
///
/// # Errors
/// InvalidArgument for a plan that does not fit.
pub(crate) fn execute(call: Call) -> Result<(), (Diagnostic, Vec<IndirectPromise>)> {
    let Call { cx, plan, functions, chain, arguments, results } = call;
    let layout = match Layout::new(plan, arguments.len(), functions.len()) {
        Ok(layout) => layout,
        Err(error) => return Err((error, results)),
    };
    let state = Box::new(State::new(Arc::new(layout), arguments));
    let rendezvous = cx.resources().only_or_create(Arc::<Rendezvous>::default).clone();
    let inbox = Inbox {
        state: Some(state),
        outcomes: Vec::new(),
        results: Some(results),
        pending: 0,
        receiving: 0,
        hook: None,
    };
    let run = Arc::new(Run { cx, functions, chain, rendezvous, inbox: Mutex::new(inbox) });
    Run::advance(&run);
    Ok(())
}

impl Run {
    /// Runs nodes until none is ready. Returns immediately if another thread is running nodes.
    fn advance(self: &Arc<Self>) {
        let Some(mut state) = self.inbox.lock().state.take() else { return };
        let mut left = MAX_NODES_AT_ONCE;
        loop {
            while let Some(ready) = state.queue.pop_front() {
                if let Err(error) = self.run(&mut state, ready) {
                    return self.fail(error);
                }
                state.settle();
                left -= 1;
                if left == 0 {
                    break;
                }
            }
            state.settle();
            if let Some(reason) = self.cx.request().cancellation() {
                return self.fail(AsyncValue::from_error(reason.clone()));
            }
            if left == 0 {
                self.inbox.lock().state = Some(state);
                let run = self.clone();
                return self.cx.host().clone().add_task(Task::new(move || run.advance()));
            }
            let outcomes = {
                let mut inbox = self.inbox.lock();
                if inbox.outcomes.is_empty() && !state.is_done {
                    if inbox.pending > 0 {
                        inbox.state = Some(state);
                        return;
                    }
                    drop(inbox);
                    return self.fail_stuck(&state);
                }
                std::mem::take(&mut inbox.outcomes)
            };
            if state.is_done {
                return self.end(&state);
            }
            for (ready, outcome) in outcomes {
                let ended = match outcome {
                    Outcome::Island(results) => self.end_island(&mut state, ready, results),
                    Outcome::Decided(value) => self.switch(&mut state, ready, Some(value)),
                    Outcome::Received(token) => {
                        state.finish(ready, std::slice::from_ref(&token), token.is_some());
                        Ok(())
                    }
                };
                if let Err(error) = ended {
                    return self.fail(error);
                }
            }
            state.settle();
        }
    }

    /// Delivers the outcome of a node that did not finish immediately.
    fn complete(self: &Arc<Self>, ready: Ready, outcome: Outcome) {
        {
            let mut inbox = self.inbox.lock();
            inbox.pending = inbox.pending.saturating_sub(1);
            if matches!(outcome, Outcome::Received(_)) {
                inbox.receiving = inbox.receiving.saturating_sub(1);
            }
            inbox.outcomes.push((ready, outcome));
        }
        self.advance();
    }

    fn run(self: &Arc<Self>, state: &mut State, ready: Ready) -> Result<(), AsyncValue> {
        let kind = state.layout.plan.nodes[ready.node as usize].kind;
        if kind != NodeKind::ControlTrigger && state.is_dead(ready) {
            if let NodeKind::Send(key) = kind {
                self.send(state, ready, key, None);
            }
            state.finish(ready, &[], false);
            return Ok(());
        }
        match kind {
            NodeKind::Island(function) => return self.call(state, ready, function),
            NodeKind::Switch | NodeKind::SwitchN(_) => return self.switch(state, ready, None),
            NodeKind::Merge => {
                let merged = state.merged(ready);
                let needs_index = !state.layout.locals[ready.node as usize].consumers[1].is_empty();
                let index = merged.as_ref().filter(|_| needs_index).map(|(index, _)| self.index(*index));
                let (is_live, value) = (merged.is_some(), merged.map(|(_, value)| value));
                state.finish(ready, &[value, index], is_live);
            }
            NodeKind::Send(key) => {
                let value = state.take_inputs(ready).into_iter().next();
                self.send(state, ready, key, value);
                state.finish(ready, &[], true);
            }
            NodeKind::Recv(key) => self.receive(state, ready, key),
            NodeKind::Source | NodeKind::ControlTrigger => state.finish(ready, &[], true),
            NodeKind::Forward
            | NodeKind::Enter { .. }
            | NodeKind::Exit
            | NodeKind::Sink(_)
            | NodeKind::LoopCond => {
                let outputs: Vec<Token> = state.take_inputs(ready).into_iter().map(Some).collect();
                state.finish(ready, &outputs, true);
            }
        }
        Ok(())
    }

    fn call(self: &Arc<Self>, state: &mut State, ready: Ready, function: u32) -> Result<(), AsyncValue> {
        let Some(function) = self.functions.get(function as usize) else { return Ok(()) };
        let arguments = std::iter::once(self.chain.clone()).chain(state.take_inputs(ready));
        let results = function.as_ref().execute(&self.cx, arguments);
        if results.iter().all(|result| result.status() == Status::Ready) {
            return self.end_island(state, ready, results);
        }
        self.inbox.lock().pending += 1;
        self.await_island(ready, results, 0);
        Ok(())
    }

    /// Waits for the results of an island, one by one.
    fn await_island(self: &Arc<Self>, ready: Ready, results: Vec<AsyncValue>, from: usize) {
        let pending = results.iter().skip(from).position(|result| result.status() == Status::Pending);
        let Some(pending) = pending.map(|offset| from + offset) else {
            return self.complete(ready, Outcome::Island(results));
        };
        let run = self.clone();
        results[pending].clone().and_then(move || run.await_island(ready, results, pending));
    }

    fn end_island(
        &self,
        state: &mut State,
        ready: Ready,
        results: Vec<AsyncValue>,
    ) -> Result<(), AsyncValue> {
        if let Some(failed) = results.iter().find(|result| result.status() == Status::Failed) {
            return Err(failed.clone());
        }
        let outputs: Vec<Token> = results.into_iter().skip(1).map(Some).collect();
        state.finish(ready, &outputs, true);
        Ok(())
    }

    /// Passes the data of a Switch on. If `decides` is not given, the second input decides. A value on
    /// a device is copied to the host first, and comes back with its copy as `decides`.
    fn switch(
        self: &Arc<Self>,
        state: &mut State,
        ready: Ready,
        decides: Option<AsyncValue>,
    ) -> Result<(), AsyncValue> {
        let kind = state.layout.plan.nodes[ready.node as usize].kind;
        let decides = decides.or_else(|| state.input(ready, 1));
        let (Some(data), Some(decides)) = (state.input(ready, 0), decides) else { return Ok(()) };
        let chosen = match kind {
            NodeKind::SwitchN(count) => match number(&decides, &self.cx) {
                Verdict::Known(number) => {
                    // A number that is not that of an output chooses the last one.
                    Verdict::Known(usize::try_from(number).unwrap_or(usize::MAX).min(count as usize - 1))
                }
                Verdict::Pending(value) => Verdict::Pending(value),
                Verdict::Failed(error) => Verdict::Failed(error),
            },
            _ => match verdict(&decides, &self.cx) {
                Verdict::Known(truth) => Verdict::Known(usize::from(truth)),
                Verdict::Pending(value) => Verdict::Pending(value),
                Verdict::Failed(error) => Verdict::Failed(error),
            },
        };
        match chosen {
            Verdict::Failed(error) => return Err(error),
            Verdict::Pending(value) => {
                self.inbox.lock().pending += 1;
                let run = self.clone();
                value.clone().and_then(move || run.complete(ready, Outcome::Decided(value)));
            }
            Verdict::Known(chosen) => {
                let mut outputs: Vec<Token> = vec![None; chosen];
                outputs.push(Some(data));
                state.finish(ready, &outputs, true);
            }
        }
        Ok(())
    }

    /// Returns the index of a Merge's input as a tensor.
    fn index(&self, index: u32) -> AsyncValue {
        let tensor = HostTensor::from(ScalarHostTensor::new([], index as i32));
        let device = CoreRuntime::of(self.cx.host()).host_device().clone();
        AsyncValue::new(TensorHandle::from_host(device, tensor))
    }

    fn key(&self, state: &mut State, ready: Ready, key: u32) -> String {
        let path = state.path(ready);
        format!("{}{path}", state.layout.plan.keys[key as usize])
    }

    fn send(&self, state: &mut State, ready: Ready, key: u32, token: Token) {
        let key = self.key(state, ready, key);
        self.rendezvous.send(key, token);
    }

    fn receive(self: &Arc<Self>, state: &mut State, ready: Ready, key: u32) {
        let key = self.key(state, ready, key);
        let needs_hook = {
            let mut inbox = self.inbox.lock();
            inbox.pending += 1;
            inbox.receiving += 1;
            inbox.hook.is_none()
        };
        if needs_hook {
            let run = Arc::downgrade(self);
            let hook = self.cx.request().when_cancelled(move |reason| {
                if let Some(run) = run.upgrade() {
                    run.fail(AsyncValue::from_error(reason.clone()));
                }
            });
            self.inbox.lock().hook = Some(hook);
        }
        let run = self.clone();
        self.rendezvous
            .receive(key, self.number(), move |token| run.complete(ready, Outcome::Received(token)));
    }

    /// Fulfils the promises of the graph's results.
    fn end(&self, state: &State) {
        let plan = &state.layout.plan;
        let dead = state.fetched.iter().position(|fetched| !matches!(fetched, Some(Some(_))));
        if let Some(dead) = dead {
            return self.fail(
                self.emit(format!(
                    "{}: operand {dead} is dead: no branch that gives it was taken",
                    plan.place
                )),
            );
        }
        if let Some(&node) = state.dead_controls.first() {
            let place = &plan.nodes[node as usize].place;
            return self.fail(self.emit(format!("{}: the control input from {place} is dead", plan.place)));
        }
        let Some(results) = self.take_results() else { return };
        let values =
            std::iter::once(AsyncValue::new(Chain)).chain(state.fetched.iter().flatten().flatten().cloned());
        results.into_iter().zip(values).for_each(|(promise, value)| promise.forward_to(value));
    }

    fn take_results(&self) -> Option<Vec<IndirectPromise>> {
        let (results, hook) = {
            let mut inbox = self.inbox.lock();
            (inbox.results.take(), inbox.hook.take())
        };
        drop(hook);
        results
    }

    fn emit(&self, message: String) -> AsyncValue {
        AsyncValue::from_error(self.cx.emit(Diagnostic::invalid_argument(message)))
    }

    /// Returns a number that is unique while the graph runs.
    fn number(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn fail(&self, error: AsyncValue) {
        for promise in self.take_results().unwrap_or_default() {
            promise.forward_to(error.clone());
        }
        if self.inbox.lock().receiving > 0 {
            self.rendezvous.forget(self.number());
        }
    }

    fn fail_stuck(&self, state: &State) {
        let plan = &state.layout.plan;
        let place =
            state.stuck().map_or(plan.place.as_str(), |node| plan.nodes[node as usize].place.as_str());
        self.fail(self.emit(format!("{place}: the graph waits for inputs that nothing gives")));
    }
}
