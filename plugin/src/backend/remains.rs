//! What nobody has any more, but work in flight may still use.
//!
//! A program may drop an event, a stream or a timer as soon as its last use is queued; a plug-in need not allow that, for
//! nothing in the API says so. So what is dropped lies here until the streams that use it have passed, and is destroyed
//! when somebody comes by.

use std::sync::Arc;

use parking_lot::Mutex;
use tfrt_device::error::Result;

use super::device::Device;
use super::stream::{Point, StreamCore};
use crate::abi::{SP_Event, SP_Timer};

/// What remains.
pub(super) enum Remaining {
    Event(SP_Event),
    Timer(SP_Timer),
    Stream(Arc<StreamCore>),
    /// Host memory.
    Host(*mut u8),
}

// SAFETY: handles and memory that nobody else has, handed back to the plug-in from any thread.
unsafe impl Send for Remaining {}

struct Grave {
    remaining: Remaining,
    /// When all these are passed, nothing uses it.
    uses: Vec<Point>,
}

/// See the module.
#[derive(Default)]
pub(super) struct Remains {
    graves: Mutex<Graves>,
}

#[derive(Default)]
struct Graves {
    list: Vec<Grave>,
    /// How many there may be before somebody looks.
    looked: usize,
}

/// So many may lie there in any case.
const MIN_GRAVES: usize = 16;

impl Remains {
    /// Destroys something now or later.
    pub(super) fn bury(&self, device: &Device, remaining: Remaining, mut uses: Vec<Point>) {
        uses.retain(|(stream, point)| !stream.is_known_to_have_passed(*point));
        if uses.is_empty() {
            return destroy(device, remaining);
        }
        self.graves.lock().list.push(Grave { remaining, uses });
    }

    /// Destroys what nothing uses, if much has come together.
    pub(super) fn clear(&self, device: &Device) {
        let list = {
            let mut graves = self.graves.lock();
            if graves.list.len() < graves.looked.max(MIN_GRAVES) {
                return;
            }
            std::mem::take(&mut graves.list)
        };
        // A stream that fails is not known to have passed; the device's end waits for it.
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

    /// Waits until nothing here is used any more; gives the first failure.
    pub(super) fn wait(&self, device: &Device) -> Result<()> {
        let uses: Vec<Point> =
            self.graves.lock().list.iter().flat_map(|grave| grave.uses.iter().cloned()).collect();
        uses.iter().map(|(stream, point)| stream.wait_for(device, *point)).fold(Ok(()), Result::and)
    }

    /// Destroys everything; the device has nothing left to do. Streams come last, as the others refer to them.
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
        // SAFETY: the plug-in's function, its device, and an event of its that nobody has.
        Remaining::Event(event) => unsafe { (calls.destroy_event)(pointer, event) },
        // SAFETY: as above.
        Remaining::Timer(timer) => unsafe { (calls.destroy_timer)(pointer, timer) },
        Remaining::Stream(stream) => stream.destroy(device),
        // It is in the table, so there is nothing that could fail.
        Remaining::Host(memory) => drop(device.free_host(memory)),
    }
}
