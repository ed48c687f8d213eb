//! The registers of one invocation, recycled per thread.
//!
//! What is recycled holds no reference to anything: its registers are empty, or still hold scalars of the call before,
//! which nobody drops. So a call that computed with nothing but scalars gives its registers back as they are, and
//! whoever sets a register that was not set before need not drop what is there. Kernels set all their results; those
//! that might not begin with empty ones (`KernelRegistry::add_raw`).

use std::{
    cell::Cell,
    mem::{self, ManuallyDrop},
    ops::{Deref, DerefMut},
};

use crate::async_value::AsyncValue;

/// Files kept for the next invocations on a thread, and the largest worth keeping.
const MAX_KEPT: u32 = 16;
const MAX_KEPT_REGISTERS: usize = 1 << 16;

thread_local! {
    /// The file given back last, linked to the one before.
    static SPARE: Cell<Option<Box<File>>> = const { Cell::new(None) };
}

/// Registers of one invocation after another.
#[derive(Default)]
struct File {
    registers: Vec<AsyncValue>,
    /// How many of them the invocation at hand has.
    count: usize,
    next: Option<Box<File>>,
    /// How many files are linked to this one.
    behind: u32,
}

/// Registers of which each is to be set before it is read. Dropping them gives them back for reuse.
pub(super) struct Registers(Option<Box<File>>);

impl Registers {
    #[inline]
    pub(super) fn take(count: usize) -> Self {
        let recycled = SPARE.try_with(|spare| {
            let mut file = spare.take()?;
            mem::forget(spare.replace(file.next.take()));
            Some(file)
        });
        let mut file = recycled.ok().flatten().unwrap_or_default();
        if file.registers.len() < count {
            file.registers.resize(count, AsyncValue::EMPTY);
        }
        file.count = count;
        Self(Some(file))
    }

    /// Sets the register of this number, which is below the count.
    #[inline]
    pub(super) fn set(&mut self, number: usize, value: AsyncValue) {
        if let Some(register) = self.0.as_mut().and_then(|file| file.registers.get_mut(number)) {
            *register = value;
        }
    }

    pub(super) fn push(&mut self, value: AsyncValue) {
        let Some(file) = &mut self.0 else { return };
        match file.registers.get_mut(file.count) {
            Some(register) => *register = value,
            None => file.registers.push(value),
        }
        file.count += 1;
    }

    /// Gives them back without a look at them: none holds more than a scalar.
    #[inline]
    pub(super) fn give_back(self) {
        debug_assert!(self.iter().all(|register| !register.is_counted()), "nothing but scalars");
        if let Some(file) = ManuallyDrop::new(self).0.take() {
            keep(file);
        }
    }
}

impl Drop for Registers {
    #[inline]
    fn drop(&mut self) {
        self.iter_mut().filter(|register| register.is_counted()).for_each(|register| drop(register.take()));
        if let Some(file) = self.0.take() {
            keep(file);
        }
    }
}

/// Keeps a file for the next invocation.
#[inline(always)]
fn keep(mut file: Box<File>) {
    if file.registers.len() <= MAX_KEPT_REGISTERS {
        // A thread past destroying its locals frees the registers instead.
        let _ = SPARE.try_with(|spare| {
            let next = spare.take();
            file.behind = next.as_ref().map_or(0, |next| next.behind + 1);
            let kept = if file.behind < MAX_KEPT {
                mem::forget(mem::replace(&mut file.next, next));
                Some(file)
            } else {
                next
            };
            // What is replaced here and above is nothing, which is not worth the code to drop it.
            mem::forget(spare.replace(kept));
        });
    }
}

impl Deref for Registers {
    type Target = [AsyncValue];
    #[inline]
    fn deref(&self) -> &[AsyncValue] {
        self.0.as_ref().map_or(&[], |file| &file.registers[..file.count])
    }
}

impl DerefMut for Registers {
    #[inline]
    fn deref_mut(&mut self) -> &mut [AsyncValue] {
        self.0.as_mut().map_or(&mut [], |file| &mut file.registers[..file.count])
    }
}
