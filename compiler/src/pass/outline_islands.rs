//! Makes functions of the islands of graphs that stay, and a table of each graph for the direct
//! executor.

use tfrt_eager::graph::{GraphFrame, GraphNode, GraphPlan, Input, NodeKind};
use tfrt_ir::{Attribute, FunctionType, InsertionPoint, Location, Module, OpId, OpState, ValueId, ValueMap};

use crate::{
    Evaluator, Graph,
    dialect::tf_executor::{GRAPH, KEY, NUM_OUTS},
    executor::{Frames, Kind, Nodes, Output},
    import::onnx::RETURN,
};

/// The operation that a graph becomes.
pub(crate) const EXECUTE: &str = "tfrt.ExecuteGraph";
/// The attribute that lists the functions of its islands.
pub(crate) const ISLANDS: &str = "islands";
/// The attribute with the numbers of its table.
pub(crate) const PLAN: &str = "plan";
/// The attribute with the texts of its table.
pub(crate) const TEXTS: &str = "texts";

/// Replaces each graph. One whose frames cannot be told stays, and lowering reports it.
pub(super) fn run(graph: &mut Graph, _: &Evaluator) {
    let mut kept = Vec::new();
    while let Some(op) = next_graph(&graph.module, &kept) {
        if outline(&mut graph.module, op).is_err() {
            kept.push(op);
        }
    }
}

fn next_graph(module: &Module, kept: &[OpId]) -> Option<OpId> {
    module.walk(module.root()).find(|op| module.op(*op).name == GRAPH && !kept.contains(op))
}

/// What is wrong with the frames of a graph, and the node where it shows.
pub(crate) fn misplaced(module: &Module, graph: OpId) -> Option<(Location, String)> {
    let Some(nodes) = Nodes::read(module, graph) else {
        return Some((module.op(graph).location.clone(), "is not a valid graph".to_owned()));
    };
    let (node, why) = Frames::find(module, &nodes).err()?;
    let op = nodes.list.get(node).map_or(graph, |node| node.op);
    Some((module.op(op).location.clone(), format!("'{}' {why}", module.op(op).name)))
}

struct Outline<'m> {
    module: &'m mut Module,
    nodes: &'m Nodes,
    /// The values from outside that the graph uses.
    arguments: Vec<ValueId>,
    islands: Vec<Attribute>,
    keys: Vec<String>,
}

fn outline(module: &mut Module, graph: OpId) -> Result<(), ()> {
    let nodes = Nodes::read(module, graph).ok_or(())?;
    let frames = Frames::find(module, &nodes).map_err(drop)?;
    let mut outline =
        Outline { module, nodes: &nodes, arguments: Vec::new(), islands: Vec::new(), keys: Vec::new() };
    let plan = outline.plan(&frames);
    outline.ensure_island(graph);
    let Outline { arguments, islands, .. } = outline;
    let (words, texts) = plan.encode();
    let words = words.into_iter().map(Attribute::i64).collect::<Vec<_>>();
    let texts = texts.into_iter().map(Attribute::string).collect::<Vec<_>>();
    let data = module.op(graph);
    let state = OpState::new(EXECUTE)
        .operands(arguments)
        .results(module.result_types(graph))
        .attr(ISLANDS, Attribute::array(islands))
        .attr(PLAN, Attribute::array(words))
        .attr(TEXTS, Attribute::array(texts))
        .at(data.location.clone());
    let op = module.create_op(state);
    module.insert_op(InsertionPoint::Before(graph), op);
    let results = module.op(op).results.clone();
    module.replace_op(graph, &results);
    Ok(())
}

