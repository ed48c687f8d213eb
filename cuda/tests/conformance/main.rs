//! What every device must do, in one suite over all backends.
//!
//! A case is a function that is given a context; it fails by panicking. A backend lists the cases it skips, each with the
//! reason, so that a case which is neither skipped nor passed cannot be forgotten. The GPU runs where there is one. The
//! last line says how many cases ran.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "cases end that way, and the suite tells what it did"
)]

mod blas;
mod collectives;
mod dnn;
mod events;
mod faults;
mod graphs;
mod launches;
mod memory;
mod misuse;
mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use tfrt_cuda::front::{Choice, Context, DeviceOptions, Platform};

/// A case: its name, and what must hold on a fresh context.
type Case = (&'static str, fn(&Context));
/// A case of several devices: on fresh contexts of all there are.
type DevicesCase = (&'static str, fn(&[Context]));

/// What is run of either kind.
#[derive(Clone, Copy)]
enum Body {
    Device(fn(&Context)),
    Devices(fn(&[Context])),
}

fn cases() -> Vec<(&'static str, Body)> {
    let one_device = [
        memory::CASES,
        events::CASES,
        launches::CASES,
        graphs::CASES,
        blas::CASES,
        dnn::CASES,
        misuse::CASES,
        faults::CASES,
    ];
    let one_device = one_device.into_iter().flatten().map(|(name, case)| (*name, Body::Device(*case)));
    one_device.chain(collectives::CASES.iter().map(|(name, case)| (*name, Body::Devices(*case)))).collect()
}

/// What a backend does not do, and why.
fn skips(backend: &str) -> &'static [(&'static str, &'static str)] {
    const NO_BYTES: &str = "noop memory has no bytes";
    const NO_CODE: &str = "noop modules have no code";
    const NO_TIME: &str = "noop work takes no time";
    match backend {
        "noop" => &[
            ("memory/round_trip", NO_BYTES),
            ("memory/offsets", NO_BYTES),
            ("memory/device_to_device", NO_BYTES),
            ("memory/set", NO_BYTES),
            ("memory/copy_2d", NO_BYTES),
            ("memory/copy_2d_with_the_host", NO_BYTES),
            ("memory/pinned", NO_BYTES),
            ("memory/large_copies", NO_BYTES),
            ("memory/reuse_across_streams_is_ordered", NO_BYTES),
            ("memory/host_access_in_flight_is_an_error", NO_TIME),
            ("events/order_streams", NO_BYTES),
            ("events/not_reached_before_work", NO_TIME),
            ("events/completion_does_not_block", NO_TIME),
            ("launches/vector_add", NO_CODE),
            ("launches/shared_memory_reverse", NO_CODE),
            ("launches/scalars_of_all_sizes", NO_CODE),
            ("launches/unknown_function", NO_CODE),
            ("launches/wrong_arguments", NO_CODE),
            ("launches/bad_ptx", NO_CODE),
            ("graphs/replay", NO_BYTES),
            ("graphs/fork_and_join", NO_BYTES),
            ("graphs/update", NO_BYTES),
            ("graphs/update_is_refused", "noop graphs count operations alone"),
            ("graphs/unjoined", "noop graphs count operations and do not follow events"),
            ("blas/axpy_and_scal", NO_BYTES),
            ("blas/gemm_matches_definition", NO_BYTES),
            ("blas/gemm_leaves_gaps_alone", NO_BYTES),
            ("dnn/convolution_matches_definition", NO_BYTES),
            ("dnn/gradients_match_differences", NO_BYTES),
            ("dnn/pooling_beyond_the_buffer", NO_BYTES),
            ("dnn/softmax_sums_to_one", NO_BYTES),
            ("dnn/strides_of_nhwc", NO_BYTES),
            ("collectives/reductions", NO_BYTES),
            ("collectives/types", NO_BYTES),
            ("collectives/gather_scatter_broadcast", NO_BYTES),
            ("collectives/messages", NO_BYTES),
            ("collectives/many_in_a_row", NO_BYTES),
            ("collectives/missing_rank", NO_TIME),
            ("collectives/calls_that_differ", "noop ranks do not meet"),
            ("collectives/ranks_are_taken_once", "noop ranks do not meet"),
            ("faults/out_of_bounds_fails_the_context", NO_CODE),
            ("faults/work_behind_a_fault_is_not_done", NO_CODE),
        ],
        "cuda" => &[
            ("collectives/calls_that_differ", "NCCL leaves them undefined"),
            ("collectives/ranks_are_taken_once", "NCCL waits for the rank that is missing instead"),
            (
                "faults/out_of_bounds_fails_the_context",
                "the driver gives no second context to a process whose first one faulted",
            ),
            (
                "faults/work_behind_a_fault_is_not_done",
                "the driver gives no second context to a process whose first one faulted",
            ),
        ],
        _ => &[],
    }
}

/// Runs the suite on one backend: how many passed, failed, were skipped.
fn run(choice: Choice, filter: Option<&str>) -> Option<[usize; 3]> {
    let platform = match Platform::new(&DeviceOptions::new(choice, 2)) {
        Ok(platform) => platform,
        Err(why) => {
            println!("{choice:?}: not run: {why}");
            return None;
        }
    };
    let (backend, mut counts) = (platform.backend(), [0; 3]);
    let skips = skips(backend);
    for (name, _) in skips {
        assert!(cases().iter().any(|(case, _)| case == name), "{backend} skips {name}, which does not exist");
    }
    for (name, case) in cases() {
        if filter.is_some_and(|filter| !name.contains(filter)) {
            continue;
        }
        if let Some((_, reason)) = skips.iter().find(|(skipped, _)| *skipped == name) {
            println!("{backend} {name}: skipped: {reason}");
            counts[2] += 1;
            continue;
        }
        let context = |number: u32| platform.device(number.into()).unwrap().create_context().unwrap();
        let passed = catch_unwind(AssertUnwindSafe(|| match case {
            Body::Device(case) => case(&context(0)),
            Body::Devices(case) => case(&(0..platform.device_count()).map(context).collect::<Vec<_>>()),
        }));
        let passed = passed.is_ok();
        println!("{backend} {name}: {}", if passed { "ok" } else { "FAILED" });
        counts[usize::from(!passed)] += 1;
    }
    Some(counts)
}

fn main() -> ExitCode {
    // The arguments of the usual harness: a name is a filter, flags do not matter here.
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let mut total = [0; 3];
    for choice in [Choice::Cpu, Choice::Noop, Choice::Cuda(None)] {
        if let Some(counts) = run(choice, filter.as_deref()) {
            println!("{choice:?}: {} passed, {} failed, {} skipped", counts[0], counts[1], counts[2]);
            total.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
    }
    let result = if total[1] == 0 { "ok" } else { "FAILED" };
    println!(
        "test result: {result}. {} passed; {} failed; {} ignored; {} cases",
        total[0],
        total[1],
        total[2],
        cases().len()
    );
    if total[1] == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
