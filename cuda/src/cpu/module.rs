//! Modules of the CPU devices: PTX, executed by `tfrt-ptx`.

use super::context::CpuContext;
use super::memory::Allocation;
use super::stream::Stream;
use crate::error::{DeviceError, Result, Status};
use crate::hal::{FunctionAttributes, LaunchConfig, Modules, PackedParameters};

/// Device memory as PTX sees it.
#[derive(Default)]
pub(super) struct PtxMemory;

impl PtxMemory {
    pub(super) fn register(&self, _allocation: &Allocation) -> Result<()> {
        Ok(())
    }

    pub(super) fn unregister(&self, _allocation: &Allocation) {}
}

/// A loaded module.
pub(crate) struct Module;

/// A function of a module.
pub(crate) struct Function;

fn unsupported() -> DeviceError {
    DeviceError::new(Status::NotSupported, "PTX")
}

#[expect(unsafe_code, reason = "the launch's contract")]
impl Modules for CpuContext {
    fn load_module(&self, _image: &[u8]) -> Result<Module> {
        Err(unsupported())
    }
    fn compile(&self, _source: &str, _options: &[String]) -> Result<Vec<u8>> {
        Err(unsupported())
    }
    fn function(&self, _module: &Module, _name: &str) -> Result<Function> {
        Err(unsupported())
    }
    fn global(&self, _module: &Module, _name: &str) -> Result<(u64, u64)> {
        Err(unsupported())
    }
    fn function_attributes(&self, _function: &Function) -> Result<FunctionAttributes> {
        Err(unsupported())
    }
    fn occupancy(&self, _function: &Function, _threads: u32, _shared: u32) -> Result<u32> {
        Err(unsupported())
    }
    unsafe fn launch(
        &self,
        _stream: &Stream,
        _function: &Function,
        _config: &LaunchConfig,
        _parameters: PackedParameters<'_>,
    ) -> Result<()> {
        Err(unsupported())
    }
}
