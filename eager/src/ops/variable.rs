//! Variables: named tensors that programs set, read and change, and the training steps that change
//! them.
//!
//! A handle is a tensor of one string, the variable's name among the request's resources. Chains
//! order the uses of a variable. A program that changes a variable while it is used elsewhere gets
//! a DataRace error.
//!
//! A value is stored where the op that set it ran, in host or device memory, and stays there when
//! an op in the same place changes it. The device implementations are in `device/variable.rs`.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use parking_lot::Mutex;
use tfrt_host::{Chain, DType, Diagnostic, ErrorCode, ExecutionContext};
use tfrt_math::zip_in_place;
use tfrt_tensor::{
    Accessor, DenseHostTensor, Element, HostTensor, PartialTensorShape, StringHostTensor, TensorMetadata,
    TensorShape,
};

use super::complex::{Field, Wide};
use super::shape::{numbers, out_type};
use super::support::{Computed, invalid, take, value, with_field, with_float, with_number_or_complex};
use super::types;
use crate::{AttrSpec, CpuCall, DeviceTensor, Forms, OpAttrs, OpRegistry, OpResult, attr};

static ME: Accessor = Accessor::new("tf variable op");

/// A variable's value.
#[derive(Clone)]
pub(super) enum Value {
    Host(HostTensor),
    Device(DeviceTensor),
}

impl Value {
    pub(super) fn metadata(&self) -> &TensorMetadata {
        match self {
            Self::Host(tensor) => tensor.metadata(),
            Self::Device(tensor) => tensor.metadata(),
        }
    }
}

/// The state of a variable.
enum State {
    Unset,
    Set(Value),
    /// An op has taken the value in order to change it.
    Changing,
}

pub(super) struct Variable {
    dtype: DType,
    /// The known part of its shape.
    shape: PartialTensorShape,
    state: Mutex<State>,
}

impl Variable {
    /// Returns the value, shared.
    pub(super) fn read(&self, name: &str) -> Result<Value, Diagnostic> {
        match &*self.state.lock() {
            State::Set(value) => Ok(value.clone()),
            State::Unset => Err(unset(name)),
            State::Changing => Err(changing(name)),
        }
    }

    /// Sets the value, for the first time or again.
    pub(super) fn assign(&self, name: &str, value: Value) -> Result<(), Diagnostic> {
        let TensorMetadata { dtype, shape } = value.metadata();
        if *dtype != self.dtype {
            return Err(invalid(format!(
                "Trying to assign variable with wrong dtype. Expected {} got {}",
                self.dtype, dtype
            )));
        }
        if !self.shape.admits(shape) {
            return Err(invalid(format!(
                "Trying to assign to variable {name} with tensor with wrong shape. Expected {} got {}",
                self.shape, shape
            )));
        }
        let mut state = self.state.lock();
        if matches!(*state, State::Changing) {
            return Err(changing(name));
        }
        *state = State::Set(value);
        Ok(())
    }

    fn is_set(&self) -> bool {
        !matches!(*self.state.lock(), State::Unset)
    }
}

/// Checks that a variable's value has the type that attribute `dtype` names, if there is one.
pub(super) fn check_type(attrs: &OpAttrs, dtype: DType) -> Result<(), Diagnostic> {
    match attrs.optional::<DType>("dtype")?.filter(|&expected| expected != dtype) {
        Some(expected) => {
            Err(invalid(format!("Trying to read variable with wrong dtype. Expected {expected} got {dtype}")))
        }
        None => Ok(()),
    }
}

fn unset(name: &str) -> Diagnostic {
    let message = format!(
        "Could not find variable {name}. This could mean that the variable has been deleted or is uninitialized"
    );
    Diagnostic::new(ErrorCode::FailedPrecondition, message)
}

fn changing(name: &str) -> Diagnostic {
    let message = format!("variable {name} is used while another op changes it; no chain orders the two");
    Diagnostic::new(ErrorCode::DataRace, message)
}

/// A variable's value, taken in order to change it. Other ops find the variable in the state
/// [`State::Changing`]. The value is returned when this is dropped.
pub(super) struct Taken {
    variable: Arc<Variable>,
    value: Option<Value>,
}

impl Taken {
    pub(super) fn new(cx: &ExecutionContext, handle: &HostTensor) -> Result<Self, Diagnostic> {
        let (name, variable) = find(cx, handle)?;
        let mut state = variable.state.lock();
        match std::mem::replace(&mut *state, State::Changing) {
            State::Set(value) => {
                drop(state);
                Ok(Self { variable, value: Some(value) })
            }
            State::Unset => {
                *state = State::Unset;
                Err(unset(&name))
            }
            State::Changing => Err(changing(&name)),
        }
    }