impl Outline<'_> {
    fn plan(&mut self, frames: &Frames) -> GraphPlan {
        let nodes = (0..self.nodes.list.len()).map(|number| self.node(number, frames)).collect();
        let fetches = self.nodes.fetches.iter().map(|&fetch| self.input(fetch)).collect();
        let frames = frames.list.iter().map(|frame| GraphFrame {
            parent: frame.parent.unwrap_or_default() as u32,
            parallel_iterations: frame.parallel_iterations,
        });
        GraphPlan {
            nodes,
            frames: frames.collect(),
            fetches,
            fetch_controls: numbers(&self.nodes.fetch_controls),
            place: self.place(self.nodes.fetch),
            keys: std::mem::take(&mut self.keys),
        }
    }

    fn node(&mut self, number: usize, frames: &Frames) -> GraphNode {
        let node = &self.nodes.list[number];
        let data = self.module.op(node.op);
        let key = data.attr(KEY).and_then(Attribute::as_str).unwrap_or_default().to_owned();
        let mut outputs = data.results.len().saturating_sub(1) as u32;
        let mut inputs = node.inputs.clone();
        let kind = match node.kind {
            Kind::Island => {
                let (ops, yielded) = self.nodes.island(self.module, number);
                if ops.is_empty() {
                    // The inputs are read from what it uses; it may give some of them twice.
                    let yielded = yielded.to_vec();
                    inputs =
                        yielded.into_iter().map(|value| self.source(node.inputs.as_slice(), value)).collect();
                    NodeKind::Forward
                } else {
                    self.island(number)
                }
            }
            Kind::Switch => NodeKind::Switch,
            Kind::SwitchN => {
                let count = data.attr(NUM_OUTS).and_then(Attribute::as_int).unwrap_or_default();
                NodeKind::SwitchN(u32::try_from(count).unwrap_or_default())
            }
            Kind::Merge => NodeKind::Merge,
            Kind::Enter { is_constant } => NodeKind::Enter { is_constant },
            Kind::Exit => NodeKind::Exit,
            Kind::Source => {
                outputs = 1;
                NodeKind::Source
            }
            Kind::Sink(source) => {
                outputs = 0;
                NodeKind::Sink(source as u32)
            }
            Kind::LoopCond => NodeKind::LoopCond,
            Kind::ControlTrigger => NodeKind::ControlTrigger,
            Kind::Send => NodeKind::Send(self.key(key)),
            Kind::Recv => NodeKind::Recv(self.key(key)),
        };
        GraphNode {
            kind,
            frame: frames.of[number] as u32,
            output_frame: frames.outputs[number] as u32,
            outputs,
            inputs: inputs.into_iter().map(|input| self.input(input)).collect(),
            controls: numbers(&node.controls),
            place: self.place(node.op),
        }
    }

    /// The output that a value from outside of an island is.
    fn source(&self, inputs: &[Output], value: ValueId) -> Output {
        let is_it = |input: &&Output| match **input {
            Output::Outer(outer) => outer == value,
            Output::Of(node, output) => {
                self.module.op(self.nodes.list[node].op).results.get(output) == Some(&value)
            }
        };
        inputs.iter().find(is_it).copied().unwrap_or(Output::Outer(value))
    }

    fn input(&mut self, output: Output) -> Input {
        match output {
            Output::Of(node, output) => Input::Output(node as u32, output as u32),
            Output::Outer(value) => {
                let known = self.arguments.iter().position(|&argument| argument == value);
                let number = known.unwrap_or_else(|| {
                    self.arguments.push(value);
                    self.arguments.len() - 1
                });
                Input::Argument(number as u32)
            }
        }
    }

    fn key(&mut self, key: String) -> u32 {
        self.keys.push(key);
        self.keys.len() as u32 - 1
    }

    fn place(&self, op: OpId) -> String {
        let data = self.module.op(op);
        match data.location.file_position() {
            Some((file, line, column)) => format!("'{}' at {file}:{line}:{column}", data.name),
            None => format!("'{}'", data.name),
        }
    }

    /// Adds a function that is never called if there is none, for programs have no empty lists of
    /// functions.
    fn ensure_island(&mut self, graph: OpId) {
        if !self.islands.is_empty() {
            return;
        }
        let name = self.unused_name();
        let location = self.module.op(graph).location.clone();
        let (_, block) = self.module.add_function(name.as_str(), FunctionType::default(), location.clone());
        let end = self.module.create_op(OpState::new(RETURN).at(location));
        self.module.append_op(block, end);
        self.islands.push(Attribute::symbol(name));
    }

    fn unused_name(&self) -> String {
        let first = self.module.functions().count();
        let mut names = (first..).map(|number| format!("island.{number}"));
        names.find(|name| self.module.function(name).is_none()).unwrap_or_default()
    }

    /// Makes a function of an island, whose arguments are its inputs.
    fn island(&mut self, number: usize) -> NodeKind {
        let node = &self.nodes.list[number];
        let values: Vec<ValueId> = node
            .inputs
            .iter()
            .map(|&input| match input {
                Output::Outer(value) => value,
                Output::Of(of, output) => self.module.op(self.nodes.list[of].op).results[output],
            })
            .collect();
        let (ops, yielded) = self.nodes.island(self.module, number);
        let yielded = yielded.to_vec();
        let location = self.module.op(node.op).location.clone();
        let ty =
            FunctionType { inputs: self.module.types_of(&values), results: self.module.types_of(&yielded) };
        let name = self.unused_name();
        let (_, block) = self.module.add_function(name.as_str(), ty, location.clone());
        let mut map = ValueMap::new();
        for (value, &argument) in values.into_iter().zip(&self.module.block(block).arguments) {
            map.insert(value, argument);
        }
        for op in ops {
            let copy = self.module.clone_op(op, &mut map);
            self.module.append_op(block, copy);
        }
        let results: Vec<ValueId> = yielded.into_iter().map(|value| map.get(value)).collect();
        let end = self.module.create_op(OpState::new(RETURN).operands(results).at(location));
        self.module.append_op(block, end);
        self.islands.push(Attribute::symbol(name));
        NodeKind::Island(self.islands.len() as u32 - 1)
    }
}

fn numbers(nodes: &[usize]) -> Vec<u32> {
    nodes.iter().map(|&node| node as u32).collect()
}
