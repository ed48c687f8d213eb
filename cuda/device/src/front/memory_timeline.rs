//! Recordings of the device memory of all allocators.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use super::backing::HalBacking;
use crate::allocator::{CachingAllocator, MemoryLog};

/// Collects the recordings of all allocators of a platform
/// ([`PlatformOptions::timeline`](super::PlatformOptions)).
#[derive(Debug, Default)]
pub struct MemoryTimeline {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The number of allocators so far.
    made: usize,
    live: Vec<(String, Weak<CachingAllocator<HalBacking>>)>,
    /// The recordings of dropped allocators.
    over: Vec<(String, MemoryLog)>,
}

impl MemoryTimeline {
    /// Creates a timeline without recordings.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Starts an allocator's recording.
    pub(super) fn begin(&self, device: u32, allocator: &Arc<CachingAllocator<HalBacking>>) {
        allocator.start_recording();
        let state = &mut *self.state.lock();
        state.made += 1;
        state.live.push((format!("allocator {} on device {device}", state.made), Arc::downgrade(allocator)));
    }

    /// Keeps the recording of an allocator that is being dropped.
    pub(super) fn end(&self, allocator: &Arc<CachingAllocator<HalBacking>>) {
        let state = &mut *self.state.lock();
        let gone = Arc::downgrade(allocator);
        if let Some(index) = state.live.iter().position(|(_, known)| known.ptr_eq(&gone)) {
            let (name, _) = state.live.remove(index);
            state.over.push((name, allocator.take_recording()));
        }
    }

    /// Returns what was recorded since the last call: the name and the recording of each allocator,
    /// in the order of their creation.
    pub fn take(&self) -> Vec<(String, MemoryLog)> {
        let state = &mut *self.state.lock();
        let mut logs = std::mem::take(&mut state.over);
        let live = state.live.iter().filter_map(|(name, allocator)| Some((name, allocator.upgrade()?)));
        logs.extend(live.map(|(name, allocator)| (name.clone(), allocator.take_recording())));
        logs.retain(|(_, log)| !log.events.is_empty());
        logs.sort_by_cached_key(|(name, _)| (name.len(), name.clone()));
        logs
    }
}