    /// Returns the value. There are no other handles to it except those of earlier readers.
    pub(super) fn value(&self) -> Result<&Value, Diagnostic> {
        self.value.as_ref().ok_or_else(|| Diagnostic::internal("a variable's value is gone"))
    }

    /// Sets the value to be returned.
    pub(super) fn set(&mut self, value: Value) {
        self.value = Some(value);
    }

    /// Checks that the other tensor matches the value element by element.
    pub(super) fn check(&self, other: &TensorMetadata, what: &str) -> Result<(), Diagnostic> {
        let own = self.value()?.metadata();
        if other == own {
            return Ok(());
        }
        Err(invalid(format!("var and {what} do not have the same shape and type: {own} {other}")))
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        *self.variable.state.lock() = self.value.take().map_or(State::Unset, State::Set);
    }
}

/// A variable's value in host memory, taken in order to change it.
struct Change {
    taken: Taken,
    tensor: DenseHostTensor,
}

impl Change {
    fn begin(call: &CpuCall<'_>, handle: &HostTensor) -> Result<Self, Diagnostic> {
        let mut taken = Taken::new(call.cx, handle)?;
        let allocator = call.cx.host().allocator();
        // Earlier readers of the value keep it unchanged.
        let tensor = match taken.value()? {
            Value::Host(HostTensor::Dense(dense))
                if dense.buffer().is_writable() && dense.buffer().is_exclusive() =>
            {
                dense.clone()
            }
            Value::Host(HostTensor::Dense(dense)) => dense.deep_copy(&ME, allocator)?,
            Value::Host(other) => other.to_dense(&ME, allocator)?,
            Value::Device(_) => {
                let message = "the variable is in a device's memory, where an op of a device changes it";
                return Err(Diagnostic::new(ErrorCode::FailedPrecondition, message));
            }
        };
        taken.set(Value::Host(tensor.clone().into()));
        Ok(Self { taken, tensor })
    }

    fn check(&self, other: &HostTensor, what: &str) -> Result<(), Diagnostic> {
        self.taken.check(other.metadata(), what)
    }
}

/// Returns the variable that a handle names, with its name.
pub(super) fn find(
    cx: &ExecutionContext,
    handle: &HostTensor,
) -> Result<(String, Arc<Variable>), Diagnostic> {
    let [name] = handle.string()?.strings() else {
        return Err(invalid("a variable's handle is a tensor of one string"));
    };
    let name = name.to_string();
    let variable = cx.resources().get::<Variable>(&key(&name)).map_err(|_| unset(&name))?;
    Ok((name, variable))
}

/// Returns a variable's name among the resources.
fn key(name: &str) -> String {
    format!("tf.variable/{name}")
}

/// Returns a handle to the variable that the attributes name, and creates it if it does not exist.
pub(super) fn handle(cx: &ExecutionContext, attrs: &OpAttrs) -> Computed {
    static ANONYMOUS: AtomicU64 = AtomicU64::new(0);
    let text = |name| Ok::<&str, Diagnostic>(attrs.optional(name)?.unwrap_or_default());
    let (container, shared) = (text("container")?, text("shared_name")?);
    let name = match shared {
        "" => format!("_AnonymousVar{}", ANONYMOUS.fetch_add(1, Ordering::Relaxed)),
        shared => format!("{container}/{shared}"),
    };
    let dtype = attrs.required::<DType>("dtype")?;
    let shape = attrs.optional::<&PartialTensorShape>("shape")?;
    let shape = shape.cloned().unwrap_or_else(PartialTensorShape::unranked);
    let create = || Variable { dtype, shape: shape.clone(), state: Mutex::new(State::Unset) };
    let variable = cx.resources().get_or_create(&key(&name), create)?;
    if variable.dtype != dtype || variable.shape != shape {
        return Err(invalid(format!(
            "variable {name} has another type or shape: {} {}",
            variable.dtype, variable.shape
        )));
    }
    let handle = StringHostTensor::new(TensorShape::scalar(), vec![name])?;
    Ok(OpResult { done: Some(Chain.into()), ..handle.into() })
}

/// Returns the only argument.
fn one_of<'c>(call: &'c CpuCall<'_>) -> Result<&'c HostTensor, Diagnostic> {
    let [handle] = take(call)?;
    Ok(handle)
}

fn done() -> Computed {
    Ok(Chain.into())
}

