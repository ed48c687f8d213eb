//! Host functions as kernels, on buffers of any device.
//!
//! A stream copies the buffers to the host, calls the function, and copies the changed ones back.
//! That is far slower than a device kernel, but needs only copies and callbacks, which devices
//! without modules have.

#![expect(unsafe_code, reason = "host memory is handed to the device and to the kernel, which take turns")]

use std::sync::Arc;

use tfrt_host::Diagnostic;

use super::buffer::DeviceBuffer;
use super::managed::Queueing;
use super::stream::Stream;
use super::transfer::{FROM_HOST, Staging, TO_HOST};
use crate::hal::Intent;
use crate::trace::WorkSize;

/// A buffer's copy on the host, and its use.
struct Operand {
    staging: Staging,
    address: u64,
    bytes: usize,
    intent: Intent,
}

impl Stream {
    /// Queues a call of `kernel` with the bytes of these buffers, each of which is read, written or
    /// both. A buffer that is only written is filled with zeros first; changes to a buffer that is
    /// only read are lost. The call runs on a thread of the device when the stream reaches it, and
    /// must not call the device. If it panics, the stream's work fails, provided that the device
    /// can report this.
    ///
    /// # Errors
    /// The errors of copies and of [`Stream::host_callback`].
    pub fn host_kernel(
        &self,
        buffers: &[(&DeviceBuffer, Intent)],
        kernel: impl FnOnce(&mut [&mut [u8]]) + Send + 'static,
    ) -> Result<(), Diagnostic> {
        self.refuse_while_capturing("callbacks cannot be captured")?;
        let mut queueing = Queueing::on(self);
        let mut operands = Vec::with_capacity(buffers.len());
        for (buffer, intent) in buffers {
            let address = buffer.range(&mut queueing, 0, buffer.len(), "the buffer")?;
            let bytes = buffer.len() as usize;
            let staging = Staging::new(self.context(), bytes)?;
            // SAFETY: the memory was just allocated with at least this size.
            unsafe { staging.memory().write_bytes(0, bytes) };
            operands.push(Operand { staging, address, bytes, intent: *intent });
        }
        let operands = Arc::new(operands);
        let queued = self.queue_host_kernel(&operands, kernel);
        drop(queueing);
        // Also if only part of it was queued, because that part uses the memory.
        self.release_after(Some(Box::new(move || drop(operands))), None)?;
        queued
    }

    fn queue_host_kernel(
        &self,
        operands: &Arc<Vec<Operand>>,
        kernel: impl FnOnce(&mut [&mut [u8]]) + Send + 'static,
    ) -> Result<(), Diagnostic> {
        let hal = self.context().hal();
        for operand in operands.iter().filter(|operand| operand.bytes > 0 && operand.intent != Intent::Write)
        {
            let Operand { staging, address, bytes, .. } = operand;
            // SAFETY: `host_kernel` took the address from a buffer of `bytes` bytes, which stays in
            // use while this is queued, and allocated staging memory of that size. It releases that
            // memory behind this work, and only the kernel, which runs later, accesses it until
            // then.
            let copy = || unsafe { hal.copy_device_to_host(self.hal(), staging.memory(), *address, *bytes) };
            self.traced(|| WorkSize::Bytes(*bytes as u64).describe(TO_HOST), copy)?;
        }
        let shared = operands.clone();
        self.host_callback(move || {
            let mut slices: Vec<&mut [u8]> = shared
                .iter()
                // SAFETY: `shared` owns the memory, which was initialized when it was allocated.
                // The stream has passed the copies before this call and starts those after it
                // later.
                .map(|operand| unsafe {
                    std::slice::from_raw_parts_mut(operand.staging.memory(), operand.bytes)
                })
                .collect();
            kernel(&mut slices);
        })?;
        for operand in operands.iter().filter(|operand| operand.bytes > 0 && operand.intent != Intent::Read) {
            let Operand { staging, address, bytes, .. } = operand;
            // SAFETY: as for the copies to the host, the address and the staging memory are valid
            // for `bytes` bytes until this work is over. The kernel has finished when the stream
            // gets here.
            let copy = || unsafe { hal.copy_host_to_device(self.hal(), *address, staging.memory(), *bytes) };
            self.traced(|| WorkSize::Bytes(*bytes as u64).describe(FROM_HOST), copy)?;
        }
        Ok(())
    }
}
