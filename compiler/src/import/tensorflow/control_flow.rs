//! Functional control flow: `If`, `Case` and `While` as `tf.If` and `tf.While` on functions of the
//! op graph.
//!
//! The functions take what is passed to them and what the variables among that hold. Constants are
//! made again inside, so that they stay known there; those that a loop changes are passed. What
//! variables hold at the end is given back.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use tfrt_host::DType;
use tfrt_ir::{AttrDict, Attribute, ValueId};

use super::{
    Importer, State,
    function::Open,
    node::{ImportError, Imported, Node, Value},
    ops::{Family, columns_of},
    proto::NameAttrList,
};
use crate::TensorType;

pub(super) const OPS: Family = &[
    ("Case", case),
    ("If", conditional),
    ("PartitionedCall", call),
    ("StatefulPartitionedCall", call),
    ("StatelessCase", case),
    ("StatelessIf", conditional),
    ("StatelessWhile", while_loop),
    ("While", while_loop),
];

/// How often the body of a loop is imported, with less known of the carried values each time.
const MAX_ATTEMPTS: usize = 5;

fn call(node: &mut Node<'_, '_>) -> Imported {
    let function = node.function("f")?;
    let inputs = node.inputs.clone();
    node.importer.call(&function, inputs)
}

fn conditional(node: &mut Node<'_, '_>) -> Imported {
    let condition = node.input(0)?;
    let condition = truth(node.importer, condition)?;
    let branches = [node.function("then_branch")?, node.function("else_branch")?];
    let arguments = node.inputs[1..].to_vec();
    let importer = &mut *node.importer;
    if let Some(is_true) = known_truth(importer, condition)? {
        return importer.call(&branches[usize::from(!is_true)], arguments);
    }
    let [on_true, on_false] = branches;
    select(
        importer,
        condition,
        &arguments,
        &|importer, arguments| importer.call(&on_true, arguments),
        &|importer, arguments| importer.call(&on_false, arguments),
    )
}

fn case(node: &mut Node<'_, '_>) -> Imported {
    let branches = node.functions("branches")?;
    node.input(0)?;
    let inputs = node.inputs.clone();
    choose(node.importer, inputs, &branches, 0)
}

/// The branch whose number the first input is, among those from `first` on. Numbers out of range
/// choose the last branch.
fn choose(
    importer: &mut Importer<'_>,
    inputs: Vec<Value>,
    branches: &[NameAttrList],
    first: i64,
) -> Imported {
    match branches {
        [] => Err("the op has no branches".into()),
        [only] => importer.call(only, inputs[1..].to_vec()),
        [branch, others @ ..] => {
            let index = importer.tensor_of(&inputs[0])?;
            if let Some([Some(index)]) = importer.builder().known_elements(index).as_deref() {
                let last = branches.len() - 1;
                let chosen = usize::try_from(index - first).map_or(last, |place| place.min(last));
                return importer.call(&branches[chosen], inputs[1..].to_vec());
            }
            let mut builder = importer.builder();
            let number = builder.add_number(DType::I32, first as f64)?;
            let none: [(&str, Attribute); 0] = [];
            let is_chosen = builder.op("tf.Equal", &[index, number], none)?;
            select(
                importer,
                is_chosen,
                &inputs,
                &|importer, inputs| importer.call(branch, inputs[1..].to_vec()),
                &|importer, inputs| choose(importer, inputs, others, first + 1),
            )
        }
    }
}

fn while_loop(node: &mut Node<'_, '_>) -> Imported {
    let (condition, body) = (node.function("cond")?, node.function("body")?);
    let inputs = node.inputs.clone();
    let importer = &mut *node.importer;
    let invariants = importer.invariants(&body.name)?;
    repeat(
        importer,
        inputs,
        &invariants,
        &|importer, arguments| importer.call(&condition, arguments),
        &|importer, arguments| importer.call(&body, arguments),
    )
}