fn read(call: CpuCall<'_>) -> Computed {
    let [handle] = take(&call)?;
    let (name, variable) = find(call.cx, handle)?;
    let value = variable.read(&name)?;
    check_type(call.attrs, value.metadata().dtype)?;
    let tensor = match value {
        Value::Host(tensor) => tensor.into(),
        Value::Device(tensor) => OpResult::from(tensor.to_host(call.cx)?),
    };
    Ok(OpResult { done: Some(Chain.into()), ..tensor })
}

fn assign(call: CpuCall<'_>) -> Computed {
    let [handle, tensor] = take(&call)?;
    let (name, variable) = find(call.cx, handle)?;
    variable.assign(&name, Value::Host(tensor.clone()))?;
    done()
}

/// Computes `variable ± tensor`.
fn assign_with(call: &CpuCall<'_>, adds: bool) -> Computed {
    let [handle, tensor] = take(call)?;
    let change = Change::begin(call, handle)?;
    change.check(tensor, "value")?;
    with_number_or_complex!(
        tensor.dtype(),
        "an op that changes a variable",
        |T| zip_with::<T>(&change, tensor, if adds { tfrt_math::ops::add } else { tfrt_math::ops::sub }),
        zip_with::<T>(&change, tensor, if adds { |x, y| x + y } else { |x, y| x - y })
    )
}

/// Sets each element of a variable to `f` of it and the tensor's element.
fn zip_with<T: Element>(change: &Change, tensor: &HostTensor, f: fn(T, T) -> T) -> Computed {
    let (mut own, delta) = (change.tensor.write::<T>(&ME)?, tensor.dense()?.read::<T>(&ME)?);
    zip_in_place(&mut own, &delta, f);
    drop(own);
    done()
}

pub(super) fn is_initialized(cx: &ExecutionContext, handle: &HostTensor) -> Computed {
    let is_set = find(cx, handle).is_ok_and(|(_, variable)| variable.is_set());
    let answer = DenseHostTensor::full(TensorShape::scalar(), is_set, cx.host().allocator())?;
    Ok(OpResult { done: Some(Chain.into()), ..answer.into() })
}

/// Returns the extents of a variable's value.
pub(super) fn shape(cx: &ExecutionContext, handle: &HostTensor, attrs: &OpAttrs) -> Computed {
    let (name, variable) = find(cx, handle)?;
    let value = variable.read(&name)?;
    let shape = &value.metadata().shape;
    let result = TensorMetadata::new(out_type(attrs)?, [shape.rank()]);
    let dims = numbers(&result, cx, shape.dims())?;
    Ok(OpResult { done: Some(Chain.into()), ..dims.into() })
}

pub(super) fn destroy(cx: &ExecutionContext, handle: &HostTensor) -> Computed {
    let (name, _) = find(cx, handle)?;
    cx.resources().remove(&key(&name));
    done()
}

/// Returns a numeric argument of a training op.
fn number<T: Field>(tensor: &HostTensor, what: &str) -> Result<T::Wide, Diagnostic> {
    Ok(value::<T>(tensor, what)?.wide())
}

/// Computes `variable -= alpha · delta`.
fn gradient_descent(call: CpuCall<'_>) -> Computed {
    let [handle, alpha, delta] = take(&call)?;
    let change = Change::begin(&call, handle)?;
    change.check(delta, "delta")?;
    with_field!(delta.dtype(), "tf.ResourceApplyGradientDescent", |T| {
        let alpha = number::<T>(alpha, "alpha")?;
        let (mut own, delta) = (change.tensor.write::<T>(&ME)?, delta.dense()?.read::<T>(&ME)?);
        zip_in_place(&mut own, &delta, |x, delta| T::narrow(x.wide() - alpha * delta.wide()));
        drop(own);
        done()
    })
}

/// Computes `accumulator = momentum · accumulator + gradient`, `variable -= rate · accumulator`;
/// with Nesterov's method `variable -= rate · (gradient + momentum · accumulator)`.
fn momentum(call: CpuCall<'_>) -> Computed {
    let [handle, accumulator, rate, gradient, momentum] = take(&call)?;
    let (own, sum) = (Change::begin(&call, handle)?, Change::begin(&call, accumulator)?);
    own.check(gradient, "grad")?;
    sum.check(gradient, "grad")?;
    let nesterov = call.attrs.optional("use_nesterov")?.unwrap_or(false);
    with_field!(gradient.dtype(), "tf.ResourceApplyMomentum", |T| {
        let (rate, momentum) = (number::<T>(rate, "lr")?, number::<T>(momentum, "momentum")?);
        let gradient = gradient.dense()?.read::<T>(&ME)?;
        let (mut x, mut sums) = (own.tensor.write::<T>(&ME)?, sum.tensor.write::<T>(&ME)?);
        for ((x, sum), g) in x.iter_mut().zip(sums.iter_mut()).zip(gradient.iter()) {
            let (g, new) = (g.wide(), momentum * sum.wide() + g.wide());
            let step = if nesterov { g + momentum * new } else { new };
            (*sum, *x) = (T::narrow(new), T::narrow(x.wide() - rate * step));
        }
        drop((x, sums));
        done()
    })
}

