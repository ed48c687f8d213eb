//! [`Layout`]: a checked plan with the lookup tables that the executor uses at each step.

use tfrt_host::Diagnostic;

use super::plan::{GraphPlan, Input, NodeKind};

/// The consumer of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Consumer {
    /// An input of a node.
    Data(u32, u32),
    /// A fetch of the graph.
    Fetch(u32),
}

/// A node within its frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Local {
    /// The index among the nodes of its frame.
    pub(super) index: usize,
    /// The index of its first input among those of its frame.
    pub(super) slots: usize,
    /// The number of inputs that it waits for, without the data inputs of a Merge.
    pub(super) missing: u32,
    /// The number of data inputs of a Merge that can arrive in the first iteration, and in others.
    pub(super) candidates: [u32; 2],
    /// The consumers of each output.
    pub(super) consumers: Vec<Vec<Consumer>>,
    /// The nodes that take its control output.
    pub(super) control_consumers: Vec<u32>,
    /// Whether a fetch of the graph needs its control output.
    pub(super) is_fetched: bool,
}

/// The nodes of a frame.
#[derive(Clone, Debug, Default)]
pub(super) struct FrameLayout {
    pub(super) nodes: Vec<u32>,
    pub(super) slot_count: usize,
    pub(super) exits: Vec<u32>,
    pub(super) enter_count: u32,
    pub(super) parallel_iterations: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) plan: GraphPlan,
    pub(super) locals: Vec<Local>,
    pub(super) frames: Vec<FrameLayout>,
}

/// The greatest number of outputs of all nodes together.
const MAX_OUTPUTS: u64 = 1 << 22;

impl Layout {
    /// Checks a plan for a graph with this many arguments and functions.
    ///
    /// # Errors
    /// InvalidArgument, naming the node that does not fit.
    pub(super) fn new(plan: GraphPlan, arguments: usize, functions: usize) -> Result<Self, Diagnostic> {
        check_frames(&plan)?;
        if plan.nodes.iter().map(|node| u64::from(node.outputs)).sum::<u64>() > MAX_OUTPUTS {
            return Err(wrong(&plan.place, "the nodes of the graph have too many outputs"));
        }
        for number in 0..plan.nodes.len() {
            check_node(&plan, number, arguments, functions)
                .map_err(|message| wrong(&plan.nodes[number].place, &message))?;
        }
        for &fetch in &plan.fetches {
            check_input(&plan, fetch, plan.nodes.len(), 0, arguments)
                .map_err(|message| wrong(&plan.place, &message))?;
        }
        let is_node = |&node: &u32| plan.nodes.get(node as usize).is_some_and(|node| node.output_frame == 0);
        if !plan.fetch_controls.iter().all(is_node) {
            return Err(wrong(&plan.place, "takes control from a node in a loop, or from none"));
        }
        Ok(Self::of_checked(plan))
    }

    fn of_checked(plan: GraphPlan) -> Self {
        let mut locals: Vec<Local> = plan
            .nodes
            .iter()
            .map(|node| Local { consumers: vec![Vec::new(); node.outputs as usize], ..Local::default() })
            .collect();
        let mut frames: Vec<FrameLayout> = plan
            .frames
            .iter()
            .map(|frame| FrameLayout {
                parallel_iterations: (frame.parallel_iterations as usize).max(1),
                ..FrameLayout::default()
            })
            .collect();
        for (number, node) in plan.nodes.iter().enumerate() {
            let frame = &mut frames[node.frame as usize];
            let own = number as u32;
            locals[number].index = frame.nodes.len();
            locals[number].slots = frame.slot_count;
            frame.nodes.push(own);
            frame.slot_count += node.inputs.len();
            match node.kind {
                NodeKind::Exit => frame.exits.push(own),
                NodeKind::Enter { .. } => frames[node.output_frame as usize].enter_count += 1,
                _ => {}
            }
            locals[number].missing = node.controls.len() as u32;
            for &control in &node.controls {
                locals[control as usize].control_consumers.push(own);
            }
            for (slot, input) in (0..).zip(&node.inputs) {
                let Input::Output(from, output) = *input else {
                    locals[number].candidates[0] += 1;
                    continue;
                };
                locals[from as usize].consumers[output as usize].push(Consumer::Data(own, slot));
                if node.kind != NodeKind::Merge {
                    locals[number].missing += 1;
                    continue;
                }
                let [first, later] = match plan.nodes[from as usize].kind {
                    NodeKind::Source => [0, 1],
                    NodeKind::Enter { is_constant: false } => [1, 0],
                    _ => [1, 1],
                };
                locals[number].candidates[0] += first;
                locals[number].candidates[1] += later;
            }
        }
        for (index, fetch) in (0..).zip(&plan.fetches) {
            if let Input::Output(node, output) = *fetch {
                locals[node as usize].consumers[output as usize].push(Consumer::Fetch(index));
            }
        }
        for &node in &plan.fetch_controls {
            locals[node as usize].is_fetched = true;
        }
        Self { plan, locals, frames }
    }
}

