//! [`GraphImport`]: the graph that is being made, and the values of its nodes.

use std::collections::HashMap;

use tfrt_host::DType;
use tfrt_ir::{AttrDict, BlockId, InsertionPoint, OpState, RegionId, Type, ValueId};

use crate::{
    GraphBuilder, TensorType,
    dialect::tf_executor::{FETCH, GRAPH, ISLAND, YIELD, control},
    import::tensorflow::{
        Frame, Importer,
        body::Source,
        node::{ImportError, Imported, Value},
    },
};

/// What says that a value is live.
#[derive(Clone, Copy, Debug)]
pub(super) enum Live {
    /// Nothing: it comes from outside of the graph.
    Always,
    /// The control output of the node that makes it.
    Control(ValueId),
    /// A tensor that is live when it is.
    Data(ValueId),
}

/// An output of a node, as other nodes of the graph see it.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) value: Value,
    /// The constant that it is, if that is known.
    pub(super) constant: Option<ValueId>,
    pub(super) live: Live,
}

/// What a loop carries from one iteration to the next.
#[derive(Clone, Debug)]
pub(super) struct Carried {
    /// What the iteration before gave, which several Merges may take.
    pub(super) value: ValueId,
    pub(super) token: ValueId,
    pub(super) ty: TensorType,
}

/// A graph that is being imported.
pub(super) struct GraphImport<'t> {
    pub(super) region: RegionId,
    pub(super) block: BlockId,
    outer: BlockId,
    /// The types of what loops carry, by the nodes that give it to the next iteration.
    pub(super) types: &'t HashMap<usize, TensorType>,
    pub(super) given: HashMap<Source, Given>,
    /// The control outputs of nodes.
    pub(super) controls: HashMap<usize, ValueId>,
    /// What loops carry, by the nodes that give it.
    pub(super) sources: HashMap<usize, Carried>,
    /// What each iteration gives the next one, with the type that was expected.
    pub(super) carried: Vec<(usize, TensorType, TensorType)>,
    /// Islands that only turn a tensor into a control output.
    anchors: HashMap<ValueId, ValueId>,
    token: Option<ValueId>,
}

impl<'t> GraphImport<'t> {
    /// Begins a graph in the importer's block.
    pub(super) fn new(importer: &mut Importer<'_>, types: &'t HashMap<usize, TensorType>) -> Self {
        let module = &mut importer.graph.module;
        let region = module.create_region();
        let block = module.create_block(region, &[]);
        Self {
            region,
            block,
            outer: importer.block,
            types,
            given: HashMap::new(),
            controls: HashMap::new(),
            sources: HashMap::new(),
            carried: Vec::new(),
            anchors: HashMap::new(),
            token: None,
        }
    }

    /// Removes the graph again.
    pub(super) fn discard(self, importer: &mut Importer<'_>) {
        importer.graph.module.erase_region(self.region);
    }

    /// Types that allow for what comes from iterations; `None` if the types do already.
    ///
    /// # Errors
    /// Iterations that change a value's data type.
    pub(super) fn wider_types(
        &self,
        importer: &Importer<'_>,
    ) -> Imported<Option<HashMap<usize, TensorType>>> {
        let mut wider = HashMap::new();
        for (node, expected, found) in &self.carried {
            let joined = expected.join(found)?;
            if joined != *expected {
                wider.insert(*node, joined);
            }
        }
        if wider.is_empty() && self.carried.len() < self.sources.len() {
            return Err(format!("a loop of {} has no NextIteration", importer.file).into());
        }
        Ok(Some(wider).filter(|wider| !wider.is_empty()))
    }

    /// Ends the graph with the outputs that are used outside of it.
    pub(super) fn finish(
        self,
        importer: &mut Importer<'_>,
        frame: &mut Frame<'_>,
        fetched: &[Source],
    ) -> Imported<()> {
        let (mut operands, mut sources) = (Vec::new(), Vec::new());
        for source in fetched {
            let given = self.given.get(source).cloned();
            let given = given.ok_or_else(|| ImportError("an output does not exist".to_owned()))?;
            match (given.constant, given.value) {
                (Some(constant), _) => {
                    let value = importer.builder().repeat_constant(constant);
                    frame.given.insert(*source, value.into());
                }
                (None, Value::Tensor(value)) => {
                    operands.push(value);
                    sources.push(*source);
                }
                (None, other) => {
                    frame.given.insert(*source, other);
                }
            }
        }
        let location = importer.location.clone();
        let module = &mut importer.graph.module;
        let types = module.types_of(&operands);
        let fetch = module.create_op(OpState::new(FETCH).operands(operands.clone()).at(location.clone()));
        module.append_op(self.block, fetch);
        let op = module.create_op(OpState::new(GRAPH).results(types).region(self.region).at(location));
        module.append_op(self.outer, op);
        let results = module.op(op).results.clone();
        for ((source, operand), result) in sources.into_iter().zip(operands).zip(results) {
            copy_known(importer, operand, result);
            frame.given.insert(source, result.into());
        }
        Ok(())
    }

