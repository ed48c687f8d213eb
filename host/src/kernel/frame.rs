//! What a kernel sees while it runs: arguments, attributes, functions, the context, and where results go.

#![expect(unsafe_code, reason = "register numbers are verified once, not at every use")]

use std::{marker::PhantomData, ptr::NonNull, sync::Arc};

use super::attributes::{AttributeCell, AttributeType};
use crate::{
    async_value::AsyncValue,
    context::ExecutionContext,
    diagnostic::{Diagnostic, ErrorCode},
    program::{BefFile, FunctionRef, Plan, Step},
    value::Value,
};

/// A kernel's use of a register, and whether it is the last one.
///
/// The register's number is doubled to make room for that in the lowest bit: the place of a register is then a mask and
/// an address with a factor of 8 away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operand(u32);

impl Operand {
    const LAST_USE: u32 = 1;
    /// Largest register number an operand can name.
    pub(crate) const REGISTER_MAX: u32 = u32::MAX >> 1;

    pub(crate) const fn new(register: u32) -> Self {
        Self(register << 1)
    }

    pub(crate) fn set_last_use(&mut self) {
        self.0 |= Self::LAST_USE;
    }

    #[inline(always)]
    pub(crate) const fn register(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Where the register lies, in bytes from the first one.
    #[inline(always)]
    const fn offset(self) -> usize {
        const { assert!(size_of::<AsyncValue>() == 2 * 8) };
        (self.0 & !Self::LAST_USE) as usize * 8
    }

    #[inline(always)]
    pub(crate) const fn is_last_use(self) -> bool {
        self.0 & Self::LAST_USE != 0
    }
}

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

/// One call of a kernel that takes and gives scalars and nothing else: all it needs to know, in two words.
pub struct ScalarFrame<'f> {
    registers: NonNull<AsyncValue>,
    operands: NonNull<Operand>,
    marker: PhantomData<&'f mut [AsyncValue]>,
}

/// Calls a kernel of scalars; `false` if an argument is something else, and then nothing was done.
pub type ScalarFn = fn(ScalarFrame<'_>) -> bool;

impl<'f> ScalarFrame<'f> {
    /// # Safety
    /// The kernel called with this frame has as many arguments and results as there are operands.
    #[inline(always)]
    pub(crate) unsafe fn new(registers: RegisterFile<'f>, operands: &'f [Operand]) -> Self {
        let registers = NonNull::from(registers.0).cast();
        Self { registers, operands: NonNull::from(operands).cast(), marker: PhantomData }
    }

    /// The register of an operand. `index` is below the number of the kernel's arguments and results.
    #[inline(always)]
    fn register(&self, index: usize) -> NonNull<AsyncValue> {
        // SAFETY: there are that many operands, as whoever made the frame promised, and they name registers of the
        // file, as whoever made that promised.
        unsafe { self.registers.byte_add(self.operands.add(index).read().offset()) }
    }

    #[inline(always)]
    pub(super) fn argument<T: Value + Clone>(&self, index: usize) -> Option<T> {
        // SAFETY: a register of the file, which the frame borrows.
        unsafe { self.register(index).as_ref() }.get_inline().cloned()
    }

    #[inline(always)]
    pub(super) fn set_result<T: Value>(&mut self, index: usize, value: T) {
        // Not assigned: a result's register has nothing that needs to be dropped, see `executor::registers`.
        // SAFETY: a register of the file, which the frame borrows for writing.
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
    pub(super) cx: &'f ExecutionContext,
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
    pub(super) fn argument_if_any(&self, index: usize) -> Option<&AsyncValue> {
        self.arguments.get(index).map(|&operand| self.registers.get(operand))
    }

    pub(super) fn attributes(&self) -> &'f [AttributeCell] {
        self.plan.attributes_of(self.step)
    }

    pub(super) fn functions(&self) -> &'f [u32] {
        self.plan.functions_of(self.step)
    }

    pub(super) fn program(&self) -> &'f Arc<BefFile> {
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

    /// An attribute, by its position among the kernel's. The kernel's signature must say that it is a `T`.
    ///
    /// # Errors
    /// InvalidArgument if there is none there, or something else.
    pub fn attribute<T: AttributeType + ?Sized>(&self, index: usize) -> Result<T::Borrowed<'f>, Diagnostic> {
        let cell = self.attributes().get(index);
        cell.and_then(|cell| T::read(self.cx.program(), cell)).ok_or_else(|| {
            Diagnostic::invalid_argument(format!("attribute {index} is missing or of another kind"))
        })
    }

    /// A function the op names: a callee or a region.
    pub fn function(&self, index: usize) -> Option<FunctionRef<'f>> {
        self.functions().get(index).map(|&function| FunctionRef::new(self.cx.program(), function))
    }

    /// Number of functions.
    pub fn function_count(&self) -> usize {
        self.functions().len()
    }

    /// Number of results.
    pub fn result_count(&self) -> usize {
        self.results.len()
    }

    /// Empties the results: there may be scalars of an earlier call in their registers.
    pub(super) fn clear_results(&mut self) {
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
