//! A plug-in's platform: the result of `SE_InitPlugin`, validated, and cleaned up at the end.

use std::ffi::{CStr, c_char};
use std::mem::offset_of;
use std::path::Path;

use libloading::os::unix::{Library, RTLD_LAZY, RTLD_LOCAL};
use tfrt_device::error::{DeviceError, Status};
use tfrt_host::{Diagnostic, ErrorCode};

use super::slot::{Slot, check, flag, known};
use crate::abi::{
    INIT_SYMBOL, Layout, SE_InitPlugin, SE_MAJOR, SE_MINOR, SE_PATCH, SE_PlatformRegistrationParams,
    SP_Platform, SP_PlatformFns, released,
};
use crate::status::{CallStatus, Failure, provide};

/// The most devices of a platform. A larger number is considered a mistake.
const MAX_DEVICES: usize = 1024;
/// The longest name in bytes. A longer one is considered a mistake.
const MAX_NAME: usize = 256;

/// A platform.
pub(crate) struct Platform {
    /// The name of the library in messages.
    pub(crate) library: String,
    pub(crate) layout: Layout,
    pub(crate) name: String,
    pub(crate) device_type: String,
    /// Whether unified memory is supported.
    pub(crate) unified: bool,
    struct_pointer: *mut SP_Platform,
    fns_pointer: *mut SP_PlatformFns,
    params: SE_PlatformRegistrationParams,
    /// The memory behind the two pointers, unless the plug-in replaced it.
    slots: (Slot<SP_Platform>, Slot<SP_PlatformFns>),
}

// SAFETY: the pointers are to memory that is filled before anybody else sees the platform.
unsafe impl Send for Platform {}
// SAFETY: the pointers are to memory that is filled before anybody else sees the platform.
unsafe impl Sync for Platform {}

impl Platform {
    /// Loads a library and calls its registration. The library's code runs in this process and is
    /// never unloaded.
    pub(crate) fn load(path: &Path) -> Result<Self, Diagnostic> {
        let library = path.display().to_string();
        let failed = |code, why: String| Diagnostic::new(code, format!("plug-in '{library}': {why}"));
        provide().map_err(|why| failed(ErrorCode::FailedPrecondition, why))?;
        // For a name without a folder, the loader would search the system's folders and not the
        // current one.
        let is_bare = path.components().count() == 1 && path.is_file();
        let file = if is_bare { Path::new(".").join(path) } else { path.to_owned() };
        // SAFETY: loading a plug-in means running the library's code, which the caller accepts.
        let opened = unsafe { Library::open(Some(file), RTLD_LAZY | RTLD_LOCAL) }
            .map_err(|error| failed(ErrorCode::NotFound, said_by_loader(&error)))?;
        // SAFETY: the API gives the symbol this type.
        let init = unsafe { opened.get::<SE_InitPlugin>(INIT_SYMBOL) }
            .map(|symbol| *symbol)
            .map_err(|_| failed(ErrorCode::NotFound, "it exports no function SE_InitPlugin".to_owned()))?;
        // The library's threads, and what it registered elsewhere, may outlive its devices.
        std::mem::forget(opened);
        Self::register(library.clone(), init).map_err(|error| match error {
            Refused::Invalid(why) => failed(ErrorCode::InvalidArgument, why),
            Refused::Failed(failure) => {
                let why = format!("SE_InitPlugin: {} ({})", failure.message, failure.code.name());
                failed(failure.code.status().code(), why)
            }
        })
    }

    /// Calls `SE_InitPlugin`.
    fn register(library: String, init: SE_InitPlugin) -> Result<Self, Refused> {
        let slots = (Slot::new(size_of::<SP_Platform>()), Slot::new(size_of::<SP_PlatformFns>()));
        let params_slot =
            Slot::<SE_PlatformRegistrationParams>::new(size_of::<SE_PlatformRegistrationParams>());
        let params = params_slot.pointer();
        // SAFETY: the plug-in does not know the memory yet.
        unsafe {
            (*params).major_version = SE_MAJOR;
            (*params).minor_version = SE_MINOR;
            (*params).patch_version = SE_PATCH;
            (*params).platform = slots.0.pointer();
            (*params).platform_fns = slots.1.pointer();
        }
        let status = CallStatus::new();
        // SAFETY: the API gives the function this type, and the structs are valid.
        unsafe { init(params, status.pointer()) };
        status.result().map_err(Refused::Failed)?;
        drop(status);
        let (_, params) = params_slot.known();
        let mut platform = Self {
            library,
            layout: Layout::Rfc,
            name: String::new(),
            device_type: String::new(),
            unified: false,
            struct_pointer: params.platform,
            fns_pointer: params.platform_fns,
            params,
            slots,
        };
        // From here on, the destructor cleans up what the plug-in set.
        platform.validate().map_err(Refused::Invalid)?;
        Ok(platform)
    }

