//! [`GraphPlan`]: the form of a graph in a program.
//!
//! It is encoded as a list of integers: the numbers of nodes, frames and fetches, followed by each
//! of them. A list of strings contains the location of each node, followed by the keys of Send and
//! Recv.

use tfrt_host::Diagnostic;

/// The operation of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// Calls the function of this number with a chain and the inputs.
    Island(u32),
    /// Returns its inputs.
    Forward,
    /// Returns its first input as its first output if its second one is false, else as its second
    /// output.
    Switch,
    /// Returns its first input as the output whose number is its second input.
    SwitchN(u32),
    /// Returns a live input, and its index.
    Merge,
    /// Passes its input into another frame, to all iterations if it is constant.
    Enter {
        /// Whether the value is available in all iterations.
        is_constant: bool,
    },
    /// Passes its input to the enclosing frame.
    Exit,
    /// Returns the input of its sink, in the next iteration.
    Source,
    /// Passes its input to the source with this number.
    Sink(u32),
    /// Returns its input, which decides whether its loop continues.
    LoopCond,
    /// Fires when its inputs have arrived, live or dead.
    ControlTrigger,
    /// Sends its input to the Recv of the key with this number.
    Send(u32),
    /// Returns the value of the Send of the key with this number.
    Recv(u32),
}

/// An input of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// An argument of the graph.
    Argument(u32),
    /// An output of a node.
    Output(u32, u32),
}

/// A node of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphNode {
    /// The operation.
    pub kind: NodeKind,
    /// The frame that it runs in.
    pub frame: u32,
    /// The frame of its outputs.
    pub output_frame: u32,
    /// The number of data outputs.
    pub outputs: u32,
    /// The data inputs.
    pub inputs: Vec<Input>,
    /// The nodes that run before it.
    pub controls: Vec<u32>,
    /// The location, for messages.
    pub place: String,
}

/// A frame of a graph. The first one encloses all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphFrame {
    /// The enclosing frame; its own number for the first one.
    pub parent: u32,
    /// The greatest number of iterations in flight.
    pub parallel_iterations: u32,
}

/// A graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphPlan {
    /// The nodes, each after those whose outputs it takes.
    pub nodes: Vec<GraphNode>,
    /// The frames, each after its enclosing frame.
    pub frames: Vec<GraphFrame>,
    /// The results of the graph.
    pub fetches: Vec<Input>,
    /// The nodes that must be live for the graph to be live.
    pub fetch_controls: Vec<u32>,
    /// The location of the fetches, for messages.
    pub place: String,
    /// The keys of Send and Recv.
    pub keys: Vec<String>,
}

impl NodeKind {
    fn encode(self) -> [i64; 2] {
        match self {
            NodeKind::Island(function) => [0, function.into()],
            NodeKind::Forward => [1, 0],
            NodeKind::Switch => [2, 0],
            NodeKind::SwitchN(count) => [3, count.into()],
            NodeKind::Merge => [4, 0],
            NodeKind::Enter { is_constant } => [5, is_constant.into()],
            NodeKind::Exit => [6, 0],
            NodeKind::Source => [7, 0],
            NodeKind::Sink(source) => [8, source.into()],
            NodeKind::LoopCond => [9, 0],
            NodeKind::ControlTrigger => [10, 0],
            NodeKind::Send(key) => [11, key.into()],
            NodeKind::Recv(key) => [12, key.into()],
        }
    }

    fn decode(kind: u32, extra: u32) -> Option<Self> {
        Some(match kind {
            0 => NodeKind::Island(extra),
            1 => NodeKind::Forward,
            2 => NodeKind::Switch,
            3 => NodeKind::SwitchN(extra),
            4 => NodeKind::Merge,
            5 => NodeKind::Enter { is_constant: extra != 0 },
            6 => NodeKind::Exit,
            7 => NodeKind::Source,
            8 => NodeKind::Sink(extra),
            9 => NodeKind::LoopCond,
            10 => NodeKind::ControlTrigger,
            11 => NodeKind::Send(extra),
            12 => NodeKind::Recv(extra),
            _ => return None,
        })
    }
}

impl Input {
    fn encode(self) -> [i64; 2] {
        match self {
            Input::Argument(number) => [-1, number.into()],
            Input::Output(node, output) => [node.into(), output.into()],
        }
    }
}

fn malformed(what: &str) -> Diagnostic {
    Diagnostic::invalid_argument(format!("the table of the graph is malformed: {what}"))
}

/// Reads integers one after another.
struct Words<'a>(std::slice::Iter<'a, i64>);