/// Computes `accumulator = momentum · accumulator - rate · gradient`, `variable += accumulator`;
/// with Nesterov's method `variable += momentum · accumulator - rate · gradient`.
fn keras_momentum(call: CpuCall<'_>) -> Computed {
    let [handle, accumulator, rate, gradient, momentum] = take(&call)?;
    let (own, sum) = (Change::begin(&call, handle)?, Change::begin(&call, accumulator)?);
    own.check(gradient, "grad")?;
    sum.check(gradient, "grad")?;
    let nesterov = call.attrs.optional("use_nesterov")?.unwrap_or(false);
    with_field!(gradient.dtype(), "tf.ResourceApplyKerasMomentum", |T| {
        let (rate, momentum) = (number::<T>(rate, "lr")?, number::<T>(momentum, "momentum")?);
        let gradient = gradient.dense()?.read::<T>(&ME)?;
        let (mut x, mut sums) = (own.tensor.write::<T>(&ME)?, sum.tensor.write::<T>(&ME)?);
        for ((x, sum), g) in x.iter_mut().zip(sums.iter_mut()).zip(gradient.iter()) {
            let step = rate * g.wide();
            let new = momentum * sum.wide() - step;
            let moved = if nesterov { momentum * new - step } else { new };
            (*sum, *x) = (T::narrow(new), T::narrow(x.wide() + moved));
        }
        drop((x, sums));
        done()
    })
}

/// `square += (1 - rho) · (gradient² - square)`, `accumulator = momentum · accumulator + rate ·
/// gradient / √(square + epsilon)`, `variable -= accumulator`.
fn rms_prop(call: CpuCall<'_>) -> Computed {
    let [handle, square, accumulator, rate, rho, momentum, epsilon, gradient] = take(&call)?;
    let own = Change::begin(&call, handle)?;
    let (square, sum) = (Change::begin(&call, square)?, Change::begin(&call, accumulator)?);
    for change in [&own, &square, &sum] {
        change.check(gradient, "grad")?;
    }
    with_float!(gradient.dtype(), "tf.ResourceApplyRMSProp", |T| {
        let (rate, rho) = (number::<T>(rate, "lr")?, number::<T>(rho, "rho")?);
        let (momentum, epsilon) = (number::<T>(momentum, "momentum")?, number::<T>(epsilon, "epsilon")?);
        let gradient = gradient.dense()?.read::<T>(&ME)?;
        let (mut x, mut sums) = (own.tensor.write::<T>(&ME)?, sum.tensor.write::<T>(&ME)?);
        let mut squares = square.tensor.write::<T>(&ME)?;
        let state = squares.iter_mut().zip(sums.iter_mut());
        for ((x, (square, sum)), g) in x.iter_mut().zip(state).zip(gradient.iter()) {
            let g = g.wide();
            let mean = square.wide() + (g * g - square.wide()) * (1.0 - rho);
            let new = momentum * sum.wide() + rate * g / (mean + epsilon).sqrt();
            (*square, *sum, *x) = (T::narrow(mean), T::narrow(new), T::narrow(x.wide() - new));
        }
        drop((x, sums, squares));
        done()
    })
}

