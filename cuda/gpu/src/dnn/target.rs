//! What graphs, engines and plans are for: the device that is there or, in tests, one that is described. The library needs no
//! device to find plans for one that is described to it, so that all of that is tested without a GPU.

use cudarc::cudnn::sys::cudnnBackendAttributeName_t as Name;
use tfrt_device::error::Result;

use super::backend::{Descriptor, Handle};
use super::{Cudnn, Handle as RawHandle};

/// A device as the library is told of it.
pub(super) enum Target {
    /// Where this handle was made.
    Device(RawHandle),
    /// What this descriptor of a device's properties says.
    #[cfg(test)]
    Described(Descriptor),
}

impl Target {
    /// The device whose context is current.
    pub(super) fn device(library: &Cudnn) -> Result<Self> {
        RawHandle::new(library).map(Self::Device)
    }

    /// One with these properties, which are written as the library writes them.
    #[cfg(test)]
    pub(super) fn described(library: &'static Cudnn, json: &str) -> Result<Self> {
        use super::backend::Char;
        use cudarc::cudnn::sys::cudnnBackendDescriptorType_t as Object;

        let properties = Descriptor::new(library, Object::CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR)?;
        let characters: Vec<_> = json.bytes().map(Char).collect();
        properties.set(Name::CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, &characters)?;
        properties.finalize("describing a device").map(Self::Described)
    }

    /// The handle, if the device is there.
    pub(super) fn handle(&self) -> Option<&RawHandle> {
        match self {
            Self::Device(handle) => Some(handle),
            #[cfg(test)]
            Self::Described(_) => None,
        }
    }

    /// Says what an operation graph is for.
    pub(super) fn build_for(&self, graph: &Descriptor) -> Result<()> {
        match self {
            Self::Device(handle) => graph.set(Name::CUDNN_ATTR_OPERATIONGRAPH_HANDLE, &[Handle(handle.0)]),
            #[cfg(test)]
            Self::Described(_) => Ok(()),
        }
    }

    /// Says what engines are asked for. The graph has told which device, if one is there.
    pub(super) fn ask_for(&self, heuristic: &Descriptor) -> Result<()> {
        match (self, heuristic) {
            (Self::Device(_), _) => Ok(()),
            #[cfg(test)]
            (Self::Described(properties), heuristic) => {
                heuristic.set(Name::CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, &[properties.reference()])
            }
        }
    }

    /// Says what a plan is for.
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