fn wrong(place: &str, message: &str) -> Diagnostic {
    Diagnostic::invalid_argument(format!("{place}: {message}"))
}

fn check_frames(plan: &GraphPlan) -> Result<(), Diagnostic> {
    let is_ordered = |(number, frame): (usize, &super::plan::GraphFrame)| {
        (frame.parent as usize) < number || (number == 0 && frame.parent == 0)
    };
    if plan.frames.is_empty() || !plan.frames.iter().enumerate().all(is_ordered) {
        return Err(wrong(&plan.place, "the frames of the graph do not form a tree"));
    }
    Ok(())
}

/// Checks that an input comes from an argument, or from a node before `number` whose outputs are in
/// `frame`.
fn check_input(
    plan: &GraphPlan,
    input: Input,
    number: usize,
    frame: u32,
    arguments: usize,
) -> Result<(), String> {
    let fits = match input {
        Input::Argument(argument) => (argument as usize) < arguments,
        Input::Output(node, output) => plan.nodes.get(node as usize).is_some_and(|from| {
            (node as usize) < number && output < from.outputs && from.output_frame == frame
        }),
    };
    if fits { Ok(()) } else { Err(format!("an input, {input:?}, is in another frame or does not exist")) }
}

fn check_node(plan: &GraphPlan, number: usize, arguments: usize, functions: usize) -> Result<(), String> {
    let node = &plan.nodes[number];
    let (Some(frame), Some(output)) =
        (plan.frames.get(node.frame as usize), plan.frames.get(node.output_frame as usize))
    else {
        return Err("is in a frame that does not exist".to_owned());
    };
    for &input in &node.inputs {
        check_input(plan, input, number, node.frame, arguments)?;
    }
    for &control in &node.controls {
        check_control(plan, control, number, node.frame)?;
    }
    let inner = node.output_frame != 0 && output.parent == node.frame;
    let fits = match node.kind {
        NodeKind::Enter { .. } => inner,
        NodeKind::Exit => node.frame != 0 && frame.parent == node.output_frame,
        _ => node.frame == node.output_frame,
    };
    if !fits {
        return Err("leads into a frame that is not the next one".to_owned());
    }
    let has_arguments = node.inputs.iter().any(|input| matches!(input, Input::Argument(_)));
    let shape = (node.inputs.len(), node.outputs);
    let fits = match node.kind {
        NodeKind::Island(function) => (function as usize) < functions,
        NodeKind::Forward => node.outputs as usize == node.inputs.len(),
        NodeKind::Switch => shape == (2, 2),
        NodeKind::SwitchN(count) => shape == (2, count),
        NodeKind::Merge => shape.0 > 0 && shape.1 == 2 && (node.frame == 0 || !has_arguments),
        NodeKind::Enter { .. } | NodeKind::Exit | NodeKind::LoopCond => shape == (1, 1),
        NodeKind::Source => shape == (0, 1) && node.controls.is_empty(),
        NodeKind::Sink(source) => {
            let source = plan.nodes.get(source as usize);
            let is_source = |source: &super::plan::GraphNode| {
                source.kind == NodeKind::Source && source.frame == node.frame && node.frame != 0
            };
            shape == (1, 0) && source.is_some_and(is_source)
        }
        NodeKind::ControlTrigger => shape == (0, 0),
        NodeKind::Send(key) => shape == (1, 0) && (key as usize) < plan.keys.len(),
        NodeKind::Recv(key) => shape == (0, 1) && (key as usize) < plan.keys.len(),
    };
    if fits { Ok(()) } else { Err("does not fit its inputs and outputs".to_owned()) }
}

fn check_control(plan: &GraphPlan, control: u32, number: usize, frame: u32) -> Result<(), String> {
    let from = plan.nodes.get(control as usize);
    let fits = from.is_some_and(|from| (control as usize) < number && from.output_frame == frame);
    if fits { Ok(()) } else { Err("a control input is in another frame or does not exist".to_owned()) }
}
