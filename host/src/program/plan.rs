//! The plan of a function: its kernels in an order in which they can run, in flat tables.

#![expect(unsafe_code, reason = "where a step's operands lie is settled when it is loaded, not at every use")]

use std::sync::Arc;

use super::{KernelFn, NativeFn, ScalarFn};
use crate::async_value::AsyncValue;

/// A kernel's use of a register, and whether it is the last one.
///
/// The register's number is doubled to make room for that in the lowest bit: the place of a register is then a mask and
/// an address with a factor of 8 away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operand(u32);

impl Operand {
    const LAST_USE: u32 = 1;
    /// Largest register number an operand can name.
    pub(crate) const MAX_REGISTER: u32 = u32::MAX >> 1;

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
    pub(super) const fn offset(self) -> usize {
        const { assert!(size_of::<AsyncValue>() == 2 * 8) };
        (self.0 & !Self::LAST_USE) as usize * 8
    }

    #[inline(always)]
    pub(crate) const fn is_last_use(self) -> bool {
        self.0 & Self::LAST_USE != 0
    }
}

/// One kernel call.
#[derive(Clone)]
pub(crate) struct Step {
    /// The kernel's function, at hand without a look at the kernel.
    pub(crate) run: Arc<KernelFn>,
    /// A shorter way to call it when its arguments are scalars.
    pub(crate) scalar: Option<ScalarFn>,
    /// Where its operands begin: arguments, then results.
    operands: u32,
    argument_count: u32,
    result_count: u32,
    attributes: u32,
    attribute_count: u32,
    functions: u32,
    function_count: u32,
    pub(crate) kernel: u32,
    pub(crate) location: u32,
    pub(crate) dispatch: Dispatch,
    /// Whether nobody uses some result.
    pub(crate) has_unused_result: bool,
}

impl Step {
    /// Numbers of arguments and results.
    #[inline]
    pub(crate) fn operand_counts(&self) -> (usize, usize) {
        (self.argument_count as usize, self.result_count as usize)
    }
}

/// How the executor treats a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Dispatch {
    /// Run at once, whatever the arguments are.
    NonStrict,
    /// Wait for the arguments, then run at once.
    Inline,
    /// As [`Dispatch::Inline`], but it computes for long: if it had to wait, and others are ready on the same thread
    /// by then, it goes to the work queue after all.
    Long,
    /// Wait for the arguments, then run on the work queue.
    Queue,
    /// Wait for the arguments, then run on the blocking pool.
    Blocking,
}

/// An attribute resolved when its program is loaded: the bits of a scalar, or the place and count of its elements.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct AttributeCell {
    /// Offset in the attributes section.
    pub(crate) offset: u32,
    /// A scalar's bytes, little end first; the length of a list of attributes.
    pub(crate) bits: u64,
}

/// A function's kernels in file order, which verification proved to be an order of their dependences.
#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
    /// A result marked as last used is used by nobody.
    operands: Vec<Operand>,
    attributes: Vec<AttributeCell>,
    functions: Vec<u32>,
    pub(crate) register_count: usize,
    /// Registers of the function's own arguments; marked as last used if nobody uses them.
    pub(crate) parameters: Vec<Operand>,
    /// Registers of the function's results.
    pub(crate) returns: Vec<Operand>,
}

/// What a function runs.
pub(crate) enum Body {
    Async(Plan),
    Sync(Plan),
    Native(Arc<NativeFn>),
}

/// A step's parts of the tables.
impl Plan {
    /// Returns a step's arguments and results.
    pub(crate) fn operands_of(&self, step: &Step) -> (&[Operand], &[Operand]) {
        let first = step.operands as usize;
        let count = (step.argument_count + step.result_count) as usize;
        self.operands[first..][..count].split_at(step.argument_count as usize)
    }

    /// As [`Plan::operands_of`], without bounds checks.
    ///
    /// # Safety
    /// The step is one of this plan's.
    #[inline]
    pub(crate) unsafe fn operands_of_unchecked(&self, step: &Step) -> (&[Operand], &[Operand]) {
        // SAFETY: the step is one of this plan's, as this function demands.
        unsafe { self.all_operands_of(step) }.split_at(step.argument_count as usize)
    }

