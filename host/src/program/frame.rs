//! The view of a running kernel: arguments, attributes, functions, context and results.

#![expect(unsafe_code, reason = "register numbers are verified once, not at every use")]

use std::{any::Any, marker::PhantomData, ptr::NonNull, sync::Arc};

use super::{AttributeCell, BefFile, FunctionRef, Operand, Plan, Step};
use crate::{
    async_value::AsyncValue,
    context::ExecutionContext,
    diagnostic::{Diagnostic, ErrorCode},
    value::Value,
};

/// The type-erased form of a kernel.
pub type KernelFn = dyn Fn(&mut KernelFrame<'_>) + Send + Sync;

/// A native function, named by a `tfrt.native` function of the program. It receives the context,
/// the arguments, which may be pending, and the number of results.
pub type NativeFn = dyn Fn(&ExecutionContext, &[AsyncValue], usize) -> Vec<AsyncValue> + Send + Sync;

/// The registers of an invocation, accessed by operands without a check.
///
/// Verification proved that the register numbers of a function are below its register count, so
/// they are not checked at every use.
#[derive(Debug)]
pub(crate) struct RegisterFile<'f>(&'f mut [AsyncValue]);

impl<'f> RegisterFile<'f> {
    /// # Safety
    /// Every operand used with this file must name a register below `registers.len()`.
    pub(crate) unsafe fn new(registers: &'f mut [AsyncValue]) -> Self {
        Self(registers)
    }

    /// Borrows the same registers for a shorter time.
    #[inline(always)]
    pub(crate) fn reborrow(&mut self) -> RegisterFile<'_> {
        RegisterFile(self.0)
    }

    #[inline]
    pub(crate) fn get(&self, operand: Operand) -> &AsyncValue {
        debug_assert!(operand.register() < self.0.len());
        // SAFETY: the operand names a register of the file: the maker of the file promised that to
        // `new`.
        unsafe { &*self.0.as_ptr().byte_add(operand.offset()) }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, operand: Operand) -> &mut AsyncValue {
        debug_assert!(operand.register() < self.0.len());
        // SAFETY: the operand names a register of the file: the maker of the file promised that to
        // `new`.
        unsafe { &mut *self.0.as_mut_ptr().byte_add(operand.offset()) }
    }

    /// Returns the value for this use: moved out if it is the last one, else shared.
    #[inline]
    pub(crate) fn use_up(&mut self, operand: Operand) -> AsyncValue {
        let register = self.get_mut(operand);
        if operand.is_last_use() { register.take() } else { register.clone() }
    }
}

/// One call of a kernel whose arguments and result are all scalars. It fits into two machine words.
pub(crate) struct ScalarFrame<'f> {
    registers: NonNull<AsyncValue>,
    operands: NonNull<Operand>,
    marker: PhantomData<&'f mut [AsyncValue]>,
}

