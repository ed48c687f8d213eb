//! [`HostSide`]: the ops of a device program that run on the host, and the copies between both sides.

use tfrt_ir::{OpId, ValueId};
use tfrt_tensor::TensorMetadata;

use super::nodes::BufferId;

/// An op that runs on the host.
#[derive(Debug)]
pub(super) struct HostOp {
    pub(super) op: OpId,
    pub(super) step: usize,
    /// Its place in the model, or its name.
    pub(super) label: String,
    /// Why it does not run on the device.
    pub(super) reason: String,
}

/// A value of the device that the host reads.
#[derive(Debug)]
pub(super) struct Download {
    pub(super) value: ValueId,
    pub(super) buffer: BufferId,
    pub(super) ty: TensorMetadata,
    /// The first step that reads it.
    pub(super) step: usize,
}

/// A value of the host that the device reads.
#[derive(Debug)]
pub(super) struct Upload {
    pub(super) value: ValueId,
    pub(super) buffer: BufferId,
    /// The step that computes it.
    pub(super) step: usize,
}

/// Everything that the host does in a device program.
#[derive(Debug, Default)]
pub(super) struct HostSide {
    pub(super) ops: Vec<HostOp>,
    pub(super) downloads: Vec<Download>,
    pub(super) uploads: Vec<Upload>,
}

impl HostSide {
    pub(super) fn add_op(&mut self, op: OpId, step: usize, label: String, reason: String) {
        self.ops.push(HostOp { op, step, label, reason });
    }

    /// Copies a value to the host before a step, unless an earlier one has it.
    pub(super) fn add_download(&mut self, value: ValueId, buffer: BufferId, ty: TensorMetadata, step: usize) {
        match self.downloads.iter_mut().find(|download| download.value == value) {
            Some(download) => download.step = download.step.min(step),
            None => self.downloads.push(Download { value, buffer, ty, step }),
        }
    }

    pub(super) fn add_upload(&mut self, value: ValueId, buffer: BufferId, step: usize) {
        self.uploads.push(Upload { value, buffer, step });
    }

    /// Returns the buffer to which a value is copied.
    pub(super) fn uploaded(&self, value: ValueId) -> Option<BufferId> {
        self.uploads.iter().find(|upload| upload.value == value).map(|upload| upload.buffer)
    }

    /// The ops of a step, in the order of the model.
    pub(super) fn ops_of(&self, step: usize) -> impl Iterator<Item = &HostOp> {
        self.ops.iter().filter(move |op| op.step == step)
    }

    /// The copies to the host before the ops of a step.
    pub(super) fn downloads_of(&self, step: usize) -> impl Iterator<Item = &Download> {
        self.downloads.iter().filter(move |download| download.step == step)
    }

    /// The copies to the device behind the ops of a step.
    pub(super) fn uploads_of(&self, step: usize) -> impl Iterator<Item = &Upload> {
        self.uploads.iter().filter(move |upload| upload.step == step)
    }

    /// How many steps there may be: one more than the number of the last one.
    pub(super) fn step_count(&self) -> usize {
        self.ops.iter().map(|op| op.step + 1).max().unwrap_or(0)
    }
}
