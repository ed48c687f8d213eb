//! What can be wrong with a file.

use std::fmt;

use crate::table::SectionId;

/// Where a fault lies and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The section at fault, or `None` where it is the file as a whole.
    pub section: Option<SectionId>,
    /// Bytes from the start of the section, or of the file where there is no section.
    pub offset: usize,
    /// What is wrong, in words.
    pub message: String,
}

/// A fault of a file, or of what one asked to be written into a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BefError {
    /// The bytes are not a BEF file, or a header is cut short or makes no sense.
    Malformed(Fault),
    /// The file needs something this crate does not know: another version, an unknown code.
    Unsupported(Fault),
    /// An offset, an index or a length points outside what it refers to.
    OutOfBounds(Fault),
    /// Parts of the file contradict each other.
    Inconsistent(Fault),
    /// A limit that keeps small files from costing much memory or time is exceeded.
    Limit(Fault),
    /// An attribute is not what it was asked or said to be.
    Attribute(Fault),
}

impl BefError {
    /// Where the fault lies and what it is.
    pub const fn fault(&self) -> &Fault {
        let (Self::Malformed(fault)
        | Self::Unsupported(fault)
        | Self::OutOfBounds(fault)
        | Self::Inconsistent(fault)
        | Self::Limit(fault)
        | Self::Attribute(fault)) = self;
        fault
    }

    /// The section at fault, or `None` where it is the file as a whole.
    pub const fn section(&self) -> Option<SectionId> {
        self.fault().section
    }

    /// Bytes from the start of the section, or of the file where there is no section.
    pub const fn offset(&self) -> usize {
        self.fault().offset
    }

    /// What is wrong, in words.
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

/// Makes errors of one section.
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
