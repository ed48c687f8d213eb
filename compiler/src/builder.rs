//! [`GraphBuilder`]: creates operations of a graph, with their types inferred and constants folded on the way.

use tfrt_eager::OpAttrs;
use tfrt_host::{DType, Diagnostic, release_mapped_pages};
use tfrt_ir::{AttrDict, Attribute, InsertionPoint, Location, OpId, OpState, Type, ValueDef, ValueId};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, HostTensor, TensorMetadata, TensorShape};

use crate::{
    Evaluator, Graph, TensorType, attributes,
    graph::{CONST, CONSTANT, KnownElements},
    shapes::{self, Call, Operand},
};

static FOLD: Accessor = Accessor::new("constant folding");

/// Results of at most this many bytes are computed while compiling, and larger ones if they are no
/// larger than this many times the arguments: weights of bytes may become numbers in single precision.
const MAX_FOLDED: (u64, u64) = (4 << 20, 4);
/// Results of unknown sizes are computed of at most this many bytes.
const MAX_FOLDED_IF_UNKNOWN_BYTES: u64 = 64 << 10;
/// What makes numbers of bytes.
const DEQUANTIZE: &str = "onnx.DequantizeLinear";

/// Creates operations at a point of a graph.
#[derive(Debug)]
pub struct GraphBuilder<'g> {
    graph: &'g mut Graph,
    evaluator: &'g Evaluator,
    point: InsertionPoint,
    location: Location,
    created: Vec<OpId>,
}

impl<'g> GraphBuilder<'g> {
    /// A builder that creates operations at a point.
    pub fn new(graph: &'g mut Graph, evaluator: &'g Evaluator, point: InsertionPoint) -> Self {
        Self { graph, evaluator, point, location: Location::Unknown, created: Vec::new() }
    }

    /// The graph.
    pub fn graph(&mut self) -> &mut Graph {
        self.graph
    }

    /// Sets where the operations appended from here on come from.
    pub fn set_location(&mut self, location: Location) {
        self.location = location;
    }

    /// The operations created so far.
    pub fn created(&self) -> &[OpId] {
        &self.created
    }

    /// The type of a value; `None` for values that are no tensors.
    pub fn ty(&self, value: ValueId) -> Option<TensorType> {
        self.graph.tensor_type(value)
    }

    /// Adds what the type of `from` says of the extents to that of `to`, which inference may not find
    /// again.
    pub(crate) fn keep_extents(&mut self, from: ValueId, to: ValueId) {
        if let (Some(from), Some(own)) = (self.ty(from), self.ty(to))
            && let Some(both) = own.merge(&TensorType { dtype: own.dtype, ..from })
        {
            self.graph.module.set_value_type(to, both.to_ir());
        }
    }

    /// The tensor that a value is, if that is a constant.
    pub fn constant(&self, value: ValueId) -> Option<&HostTensor> {
        self.graph.constant(value)
    }

    /// Elements of a small tensor of integers, each as far as it is known.
    pub fn known_elements(&self, value: ValueId) -> Option<Vec<Option<i64>>> {
        match self.graph.known_elements.get(&value) {
            Some(known) => Some(known.clone()),
            // Of a tensor without elements nothing is left to be known.
            None if self.ty(value)?.static_dims().is_some_and(|dims| dims.contains(&0)) => Some(Vec::new()),
            None => Some(shapes::integers(self.graph.constant(value)?)?.into_iter().map(Some).collect()),
        }
    }

    /// Appends a constant.
    pub fn add_constant(&mut self, name: &str, tensor: impl Into<HostTensor>) -> ValueId {
        let tensor = tensor.into();
        let ty = TensorType::of(tensor.metadata()).to_ir();
        let id = self.graph.constants.add(name, tensor);
        let number = Attribute::i64(i64::try_from(id.0).unwrap_or(i64::MAX));
        let state = OpState::new(CONST).attr(CONSTANT, number).results([ty]);
        self.append(state)[0]
    }

