//! The generic address space, which maps addresses to state spaces.
//!
//! Addresses below 2^56 are global memory, as [`super::memory`] allocates it. Above them, each
//! other space has a window: the offset within the window is the address in the space. A local
//! address is the same number in every thread and refers to the thread's own memory.

use super::memory::ADDRESS_END;

/// The start of the window of the block's shared memory.
pub(crate) const SHARED_WINDOW: u64 = ADDRESS_END;
/// The start of the window of the thread's local memory.
pub(crate) const LOCAL_WINDOW: u64 = 2 * ADDRESS_END;
/// The start of the window of the kernel's parameters.
pub(crate) const PARAM_WINDOW: u64 = 3 * ADDRESS_END;
/// The start of the window of functions, see [`code_address`].
const CODE_WINDOW: u64 = 4 * ADDRESS_END;
/// The distance between the addresses of two functions, in bytes.
const CODE_STEP: u64 = 16;
/// The size of a window, in bytes.
pub(crate) const WINDOW_BYTES: u64 = 1 << 32;

/// The space that an instruction accesses. Instructions encode it as a number.
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

    /// Returns the name of the space for reports.
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

    /// Returns the offset that makes an address of this space a generic one.
    pub(crate) fn window(self) -> u64 {
        match self {
            Self::Generic | Self::Global | Self::Const => 0,
            Self::Shared => SHARED_WINDOW,
            Self::Local => LOCAL_WINDOW,
            Self::Param => PARAM_WINDOW,
        }
    }
}

/// Returns the address of function `number`.
pub(crate) fn code_address(number: u32) -> u64 {
    CODE_WINDOW + CODE_STEP * u64::from(number)
}

/// Returns the number of the function at an address, or `None` if it cannot be the address of a
/// function.
pub(crate) fn code_number(address: u64) -> Option<u64> {
    let offset = address.checked_sub(CODE_WINDOW)?;
    offset.is_multiple_of(CODE_STEP).then_some(offset / CODE_STEP)
}

/// Returns the space that a generic address lies in. Constant memory counts as global.
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
