//! The registers of one invocation, recycled per thread.
//!
//! A recycled register holds no reference: it is empty, or still holds a scalar of an earlier call,
//! which needs no drop. So a call that computes only with scalars gives its registers back
//! unchanged, and setting a register for the first time need not drop its old contents. Kernels set
//! all their results. Kernels that might not do so start with empty ones
//! (`KernelRegistry::add_raw`).

use std::{
    cell::Cell,
    mem::{self, ManuallyDrop},
    ops::{Deref, DerefMut},
};

use crate::async_value::AsyncValue;

/// The most files kept per thread for the next invocations, and the largest file worth keeping.
const MAX_KEPT: u32 = 16;
const MAX_KEPT_REGISTERS: usize = 1 << 16;

thread_local! {
    /// The file that was given back last. It links to the one before.
    static SPARE: Cell<Option<Box<File>>> = const { Cell::new(None) };
}

/// Registers that one invocation after another uses.
#[derive(Default)]
struct File {
    registers: Vec<AsyncValue>,
    /// The number of registers of the current invocation.
    count: usize,
    next: Option<Box<File>>,
    /// The number of files linked to this one.
    behind: u32,
}

/// Registers that must be set before they are read. Dropping them recycles them.
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

    /// Sets the register with this number, which must be below the count.
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

    /// Recycles the registers without clearing them. None may hold more than a scalar.
    #[inline]
    pub(super) fn give_back(self) {
        debug_assert!(self.iter().all(|register| !register.is_counted()), "only scalars may remain");
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
        // If the thread is already destroying its locals, the registers are freed instead.
        let _ = SPARE.try_with(|spare| {
            let next = spare.take();
            file.behind = next.as_ref().map_or(0, |next| next.behind + 1);
            let kept = if file.behind < MAX_KEPT {
                mem::forget(mem::replace(&mut file.next, next));
                Some(file)
            } else {
                next
            };
            // The replaced value is `None`, so forgetting it spares the code that would drop it.
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