    /// Appends a constant once more, for a function that cannot use the value of another one. Other
    /// values are given back.
    pub fn repeat_constant(&mut self, value: ValueId) -> ValueId {
        let ValueDef::Result { op, .. } = self.graph.module.value(value).def else { return value };
        let Some(id) = self.graph.constant_id(op) else { return value };
        let ty = self.graph.module.value_type(value).clone();
        let number = Attribute::i64(i64::try_from(id.0).unwrap_or(i64::MAX));
        self.append(OpState::new(CONST).attr(CONSTANT, number).results([ty]))[0]
    }

    /// Appends a constant of these elements.
    ///
    /// # Errors
    /// InvalidArgument if the shape has another number of elements; OutOfMemory.
    pub fn add_elements<T: Element>(
        &mut self,
        shape: &[usize],
        elements: &[T],
    ) -> Result<ValueId, Diagnostic> {
        let tensor =
            DenseHostTensor::from_slice(TensorShape::new(shape)?, elements, self.evaluator.allocator())?;
        Ok(self.add_constant("", tensor))
    }

    /// Appends a vector of integers.
    ///
    /// # Errors
    /// OutOfMemory.
    pub fn add_integers(&mut self, elements: &[i64]) -> Result<ValueId, Diagnostic> {
        self.add_elements(&[elements.len()], elements)
    }

    /// Appends an integer.
    ///
    /// # Errors
    /// OutOfMemory.
    pub fn add_integer(&mut self, value: i64) -> Result<ValueId, Diagnostic> {
        self.add_elements(&[], &[value])
    }

    /// Appends a scalar of a data type that has numbers.
    ///
    /// # Errors
    /// InvalidArgument for other data types; OutOfMemory.
    pub fn add_number(&mut self, dtype: DType, value: f64) -> Result<ValueId, Diagnostic> {
        let exact = self.add_elements(&[], &[value])?;
        match dtype {
            DType::F64 => Ok(exact),
            _ => self.cast(exact, dtype),
        }
    }

    /// Appends a cast, if the value has another data type.
    ///
    /// # Errors
    /// InvalidArgument for data types that cannot be cast.
    pub fn cast(&mut self, value: ValueId, dtype: DType) -> Result<ValueId, Diagnostic> {
        if self.ty(value).is_some_and(|ty| ty.dtype == dtype) {
            return Ok(value);
        }
        let to = [("DstT", Attribute::Type(tfrt_convert::type_of(dtype)))];
        self.op("tf.Cast", &[value], to)
    }

    /// Appends an op with one result and returns that.
    ///
    /// # Errors
    /// InvalidArgument if the arguments do not fit the op.
    pub fn op<N: Into<tfrt_ir::Name>>(
        &mut self,
        name: &str,
        operands: &[ValueId],
        attributes: impl IntoIterator<Item = (N, Attribute)>,
    ) -> Result<ValueId, Diagnostic> {
        Ok(self.ops(name, operands, attributes, 1)?[0])
    }

    /// Appends an op and returns its results. An op on constants is computed now, if its results
    /// are small.
    ///
    /// # Errors
    /// InvalidArgument if the arguments do not fit the op.
    pub fn ops<N: Into<tfrt_ir::Name>>(
        &mut self,
        name: &str,
        operands: &[ValueId],
        attributes: impl IntoIterator<Item = (N, Attribute)>,
        result_count: usize,
    ) -> Result<Vec<ValueId>, Diagnostic> {
        let attributes: AttrDict = attributes.into_iter().collect();
        let attrs = attributes::to_op_attrs(&attributes, self.evaluator.allocator())?;
        let (types, known) = self.graph.infer(self.evaluator, name, operands, &attrs, result_count)?;
        if let Some(folded) = self.fold(name, operands, &attrs, &types)? {
            return Ok(self.add_folded(operands, folded));
        }
        if let (Some(known), [ty]) = (&known, &types[..])
            && let Some(tensor) = self.whole(known, ty)?
        {
            return Ok(vec![self.add_constant("", tensor)]);
        }
        let state = OpState::new(name).operands(operands);
        let mut state = state.results(types.iter().map(TensorType::to_ir).collect::<Vec<_>>());
        state.attributes = attributes;
        let results = self.append(state);
        if let (Some(known), [result]) = (known, &results[..]) {
            self.graph.known_elements.insert(*result, known);
        }
        Ok(results)
    }

