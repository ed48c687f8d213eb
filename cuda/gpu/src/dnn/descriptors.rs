//! Descriptors of tensors, poolings and activations, for cuDNN's older calls.

#![expect(unsafe_code, reason = "calls of cuDNN's C interface")]

use std::ffi::c_int;

use cudarc::cudnn::sys;
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::{Activation, ActivationMode, NanPropagation, Pooling, PoolingMode, TensorLayout};

use super::{Cudnn, data_type};

/// A descriptor, and the function that destroys it.
pub(super) struct Descriptor<T> {
    pub(super) raw: *mut T,
    destroy: unsafe extern "C" fn(*mut T) -> c_int,
}

impl<T> Descriptor<T> {
    fn new(
        library: &Cudnn,
        create: unsafe extern "C" fn(*mut *mut T) -> c_int,
        destroy: unsafe extern "C" fn(*mut T) -> c_int,
    ) -> Result<Self> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the pointer is valid for the call.
        library.check(unsafe { create(&raw mut raw) }, "creating a descriptor")?;
        Ok(Self { raw, destroy })
    }
}

impl<T> Drop for Descriptor<T> {
    fn drop(&mut self) {
        // SAFETY: the descriptor is alive, this is its only owner, and the function is the one for
        // its type.
        let _ = unsafe { (self.destroy)(self.raw) };
    }
}

pub(super) type TensorDescriptor = Descriptor<sys::cudnnTensorStruct>;
pub(super) type PoolingDescriptor = Descriptor<sys::cudnnPoolingStruct>;
pub(super) type ActivationDescriptor = Descriptor<sys::cudnnActivationStruct>;

/// The smallest rank that these calls accept.
const MIN_RANK: usize = 4;

fn ints(values: &[u64]) -> Result<Vec<c_int>> {
    let int = |&value| c_int::try_from(value);
    values
        .iter()
        .map(int)
        .collect::<Result<_, _>>()
        .map_err(|_| DeviceError::new(Status::DnnBadParam, "an extent or stride does not fit 32 bits"))
}

/// Creates a tensor descriptor. Missing dimensions get an extent of one.
pub(super) fn tensor(library: &Cudnn, layout: &TensorLayout) -> Result<TensorDescriptor> {
    let (mut extents, mut strides) = (ints(&layout.dims)?, ints(&layout.strides)?);
    extents.resize(extents.len().max(MIN_RANK), 1);
    strides.resize(extents.len(), 1);
    let descriptor =
        Descriptor::new(library, library.cudnnCreateTensorDescriptor, library.cudnnDestroyTensorDescriptor)?;
    // SAFETY: the descriptor is alive, and the count is that of both arrays.
    let status = unsafe {
        (library.cudnnSetTensorNdDescriptor)(
            descriptor.raw,
            data_type(layout.dtype)?,
            extents.len() as c_int,
            extents.as_ptr(),
            strides.as_ptr(),
        )
    };
    library.check(status, "cudnnSetTensorNdDescriptor")?;
    Ok(descriptor)
}

pub(super) fn nan(propagation: NanPropagation) -> c_int {
    match propagation {
        NanPropagation::NotPropagate => sys::cudnnNanPropagation_t::CUDNN_NOT_PROPAGATE_NAN as c_int,
        NanPropagation::Propagate => sys::cudnnNanPropagation_t::CUDNN_PROPAGATE_NAN as c_int,
    }
}

pub(super) fn pooling_descriptor(library: &Cudnn, pooling: &Pooling) -> Result<PoolingDescriptor> {
    use sys::cudnnPoolingMode_t as Mode;
    let mode = match pooling.mode {
        PoolingMode::Max => Mode::CUDNN_POOLING_MAX,
        PoolingMode::AverageIncludePadding => Mode::CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING,
        PoolingMode::AverageExcludePadding => Mode::CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING,
        PoolingMode::MaxDeterministic => Mode::CUDNN_POOLING_MAX_DETERMINISTIC,
    };
    let (mut window, mut padding, mut strides) =
        (ints(&pooling.window)?, ints(&pooling.padding)?, ints(&pooling.strides)?);
    // The number of dimensions of tensors besides N and C.
    let rank = window.len().max(MIN_RANK - 2);
    window.resize(rank, 1);
    padding.resize(rank, 0);
    strides.resize(rank, 1);
    let descriptor = Descriptor::new(
        library,
        library.cudnnCreatePoolingDescriptor,
        library.cudnnDestroyPoolingDescriptor,
    )?;
    // SAFETY: the descriptor is alive, and the front checked that the arrays have the same length.
    let status = unsafe {
        (library.cudnnSetPoolingNdDescriptor)(
            descriptor.raw,
            mode as c_int,
            nan(pooling.nan),
            window.len() as c_int,
            window.as_ptr(),
            padding.as_ptr(),
            strides.as_ptr(),
        )
    };
    library.check(status, "cudnnSetPoolingNdDescriptor")?;
    Ok(descriptor)
}