    /// What a source gives to nodes of the graph.
    pub(super) fn value(
        &self,
        importer: &Importer<'_>,
        frame: &Frame<'_>,
        source: Source,
    ) -> Imported<Given> {
        if let Some(given) = self.given.get(&source) {
            return Ok(given.clone());
        }
        let value = frame.value(source).cloned();
        let value =
            value.ok_or_else(|| ImportError("an input names an output that does not exist".into()))?;
        let constant = match value {
            Value::Tensor(value) if importer.graph.constant(value).is_some() => Some(value),
            _ => None,
        };
        Ok(Given { value, constant, live: Live::Always })
    }

    /// A node of these operands, attributes and results. Returns its results.
    pub(super) fn append(
        &self,
        importer: &mut Importer<'_>,
        name: &str,
        operands: &[ValueId],
        attributes: AttrDict,
        types: Vec<Type>,
    ) -> Vec<ValueId> {
        let mut builder =
            GraphBuilder::new(&mut importer.graph, importer.evaluator, InsertionPoint::End(self.block));
        builder.set_location(importer.location.clone());
        builder.append_op(name, operands, attributes, types)
    }

    /// An island whose ops `fill` appends to the importer's block. Returns what it gives, and its
    /// control output.
    pub(super) fn island(
        &self,
        importer: &mut Importer<'_>,
        controls: &[ValueId],
        fill: impl FnOnce(&mut Importer<'_>) -> Imported<Vec<ValueId>>,
    ) -> Imported<(Vec<ValueId>, ValueId)> {
        let module = &mut importer.graph.module;
        let region = module.create_region();
        let block = module.create_block(region, &[]);
        let outer = std::mem::replace(&mut importer.block, block);
        let filled = fill(importer);
        importer.block = outer;
        let yielded = filled?;
        let location = importer.location.clone();
        let module = &mut importer.graph.module;
        let end = module.create_op(OpState::new(YIELD).operands(yielded.clone()).at(location.clone()));
        module.append_op(block, end);
        let mut types = module.types_of(&yielded);
        types.push(control());
        let state = OpState::new(ISLAND).operands(controls).results(types).region(region).at(location);
        let op = module.create_op(state);
        module.append_op(self.block, op);
        let mut results = module.op(op).results.clone();
        let control = results.pop().ok_or("an island has no control output")?;
        for (&from, &to) in yielded.iter().zip(&results) {
            copy_known(importer, from, to);
        }
        Ok((results, control))
    }

    /// A tensor from outside of the graph that stands for what is no tensor.
    fn outer_token(&mut self, importer: &mut Importer<'_>) -> Imported<ValueId> {
        if let Some(token) = self.token {
            return Ok(token);
        }
        let inner = std::mem::replace(&mut importer.block, self.outer);
        let token = importer.builder().add_number(DType::I32, 0.0);
        importer.block = inner;
        Ok(*self.token.insert(token?))
    }

    /// A tensor that is live when a value is.
    pub(super) fn token(&mut self, importer: &mut Importer<'_>, live: Live) -> Imported<ValueId> {
        match live {
            Live::Always => self.outer_token(importer),
            Live::Data(value) => Ok(value),
            Live::Control(control) => {
                let token = self.outer_token(importer)?;
                Ok(self.island(importer, &[control], |_| Ok(vec![token]))?.0[0])
            }
        }
    }

    /// A control output that is live when a value is; none for what always is.
    pub(super) fn control(&mut self, importer: &mut Importer<'_>, live: Live) -> Imported<Option<ValueId>> {
        match live {
            Live::Always => Ok(None),
            Live::Control(control) => Ok(Some(control)),
            Live::Data(value) => {
                if let Some(&anchor) = self.anchors.get(&value) {
                    return Ok(Some(anchor));
                }
                let (_, control) = self.island(importer, &[], |_| Ok(vec![value]))?;
                self.anchors.insert(value, control);
                Ok(Some(control))
            }
        }
    }
}

/// What is known of a tensor's elements is known of what forwards it.
pub(super) fn copy_known(importer: &mut Importer<'_>, from: ValueId, to: ValueId) {
    let elements = importer.builder().known_elements(from);
    if let Some(elements) = elements {
        importer.graph.known_elements.insert(to, elements);
    }
}
