//! The cases, and how they are run on one platform. Backends from elsewhere run the same suite.

mod blas;
mod collectives;
mod dnn;
mod events;
mod faults;
mod graphs;
mod launches;
mod memory;
mod misuse;
mod reuse;
mod support;
mod traces;
mod unified;

use std::panic::{AssertUnwindSafe, catch_unwind};

use tfrt_device::front::{Context, Platform};

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
        unified::CASES,
        reuse::CASES,
        events::CASES,
        launches::CASES,
        graphs::CASES,
        blas::CASES,
        dnn::CASES,
        misuse::CASES,
        traces::CASES,
        faults::CASES,
    ];
    let one_device = one_device.into_iter().flatten().map(|(name, case)| (*name, Body::Device(*case)));
    one_device.chain(collectives::CASES.iter().map(|(name, case)| (*name, Body::Devices(*case)))).collect()
}

/// What a backend does not do, and why: the beginning of cases' names.
pub(crate) type Skips = &'static [(&'static str, &'static str)];

/// How many contexts of each device a case of several devices gets, each of which is a rank of its
/// collectives.
pub(crate) fn ranks_per_device() -> u32 {
    std::env::var("TFRT_TEST_RANKS_PER_DEVICE").map_or(1, |text| text.parse().unwrap())
}

/// Runs the suite on a platform's first device: how many passed, failed, were skipped.
pub(crate) fn run(platform: &Platform, skips: Skips, filter: Option<&str>) -> [usize; 3] {
    let (backend, mut counts) = (platform.backend(), [0; 3]);
    for (name, _) in skips {
        assert!(
            cases().iter().any(|(case, _)| case.starts_with(name)),
            "{backend} skips {name}, which does not exist"
        );
    }
    for (name, case) in cases() {
        if filter.is_some_and(|filter| !name.contains(filter)) {
            continue;
        }
        if let Some((_, reason)) = skips.iter().find(|(skipped, _)| name.starts_with(skipped)) {
            println!("{backend} {name}: skipped: {reason}");
            counts[2] += 1;
            continue;
        }
        let context = |number: u32| platform.device(number.into()).unwrap().create_context().unwrap();
        let passed = catch_unwind(AssertUnwindSafe(|| match case {
            Body::Device(case) => case(&context(0)),
            Body::Devices(case) => {
                let devices = (0..platform.device_count())
                    .flat_map(|device| std::iter::repeat_n(device, ranks_per_device() as usize));
                case(&devices.map(context).collect::<Vec<_>>());
            }
        }));
        // What the case dropped is gone before the next one counts.
        platform.finish_teardown();
        let passed = passed.is_ok();
        println!("{backend} {name}: {}", if passed { "ok" } else { "FAILED" });
        counts[usize::from(!passed)] += 1;
    }
    counts
}

/// What the command line asks for: a name is a filter, the usual harness's flags do not matter
/// here.
pub(crate) fn filter() -> Option<String> {
    std::env::args().skip(1).find(|argument| !argument.starts_with('-'))
}

/// Prints how many cases ran in all; whether none failed.
pub(crate) fn conclude(total: [usize; 3]) -> bool {
    let result = if total[1] == 0 { "ok" } else { "FAILED" };
    println!(
        "test result: {result}. {} passed; {} failed; {} ignored; {} cases",
        total[0],
        total[1],
        total[2],
        cases().len()
    );
    total[1] == 0
}
