//! Variables in device memory, and training steps there. Nothing is copied to the host: the numbers
//! that an optimizer needs are read on the device.
//!
//! A value is changed in place if it has no other user; work that is queued later on the same
//! stream sees the change. A reader that holds the old value keeps it unchanged. Values in host
//! memory or on another device are copied to the device of the op that changes them.

use tfrt_host::{Chain, Diagnostic};
use tfrt_launch::{AdamBuffers, AdamNumbers, Binary, Unary};
use tfrt_tensor::HostTensor;

use super::{
    Queued, check_floats, count,
    elementwise::{combine, store},
    expression::{map, one_minus, zip},
};
use crate::{
    DeviceArgument, DeviceCall, DeviceOpResult, DeviceTensor, HostArguments, OpRegistry, OpResult,
    ops::{
        support::{invalid, is_complex},
        variable::{Taken, Value, check_type, destroy, find, handle, is_initialized, shape},
    },
    registry::wrong_count,
};

/// A variable's value, taken in order to change it on the queue.
struct Change {
    taken: Taken,
    /// A new tensor that receives the changed value, if the old one has other users.
    replacement: Option<DeviceTensor>,
}

impl Change {
    fn begin(call: &DeviceCall<'_>, at: usize) -> DeviceOpResult<Self> {
        let taken = Taken::new(call.cx, call.host(at)?)?;
        let replacement = match taken.value()? {
            Value::Host(tensor) => Some(call.upload(tensor)?),
            Value::Device(tensor) => {
                let is_here = std::sync::Arc::ptr_eq(tensor.queue(), call.queue);
                if is_here && tensor.buffer().is_exclusive() { None } else { Some(call.copy(tensor)?) }
            }
        };
        Ok(Self { taken, replacement })
    }

    /// Returns the tensor to change.
    fn tensor(&self) -> Result<&DeviceTensor, Diagnostic> {
        match (&self.replacement, self.taken.value()?) {
            (Some(tensor), _) | (None, Value::Device(tensor)) => Ok(tensor),
            (None, Value::Host(_)) => Err(Diagnostic::internal("a variable is not on the device")),
        }
    }

    fn check(&self, other: &DeviceTensor, what: &str) -> Result<(), Diagnostic> {
        self.taken.check(other.metadata(), what)
    }

    /// Keeps the change, which has been queued.
    fn keep(mut self) {
        if let Some(tensor) = self.replacement.take() {
            self.taken.set(Value::Device(tensor));
        }
    }
}

fn done() -> Queued {
    Ok(Chain.into())
}

/// Returns the handle that is the only argument.
fn only<'c>(call: &'c DeviceCall<'_>) -> Result<&'c HostTensor, Diagnostic> {
    match call.arguments {
        [DeviceArgument::Host(handle)] => Ok(handle),
        arguments => Err(wrong_count(1, arguments.len())),
    }
}

fn read(call: &DeviceCall<'_>) -> Queued {
    let (name, variable) = find(call.cx, only(call)?)?;
    let value = variable.read(&name)?;
    check_type(call.attrs, value.metadata().dtype)?;
    let tensor = match value {
        Value::Host(tensor) => call.upload(&tensor)?,
        Value::Device(tensor) => call.here(&tensor)?,
    };
    Ok(OpResult { done: Some(Chain.into()), ..tensor.into() })
}

fn assign(call: &DeviceCall<'_>) -> Queued {
    let (name, variable) = find(call.cx, call.host(0)?)?;
    variable.assign(&name, Value::Device(call.tensor(1)?.clone()))?;
    done()
}

/// Computes `variable ± tensor`.
fn assign_with(call: &DeviceCall<'_>, function: Binary) -> Queued {
    let (change, delta) = (Change::begin(call, 0)?, call.tensor(1)?);
    change.check(delta, "value")?;
    let own = change.tensor()?;
    combine(call, function, own, own, delta)?;
    change.keep();
    done()
}

/// Returns a numeric argument of a training op, which must have the type of the variable.
fn number<'c>(
    call: &'c DeviceCall<'_>,
    at: usize,
    what: &str,
    own: &DeviceTensor,
) -> DeviceOpResult<&'c DeviceTensor> {
    let number = call.tensor(at)?;
    if number.shape().rank() == 0 && number.dtype() == own.dtype() {
        return Ok(number);
    }
    let (metadata, dtype) = (number.metadata(), own.dtype());
    Err(invalid(format!("{what} must be a scalar of type {dtype}, got {metadata}")).into())
}

fn gradient_descent(call: &DeviceCall<'_>) -> Queued {
    let (change, delta) = (Change::begin(call, 0)?, call.tensor(2)?);
    change.check(delta, "delta")?;
    let own = change.tensor()?;
    if is_complex(own.dtype()) {
        let step = zip(call, Binary::Mul, delta, number(call, 1, "alpha", own)?)?;
        combine(call, Binary::Sub, own, own, &step)?;
        change.keep();
        return done();
    }
    let numbers = [delta.buffer(), number(call, 1, "alpha", own)?.buffer()];
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.apply_gradient_descent(stream, own.dtype(), own.buffer(), numbers, count(own))?;
    change.keep();
    done()
}

