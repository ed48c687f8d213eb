//! Runs a BEF file's functions on one thread with an allocator of the caller's own: a machine that
//! has only a block of memory to give would hand it out here.
//!
//! `cargo run --example global_allocator -- program.bef`

#![expect(unsafe_code, reason = "a global allocator hands out raw memory")]
#![expect(clippy::print_stdout, reason = "what an example finds, it prints")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    error::Error,
    sync::Arc,
    sync::atomic::{AtomicUsize, Ordering},
};

use tfrt::{Runtime, host::work_queue::SingleThreadedWorkQueue};

/// The system's allocator, counting the bytes that are in use and the most that ever were.
struct Counting {
    current: AtomicUsize,
    peak: AtomicUsize,
}

// SAFETY: all blocks are the system allocator's, handed through unchanged; counting touches no
// block.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let current = self.current.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        self.peak.fetch_max(current, Ordering::Relaxed);
        // SAFETY: the caller upholds the contract for the layout, which is passed on unchanged.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        self.current.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the block came from `System` with this layout, as the caller promises.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting { current: AtomicUsize::new(0), peak: AtomicUsize::new(0) };

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: global_allocator PROGRAM")?;
    let runtime = Runtime::builder().work_queue(Arc::new(SingleThreadedWorkQueue::new())).build()?;
    let program = runtime.load_file(path)?;
    for function in program.file().functions() {
        if !function.name().is_empty() && function.argument_types().len() == 0 {
            program.call(function.name(), [])?;
        }
    }
    println!("at most {} bytes in use", ALLOCATOR.peak.load(Ordering::Relaxed));
    Ok(())
}
