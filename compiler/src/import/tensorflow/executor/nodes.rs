//! The nodes of a graph: control flow, and islands.

use std::{collections::HashMap, sync::Arc};

use tfrt_host::DType;
use tfrt_ir::{AttrDict, Attribute, Type, ValueId};

use super::graph::{Carried, Given, GraphImport, Live, copy_known};
use crate::{
    TensorType,
    dialect::tf_executor::{
        CONTROL_TRIGGER, ENTER, EXIT, FRAME_NAME, IS_CONSTANT, LOOP_COND, MERGE, NUM_OUTS,
        PARALLEL_ITERATIONS, SINK, SOURCE, SWITCH, SWITCH_N, control, token,
    },
    import::tensorflow::{
        Frame, Importer,
        body::Source,
        function,
        node::{Attrs, ImportError, Imported, Node, Value},
    },
};

/// An input that a node forwards: a tensor, or the token of what is no tensor.
struct Forwarded {
    operand: ValueId,
    /// The resource that the outputs are; a tensor otherwise.
    resource: Option<Value>,
    constant: Option<ValueId>,
}

impl Forwarded {
    /// What an output of this tensor is.
    fn given(&self, output: ValueId) -> Given {
        let value = self.resource.clone().unwrap_or(Value::Tensor(output));
        Given { value, constant: self.constant, live: Live::Data(output) }
    }
}