/// Whether a value is true as TensorFlow's conditions are: a number that is not zero, a tensor that
/// has elements.
fn truth(importer: &mut Importer<'_>, value: ValueId) -> Imported<ValueId> {
    let mut builder = importer.builder();
    let ty = builder.ty(value).ok_or_else(|| ImportError("the condition is not a tensor".into()))?;
    let none: [(&str, Attribute); 0] = [];
    match (ty.dtype, ty.rank()) {
        (_, Some(1..)) => {
            let size = builder.op("tf.Size", &[value], none.clone())?;
            let zero = builder.add_number(DType::I32, 0.0)?;
            Ok(builder.op("tf.NotEqual", &[size, zero], none)?)
        }
        (DType::I1, _) => Ok(value),
        (DType::String, _) => Err("conditions that are strings are not supported".into()),
        (dtype, _) => {
            let zero = builder.add_number(dtype, 0.0)?;
            Ok(builder.op("tf.NotEqual", &[value, zero], none)?)
        }
    }
}

/// Whether a condition holds, if that is known.
fn known_truth(importer: &mut Importer<'_>, condition: ValueId) -> Imported<Option<bool>> {
    if importer.graph.constant(condition).is_none() {
        return Ok(None);
    }
    let mut builder = importer.builder();
    let number = builder.cast(condition, DType::I64)?;
    Ok(match builder.known_elements(number).as_deref() {
        Some([Some(truth)]) => Some(*truth != 0),
        _ => None,
    })
}

/// How a function comes to something that is passed to it.
enum Slot {
    /// By a parameter.
    Parameter(usize),
    /// By making the constant again.
    Constant(ValueId),
    /// By its name, or not at all.
    Other(Value),
}

/// What functions of control flow are passed.
struct Slots {
    arguments: Vec<Slot>,
    variables: Vec<(Arc<str>, Slot)>,
    /// What the parameters are at the first call.
    operands: Vec<ValueId>,
}

impl Slots {
    /// `is_constant` says which arguments and variables that are constants stay what they are.
    fn new(
        importer: &Importer<'_>,
        arguments: &[Value],
        is_constant: impl Fn(Result<usize, &str>) -> bool,
    ) -> Self {
        let mut slots = Self { arguments: Vec::new(), variables: Vec::new(), operands: Vec::new() };
        let mut seen = HashSet::new();
        for (index, argument) in arguments.iter().enumerate() {
            let slot = match argument {
                Value::Resource(name) => {
                    // A table is two variables.
                    for name in [[name.clone()].as_slice(), &columns_of(name)].concat() {
                        if let Some(&held) = importer.state.variables.get(&name)
                            && seen.insert(name.clone())
                        {
                            let slot = slots.slot(importer, held, is_constant(Err(&name)));
                            slots.variables.push((name, slot));
                        }
                    }
                    Slot::Other(argument.clone())
                }
                Value::Missing(_) => Slot::Other(argument.clone()),
                Value::Tensor(value) => slots.slot(importer, *value, is_constant(Ok(index))),
            };
            slots.arguments.push(slot);
        }
        slots
    }

    fn slot(&mut self, importer: &Importer<'_>, value: ValueId, may_be_constant: bool) -> Slot {
        if may_be_constant && importer.graph.constant(value).is_some() {
            return Slot::Constant(value);
        }
        self.operands.push(value);
        Slot::Parameter(self.operands.len() - 1)
    }

    fn types(&self, importer: &Importer<'_>) -> Imported<Vec<TensorType>> {
        let types = self.operands.iter().map(|&operand| importer.graph.tensor_type(operand));
        let types = types.collect::<Option<_>>();
        types.ok_or_else(|| "an argument of control flow is not a tensor".into())
    }

    /// Gives variables what they hold at the beginning of a function. Returns its arguments.
    fn enter(&self, importer: &mut Importer<'_>, parameters: &[ValueId]) -> Vec<Value> {
        for (name, slot) in &self.variables {
            if let Value::Tensor(value) = Self::value(slot, importer, parameters) {
                importer.state.variables.insert(name.clone(), value);
            }
        }
        self.arguments.iter().map(|slot| Self::value(slot, importer, parameters)).collect()
    }

