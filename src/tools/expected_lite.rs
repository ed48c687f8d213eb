//! Stands for [`expected`](super::expected) in builds that know no source text: there every error
//! is unexpected.

use tfrt_bef::VerifiedBef;
use tfrt_host::Diagnostic;

use crate::Console;

/// Tells of each error; whether there were none.
pub(super) fn check(
    _bef: &VerifiedBef,
    errors: &[Diagnostic],
    _all_ran: bool,
    console: &mut Console,
) -> bool {
    for error in errors {
        let place = error.location.as_ref().map_or_else(|| "unknown".to_owned(), ToString::to_string);
        console.complain(format_args!("{place}: error: unexpected error: runtime error: {}", error.message));
    }
    errors.is_empty()
}
