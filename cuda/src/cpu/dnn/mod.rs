//! Neural network primitives on the CPU devices, through `tfrt-math`.

mod convolution;
mod normalize;
mod pointwise;
mod pooling;
mod tensor;

use tfrt_math::ShapeError;

use super::context::CpuContext;
use super::operation::Operation;
use super::stream::Stream;
use crate::error::{DeviceError, Result, Status};
use crate::hal::{
    Activation, BatchNormOperands, Convolution, ConvolutionEpilogue, ConvolutionOperands, Dnn, Pooling,
    Scaling, SoftmaxMode, Tensor,
};
use tensor::{Owned, with_work_type};

fn shape_error(error: ShapeError) -> DeviceError {
    DeviceError::new(Status::DnnBadParam, error.to_string())
}

impl Dnn for CpuContext {
    fn create_dnn(&self) -> Result<()> {
        self.device.check()
    }

    fn pooling_forward(
        &self,
        _dnn: &(),
        stream: &Stream,
        pooling: &Pooling,
        scaling: Scaling,
        x: Tensor<'_>,
        y: Tensor<'_>,
    ) -> Result<()> {
        use pooling::forward;
        let (pooling, x, y) = (pooling.clone(), Owned::new(x), Owned::new(y));
        stream.core.submit(Operation::new("dnn pooling forward", vec![x.read(), y.write()], move |run| {
            with_work_type!(x.layout.dtype, forward(run, &pooling, scaling, &x, &y))
        }))
    }

    fn pooling_backward(
        &self,
        _dnn: &(),
        stream: &Stream,
        pooling: &Pooling,
        scaling: Scaling,
        y: Tensor<'_>,
        dy: Tensor<'_>,
        x: Tensor<'_>,
        dx: Tensor<'_>,
    ) -> Result<()> {
        use pooling::backward;
        let (pooling, y, dy) = (pooling.clone(), Owned::new(y), Owned::new(dy));
        let (x, dx) = (Owned::new(x), Owned::new(dx));
        let accesses = vec![y.read(), dy.read(), x.read(), dx.write()];
        stream.core.submit(Operation::new("dnn pooling backward", accesses, move |run| {
            with_work_type!(x.layout.dtype, backward(run, &pooling, scaling, &dy, &x, &dx))
        }))
    }

    fn convolution_forward(
        &self,
        _dnn: &(),
        stream: &Stream,
        convolution: &Convolution,
        scaling: Scaling,
        operands: ConvolutionOperands<'_>,
        epilogue: ConvolutionEpilogue<'_>,
    ) -> Result<()> {
        use convolution::forward;
        let job = convolution::Job::new(convolution, scaling, operands)?;
        let epilogue = convolution::Epilogue::new(epilogue);
        let mut accesses = vec![job.x.read(), job.w.read(), job.y.write()];
        accesses.extend(epilogue.reads());
        stream.core.submit(Operation::new("dnn convolution forward", accesses, move |run| {
            with_work_type!(job.y.layout.dtype, forward(run, &job, &epilogue))
        }))
    }

    fn convolution_backward_data(
        &self,
        _dnn: &(),
        stream: &Stream,
        convolution: &Convolution,
        scaling: Scaling,
        operands: ConvolutionOperands<'_>,
    ) -> Result<()> {
        use convolution::backward_data;
        let job = convolution::Job::new(convolution, scaling, operands)?;
        let accesses = vec![job.x.write(), job.w.read(), job.y.read()];
        stream.core.submit(Operation::new("dnn convolution backward data", accesses, move |run| {
            with_work_type!(job.y.layout.dtype, backward_data(run, &job))
        }))
    }

    fn convolution_backward_filter(
        &self,
        _dnn: &(),
        stream: &Stream,
        convolution: &Convolution,
        scaling: Scaling,
        operands: ConvolutionOperands<'_>,
    ) -> Result<()> {
        use convolution::backward_filter;
        let job = convolution::Job::new(convolution, scaling, operands)?;
        let accesses = vec![job.x.read(), job.w.write(), job.y.read()];
        stream.core.submit(Operation::new("dnn convolution backward filter", accesses, move |run| {
            with_work_type!(job.y.layout.dtype, backward_filter(run, &job))
        }))
    }

    fn batch_norm_inference(
        &self,
        _dnn: &(),
        stream: &Stream,
        scaling: Scaling,
        operands: BatchNormOperands<'_>,
        parameters: [u64; 4],
        y: Tensor<'_>,
    ) -> Result<()> {
        use normalize::inference;
        let job = normalize::Job::new(operands, Owned::new(y));
        let parameters = parameters.map(|address| job.parameter(address));
        let mut accesses = vec![job.x.read(), job.y.write()];
        accesses.extend(parameters.iter().map(Owned::read));
        stream.core.submit(Operation::new("dnn batch norm inference", accesses, move |run| {
            with_work_type!(job.x.layout.dtype, inference(run, &job, scaling, &parameters))
        }))
    }

