//! [`Device`]: where the elements of a tensor are.

use std::fmt;
use std::sync::Arc;

use tfrt_host::value_type;

/// A place that tensors live in and ops run on, known by its name. Cheap to clone; devices are told apart by identity.
#[derive(Clone)]
pub struct Device(Arc<Parts>);

struct Parts {
    name: Box<str>,
}

value_type!(Device, "!tfrt.device");

impl Device {
    /// A device of this name, different from every other.
    pub fn new(name: impl Into<Box<str>>) -> Self {
        Self(Arc::new(Parts { name: name.into() }))
    }

    /// Its name: `CPU:0`.
    pub fn name(&self) -> &str {
        &self.0.name
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Device {}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.name())
    }
}
