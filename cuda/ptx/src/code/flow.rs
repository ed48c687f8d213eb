//! The points where the paths of a branch meet, and the final order of instructions.
//!
//! Lanes that diverge at a branch meet at its immediate post-dominator: the first point that every
//! path to the function's end goes through. The label of such a point remains as an instruction, at
//! which lanes wait for each other. Other labels disappear.

use super::dominators::{NOWHERE, immediate_dominators};
use crate::exec::level::Handlers;
use crate::exec::program::Unlinked;
use crate::exec::slots::{Fields, Mismatch};
use crate::exec::{control_flow, warp};

/// A label of a function under translation.
pub(super) type Label = u32;

/// Where control continues after an instruction.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Control {
    /// At the next instruction.
    Next,
    /// This instruction is a label.
    Label(Label),
    /// At a label.
    Jump(Label),
    /// At a label, or at the next instruction.
    JumpIf(Label),
    /// At one of several labels.
    JumpTable(Vec<Label>),
    /// At the next instruction, or again at this one. Lanes meet at a label.
    CallIndirect(Label),
    /// Nowhere: the function ends.
    End,
}

/// An instruction under translation.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) handlers: Handlers,
    pub(super) fields: Fields,
    pub(super) control: Control,
    pub(super) origin: u32,
    /// Whether lanes may have to wait in it.
    pub(super) waits: bool,
}

/// Returns the instructions of a function in their final order, with their origins. `start` is the
/// position of the first one in the program. Jump tables are added to `targets`. Fails if an
/// instruction does not fit its handler.
pub(super) fn lay_out(
    drafts: &[Draft],
    labels: u32,
    start: u32,
    targets: &mut Vec<u32>,
) -> Result<Vec<(Unlinked, u32)>, Mismatch> {
    let graph = Graph::new(drafts, labels);
    let meets = graph.meeting_labels(drafts);
    let mut kept = vec![false; labels as usize];
    for label in meets.iter().flatten() {
        kept[*label as usize] = true;
    }
    let mut position = vec![0; labels as usize];
    let mut at = start;
    for draft in drafts {
        match draft.control {
            Control::Label(label) => {
                position[label as usize] = at;
                at += u32::from(kept[label as usize]);
            }
            _ => at += 1,
        }
    }
    let mut code = Vec::with_capacity(drafts.len());
    for (draft, meet) in drafts.iter().zip(&meets) {
        let Draft { mut handlers, mut fields, .. } = *draft;
        let meet = meet.map_or(warp::NONE, |label| position[label as usize]);
        match &draft.control {
            Control::Label(label) if !kept[*label as usize] => continue,
            Control::Label(_) => handlers = Handlers::uniform(control_flow::meet),
            Control::Jump(label) => fields = fields.imm(position[*label as usize].into()),
            Control::JumpIf(label) => {
                fields = fields.imm(position[*label as usize].into()).c(meet);
            }
            Control::JumpTable(labels) => {
                let (start, count) = (targets.len() as u32, labels.len() as u32);
                fields = fields.b(start).d(count).c(meet);
                targets.extend(labels.iter().map(|label| position[*label as usize]));
            }
            Control::CallIndirect(_) => fields = fields.c(meet),
            Control::Next | Control::End => {}
        }
        code.push((Unlinked::new(handlers, fields)?, draft.origin));
    }
    Ok(code)
}

/// Basic blocks and their edges. The last block is the function's end.
struct Graph {
    /// The block of each draft.
    block_of: Vec<usize>,
    /// The label at the start of each block, if there is one.
    label_of: Vec<Option<Label>>,
    successors: Vec<Vec<usize>>,
}

impl Graph {
    fn new(drafts: &[Draft], labels: u32) -> Graph {
        let mut block_of = Vec::with_capacity(drafts.len());
        let mut label_of: Vec<Option<Label>> = vec![None];
        let mut block_with = vec![NOWHERE; labels as usize];
        let mut ended = false;
        for draft in drafts {
            let label = if let Control::Label(label) = draft.control { Some(label) } else { None };
            if !block_of.is_empty() && (ended || label.is_some()) {
                label_of.push(None);
            }
            let block = label_of.len() - 1;
            if let Some(label) = label {
                label_of[block] = Some(label);
                block_with[label as usize] = block;
            }
            block_of.push(block);
            ended = !matches!(draft.control, Control::Next | Control::Label(_) | Control::CallIndirect(_));
        }
        let exit = label_of.len();
        label_of.push(None);
        let mut successors = vec![Vec::new(); exit + 1];
        for (index, draft) in drafts.iter().enumerate() {
            let block = block_of[index];
            let last = block_of.get(index + 1) != Some(&block);
            let next = if block + 1 < exit { block + 1 } else { exit };
            let to = |label: &Label| block_with[*label as usize];
            match &draft.control {
                Control::Jump(label) => successors[block].push(to(label)),
                Control::JumpIf(label) => successors[block].extend([to(label), next]),
                Control::JumpTable(targets) => successors[block].extend(targets.iter().map(to)),
                Control::End => successors[block].push(exit),
                _ if last => successors[block].push(next),
                _ => {}
            }
        }
        Graph { block_of, label_of, successors }
    }

    /// Returns, for each draft at which lanes diverge, the label where they meet.
    fn meeting_labels(&self, drafts: &[Draft]) -> Vec<Option<Label>> {
        let immediate = self.post_dominators();
        let meet = |(index, draft): (usize, &Draft)| match draft.control {
            Control::JumpIf(_) | Control::JumpTable(_) => {
                let meet = immediate[self.block_of[index]];
                if meet == NOWHERE { None } else { self.label_of[meet] }
            }
            Control::CallIndirect(label) => Some(label),
            _ => None,
        };
        drafts.iter().enumerate().map(meet).collect()
    }

    /// Returns the immediate post-dominator of each block, or [`NOWHERE`] for blocks from which the
    /// end cannot be reached.
    fn post_dominators(&self) -> Vec<usize> {
        let exit = self.successors.len() - 1;
        let mut predecessors = vec![Vec::new(); exit + 1];
        for (block, successors) in self.successors.iter().enumerate() {
            for &successor in successors {
                predecessors[successor].push(block);
            }
        }
        immediate_dominators(&predecessors, exit)
    }
}
