//! What ops make of their attributes, which is kept with them.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

use tfrt_host::Diagnostic;

use super::OpAttrs;

/// A value of a type that the op knows, once it is made. Copies share it.
#[derive(Clone, Default)]
pub(super) struct Derived(OnceLock<Arc<dyn Any + Send + Sync>>);

impl Derived {
    /// Forgets the value, because the attributes change.
    pub(super) fn clear(&mut self) {
        self.0.take();
    }
}

impl fmt::Debug for Derived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.get().is_some() { "Derived" } else { "-" })
    }
}

impl OpAttrs {
    /// Returns what `make` makes of the attributes. The first value is kept for as long as they and
    /// their copies, so an op must derive values of one type alone.
    ///
    /// # Errors
    /// Those of `make`, which is called again then; Internal if a value of another type is kept.
    pub fn derive<T: Any + Send + Sync>(
        &self,
        make: impl FnOnce(&Self) -> Result<T, Diagnostic>,
    ) -> Result<&T, Diagnostic> {
        let kept = match self.derived.0.get() {
            Some(kept) => kept,
            None => {
                let made = make(self)?;
                // The value of another thread is as good.
                self.derived.0.get_or_init(|| Arc::new(made))
            }
        };
        kept.downcast_ref().ok_or_else(|| Diagnostic::internal("attributes keep a value of another type"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_made_once_until_attributes_change() {
        let mut attrs = OpAttrs::new();
        attrs.set("a", 1_i32).unwrap();
        let count = |attrs: &OpAttrs| attrs.derive(|attrs| Ok(attrs.len())).copied();
        assert!(attrs.derive::<usize>(|_| Err(Diagnostic::internal("not yet"))).is_err());
        assert_eq!(count(&attrs).unwrap(), 1);
        let copy = attrs.clone();
        assert_eq!(copy.derive::<usize>(|_| Ok(9)).unwrap(), &1);
        attrs.set("b", 2_i32).unwrap();
        assert_eq!((count(&attrs).unwrap(), count(&copy).unwrap()), (2, 1));
        assert!(attrs.derive::<u8>(|_| Ok(0)).is_err());
    }
}
