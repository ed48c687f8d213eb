//! Errors in files.

use std::fmt;

use crate::table::SectionId;

/// The place and description of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The section with the error, or `None` for the file as a whole.
    pub section: Option<SectionId>,
    /// The offset in bytes from the start of the section, or of the file if there is no section.
    pub offset: usize,
    /// The description.
    pub message: String,
}

/// An error in a file, or in a request to write one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BefError {
    /// The bytes are not a BEF file, or a header is truncated or invalid.
    Malformed(Fault),
    /// The file needs a feature that this crate does not know: another version or an unknown code.
    Unsupported(Fault),
    /// An offset, an index or a length points outside what it refers to.
    OutOfBounds(Fault),
    /// Parts of the file contradict each other.
    Inconsistent(Fault),
    /// A limit that keeps small files from costing much memory or time is exceeded.
    Limit(Fault),
    /// An attribute is not of the requested or listed kind.
    Attribute(Fault),
}

impl BefError {
    /// Returns the place and description.
    pub const fn fault(&self) -> &Fault {
        let (Self::Malformed(fault)
        | Self::Unsupported(fault)
        | Self::OutOfBounds(fault)
        | Self::Inconsistent(fault)
        | Self::Limit(fault)
        | Self::Attribute(fault)) = self;
        fault
    }

    /// Returns the section with the error, or `None` for the file as a whole.
    pub const fn section(&self) -> Option<SectionId> {
        self.fault().section
    }

    /// Returns the offset in bytes from the start of the section, or of the file if there is no
    /// section.
    pub const fn offset(&self) -> usize {
        self.fault().offset
    }

    /// Returns the description.
    pub fn message(&self) -> &str {
        &self.fault().message
    }
}

impl fmt::Display for BefError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { section, offset, message } = self.fault();
        match section {
            Some(section) => {
                write!(f, "invalid {section} section in BEF file: {message} (byte {offset} of the section)")
            }
            None => write!(f, "invalid BEF file: {message} (byte {offset})"),
        }
    }
}

impl std::error::Error for BefError {}

/// Creates errors at an offset of one section.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At(pub(crate) Option<SectionId>, pub(crate) usize);

macro_rules! constructors {
    ($($name:ident => $variant:ident),+) => {
        impl At {
            $(pub(crate) fn $name(self, message: impl Into<String>) -> BefError {
                BefError::$variant(Fault { section: self.0, offset: self.1, message: message.into() })
            })+
        }
    };
}

constructors! {
    malformed => Malformed,
    unsupported => Unsupported,
    out_of_bounds => OutOfBounds,
    inconsistent => Inconsistent,
    limit => Limit,
    attribute => Attribute
}
