//! Compiles CUDA C++ at run time.

#![expect(unsafe_code, reason = "calls of NVRTC's C interface")]

use std::ffi::{CString, c_char, c_int};

use cudarc::driver::sys::{CUdevice, CUdevice_attribute as Attribute};
use cudarc::nvrtc::sys::nvrtcProgram;
use tfrt_device::error::{DeviceError, Result, Status};

use super::device::attribute;
use super::libraries::{LibrarySpec, library};

const SPEC: LibrarySpec = LibrarySpec {
    name: "NVRTC",
    files: &["libnvrtc.so.13", "libnvrtc.so"],
    companions: &["libnvrtc-builtins.so.13"],
    missing: Status::NvrtcNotFound,
};

library! {
    /// NVRTC.
    Nvrtc, SPEC;
    fn nvrtcCreateProgram(program: *mut nvrtcProgram, source: *const c_char, name: *const c_char, headers: c_int,
        header_sources: *const *const c_char, header_names: *const *const c_char);
    fn nvrtcDestroyProgram(program: *mut nvrtcProgram);
    fn nvrtcCompileProgram(program: nvrtcProgram, options: c_int, option: *const *const c_char);
    fn nvrtcGetProgramLogSize(program: nvrtcProgram, size: *mut usize);
    fn nvrtcGetProgramLog(program: nvrtcProgram, log: *mut c_char);
    fn nvrtcGetPTXSize(program: nvrtcProgram, size: *mut usize);
    fn nvrtcGetPTX(program: nvrtcProgram, ptx: *mut c_char);
    fn nvrtcGetCUBINSize(program: nvrtcProgram, size: *mut usize);
    fn nvrtcGetCUBIN(program: nvrtcProgram, cubin: *mut c_char);
}

const SUCCESS: c_int = 0;
const ERROR_COMPILATION: c_int = 6;

/// Finds the library.
pub(super) fn find() -> Result<()> {
    Nvrtc::get().map(|_| ())
}

