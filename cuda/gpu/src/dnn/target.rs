//! The target of graphs, engines and plans: the present device or, in tests, a described one. The
//! library finds plans for a described device without having it, so all of this is tested without a
//! GPU.

use cudarc::cudnn::sys::cudnnBackendAttributeName_t as Name;
use tfrt_device::error::Result;

use super::backend::{Descriptor, Handle};
use super::{Cudnn, Handle as RawHandle};

/// A device that plans are made for.
pub(super) enum Target {
    /// The device on which this handle was created.
    Device(RawHandle),
    /// The device with the properties in this descriptor.
    #[cfg(test)]
    Described(Descriptor),
}

impl Target {
    /// Returns the device whose context is current.
    pub(super) fn device(library: &Cudnn) -> Result<Self> {
        RawHandle::new(library).map(Self::Device)
    }

    /// Returns a device with these properties, in the library's own notation.
    #[cfg(test)]
    pub(super) fn described(library: &'static Cudnn, json: &str) -> Result<Self> {
        use super::backend::Char;
        use cudarc::cudnn::sys::cudnnBackendDescriptorType_t as Object;

        let properties = Descriptor::new(library, Object::CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR)?;
        let characters: Vec<_> = json.bytes().map(Char).collect();
        properties.set(Name::CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, &characters)?;
        properties.finalize("describing a device").map(Self::Described)
    }

    /// Returns the handle, if the device is present.
    pub(super) fn handle(&self) -> Option<&RawHandle> {
        match self {
            Self::Device(handle) => Some(handle),
            #[cfg(test)]
            Self::Described(_) => None,
        }
    }

    /// Sets the target of an operation graph.
    pub(super) fn build_for(&self, graph: &Descriptor) -> Result<()> {
        match self {
            Self::Device(handle) => graph.set(Name::CUDNN_ATTR_OPERATIONGRAPH_HANDLE, &[Handle(handle.0)]),
            #[cfg(test)]
            Self::Described(_) => Ok(()),
        }
    }

    /// Sets the target of a heuristic. If the device is present, the graph already names it.
    pub(super) fn ask_for(&self, heuristic: &Descriptor) -> Result<()> {
        match (self, heuristic) {
            (Self::Device(_), _) => Ok(()),
            #[cfg(test)]
            (Self::Described(properties), heuristic) => {
                heuristic.set(Name::CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, &[properties.reference()])
            }
        }
    }

    /// Sets the target of a plan.
    pub(super) fn plan_for(&self, plan: &Descriptor) -> Result<()> {
        match self {
            Self::Device(handle) => plan.set(Name::CUDNN_ATTR_EXECUTION_PLAN_HANDLE, &[Handle(handle.0)]),
            #[cfg(test)]
            Self::Described(properties) => {
                plan.set(Name::CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, &[properties.reference()])
            }
        }
    }
}