/// Creates the descriptor of an activation, or `None` for the identity, which these calls do not
/// support.
pub(super) fn activation_descriptor(
    library: &Cudnn,
    activation: Activation,
) -> Result<Option<ActivationDescriptor>> {
    use sys::cudnnActivationMode_t as Mode;
    let mode = match activation.mode {
        ActivationMode::Sigmoid => Mode::CUDNN_ACTIVATION_SIGMOID,
        ActivationMode::Relu => Mode::CUDNN_ACTIVATION_RELU,
        ActivationMode::Tanh => Mode::CUDNN_ACTIVATION_TANH,
        ActivationMode::ClippedRelu => Mode::CUDNN_ACTIVATION_CLIPPED_RELU,
        ActivationMode::Elu => Mode::CUDNN_ACTIVATION_ELU,
        ActivationMode::Identity => return Ok(None),
    };
    let descriptor = Descriptor::new(
        library,
        library.cudnnCreateActivationDescriptor,
        library.cudnnDestroyActivationDescriptor,
    )?;
    // SAFETY: the descriptor is alive.
    let status = unsafe {
        (library.cudnnSetActivationDescriptor)(
            descriptor.raw,
            mode as c_int,
            nan(activation.nan),
            activation.coefficient,
        )
    };
    library.check(status, "cudnnSetActivationDescriptor")?;
    Ok(Some(descriptor))
}

#[cfg(test)]
mod tests {
    use tfrt_host::DType;

    use super::*;
    use crate::dnn::SPEC;
    use crate::libraries::is_installed;

    /// Where cuDNN is installed, its shape of a pooling's result is the same as ours, including
    /// poolings along one direction.
    #[test]
    fn poolings_go_with_their_tensors() {
        type OutputDim = unsafe extern "C" fn(
            sys::cudnnPoolingDescriptor_t,
            sys::cudnnTensorDescriptor_t,
            c_int,
            *mut c_int,
        ) -> c_int;
        let found = Cudnn::get();
        let Some(library) = found.as_ref().ok().filter(|_| is_installed(&found, &SPEC)) else { return };
        // SAFETY: the signature is that of the header.
        let output_dim: OutputDim =
            unsafe { library._library.function("cudnnGetPoolingNdForwardOutputDim") }.unwrap();
        for rank in 1..=3 {
            let pooling = Pooling {
                mode: PoolingMode::Max,
                nan: NanPropagation::Propagate,
                window: vec![3; rank],
                padding: vec![1; rank],
                strides: vec![2; rank],
            };
            let dims: Vec<_> = [2, 5].into_iter().chain(vec![9; rank]).collect();
            let strides: Vec<_> = (0..dims.len()).map(|i| dims[i + 1..].iter().product()).collect();
            let x = TensorLayout { dtype: DType::F32, dims, strides };
            let (pooling, x) = (pooling_descriptor(library, &pooling).unwrap(), tensor(library, &x).unwrap());
            let mut result = vec![0; (rank + 2).max(MIN_RANK)];
            // SAFETY: both descriptors are alive, and there is room for the requested number of
            // extents.
            let status =
                unsafe { output_dim(pooling.raw, x.raw, result.len() as c_int, result.as_mut_ptr()) };
            library.check(status, "cudnnGetPoolingNdForwardOutputDim").unwrap();
            assert_eq!(result[..rank + 2], [&[2, 5][..], &vec![5; rank]].concat());
        }
    }
}
