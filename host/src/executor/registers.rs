//! The registers of one invocation, recycled per thread.

use std::{
    cell::Cell,
    ops::{Deref, DerefMut},
};

use crate::async_value::AsyncValue;

/// Files kept for the next invocations on a thread, and the largest worth keeping.
const KEPT_MAX: u32 = 16;
const KEPT_REGISTERS_MAX: usize = 1 << 16;

thread_local! {
    /// The file given back last, linked to the one before.
    static SPARE: Cell<Option<Box<File>>> = const { Cell::new(None) };
}

/// Registers of one invocation after another. All are empty when it is given back, so that it need not be filled when
/// it is taken.
#[derive(Default)]
struct File {
    registers: Vec<AsyncValue>,
    next: Option<Box<File>>,
    /// How many files are linked to this one.
    behind: u32,
}

/// Registers, all empty at first. Dropping them gives them back for reuse.
#[derive(Default)]
pub(super) struct Registers {
    /// There is one from [`Registers::take`] on.
    file: Option<Box<File>>,
    count: usize,
}

impl Registers {
    #[inline]
    pub(super) fn take(count: usize) -> Self {
        let mut file = SPARE.try_with(Cell::take).ok().flatten().unwrap_or_default();
        if let Some(next) = file.next.take() {
            // The thread's locals are alive: the file came from there.
            let _ = SPARE.try_with(|spare| spare.set(Some(next)));
        }
        if file.registers.len() < count {
            file.registers.resize(count, AsyncValue::EMPTY);
        }
        Self { file: Some(file), count }
    }

    pub(super) fn push(&mut self, value: AsyncValue) {
        let registers = &mut self.file.get_or_insert_default().registers;
        match registers.get_mut(self.count) {
            Some(register) => *register = value,
            None => registers.push(value),
        }
        self.count += 1;
    }
}

impl Drop for Registers {
    #[inline]
    fn drop(&mut self) {
        for register in &mut **self {
            *register = AsyncValue::EMPTY;
        }
        let Some(mut file) = self.file.take() else { return };
        if file.registers.len() <= KEPT_REGISTERS_MAX {
            // A thread past destroying its locals frees the registers instead.
            let _ = SPARE.try_with(|spare| {
                let next = spare.take();
                file.behind = next.as_ref().map_or(0, |next| next.behind + 1);
                if file.behind < KEPT_MAX {
                    file.next = next;
                    spare.set(Some(file));
                } else {
                    spare.set(next);
                }
            });
        }
    }
}

impl Deref for Registers {
    type Target = [AsyncValue];
    #[inline]
    fn deref(&self) -> &[AsyncValue] {
        self.file.as_ref().map_or(&[], |file| &file.registers[..self.count])
    }
}

impl DerefMut for Registers {
    #[inline]
    fn deref_mut(&mut self) -> &mut [AsyncValue] {
        self.file.as_mut().map_or(&mut [], |file| &mut file.registers[..self.count])
    }
}