fn attributes<const N: usize>(attributes: [(&'static str, Attribute); N]) -> AttrDict {
    attributes.into_iter().collect()
}

impl GraphImport<'_> {
    /// Imports a node and keeps what it gives.
    pub(super) fn import(
        &mut self,
        importer: &mut Importer<'_>,
        frame: &Frame<'_>,
        number: usize,
    ) -> Imported<()> {
        let op = frame.node(number).op.as_str();
        let outputs = match op.strip_prefix("Ref").unwrap_or(op) {
            "Switch" => self.switch(importer, frame, number, None)?,
            "_SwitchN" => self.switch_n(importer, frame, number)?,
            "Merge" => self.merge(importer, frame, number)?,
            "Enter" => self.enter(importer, frame, number)?,
            "Exit" => self.forward(importer, frame, number, EXIT)?,
            "LoopCond" => self.forward(importer, frame, number, LOOP_COND)?,
            "NextIteration" => self.next_iteration(importer, frame, number)?,
            "ControlTrigger" => {
                let controls = self.control_inputs(frame, number);
                let results =
                    self.append(importer, CONTROL_TRIGGER, &controls, AttrDict::new(), vec![control()]);
                self.controls.insert(number, results[0]);
                Vec::new()
            }
            "Identity" => self.identity(importer, frame, number)?,
            _ => self.plain(importer, frame, number)?,
        };
        for (output, given) in outputs.into_iter().enumerate() {
            self.given.insert(Source::Output(number, output), given);
        }
        Ok(())
    }

    /// The control outputs that a node waits for, those of nodes of the graph.
    fn control_inputs(&self, frame: &Frame<'_>, number: usize) -> Vec<ValueId> {
        let mut controls = Vec::new();
        for before in frame.body.controls(number) {
            if let Some(&control) = self.controls.get(before)
                && !controls.contains(&control)
            {
                controls.push(control);
            }
        }
        controls
    }

    /// An input of a node that forwards it.
    fn input(
        &mut self,
        importer: &mut Importer<'_>,
        frame: &Frame<'_>,
        number: usize,
        index: usize,
    ) -> Imported<Forwarded> {
        let source = frame.body.inputs(number).get(index).copied();
        let source = source.ok_or_else(|| ImportError(format!("input {index} is missing")))?;
        let given = self.value(importer, frame, source)?;
        match given.value {
            Value::Tensor(operand) => Ok(Forwarded { operand, resource: None, constant: given.constant }),
            other => {
                let operand = self.token(importer, given.live)?;
                Ok(Forwarded { operand, resource: Some(other), constant: None })
            }
        }
    }

    /// An input that decides, which is a tensor of this type.
    fn decision(
        &mut self,
        importer: &mut Importer<'_>,
        frame: &Frame<'_>,
        number: usize,
        (index, dtype): (usize, DType),
    ) -> Imported<ValueId> {
        let input = self.input(importer, frame, number, index)?;
        let value = match input.resource {
            None => input.operand,
            Some(resource) => importer.tensor_of(&resource)?,
        };
        match tensor_type(importer, value)? {
            ty if ty.dtype == dtype => Ok(value),
            ty => Err(format!("input {index}, which decides, is {ty}, expected elements of {dtype}").into()),
        }
    }

    /// Appends a node of control flow that gives as many outputs of its operand's type. Its last
    /// result is its control output.
    fn control_flow(
        &mut self,
        importer: &mut Importer<'_>,
        frame: &Frame<'_>,
        number: usize,
        (name, operands, attributes): (&str, &[ValueId], AttrDict),
        types: Vec<Type>,
    ) -> Vec<ValueId> {
        let operands = [operands, &self.control_inputs(frame, number)].concat();
        let types = [types, vec![control()]].concat();
        let mut results = self.append(importer, name, &operands, attributes, types);
        self.controls.extend(results.pop().map(|control| (number, control)));
        results
    }

    fn switch(
        &mut self,
        importer: &mut Importer<'_>,
        frame: &Frame<'_>,
        number: usize,
        count: Option<i64>,
    ) -> Imported<Vec<Given>> {
        let data = self.input(importer, frame, number, 0)?;
        let dtype = if count.is_some() { DType::I32 } else { DType::I1 };
        let predicate = self.decision(importer, frame, number, (1, dtype))?;
        let ty = importer.graph.module.value_type(data.operand).clone();
        let (name, attributes, outputs) = match count {
            None => (SWITCH, AttrDict::new(), 2),
            Some(count) => {
                let outputs = usize::try_from(count).unwrap_or_default();
                (SWITCH_N, attributes([(NUM_OUTS, Attribute::i64(count))]), outputs)
            }
        };
        let operation = (name, &[data.operand, predicate][..], attributes);
        let results = self.control_flow(importer, frame, number, operation, vec![ty; outputs]);
        for &result in &results {
            copy_known(importer, data.operand, result);
        }
        Ok(results.into_iter().map(|result| data.given(result)).collect())
    }

    fn switch_n(
        &mut self,
        importer: &mut Importer<'_>,
        frame: &Frame<'_>,
        number: usize,
    ) -> Imported<Vec<Given>> {
        const MAX_OUTPUTS: i64 = 1 << 16;
        let count = node(importer, frame, number).int("num_outs")?.unwrap_or_default();
        if !(1..=MAX_OUTPUTS).contains(&count) {
            return Err(format!("attribute 'num_outs' is {count}, expected 1 to {MAX_OUTPUTS}").into());
        }
        self.switch(importer, frame, number, Some(count))
    }

    fn merge(
        &mut self,
        importer: &mut Importer<'_>,
        frame: &Frame<'_>,
        number: usize,
    ) -> Imported<Vec<Given>> {
        let (mut operands, mut resources, mut ty) = (Vec::new(), Vec::new(), None::<TensorType>);
        let mut repeated = Vec::new();
        for (index, &source) in frame.body.inputs(number).iter().enumerate() {
            if frame.body.is_back_edge(number, source) {
                repeated.push((index, source));
                continue;
            }
            let input = self.input(importer, frame, number, index)?;
            let found = tensor_type(importer, input.operand)?;
            ty = Some(match ty {
                None => found,
                Some(known) => known.join(&found)?,
            });
            operands.push((index, input.operand));
            resources.push(input.resource);
        }
        let mut ty = ty.ok_or("nothing enters the loop that it begins")?;
        let Some(resource) = resources.first().cloned().filter(|first| resources.iter().all(|r| r == first))
        else {
            return Err("it merges different resources".into());
        };
        for (index, source) in repeated {
            let Source::Output(next, _) = source else { continue };
            let (value, found) = self.carried_value(importer, next, &ty);
            ty = ty.join(&found)?;
            operands.push((index, value));
        }
        operands.sort_unstable_by_key(|(index, _)| *index);
        let operands: Vec<ValueId> = operands.into_iter().map(|(_, operand)| operand).collect();
        let types = vec![ty.to_ir(), TensorType::fixed(DType::I32, &[]).to_ir()];
        let operation = (MERGE, &operands[..], AttrDict::new());
        let results = self.control_flow(importer, frame, number, operation, types);
        let forwarded = Forwarded { operand: results[0], resource, constant: None };
        let index = Given { value: results[1].into(), constant: None, live: Live::Data(results[1]) };
        Ok(vec![forwarded.given(results[0]), index])
    }

    /// What a loop carries: the output of a source, made at its first use.
    fn carried_value(
        &mut self,
        importer: &mut Importer<'_>,
        next: usize,
        entered: &TensorType,
    ) -> (ValueId, TensorType) {
        if let Some(known) = self.sources.get(&next) {
            return (known.value, known.ty.clone());
        }
        let ty = self.types.get(&next).unwrap_or(entered).clone();
        let types = vec![ty.to_ir(), token(), control()];
        let results = self.append(importer, SOURCE, &[], AttrDict::new(), types);
        let carried = Carried { value: results[0], token: results[1], ty: ty.clone() };
        self.sources.insert(next, carried);
        (results[0], ty)
    }

    fn next_iteration(
        &mut self,
        importer: &mut Importer<'_>,
        frame: &Frame<'_>,
        number: usize,
    ) -> Imported<Vec<Given>> {
        let input = self.input(importer, frame, number, 0)?;
        let carried = self.sources.get(&number).cloned().ok_or("no Merge takes what it gives")?;
        let Carried { token, ty: expected, .. } = carried;
        let found = tensor_type(importer, input.operand)?;
        let mut operand = input.operand;
        if found != expected {
            let to = expected.to_ir();
            let widened = self.island(importer, &[], |importer| {
                Ok(importer.builder().append_op("tf.Identity", &[operand], AttrDict::new(), vec![to]))
            })?;
            operand = widened.0[0];
        }
        self.carried.push((number, expected, found));
        let operands = [&[token, operand][..], &self.control_inputs(frame, number)].concat();
        self.append(importer, SINK, &operands, AttrDict::new(), Vec::new());
        Ok(Vec::new())
    }

    fn enter(
        &mut self,
        importer: &mut Importer<'_>,
        frame: &Frame<'_>,
        number: usize,
    ) -> Imported<Vec<Given>> {
        let proto = node(importer, frame, number);
        let is_constant = proto.flag("is_constant")?;
        let name = proto.string("frame_name")?.unwrap_or_default();
        let parallel = proto.int("parallel_iterations")?.unwrap_or(10).max(1);
        let attributes = attributes([
            (FRAME_NAME, Attribute::string(name)),
            (PARALLEL_ITERATIONS, Attribute::i64(parallel)),
            (IS_CONSTANT, Attribute::Bool(is_constant)),
        ]);
        let mut input = self.input(importer, frame, number, 0)?;
        if !is_constant {
            input.constant = None;
        }
        let ty = importer.graph.module.value_type(input.operand).clone();
        let operation = (ENTER, &[input.operand][..], attributes);
        let results = self.control_flow(importer, frame, number, operation, vec![ty]);
        if is_constant {
            copy_known(importer, input.operand, results[0]);
        }
        Ok(vec![input.given(results[0])])
    }

    /// Exit and LoopCond.
    fn forward(
        &mut self,
        importer: &mut Importer<'_>,
        frame: &Frame<'_>,
        number: usize,
        name: &str,
    ) -> Imported<Vec<Given>> {
        let mut input = self.input(importer, frame, number, 0)?;
        if name == LOOP_COND {
            self.decision(importer, frame, number, (0, DType::I1))?;
        }
        // The executor knows no tensor that is live when a constant leaves a loop but the one that
        // leaves it.
        input.constant = None;
        let ty = importer.graph.module.value_type(input.operand).clone();
        let operation = (name, &[input.operand][..], AttrDict::new());
        let results = self.control_flow(importer, frame, number, operation, vec![ty]);
        Ok(vec![input.given(results[0])])
    }

    /// An island that gives its input unchanged, so that conditions by one value stay conditions by
    /// one value.
    fn identity(
        &mut self,
        importer: &mut Importer<'_>,
        frame: &Frame<'_>,
        number: usize,
    ) -> Imported<Vec<Given>> {
        let input = self.input(importer, frame, number, 0)?;
        let controls = self.control_inputs(frame, number);
        let (results, control) = self.island(importer, &controls, |_| Ok(vec![input.operand]))?;
        self.controls.insert(number, control);
        Ok(vec![input.given(results[0])])
    }

    /// Any other node: an island.
    fn plain(
        &mut self,
        importer: &mut Importer<'_>,
        frame: &Frame<'_>,
        number: usize,
    ) -> Imported<Vec<Given>> {
        let mut controls = self.control_inputs(frame, number);
        let mut inputs = Vec::new();
        for &source in frame.body.inputs(number) {
            let given = self.value(importer, frame, source)?;
            if given.constant.is_some() || !matches!(given.value, Value::Tensor(_)) {
                let control = self.control(importer, given.live)?;
                controls.extend(control.filter(|control| !controls.contains(control)));
            }
            inputs.push(given);
        }
        let may_assign = inputs.iter().any(|given| !matches!(given.value, Value::Tensor(_)))
            || function::callees(frame.node(number)).iter().any(|name| importer.functions.contains_key(name));
        let before = may_assign.then(|| importer.state.variables.clone());
        let mut outputs = Vec::new();
        let (results, control) = self.island(importer, &controls, |importer| {
            let inputs = inputs.into_iter().map(|given| match given.constant {
                Some(constant) => importer.builder().repeat_constant(constant).into(),
                None => given.value,
            });
            let inputs = inputs.collect();
            let check_count = importer.checks.len();
            outputs = importer.import_node(frame, number, inputs)?;
            if importer.checks.len() > check_count {
                importer.checks.truncate(check_count);
                importer.warn("an assertion that depends on control flow of TensorFlow 1 is left out");
            }
            Ok(outputs.iter().filter_map(tensor).collect())
        })?;
        if let Some(name) = before.and_then(|before| changed(importer, &before)) {
            return Err(format!(
                "variable '{name}' is assigned under control flow of TensorFlow 1, which is not supported"
            )
            .into());
        }
        self.controls.insert(number, control);
        let mut results = results.into_iter();
        let given = |output: Value| {
            let constant = tensor(&output).filter(|&inner| importer.graph.constant(inner).is_some());
            let value = match output {
                Value::Tensor(_) => results.next().map_or(output, Value::Tensor),
                other => other,
            };
            Given { value, constant, live: Live::Control(control) }
        };
        Ok(outputs.into_iter().map(given).collect())
    }
}

fn tensor(value: &Value) -> Option<ValueId> {
    match value {
        Value::Tensor(value) => Some(*value),
        _ => None,
    }
}

fn tensor_type(importer: &Importer<'_>, value: ValueId) -> Imported<TensorType> {
    importer.graph.tensor_type(value).ok_or_else(|| "an input is not a tensor".into())
}

/// A node whose attributes are read.
fn node<'i, 'g>(importer: &'i mut Importer<'g>, frame: &'i Frame<'_>, number: usize) -> Node<'i, 'g> {
    let (proto, outer): (_, &Attrs) = (frame.node(number), &frame.attrs);
    Node { importer, proto, outer, inputs: Vec::new() }
}

/// A variable that does not hold any more what it held.
fn changed(importer: &Importer<'_>, before: &HashMap<Arc<str>, ValueId>) -> Option<Arc<str>> {
    let now = &importer.state.variables;
    now.iter().find(|(name, value)| before.get(*name) != Some(value)).map(|(name, _)| name.clone())
}
