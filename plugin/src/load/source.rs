//! The source of a plug-in's memory: its stream executor, its allocator, or its custom allocator.

use std::ffi::c_void;
use std::mem::offset_of;

use super::calls::Calls;
use super::slot::{Slot, check, flag};
use crate::abi::{
    SP_Allocator, SP_AllocatorFns, SP_AllocatorStats, SP_CustomAllocator, SP_CustomAllocatorFns, SP_Device,
    SP_DeviceMemoryBase, TF_Bool, Zeroed,
};

/// A replacement for the memory functions of the stream executor.
pub(crate) enum Replacement {
    /// Memory for the core's caching allocator.
    Allocator(Slot<SP_Allocator>, Slot<SP_AllocatorFns>),
    /// Another allocation strategy.
    Custom(Slot<SP_CustomAllocator>, Slot<SP_CustomAllocatorFns>),
}

/// The alignment that a custom allocator is asked for, in bytes.
const ALIGNMENT: usize = tfrt_device::allocator::ALIGNMENT as usize;

/// Calls a function of the replacement, or of the stream executor if there is none. Validation
/// ensured that required functions are present.
macro_rules! source {
    ($self:expr, $default:expr, $name:ident, $custom:ident, ($device:expr $(, $argument:expr)*)) => {
        match $self {
            // SAFETY: this is the plug-in's function with its own structs and the arguments that
            // the API requires.
            None => unsafe { $default.$name.map(|call| call($device $(, $argument)*)) },
            Some(Replacement::Allocator(allocator, fns)) => {
                let call = fns.known().1.$name;
                // SAFETY: this is the plug-in's function with its own structs and the arguments
                // that the API requires.
                unsafe { call.map(|call| call($device, allocator.pointer() $(, $argument)*)) }
            }
            Some(Replacement::Custom(allocator, fns)) => {
                let call = fns.known().1.$custom;
                // SAFETY: this is the plug-in's function with its own structs and the arguments
                // that the API requires.
                unsafe { call.map(|call| call($device, allocator.pointer() $(, $argument)*)) }
            }
        }
    };
}

/// The plug-in's memory functions, from any of the three sources.
pub(crate) struct Source<'a> {
    pub(crate) replacement: Option<&'a Replacement>,
    pub(crate) calls: &'a Calls,
    pub(crate) device: *mut SP_Device,
}

impl Source<'_> {
    /// Allocates device memory. All members of the description are read, regardless of its stated
    /// size, because the RFC's size macro ends before `payload`. `opaque` is null if there is no
    /// memory.
    pub(crate) fn allocate(&self, bytes: u64) -> SP_DeviceMemoryBase {
        let (device, memory) =
            (self.device, Slot::<SP_DeviceMemoryBase>::new(size_of::<SP_DeviceMemoryBase>()));
        let pointer = memory.pointer();
        match self.replacement {
            // SAFETY: this is the plug-in's function with its own structs and the arguments that
            // the API requires.
            None => unsafe { self.calls.allocate.map(|call| call(device, bytes, 0, pointer)) },
            Some(Replacement::Allocator(allocator, fns)) => {
                let call = fns.known().1.allocate;
                // SAFETY: this is the plug-in's function with its own structs and the arguments
                // that the API requires.
                unsafe { call.map(|call| call(device, allocator.pointer(), bytes, 0, pointer)) }
            }
            Some(Replacement::Custom(allocator, fns)) => {
                let call = fns.known().1.allocate_raw;
                let mut memory = SP_DeviceMemoryBase::zeroed();
                memory.struct_size = size_of::<SP_DeviceMemoryBase>();
                memory.size = bytes;
                let asked = usize::try_from(bytes).unwrap_or(usize::MAX);
                // SAFETY: this is the plug-in's function with its own structs and the arguments
                // that the API requires.
                let got = unsafe { call.map(|call| call(device, allocator.pointer(), asked, ALIGNMENT)) };
                memory.opaque = got.unwrap_or(std::ptr::null_mut());
                return memory;
            }
        };
        memory.whole()
    }

    /// Frees device memory.
    pub(crate) fn deallocate(&self, memory: &SP_DeviceMemoryBase) {
        let (device, mut memory) = (self.device, *memory);
        match self.replacement {
            // SAFETY: this is the plug-in's function with its own structs, and memory that it
            // allocated and nobody uses.
            None => unsafe { self.calls.deallocate.map(|call| call(device, &raw mut memory)) },
            Some(Replacement::Allocator(allocator, fns)) => {
                let call = fns.known().1.deallocate;
                // SAFETY: this is the plug-in's function with its own structs, and memory that it
                // allocated and nobody uses.
                unsafe { call.map(|call| call(device, allocator.pointer(), &raw mut memory)) }
            }
            Some(Replacement::Custom(allocator, fns)) => {
                let call = fns.known().1.deallocate_raw;
                // SAFETY: this is the plug-in's function with its own structs, and memory that it
                // allocated and nobody uses.
                unsafe { call.map(|call| call(device, allocator.pointer(), memory.opaque)) }
            }
        };
    }

    /// Allocates host memory. Returns null if there is none.
    pub(crate) fn allocate_host(&self, bytes: u64) -> *mut c_void {
        let given = source!(
            self.replacement,
            self.calls,
            host_memory_allocate,
            host_allocate_raw,
            (self.device, bytes)
        );
        given.unwrap_or(std::ptr::null_mut())
    }

    /// Frees host memory.
    pub(crate) fn deallocate_host(&self, memory: *mut c_void) {
        source!(
            self.replacement,
            self.calls,
            host_memory_deallocate,
            host_deallocate_raw,
            (self.device, memory)
        );
    }

    /// Returns the free and the total memory in bytes, if the plug-in reports it.
    pub(crate) fn usage(&self) -> Option<(u64, u64)> {
        let (mut free, mut total) = (0i64, 0i64);
        let told: Option<TF_Bool> = source!(
            self.replacement,
            self.calls,
            device_memory_usage,
            device_memory_usage,
            (self.device, &raw mut free, &raw mut total)
        );
        let (free, total) = match told {
            Some(1..) => (free, total),
            _ => {
                let stats = self.stats()?;
                (stats.bytes_limit.saturating_sub(stats.bytes_in_use), stats.bytes_limit)
            }
        };
        let (free, total) = (u64::try_from(free).ok()?, u64::try_from(total).ok()?);
        (free <= total && total > 0).then_some((free, total))
    }

    /// Returns the plug-in's statistics, if they include a limit.
    fn stats(&self) -> Option<SP_AllocatorStats> {
        let stats = Slot::<SP_AllocatorStats>::new(size_of::<SP_AllocatorStats>());
        let told: Option<TF_Bool> = source!(
            self.replacement,
            self.calls,
            get_allocator_stats,
            get_allocator_stats,
            (self.device, stats.pointer())
        );
        let stats = stats.known().1;
        (told? != 0 && stats.has_bytes_limit != 0).then_some(stats)
    }
}

