//! Operation graphs of cuDNN for a convolution and its epilogue.
//!
//! Forward: `y = activation(alpha · conv(x, w) + factor · residual + bias)`, where each step after
//! the convolution is a separate node and only `y` is stored. Backward: one node.

use std::ffi::c_int;

use cudarc::cudnn::sys::{
    self as sys, cudnnBackendAttributeName_t as Name, cudnnBackendDescriptorType_t as Object,
    cudnnPointwiseMode_t as Pointwise,
};
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::{self, ActivationMode, Convolution, TensorLayout};
use tfrt_host::DType;

use super::backend::{
    Bool, ConvolutionMode, DataType, Descriptor, Double, Float, Int64, NanPropagation, PointwiseMode,
};
use super::convolution::{Kind, Problem};
use super::target::Target;
use super::{Cudnn, data_type};

/// The ids of a graph's tensors.
pub(super) mod id {
    pub(in crate::dnn) const X: i64 = 1;
    pub(in crate::dnn) const W: i64 = 2;
    pub(in crate::dnn) const Y: i64 = 3;
    pub(in crate::dnn) const BIAS: i64 = 4;
    pub(in crate::dnn) const RESIDUAL: i64 = 5;
    /// The first id of tensors that are never stored.
    pub(in crate::dnn) const VIRTUAL: i64 = 100;
}

/// A finalized graph and its parts.
pub(super) struct OperationGraph {
    pub(super) descriptor: Descriptor,
    /// The tensors and operations that the graph refers to.
    _parts: Vec<Descriptor>,
}

struct Builder {
    library: &'static Cudnn,
    /// The type of everything except the stored tensors.
    compute: DType,
    parts: Vec<Descriptor>,
    operations: Vec<Descriptor>,
    next_virtual: i64,
}

impl OperationGraph {
    /// Builds and finalizes the graph.
    pub(super) fn new(library: &'static Cudnn, target: &Target, problem: &Problem<'_>) -> Result<Self> {
        let mut builder = Builder {
            library,
            compute: problem.convolution.compute,
            parts: Vec::new(),
            operations: Vec::new(),
            next_virtual: id::VIRTUAL,
        };
        match problem.kind {
            Kind::Forward => builder.forward(problem)?,
            Kind::BackwardData | Kind::BackwardFilter => builder.backward(problem)?,
        }
        builder.finish(target)
    }
}

impl Builder {
    fn finish(mut self, target: &Target) -> Result<OperationGraph> {
        let descriptor = Descriptor::new(self.library, Object::CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)?;
        let operations: Vec<_> = self.operations.iter().map(Descriptor::reference).collect();
        descriptor.set(Name::CUDNN_ATTR_OPERATIONGRAPH_OPS, &operations)?;
        target.build_for(&descriptor)?;
        let descriptor = descriptor.finalize("finalizing the operation graph")?;
        self.parts.append(&mut self.operations);
        Ok(OperationGraph { descriptor, _parts: self.parts })
    }

    /// Creates a tensor in device memory at an address of this alignment.
    fn stored(&self, id: i64, layout: &TensorLayout, alignment: u32) -> Result<Descriptor> {
        self.tensor(id, layout, layout.dtype, i64::from(alignment), false)
    }

    /// Creates a tensor that is passed from one node to the next.
    fn passed(&mut self, layout: &TensorLayout) -> Result<Descriptor> {
        self.next_virtual += 1;
        self.tensor(self.next_virtual, layout, self.compute, 16, true)
    }

    fn tensor(
        &self,
        id: i64,
        layout: &TensorLayout,
        dtype: DType,
        alignment: i64,
        is_virtual: bool,
    ) -> Result<Descriptor> {
        let tensor = Descriptor::new(self.library, Object::CUDNN_BACKEND_TENSOR_DESCRIPTOR)?;
        tensor.set(Name::CUDNN_ATTR_TENSOR_DATA_TYPE, &[DataType(data_type(dtype)?)])?;
        tensor.set(Name::CUDNN_ATTR_TENSOR_DIMENSIONS, &numbers(&layout.dims)?)?;
        tensor.set(Name::CUDNN_ATTR_TENSOR_STRIDES, &numbers(&layout.strides)?)?;
        tensor.set(Name::CUDNN_ATTR_TENSOR_UNIQUE_ID, &[Int64(id)])?;
        tensor.set(Name::CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, &[Int64(alignment)])?;
        if is_virtual {
            tensor.set(Name::CUDNN_ATTR_TENSOR_IS_VIRTUAL, &[Bool(true)])?;
        }
        tensor.finalize("finalizing a tensor")
    }