    /// Appends an operation as it is, with results of these types.
    pub fn append_op(
        &mut self,
        name: &str,
        operands: &[ValueId],
        attributes: AttrDict,
        types: Vec<Type>,
    ) -> Vec<ValueId> {
        let mut state = OpState::new(name).operands(operands).results(types);
        state.attributes = attributes;
        self.append(state)
    }

    fn append(&mut self, state: OpState) -> Vec<ValueId> {
        let module = &mut self.graph.module;
        let op = module.create_op(state.at(self.location.clone()));
        module.insert_op(self.point, op);
        self.created.push(op);
        module.op(op).results.clone()
    }

    /// Returns the name of the first constant that has one, for what is computed from them.
    fn constant_name(&self, values: &[ValueId]) -> String {
        let ids = values.iter().filter_map(|&value| self.graph.module.defining_op(value));
        let mut names = ids.filter_map(|op| Some(self.graph.constants.name(self.graph.constant_id(op)?)));
        names.find(|name| !name.is_empty()).unwrap_or_default().to_owned()
    }

    /// The results of an op on constants, if they may be computed now.
    fn fold(
        &self,
        name: &str,
        operands: &[ValueId],
        attrs: &OpAttrs,
        types: &[TensorType],
    ) -> Result<Option<Vec<HostTensor>>, Diagnostic> {
        // Passes look for bytes that are multiplied, and fold the others.
        let may_be_multiplied =
            name == DEQUANTIZE && operands.iter().any(|&value| self.is_matrix_of_bytes(value));
        let Some(tensors) = self.pure_arguments(name, operands).filter(|_| !may_be_multiplied) else {
            return Ok(None);
        };
        let bytes = |ty: &TensorType| ty.size_bytes();
        let given: u64 = tensors.iter().filter_map(|tensor| bytes(&TensorType::of(tensor.metadata()))).sum();
        let (most, times) = MAX_FOLDED;
        let is_bounded = match types.iter().map(bytes).sum::<Option<u64>>() {
            Some(result) => result <= most.max(given.saturating_mul(times)),
            None => given <= MAX_FOLDED_IF_UNKNOWN_BYTES,
        };
        if !is_bounded {
            return Ok(None);
        }
        self.run_on_constants(name, &tensors, attrs, types.len()).map(Some)
    }

    fn is_matrix_of_bytes(&self, value: ValueId) -> bool {
        self.ty(value).is_some_and(|ty| {
            matches!(ty.dtype, DType::I8 | DType::UI8) && ty.rank().is_some_and(|rank| rank >= 2)
        })
    }

    /// The arguments of an op that may be computed now, if all of them are constants.
    fn pure_arguments(&self, name: &str, operands: &[ValueId]) -> Option<Vec<HostTensor>> {
        let is_pure = self.evaluator.op(name).is_some_and(|op| op.runs_on_host() && !op.is_side_effecting());
        if operands.is_empty() || !is_pure || is_random(name) {
            return None;
        }
        operands.iter().map(|&value| self.constant(value).cloned()).collect()
    }

    fn run_on_constants(
        &self,
        name: &str,
        tensors: &[HostTensor],
        attrs: &OpAttrs,
        count: usize,
    ) -> Result<Vec<HostTensor>, Diagnostic> {
        let folded = self.evaluator.run(name, tensors, attrs, count)?;
        // The results take the place of what is in the model's file.
        for dense in tensors.iter().filter_map(|tensor| tensor.dense().ok()) {
            if let Ok(bytes) = dense.read_bytes(&FOLD) {
                release_mapped_pages(&bytes);
            }
        }
        Ok(folded)
    }

