//! Modules, functions and launches.

#![expect(unsafe_code, reason = "calls of the driver's C interface")]

use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cudarc::driver::sys::{
    self, CUfunction, CUfunction_attribute as Attribute, CUjit_option, CUlaunchAttribute,
    CUlaunchAttributeID, CUlaunchAttributeValue, CUlaunchConfig, CUmodule, CUresult,
};
use parking_lot::Mutex;
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::{FunctionAttributes, LaunchConfig, Modules, PackedParameters, ParameterInfo};

use super::context::{GpuContext, Shared};
use super::driver::check;
use super::nvrtc;
use super::stream::Stream;

/// A loaded module.
pub(crate) struct Module(Arc<Loaded>);

struct Loaded {
    shared: Arc<Shared>,
    raw: CUmodule,
}

/// A function. It keeps its module alive.
pub(crate) struct Function {
    raw: CUfunction,
    /// The name, for errors.
    name: Arc<str>,
    /// The dynamic shared memory that launches may use so far. More than the default limit must be
    /// requested.
    shared_memory_bytes: AtomicU32,
    /// Held during a request for more, because the driver keeps the last value that was set.
    asking: Mutex<()>,
    _module: Arc<Loaded>,
}

// SAFETY: the driver allows the use of modules on any thread. The other fields are `Send`
// themselves.
unsafe impl Send for Loaded {}
// SAFETY: the driver allows the use of modules on any thread. The other fields are `Sync`
// themselves.
unsafe impl Sync for Loaded {}
// SAFETY: the driver allows the use of functions on any thread. The other fields are `Send`
// themselves.
unsafe impl Send for Function {}
// SAFETY: the driver allows the use of functions on any thread. The other fields are `Sync`
// themselves.
unsafe impl Sync for Function {}

impl Drop for Loaded {
    fn drop(&mut self) {
        if self.shared.make_current().is_ok() {
            // SAFETY: the module is alive and this is its only owner.
            let _ = unsafe { sys::cuModuleUnload(self.raw) };
        }
    }
}

/// The dynamic shared memory that every function may use.
const SHARED_MEMORY_BYTES_ORDINARY: u32 = 48 << 10;
/// The size of the buffer for the log of the driver's compiler.
const LOG_BYTES: usize = 16 << 10;
/// The greatest number of parameters whose pointers need no allocation.
const PARAMETERS_INLINE: usize = 32;

/// Returns the image in the form that the driver reads: PTX with a final zero, or a binary whose
/// size has been checked.
fn checked_image(image: &[u8]) -> Result<std::borrow::Cow<'_, [u8]>> {
    let truncated = || DeviceError::new(Status::InvalidImage, "the binary is shorter than its header says");
    if image.starts_with(b"\x7fELF") {
        return if elf_bytes(image).is_some_and(|bytes| bytes <= image.len() as u64) {
            Ok(image.into())
        } else {
            Err(truncated())
        };
    }
    if image.starts_with(&[0x50, 0xed, 0x55, 0xba]) {
        let number = |range: std::ops::Range<usize>| image.get(range);
        let header = number(6..8).and_then(|bytes| Some(u16::from_le_bytes(bytes.try_into().ok()?)));
        let body = number(8..16).and_then(|bytes| Some(u64::from_le_bytes(bytes.try_into().ok()?)));
        let bytes = header.zip(body).and_then(|(header, body)| body.checked_add(header.into()));
        return if bytes.is_some_and(|bytes| bytes <= image.len() as u64) {
            Ok(image.into())
        } else {
            Err(truncated())
        };
    }
    // The image is text. The driver stops at the first zero.
    if image.contains(&0) { Ok(image.into()) } else { Ok([image, b"\0"].concat().into()) }
}