/// Calls a kernel of scalars. Returns `false`, without effect, if an argument is not a scalar of
/// the expected type.
///
/// # Safety
/// The frame belongs to a call of this kernel: its operands are the kernel's arguments, then its
/// result.
pub(crate) type ScalarFn = unsafe fn(ScalarFrame<'_>) -> bool;

impl<'f> ScalarFrame<'f> {
    /// Creates the frame of a call with these operands: arguments, then results.
    #[inline(always)]
    pub(crate) fn new(registers: RegisterFile<'f>, operands: &'f [Operand]) -> Self {
        let registers = NonNull::from(registers.0).cast();
        Self { registers, operands: NonNull::from(operands).cast(), marker: PhantomData }
    }

    /// Returns the register of an operand.
    ///
    /// # Safety
    /// The frame has more than `index` operands.
    #[inline(always)]
    unsafe fn register(&self, index: usize) -> NonNull<AsyncValue> {
        // SAFETY: the operand exists, as this function requires. It names a register of the file,
        // as `RegisterFile::new` requires of all operands that are used with the file.
        unsafe { self.registers.byte_add(self.operands.add(index).read().offset()) }
    }

    /// Returns an argument if it is a `T` stored in its handle.
    ///
    /// # Safety
    /// The frame has more than `index` operands.
    #[inline(always)]
    pub(crate) unsafe fn argument<T: Value + Clone>(&self, index: usize) -> Option<T> {
        // SAFETY: the operand exists, as this function requires. Its register belongs to the file
        // that the frame borrows for `'f`. No mutable reference to it exists meanwhile.
        unsafe { self.register(index).as_ref() }.get_inline().cloned()
    }

    /// Sets a result.
    ///
    /// # Safety
    /// The frame has more than `index` operands.
    #[inline(always)]
    pub(crate) unsafe fn set_result<T: Value>(&mut self, index: usize, value: T) {
        // Written instead of assigned: the register of a result holds nothing that must be dropped;
        // see `executor::registers`.
        // SAFETY: the operand exists, as this function requires. Its register belongs to the file
        // that the frame borrows exclusively for `'f`.
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

    /// Returns the context of this call.
    pub fn context(&self) -> &'f ExecutionContext {
        self.cx
    }

    /// Returns the number of arguments.
    pub fn argument_count(&self) -> usize {
        self.arguments.len()
    }

    /// Returns an argument. In a non-strict kernel it may be pending or an error.
    ///
    /// # Panics
    /// If `index` is not below [`KernelFrame::argument_count`].
    pub fn argument(&self, index: usize) -> &AsyncValue {
        self.registers.get(self.arguments[index])
    }

    /// Moves an argument out of its register if this is its last use, so that the receiver may be
    /// its only holder; otherwise shares it. Call it at most once per argument, in order.
    ///
    /// # Panics
    /// If `index` is not below [`KernelFrame::argument_count`].
    #[inline]
    pub fn take_argument(&mut self, index: usize) -> AsyncValue {
        self.registers.use_up(self.arguments[index])
    }

    /// Returns all arguments, shared.
    pub fn arguments(&self) -> impl ExactSizeIterator<Item = &AsyncValue> {
        self.arguments.iter().map(|&operand| self.registers.get(operand))
    }

    /// Returns what [`prepare`](Self::prepare) kept for this call of the program.
    pub fn prepared<T: Any + Send + Sync>(&self) -> Option<&'f T> {
        self.plan.prepared_of(self.step)?.get()?.downcast_ref()
    }

    /// Keeps what the kernel makes of its attributes for as long as the program, so that later calls
    /// need not make it again. Does nothing if there is something already, or if the kernel has no
    /// attributes.
    pub fn prepare<T: Any + Send + Sync>(&self, value: T) {
        if let Some(place) = self.plan.prepared_of(self.step) {
            // The value of another thread is as good.
            let _ = place.set(Box::new(value));
        }
    }

    /// Returns a function that the op names: a callee or a region.
    pub fn function(&self, index: usize) -> Option<FunctionRef<'f>> {
        self.functions().get(index).map(|&function| FunctionRef::new(self.cx.program(), function))
    }

    /// Returns the number of functions.
    pub fn function_count(&self) -> usize {
        self.functions().len()
    }

    /// Returns a result that the kernel has set.
    pub(crate) fn result(&self, index: usize) -> &AsyncValue {
        self.registers.get(self.results[index])
    }

    /// Returns the number of results.
    pub fn result_count(&self) -> usize {
        self.results.len()
    }

    /// Empties the results, whose registers may hold scalars of an earlier call.
    pub(crate) fn clear_results(&mut self) {
        for &result in self.results {
            *self.registers.get_mut(result) = AsyncValue::EMPTY;
        }
    }

    /// Sets a result, which may be pending.
    ///
    /// # Panics
    /// If `index` is not below [`KernelFrame::result_count`].
    #[inline(always)]
    pub fn set_result(&mut self, index: usize, value: AsyncValue) {
        *self.registers.get_mut(self.results[index]) = value;
    }

    /// Sets every result to this error.
    #[cold]
    pub fn fail(&mut self, error: impl Into<Diagnostic>) {
        let error = AsyncValue::from_error(self.cx.emit(error.into()));
        for &result in self.results {
            *self.registers.get_mut(result) = error.clone();
        }
    }

    /// Sets all results. A wrong number of values is an error of the kernel and makes all results
    /// errors.
    pub fn set_results(&mut self, values: impl IntoIterator<Item = AsyncValue, IntoIter: ExactSizeIterator>) {
        let values = values.into_iter();
        if values.len() != self.result_count() {
            let message = format!(
                "the kernel returned {} results, but its op has {}",
                values.len(),
                self.result_count()
            );
            return self.fail(Diagnostic::new(ErrorCode::Internal, message));
        }
        for (index, value) in values.enumerate() {
            self.set_result(index, value);
        }
    }
}
