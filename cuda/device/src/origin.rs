//! Where a device call comes from: the kernel of a program, or a line of Rust.
//!
//! Kernels say it for the time they run ([`enter`]), and what is called meanwhile on this thread asks for it, so that no
//! argument goes through every layer. Work that is queued keeps the place, which costs a count; it is put into words
//! ([`Origin`]) only when somebody is told.

use std::cell::RefCell;
use std::fmt;

use tfrt_host::{CallSite, ExecutionContext, SourceLocation};

thread_local! {
    static CURRENT: RefCell<Option<CallSite>> = const { RefCell::new(None) };
}

/// The place a device call comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The kernel's name, or nothing for a call from Rust.
    pub kernel: Option<String>,
    /// The place in the program.
    pub location: Option<SourceLocation>,
}

impl Origin {
    /// The kernel that runs on this thread.
    pub fn here() -> Self {
        CURRENT.with_borrow(|current| Self::of(current.as_ref()))
    }

    /// A place in words; without one, an unknown place.
    fn of(site: Option<&CallSite>) -> Self {
        site.map_or_else(Self::default, |site| Self {
            kernel: site.kernel_name().map(str::to_owned),
            location: site.location(),
        })
    }

    /// The place of the kernel that runs on this thread.
    pub fn location_here() -> Option<SourceLocation> {
        CURRENT.with_borrow(|current| current.as_ref()?.location())
    }
}

/// Who makes a call that is kept now and made later.
#[derive(Clone, Debug, Default)]
pub struct Caller(Option<CallSite>);

impl Caller {
    /// Who runs on this thread.
    pub fn here() -> Self {
        Self(site())
    }

    /// Returns the place in words.
    pub fn origin(&self) -> Origin {
        Origin::of(self.0.as_ref())
    }

    /// Until the result is dropped, calls on this thread come from there; as they did before, if that is not known.
    #[must_use]
    pub fn enter(&self) -> Option<Entered> {
        self.0.clone().map(|site| Entered(CURRENT.replace(Some(site))))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.kernel, &self.location) {
            (Some(kernel), Some(location)) => write!(f, "'{kernel}' at {location}"),
            (Some(kernel), None) => write!(f, "'{kernel}'"),
            (None, Some(location)) => location.fmt(f),
            (None, None) => f.write_str("an unknown place"),
        }
    }
}

/// The place of the kernel that runs on this thread.
fn site() -> Option<CallSite> {
    CURRENT.with_borrow(Clone::clone)
}

/// Ends what [`enter`] began.
#[derive(Debug)]
pub struct Entered(Option<CallSite>);

/// Until the result is dropped, calls on this thread come from where `cx` is; as they did before, if that is not known.
#[must_use]
#[inline]
pub fn enter(cx: &ExecutionContext) -> Option<Entered> {
    cx.call_site().map(|site| Entered(CURRENT.replace(Some(site))))
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}