/// Returns the size that a 64-bit little-endian ELF file claims: the end of the last of its
/// sections and tables.
fn elf_bytes(image: &[u8]) -> Option<u64> {
    let short = |at: usize| Some(u64::from(u16::from_le_bytes(image.get(at..at + 2)?.try_into().ok()?)));
    let long = |at: usize| Some(u64::from_le_bytes(image.get(at..at + 8)?.try_into().ok()?));
    // The class and the byte order.
    if image.get(4..6)? != [2, 1] {
        return None;
    }
    let (programs, sections) = (long(0x20)?, long(0x28)?);
    let (program_size, program_count) = (short(0x36)?, short(0x38)?);
    let (section_size, section_count) = (short(0x3a)?, short(0x3c)?);
    let mut end = 64.max(programs.checked_add(program_size * program_count)?);
    end = end.max(sections.checked_add(section_size * section_count)?);
    if end > image.len() as u64 || (section_count > 0 && section_size < 64) {
        return Some(end.max(image.len() as u64 + 1));
    }
    const NOBITS: &[u8] = &[8, 0, 0, 0];
    for section in 0..section_count {
        let at = usize::try_from(sections + section * section_size).ok()?;
        if image.get(at + 4..at + 8)? != NOBITS {
            end = end.max(long(at + 0x18)?.checked_add(long(at + 0x20)?)?);
        }
    }
    Some(end)
}

