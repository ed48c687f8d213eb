//! What a kernel sees while it runs: arguments, attributes, functions, the context, and where results go.

#![expect(unsafe_code, reason = "register numbers are verified once, not at every use")]

use std::{marker::PhantomData, ptr::NonNull, sync::Arc};

use super::{AttributeCell, BefFile, FunctionRef, Operand, Plan, Step};
use crate::{
    async_value::AsyncValue,
    context::ExecutionContext,
    diagnostic::{Diagnostic, ErrorCode},
    value::Value,
};

/// A kernel's erased form.
pub type KernelFn = dyn Fn(&mut KernelFrame<'_>) + Send + Sync;

/// A native function, which a `tfrt.native` function of the program names. It receives the context, the arguments
/// (perhaps pending) and the number of results.
pub type NativeFn = dyn Fn(&ExecutionContext, &[AsyncValue], usize) -> Vec<AsyncValue> + Send + Sync;

/// The registers of an invocation, reached by operands without a check.
///
/// Verification proved that the register numbers of a function lie below its register count, so they are not
/// compared with it at every use.
#[derive(Debug)]
pub(crate) struct RegisterFile<'f>(&'f mut [AsyncValue]);

impl<'f> RegisterFile<'f> {
    /// # Safety
    /// Every operand this file is asked for must name a register below `registers.len()`.
    pub(crate) unsafe fn new(registers: &'f mut [AsyncValue]) -> Self {
        Self(registers)
    }

    /// The same registers for a shorter time.
    #[inline(always)]
    pub(crate) fn reborrow(&mut self) -> RegisterFile<'_> {
        RegisterFile(self.0)
    }

    #[inline]
    pub(crate) fn get(&self, operand: Operand) -> &AsyncValue {
        debug_assert!(operand.register() < self.0.len());
        // SAFETY: whoever made the file promised it.
        unsafe { &*self.0.as_ptr().byte_add(operand.offset()) }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, operand: Operand) -> &mut AsyncValue {
        debug_assert!(operand.register() < self.0.len());
        // SAFETY: whoever made the file promised it.
        unsafe { &mut *self.0.as_mut_ptr().byte_add(operand.offset()) }
    }

    /// The value for this use of it: moved out if it is the last one.
    #[inline]
    pub(crate) fn use_up(&mut self, operand: Operand) -> AsyncValue {
        let register = self.get_mut(operand);
        if operand.is_last_use() { register.take() } else { register.clone() }
    }
}

/// One call of a kernel whose arguments and result are all scalars: what such a call needs, in two words.
pub(crate) struct ScalarFrame<'f> {
    registers: NonNull<AsyncValue>,
    operands: NonNull<Operand>,
    marker: PhantomData<&'f mut [AsyncValue]>,
}

/// Calls a kernel of scalars. Returns `false`, and does nothing, if an argument is not a scalar of the expected type.
///
/// # Safety
/// The frame belongs to a call of this very kernel: its operands are the kernel's arguments, then its result.
pub(crate) type ScalarFn = unsafe fn(ScalarFrame<'_>) -> bool;

impl<'f> ScalarFrame<'f> {
    /// The frame of a call with these operands: arguments, then results.
    #[inline(always)]
    pub(crate) fn new(registers: RegisterFile<'f>, operands: &'f [Operand]) -> Self {
        let registers = NonNull::from(registers.0).cast();
        Self { registers, operands: NonNull::from(operands).cast(), marker: PhantomData }
    }

    /// Returns the register of an operand.
    ///
    /// # Safety
    /// The frame was made with more than `index` operands.
    #[inline(always)]
    unsafe fn register(&self, index: usize) -> NonNull<AsyncValue> {
        // SAFETY: the operand exists, as this function demands. It names a register of the file, as
        // `RegisterFile::new` demands of all operands that are used with the file.
        unsafe { self.registers.byte_add(self.operands.add(index).read().offset()) }
    }

    /// Returns an argument if it is a `T` kept in its handle.
    ///
    /// # Safety
    /// The frame was made with more than `index` operands.
    #[inline(always)]
    pub(crate) unsafe fn argument<T: Value + Clone>(&self, index: usize) -> Option<T> {
        // SAFETY: the operand exists, as this function demands. Its register belongs to the file that the frame borrows
        // for `'f`, and no mutable reference to it exists while this one does.
        unsafe { self.register(index).as_ref() }.get_inline().cloned()
    }

    /// Sets a result.
    ///
    /// # Safety
    /// The frame was made with more than `index` operands.
    #[inline(always)]
    pub(crate) unsafe fn set_result<T: Value>(&mut self, index: usize, value: T) {
        // Written instead of assigned: the register of a result holds nothing that must be dropped, see
        // `executor::registers`.
        // SAFETY: the operand exists, as this function demands. Its register belongs to the file that the frame borrows
        // exclusively for `'f`.
        unsafe { self.register(index).write(AsyncValue::new(value)) };
    }
}

/// One call of a kernel.
pub struct KernelFrame<'f> {
    registers: RegisterFile<'f>,
    arguments: &'f [Operand],
    results: &'f [Operand],
    plan: &'f Plan,
    step: &'f Step,
    cx: &'f ExecutionContext,
}

