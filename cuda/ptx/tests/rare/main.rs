//! Instructions that compilers emit rarely, each in its own kernel.

#![expect(clippy::unwrap_used, clippy::panic, reason = "what fails here fails the test")]

mod bulk;
mod calls;
mod forms;
mod lanes;
mod loads;
mod products;
mod registers;
mod stack;

use tfrt_ptx::{Memory, Module, Params};

/// A module of one kernel `k` with a parameter `p`, which is in `%rd0`; the number of the thread is
/// in `%r0`.
fn kernel(body: &str) -> Module {
    let text = format!(
        ".version 8.6
         .target sm_90
         .address_size 64
         .shared .align 16 .b8 buffer[4096];
         .visible .entry k(.param .u64 p)
         {{
             .reg .b128 %q<4>; .reg .b64 %rd<20>; .reg .f64 %d<4>; .reg .b32 %r<40>; .reg .f32 %f<40>; .reg .pred %p<4>;
             ld.param.u64 %rd0, [p];
             mov.u32 %r0, %tid.x;
             {body}
             ret;
         }}"
    );
    Module::parse(&text).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The words at the parameter after a launch of one block, and what they were before.
fn run<const THREADS: u32>(module: &Module, words: &[u32]) -> Vec<u32> {
    let memory = Memory::new();
    let address = memory.allocate_from(bytemuck::cast_slice(words)).unwrap();
    let function = module.function("k").unwrap();
    function.launch(1, THREADS, 0, &Params::new().push(address), &memory).unwrap();
    let mut after = vec![0u32; words.len()];
    memory.read(address, bytemuck::cast_slice_mut(&mut after)).unwrap();
    after
}
