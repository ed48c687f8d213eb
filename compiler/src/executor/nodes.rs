//! [`Nodes`]: the nodes of a graph with their inputs.

use std::collections::{HashMap, HashSet};

use tfrt_ir::{Attribute, Module, OpId, ValueDef, ValueId};

use crate::dialect::tf_executor as dialect;

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Island,
    Switch,
    SwitchN,
    Merge,
    Enter {
        /// Whether its value is there in all iterations.
        is_constant: bool,
    },
    Exit,
    Source,
    /// With its source.
    Sink(usize),
    LoopCond,
    ControlTrigger,
    Send,
    Recv,
}

/// A value that a node uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Output {
    /// A value from outside of the graph.
    Outer(ValueId),
    /// An output of a node.
    Of(usize, usize),
}

/// A node.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) op: OpId,
    pub(crate) kind: Kind,
    /// The data that it takes; for an island, the values from outside that its ops use.
    pub(crate) inputs: Vec<Output>,
    /// The nodes whose control outputs it takes.
    pub(crate) controls: Vec<usize>,
}

/// The nodes of a graph, each after those whose outputs it uses, and what the graph gives.
#[derive(Clone, Debug)]
pub(crate) struct Nodes {
    pub(crate) list: Vec<Node>,
    pub(crate) fetch: OpId,
    pub(crate) fetches: Vec<Output>,
    pub(crate) fetch_controls: Vec<usize>,
}

impl Nodes {
    /// Reads the nodes of a verified graph; `None` if it is not one.
    pub(crate) fn read(module: &Module, graph: OpId) -> Option<Self> {
        let block = module.entry_block(*module.op(graph).regions.first()?)?;
        let fetch = module.last_op(block)?;
        let ops: Vec<OpId> = module.ops_in(block).map(|(op, _)| op).filter(|&op| op != fetch).collect();
        let numbers: HashMap<OpId, usize> = ops.iter().copied().zip(0..).collect();
        let reader = Reader { module, numbers };
        let list = ops.iter().map(|&op| reader.node(op)).collect::<Option<Vec<_>>>()?;
        let (fetches, fetch_controls) = reader.split(&module.op(fetch).operands);
        Some(Self { list, fetch, fetches, fetch_controls })
    }

    /// The operations of an island before its yield, and what it yields.
    pub(crate) fn island<'m>(&self, module: &'m Module, node: usize) -> (Vec<OpId>, &'m [ValueId]) {
        let block =
            module.op(self.list[node].op).regions.first().and_then(|&region| module.entry_block(region));
        let mut ops: Vec<OpId> =
            block.map(|block| module.ops_in(block).map(|(op, _)| op).collect()).unwrap_or_default();
        let end = ops.pop();
        (ops, end.map_or(&[], |end| &module.op(end).operands))
    }
}

struct Reader<'m> {
    module: &'m Module,
    numbers: HashMap<OpId, usize>,
}

impl Reader<'_> {
    fn node(&self, op: OpId) -> Option<Node> {
        let data = self.module.op(op);
        let kind = match data.name.as_str() {
            dialect::ISLAND => Kind::Island,
            dialect::SWITCH => Kind::Switch,
            dialect::SWITCH_N => Kind::SwitchN,
            dialect::MERGE => Kind::Merge,
            dialect::ENTER => {
                Kind::Enter { is_constant: data.attr(dialect::IS_CONSTANT) == Some(&Attribute::Bool(true)) }
            }
            dialect::EXIT => Kind::Exit,
            dialect::SOURCE => Kind::Source,
            dialect::SINK => {
                Kind::Sink(*self.numbers.get(&self.module.defining_op(*data.operands.first()?)?)?)
            }
            dialect::LOOP_COND => Kind::LoopCond,
            dialect::CONTROL_TRIGGER => Kind::ControlTrigger,
            dialect::SEND => Kind::Send,
            dialect::RECV => Kind::Recv,
            _ => return None,
        };
        let operands = if matches!(kind, Kind::Sink(_)) { data.operands.get(1..)? } else { &data.operands };
        let (mut inputs, controls) = self.split(operands);
        if kind == Kind::Island {
            inputs = self.captured(op);
        }
        Some(Node { op, kind, inputs, controls })
    }

    /// Data and control inputs. Control from outside of the graph is there from the start.
    fn split(&self, operands: &[ValueId]) -> (Vec<Output>, Vec<usize>) {
        let (mut data, mut controls) = (Vec::new(), Vec::new());
        for &operand in operands {
            match (dialect::is_control(self.module.value_type(operand)), self.output(operand)) {
                (true, Output::Of(node, _)) => controls.push(node),
                (true, Output::Outer(_)) => {}
                (false, output) => data.push(output),
            }
        }
        (data, controls)
    }

    fn output(&self, value: ValueId) -> Output {
        match self.module.value(value).def {
            ValueDef::Result { op, index } if self.numbers.contains_key(&op) => {
                Output::Of(self.numbers[&op], index as usize)
            }
            _ => Output::Outer(value),
        }
    }

    /// The values from outside that the operations of an island use, each once.
    fn captured(&self, island: OpId) -> Vec<Output> {
        let inside = |value: ValueId| {
            let owner = match self.module.value(value).def {
                ValueDef::Result { op, .. } => Some(op),
                ValueDef::Argument { block, .. } => self.module.block_owner(block),
                ValueDef::Undefined => None,
            };
            owner.is_some_and(|owner| owner != island && self.module.is_inside(owner, island))
        };
        let mut seen = HashSet::new();
        let mut captured = Vec::new();
        for op in self.module.walk(island).skip(1) {
            for &operand in &self.module.op(op).operands {
                if seen.insert(operand) && !inside(operand) {
                    captured.push(self.output(operand));
                }
            }
        }
        captured
    }
}