    fn convolution(&self, convolution: &Convolution) -> Result<Descriptor> {
        let mode = if convolution.cross_correlation {
            sys::cudnnConvolutionMode_t::CUDNN_CROSS_CORRELATION
        } else {
            sys::cudnnConvolutionMode_t::CUDNN_CONVOLUTION
        };
        let padding = numbers(&convolution.padding)?;
        let node = Descriptor::new(self.library, Object::CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR)?;
        node.set(Name::CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, &[Int64(padding.len() as i64)])?;
        node.set(Name::CUDNN_ATTR_CONVOLUTION_COMP_TYPE, &[DataType(data_type(self.compute)?)])?;
        node.set(Name::CUDNN_ATTR_CONVOLUTION_CONV_MODE, &[ConvolutionMode(mode as c_int)])?;
        node.set(Name::CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, &padding)?;
        node.set(Name::CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, &padding)?;
        node.set(Name::CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, &numbers(&convolution.strides)?)?;
        node.set(Name::CUDNN_ATTR_CONVOLUTION_DILATIONS, &numbers(&convolution.dilations)?)?;
        node.finalize("finalizing a convolution")
    }

    /// Sets a factor in the type of the arithmetic.
    fn set_factor(&self, node: &Descriptor, name: Name, factor: f64) -> Result<()> {
        match self.compute {
            DType::F64 => node.set(name, &[Double(factor)]),
            _ => node.set(name, &[Float(factor as f32)]),
        }
    }

    fn forward(&mut self, problem: &Problem<'_>) -> Result<()> {
        let [x, w, y] = problem.tensors;
        let has_epilogue =
            problem.residual.is_some() || problem.bias.is_some() || problem.activation.is_some();
        let node =
            Descriptor::new(self.library, Object::CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR)?;
        let convolution = self.convolution(problem.convolution)?;
        let (x, w) = (self.stored(id::X, x.0, x.1)?, self.stored(id::W, w.0, w.1)?);
        // With a residual, the node that adds it also scales, because the fused engines support
        // only this form.
        let (mut alpha, beta) = (problem.scaling.alpha, problem.scaling.beta);
        let late_alpha = if problem.residual.is_some() { std::mem::replace(&mut alpha, 1.0) } else { 1.0 };
        let mut result = if has_epilogue { self.passed(y.0)? } else { self.stored(id::Y, y.0, y.1)? };
        node.set(Name::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, &[convolution.reference()])?;
        node.set(Name::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, &[x.reference()])?;
        node.set(Name::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, &[w.reference()])?;
        node.set(Name::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, &[result.reference()])?;
        self.set_factor(&node, Name::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, alpha)?;
        self.set_factor(&node, Name::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, beta)?;
        self.operations.push(node.finalize("finalizing a convolution's node")?);
        self.parts.extend([convolution, x, w]);

        // Whether the result of a step is stored depends on the steps after it.
        if let Some((layout, alignment, factor)) = problem.residual {
            let last = problem.bias.is_none() && problem.activation.is_none();
            let residual = self.stored(id::RESIDUAL, layout, alignment)?;
            result = self.add(result, residual, [late_alpha, factor], y, last)?;
        }
        if let Some((layout, alignment)) = problem.bias {
            let bias = self.stored(id::BIAS, layout, alignment)?;
            result = self.add(result, bias, [1.0, 1.0], y, problem.activation.is_none())?;
        }
        if let Some(activation) = problem.activation {
            result = self.activate(result, activation, y)?;
        }
        self.parts.push(result);
        Ok(())
    }

    fn result(&mut self, (layout, alignment): (&TensorLayout, u32), last: bool) -> Result<Descriptor> {
        if last { self.stored(id::Y, layout, alignment) } else { self.passed(layout) }
    }

    fn pointwise(&self, mode: Pointwise) -> Result<Descriptor> {
        let function = Descriptor::new(self.library, Object::CUDNN_BACKEND_POINTWISE_DESCRIPTOR)?;
        function.set(Name::CUDNN_ATTR_POINTWISE_MODE, &[PointwiseMode(mode as c_int)])?;
        function.set(Name::CUDNN_ATTR_POINTWISE_MATH_PREC, &[DataType(data_type(self.compute)?)])?;
        Ok(function)
    }

