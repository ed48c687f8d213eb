//! [`Device`]: the location of a tensor's elements.

use std::fmt;
use std::sync::Arc;

use tfrt_host::value_type;

use crate::DeviceQueue;

/// A place where tensors are stored and ops run, known by its name. Cloning is cheap; devices are
/// distinguished by identity.
#[derive(Clone)]
pub struct Device(Arc<Parts>);

struct Parts {
    name: Box<str>,
    queue: Option<Arc<DeviceQueue>>,
}

value_type!(Device, "!tfrt.device");

impl Device {
    /// Creates a device with this name whose tensors are in host memory, different from every other
    /// one.
    pub fn new(name: impl Into<Box<str>>) -> Self {
        Self(Arc::new(Parts { name: name.into(), queue: None }))
    }

    /// Creates a device with this name and separate memory, on which ops are queued.
    pub fn with_queue(name: impl Into<Box<str>>, queue: DeviceQueue) -> Self {
        Self(Arc::new(Parts { name: name.into(), queue: Some(Arc::new(queue)) }))
    }

    /// Returns the name, such as `CPU:0`.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the queue for ops, if the device has separate memory.
    pub fn queue(&self) -> Option<&Arc<DeviceQueue>> {
        self.0.queue.as_ref()
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
