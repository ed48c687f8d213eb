//! Collectives between devices of several processes: the id on which their ranks agree.

use tfrt_device::front::{CommunicatorId, Context};
use tfrt_host::host_buffer::HostBuffer;
use tfrt_host::{Arg, Chain, DType, Diagnostic, ErrorCode, KernelRegistry};
use tfrt_tensor::Accessor;

use super::collective::{Collective, Data};
use crate::DistributedContext;
use crate::engine::Operation;

static CCL_ID: Accessor = Accessor::new("tfrt_dist.ccl_id");

fn ccl_id(
    context: Arg<DistributedContext>,
    group: Arg<String>,
    key: Arg<String>,
    device: Arg<Context>,
    _chain: Chain,
) -> Result<(CommunicatorId, Chain), Diagnostic> {
    let collective = Collective::new(&context, &group, &key)?;
    let made = if collective.rank == 0 { Some(device.communicator_id()) } else { None };
    // The first byte tells whether there is an id, so that the other ranks do not wait for one.
    let mut bytes = vec![0u8; 1 + size_of::<CommunicatorId>()];
    if let Some(Ok(id)) = &made {
        bytes[0] = 1;
        bytes[1..].copy_from_slice(id.bytes());
    }
    let count = bytes.len();
    let buffer = HostBuffer::from_vec(bytes);
    let receive = Some(CCL_ID.write_owned(&buffer)?);
    let data = Data { dtype: DType::UI8, count, send: None, receive };
    collective.run_blocking(Operation::Broadcast { root: 0 }, data)?;
    if let Some(made) = made {
        return Ok((made?, Chain));
    }
    let bytes = CCL_ID.read_owned(&buffer)?;
    let id = bytes[1..].try_into().ok().filter(|_| bytes[0] == 1);
    let id = id.ok_or_else(|| {
        let message = format!("rank 0 of group '{}' could not make an id for collectives of devices", *group);
        Diagnostic::new(ErrorCode::FailedPrecondition, message)
    })?;
    Ok((CommunicatorId::from_bytes(id), Chain))
}

pub(super) fn register(registry: &mut KernelRegistry) {
    registry.add("tfrt_dist.ccl_id", ccl_id).side_effecting().blocking().doc(
        "Returns an id for 'tfrt_cuda.ccl.create' that is the same on all ranks of a group. The first rank makes it on its \
         device.",
    );
}
