//! Origins of device calls: the kernel of a program, or a line of Rust.
//!
//! A kernel sets the origin while it runs ([`enter`]), and device calls on the same thread read it.
//! So no layer needs a parameter for it. Queued work keeps the origin, which costs a reference
//! count. It becomes text ([`Origin`]) only for a report.

use std::cell::RefCell;
use std::fmt;

use tfrt_host::{CallSite, ExecutionContext, SourceLocation};

thread_local! {
    static CURRENT: RefCell<Option<CallSite>> = const { RefCell::new(None) };
}

/// The origin of a device call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The name of the kernel; `None` for a call from Rust.
    pub kernel: Option<String>,
    /// The place in the program.
    pub location: Option<SourceLocation>,
}

impl Origin {
    /// Returns the origin of calls on this thread.
    pub fn here() -> Self {
        CURRENT.with_borrow(|current| Self::of(current.as_ref()))
    }

    /// Converts a call site; without one, the origin is unknown.
    fn of(site: Option<&CallSite>) -> Self {
        site.map_or_else(Self::default, |site| Self {
            kernel: site.kernel_name().map(str::to_owned),
            location: site.location(),
        })
    }

    /// Returns the location of the kernel that runs on this thread.
    pub fn location_here() -> Option<SourceLocation> {
        CURRENT.with_borrow(|current| current.as_ref()?.location())
    }
}

/// The origin of a call that is made later, in a cheap form.
#[derive(Clone, Debug, Default)]
pub struct Caller(Option<CallSite>);

impl Caller {
    /// Returns the origin of calls on this thread.
    pub fn here() -> Self {
        Self(site())
    }

    /// Returns the origin in words.
    pub fn origin(&self) -> Origin {
        Origin::of(self.0.as_ref())
    }

    /// Makes this the origin of calls on this thread until the result is dropped. Has no effect if
    /// the origin is unknown.
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

/// Returns the location of the kernel that runs on this thread.
fn site() -> Option<CallSite> {
    CURRENT.with_borrow(Clone::clone)
}

/// Restores the previous origin when dropped; see [`enter`].
#[derive(Debug)]
pub struct Entered(Option<CallSite>);

/// Makes the kernel of `cx` the origin of calls on this thread until the result is dropped. Has no
/// effect if it is unknown.
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
