//! [`Body`]: the nodes of a graph or function with their edges, and the order in which they are imported.

use std::{collections::HashMap, sync::Arc};

use super::{
    ops, outputs,
    proto::{Attr, FunctionDef, NodeDef},
};

/// Where an input of a node comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Source {
    /// An argument of the function.
    Argument(usize),
    /// An output of a node.
    Output(usize, usize),
}

/// The functions of a graph, by name.
pub(super) type Library = HashMap<String, Arc<FunctionDef>>;

/// The nodes of a graph or function.
pub(super) struct Body<'p> {
    pub(super) nodes: &'p [NodeDef],
    index: HashMap<&'p str, usize>,
    arguments: HashMap<&'p str, usize>,
    is_function: bool,
    /// The names of the outputs of nodes whose op is a function.
    called: HashMap<usize, Vec<String>>,
    /// The inputs of each node, and the nodes that come before it.
    edges: Vec<(Vec<Source>, Vec<usize>)>,
}

/// The ops that send a tensor, and those that receive one.
const SENDERS: [&str; 2] = ["_HostSend", "_Send"];
const RECEIVERS: [&str; 2] = ["_HostRecv", "_Recv"];

/// The name under which a node of one of these ops sends or receives.
fn key<'p>(node: &'p NodeDef, ops: &[&str]) -> Option<&'p [u8]> {
    match node.attr.get("tensor_name")?.value.as_ref()? {
        Attr::S(name) if ops.contains(&node.op.as_str()) => Some(name),
        _ => None,
    }
}

/// The nodes that send, by the names under which they do.
fn sent(nodes: &[NodeDef]) -> HashMap<&[u8], usize> {
    nodes.iter().enumerate().filter_map(|(number, node)| Some((key(node, &SENDERS)?, number))).collect()
}

/// The names of the outputs of nodes whose op is a function, by the number of the node.
fn called(nodes: &[NodeDef], library: &Library) -> HashMap<usize, Vec<String>> {
    let outputs = |(number, node): (usize, &NodeDef)| {
        let signature = library.get(&node.op)?.signature.as_ref()?;
        Some((number, signature.output_arg.iter().map(|output| output.name.clone()).collect()))
    };
    nodes.iter().enumerate().filter_map(outputs).collect()
}

/// What cannot be made of nodes, with the number of the node.
pub(super) type BodyError = (Option<usize>, String);

impl<'p> Body<'p> {
    /// The nodes of a graph, which may call functions in `library` by their names.
    pub(super) fn of_graph(nodes: &'p [NodeDef], library: &Library) -> Result<Self, BodyError> {
        Self::new(nodes, None, library)
    }

    /// The nodes of a function, which may call others in `library` by their names.
    pub(super) fn of_function(function: &'p FunctionDef, library: &Library) -> Result<Self, BodyError> {
        let arguments = function.signature.iter().flat_map(|signature| &signature.input_arg);
        let arguments = arguments.enumerate().map(|(index, argument)| (argument.name.as_str(), index));
        Self::new(&function.node_def, Some(arguments.collect()), library)
    }

    fn new(
        nodes: &'p [NodeDef],
        arguments: Option<HashMap<&'p str, usize>>,
        library: &Library,
    ) -> Result<Self, BodyError> {
        let mut index = HashMap::new();
        for (number, node) in nodes.iter().enumerate() {
            if index.insert(node.name.as_str(), number).is_some() {
                return Err((Some(number), format!("there are two nodes '{}'", node.name)));
            }
        }
        let (is_function, arguments) = (arguments.is_some(), arguments.unwrap_or_default());
        let called = called(nodes, library);
        let mut body = Self { nodes, index, arguments, is_function, called, edges: Vec::new() };
        let sent = sent(nodes);
        for (number, node) in nodes.iter().enumerate() {
            let (mut inputs, mut controls) = (Vec::new(), Vec::new());
            for name in &node.input {
                match name.strip_prefix('^') {
                    Some(name) => match body.find(name) {
                        Some(before) => controls.push(before),
                        // An argument is there before every node.
                        None if body.arguments.contains_key(name) => {}
                        None => return Err((Some(number), format!("its input '^{name}' does not exist"))),
                    },
                    None => inputs.push(body.source(name).map_err(|message| (Some(number), message))?),
                }
            }
            // What is received is what the node gives that sends it.
            if let Some(&sender) = key(node, &RECEIVERS).and_then(|key| sent.get(key))
                && let Some(data) = nodes[sender].input.first()
            {
                inputs.push(body.source(data).map_err(|message| (Some(sender), message))?);
                controls.push(sender);
            }
            body.edges.push((inputs, controls));
        }
        Ok(body)
    }