impl<'f> KernelFrame<'f> {
    #[inline]
    pub(crate) fn new(
        registers: RegisterFile<'f>,
        (arguments, results): (&'f [Operand], &'f [Operand]),
        plan: &'f Plan,
        step: &'f Step,
        cx: &'f ExecutionContext,
    ) -> Self {
        Self { registers, arguments, results, plan, step, cx }
    }

    #[inline]
    pub(crate) fn argument_if_any(&self, index: usize) -> Option<&AsyncValue> {
        self.arguments.get(index).map(|&operand| self.registers.get(operand))
    }

    pub(crate) fn attributes(&self) -> &'f [AttributeCell] {
        self.plan.attributes_of(self.step)
    }

    pub(crate) fn functions(&self) -> &'f [u32] {
        self.plan.functions_of(self.step)
    }

    pub(crate) fn program(&self) -> &'f Arc<BefFile> {
        self.cx.program()
    }

    /// The context of this call.
    pub fn context(&self) -> &'f ExecutionContext {
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
        self.registers.get(self.arguments[index])
    }

    /// An argument, moved out of its register if nobody uses it later, so that the receiver may be its only
    /// holder. To be called at most once for each argument, in order.
    ///
    /// # Panics
    /// If there are not that many.
    #[inline]
    pub fn take_argument(&mut self, index: usize) -> AsyncValue {
        self.registers.use_up(self.arguments[index])
    }

    /// All arguments, shared.
    pub fn arguments(&self) -> impl ExactSizeIterator<Item = &AsyncValue> {
        self.arguments.iter().map(|&operand| self.registers.get(operand))
    }

    /// A function the op names: a callee or a region.
    pub fn function(&self, index: usize) -> Option<FunctionRef<'f>> {
        self.functions().get(index).map(|&function| FunctionRef::new(self.cx.program(), function))
    }

    /// Number of functions.
    pub fn function_count(&self) -> usize {
        self.functions().len()
    }

    /// A result that the kernel has set.
    pub(crate) fn result(&self, index: usize) -> &AsyncValue {
        self.registers.get(self.results[index])
    }

    /// Number of results.
    pub fn result_count(&self) -> usize {
        self.results.len()
    }

    /// Empties the results: there may be scalars of an earlier call in their registers.
    pub(crate) fn clear_results(&mut self) {
        for &result in self.results {
            *self.registers.get_mut(result) = AsyncValue::EMPTY;
        }
    }

    /// Sets a result, available or not.
    ///
    /// # Panics
    /// If there are not that many.
    #[inline(always)]
    pub fn set_result(&mut self, index: usize, value: AsyncValue) {
        *self.registers.get_mut(self.results[index]) = value;
    }

    /// Makes every result this error.
    #[cold]
    pub fn fail(&mut self, error: impl Into<Diagnostic>) {
        let error = AsyncValue::from_error(self.cx.emit(error.into()));
        for &result in self.results {
            *self.registers.get_mut(result) = error.clone();
        }
    }

    /// Sets all results; a wrong number of them is the kernel's fault and makes all of them errors.
    pub fn set_results(&mut self, values: impl IntoIterator<Item = AsyncValue, IntoIter: ExactSizeIterator>) {
        let values = values.into_iter();
        if values.len() != self.result_count() {
            let message =
                format!("the kernel gave {} results, its op has {}", values.len(), self.result_count());
            return self.fail(Diagnostic::new(ErrorCode::Internal, message));
        }
        for (index, value) in values.enumerate() {
            self.set_result(index, value);
        }
    }
}
