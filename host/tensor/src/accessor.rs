//! [`Accessor`]: the name under which a kernel takes a tensor, so that a conflict can name both sides.
//!
//! A buffer stores the number of the kernel that holds it. The numbers come from a table in this
//! module that only grows. A name takes its number once, on first use, so that taking a tensor costs
//! no look-up.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use tfrt_host::host_buffer::{Access, AccessError, HostBuffer, ReadGuard, WriteGuard};
use tfrt_host::{Diagnostic, ErrorCode};

/// Who accesses a tensor; usually a `static` beside the kernel.
///
/// ```
/// use tfrt_tensor::Accessor;
/// static ME: Accessor = Accessor::new("tfrt_dht.print_tensor");
/// assert_eq!(ME.name(), "tfrt_dht.print_tensor");
/// ```
#[derive(Debug)]
pub struct Accessor {
    name: &'static str,
    /// One more than the place in the table; 0 until first used.
    number: AtomicU32,
}

static NAMES: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

impl Accessor {
    /// An accessor of this name, which takes a number when first used.
    pub const fn new(name: &'static str) -> Self {
        Self { name, number: AtomicU32::new(0) }
    }

    /// An accessor whose name is made as the program runs. Each different name is kept for the life
    /// of the process: for names of places in programs, where somebody wants to know them.
    pub fn interned(name: &str) -> Self {
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        let known = names.iter().copied().find(|&known| known == name);
        let name = known.unwrap_or_else(|| {
            let name: &'static str = String::from(name).leak();
            names.push(name);
            name
        });
        Self::new(name)
    }

    /// The name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The number a buffer stores.
    #[inline]
    pub(crate) fn number(&self) -> u32 {
        // Relaxed: the number means something only together with the table, which has its own lock.
        match self.number.load(Ordering::Relaxed) {
            0 => self.register(),
            number => number,
        }
    }

    #[cold]
    fn register(&self) -> u32 {
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        let place = names.iter().position(|&name| name == self.name).unwrap_or_else(|| {
            names.push(self.name);
            names.len() - 1
        });
        let number = u32::try_from(place + 1).unwrap_or(u32::MAX);
        self.number.store(number, Ordering::Relaxed);
        number
    }

    /// Takes a buffer for reading, with a guard that keeps it alive.
    ///
    /// # Errors
    /// DataRace while somebody writes.
    pub fn read_owned(&self, buffer: &HostBuffer) -> Result<ReadGuard<HostBuffer>, Diagnostic> {
        buffer.read_owned(self.number()).map_err(|error| self.refused(error, Access::Read))
    }

    /// From reading to writing, without anybody else's getting in between.
    ///
    /// # Errors
    /// The guard as it was, and DataRace while others read or FailedPrecondition if the memory is
    /// read-only.
    pub fn upgrade(
        &self,
        guard: ReadGuard<HostBuffer>,
    ) -> Result<WriteGuard<HostBuffer>, (ReadGuard<HostBuffer>, Diagnostic)> {
        let refused = |(guard, error)| (guard, self.refused(error, Access::Write));
        guard.into_write(self.number()).map_err(refused)
    }

    /// Takes a buffer for writing, with a guard that keeps it alive.
    ///
    /// # Errors
    /// DataRace while anybody else reads or writes; FailedPrecondition if the memory is read-only.
    pub fn write_owned(&self, buffer: &HostBuffer) -> Result<WriteGuard<HostBuffer>, Diagnostic> {
        buffer.write_owned(self.number()).map_err(|error| self.refused(error, Access::Write))
    }

    /// What a refused access means to the author of the program.
    #[cold]
    pub(crate) fn refused(&self, error: AccessError, wanted: Access) -> Diagnostic {
        match error {
            AccessError::ReadOnly => Diagnostic::new(
                ErrorCode::FailedPrecondition,
                format!("kernel '{}' cannot write the tensor: its memory is read-only", self.name),
            ),
            AccessError::Conflict { holder, held } => {
                let verb = match wanted {
                    Access::Read => "reads",
                    Access::Write => "writes",
                };
                let doing = match held {
                    Access::Read => "reading",
                    Access::Write => "writing",
                };
                let holder = name_of(holder);
                Diagnostic::new(
                    ErrorCode::DataRace,
                    format!(
                        "kernel '{}' {verb} a tensor that kernel '{holder}' is {doing}; no chain orders the two",
                        self.name
                    ),
                )
            }
        }
    }
}

fn name_of(number: u32) -> &'static str {
    let names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let place = (number as usize).checked_sub(1);
    place.and_then(|place| names.get(place)).copied().unwrap_or("(unnamed)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_share_a_number_and_conflicts_name_both_sides() {
        static A: Accessor = Accessor::new("test.accessor.a");
        static ALSO_A: Accessor = Accessor::new("test.accessor.a");
        static B: Accessor = Accessor::new("test.accessor.b");
        assert_eq!(A.number(), ALSO_A.number());
        assert_eq!(Accessor::interned("test.accessor.a").number(), A.number());
        let (made, again) = (Accessor::interned("test.accessor.c"), Accessor::interned("test.accessor.c"));
        assert_eq!((made.number(), made.name().as_ptr()), (again.number(), again.name().as_ptr()));
        assert_ne!(A.number(), B.number());
        let conflict = AccessError::Conflict { holder: B.number(), held: Access::Write };
        let error = A.refused(conflict, Access::Read);
        assert_eq!(error.code, ErrorCode::DataRace);
        assert_eq!(
            error.message,
            "kernel 'test.accessor.a' reads a tensor that kernel 'test.accessor.b' is writing; no chain orders the two"
        );
        let unnamed = A.refused(AccessError::Conflict { holder: 0, held: Access::Read }, Access::Write);
        assert!(unnamed.message.contains("'(unnamed)' is reading"), "{unnamed}");
        let read_only = A.refused(AccessError::ReadOnly, Access::Write);
        assert_eq!(read_only.code, ErrorCode::FailedPrecondition);
    }
}