/// Loads the image. The context must be current.
fn load(image: &[u8]) -> Result<CUmodule> {
    let image = checked_image(image)?;
    let mut log = vec![0u8; LOG_BYTES];
    let mut options =
        [CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    // The size is passed as a value in place of a pointer.
    let size = std::ptr::without_provenance_mut::<c_void>(LOG_BYTES);
    let mut values = [log.as_mut_ptr().cast::<c_void>(), size];
    let mut raw = std::ptr::null_mut();
    // SAFETY: the context is current, and the image ends where its size says. There are two options
    // with their values, and the log has the size that is given.
    let result = unsafe {
        sys::cuModuleLoadDataEx(
            &raw mut raw,
            image.as_ptr().cast(),
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    check(result, "cuModuleLoadDataEx").map_err(|mut error| {
        let text = CStr::from_bytes_until_nul(&log).unwrap_or_default().to_string_lossy();
        if !text.trim().is_empty() {
            error.detail = format!("{}: {}", error.status.message(), text.trim());
        }
        error
    })?;
    Ok(raw)
}

fn name(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| DeviceError::new(Status::NotFound, format!("'{text}' holds a zero byte")))
}

fn not_found(name: &str) -> impl FnOnce(DeviceError) -> DeviceError {
    move |error| match error.status {
        Status::NotFound => DeviceError::new(Status::NotFound, format!("the module has no '{name}'")),
        _ => error,
    }
}

impl Function {
    fn attribute(&self, attribute: Attribute) -> Result<u32> {
        let mut value = 0;
        // SAFETY: the function's module is alive, and the pointer is valid for the call.
        let result = unsafe { sys::cuFuncGetAttribute(&raw mut value, attribute, self.raw) };
        check(result, "cuFuncGetAttribute")?;
        Ok(u32::try_from(value).unwrap_or(0))
    }

    /// Returns the declared parameters.
    fn parameters(&self) -> Result<Vec<ParameterInfo>> {
        let mut parameters = Vec::new();
        loop {
            let (mut offset, mut size) = (0, 0);
            // SAFETY: the function's module is alive, and the pointers are valid for the call.
            let result = unsafe {
                sys::cuFuncGetParamInfo(self.raw, parameters.len(), &raw mut offset, &raw mut size)
            };
            match result {
                // There is no parameter with this number.
                CUresult::CUDA_ERROR_INVALID_VALUE => return Ok(parameters),
                result => check(result, "cuFuncGetParamInfo")?,
            }
            parameters.push(ParameterInfo { offset: offset as u32, size: size as u32 });
        }
    }

    /// Allows launches of the function with `bytes` bytes of dynamic shared memory.
    fn allow_shared_memory(&self, bytes: u32) -> Result<()> {
        // Acquire: the driver's limit was raised before this value was stored.
        let is_allowed = || bytes <= self.shared_memory_bytes.load(Ordering::Acquire);
        if is_allowed() {
            return Ok(());
        }
        let _alone = self.asking.lock();
        if is_allowed() {
            return Ok(());
        }
        let attribute = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function's module is alive.
        let result = unsafe { sys::cuFuncSetAttribute(self.raw, attribute, bytes as i32) };
        check(result, "cuFuncSetAttribute")?;
        self.shared_memory_bytes.store(bytes, Ordering::Release);
        Ok(())
    }
}

impl Modules for GpuContext {
    fn load_module(&self, image: &[u8]) -> Result<Module> {
        let shared = self.bound()?;
        let raw = load(image).map_err(|error| shared.remember(error))?;
        Ok(Module(Arc::new(Loaded { shared: Arc::clone(&self.shared), raw })))
    }

    fn compile(&self, source: &str, options: &[String]) -> Result<Vec<u8>> {
        nvrtc::compile(source, options, self.shared.device)
    }

    fn function(&self, module: &Module, function: &str) -> Result<Function> {
        let shared = self.bound()?;
        let text = name(function)?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: the module is alive, the name ends in a zero, and the pointer is valid for the
        // call.
        let result = unsafe { sys::cuModuleGetFunction(&raw mut raw, module.0.raw, text.as_ptr()) };
        shared.check(result, "cuModuleGetFunction").map_err(not_found(function))?;
        let name = format!("the launch of '{function}'").into();
        let shared_memory_bytes = AtomicU32::new(SHARED_MEMORY_BYTES_ORDINARY);
        let function = Function {
            raw,
            name,
            shared_memory_bytes,
            asking: Mutex::default(),
            _module: Arc::clone(&module.0),
        };
        // The limit also covers the static shared memory that the function declares.
        let fixed = function.attribute(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
        function
            .shared_memory_bytes
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |bytes| Some(bytes.saturating_sub(fixed)))
            .unwrap_or_default();
        Ok(function)
    }

    fn global(&self, module: &Module, global: &str) -> Result<(u64, u64)> {
        let shared = self.bound()?;
        let text = name(global)?;
        let (mut address, mut bytes) = (0, 0);
        let text: *const c_char = text.as_ptr();
        // SAFETY: the module is alive, the name ends in a zero, and the pointers are valid for the
        // call.
        let result =
            unsafe { sys::cuModuleGetGlobal_v2(&raw mut address, &raw mut bytes, module.0.raw, text) };
        shared.check(result, "cuModuleGetGlobal").map_err(not_found(global))?;
        Ok((address, bytes as u64))
    }

    fn function_attributes(&self, function: &Function) -> Result<FunctionAttributes> {
        self.bound()?;
        Ok(FunctionAttributes {
            parameters: Some(function.parameters()?),
            threads_per_block_max: function.attribute(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            shared_memory_bytes: function.attribute(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            local_memory_bytes: function.attribute(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            constant_memory_bytes: function.attribute(Attribute::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES)?,
            registers: function.attribute(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
        })
    }

    fn occupancy(&self, function: &Function, threads: u32, shared_memory: u32) -> Result<u32> {
        let shared = self.bound()?;
        function.allow_shared_memory(shared_memory)?;
        let mut blocks = 0;
        // SAFETY: the function's module is alive, and the pointer is valid for the call.
        let result = unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &raw mut blocks,
                function.raw,
                threads as i32,
                shared_memory as usize,
            )
        };
        shared.check(result, "cuOccupancyMaxActiveBlocksPerMultiprocessor")?;
        Ok(u32::try_from(blocks).unwrap_or(0))
    }

    unsafe fn launch(
        &self,
        stream: &Stream,
        function: &Function,
        config: &LaunchConfig,
        parameters: PackedParameters<'_>,
    ) -> Result<()> {
        let shared = self.bound()?;
        function.allow_shared_memory(config.shared_memory_bytes)?;
        let mut attribute = CUlaunchAttribute {
            id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
            pad: [0; 4],
            value: CUlaunchAttributeValue { cooperative: 1 },
        };
        let launch = CUlaunchConfig {
            gridDimX: config.grid.x,
            gridDimY: config.grid.y,
            gridDimZ: config.grid.z,
            blockDimX: config.block.x,
            blockDimY: config.block.y,
            blockDimZ: config.block.z,
            sharedMemBytes: config.shared_memory_bytes,
            hStream: stream.raw(),
            attrs: &raw mut attribute,
            numAttrs: u32::from(config.cooperative),
        };
        with_pointers(parameters, |pointers| {
            // SAFETY: stream and function are alive. The caller vouches for the parameters, which
            // the driver copies: as many, and as large, as the function declares.
            let result = unsafe {
                sys::cuLaunchKernelEx(&raw const launch, function.raw, pointers, std::ptr::null_mut())
            };
            shared.check(result, "cuLaunchKernelEx")
        })?;
        shared.launches.add(stream.raw().addr(), &function.name);
        Ok(())
    }
}

/// Calls `launch` with an array of pointers to the parameters, which is on the stack for most
/// launches.
fn with_pointers<R>(parameters: PackedParameters<'_>, launch: impl FnOnce(*mut *mut c_void) -> R) -> R {
    // The driver only reads the parameters.
    let pointer = |&offset: &u32| parameters.bytes[offset as usize..].as_ptr().cast_mut().cast::<c_void>();
    if parameters.offsets.len() <= PARAMETERS_INLINE {
        let mut pointers = [std::ptr::null_mut(); PARAMETERS_INLINE];
        pointers.iter_mut().zip(parameters.offsets).for_each(|(place, offset)| *place = pointer(offset));
        launch(pointers.as_mut_ptr())
    } else {
        launch(parameters.offsets.iter().map(pointer).collect::<Vec<_>>().as_mut_ptr())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_gets_its_end() {
        assert_eq!(*checked_image(b".version 9.0").unwrap(), *b".version 9.0\0");
        assert_eq!(*checked_image(b".version 9.0\0").unwrap(), *b".version 9.0\0");
    }

    /// Returns an ELF file with one section of data.
    fn elf() -> Vec<u8> {
        let mut image = vec![0u8; 64 + 64 + 16];
        image[..6].copy_from_slice(b"\x7fELF\x02\x01");
        image[0x28] = 64; // section table
        image[0x3a] = 64;
        image[0x3c] = 1;
        image[64 + 4] = 1; // PROGBITS
        image[64 + 0x18] = 128;
        image[64 + 0x20] = 16;
        image
    }

    #[test]
    fn binaries_that_end_early_are_refused() {
        let whole = elf();
        assert!(checked_image(&whole).is_ok());
        for length in 4..whole.len() {
            let error = checked_image(&whole[..length]).unwrap_err();
            assert_eq!(error.status, Status::InvalidImage, "{length}");
        }
        let mut fat = vec![0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0];
        fat.extend(8u64.to_le_bytes());
        assert!(checked_image(&fat).is_err());
        fat.extend([0; 8]);
        assert!(checked_image(&fat).is_ok());
    }

    #[test]
    fn pointers_follow_offsets() {
        let bytes: Vec<u8> = (0..=255).collect();
        for count in [0, 1, PARAMETERS_INLINE, PARAMETERS_INLINE + 1] {
            let offsets: Vec<u32> = (0..count as u32).map(|n| n * 4).collect();
            with_pointers(PackedParameters { bytes: &bytes, offsets: &offsets, buffers: &[] }, |pointers| {
                for (index, &offset) in offsets.iter().enumerate() {
                    // SAFETY: there are as many pointers as offsets, and each points into `bytes`.
                    let byte = unsafe { *(*pointers.add(index)).cast::<u8>() };
                    assert_eq!(u32::from(byte), offset);
                }
            });
        }
    }
}