/// Compiles for the device, unless the options name another architecture.
pub(super) fn compile(source: &str, options: &[String], device: CUdevice) -> Result<Vec<u8>> {
    let named = options.iter().any(|o| o.starts_with("--gpu-architecture") || o.starts_with("-arch"));
    if named {
        return compile_for(source, options, None);
    }
    let major = attribute(device, Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = attribute(device, Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    compile_for(source, options, Some((major, minor)))
}

/// Compiles to PTX that runs on every supported device, unless the options name another
/// architecture.
pub(super) fn compile_ptx(source: &str, options: &[String]) -> Result<Vec<u8>> {
    let named = options.iter().any(|o| o.starts_with("--gpu-architecture") || o.starts_with("-arch"));
    let portable = (!named).then(|| "--gpu-architecture=compute_80".to_owned());
    let all: Vec<String> = portable.into_iter().chain(options.iter().cloned()).collect();
    compile_for(source, &all, None)
}

/// Compiles to a binary for this architecture, or to whatever the options request.
fn compile_for(source: &str, options: &[String], architecture: Option<(u32, u32)>) -> Result<Vec<u8>> {
    let library = Nvrtc::get()?;
    let own = architecture.map(|(major, minor)| format!("--gpu-architecture=sm_{major}{minor}"));
    let all: Vec<CString> = own.iter().chain(options).map(|option| c_text(option)).collect::<Result<_>>()?;
    let pointers: Vec<_> = all.iter().map(|option| option.as_ptr()).collect();
    let program = Program::new(library, source)?;
    // SAFETY: the program is alive, and the count is that of the options, each of which has a final
    // zero.
    let status =
        unsafe { (library.nvrtcCompileProgram)(program.raw, pointers.len() as c_int, pointers.as_ptr()) };
    if status != SUCCESS {
        let log =
            program.output(library.nvrtcGetProgramLogSize, library.nvrtcGetProgramLog).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let log = log.trim_end_matches('\0').trim();
        return Err(match status {
            ERROR_COMPILATION => DeviceError::new(Status::NvrtcCompilation, log),
            status => {
                let text = format!("NVRTC answers {status} for the options {all:?}: {log}");
                DeviceError::new(Status::NvrtcCompilation, text)
            }
        });
    }
    let cubin = program.output(library.nvrtcGetCUBINSize, library.nvrtcGetCUBIN)?;
    // There is no binary if the options name a virtual architecture.
    if cubin.is_empty() { program.output(library.nvrtcGetPTXSize, library.nvrtcGetPTX) } else { Ok(cubin) }
}

fn c_text(text: &str) -> Result<CString> {
    CString::new(text)
        .map_err(|_| DeviceError::new(Status::NvrtcCompilation, "source and options may not hold zero bytes"))
}

/// A program of NVRTC.
struct Program {
    library: &'static Nvrtc,
    raw: nvrtcProgram,
}

type Size = unsafe extern "C" fn(nvrtcProgram, *mut usize) -> c_int;
type Output = unsafe extern "C" fn(nvrtcProgram, *mut c_char) -> c_int;

impl Program {
    fn new(library: &'static Nvrtc, source: &str) -> Result<Self> {
        let source = c_text(source)?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: source and name end in zeros, there are no headers, and the pointer is valid for
        // the call.
        let status = unsafe {
            (library.nvrtcCreateProgram)(
                &raw mut raw,
                source.as_ptr(),
                c"program.cu".as_ptr(),
                0,
                std::ptr::null(),
                std::ptr::null(),
            )
        };
        checked(status, "nvrtcCreateProgram")?;
        Ok(Self { library, raw })
    }

    /// Returns an output of the program, by its size and then its bytes.
    fn output(&self, size: Size, output: Output) -> Result<Vec<u8>> {
        let mut bytes = 0;
        // SAFETY: the program is alive, and the pointer is valid for the call.
        checked(unsafe { size(self.raw, &raw mut bytes) }, "nvrtcGetSize")?;
        let mut buffer = vec![0u8; bytes];
        if bytes > 0 {
            // SAFETY: the program is alive, and the buffer has the size that the library returned.
            checked(unsafe { output(self.raw, buffer.as_mut_ptr().cast()) }, "nvrtcGet")?;
        }
        Ok(buffer)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: the program is alive and this is its only owner.
        let _ = unsafe { (self.library.nvrtcDestroyProgram)(&raw mut self.raw) };
    }
}

fn checked(status: c_int, call: &str) -> Result<()> {
    if status == SUCCESS {
        return Ok(());
    }
    Err(DeviceError::new(Status::NvrtcCompilation, format!("{call} answers {status}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::libraries::{PATH_VARIABLE, REQUIRED_VARIABLE, is_installed};

    /// Runs where NVRTC is installed, which needs no GPU.
    #[test]
    fn sources_compile_or_the_error_says_why() {
        let found = Nvrtc::get();
        if !is_installed(&found, &SPEC) {
            return;
        }
        let source = r#"extern "C" __global__ void twice(float *x) { x[threadIdx.x] *= 2; }"#;
        let options = |arch: &str| vec![format!("--gpu-architecture={arch}")];
        let ptx = String::from_utf8(compile_for(source, &options("compute_75"), None).unwrap()).unwrap();
        assert!(ptx.contains(".target sm_75") && ptx.contains(".entry twice"), "{ptx}");
        let portable = String::from_utf8(compile_ptx(source, &[]).unwrap()).unwrap();
        assert!(portable.contains(".target sm_80"), "{portable}");
        let cubin = compile_for(source, &[], Some((9, 0))).unwrap();
        assert!(cubin.starts_with(b"\x7fELF"));
        let error = compile_for("__global__ void broken( {", &options("compute_75"), None).unwrap_err();
        assert_eq!(error.status, Status::NvrtcCompilation);
        assert!(error.detail.contains("program.cu(1): error"), "{error}");
        let error = compile_for(source, &options("compute_1"), None).unwrap_err();
        assert!(error.detail.contains("compute_1"), "{error}");
    }

    /// Runs where NVIDIA's packages are installed: compiles the runtime's CUDA sources to binaries
    /// for an old and a new device.
    #[test]
    fn sources_of_the_runtime_compile() {
        if std::env::var_os(REQUIRED_VARIABLE).is_none() {
            return;
        }
        let packages = std::path::PathBuf::from(std::env::var_os(PATH_VARIABLE).unwrap());
        let headers = packages.join("nvidia/cu13/include");
        let sources = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../launch/cuda");
        let include = |folder: &std::path::Path| format!("--include-path={}", folder.display());
        let mut options = vec!["--std=c++17".to_owned(), "--device-int128".to_owned()];
        options.extend([include(&headers), include(&headers.join("crt")), include(&sources)]);
        let files = std::fs::read_dir(&sources).unwrap().map(|file| file.unwrap().path());
        let files: Vec<_> = files.filter(|path| path.extension().is_some_and(|e| e == "cu")).collect();
        assert!(!files.is_empty());
        for path in files {
            let source = std::fs::read_to_string(&path).unwrap();
            // The second line of a source may request further options.
            let own = source.lines().nth(1).and_then(|line| line.strip_prefix("// options: "));
            let own = own.into_iter().flat_map(str::split_whitespace).map(str::to_owned);
            let options: Vec<_> = options.iter().cloned().chain(own).collect();
            for architecture in [(8, 0), (10, 0)] {
                let binary = compile_for(&source, &options, Some(architecture))
                    .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                assert!(binary.starts_with(b"\x7fELF"));
            }
        }
    }
}
