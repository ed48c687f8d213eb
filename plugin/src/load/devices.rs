//! The devices of a platform: devices, stream executors, timer functions and allocators, in that
//! order.
//!
//! Each step pushes a closure that undoes it. A failure at any step and the normal end use the same
//! stack of closures.

use std::ffi::{CStr, c_char, c_int};
use std::mem::offset_of;
use std::path::Path;

use tfrt_host::{Diagnostic, ErrorCode};

use super::calls::{Calls, check_end};
use super::platform::Platform;
use super::slot::{Slot, check};
use super::source::{Replacement, require};
use crate::abi::{
    Layout, SE_CreateAllocatorParams, SE_CreateCustomAllocatorParams, SE_CreateDeviceParams,
    SE_CreateStreamExecutorParams, SP_Allocator, SP_AllocatorFns, SP_CustomAllocator, SP_CustomAllocatorFns,
    SP_Device, SP_Platform, SP_PlatformFns, SP_StreamExecutor, SP_Timer, SP_TimerFns, Zeroed, released,
    sizes,
};
use crate::status::{CallStatus, TF_Status};

/// A device's struct, functions and properties.
pub(crate) struct Handle {
    device: Slot<released::SP_Device>,
    pub(crate) calls: Calls,
    /// The name of the hardware, its place on the bus, and its memory bandwidth in bytes per
    /// second.
    pub(crate) hardware: String,
    pub(crate) bus_id: String,
    pub(crate) memory_bandwidth: u64,
}

impl Handle {
    /// Returns the argument of the plug-in's functions.
    pub(crate) fn pointer(&self) -> *mut SP_Device {
        self.device.pointer().cast()
    }
}

/// Everything that a plug-in created.
pub(crate) struct Devices {
    pub(crate) handles: Vec<Handle>,
    pub(crate) nanoseconds: unsafe extern "C-unwind" fn(SP_Timer) -> u64,
    pub(crate) replacement: Option<Replacement>,
    /// Dropped before the platform, which the steps need.
    _undo: Undo,
    pub(crate) platform: Box<Platform>,
}

/// Steps to undo, the last one first.
#[derive(Default)]
struct Undo(Vec<Box<dyn FnOnce() + Send + Sync>>);

impl Drop for Undo {
    fn drop(&mut self) {
        while let Some(step) = self.0.pop() {
            step();
        }
    }
}

/// A pointer that is passed back to the plug-in when a step is undone.
struct Kept<T>(*mut T);

impl<T> Clone for Kept<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Kept<T> {}
impl<T> Kept<T> {
    fn get(self) -> *mut T {
        self.0
    }
}
// SAFETY: the pointer is only passed on to a plug-in, which the API allows to be called on any
// thread.
unsafe impl<T> Send for Kept<T> {}
// SAFETY: the pointer is only passed on to a plug-in, which the API allows to be called on any
// thread.
unsafe impl<T> Sync for Kept<T> {}

type Create<T> = unsafe extern "C-unwind" fn(*const SP_Platform, *mut T, *mut TF_Status);
type Destroy<T> = unsafe extern "C-unwind" fn(*const SP_Platform, *mut T);

/// The platform's functions that both layouts have.
struct Functions {
    create_device: Create<SE_CreateDeviceParams>,
    destroy_device: Destroy<SP_Device>,
    create_stream_executor: Create<SE_CreateStreamExecutorParams>,
    destroy_stream_executor: Destroy<SP_StreamExecutor>,
    create_timer_fns: Create<SP_TimerFns>,
    destroy_timer_fns: Destroy<SP_TimerFns>,
}

impl Functions {
    fn of(platform: &Platform) -> Result<Self, String> {
        macro_rules! functions {
            ($known:expr, $($name:ident),*) => {{
                let (size, fns) = $known;
                check("SP_PlatformFns", size, sizes::PLATFORM_FNS_MACRO, fns.ext)?;
                Ok(Self { $($name: fns.$name.ok_or_else(|| missing(stringify!($name)))?,)* })
            }};
            ($known:expr) => {
                functions!(
                    $known,
                    create_device,
                    destroy_device,
                    create_stream_executor,
                    destroy_stream_executor,
                    create_timer_fns,
                    destroy_timer_fns
                )
            };
        }
        match platform.layout {
            Layout::Rfc => functions!(platform.functions::<SP_PlatformFns>()),
            Layout::Released => functions!(platform.functions::<released::SP_PlatformFns>()),
        }
    }
}

fn missing(name: &str) -> String {
    format!("SP_PlatformFns.{name} is missing")
}

/// The reason why loading stopped.
pub(crate) enum Stopped {
    /// The plug-in broke a rule.
    Invalid(String),
    /// A call failed.
    Failed(tfrt_device::error::DeviceError),
}

