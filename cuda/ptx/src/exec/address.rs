//! The generic address space: which addresses mean which space.
//!
//! Addresses below 2^56 are global memory, as [`super::memory`] hands them out. Above lie windows,
//! one a space: the offset within the window is the address in the space. Local addresses are the
//! same number in every thread and mean its own bytes.

use super::memory::ADDRESS_END;

/// The block's shared memory.
pub(crate) const SHARED_WINDOW: u64 = ADDRESS_END;
/// The thread's local memory.
pub(crate) const LOCAL_WINDOW: u64 = 2 * ADDRESS_END;
/// The kernel's parameters.
pub(crate) const PARAM_WINDOW: u64 = 3 * ADDRESS_END;
/// Functions, see [`code_address`].
const CODE_WINDOW: u64 = 4 * ADDRESS_END;
/// Bytes from the address of one function to that of the next.
const CODE_STEP: u64 = 16;
/// Bytes of a window.
pub(crate) const WINDOW_BYTES: u64 = 1 << 32;

/// The space an instruction accesses. Written into instructions as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum AccessSpace {
    Generic,
    Global,
    Const,
    Shared,
    Local,
    Param,
}

impl AccessSpace {
    pub(crate) fn from_number(number: u8) -> AccessSpace {
        [Self::Generic, Self::Global, Self::Const, Self::Shared, Self::Local, Self::Param]
            .into_iter()
            .find(|space| *space as u8 == number)
            .unwrap_or(AccessSpace::Generic)
    }

    /// Returns the name in reports.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Generic => "generic",
            Self::Global => "global",
            Self::Const => "constant",
            Self::Shared => "shared",
            Self::Local => "local",
            Self::Param => "parameter",
        }
    }

    /// What is added to an address of this space to make it generic.
    pub(crate) fn window(self) -> u64 {
        match self {
            Self::Generic | Self::Global | Self::Const => 0,
            Self::Shared => SHARED_WINDOW,
            Self::Local => LOCAL_WINDOW,
            Self::Param => PARAM_WINDOW,
        }
    }
}

/// Returns the address of a function by its number.
pub(crate) fn code_address(number: u32) -> u64 {
    CODE_WINDOW + CODE_STEP * u64::from(number)
}

/// Returns the number of the function at an address; none if no function can be there.
pub(crate) fn code_number(address: u64) -> Option<u64> {
    let offset = address.checked_sub(CODE_WINDOW)?;
    offset.is_multiple_of(CODE_STEP).then_some(offset / CODE_STEP)
}

/// Returns the space a generic address lies in; constants count as global.
#[inline(always)]
pub(crate) fn space_of(address: u64) -> AccessSpace {
    match address / ADDRESS_END {
        0 => AccessSpace::Global,
        1 if address - SHARED_WINDOW < WINDOW_BYTES => AccessSpace::Shared,
        2 if address - LOCAL_WINDOW < WINDOW_BYTES => AccessSpace::Local,
        3 if address - PARAM_WINDOW < WINDOW_BYTES => AccessSpace::Param,
        _ => AccessSpace::Generic,
    }
}
