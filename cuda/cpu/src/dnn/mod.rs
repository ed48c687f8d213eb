//! Neural network primitives on the CPU devices, through `tfrt-math`.

mod convolution;
mod filters;
mod normalize;
mod pointwise;
mod pooling;
mod tensor;

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};
use tfrt_math::ShapeError;

use super::context::CpuContext;
use super::operation::Operation;
use super::stream::Stream;
pub(super) use filters::{Filters, Key};
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::{Dnn, DnnOperation, F32Math, Scaling, Tensor, TensorLayout};

use tensor::{Owned, check_images, check_type, with_work_type};

fn shape_error(error: ShapeError) -> DeviceError {
    DeviceError::new(Status::DnnBadParam, error.to_string())
}

impl Dnn for CpuContext {
    fn create_dnn(&self, _math: F32Math) -> Result<()> {
        self.device.check()
    }

    fn run_dnn(
        &self,
        _dnn: &(),
        stream: &Stream,
        operation: DnnOperation<'_>,
        scaling: Scaling,
    ) -> Result<()> {
        check(&operation)?;
        stream.core.submit(queued(operation, scaling)?)
    }
}

/// Checks that this device supports a call, so that the call fails and not the queued work.
fn check(operation: &DnnOperation<'_>) -> Result<()> {
    use DnnOperation as Op;
    // The first tensor has the rank of all others.
    let (mut tensors, are_images): (SmallVec<[&TensorLayout; 5]>, _) = match operation {
        Op::PoolingForward { x, y, .. } | Op::SoftmaxForward { x, y, .. } => (smallvec![x.0, y.0], true),
        Op::PoolingBackward { y, dy, x, dx, .. } => (smallvec![x.0, y.0, dy.0, dx.0], true),
        Op::ConvolutionForward { operands, .. }
        | Op::ConvolutionBackwardData { operands, .. }
        | Op::ConvolutionBackwardFilter { operands, .. } => {
            (smallvec![operands.x.0, operands.w.0, operands.y.0], true)
        }
        Op::BatchNormInference { operands, y, .. } | Op::BatchNormTraining { operands, y, .. } => {
            (smallvec![operands.x.0, operands.parameters, y.0], true)
        }
        Op::BatchNormBackward { operands, dy, dx, .. } => {
            (smallvec![operands.x.0, operands.parameters, dy.0, dx.0], true)
        }
        Op::SoftmaxBackward { y, dy, dx, .. } => (smallvec![y.0, dy.0, dx.0], true),
        Op::ActivationForward { x, y, .. } => (smallvec![x.0, y.0], false),
        Op::ActivationBackward { y, dy, x, dx, .. } => (smallvec![x.0, y.0, dy.0, dx.0], false),
        Op::AddTensor { a, c } => (smallvec![c.0, a.0], false),
    };
    if let Op::ConvolutionForward { epilogue, .. } = operation {
        tensors.extend(epilogue.bias.map(|bias| bias.0));
        tensors.extend(epilogue.residual.map(|(residual, _)| residual.0));
    }
    tensors.iter().try_for_each(|layout| check_type(layout.dtype))?;
    if are_images { check_images(tensors[0]) } else { Ok(()) }
}