    fn batch_norm_training(
        &self,
        _dnn: &(),
        stream: &Stream,
        scaling: Scaling,
        operands: BatchNormOperands<'_>,
        parameters: [u64; 2],
        running: Option<([u64; 2], f64)>,
        saved: Option<[u64; 2]>,
        y: Tensor<'_>,
    ) -> Result<()> {
        use normalize::training;
        let job = normalize::Job::new(operands, Owned::new(y));
        let parameters = parameters.map(|address| job.parameter(address));
        let running = running.map(|(addresses, factor)| (addresses.map(|a| job.parameter(a)), factor));
        let saved = saved.map(|addresses| addresses.map(|a| job.parameter(a)));
        let mut accesses = vec![job.x.read(), job.y.write()];
        accesses.extend(parameters.iter().map(Owned::read));
        accesses.extend(running.iter().flat_map(|(tensors, _)| tensors).map(Owned::write));
        accesses.extend(saved.iter().flatten().map(Owned::write));
        stream.core.submit(Operation::new("dnn batch norm training", accesses, move |run| {
            let (running, saved) = (running.as_ref(), saved.as_ref());
            with_work_type!(job.x.layout.dtype, training(run, &job, scaling, &parameters, running, saved))
        }))
    }

    fn batch_norm_backward(
        &self,
        _dnn: &(),
        stream: &Stream,
        scaling: [Scaling; 2],
        operands: BatchNormOperands<'_>,
        dy: Tensor<'_>,
        dx: Tensor<'_>,
        scale: u64,
        gradients: [u64; 2],
        saved: Option<[u64; 2]>,
    ) -> Result<()> {
        use normalize::backward;
        let job = normalize::Job::new(operands, Owned::new(dx));
        let (dy, scale) = (Owned::new(dy), job.parameter(scale));
        let gradients = gradients.map(|address| job.parameter(address));
        let saved = saved.map(|addresses| addresses.map(|a| job.parameter(a)));
        let mut accesses = vec![job.x.read(), dy.read(), scale.read(), job.y.write()];
        accesses.extend(gradients.iter().map(Owned::write));
        accesses.extend(saved.iter().flatten().map(Owned::read));
        stream.core.submit(Operation::new("dnn batch norm backward", accesses, move |run| {
            let saved = saved.as_ref();
            with_work_type!(job.x.layout.dtype, backward(run, &job, scaling, &dy, &scale, &gradients, saved))
        }))
    }

    fn softmax_forward(
        &self,
        _dnn: &(),
        stream: &Stream,
        mode: SoftmaxMode,
        scaling: Scaling,
        x: Tensor<'_>,
        y: Tensor<'_>,
    ) -> Result<()> {
        use pointwise::softmax;
        let (x, y) = (Owned::new(x), Owned::new(y));
        stream.core.submit(Operation::new("dnn softmax forward", vec![x.read(), y.write()], move |run| {
            with_work_type!(x.layout.dtype, softmax(run, mode, scaling, &x, &y))
        }))
    }

    fn softmax_backward(
        &self,
        _dnn: &(),
        stream: &Stream,
        mode: SoftmaxMode,
        scaling: Scaling,
        y: Tensor<'_>,
        dy: Tensor<'_>,
        dx: Tensor<'_>,
    ) -> Result<()> {
        use pointwise::softmax_gradient;
        let (y, dy, dx) = (Owned::new(y), Owned::new(dy), Owned::new(dx));
        let accesses = vec![y.read(), dy.read(), dx.write()];
        stream.core.submit(Operation::new("dnn softmax backward", accesses, move |run| {
            with_work_type!(y.layout.dtype, softmax_gradient(run, mode, scaling, &y, &dy, &dx))
        }))
    }

    fn activation_forward(
        &self,
        _dnn: &(),
        stream: &Stream,
        activation: Activation,
        scaling: Scaling,
        x: Tensor<'_>,
        y: Tensor<'_>,
    ) -> Result<()> {
        use pointwise::activation_forward;
        let (x, y) = (Owned::new(x), Owned::new(y));
        stream.core.submit(Operation::new("dnn activation forward", vec![x.read(), y.write()], move |run| {
            with_work_type!(x.layout.dtype, activation_forward(run, activation, scaling, &x, &y))
        }))
    }

    fn activation_backward(
        &self,
        _dnn: &(),
        stream: &Stream,
        activation: Activation,
        scaling: Scaling,
        y: Tensor<'_>,
        dy: Tensor<'_>,
        x: Tensor<'_>,
        dx: Tensor<'_>,
    ) -> Result<()> {
        use pointwise::activation_backward;
        let (y, dy, x, dx) = (Owned::new(y), Owned::new(dy), Owned::new(x), Owned::new(dx));
        let accesses = vec![y.read(), dy.read(), x.read(), dx.write()];
        stream.core.submit(Operation::new("dnn activation backward", accesses, move |run| {
            with_work_type!(x.layout.dtype, activation_backward(run, activation, scaling, [&y, &dy, &x], &dx))
        }))
    }

    fn add_tensor(
        &self,
        _dnn: &(),
        stream: &Stream,
        scaling: Scaling,
        a: Tensor<'_>,
        c: Tensor<'_>,
    ) -> Result<()> {
        use pointwise::add;
        let (a, c) = (Owned::new(a), Owned::new(c));
        stream.core.submit(Operation::new("dnn add tensor", vec![a.read(), c.write()], move |run| {
            with_work_type!(c.layout.dtype, add(run, scaling, &a, &c))
        }))
    }
}