    /// Adds the node `factors[0] · a + factors[1] · b`.
    fn add(
        &mut self,
        a: Descriptor,
        b: Descriptor,
        factors: [f64; 2],
        y: (&TensorLayout, u32),
        last: bool,
    ) -> Result<Descriptor> {
        let function = self.pointwise(Pointwise::CUDNN_POINTWISE_ADD)?.finalize("finalizing a sum")?;
        let result = self.result(y, last)?;
        let node = Descriptor::new(self.library, Object::CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR)?;
        node.set(Name::CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, &[function.reference()])?;
        node.set(Name::CUDNN_ATTR_OPERATION_POINTWISE_XDESC, &[a.reference()])?;
        node.set(Name::CUDNN_ATTR_OPERATION_POINTWISE_BDESC, &[b.reference()])?;
        node.set(Name::CUDNN_ATTR_OPERATION_POINTWISE_YDESC, &[result.reference()])?;
        self.set_factor(&node, Name::CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, factors[0])?;
        self.set_factor(&node, Name::CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, factors[1])?;
        self.operations.push(node.finalize("finalizing a sum's node")?);
        self.parts.extend([function, a, b]);
        Ok(result)
    }

    fn activate(
        &mut self,
        x: Descriptor,
        activation: hal::Activation,
        y: (&TensorLayout, u32),
    ) -> Result<Descriptor> {
        let function = self.activation(activation)?;
        let result = self.result(y, true)?;
        let node = Descriptor::new(self.library, Object::CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR)?;
        node.set(Name::CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, &[function.reference()])?;
        node.set(Name::CUDNN_ATTR_OPERATION_POINTWISE_XDESC, &[x.reference()])?;
        node.set(Name::CUDNN_ATTR_OPERATION_POINTWISE_YDESC, &[result.reference()])?;
        self.operations.push(node.finalize("finalizing an activation's node")?);
        self.parts.extend([function, x]);
        Ok(result)
    }

    fn activation(&self, activation: hal::Activation) -> Result<Descriptor> {
        let mode = match activation.mode {
            ActivationMode::Sigmoid => Pointwise::CUDNN_POINTWISE_SIGMOID_FWD,
            ActivationMode::Relu | ActivationMode::ClippedRelu => Pointwise::CUDNN_POINTWISE_RELU_FWD,
            ActivationMode::Tanh => Pointwise::CUDNN_POINTWISE_TANH_FWD,
            ActivationMode::Elu => Pointwise::CUDNN_POINTWISE_ELU_FWD,
            ActivationMode::Identity => Pointwise::CUDNN_POINTWISE_IDENTITY,
        };
        let function = self.pointwise(mode)?;
        let nan = match activation.nan {
            hal::NanPropagation::NotPropagate => sys::cudnnNanPropagation_t::CUDNN_NOT_PROPAGATE_NAN,
            hal::NanPropagation::Propagate => sys::cudnnNanPropagation_t::CUDNN_PROPAGATE_NAN,
        };
        function.set(Name::CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, &[NanPropagation(nan as c_int)])?;
        match activation.mode {
            ActivationMode::ClippedRelu => {
                function
                    .set(Name::CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, &[Double(activation.coefficient)])?;
            }
            ActivationMode::Elu => {
                function.set(Name::CUDNN_ATTR_POINTWISE_ELU_ALPHA, &[Double(activation.coefficient)])?;
            }
            _ => {}
        }
        function.finalize("finalizing an activation")
    }

    fn backward(&mut self, problem: &Problem<'_>) -> Result<()> {
        // The operands are x, w, y, and `kind` says which of them is the result.
        let [x, w, y] = problem.tensors;
        let (object, names) = if problem.kind == Kind::BackwardData {
            (
                Object::CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                [
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
                ],
            )
        } else {
            (
                Object::CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
                [
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
                ],
            )
        };
        let [name, x_name, w_name, y_name, alpha, beta] = names;
        let convolution = self.convolution(problem.convolution)?;
        let x = self.stored(id::X, x.0, x.1)?;
        let w = self.stored(id::W, w.0, w.1)?;
        let y = self.stored(id::Y, y.0, y.1)?;
        let node = Descriptor::new(self.library, object)?;
        node.set(name, &[convolution.reference()])?;
        node.set(x_name, &[x.reference()])?;
        node.set(w_name, &[w.reference()])?;
        node.set(y_name, &[y.reference()])?;
        self.set_factor(&node, alpha, problem.scaling.alpha)?;
        self.set_factor(&node, beta, problem.scaling.beta)?;
        self.operations.push(node.finalize("finalizing a convolution's node")?);
        self.parts.extend([convolution, x, w, y]);
        Ok(())
    }
}

fn numbers(values: &[u64]) -> Result<Vec<Int64>> {
    let number = |&value| i64::try_from(value).map(Int64);
    values
        .iter()
        .map(number)
        .collect::<Result<_, _>>()
        .map_err(|_| DeviceError::new(Status::DnnBadParam, "an extent or stride does not fit"))
}