    /// Computes an op on constants now, whatever the size of its results. Returns `None` if its
    /// arguments are not all constants, or it depends on more than these.
    ///
    /// # Errors
    /// What the op says of its arguments.
    pub(crate) fn evaluate(
        &mut self,
        name: &str,
        operands: &[ValueId],
        attributes: &AttrDict,
        result_count: usize,
    ) -> Result<Option<Vec<ValueId>>, Diagnostic> {
        let Some(tensors) = self.pure_arguments(name, operands) else { return Ok(None) };
        let attrs = attributes::to_op_attrs(attributes, self.evaluator.allocator())?;
        let folded = self.run_on_constants(name, &tensors, &attrs, result_count)?;
        Ok(Some(self.add_folded(operands, folded)))
    }

    /// Computes an op on constants now, if its results are not too large.
    ///
    /// # Errors
    /// What the op says of its arguments.
    pub(crate) fn fold_op(
        &mut self,
        name: &str,
        operands: &[ValueId],
        attributes: &AttrDict,
        types: &[TensorType],
    ) -> Result<Option<Vec<ValueId>>, Diagnostic> {
        let are_constant =
            !operands.is_empty() && operands.iter().all(|&value| self.constant(value).is_some());
        if !are_constant {
            return Ok(None);
        }
        let attrs = attributes::to_op_attrs(attributes, self.evaluator.allocator())?;
        let folded = self.fold(name, operands, &attrs, types)?;
        Ok(folded.map(|folded| self.add_folded(operands, folded)))
    }

    fn add_folded(&mut self, operands: &[ValueId], folded: Vec<HostTensor>) -> Vec<ValueId> {
        let name = self.constant_name(operands);
        folded.into_iter().map(|tensor| self.add_constant(&name, tensor)).collect()
    }

    /// The tensor of elements all of which are known.
    fn whole(&self, known: &[Option<i64>], ty: &TensorType) -> Result<Option<HostTensor>, Diagnostic> {
        let (Some(elements), Some(metadata)) =
            (known.iter().copied().collect::<Option<Vec<i64>>>(), ty.metadata())
        else {
            return Ok(None);
        };
        let TensorMetadata { dtype, shape } = metadata;
        let allocator = self.evaluator.allocator();
        let tensor = match dtype {
            DType::I64 => DenseHostTensor::from_slice(shape, &elements, allocator)?,
            _ => {
                let Ok(elements) = elements.into_iter().map(i32::try_from).collect::<Result<Vec<_>, _>>()
                else {
                    return Ok(None);
                };
                DenseHostTensor::from_slice(shape, &elements, allocator)?
            }
        };
        Ok(Some(tensor.into()))
    }
}

impl Graph {
    /// Types of the results of a call, and the elements of the only one as far as they are known.
    pub(crate) fn infer(
        &self,
        evaluator: &Evaluator,
        name: &str,
        operands: &[ValueId],
        attrs: &OpAttrs,
        result_count: usize,
    ) -> Result<(Vec<TensorType>, Option<KnownElements>), Diagnostic> {
        let describe = |&value: &ValueId| Operand {
            ty: self.tensor_type(value),
            constant: self.constant(value),
            known: self.known_elements.get(&value).map(Vec::as_slice),
        };
        let operands: Vec<_> = operands.iter().map(describe).collect();
        let call = Call { evaluator, name, operands: &operands, attrs, result_count };
        let types = shapes::infer(&call)?;
        let known = match &types[..] {
            [ty] => shapes::known_elements(&call, ty),
            _ => None,
        };
        Ok((types, known))
    }
}

/// Whether an op gives other results each time it is called.
pub(crate) fn is_random(name: &str) -> bool {
    [
        "tf.Random",
        "tf.TruncatedNormal",
        "onnx.Random",
        "tf.Multinomial",
        "tfrt.Random",
        "onnx.Bernoulli",
        "onnx.Multinomial",
    ]
    .iter()
    .any(|prefix| name.starts_with(prefix))
}