fn momentum(call: &DeviceCall<'_>) -> Queued {
    let (change, sums, gradient) = (Change::begin(call, 0)?, Change::begin(call, 1)?, call.tensor(3)?);
    change.check(gradient, "grad")?;
    sums.check(gradient, "grad")?;
    let nesterov = call.attrs.optional("use_nesterov")?.unwrap_or(false);
    let (own, sum) = (change.tensor()?, sums.tensor()?);
    let (rate, momentum) = (number(call, 2, "lr", own)?, number(call, 4, "momentum", own)?);
    if is_complex(own.dtype()) {
        let new = zip(call, Binary::Add, &zip(call, Binary::Mul, sum, momentum)?, gradient)?;
        let step = match nesterov {
            true => zip(call, Binary::Add, gradient, &zip(call, Binary::Mul, &new, momentum)?)?,
            false => new.clone(),
        };
        let step = zip(call, Binary::Mul, &step, rate)?;
        // The change in place comes last, because a call that runs out of memory is repeated.
        store(call, sum, &new)?;
        combine(call, Binary::Sub, own, own, &step)?;
        change.keep();
        sums.keep();
        return done();
    }
    let numbers = [gradient.buffer(), rate.buffer(), momentum.buffer()];
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    let changed = [own.buffer(), sum.buffer()];
    kernels.apply_momentum(stream, own.dtype(), changed, numbers, count(own), nesterov)?;
    change.keep();
    sums.keep();
    done()
}

fn keras_momentum(call: &DeviceCall<'_>) -> Queued {
    let (change, sums, gradient) = (Change::begin(call, 0)?, Change::begin(call, 1)?, call.tensor(3)?);
    change.check(gradient, "grad")?;
    sums.check(gradient, "grad")?;
    let nesterov = call.attrs.optional("use_nesterov")?.unwrap_or(false);
    let (own, sum) = (change.tensor()?, sums.tensor()?);
    if !is_complex(own.dtype()) {
        check_floats(own.dtype(), "tf.ResourceApplyKerasMomentum")?;
    }
    let momentum = number(call, 4, "momentum", own)?;
    let step = zip(call, Binary::Mul, gradient, number(call, 2, "lr", own)?)?;
    let after = |sum| zip(call, Binary::Sub, &zip(call, Binary::Mul, sum, momentum)?, &step);
    let mut moved = after(sum)?;
    if nesterov {
        moved = after(&moved)?;
    }
    // The change in place comes last, because a call that runs out of memory is repeated.
    combine(call, Binary::Mul, sum, sum, momentum)?;
    combine(call, Binary::Sub, sum, sum, &step)?;
    combine(call, Binary::Add, own, own, &moved)?;
    change.keep();
    sums.keep();
    done()
}

fn rms_prop(call: &DeviceCall<'_>) -> Queued {
    let changes = [Change::begin(call, 0)?, Change::begin(call, 1)?, Change::begin(call, 2)?];
    let gradient = call.tensor(7)?;
    for change in &changes {
        change.check(gradient, "grad")?;
    }
    let [own, square, sum] = [changes[0].tensor()?, changes[1].tensor()?, changes[2].tensor()?];
    check_floats(own.dtype(), "tf.ResourceApplyRMSProp")?;
    let number = |at, what| number(call, at, what, own);
    let (rate, rho) = (number(3, "lr")?, number(4, "rho")?);
    let (momentum, epsilon) = (number(5, "momentum")?, number(6, "epsilon")?);
    let rest = one_minus(call, rho)?;
    let distance = zip(call, Binary::Sub, &map(call, Unary::Square, gradient)?, square)?;
    let change = zip(call, Binary::Mul, &distance, &rest)?;
    let mean = zip(call, Binary::Add, square, &change)?;
    let root = map(call, Unary::Sqrt, &zip(call, Binary::Add, &mean, epsilon)?)?;
    let step = zip(call, Binary::Div, &zip(call, Binary::Mul, gradient, rate)?, &root)?;
    // The change in place comes last, because a call that runs out of memory is repeated.
    combine(call, Binary::Add, square, square, &change)?;
    combine(call, Binary::Mul, sum, sum, momentum)?;
    combine(call, Binary::Add, sum, sum, &step)?;
    combine(call, Binary::Sub, own, own, sum)?;
    changes.into_iter().for_each(Change::keep);
    done()
}