impl Words<'_> {
    fn word(&mut self) -> Result<i64, Diagnostic> {
        self.0.next().copied().ok_or_else(|| malformed("it ends too early"))
    }

    fn number(&mut self) -> Result<u32, Diagnostic> {
        u32::try_from(self.word()?).map_err(|_| malformed("a number is out of range"))
    }

    /// Reads a list, whose length comes first. Each item takes at least one word, so that few words
    /// cannot request much memory.
    fn list<T>(&mut self, item: impl Fn(&mut Self) -> Result<T, Diagnostic>) -> Result<Vec<T>, Diagnostic> {
        let count = self.number()? as usize;
        if count > self.0.len() {
            return Err(malformed("it ends too early"));
        }
        (0..count).map(|_| item(self)).collect()
    }

    fn input(&mut self) -> Result<Input, Diagnostic> {
        match self.word()? {
            -1 => Ok(Input::Argument(self.number()?)),
            node => {
                let node = u32::try_from(node).map_err(|_| malformed("a number is out of range"))?;
                Ok(Input::Output(node, self.number()?))
            }
        }
    }

    fn node(&mut self) -> Result<GraphNode, Diagnostic> {
        let (kind, extra) = (self.number()?, self.number()?);
        Ok(GraphNode {
            kind: NodeKind::decode(kind, extra).ok_or_else(|| malformed("there is no such node"))?,
            frame: self.number()?,
            output_frame: self.number()?,
            outputs: self.number()?,
            inputs: self.list(Self::input)?,
            controls: self.list(Self::number)?,
            place: String::new(),
        })
    }
}

impl GraphPlan {
    /// Encodes the plan as integers and strings.
    pub fn encode(&self) -> (Vec<i64>, Vec<String>) {
        fn list<T>(words: &mut Vec<i64>, items: &[T], word: impl Fn(&mut Vec<i64>, &T)) {
            words.push(items.len() as i64);
            items.iter().for_each(|item| word(words, item));
        }
        let mut words = Vec::new();
        let input = |words: &mut Vec<i64>, input: &Input| words.extend(input.encode());
        let number = |words: &mut Vec<i64>, number: &u32| words.push((*number).into());
        list(&mut words, &self.nodes, |words, node| {
            words.extend(node.kind.encode());
            words.extend([node.frame, node.output_frame, node.outputs].map(i64::from));
            list(words, &node.inputs, input);
            list(words, &node.controls, number);
        });
        list(&mut words, &self.frames, |words, frame| {
            words.extend([frame.parent, frame.parallel_iterations].map(i64::from));
        });
        list(&mut words, &self.fetches, input);
        list(&mut words, &self.fetch_controls, number);
        let places = self.nodes.iter().map(|node| node.place.clone());
        (words, places.chain([self.place.clone()]).chain(self.keys.iter().cloned()).collect())
    }

    /// Decodes a plan. It may still refer to nodes that do not exist.
    ///
    /// # Errors
    /// InvalidArgument for words that do not form a plan.
    pub fn decode(words: &[i64], mut texts: Vec<String>) -> Result<Self, Diagnostic> {
        let mut words = Words(words.iter());
        let mut nodes = words.list(Words::node)?;
        let frames = words
            .list(|words| Ok(GraphFrame { parent: words.number()?, parallel_iterations: words.number()? }))?;
        let fetches = words.list(Words::input)?;
        let fetch_controls = words.list(Words::number)?;
        if texts.len() <= nodes.len() {
            return Err(malformed("texts are missing"));
        }
        let keys = texts.split_off(nodes.len() + 1);
        let place = texts.pop().unwrap_or_default();
        for (node, text) in nodes.iter_mut().zip(texts) {
            node.place = text;
        }
        Ok(Self { nodes, frames, fetches, fetch_controls, place, keys })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_survives_encoding_and_damage_is_refused() {
        let node = |kind, inputs: &[Input]| GraphNode {
            kind,
            frame: 0,
            output_frame: 0,
            outputs: 2,
            inputs: inputs.to_vec(),
            controls: vec![0],
            place: "here".to_owned(),
        };
        let plan = GraphPlan {
            nodes: vec![
                node(NodeKind::Switch, &[Input::Argument(0), Input::Argument(1)]),
                node(NodeKind::Send(0), &[Input::Output(0, 1)]),
            ],
            frames: vec![GraphFrame { parent: 0, parallel_iterations: 1 }],
            fetches: vec![Input::Output(0, 0)],
            fetch_controls: vec![1],
            place: "there".to_owned(),
            keys: vec!["key".to_owned()],
        };
        let (words, texts) = plan.encode();
        assert_eq!(GraphPlan::decode(&words, texts.clone()), Ok(plan));
        for count in 0..words.len() {
            assert!(GraphPlan::decode(&words[..count], texts.clone()).is_err());
        }
        assert!(GraphPlan::decode(&words, texts[..2].to_vec()).is_err());
        assert!(GraphPlan::decode(&[i64::from(u32::MAX), 0], texts).is_err());
    }
}