/// Converts an operation to one for a stream: the memory that it accesses, and its function.
fn queued(operation: DnnOperation<'_>, scaling: Scaling) -> Result<Arc<Operation>> {
    use DnnOperation as Op;
    let name = operation.name();
    Ok(match operation {
        Op::PoolingForward { pooling, x, y } => {
            use pooling::forward;
            let (pooling, x, y) = (pooling.clone(), Owned::new(x), Owned::new(y));
            Operation::new(name, vec![x.read(), y.write()], move |run| {
                with_work_type!(x.layout.dtype, forward(run, &pooling, scaling, &x, &y))
            })
        }
        Op::PoolingBackward { pooling, y, dy, x, dx } => {
            use pooling::backward;
            let pooling = pooling.clone();
            let [y, dy, x, dx] = [y, dy, x, dx].map(Owned::new);
            let accesses = vec![y.read(), dy.read(), x.read(), dx.write()];
            Operation::new(name, accesses, move |run| {
                with_work_type!(x.layout.dtype, backward(run, &pooling, scaling, &dy, &x, &dx))
            })
        }
        Op::ConvolutionForward { convolution, operands, epilogue } => {
            use convolution::forward;
            let job = convolution::Job::new(convolution, scaling, operands)?;
            let epilogue = convolution::Epilogue::new(epilogue);
            let mut accesses = vec![job.x.read(), job.w.read(), job.y.write()];
            accesses.extend(epilogue.reads());
            Operation::new(name, accesses, move |run| {
                with_work_type!(job.y.layout.dtype, forward(run, &job, &epilogue))
            })
        }
        Op::ConvolutionBackwardData { convolution, operands } => {
            use convolution::backward_data;
            let job = convolution::Job::new(convolution, scaling, operands)?;
            let accesses = vec![job.x.write(), job.w.read(), job.y.read()];
            Operation::new(name, accesses, move |run| {
                with_work_type!(job.y.layout.dtype, backward_data(run, &job))
            })
        }
        Op::ConvolutionBackwardFilter { convolution, operands } => {
            use convolution::backward_filter;
            let job = convolution::Job::new(convolution, scaling, operands)?;
            let accesses = vec![job.x.read(), job.w.write(), job.y.read()];
            Operation::new(name, accesses, move |run| {
                with_work_type!(job.y.layout.dtype, backward_filter(run, &job))
            })
        }
        Op::BatchNormInference { operands, parameters, y } => {
            batch_norm_inference(name, normalize::Job::new(operands, Owned::new(y)), parameters, scaling)
        }
        Op::BatchNormTraining { operands, parameters, running, saved, y } => batch_norm_training(
            name,
            normalize::Job::new(operands, Owned::new(y)),
            parameters,
            running,
            saved,
            scaling,
        ),
        Op::BatchNormBackward { operands, dy, dx, scale, gradients, gradient_scaling, saved } => {
            let job = normalize::Job::new(operands, Owned::new(dx));
            batch_norm_backward(name, job, dy, scale, gradients, saved, [scaling, gradient_scaling])
        }
        Op::SoftmaxForward { mode, x, y } => {
            use pointwise::softmax;
            let (x, y) = (Owned::new(x), Owned::new(y));
            Operation::new(name, vec![x.read(), y.write()], move |run| {
                with_work_type!(x.layout.dtype, softmax(run, mode, scaling, &x, &y))
            })
        }
        Op::SoftmaxBackward { mode, y, dy, dx } => {
            use pointwise::softmax_gradient;
            let [y, dy, dx] = [y, dy, dx].map(Owned::new);
            let accesses = vec![y.read(), dy.read(), dx.write()];
            Operation::new(name, accesses, move |run| {
                with_work_type!(y.layout.dtype, softmax_gradient(run, mode, scaling, &y, &dy, &dx))
            })
        }
        Op::ActivationForward { activation, x, y } => {
            use pointwise::activation_forward;
            let (x, y) = (Owned::new(x), Owned::new(y));
            Operation::new(name, vec![x.read(), y.write()], move |run| {
                with_work_type!(x.layout.dtype, activation_forward(run, activation, scaling, &x, &y))
            })
        }
        Op::ActivationBackward { activation, y, dy, x, dx } => {
            use pointwise::activation_backward;
            let [y, dy, x, dx] = [y, dy, x, dx].map(Owned::new);
            let accesses = vec![y.read(), dy.read(), x.read(), dx.write()];
            Operation::new(name, accesses, move |run| {
                with_work_type!(
                    x.layout.dtype,
                    activation_backward(run, activation, scaling, [&y, &dy, &x], &dx)
                )
            })
        }
        Op::AddTensor { a, c } => {
            use pointwise::add;
            let (a, c) = (Owned::new(a), Owned::new(c));
            Operation::new(name, vec![a.read(), c.write()], move |run| {
                with_work_type!(c.layout.dtype, add(run, scaling, &a, &c))
            })
        }
    })
}

fn batch_norm_inference(
    name: &'static str,
    job: normalize::Job,
    parameters: [u64; 4],
    scaling: Scaling,
) -> Arc<Operation> {
    use normalize::inference;
    let parameters = parameters.map(|address| job.parameter(address));
    let mut accesses = vec![job.x.read(), job.y.write()];
    accesses.extend(parameters.iter().map(Owned::read));
    Operation::new(name, accesses, move |run| {
        with_work_type!(job.x.layout.dtype, inference(run, &job, scaling, &parameters))
    })
}

fn batch_norm_training(
    name: &'static str,
    job: normalize::Job,
    parameters: [u64; 2],
    running: Option<([u64; 2], f64)>,
    saved: Option<[u64; 2]>,
    scaling: Scaling,
) -> Arc<Operation> {
    use normalize::training;
    let parameters = parameters.map(|address| job.parameter(address));
    let running = running.map(|(addresses, factor)| (addresses.map(|a| job.parameter(a)), factor));
    let saved = saved.map(|addresses| addresses.map(|a| job.parameter(a)));
    let mut accesses = vec![job.x.read(), job.y.write()];
    accesses.extend(parameters.iter().map(Owned::read));
    accesses.extend(running.iter().flat_map(|(tensors, _)| tensors).map(Owned::write));
    accesses.extend(saved.iter().flatten().map(Owned::write));
    Operation::new(name, accesses, move |run| {
        let (running, saved) = (running.as_ref(), saved.as_ref());
        with_work_type!(job.x.layout.dtype, training(run, &job, scaling, &parameters, running, saved))
    })
}

fn batch_norm_backward(
    name: &'static str,
    job: normalize::Job,
    dy: Tensor<'_>,
    scale: u64,
    gradients: [u64; 2],
    saved: Option<[u64; 2]>,
    scaling: [Scaling; 2],
) -> Arc<Operation> {
    use normalize::backward;
    let (dy, scale) = (Owned::new(dy), job.parameter(scale));
    let gradients = gradients.map(|address| job.parameter(address));
    let saved = saved.map(|addresses| addresses.map(|a| job.parameter(a)));
    let mut accesses = vec![job.x.read(), dy.read(), scale.read(), job.y.write()];
    accesses.extend(gradients.iter().map(Owned::write));
    accesses.extend(saved.iter().flatten().map(Owned::read));
    Operation::new(name, accesses, move |run| {
        let saved = saved.as_ref();
        with_work_type!(job.x.layout.dtype, backward(run, &job, scaling, &dy, &scale, &gradients, saved))
    })
}
