//! What a kernel sees while it runs: arguments, attributes, functions, the context, and where results go.

use std::sync::Arc;

use super::attributes::AttributeCell;
use crate::{
    async_value::AsyncValue,
    context::ExecutionContext,
    diagnostic::{Diagnostic, ErrorCode},
    program::{BefFile, FunctionRef},
};

/// A kernel's use of a register, and whether it is the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operand(u32);

impl Operand {
    const LAST_USE: u32 = 1 << 31;
    /// Largest register number an operand can name.
    pub(crate) const REGISTER_MAX: u32 = Self::LAST_USE - 1;

    pub(crate) const fn new(register: u32) -> Self {
        Self(register)
    }

    pub(crate) fn set_last_use(&mut self) {
        self.0 |= Self::LAST_USE;
    }

    #[inline(always)]
    pub(crate) const fn register(self) -> usize {
        (self.0 & !Self::LAST_USE) as usize
    }

    #[inline(always)]
    pub(crate) const fn is_last_use(self) -> bool {
        self.0 & Self::LAST_USE != 0
    }
}

/// The shared part of a frame: everything a parameter may be made from.
#[derive(Clone, Copy)]
pub struct FrameView<'f> {
    pub(super) registers: &'f [AsyncValue],
    pub(super) arguments: &'f [Operand],
    pub(super) attributes: &'f [AttributeCell],
    pub(super) functions: &'f [u32],
    pub(super) result_count: usize,
    pub(super) cx: &'f ExecutionContext,
}

/// One call of a kernel.
pub struct KernelFrame<'f> {
    pub(crate) registers: &'f mut [AsyncValue],
    pub(crate) arguments: &'f [Operand],
    pub(crate) results: &'f [Operand],
    pub(crate) attributes: &'f [AttributeCell],
    pub(crate) functions: &'f [u32],
    pub(crate) cx: &'f ExecutionContext,
}

impl<'f> FrameView<'f> {
    #[inline]
    pub(super) fn argument(&self, index: usize) -> Option<&'f AsyncValue> {
        self.arguments.get(index).and_then(|operand| self.registers.get(operand.register()))
    }

    pub(super) fn program(&self) -> &'f Arc<BefFile> {
        self.cx.program()
    }
}

impl KernelFrame<'_> {
    /// The shared part.
    #[inline]
    pub(super) fn view(&self) -> FrameView<'_> {
        FrameView {
            registers: self.registers,
            arguments: self.arguments,
            attributes: self.attributes,
            functions: self.functions,
            result_count: self.results.len(),
            cx: self.cx,
        }
    }

    /// The context of this call.
    pub fn context(&self) -> &ExecutionContext {
        self.cx
    }

    /// Number of arguments.
    pub fn argument_count(&self) -> usize {
        self.arguments.len()
    }

    /// An argument; in a non-strict kernel it may be pending or an error.
    ///
    /// # Panics
    /// If there are not that many.
    pub fn argument(&self, index: usize) -> &AsyncValue {
        &self.registers[self.arguments[index].register()]
    }

    /// All arguments, shared.
    pub fn arguments(&self) -> impl ExactSizeIterator<Item = &AsyncValue> {
        self.arguments.iter().map(|operand| &self.registers[operand.register()])
    }

    /// A function the op names: a callee or a region.
    pub fn function(&self, index: usize) -> Option<FunctionRef<'_>> {
        self.functions.get(index).map(|&function| FunctionRef::new(self.cx.program(), function))
    }

    /// Number of functions.
    pub fn function_count(&self) -> usize {
        self.functions.len()
    }

    /// Number of results.
    pub fn result_count(&self) -> usize {
        self.results.len()
    }

    /// Sets a result, available or not.
    ///
    /// # Panics
    /// If there are not that many.
    #[inline]
    pub fn set_result(&mut self, index: usize, value: AsyncValue) {
        self.registers[self.results[index].register()] = value;
    }

    /// Makes every result this error.
    #[cold]
    pub fn fail(&mut self, error: impl Into<Diagnostic>) {
        let error = self.cx.emit(error.into());
        for &result in self.results {
            self.registers[result.register()] = AsyncValue::from_error(error.clone());
        }
    }

    /// Sets all results; a wrong number of them is the kernel's fault and makes all of them errors.
    pub fn set_results(&mut self, values: Vec<AsyncValue>) {
        if values.len() != self.results.len() {
            let message =
                format!("the kernel gave {} results, its op has {}", values.len(), self.results.len());
            return self.fail(Diagnostic::new(ErrorCode::Internal, message));
        }
        for (index, value) in values.into_iter().enumerate() {
            self.set_result(index, value);
        }
    }
}
