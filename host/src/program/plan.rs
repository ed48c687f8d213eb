//! The plan of a function: flat tables of its kernels, in an order in which they can run.

#![expect(unsafe_code, reason = "where a step's operands lie is settled when it is loaded, not at every use")]

use std::{
    any::Any,
    sync::{Arc, OnceLock},
};

use super::{KernelFn, NativeFn, ScalarFn};
use crate::async_value::AsyncValue;

/// A kernel's use of a register, and whether it is the last use.
///
/// The number of the register is stored doubled, and the lowest bit marks the last use. A mask and
/// an address with a factor of 8 then give the place of the register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operand(u32);

impl Operand {
    const LAST_USE: u32 = 1;
    /// The largest register number that an operand can name.
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

    /// Returns the offset of the register from the first one, in bytes.
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

/// One call of a kernel.
#[derive(Clone)]
pub(crate) struct Step {
    /// The kernel's function, stored here so that a call need not look at the kernel.
    pub(crate) run: Arc<KernelFn>,
    /// A faster form of the kernel for scalar arguments.
    pub(crate) scalar: Option<ScalarFn>,
    /// The index of its first operand. Its operands are the arguments, then the results.
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
    /// Whether some result is never used.
    pub(crate) has_unused_result: bool,
}

impl Step {
    /// Returns the numbers of arguments and results.
    #[inline]
    pub(crate) fn operand_counts(&self) -> (usize, usize) {
        (self.argument_count as usize, self.result_count as usize)
    }
}

/// How the executor treats a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Dispatch {
    /// Run at once, whether or not the arguments are available.
    NonStrict,
    /// Wait for the arguments, then run at once.
    Inline,
    /// As [`Dispatch::Inline`] for a kernel that computes for long. If it had to wait, and other
    /// kernels are ready on the same thread by then, it moves to the work queue.
    Long,
    /// Wait for the arguments, then run on the work queue.
    Queue,
    /// Wait for the arguments, then run on the blocking pool.
    Blocking,
}

/// An attribute that is resolved when its program is loaded: the bits of a scalar, or the place and
/// count of its elements.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct AttributeCell {
    /// The offset in the attributes section.
    pub(crate) offset: u32,
    /// The bytes of a scalar, little-endian, or the length of a list of attributes.
    pub(crate) bits: u64,
}

/// The kernels of a function in file order, which verification proved to be an order of their
/// dependences.
#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
    /// The operands of all steps. A result marked as last used is never used.
    operands: Vec<Operand>,
    attributes: Vec<AttributeCell>,
    /// For each attribute, what its kernel has made of it for later calls.
    prepared: Vec<OnceLock<Box<dyn Any + Send + Sync>>>,
    functions: Vec<u32>,
    pub(crate) register_count: usize,
    /// The registers of the function's arguments, marked as last used if they are never used.
    pub(crate) parameters: Vec<Operand>,
    /// The registers of the function's results.
    pub(crate) returns: Vec<Operand>,
}

/// What runs when a function is called.
pub(crate) enum Body {
    Async(Plan),
    Sync(Plan),
    Native(Arc<NativeFn>),
}

/// Access to the parts of the tables that belong to a step.
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
    /// The step belongs to this plan.
    #[inline]
    pub(crate) unsafe fn operands_of_unchecked(&self, step: &Step) -> (&[Operand], &[Operand]) {
        // SAFETY: the step belongs to this plan, as this function requires.
        unsafe { self.all_operands_of(step) }.split_at(step.argument_count as usize)
    }

    /// Returns a step's arguments, then its results, in one slice.
    ///
    /// # Safety
    /// The step belongs to this plan.
    #[inline]
    pub(crate) unsafe fn all_operands_of(&self, step: &Step) -> &[Operand] {
        let first = step.operands as usize;
        let count = (step.argument_count + step.result_count) as usize;
        debug_assert!(first + count <= self.operands.len());
        // SAFETY: the step belongs to this plan, as this function requires. The loader made the
        // step together with its part of the table, and neither has changed since.
        unsafe { self.operands.get_unchecked(first..first + count) }
    }

    pub(crate) fn attributes_of(&self, step: &Step) -> &[AttributeCell] {
        &self.attributes[step.attributes as usize..][..step.attribute_count as usize]
    }

    /// Returns the place for what a step's kernel makes of its attributes, if it has any.
    pub(crate) fn prepared_of(&self, step: &Step) -> Option<&OnceLock<Box<dyn Any + Send + Sync>>> {
        self.prepared.get(step.attributes as usize).filter(|_| step.attribute_count > 0)
    }

    pub(crate) fn functions_of(&self, step: &Step) -> &[u32] {
        &self.functions[step.functions as usize..][..step.function_count as usize]
    }
}

/// A kernel call to append to a plan.
pub(crate) struct NewStep<'r> {
    pub(crate) run: Arc<KernelFn>,
    /// The scalar form, for calls that run in place.
    pub(crate) scalar: Option<ScalarFn>,
    pub(crate) dispatch: Dispatch,
    pub(crate) kernel: u32,
    pub(crate) location: u32,
    /// The registers of the arguments.
    pub(crate) arguments: &'r [u32],
    /// How many of the last pushed attributes belong to the call.
    pub(crate) attribute_count: usize,
    pub(crate) functions: &'r [u32],
    /// The registers of the results.
    pub(crate) results: &'r [u32],
}

impl Plan {
    /// Appends an attribute of the next step.
    pub(crate) fn push_attribute(&mut self, attribute: AttributeCell) {
        self.attributes.push(attribute);
        self.prepared.push(OnceLock::new());
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

    /// Marks last uses, unused results and steps worth moving to the queue.
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
            // A result is unused if no later step uses it.
            let results = &mut results[..step.result_count as usize];
            results.iter_mut().for_each(&mut mark);
            step.has_unused_result = results.iter().any(|result| result.is_last_use());
            arguments.iter_mut().rev().for_each(&mut mark);
        }
        self.parameters.iter_mut().for_each(&mut mark);
    }

    /// Keeps a long kernel off the queue if nothing could run beside it.
    ///
    /// The level of a kernel is one more than the longest chain of long kernels that leads to it.
    /// Long kernels of one level may run concurrently, so all but the last of them move to the
    /// queue. The current thread runs the last one.
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