impl Replacement {
    /// Checks that the plug-in has set all required functions.
    pub(crate) fn validate(&self) -> Result<(), String> {
        match self {
            Self::Allocator(allocator, fns) => {
                let least = offset_of!(SP_Allocator, supports_unified_memory);
                check("SP_Allocator", allocator.known().0, least, std::ptr::null_mut())?;
                let (size, known) = fns.known();
                check(
                    "SP_AllocatorFns",
                    size,
                    offset_of!(SP_AllocatorFns, unified_memory_allocate),
                    known.ext,
                )?;
                require(
                    "SP_AllocatorFns",
                    &[
                        ("allocate", known.allocate.is_some()),
                        ("deallocate", known.deallocate.is_some()),
                        ("host_memory_allocate", known.host_memory_allocate.is_some()),
                        ("host_memory_deallocate", known.host_memory_deallocate.is_some()),
                    ],
                )
            }
            Self::Custom(allocator, fns) => {
                let least = size_of::<SP_CustomAllocator>();
                check("SP_CustomAllocator", allocator.known().0, least, std::ptr::null_mut())?;
                let (size, known) = fns.known();
                let least = offset_of!(SP_CustomAllocatorFns, get_allocator_stats);
                check("SP_CustomAllocatorFns", size, least, known.ext)?;
                require(
                    "SP_CustomAllocatorFns",
                    &[
                        ("allocate_raw", known.allocate_raw.is_some()),
                        ("deallocate_raw", known.deallocate_raw.is_some()),
                        ("host_allocate_raw", known.host_allocate_raw.is_some()),
                        ("host_deallocate_raw", known.host_deallocate_raw.is_some()),
                    ],
                )
            }
        }
    }

    /// Returns the functions for unified memory, if there is any.
    pub(crate) fn unified(&self) -> Option<Unified<'_>> {
        let Self::Allocator(allocator, fns) = self else { return None };
        let (size, _) = allocator.known();
        // SAFETY: the struct is as long as it states, or is the core's memory.
        let supported = unsafe {
            flag(allocator.pointer().cast_const(), offset_of!(SP_Allocator, supports_unified_memory), size)
        };
        (supported && fns.known().1.unified_memory_allocate.is_some()).then_some(Unified { allocator, fns })
    }
}

/// An allocator with unified memory.
pub(crate) struct Unified<'a> {
    allocator: &'a Slot<SP_Allocator>,
    fns: &'a Slot<SP_AllocatorFns>,
}

impl Unified<'_> {
    pub(crate) fn allocate(&self, device: *const SP_Device, bytes: u64) -> *mut c_void {
        let call = self.fns.known().1.unified_memory_allocate;
        // SAFETY: this is the plug-in's function with its own structs.
        unsafe { call.map_or(std::ptr::null_mut(), |call| call(device, self.allocator.pointer(), bytes)) }
    }

    pub(crate) fn deallocate(&self, device: *const SP_Device, memory: *mut c_void) {
        let call = self.fns.known().1.unified_memory_deallocate;
        // SAFETY: this is the plug-in's function with its own structs, and memory that it allocated
        // and nobody uses.
        unsafe { call.map(|call| call(device, self.allocator.pointer(), memory)) };
    }
}

/// Checks that functions are present.
pub(crate) fn require(name: &str, members: &[(&str, bool)]) -> Result<(), String> {
    match members.iter().find(|(_, present)| !present) {
        Some((member, _)) => Err(format!("{name}.{member} is missing")),
        None => Ok(()),
    }
}