    /// Returns a step's arguments, then its results, in one slice.
    ///
    /// # Safety
    /// The step is one of this plan's.
    #[inline]
    pub(crate) unsafe fn all_operands_of(&self, step: &Step) -> &[Operand] {
        let first = step.operands as usize;
        let count = (step.argument_count + step.result_count) as usize;
        debug_assert!(first + count <= self.operands.len());
        // SAFETY: the step is one of this plan's, as this function demands. The loader made the step together with its
        // part of the table, and neither has changed since.
        unsafe { self.operands.get_unchecked(first..first + count) }
    }

    pub(crate) fn attributes_of(&self, step: &Step) -> &[AttributeCell] {
        &self.attributes[step.attributes as usize..][..step.attribute_count as usize]
    }

    pub(crate) fn functions_of(&self, step: &Step) -> &[u32] {
        &self.functions[step.functions as usize..][..step.function_count as usize]
    }
}

/// A kernel call to append to a plan.
pub(crate) struct NewStep<'r> {
    pub(crate) run: Arc<KernelFn>,
    /// Used for calls that run in place.
    pub(crate) scalar: Option<ScalarFn>,
    pub(crate) dispatch: Dispatch,
    pub(crate) kernel: u32,
    pub(crate) location: u32,
    /// Registers of the arguments.
    pub(crate) arguments: &'r [u32],
    /// The call has this many of the attributes pushed last.
    pub(crate) attribute_count: usize,
    pub(crate) functions: &'r [u32],
    /// Registers of the results.
    pub(crate) results: &'r [u32],
}

impl Plan {
    /// Appends an attribute of the step that is pushed next.
    pub(crate) fn push_attribute(&mut self, attribute: AttributeCell) {
        self.attributes.push(attribute);
    }

    /// Appends a step.
    pub(crate) fn push_step(&mut self, new: NewStep<'_>) {
        self.steps.push(Step {
            run: new.run,
            scalar: new.scalar.filter(|_| new.dispatch == Dispatch::Inline),
            operands: self.operands.len() as u32,
            argument_count: new.arguments.len() as u32,
            result_count: new.results.len() as u32,
            attributes: (self.attributes.len() - new.attribute_count) as u32,
            attribute_count: new.attribute_count as u32,
            functions: self.functions.len() as u32,
            function_count: new.functions.len() as u32,
            kernel: new.kernel,
            location: new.location,
            dispatch: new.dispatch,
            has_unused_result: false,
        });
        let operands = new.arguments.iter().chain(new.results);
        self.operands.extend(operands.map(|&register| Operand::new(register)));
        self.functions.extend(new.functions);
    }

    /// Marks last uses, unused results and what is worth the queue.
    pub(crate) fn seal(&mut self) {
        self.place();
        let mut used = vec![false; self.register_count];
        let mut mark = |operand: &mut Operand| {
            if !std::mem::replace(&mut used[operand.register()], true) {
                operand.set_last_use();
            }
        };
        self.returns.iter_mut().rev().for_each(&mut mark);
        for step in self.steps.iter_mut().rev() {
            let operands = &mut self.operands[step.operands as usize..];
            let (arguments, results) = operands.split_at_mut(step.argument_count as usize);
            // A result that nobody behind uses, nobody uses.
            let results = &mut results[..step.result_count as usize];
            results.iter_mut().for_each(&mut mark);
            step.has_unused_result = results.iter().any(|result| result.is_last_use());
            arguments.iter_mut().rev().for_each(&mut mark);
        }
        self.parameters.iter_mut().for_each(&mut mark);
    }

    /// Keeps a long kernel off the queue when nothing could run beside it.
    ///
    /// Kernels get a level: one more than the longest chain of long kernels that leads to them. Long kernels of
    /// one level may run beside each other, so all but the last of them go to the queue; the thread at hand runs
    /// that one itself.
    fn place(&mut self) {
        if self.steps.iter().all(|step| step.dispatch != Dispatch::Queue) {
            return;
        }
        let mut level_of = vec![0u32; self.register_count];
        let mut last_at_level: Vec<usize> = Vec::new();
        for (number, step) in self.steps.iter().enumerate() {
            let (arguments, results) = self.operands_of(step);
            let mut level = arguments.iter().map(|o| level_of[o.register()]).max().unwrap_or(0);
            if step.dispatch == Dispatch::Queue {
                if last_at_level.len() <= level as usize {
                    last_at_level.resize(level as usize + 1, usize::MAX);
                }
                last_at_level[level as usize] = number;
                level += 1;
            }
            for result in results {
                level_of[result.register()] = level;
            }
        }
        for number in last_at_level.into_iter().filter(|&number| number != usize::MAX) {
            self.steps[number].dispatch = Dispatch::Long;
        }
    }
}
