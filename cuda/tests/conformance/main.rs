//! What every device must do, in one suite over all backends.
//!
//! A case is a function that is given a context; it fails by panicking. A backend lists the cases
//! it skips, each with the reason, so that a case which is neither skipped nor passed cannot be
//! forgotten. The GPU runs where there is one; where there is none, its backend runs over a driver
//! that stands in for it ([`stand_in`]). `TFRT_TEST_DEVICE` names the only backend that runs
//! (`cpu`, `noop` or `cuda`), which must be there. The last line says how many cases ran.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "cases end that way, and the suite tells what it did"
)]

mod stand_in;
#[path = "suite.rs"]
mod suite;

use std::process::ExitCode;
use std::sync::Arc;

use suite::Skips;
use tfrt_cpu::CpuOptions;
use tfrt_device::error::Result;
use tfrt_device::front::Platform;
use tfrt_device::hal::DynBackend;
use tfrt_device::noop::{self, NoopFault};

/// What a backend does not do, and why.
fn skips(backend: &str) -> Skips {
    const NO_BYTES: &str = "noop memory has no bytes";
    const NO_CODE: &str = "noop modules have no code";
    const ALONE: &str = "it has a process of its own";
    const WAITS: &str =
        "in a context that failed the backend waits for the work that goes on, which this case holds";
    const ONE_CONTEXT: &str = "the driver gives no second context to a process whose first one faulted";
    const NO_TIME: &str = "noop work takes no time";
    const NO_WORKSPACES: &str = "its libraries keep no device memory";
    match backend {
        "cpu" => &[("blas/workspaces_give_way", NO_WORKSPACES)],
        "noop" => &[
            ("memory/round_trip", NO_BYTES),
            ("memory/offsets", NO_BYTES),
            ("memory/device_to_device", NO_BYTES),
            ("memory/set", NO_BYTES),
            ("memory/copy_2d", NO_BYTES),
            ("memory/copy_2d_with_the_host", NO_BYTES),
            ("memory/pinned", NO_BYTES),
            ("memory/registered", NO_BYTES),
            ("memory/large_copies", NO_BYTES),
            ("memory/reuse_across_streams_is_ordered", NO_BYTES),
            ("memory/copies_before_reuse_are_done", NO_BYTES),
            ("memory/contents_stay_by_the_page", NO_BYTES),
            ("memory/host_kernels", NO_BYTES),
            ("memory/parts_of_host_memory", NO_BYTES),
            ("memory/host_access_in_flight_is_an_error", NO_TIME),
            ("memory/drops_in_flight_do_not_wait", NO_TIME),
            ("memory/requests_wait_for_what_is_given_back", NO_TIME),
            ("unified/both_sides_see_the_bytes", NO_BYTES),
            ("unified/launches_compute_with_it", NO_CODE),
            ("reuse/programs_of_any_order", NO_BYTES),
            ("events/order_streams", NO_BYTES),
            ("events/not_reached_before_work", NO_TIME),
            ("events/recorded_again_on_another_stream", NO_TIME),
            ("events/completion_does_not_block", NO_TIME),
            ("launches/vector_add", NO_CODE),
            ("launches/shared_memory_reverse", NO_CODE),
            ("launches/scalars_of_all_sizes", NO_CODE),
            ("launches/module_variables", NO_CODE),
            ("launches/unknown_function", NO_CODE),
            ("launches/wrong_arguments", NO_CODE),
            ("launches/bad_ptx", NO_CODE),
            ("graphs/replay", NO_BYTES),
            ("graphs/copies_of_host_memory", NO_BYTES),
            ("graphs/fork_and_join", NO_BYTES),
            ("graphs/update", NO_BYTES),
            ("graphs/update_is_refused", "noop graphs count operations alone"),
            ("graphs/memory_in_use_before_a_capture", NO_TIME),
            ("graphs/memory_is_waited_for_past_a_capture", NO_TIME),
            ("graphs/a_module_goes_during_a_capture", NO_CODE),
            ("graphs/unjoined", "noop graphs count operations and do not follow events"),
            ("blas/axpy_and_scal", NO_BYTES),
            ("blas/gemm_matches_definition", NO_BYTES),
            ("blas/gemm_leaves_gaps_alone", NO_BYTES),
            ("blas/matrices_lie_side_by_side", NO_BYTES),
            ("blas/epilogues_are_applied", NO_BYTES),
            ("blas/workspaces_give_way", NO_WORKSPACES),
            ("dnn/convolution_matches_definition", NO_BYTES),
            ("dnn/gradients_match_differences", NO_BYTES),
            ("dnn/convolution_beside_what_was_there", NO_BYTES),
            ("dnn/pooling_beyond_the_buffer", NO_BYTES),
            ("dnn/softmax_sums_to_one", NO_BYTES),
            ("dnn/strides_of_nhwc", NO_BYTES),
            ("collectives/reductions", NO_BYTES),
            ("collectives/types", NO_BYTES),
            ("collectives/gather_scatter_broadcast", NO_BYTES),
            ("collectives/messages", NO_BYTES),
            ("collectives/many_in_a_row", NO_BYTES),
            ("collectives/calls_of_several_threads", NO_BYTES),
            ("collectives/missing_rank", NO_TIME),
            ("collectives/time_of_other_work_does_not_count", NO_BYTES),
            ("collectives/calls_that_differ", "noop ranks do not meet"),
            ("collectives/ranks_are_taken_once", "noop ranks do not meet"),
            ("faults/out_of_bounds_fails_the_context", NO_CODE),
            ("faults/work_behind_a_fault_is_not_done", NO_CODE),
            ("faults/callbacks_behind_a_fault_are_let_go", NO_CODE),
            ("faults/events_tell_of_it_before_they_are_reached", NO_CODE),
        ],
        "cuda" if stand_in::is_for_one_case() => &[],
        "cuda" if stand_in::is_here() => &[
            ("faults/out_of_bounds_fails_the_context", ONE_CONTEXT),
            ("faults/work_behind_a_fault_is_not_done", ALONE),
            ("faults/callbacks_behind_a_fault_are_let_go", ALONE),
            ("faults/events_tell_of_it_before_they_are_reached", WAITS),
            ("collectives/calls_that_differ", "NCCL leaves them undefined"),
            ("collectives/ranks_are_taken_once", "NCCL waits for the rank that is missing instead"),
        ],
        "cuda" => &[
            ("blas/workspaces_give_way", "it takes all memory, of which others may take some"),
            ("collectives/calls_that_differ", "NCCL leaves them undefined"),
            ("collectives/ranks_are_taken_once", "NCCL waits for the rank that is missing instead"),
            ("faults/out_of_bounds_fails_the_context", ONE_CONTEXT),
            ("faults/work_behind_a_fault_is_not_done", ONE_CONTEXT),
            ("faults/callbacks_behind_a_fault_are_let_go", ONE_CONTEXT),
            ("faults/events_tell_of_it_before_they_are_reached", ONE_CONTEXT),
        ],
        _ => &[],
    }
}

