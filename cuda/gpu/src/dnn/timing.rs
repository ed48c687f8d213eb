//! Measures plans on the device, on memory that is allocated for that and holds random numbers:
//! arithmetic on equal numbers takes less power and so may be faster.

#![expect(unsafe_code, reason = "calls of cuDNN's and the driver's C interface")]

use std::sync::Arc;

use cudarc::driver::sys;
use half::{bf16, f16};
use tfrt_device::error::{Result, Status};
use tfrt_device::hal::{EventOptions, TensorLayout};
use tfrt_host::DType;

use super::convolution::Problem;
use super::plans::Plan;
use super::variants::Addresses;
use super::{Cudnn, Handle};
use crate::context::Shared;
use crate::event::Event;
use crate::memory::{allocate_device, free_device, size};
use crate::stream::Handle as Stream;

/// The runs of a plan that are measured. The fastest one counts, as other work may delay some.
const RUNS: usize = 5;
/// The most bytes of random numbers, which are repeated.
const MAX_RANDOM_BYTES: usize = 1 << 20;

/// Device memory, freed on drop. The stream that used it has been waited for.
struct Memory(u64);

impl Memory {
    /// Allocates memory. The context must be current.
    fn new(bytes: u64) -> Result<Self> {
        allocate_device(size(bytes.max(1))?).map(Self)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // A failure could not be returned to a caller.
        let _ = free_device(self.0);
    }
}

/// What plans for one problem are measured with.
struct Trial<'a> {
    shared: &'a Arc<Shared>,
    library: &'static Cudnn,
    handle: &'a Handle,
    stream: Stream,
    events: [Event; 2],
    addresses: Addresses,
    workspace: Memory,
    _memory: Vec<Memory>,
}

/// Returns the fastest of several plans for a problem, or `None` if the device is short of memory
/// or no plan runs. The context must be current.
pub(super) fn fastest(
    shared: &Arc<Shared>,
    library: &'static Cudnn,
    handle: &Handle,
    problem: &Problem<'_>,
    plans: &[Plan],
) -> Result<Option<usize>> {
    let trial = match Trial::new(shared, library, handle, problem, plans) {
        Err(error) if error.status == Status::OutOfMemory => return Ok(None),
        trial => trial?,
    };
    let mut best: Option<(f32, usize)> = None;
    for (index, plan) in plans.iter().enumerate() {
        match trial.measure(plan) {
            Ok(ms) if best.is_none_or(|(fastest, _)| ms < fastest) => best = Some((ms, index)),
            Ok(_) => {}
            // Nothing else can be run any more.
            Err(error) if error.is_sticky() => return Err(error),
            Err(_) => {}
        }
    }
    Ok(best.map(|(_, index)| index))
}

impl<'a> Trial<'a> {
    fn new(
        shared: &'a Arc<Shared>,
        library: &'static Cudnn,
        handle: &'a Handle,
        problem: &Problem<'_>,
        plans: &[Plan],
    ) -> Result<Self> {
        let stream = Stream::new(shared, 0)?;
        // SAFETY: handle and stream are alive.
        let status = unsafe { (library.cudnnSetStream)(handle.0, stream.raw().cast()) };
        library.check(status, "cudnnSetStream")?;
        let timed = EventOptions { timing: true, internal: false };
        let events = [Event::new(shared, timed)?, Event::new(shared, timed)?];
        let workspace_bytes = plans.iter().map(|plan| plan.workspace_bytes).max().unwrap_or(0);
        let workspace = Memory::new(workspace_bytes)?;
        let mut memory = Vec::new();
        let mut tensor = |layout: &TensorLayout| -> Result<u64> {
            let block = Memory::new(layout.bytes())?;
            let address = block.0;
            memory.push(block);
            fill(shared, &stream, address, layout)?;
            Ok(address)
        };
        let [x, w, y] = problem.tensors;
        let addresses = Addresses {
            tensors: [tensor(x.0)?, tensor(w.0)?, tensor(y.0)?],
            bias: problem.bias.map(|(layout, _)| tensor(layout)).transpose()?,
            residual: problem.residual.map(|(layout, _, _)| tensor(layout)).transpose()?,
        };
        Ok(Self { shared, library, handle, stream, events, addresses, workspace, _memory: memory })
    }

