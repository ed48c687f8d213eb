//! Dropped resources that work in flight may still use.
//!
//! A program may drop an event, a stream or a timer as soon as its last use is queued. The API does
//! not say that a plug-in allows this. So dropped resources are kept here until the streams that
//! use them have passed, and are destroyed at a later call.

use std::sync::Arc;

use parking_lot::Mutex;
use tfrt_device::error::Result;

use super::device::Device;
use super::stream::{Point, StreamCore};
use crate::abi::{SP_Event, SP_Timer};

/// A dropped resource.
pub(super) enum Remaining {
    Event(SP_Event),
    Timer(SP_Timer),
    Stream(Arc<StreamCore>),
    /// Host memory.
    Host(*mut u8),
}

// SAFETY: nobody else has these handles and this memory, and they may be passed back to the plug-in
// on any thread.
unsafe impl Send for Remaining {}

struct Grave {
    remaining: Remaining,
    /// When all these points are passed, nothing uses it.
    uses: Vec<Point>,
}

/// The dropped resources of a device; see the module documentation.
#[derive(Default)]
pub(super) struct Remains {
    graves: Mutex<Graves>,
}

#[derive(Default)]
struct Graves {
    list: Vec<Grave>,
    /// The number of resources at which the next call looks for unused ones.
    looked: usize,
}

/// The number of resources that never cause a search.
const MIN_GRAVES: usize = 16;

impl Remains {
    /// Destroys a resource, now or later.
    pub(super) fn bury(&self, device: &Device, remaining: Remaining, mut uses: Vec<Point>) {
        uses.retain(|(stream, point)| !stream.is_known_to_have_passed(*point));
        if uses.is_empty() {
            return destroy(device, remaining);
        }
        self.graves.lock().list.push(Grave { remaining, uses });
    }

    /// Destroys unused resources if there are many.
    pub(super) fn clear(&self, device: &Device) {
        let list = {
            let mut graves = self.graves.lock();
            if graves.list.len() < graves.looked.max(MIN_GRAVES) {
                return;
            }
            std::mem::take(&mut graves.list)
        };
        // A failed stream is not known to have passed; the end of the device waits for it.
        let is_used = |grave: &mut Grave| {
            grave.uses.retain(|(stream, point)| !stream.has_passed(device, *point).unwrap_or(false));
            !grave.uses.is_empty()
        };
        let mut kept = Vec::new();
        for mut grave in list {
            if is_used(&mut grave) {
                kept.push(grave);
            } else {
                destroy(device, grave.remaining);
            }
        }
        let mut graves = self.graves.lock();
        graves.looked = 2 * kept.len();
        graves.list.append(&mut kept);
    }

    /// Waits until no resource here is in use any more, and returns the first failure.
    pub(super) fn wait(&self, device: &Device) -> Result<()> {
        let uses: Vec<Point> =
            self.graves.lock().list.iter().flat_map(|grave| grave.uses.iter().cloned()).collect();
        uses.iter().map(|(stream, point)| stream.wait_for(device, *point)).fold(Ok(()), Result::and)
    }

    /// Destroys everything after the device has finished its work. Streams come last, because other
    /// resources refer to them.
    pub(super) fn destroy_all(&self, device: &Device) {
        let graves = std::mem::take(&mut self.graves.lock().list);
        let is_stream = |grave: &Grave| matches!(grave.remaining, Remaining::Stream(_));
        let (streams, others): (Vec<_>, Vec<_>) = graves.into_iter().partition(is_stream);
        for grave in others.into_iter().chain(streams) {
            destroy(device, grave.remaining);
        }
    }
}

fn destroy(device: &Device, remaining: Remaining) {
    let (calls, pointer) = (device.calls(), device.pointer());
    match remaining {
        // SAFETY: this is the plug-in's function with its device, and an event of it that nobody
        // else has.
        Remaining::Event(event) => unsafe { (calls.destroy_event)(pointer, event) },
        // SAFETY: this is the plug-in's function with its device, and a timer of it that nobody
        // else has.
        Remaining::Timer(timer) => unsafe { (calls.destroy_timer)(pointer, timer) },
        Remaining::Stream(stream) => stream.destroy(device),
        // It is in the table, so this cannot fail.
        Remaining::Host(memory) => drop(device.free_host(memory)),
    }
}