impl From<String> for Stopped {
    fn from(why: String) -> Self {
        Self::Invalid(why)
    }
}

impl Devices {
    /// Loads a library and creates all its devices.
    pub(crate) fn load(path: &Path) -> Result<Self, Diagnostic> {
        let platform = Box::new(Platform::load(path)?);
        let mut undo = Undo::default();
        let made = Maker { platform: &platform, undo: &mut undo }.make();
        match made {
            Ok((handles, nanoseconds, replacement)) => {
                Ok(Self { _undo: undo, handles, nanoseconds, replacement, platform })
            }
            Err(stopped) => {
                drop(undo);
                Err(match stopped {
                    Stopped::Failed(error) => error.into(),
                    Stopped::Invalid(why) => {
                        let message = format!("plug-in '{}' ({}): {why}", platform.name, platform.library);
                        Diagnostic::new(ErrorCode::InvalidArgument, message)
                    }
                })
            }
        }
    }
}

type Nanoseconds = unsafe extern "C-unwind" fn(SP_Timer) -> u64;

/// Creates devices step by step.
struct Maker<'a> {
    platform: &'a Platform,
    undo: &'a mut Undo,
}

impl Maker<'_> {
    fn make(&mut self) -> Result<(Vec<Handle>, Nanoseconds, Option<Replacement>), Stopped> {
        let functions = Functions::of(self.platform)?;
        let replaceable = self.has_allocator()?;
        let count = self.count()?;
        let devices: Vec<_> =
            (0..count).map(|ordinal| self.device(&functions, ordinal)).collect::<Result<_, _>>()?;
        let mut handles = Vec::new();
        for device in devices {
            handles.push(self.handle(&functions, device, replaceable)?);
        }
        let nanoseconds = self.timer(&functions)?;
        let replacement = self.replacement()?;
        Ok((handles, nanoseconds, replacement))
    }

    /// Makes a call that can fail.
    fn call(&self, name: &str, call: impl FnOnce(*mut TF_Status)) -> Result<(), Stopped> {
        let status = CallStatus::new();
        call(status.pointer());
        status.result().map_err(|failure| Stopped::Failed(self.platform.failed(name, &failure)))
    }

    /// Registers the undoing of a step: calls `destroy` with the struct that the step filled, whose
    /// memory stays until then.
    fn destroy_with<T: 'static, S: Zeroed + 'static>(&mut self, destroy: Destroy<T>, made: &Slot<S>) {
        let (platform, made) = (Kept(self.platform.pointer().cast_mut()), made.clone());
        // SAFETY: this is the plug-in's function for the struct that it filled.
        self.undo.0.push(Box::new(move || unsafe { destroy(platform.get(), made.pointer().cast()) }));
    }

    fn count(&self) -> Result<u32, Stopped> {
        let count = match self.platform.layout {
            Layout::Rfc => self.platform.visible_device_count(),
            Layout::Released => {
                let (_, fns) = self.platform.functions::<released::SP_PlatformFns>();
                let get = fns.get_device_count.ok_or_else(|| missing("get_device_count"))?;
                let mut count: c_int = 0;
                // SAFETY: this is the plug-in's function, and the number is written to a valid
                // place.
                self.call("get_device_count", |status| unsafe {
                    get(self.platform.pointer(), &raw mut count, status);
                })?;
                usize::try_from(count).map_err(|_| format!("the platform claims {count} devices"))?
            }
        };
        Ok(Platform::check_count(count)?)
    }

    fn device(&mut self, functions: &Functions, ordinal: u32) -> Result<Slot<released::SP_Device>, Stopped> {
        let ordinal = ordinal as i32;
        let size = match self.platform.layout {
            Layout::Rfc => size_of::<SP_Device>(),
            Layout::Released => size_of::<released::SP_Device>(),
        };
        let slot = Slot::<released::SP_Device>::new(size);
        let device = slot.pointer().cast::<SP_Device>();
        // SAFETY: the plug-in does not know the memory yet.
        unsafe { (*device).ordinal = ordinal };
        let mut params = SE_CreateDeviceParams::zeroed();
        params.struct_size = size_of::<SE_CreateDeviceParams>();
        (params.ordinal, params.device) = (ordinal, device);
        let mut filled = params;
        // SAFETY: this is the plug-in's function with its platform, and memory for the device.
        self.call("create_device", |status| unsafe {
            (functions.create_device)(self.platform.pointer(), &raw mut filled, status);
        })?;
        self.destroy_with(functions.destroy_device, &slot);
        let (size, known) = slot.known();
        check("SP_Device", size, size_of::<SP_Device>(), std::ptr::null_mut())?;
        if known.ordinal != ordinal {
            return Err(format!(
                "SP_Device.ordinal is {}, but device {ordinal} was requested",
                known.ordinal
            )
            .into());
        }
        Ok(slot)
    }

    fn handle(
        &mut self,
        functions: &Functions,
        device: Slot<released::SP_Device>,
        replaceable: bool,
    ) -> Result<Handle, Stopped> {
        let memory_bandwidth = self.memory_bandwidth(&device)?;
        let calls = self.executor(functions, replaceable)?;
        let (_, known) = device.known();
        // The RFC's layout has no such members; the plug-in does not own what is at their place.
        let describes = self.platform.layout == Layout::Released;
        let text = |pointer: *const c_char| {
            if pointer.is_null() || !describes {
                return String::new();
            }
            // SAFETY: the API requires a string that ends with a zero.
            unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
        };
        let (hardware, bus_id) = (text(known.hardware_name), text(known.pci_bus_id));
        Ok(Handle { device, calls, hardware, bus_id, memory_bandwidth })
    }

    fn executor(&mut self, functions: &Functions, replaceable: bool) -> Result<Calls, Stopped> {
        let size = match self.platform.layout {
            Layout::Rfc => size_of::<SP_StreamExecutor>(),
            Layout::Released => size_of::<released::SP_StreamExecutor>(),
        };
        let slot = Slot::<released::SP_StreamExecutor>::new(size);
        let pointer = slot.pointer().cast::<SP_StreamExecutor>();
        let mut params = SE_CreateStreamExecutorParams::zeroed();
        params.struct_size = size_of::<SE_CreateStreamExecutorParams>();
        params.stream_executor = pointer;
        // SAFETY: this is the plug-in's function with its platform, and memory for the functions.
        self.call("create_stream_executor", |status| unsafe {
            (functions.create_stream_executor)(self.platform.pointer(), &raw mut params, status);
        })?;
        self.destroy_with(functions.destroy_stream_executor, &slot);
        let calls = match self.platform.layout.of_stream_executor(slot.known().0) {
            Layout::Rfc => {
                // SAFETY: the plug-in has filled this memory.
                let (size, known) = unsafe { super::slot::known(pointer.cast_const()) };
                let least = offset_of!(SP_StreamExecutor, block_host_until_done);
                check("SP_StreamExecutor", size, least, known.ext)?;
                let calls = Calls::rfc(&known)?;
                let offset = offset_of!(SP_StreamExecutor, host_callback);
                check_end("host_callback", calls.host_callback.is_some(), size, offset)?;
                let offset = offset_of!(SP_StreamExecutor, synchronize_all_activity);
                check_end(
                    "synchronize_all_activity",
                    calls.synchronize_all_activity.is_some(),
                    size,
                    offset,
                )?;
                calls
            }
            Layout::Released => {
                let (size, known) = slot.known();
                let least = offset_of!(released::SP_StreamExecutor, block_host_until_done);
                check("SP_StreamExecutor", size, least, known.ext)?;
                let calls = Calls::released(&known)?;
                let offset = offset_of!(released::SP_StreamExecutor, host_callback);
                check_end("host_callback", calls.host_callback.is_some(), size, offset)?;
                calls
            }
        };
        if !replaceable {
            require(
                "SP_StreamExecutor",
                &[
                    ("allocate", calls.allocate.is_some()),
                    ("deallocate", calls.deallocate.is_some()),
                    ("host_memory_allocate", calls.host_memory_allocate.is_some()),
                    ("host_memory_deallocate", calls.host_memory_deallocate.is_some()),
                ],
            )?;
        }
        Ok(calls)
    }

    /// Returns the memory bandwidth in bytes per second, if the device reports it. Destroys the
    /// functions it was queried with.
    fn memory_bandwidth(&self, device: &Slot<released::SP_Device>) -> Result<u64, Stopped> {
        if self.platform.layout == Layout::Rfc {
            return Ok(0);
        }
        let (_, fns) = self.platform.functions::<released::SP_PlatformFns>();
        let (Some(create), Some(destroy)) = (fns.create_device_fns, fns.destroy_device_fns) else {
            return Ok(0);
        };
        let slot = Slot::<released::SP_DeviceFns>::new(size_of::<released::SP_DeviceFns>());
        let mut params = released::SE_CreateDeviceFnsParams::zeroed();
        params.struct_size = size_of::<released::SE_CreateDeviceFnsParams>();
        params.device_fns = slot.pointer();
        // SAFETY: this is the plug-in's function with its platform, and memory for the functions.
        self.call("create_device_fns", |status| unsafe {
            create(self.platform.pointer(), &raw mut params, status);
        })?;
        let get = slot.known().1.get_memory_bandwidth;
        // SAFETY: this is the plug-in's function with its device.
        let bandwidth = get.map_or(0, |get| unsafe { get(device.pointer().cast::<SP_Device>()) });
        // SAFETY: the call to `create_device_fns` above filled the functions of this slot, and
        // `destroy` is its counterpart.
        unsafe { destroy(self.platform.pointer(), slot.pointer()) };
        Ok(u64::try_from(bandwidth).unwrap_or(0))
    }

    fn timer(&mut self, functions: &Functions) -> Result<Nanoseconds, Stopped> {
        let slot = Slot::<SP_TimerFns>::new(size_of::<SP_TimerFns>());
        // SAFETY: this is the plug-in's function with its platform, and memory for the functions.
        self.call("create_timer_fns", |status| unsafe {
            (functions.create_timer_fns)(self.platform.pointer(), slot.pointer(), status);
        })?;
        self.destroy_with(functions.destroy_timer_fns, &slot);
        let (size, known) = slot.known();
        check("SP_TimerFns", size, size_of::<SP_TimerFns>(), known.ext)?;
        Ok(known.nanoseconds.ok_or("SP_TimerFns.nanoseconds is missing".to_owned())?)
    }

    /// Returns the RFC's functions with the allocators. The RFC's size macro ends before them, so a
    /// plug-in that uses it may have set them nevertheless. Members that it did not set are zero.
    fn allocators(&self) -> Option<SP_PlatformFns> {
        if self.platform.layout == Layout::Released {
            return None;
        }
        let (size, fns) = self.platform.functions::<SP_PlatformFns>();
        if size == sizes::PLATFORM_FNS_MACRO { self.platform.functions_beyond() } else { Some(fns) }
    }

    /// Returns whether the plug-in has an allocator of either kind.
    fn has_allocator(&self) -> Result<bool, String> {
        let Some(fns) = self.allocators() else { return Ok(false) };
        let (default, custom) = (fns.create_allocator.is_some(), fns.create_custom_allocator.is_some());
        if default && custom {
            return Err("SP_PlatformFns sets both create_allocator and create_custom_allocator".to_owned());
        }
        require(
            "SP_PlatformFns",
            &[
                ("destroy_allocator", !default || fns.destroy_allocator.is_some()),
                ("destroy_custom_allocator", !custom || fns.destroy_custom_allocator.is_some()),
            ],
        )?;
        Ok(default || custom)
    }

    fn replacement(&mut self) -> Result<Option<Replacement>, Stopped> {
        let Some(fns) = self.allocators() else { return Ok(None) };
        let platform = self.platform.pointer();
        let replacement = if let (Some(create), Some(destroy)) = (fns.create_allocator, fns.destroy_allocator)
        {
            let allocator = Slot::<SP_Allocator>::new(sizes::ALLOCATOR);
            let functions = Slot::<SP_AllocatorFns>::new(size_of::<SP_AllocatorFns>());
            let mut params = SE_CreateAllocatorParams::zeroed();
            params.struct_size = size_of::<SE_CreateAllocatorParams>();
            (params.allocator, params.allocator_fns) = (allocator.pointer(), functions.pointer());
            // SAFETY: this is the plug-in's function with its platform, and memory that it fills.
            self.call("create_allocator", |status| unsafe { create(platform, &raw mut params, status) })?;
            let kept = (Kept(platform.cast_mut()), allocator.clone(), functions.clone());
            // SAFETY: this is the plug-in's function for the structs that it filled, whose memory
            // stays until then.
            self.undo
                .0
                .push(Box::new(move || unsafe { destroy(kept.0.get(), kept.1.pointer(), kept.2.pointer()) }));
            Replacement::Allocator(allocator, functions)
        } else if let (Some(create), Some(destroy)) =
            (fns.create_custom_allocator, fns.destroy_custom_allocator)
        {
            let allocator = Slot::<SP_CustomAllocator>::new(size_of::<SP_CustomAllocator>());
            let functions = Slot::<SP_CustomAllocatorFns>::new(size_of::<SP_CustomAllocatorFns>());
            let mut params = SE_CreateCustomAllocatorParams::zeroed();
            params.struct_size = size_of::<SE_CreateCustomAllocatorParams>();
            (params.custom_allocator, params.custom_allocator_fns) =
                (allocator.pointer(), functions.pointer());
            // SAFETY: this is the plug-in's function with its platform, and memory that it fills.
            self.call("create_custom_allocator", |status| unsafe {
                create(platform, &raw mut params, status);
            })?;
            let kept = (Kept(platform.cast_mut()), allocator.clone(), functions.clone());
            // SAFETY: this is the plug-in's function for the structs that it filled, whose memory
            // stays until then.
            self.undo
                .0
                .push(Box::new(move || unsafe { destroy(kept.0.get(), kept.1.pointer(), kept.2.pointer()) }));
            Replacement::Custom(allocator, functions)
        } else {
            return Ok(None);
        };
        replacement.validate()?;
        Ok(Some(replacement))
    }
}