/// Computes a step of Adam with complex numbers, for which there is no fused kernel.
fn complex_adam(
    call: &DeviceCall<'_>,
    [own, mean, square]: [&DeviceTensor; 3],
    gradient: &DeviceTensor,
    nesterov: bool,
) -> DeviceOpResult<()> {
    let number = |at, what| number(call, at, what, own);
    let times = |a: &DeviceTensor, b: &DeviceTensor| zip(call, Binary::Mul, a, b);
    let over = |a: &DeviceTensor, b: &DeviceTensor| zip(call, Binary::Div, a, b);
    let plus = |a: &DeviceTensor, b: &DeviceTensor| zip(call, Binary::Add, a, b);
    let (beta1, rest1) = (number(6, "beta1")?, one_minus(call, number(6, "beta1")?)?);
    let rest2 = one_minus(call, number(7, "beta2")?)?;
    let [power1, power2] = [number(3, "beta1_power")?, number(4, "beta2_power")?];
    let rate = times(number(5, "lr")?, &map(call, Unary::Sqrt, &one_minus(call, power2)?)?)?;
    let rate = over(&rate, &one_minus(call, power1)?)?;
    // Moves the mean by this part of the way towards the new value.
    let towards = |mean: &DeviceTensor, new: &DeviceTensor, part: &DeviceTensor| {
        plus(mean, &times(&zip(call, Binary::Sub, new, mean)?, part)?)
    };
    let first = towards(mean, gradient, &rest1)?;
    let second = towards(square, &map(call, Unary::Square, gradient)?, &rest2)?;
    let step = match nesterov {
        true => plus(&times(&first, beta1)?, &times(gradient, &rest1)?)?,
        false => first.clone(),
    };
    let root = plus(&map(call, Unary::Sqrt, &second)?, number(8, "epsilon")?)?;
    let step = over(&times(&step, &rate)?, &root)?;
    // The change in place comes last, because a call that runs out of memory is repeated.
    store(call, mean, &first)?;
    store(call, square, &second)?;
    combine(call, Binary::Sub, own, own, &step)
}

fn adam(call: &DeviceCall<'_>) -> Queued {
    let changes = [Change::begin(call, 0)?, Change::begin(call, 1)?, Change::begin(call, 2)?];
    let gradient = call.tensor(9)?;
    for change in &changes {
        change.check(gradient, "grad")?;
    }
    let nesterov = call.attrs.optional("use_nesterov")?.unwrap_or(false);
    let [own, mean, square] = [changes[0].tensor()?, changes[1].tensor()?, changes[2].tensor()?];
    if is_complex(own.dtype()) {
        complex_adam(call, [own, mean, square], gradient, nesterov)?;
        changes.into_iter().for_each(Change::keep);
        return done();
    }
    let number = |at, what| number(call, at, what, own).map(DeviceTensor::buffer);
    let numbers = AdamNumbers {
        power1: number(3, "beta1_power")?,
        power2: number(4, "beta2_power")?,
        rate: number(5, "lr")?,
        beta1: number(6, "beta1")?,
        beta2: number(7, "beta2")?,
        epsilon: number(8, "epsilon")?,
    };
    let changed = AdamBuffers { weights: own.buffer(), means: mean.buffer(), squares: square.buffer() };
    let (kernels, stream, n) = (call.queue.kernels(), call.queue.stream(), count(own));
    kernels.apply_adam(stream, own.dtype(), changed, gradient.buffer(), numbers, n, nesterov)?;
    changes.into_iter().for_each(Change::keep);
    done()
}

pub(super) fn register(ops: &mut OpRegistry) {
    let handles = HostArguments::at;
    ops.extend("tf.VarHandleOp").device(|call| Ok(handle(call.cx, call.attrs)?)).results_on_host();
    ops.extend("tf.ReadVariableOp").device_with(read, handles(&[0]));
    ops.extend("tf.AssignVariableOp").device_with(assign, handles(&[0]));
    ops.extend("tf.AssignAddVariableOp").device_with(|call| assign_with(call, Binary::Add), handles(&[0]));
    ops.extend("tf.AssignSubVariableOp").device_with(|call| assign_with(call, Binary::Sub), handles(&[0]));
    ops.extend("tf.VarIsInitializedOp")
        .device_with(|call| Ok(is_initialized(call.cx, only(call)?)?), handles(&[0]))
        .results_on_host();
    ops.extend("tf.VariableShape")
        .device_with(|call| Ok(shape(call.cx, only(call)?, call.attrs)?), handles(&[0]))
        .results_on_host();
    ops.extend("tf.DestroyResourceOp").device_with(|call| Ok(destroy(call.cx, only(call)?)?), handles(&[0]));
    ops.extend("tf.ResourceApplyGradientDescent").device_with(gradient_descent, handles(&[0]));
    ops.extend("tf.ResourceApplyMomentum").device_with(momentum, handles(&[0, 1]));
    ops.extend("tf.ResourceApplyKerasMomentum").device_with(keras_momentum, handles(&[0, 1]));
    ops.extend("tf.ResourceApplyRMSProp").device_with(rms_prop, handles(&[0, 1, 2]));
    ops.extend("tf.ResourceApplyAdam").device_with(adam, handles(&[0, 1, 2]));
}