    /// The node of this name.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// What a name such as `node`, `node:1`, or in functions `argument` and `node:output:1`, stands
    /// for.
    pub(super) fn source(&self, name: &str) -> Result<Source, String> {
        let missing = || format!("its input '{name}' does not exist");
        let mut parts = name.split(':');
        let node_name = parts.next().unwrap_or_default();
        let (second, third) = (parts.next(), parts.next());
        if parts.next().is_some() {
            return Err(missing());
        }
        let numbered = |text: &str| text.parse::<usize>().map_err(|_| missing());
        if let Some(&argument) = self.arguments.get(node_name)
            && third.is_none()
        {
            return Ok(Source::Argument(argument));
        }
        let node = self.find(node_name).ok_or_else(missing)?;
        let output = match (second, third) {
            (None, _) => 0,
            (Some(index), None) if !self.is_function => {
                let index = numbered(index)?;
                let is_known = self.called.contains_key(&node) || ops::find(&self.nodes[node].op).is_some();
                if is_known && index >= self.outputs(node) {
                    return Err(format!("its input '{name}' is an output that does not exist"));
                }
                index
            }
            (Some(_), Some(_)) if !self.is_function => return Err(missing()),
            (Some(output), index) => {
                let index = index.map_or(Ok(0), numbered)?;
                // A function that is called by its own name gives its outputs by theirs.
                match self.called.get(&node) {
                    Some(names) if index == 0 => names.iter().position(|name| name == output),
                    Some(_) => None,
                    None => outputs::number(&self.nodes[node], output, index),
                }
                .ok_or_else(missing)?
            }
        };
        Ok(Source::Output(node, output))
    }

    /// How many outputs a node has.
    pub(super) fn outputs(&self, node: usize) -> usize {
        self.called.get(&node).map_or_else(|| outputs::count(&self.nodes[node]), Vec::len)
    }

    /// The inputs of a node.
    pub(super) fn inputs(&self, node: usize) -> &[Source] {
        &self.edges[node].0
    }

    /// The nodes that a node waits for without taking what they give.
    pub(super) fn controls(&self, node: usize) -> &[usize] {
        &self.edges[node].1
    }

    /// The nodes that a node takes inputs from or waits for.
    pub(super) fn dependencies(&self, node: usize) -> impl Iterator<Item = usize> {
        let (inputs, controls) = &self.edges[node];
        let makers = inputs.iter().filter_map(|source| match source {
            Source::Output(node, _) => Some(*node),
            Source::Argument(_) => None,
        });
        makers.chain(controls.iter().copied())
    }

    /// Whether the nodes are those of a function.
    pub(super) fn is_function(&self) -> bool {
        self.is_function
    }

    /// Whether an input of a node comes from the iteration before.
    pub(super) fn is_back_edge(&self, node: usize, source: Source) -> bool {
        let op = |node: usize| {
            let op = self.nodes[node].op.as_str();
            op.strip_prefix("Ref").unwrap_or(op)
        };
        matches!(source, Source::Output(before, _) if op(before) == "NextIteration" && op(node) == "Merge")
    }

    /// The nodes from which these can be reached, each behind those it needs. A node that begins an
    /// iteration needs none of the iteration before. `is_given` says what is known without its
    /// node.
    ///
    /// # Errors
    /// A node on a cycle.
    pub(super) fn order(
        &self,
        targets: impl IntoIterator<Item = usize>,
        is_given: impl Fn(Source) -> bool,
    ) -> Result<Vec<usize>, usize> {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            Open,
            Done,
        }
        let mut marks = vec![Mark::New; self.nodes.len()];
        let mut order = Vec::new();
        let mut wanted: Vec<usize> = targets.into_iter().collect();
        wanted.sort_unstable_by(|a, b| b.cmp(a));
        while let Some(target) = wanted.pop() {
            let mut stack = vec![(target, 0)];
            while let Some((node, next)) = stack.pop() {
                if next == 0 {
                    if marks[node] != Mark::New {
                        continue;
                    }
                    marks[node] = Mark::Open;
                }
                let (inputs, controls) = &self.edges[node];
                let before = match inputs.get(next) {
                    Some(&source) => match source {
                        Source::Output(before, _) if self.is_back_edge(node, source) => {
                            wanted.push(before);
                            None
                        }
                        Source::Output(before, _) if !is_given(source) => Some(before),
                        _ => None,
                    },
                    None => match controls.get(next - inputs.len()) {
                        Some(&before) if is_given(Source::Output(before, 0)) => None,
                        Some(&before) => Some(before),
                        None => {
                            marks[node] = Mark::Done;
                            order.push(node);
                            continue;
                        }
                    },
                };
                stack.push((node, next + 1));
                match before.map(|before| (before, marks[before])) {
                    Some((before, Mark::New)) => stack.push((before, 0)),
                    Some((before, Mark::Open)) => return Err(before),
                    _ => {}
                }
            }
        }
        Ok(order)
    }

    /// The nodes whose outputs no other node uses.
    pub(super) fn sinks(&self) -> Vec<usize> {
        let mut is_used = vec![false; self.nodes.len()];
        for (inputs, controls) in &self.edges {
            for source in inputs {
                if let Source::Output(node, _) = source {
                    is_used[*node] = true;
                }
            }
            for &node in controls {
                is_used[node] = true;
            }
        }
        (0..self.nodes.len()).filter(|&node| !is_used[node]).collect()
    }
}
