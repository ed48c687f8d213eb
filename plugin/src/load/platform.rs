//! A plug-in's platform: what `SE_InitPlugin` filled, validated, and cleaned up at the end.

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

/// More devices than that are taken for a mistake.
const MAX_DEVICES: usize = 1024;
/// Longer names are taken for a mistake.
const MAX_NAME: usize = 256;

/// A platform.
pub(crate) struct Platform {
    /// The library, as messages name it.
    pub(crate) library: String,
    pub(crate) layout: Layout,
    pub(crate) name: String,
    pub(crate) device_type: String,
    /// Whether unified memory is supported.
    pub(crate) unified: bool,
    struct_pointer: *mut SP_Platform,
    fns_pointer: *mut SP_PlatformFns,
    params: SE_PlatformRegistrationParams,
    /// The memory behind the two pointers, unless the plug-in has its own.
    slots: (Slot<SP_Platform>, Slot<SP_PlatformFns>),
}

// SAFETY: the pointers are to memory that is filled before anybody else sees the platform.
unsafe impl Send for Platform {}
// SAFETY: as above.
unsafe impl Sync for Platform {}

impl Platform {
    /// Loads a library and has it register itself. The library's code runs in this process, and stays.
    pub(crate) fn load(path: &Path) -> Result<Self, Diagnostic> {
        let library = path.display().to_string();
        let failed = |code, why: String| Diagnostic::new(code, format!("plug-in '{library}': {why}"));
        provide().map_err(|why| failed(ErrorCode::FailedPrecondition, why))?;
        // The loader searches the system's folders for a name without a folder, and not the current one.
        let is_bare = path.components().count() == 1 && path.is_file();
        let file = if is_bare { Path::new(".").join(path) } else { path.to_owned() };
        // SAFETY: running the library's code is what loading a plug-in means.
        let opened = unsafe { Library::open(Some(file), RTLD_LAZY | RTLD_LOCAL) }
            .map_err(|error| failed(ErrorCode::NotFound, said_by_loader(&error)))?;
        // SAFETY: the symbol has this type by the API.
        let init = unsafe { opened.get::<SE_InitPlugin>(INIT_SYMBOL) }
            .map(|symbol| *symbol)
            .map_err(|_| failed(ErrorCode::NotFound, "it exports no function SE_InitPlugin".to_owned()))?;
        // Its threads, and what it registered with others, may outlive its devices.
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
        // SAFETY: the function has this type by the API, and the structs are there.
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
        // From here on a failure cleans up what the plug-in set.
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
        // SAFETY: set by the core, or by the plug-in in place of that.
        let (size, platform) = unsafe { known(self.struct_pointer.cast_const()) };
        // SAFETY: as above.
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
            // SAFETY: as long as it says, or as our memory.
            unsafe { flag(self.struct_pointer.cast_const(), offset, size) }
        });
        Ok(())
    }

    /// What the plug-in's functions are given.
    pub(crate) fn pointer(&self) -> *const SP_Platform {
        self.struct_pointer
    }

    /// The functions, and the size the plug-in gave, in the layout that `T` is for.
    pub(crate) fn functions<T: crate::abi::Zeroed>(&self) -> (usize, T) {
        // SAFETY: set by the core, or by the plug-in in place of that, and as long as it says.
        unsafe { known(self.fns_pointer.cast::<T>().cast_const()) }
    }

    /// All of the RFC's functions, whatever size the plug-in gave; `None` if they are not in the core's memory, which is
    /// as long as that, and was zero.
    pub(crate) fn functions_beyond(&self) -> Option<SP_PlatformFns> {
        let ours = self.slots.1.pointer();
        // SAFETY: the core's memory.
        (self.fns_pointer == ours).then(|| unsafe { ours.read() })
    }

    /// The number of devices as the RFC has it.
    pub(crate) fn visible_device_count(&self) -> usize {
        // SAFETY: as in `validate`.
        unsafe { known(self.struct_pointer.cast_const()) }.1.visible_device_count
    }

    /// That a number of devices makes sense.
    pub(crate) fn check_count(count: usize) -> Result<u32, String> {
        match u32::try_from(count) {
            Ok(0) => Err("the platform has no devices".to_owned()),
            Ok(number) if count <= MAX_DEVICES => Ok(number),
            _ => Err(format!("the platform claims {count} devices; at most {MAX_DEVICES} are believed")),
        }
    }

    /// A failure of one of its functions.
    pub(crate) fn failed(&self, call: &str, failure: &Failure) -> DeviceError {
        let Failure { code, message } = failure;
        let detail =
            format!("plug-in '{}' ({}), {call}: {message} ({})", self.name, self.library, code.name());
        DeviceError::new(code.status(), detail)
    }

    /// Something wrong that the plug-in did not tell itself.
    pub(crate) fn wrong(&self, status: Status, why: impl std::fmt::Display) -> DeviceError {
        DeviceError::new(status, format!("plug-in '{}' ({}): {why}", self.name, self.library))
    }
}

impl Drop for Platform {
    fn drop(&mut self) {
        // SAFETY: functions that the plug-in gave for what it filled; nothing made from the platform is left.
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

/// Why a library is no plug-in for us.
enum Refused {
    Invalid(String),
    Failed(Failure),
}

/// What the two sides have in common is told by the structs' sizes, as long as the major version is the same.
fn check_version(params: &SE_PlatformRegistrationParams) -> Result<(), String> {
    let (major, minor, patch) = (params.major_version, params.minor_version, params.patch_version);
    if major != SE_MAJOR || minor < 0 || patch < 0 {
        return Err(format!(
            "it is for version {major}.{minor}.{patch} of the API, and this core for {SE_MAJOR}.{SE_MINOR}.{SE_PATCH}"
        ));
    }
    Ok(())
}

/// What the system's loader said.
pub(crate) fn said_by_loader(error: &libloading::Error) -> String {
    let source = std::error::Error::source(error);
    source.map_or_else(|| error.to_string(), ToString::to_string)
}

/// A name the plug-in gave.
fn text(what: &str, pointer: *const c_char) -> Result<String, String> {
    if pointer.is_null() {
        return Err(format!("{what} is null"));
    }
    // SAFETY: by the API a string that ends with a zero.
    let text = unsafe { CStr::from_ptr(pointer) }.to_str().map_err(|_| format!("{what} is not UTF-8"))?;
    match text.len() {
        0 => Err(format!("{what} is empty")),
        length if length > MAX_NAME => Err(format!("{what} has {length} characters")),
        _ => Ok(text.to_owned()),
    }
}
