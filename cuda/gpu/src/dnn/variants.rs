//! The descriptors that pass addresses to a run of a plan.
//!
//! A program runs a plan again and again on the same memory, so the descriptors of a plan's latest
//! runs are kept: such a run makes no call of the library besides the run itself.

use std::sync::Arc;

use cudarc::cudnn::sys::{cudnnBackendAttributeName_t as Name, cudnnBackendDescriptorType_t as Object};
use parking_lot::Mutex;
use tfrt_device::error::Result;

use super::Cudnn;
use super::backend::{Descriptor, Int64, Pointer};
use super::graph::id;

/// The greatest number of descriptors that a plan keeps. A network has several layers of one shape,
/// and several calls in flight.
const MAX_KEPT: usize = 64;

/// The addresses of the tensors of one run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Addresses {
    /// `x`, `w`, `y`.
    pub(super) tensors: [u64; 3],
    pub(super) bias: Option<u64>,
    pub(super) residual: Option<u64>,
}

/// A finalized descriptor of these addresses.
struct Variant {
    addresses: Addresses,
    workspace: u64,
    descriptor: Arc<Descriptor>,
}

/// The descriptors of a plan's latest runs.
#[derive(Default)]
pub(super) struct Variants(Mutex<State>);

#[derive(Default)]
struct State {
    kept: Vec<Variant>,
    /// The place of the next descriptor once all are taken.
    oldest: usize,
}

impl Variants {
    /// Returns the descriptor of these addresses.
    pub(super) fn get(
        &self,
        library: &'static Cudnn,
        addresses: &Addresses,
        workspace: u64,
    ) -> Result<Arc<Descriptor>> {
        let mut state = self.0.lock();
        let is_same = |known: &&Variant| known.addresses == *addresses && known.workspace == workspace;
        if let Some(known) = state.kept.iter().find(is_same) {
            return Ok(Arc::clone(&known.descriptor));
        }
        let descriptor = Arc::new(create(library, addresses, workspace)?);
        let variant = Variant { addresses: *addresses, workspace, descriptor: Arc::clone(&descriptor) };
        if state.kept.len() < MAX_KEPT {
            state.kept.push(variant);
        } else {
            let place = state.oldest;
            state.kept[place] = variant;
            state.oldest = (place + 1) % MAX_KEPT;
        }
        Ok(descriptor)
    }
}

/// Creates a descriptor. A workspace at address zero is empty.
fn create(library: &'static Cudnn, addresses: &Addresses, workspace: u64) -> Result<Descriptor> {
    let [x, w, y] = addresses.tensors;
    let mut operands = vec![(id::X, x), (id::W, w), (id::Y, y)];
    operands.extend(addresses.bias.map(|bias| (id::BIAS, bias)));
    operands.extend(addresses.residual.map(|residual| (id::RESIDUAL, residual)));
    let ids: Vec<_> = operands.iter().map(|&(id, _)| Int64(id)).collect();
    let pointers: Vec<_> = operands.iter().map(|&(_, address)| Pointer(address)).collect();
    let variant = Descriptor::new(library, Object::CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR)?;
    variant.set(Name::CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, &ids)?;
    variant.set(Name::CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, &pointers)?;
    if workspace != 0 {
        variant.set(Name::CUDNN_ATTR_VARIANT_PACK_WORKSPACE, &[Pointer(workspace)])?;
    }
    variant.finalize("finalizing a run's addresses")
}