/// Opens two devices of a backend, or, for CUDA, all there are. Where a device's size can be chosen
/// it is small, because some cases fill it.
fn open(backend: &str) -> Result<Arc<dyn DynBackend>> {
    const DEVICES: u32 = 2;
    const MEMORY_BYTES: u64 = 512 << 20;
    match backend {
        "cpu" => tfrt_cpu::open(&CpuOptions {
            devices: DEVICES,
            memory_bytes: MEMORY_BYTES,
            compiler: Some(Arc::new(tfrt_gpu::compile_ptx)),
            ..CpuOptions::default()
        }),
        "noop" => noop::open(DEVICES, MEMORY_BYTES, NoopFault::None),
        _ => tfrt_gpu::find(),
    }
}

fn main() -> ExitCode {
    let (filter, mut total) = (suite::filter(), [0; 3]);
    let mut add = |counts: [usize; 3]| total.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    let wanted = std::env::var("TFRT_TEST_DEVICE").ok();
    let backends = match wanted.as_deref() {
        _ if stand_in::is_here() => vec!["cuda"],
        None => vec!["cpu", "noop", "cuda"],
        Some(backend) => vec![backend],
    };
    for backend in backends {
        let name = if stand_in::is_here() { "stand-in driver" } else { backend };
        match open(backend).map(Platform::new) {
            Ok(platform) => {
                let counts = suite::run(&platform, skips(platform.backend()), filter.as_deref());
                println!("{name}: {} passed, {} failed, {} skipped", counts[0], counts[1], counts[2]);
                add(counts);
            }
            Err(why) => {
                println!("{name}: not run: {why}");
                match backend {
                    "cuda" if stand_in::is_here() => add([0, 1, 0]),
                    // What was asked for must run, and nothing in its place.
                    _ if wanted.is_some() => add([0, 1, 0]),
                    "cuda" => match stand_in::run(filter.as_deref()) {
                        Ok(counts) => add(counts),
                        Err(why) => println!("stand-in driver: not run: {why}"),
                    },
                    _ => {}
                }
            }
        }
    }
    if suite::conclude(total) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
