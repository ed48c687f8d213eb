//! `tfrt.Fail`: stands where a compiled model cannot go on.

use tfrt_host::Diagnostic;

use super::{support::invalid, types};
use crate::{CpuCall, OpRegistry, OpResult, attr};

fn fail(call: CpuCall<'_>) -> Result<OpResult, Diagnostic> {
    Err(invalid(call.attrs.required::<&str>("message")?))
}

pub(super) fn register(ops: &mut OpRegistry) {
    // Not folded and not shared: it fails if the program comes to it, and not before.
    ops.add("tfrt.Fail").types(types::ANY).attrs([attr::string("message")]).external().cpu(fail);
}