/// Computes Kingma and Ba's step, as `tf.raw_ops.ResourceApplyAdam` documents it.
fn adam(call: CpuCall<'_>) -> Computed {
    let [handle, mean, variance, beta1_power, beta2_power, rate, beta1, beta2, epsilon, gradient] =
        take(&call)?;
    let own = Change::begin(&call, handle)?;
    let (mean, variance) = (Change::begin(&call, mean)?, Change::begin(&call, variance)?);
    for change in [&own, &mean, &variance] {
        change.check(gradient, "grad")?;
    }
    let nesterov = call.attrs.optional("use_nesterov")?.unwrap_or(false);
    with_field!(gradient.dtype(), "tf.ResourceApplyAdam", |T| {
        let number = |tensor, what| number::<T>(tensor, what);
        let (beta1_power, beta2_power) =
            (number(beta1_power, "beta1_power")?, number(beta2_power, "beta2_power")?);
        let (beta1, beta2) = (number(beta1, "beta1")?, number(beta2, "beta2")?);
        let epsilon = number(epsilon, "epsilon")?;
        let alpha = number(rate, "lr")? * beta2_power.one_minus().sqrt() / beta1_power.one_minus();
        let gradient = gradient.dense()?.read::<T>(&ME)?;
        let (mut x, mut m) = (own.tensor.write::<T>(&ME)?, mean.tensor.write::<T>(&ME)?);
        let mut v = variance.tensor.write::<T>(&ME)?;
        for (((x, m), v), g) in x.iter_mut().zip(m.iter_mut()).zip(v.iter_mut()).zip(gradient.iter()) {
            let g = g.wide();
            let first = m.wide() + (g - m.wide()) * beta1.one_minus();
            let second = v.wide() + (g * g - v.wide()) * beta2.one_minus();
            let step = if nesterov { beta1 * first + beta1.one_minus() * g } else { first };
            *x = T::narrow(x.wide() - alpha * step / (second.sqrt() + epsilon));
            (*m, *v) = (T::narrow(first), T::narrow(second));
        }
        drop((x, m, v));
        done()
    })
}

const VAR_HANDLE_OP: [AttrSpec; 4] = [
    attr::string_or("container", ""),
    attr::string_or("shared_name", ""),
    attr::dtype("dtype"),
    attr::shape("shape").optional(),
];

pub(super) fn register(ops: &mut OpRegistry) {
    let handles = Forms::STRING;
    let any = Forms::SCALAR_OR_STRING;
    ops.add("tf.VarHandleOp")
        .types(types::ANY)
        .attrs(VAR_HANDLE_OP)
        .cpu(|call| handle(call.cx, call.attrs))
        .external();
    ops.add("tf.ReadVariableOp")
        .types(types::ANY)
        .attrs([attr::dtype("dtype").optional()])
        .cpu(read)
        .forms(handles)
        .reads(0);
    ops.add("tf.AssignVariableOp").types(types::ANY).cpu(assign).forms(any).writes(0);
    ops.add("tf.AssignAddVariableOp")
        .types(types::FIELDS)
        .cpu(|call| assign_with(&call, true))
        .forms(handles)
        .reads(0)
        .writes(0);
    ops.add("tf.AssignSubVariableOp")
        .types(types::FIELDS)
        .cpu(|call| assign_with(&call, false))
        .forms(handles)
        .reads(0)
        .writes(0);
    ops.add("tf.VarIsInitializedOp")
        .types(types::ANY)
        .cpu(|call| is_initialized(call.cx, one_of(&call)?))
        .forms(handles)
        .reads(0);
    ops.add("tf.VariableShape")
        .types(types::ANY)
        .attrs([attr::dtype_or("out_type", DType::I32)])
        .cpu(|call| shape(call.cx, one_of(&call)?, call.attrs))
        .forms(handles)
        .reads(0);
    ops.add("tf.DestroyResourceOp")
        .types(types::ANY)
        .cpu(|call| destroy(call.cx, one_of(&call)?))
        .forms(handles)
        .writes(0);
    ops.add("tf.ResourceApplyGradientDescent")
        .types(types::FRACTIONS)
        .attrs([attr::boolean_or("use_locking", false)])
        .cpu(gradient_descent)
        .forms(handles)
        .reads(0)
        .writes(0);
    ops.add("tf.ResourceApplyMomentum")
        .types(types::FRACTIONS)
        .attrs([attr::boolean_or("use_nesterov", false), attr::boolean_or("use_locking", false)])
        .cpu(momentum)
        .forms(handles)
        .reads(0)
        .reads(1)
        .writes(0)
        .writes(1);
    ops.add("tf.ResourceApplyKerasMomentum")
        .types(types::FRACTIONS)
        .attrs([attr::boolean_or("use_nesterov", false), attr::boolean_or("use_locking", false)])
        .cpu(keras_momentum)
        .forms(handles)
        .reads(0)
        .reads(1)
        .writes(0)
        .writes(1);
    ops.add("tf.ResourceApplyRMSProp")
        .types(types::FLOATS)
        .attrs([attr::boolean_or("use_locking", false)])
        .cpu(rms_prop)
        .forms(handles)
        .reads(0)
        .reads(1)
        .reads(2)
        .writes(0)
        .writes(1)
        .writes(2);
    ops.add("tf.ResourceApplyAdam")
        .types(types::FRACTIONS)
        .attrs([attr::boolean_or("use_nesterov", false), attr::boolean_or("use_locking", false)])
        .cpu(adam)
        .forms(handles)
        .reads(0)
        .reads(1)
        .reads(2)
        .writes(0)
        .writes(1)
        .writes(2);
}