    fn value(slot: &Slot, importer: &mut Importer<'_>, parameters: &[ValueId]) -> Value {
        match slot {
            Slot::Parameter(index) => parameters[*index].into(),
            Slot::Constant(value) => importer.builder().repeat_constant(*value).into(),
            Slot::Other(value) => value.clone(),
        }
    }
}

/// The body of a function: its results for these arguments.
type Make<'a> = &'a dyn Fn(&mut Importer<'_>, Vec<Value>) -> Imported;

/// A function that was imported and has not been given its results.
struct Imports {
    open: Open,
    values: Vec<Value>,
    /// What variables hold at its beginning and at its end.
    before: HashMap<Arc<str>, ValueId>,
    after: State,
}

fn import(
    importer: &mut Importer<'_>,
    slots: &Slots,
    types: &[TensorType],
    make: Make<'_>,
) -> Imported<Imports> {
    let mut open = importer.begin_function(types);
    let arguments = slots.enter(importer, &open.arguments);
    let before = importer.state.variables.clone();
    let values = make(importer, arguments);
    let after = importer.leave_function(&mut open);
    Ok(Imports { open, values: values?, before, after })
}

/// Appends a conditional of two functions.
fn select(
    importer: &mut Importer<'_>,
    condition: ValueId,
    arguments: &[Value],
    on_true: Make<'_>,
    on_false: Make<'_>,
) -> Imported {
    let slots = Slots::new(importer, arguments, |_| true);
    let types = slots.types(importer)?;
    let branches = [import(importer, &slots, &types, on_true)?, import(importer, &slots, &types, on_false)?];
    let changed = changed(&branches);
    let [first, second] = &branches;
    if first.values.len() != second.values.len() {
        return Err("the branches give different numbers of results".into());
    }
    let mut outcomes = Vec::new();
    for pair in first.values.iter().zip(&second.values) {
        match pair {
            (Value::Tensor(_), Value::Tensor(_)) => outcomes.push(None),
            (other, same) if other == same => outcomes.push(Some(other.clone())),
            _ => return Err("the branches give different resources".into()),
        }
    }
    let (mut names, mut joined): (Vec<String>, Option<Vec<TensorType>>) = (Vec::new(), None);
    for branch in branches {
        let tensors = branch.values.iter().filter_map(|value| match value {
            Value::Tensor(value) => Some(*value),
            _ => None,
        });
        let held = changed.iter().filter_map(|name| branch.after.variables.get(name).copied());
        let results = tensors.chain(held).collect();
        names.push(branch.open.name.clone());
        let types = importer.end_function(branch.open, results)?;
        joined = Some(match joined {
            None => types,
            Some(before) => before.iter().zip(&types).map(|(a, b)| a.join(b)).collect::<Result<_, _>>()?,
        });
    }
    let attributes: AttrDict = ["then_branch", "else_branch"]
        .into_iter()
        .zip(names)
        .map(|(name, function)| (name, Attribute::symbol(function)))
        .collect();
    let operands = [&[condition][..], &slots.operands].concat();
    let types = joined.unwrap_or_default().iter().map(TensorType::to_ir).collect();
    let results = importer.builder().append_op("tf.If", &operands, attributes, types);
    let mut results = results.into_iter();
    let missing = || ImportError("a conditional has too few results".to_owned());
    let mut values = Vec::new();
    for outcome in outcomes {
        values.push(match outcome {
            Some(other) => other,
            None => results.next().ok_or_else(missing)?.into(),
        });
    }
    for name in changed {
        importer.state.variables.insert(name, results.next().ok_or_else(missing)?);
    }
    Ok(values)
}

/// The variables that a branch changes and both have a value for, sorted.
fn changed(branches: &[Imports; 2]) -> Vec<Arc<str>> {
    let is_changed = |name: &Arc<str>| {
        branches.iter().any(|branch| branch.after.variables.get(name) != branch.before.get(name))
    };
    let in_second = &branches[1].after.variables;
    let both = branches[0].after.variables.keys().filter(|name| in_second.contains_key(*name));
    let mut changed: Vec<_> = both.filter(|name| is_changed(name)).cloned().collect();
    changed.sort_unstable();
    changed
}

/// Appends a loop. `invariants` says which arguments the body gives as it takes them.
fn repeat(
    importer: &mut Importer<'_>,
    arguments: Vec<Value>,
    invariants: &[bool],
    condition: Make<'_>,
    body: Make<'_>,
) -> Imported {
    let mut assigned: HashSet<Arc<str>> = HashSet::new();
    let mut slots;
    let mut types;
    let mut attempt = 0;
    let step = 'settled: loop {
        slots = Slots::new(importer, &arguments, |what| match what {
            Ok(index) => invariants.get(index).copied().unwrap_or(false),
            Err(name) => !assigned.contains(name),
        });
        types = slots.types(importer)?;
        loop {
            let step = import(importer, &slots, &types, body)?;
            attempt += 1;
            let known = assigned.len();
            for (name, slot) in &slots.variables {
                if matches!(slot, Slot::Constant(_))
                    && step.after.variables.get(name) != step.before.get(name)
                {
                    assigned.insert(name.clone());
                }
            }
            if assigned.len() > known {
                importer.remove_function(&step.open);
                continue 'settled;
            }
            let results = carried_results(&slots, &step)?;
            let after = results.iter().map(|&result| importer.graph.tensor_type(result));
            let after = after.collect::<Option<Vec<_>>>().ok_or("a result of a loop is not a tensor")?;
            let next = types.iter().zip(&after).map(|(a, b)| a.join(b)).collect::<Result<Vec<_>, _>>()?;
            if next == types {
                break 'settled step;
            }
            if attempt > MAX_ATTEMPTS {
                return Err("the types of a loop do not settle".into());
            }
            // The body changes what is known of the carried values, so import it again with less.
            importer.remove_function(&step.open);
            types = next;
            if attempt + 1 == MAX_ATTEMPTS {
                types.iter_mut().for_each(|ty| ty.dims = None);
            }
        }
    };
    let results = carried_results(&slots, &step)?;
    let step_name = step.open.name.clone();
    importer.end_function(step.open, results)?;
    let test = import(importer, &slots, &types, &|importer, arguments| {
        let values = condition(importer, arguments)?;
        let value = values.first().ok_or("the condition of the loop has no result")?;
        let value = importer.tensor_of(value)?;
        Ok(vec![truth(importer, value)?.into()])
    })?;
    let test_name = test.open.name.clone();
    let result = importer.tensor_of(&test.values[0])?;
    importer.end_function(test.open, vec![result])?;
    let attributes = [("cond", Attribute::symbol(test_name)), ("body", Attribute::symbol(step_name))]
        .into_iter()
        .collect();
    let ir_types = types.iter().map(TensorType::to_ir).collect();
    let results = importer.builder().append_op("tf.While", &slots.operands, attributes, ir_types);
    for (name, slot) in &slots.variables {
        if let Slot::Parameter(index) = slot {
            importer.state.variables.insert(name.clone(), results[*index]);
        }
    }
    let value = |(slot, argument): (&Slot, Value)| match slot {
        Slot::Parameter(index) => results[*index].into(),
        _ => argument,
    };
    Ok(slots.arguments.iter().zip(arguments).map(value).collect())
}

/// What the body of a loop gives for the next iteration, by the numbers of the parameters.
fn carried_results(slots: &Slots, step: &Imports) -> Imported<Vec<ValueId>> {
    if step.values.len() != slots.arguments.len() {
        return Err("the body of the loop gives another number of values than it takes".into());
    }
    let mut results = vec![None; slots.operands.len()];
    for (slot, value) in slots.arguments.iter().zip(&step.values) {
        match (slot, value) {
            (Slot::Parameter(index), Value::Tensor(value)) => results[*index] = Some(*value),
            (Slot::Constant(_), Value::Tensor(_)) => {}
            (Slot::Other(before), after) if before == after => {}
            _ => return Err("the body of the loop gives another resource than it takes".into()),
        }
    }
    for (name, slot) in &slots.variables {
        if let Slot::Parameter(index) = slot {
            results[*index] = step.after.variables.get(name).copied();
        }
    }
    results.into_iter().collect::<Option<_>>().ok_or_else(|| "the body of the loop loses a variable".into())
}
