//! Spans of functions and kernels.

/// The time from its making to its drop.
#[derive(Debug)]
pub(crate) struct Span(());

/// Whether spans are recorded.
#[inline]
pub(crate) fn is_enabled() -> bool {
    false
}

/// A span, if spans are recorded.
#[inline]
pub(crate) fn span(_category: &'static str, _name: impl FnOnce() -> String) -> Option<Span> {
    None
}
