//! cuDNN's backend interface: descriptors that are created, given attributes, and finalized.
//!
//! Enumerations are returned as numbers: one that the bindings do not know must not become a Rust
//! enum.

#![expect(unsafe_code, reason = "calls of cuDNN's C interface")]

use std::ffi::{c_int, c_void};

use cudarc::cudnn::sys::{
    cudnnBackendAttributeName_t as Name, cudnnBackendAttributeType_t as Type, cudnnBackendDescriptor_t,
    cudnnBackendDescriptorType_t as Kind, cudnnHandle_t,
};
use tfrt_device::error::Result;

use super::Cudnn;

/// A descriptor.
pub(super) struct Descriptor {
    library: &'static Cudnn,
    raw: cudnnBackendDescriptor_t,
}

// SAFETY: a descriptor may be used on any thread.
unsafe impl Send for Descriptor {}
// SAFETY: a finalized descriptor is only read, which several threads may do at once.
unsafe impl Sync for Descriptor {}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: the descriptor is alive and this is its only owner.
        let _ = unsafe { (self.library.cudnnBackendDestroyDescriptor)(self.raw) };
    }
}

/// A value of an attribute, in the library's form.
pub(super) trait Value: Copy {
    /// The library's name for the type.
    const TYPE: Type;
}

macro_rules! values {
    ($($(#[$doc:meta])* $name:ident($type:ty) = $kind:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        pub(super) struct $name(pub(super) $type);
        impl Value for $name {
            const TYPE: Type = Type::$kind;
        }
    )*};
}

values! {
    /// An element type.
    DataType(c_int) = CUDNN_TYPE_DATA_TYPE;
    /// A truth value.
    Bool(bool) = CUDNN_TYPE_BOOLEAN;
    /// A count or a number.
    Int64(i64) = CUDNN_TYPE_INT64;
    /// A factor.
    Float(f32) = CUDNN_TYPE_FLOAT;
    /// A factor.
    Double(f64) = CUDNN_TYPE_DOUBLE;
    /// An address.
    Pointer(u64) = CUDNN_TYPE_VOID_PTR;
    /// Whether a filter is flipped.
    ConvolutionMode(c_int) = CUDNN_TYPE_CONVOLUTION_MODE;
    /// How engines are looked for.
    HeuristicMode(c_int) = CUDNN_TYPE_HEUR_MODE;
    /// The handling of NaNs.
    NanPropagation(c_int) = CUDNN_TYPE_NAN_PROPOGATION;
    /// A property of an engine's arithmetic.
    NumericalNote(c_int) = CUDNN_TYPE_NUMERICAL_NOTE;
    /// A function of elements.
    PointwiseMode(c_int) = CUDNN_TYPE_POINTWISE_MODE;
    /// A byte of text.
    Char(u8) = CUDNN_TYPE_CHAR;
    /// The library's state.
    Handle(cudnnHandle_t) = CUDNN_TYPE_HANDLE;
    /// Another descriptor.
    Reference(cudnnBackendDescriptor_t) = CUDNN_TYPE_BACKEND_DESCRIPTOR;
}

impl Descriptor {
    /// Creates an empty descriptor.
    pub(super) fn new(library: &'static Cudnn, kind: Kind) -> Result<Self> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the pointer is valid for the call.
        let status = unsafe { (library.cudnnBackendCreateDescriptor)(kind as c_int, &raw mut raw) };
        library.check(status, "cudnnBackendCreateDescriptor")?;
        Ok(Self { library, raw })
    }

    /// Returns the descriptor as an attribute value of another one, which keeps what it needs of
    /// it.
    pub(super) fn reference(&self) -> Reference {
        Reference(self.raw)
    }

    /// Sets the values of an attribute.
    pub(super) fn set<V: Value>(&self, name: Name, values: &[V]) -> Result<()> {
        let (kind, count) = (V::TYPE as c_int, values.len() as i64);
        let pointer = values.as_ptr().cast::<c_void>();
        // SAFETY: the descriptor is alive, and the count is that of the values, which have the
        // given type.
        let status =
            unsafe { (self.library.cudnnBackendSetAttribute)(self.raw, name as c_int, kind, count, pointer) };
        self.library.check_with(status, || format!("setting {name:?}"))
    }

    /// Finalizes the descriptor, which checks its attributes.
    pub(super) fn finalize(self, what: &str) -> Result<Self> {
        // SAFETY: the descriptor is alive.
        let status = unsafe { (self.library.cudnnBackendFinalize)(self.raw) };
        self.library.check(status, what)?;
        Ok(self)
    }

    /// Returns the number of values of an attribute.
    pub(super) fn count<V: Value>(&self, name: Name) -> Result<usize> {
        let mut count = 0;
        // SAFETY: the descriptor is alive. No values are requested, and the pointer is valid for
        // the call.
        let status = unsafe {
            (self.library.cudnnBackendGetAttribute)(
                self.raw,
                name as c_int,
                V::TYPE as c_int,
                0,
                &raw mut count,
                std::ptr::null_mut(),
            )
        };
        self.library.check_with(status, || format!("counting {name:?}"))?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    /// Reads an attribute's values into `values` and returns those that exist. The caller creates
    /// descriptors among them, which the library fills.
    pub(super) fn get<'a, V: Value>(&self, name: Name, values: &'a mut [V]) -> Result<&'a [V]> {
        let (mut count, wanted) = (0, values.len() as i64);
        // SAFETY: the descriptor is alive, there is room for the given number of values of the
        // type, and the pointer is valid for the call.
        let status = unsafe {
            (self.library.cudnnBackendGetAttribute)(
                self.raw,
                name as c_int,
                V::TYPE as c_int,
                wanted,
                &raw mut count,
                values.as_mut_ptr().cast(),
            )
        };
        self.library.check_with(status, || format!("reading {name:?}"))?;
        let count = usize::try_from(count).unwrap_or(0).min(values.len());
        Ok(&values[..count])
    }
}
