//! Compares the errors of a run with those its source announces in `expected-error` comments. The
//! source is found through the locations of the BEF file.

use std::collections::{BTreeMap, BTreeSet};

use tfrt_bef::VerifiedBef;
use tfrt_host::Diagnostic;
use tfrt_ir::{Finding, Severity, Source, render, verify_expectations};

use crate::Console;

/// Tells of each error that no comment announces, and of each announced one that did not occur;
/// whether there were none. Sources without errors count if `all_ran`: what did not run could not
/// fail.
pub(super) fn check(bef: &VerifiedBef, errors: &[Diagnostic], all_ran: bool, console: &mut Console) -> bool {
    let mut by_file: BTreeMap<&str, Vec<Finding>> = BTreeMap::new();
    let files = if all_ran { files(bef) } else { BTreeSet::new() };
    by_file.extend(files.into_iter().map(|file| (file, Vec::new())));
    for error in errors {
        let place = error.location.as_ref();
        by_file.entry(place.map_or("", |place| &place.file)).or_default().push(Finding {
            severity: Severity::Error,
            line: place.map(|place| place.line),
            message: format!("runtime error: {}", error.message),
        });
    }
    let mut fine = true;
    for (file, findings) in by_file {
        // A source that is not at hand announces nothing.
        let source = Source::new(file, std::fs::read(file).unwrap_or_default());
        if let Err(diagnostics) = verify_expectations(&source, &findings) {
            console.complain(render(&diagnostics, &[&source], false).trim_end());
            fine = false;
        }
    }
    fine
}

/// The source files that a file's kernels come from.
fn files(bef: &VerifiedBef) -> BTreeSet<&str> {
    let functions = (0..bef.functions().len()).filter_map(|index| bef.function(index));
    let offsets = functions.flat_map(|function| {
        std::iter::once(function.location()).chain(function.kernels().map(|kernel| kernel.location()))
    });
    offsets.filter_map(|offset| Some(bef.location(offset)?.file)).filter(|file| !file.is_empty()).collect()
}