    fn validate(&mut self) -> Result<(), String> {
        let params = self.params;
        check_version(&params)?;
        let least = size_of::<SE_PlatformRegistrationParams>();
        check("SE_PlatformRegistrationParams", params.struct_size, least, params.ext)?;
        for (name, missing) in [
            ("platform", params.platform.is_null()),
            ("platform_fns", params.platform_fns.is_null()),
            ("destroy_platform", params.destroy_platform.is_none()),
            ("destroy_platform_fns", params.destroy_platform_fns.is_none()),
        ] {
            if missing {
                return Err(format!("SE_PlatformRegistrationParams.{name} is null"));
            }
        }
        // SAFETY: the struct was set by the core, or by the plug-in as its replacement, and begins
        // with its size.
        let (size, platform) = unsafe { known(self.struct_pointer.cast_const()) };
        // SAFETY: the struct was set by the core, or by the plug-in as its replacement, and begins
        // with its size.
        let (fns_size, _) = unsafe { known(self.fns_pointer.cast_const()) };
        self.layout = Layout::of(size, fns_size);
        let least = offset_of!(released::SP_Platform, supports_unified_memory);
        check("SP_Platform", size, least, std::ptr::null_mut())?;
        self.name = text("SP_Platform.name", platform.name)?;
        self.device_type = text("SP_Platform.type", platform.r#type)?;
        if !self.device_type.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)) {
            let what = &self.device_type;
            return Err(format!("SP_Platform.type is '{what}': a type has letters, digits, '_' and '-'"));
        }
        self.unified = self.layout.unified_memory_flag(size).is_some_and(|offset| {
            // SAFETY: the struct is as long as it states, or is the core's memory.
            unsafe { flag(self.struct_pointer.cast_const(), offset, size) }
        });
        Ok(())
    }

    /// Returns the argument of the plug-in's functions.
    pub(crate) fn pointer(&self) -> *const SP_Platform {
        self.struct_pointer
    }

    /// Returns the functions in the layout of `T`, and the size that the plug-in stated.
    pub(crate) fn functions<T: crate::abi::Zeroed>(&self) -> (usize, T) {
        // SAFETY: the struct was set by the core, or by the plug-in as its replacement, and is as
        // long as it states.
        unsafe { known(self.fns_pointer.cast::<T>().cast_const()) }
    }

    /// Returns all of the RFC's functions, regardless of the stated size. Returns `None` if they
    /// are not in the core's memory, which has the full length and was zero.
    pub(crate) fn functions_beyond(&self) -> Option<SP_PlatformFns> {
        let ours = self.slots.1.pointer();
        // SAFETY: this is the core's memory.
        (self.fns_pointer == ours).then(|| unsafe { ours.read() })
    }

    /// Returns the number of devices in the RFC's layout.
    pub(crate) fn visible_device_count(&self) -> usize {
        // SAFETY: `validate` read the same struct, which begins with its size.
        unsafe { known(self.struct_pointer.cast_const()) }.1.visible_device_count
    }

    /// Checks that a number of devices is plausible.
    pub(crate) fn check_count(count: usize) -> Result<u32, String> {
        match u32::try_from(count) {
            Ok(0) => Err("the platform has no devices".to_owned()),
            Ok(number) if count <= MAX_DEVICES => Ok(number),
            _ => Err(format!("the platform claims {count} devices, but at most {MAX_DEVICES} are accepted")),
        }
    }

    /// Returns a failure of one of its functions.
    pub(crate) fn failed(&self, call: &str, failure: &Failure) -> DeviceError {
        let Failure { code, message } = failure;
        let detail =
            format!("plug-in '{}' ({}), {call}: {message} ({})", self.name, self.library, code.name());
        DeviceError::new(code.status(), detail)
    }

    /// Creates an error that the plug-in itself did not report.
    pub(crate) fn wrong(&self, status: Status, why: impl std::fmt::Display) -> DeviceError {
        DeviceError::new(status, format!("plug-in '{}' ({}): {why}", self.name, self.library))
    }
}

impl Drop for Platform {
    fn drop(&mut self) {
        // SAFETY: the plug-in provided these functions for the structs that it filled, and nothing
        // created from the platform is left.
        unsafe {
            if let Some(destroy) = self.params.destroy_platform
                && !self.struct_pointer.is_null()
            {
                destroy(self.struct_pointer);
            }
            if let Some(destroy) = self.params.destroy_platform_fns
                && !self.fns_pointer.is_null()
            {
                destroy(self.fns_pointer);
            }
        }
    }
}

/// The reason why a library is refused.
enum Refused {
    Invalid(String),
    Failed(Failure),
}

/// Checks the version. Within a major version, the sizes of the structs tell which members both
/// sides have.
fn check_version(params: &SE_PlatformRegistrationParams) -> Result<(), String> {
    let (major, minor, patch) = (params.major_version, params.minor_version, params.patch_version);
    if major != SE_MAJOR || minor < 0 || patch < 0 {
        return Err(format!(
            "it is for version {major}.{minor}.{patch} of the API, but this core is for {SE_MAJOR}.{SE_MINOR}.{SE_PATCH}"
        ));
    }
    Ok(())
}

/// Returns the message of the system's loader.
pub(crate) fn said_by_loader(error: &libloading::Error) -> String {
    let source = std::error::Error::source(error);
    source.map_or_else(|| error.to_string(), ToString::to_string)
}

/// Reads a name that the plug-in set.
fn text(what: &str, pointer: *const c_char) -> Result<String, String> {
    if pointer.is_null() {
        return Err(format!("{what} is null"));
    }
    // SAFETY: the API requires a string that ends with a zero.
    let text = unsafe { CStr::from_ptr(pointer) }.to_str().map_err(|_| format!("{what} is not UTF-8"))?;
    match text.len() {
        0 => Err(format!("{what} is empty")),
        length if length > MAX_NAME => Err(format!("{what} has {length} characters")),
        _ => Ok(text.to_owned()),
    }
}