    /// Returns the milliseconds of a plan's fastest run.
    fn measure(&self, plan: &Plan) -> Result<f32> {
        // The first run may load code.
        self.run(plan)?;
        let mut fastest = f32::INFINITY;
        for _ in 0..RUNS {
            self.events[0].record(&self.stream)?;
            self.run(plan)?;
            self.events[1].record(&self.stream)?;
            self.events[1].wait()?;
            fastest = fastest.min(self.events[1].ms_since(&self.events[0])?);
        }
        Ok(fastest)
    }

    fn run(&self, plan: &Plan) -> Result<()> {
        let workspace = if plan.workspace_bytes > 0 { self.workspace.0 } else { 0 };
        let variant = plan.variant(self.library, &self.addresses, workspace)?;
        // SAFETY: the tensors are in device memory with the layouts of the plan, and so is the
        // workspace. All of it is freed after the stream has been waited for.
        let status = unsafe {
            (self.library.cudnnBackendExecute)(
                self.handle.0,
                plan.descriptor.reference().0,
                variant.reference().0,
            )
        };
        self.library.check(status, "cudnnBackendExecute")
    }
}

impl Drop for Trial<'_> {
    fn drop(&mut self) {
        // SAFETY: the stream is alive.
        let result = unsafe { sys::cuStreamSynchronize(self.stream.raw()) };
        // A failure of the context is remembered, and memory is no longer used.
        drop(self.shared.check(result, "cuStreamSynchronize"));
        // SAFETY: the handle is alive. It must not keep a stream that is gone.
        let _ = unsafe { (self.library.cudnnSetStream)(self.handle.0, std::ptr::null_mut()) };
    }
}

/// Fills a tensor with random numbers.
fn fill(shared: &Arc<Shared>, stream: &Stream, address: u64, layout: &TensorLayout) -> Result<()> {
    let total = layout.bytes();
    let bytes = size(total)?.min(MAX_RANDOM_BYTES);
    let block = shared.host_pool.allocate(bytes)?;
    // SAFETY: the block was just allocated with at least this size.
    unsafe { std::slice::from_raw_parts_mut(block, bytes) }.copy_from_slice(&random(layout.dtype, bytes));
    // SAFETY: the block is pinned and stays until the stream has been waited for, and the memory
    // has at least this size.
    let result = unsafe { sys::cuMemcpyHtoDAsync_v2(address, block.cast(), bytes, stream.raw()) };
    let mut queued = shared.check(result, "cuMemcpyHtoDAsync");
    let mut filled = bytes as u64;
    while queued.is_ok() && filled < total {
        let more = filled.min(total - filled);
        // SAFETY: both ranges lie in the tensor's memory and do not overlap.
        let result = unsafe { sys::cuMemcpyAsync(address + filled, address, size(more)?, stream.raw()) };
        queued = shared.check(result, "cuMemcpyAsync");
        filled += more;
    }
    // SAFETY: the stream is alive.
    let result = unsafe { sys::cuStreamSynchronize(stream.raw()) };
    let waited = shared.check(result, "cuStreamSynchronize");
    if let Some(unpinned) = shared.host_pool.free(block)? {
        crate::memory::unpin(unpinned)?;
    }
    queued.and(waited)
}

/// Returns random numbers between −1 and 1 as bytes, the same ones at each call.
fn random(dtype: DType, bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        // Xorshift: its high bits are good enough for this.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut number = || (next() >> 40) as f32 / 8_388_608.0 - 1.0;
    let mut all = Vec::with_capacity(bytes + 8);
    while all.len() < bytes {
        match dtype {
            DType::F32 => all.extend(number().to_le_bytes()),
            DType::F64 => all.extend(f64::from(number()).to_le_bytes()),
            DType::F16 => all.extend(f16::from_f32(number()).to_le_bytes()),
            DType::BF16 => all.extend(bf16::from_f32(number()).to_le_bytes()),
            _ => all.push((number() * 127.0) as i8 as u8),
        }
    }
    all.truncate(bytes);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_numbers_differ_and_are_small() {
        let bytes = random(DType::F16, 2000);
        let numbers: Vec<f32> =
            bytes.chunks_exact(2).map(|b| f16::from_le_bytes([b[0], b[1]]).to_f32()).collect();
        assert!(numbers.iter().all(|number| number.abs() <= 1.0));
        let mean = numbers.iter().sum::<f32>() / numbers.len() as f32;
        let spread = numbers.iter().map(|number| number * number).sum::<f32>() / numbers.len() as f32;
        assert!(mean.abs() < 0.1 && (spread - 1.0 / 3.0).abs() < 0.05, "{mean} {spread}");
    }
}
