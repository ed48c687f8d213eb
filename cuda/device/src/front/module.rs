//! Modules and their functions.

use std::fmt;
use std::sync::Arc;

use super::Owned;
use super::buffer::DeviceBuffer;
use super::context::{Context, Counted};
use crate::error::{DeviceError, Result, Status};
use crate::hal::{Erased, FunctionAttributes, ParameterInfo, ReleasedOnDrop};

/// A loaded module. Clones share it.
#[derive(Clone)]
pub struct Module(Arc<Inner>);

struct Inner {
    hal: ReleasedOnDrop<Erased>,
    counted: Counted,
}

/// A function of a module. It keeps the module loaded. Clones share it.
#[derive(Clone)]
pub struct Function(Arc<FunctionInner>);

struct FunctionInner {
    hal: Erased,
    name: String,
    attributes: FunctionAttributes,
    layout: Option<Layout>,
    module: Module,
}

/// The layout of a function's parameters, if the driver reports it.
pub(super) struct Layout {
    /// The offset of each parameter.
    pub(super) offsets: Box<[u32]>,
    /// The end of the last parameter, in bytes.
    pub(super) bytes: usize,
}

impl Layout {
    fn new(parameters: &[ParameterInfo]) -> Self {
        let end = |parameter: &ParameterInfo| parameter.offset as usize + parameter.size as usize;
        Self {
            offsets: parameters.iter().map(|parameter| parameter.offset).collect(),
            bytes: parameters.iter().map(end).max().unwrap_or(0),
        }
    }
}

impl Module {
    /// Returns a number that identifies the module.
    pub(super) fn handle(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}

impl Owned for Module {
    const KIND: &'static str = "module";

    fn context(&self) -> &Context {
        self.0.counted.context()
    }
}

impl Owned for Function {
    const KIND: &'static str = "function";

    fn context(&self) -> &Context {
        self.0.module.context()
    }
}

/// Checks the kind of an image by its first bytes.
fn check_image(image: &[u8]) -> Result<()> {
    const ELF: &[u8] = b"\x7fELF";
    const FAT_BINARY: &[u8] = &0xba55_ed50_u32.to_le_bytes();
    if image.starts_with(ELF) || image.starts_with(FAT_BINARY) {
        return Ok(());
    }
    // PTX begins with comments and `.version`.
    let is_ptx = std::str::from_utf8(image).is_ok_and(|text| text.contains(".version"));
    if is_ptx {
        return Ok(());
    }
    Err(DeviceError::new(Status::InvalidImage, "device kernel image is invalid: neither PTX nor a binary"))
}

impl Context {
    /// Loads a module from PTX (text, with or without a final zero) or from a binary for the
    /// device.
    ///
    /// # Errors
    /// `InvalidImage`, `InvalidPtx` with the compiler's log, `NoBinaryForGpu`, or the device's
    /// error.
    pub fn load_module(&self, image: &[u8]) -> Result<Module> {
        check_image(image)?;
        let hal = self.owned(self.hal().load_module(image)?);
        Ok(Module(Arc::new(Inner { hal, counted: Counted::new(self, |live| &live.modules) })))
    }

    /// Compiles CUDA C++ to an image for this device.
    ///
    /// # Errors
    /// `NvrtcNotFound` with what was looked for, or `NvrtcCompilation` with the compiler's log.
    pub fn compile(&self, source: &str, options: &[String]) -> Result<Vec<u8>> {
        self.hal().compile(source, options)
    }
}

impl Module {
    /// Returns its context.
    pub fn context(&self) -> &Context {
        Owned::context(self)
    }

    /// Returns the function of this name.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn function(&self, name: &str) -> Result<Function> {
        let hal = self.context().hal().function(&self.0.hal, name)?;
        let attributes = self.context().hal().function_attributes(&hal)?;
        let layout = attributes.parameters.as_deref().map(Layout::new);
        let inner = FunctionInner { hal, name: name.to_owned(), attributes, layout, module: self.clone() };
        Ok(Function(Arc::new(inner)))
    }

    /// Returns a `.global` or `.const` variable as a buffer. A launch reads constant memory as it
    /// was when the launch began, provided that the streams order the two.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn global(&self, name: &str) -> Result<DeviceBuffer> {
        let (address, bytes) = self.context().hal().global(&self.0.hal, name)?;
        Ok(DeviceBuffer::of_variable(self, address, bytes))
    }
}

impl Function {
    /// Returns its context.
    pub fn context(&self) -> &Context {
        Owned::context(self)
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns its attributes.
    pub fn attributes(&self) -> &FunctionAttributes {
        &self.0.attributes
    }

    /// Returns its parameters and their layout, if the driver reports them.
    pub(super) fn declared(&self) -> Option<(&[ParameterInfo], &Layout)> {
        self.0.attributes.parameters.as_deref().zip(self.0.layout.as_ref())
    }

    /// Returns its module.
    pub fn module(&self) -> &Module {
        &self.0.module
    }

    pub(super) fn hal(&self) -> &Erased {
        &self.0.hal
    }

    /// Returns how many blocks of `threads` threads, with this much dynamic shared memory, are
    /// resident on one multiprocessor at a time.
    ///
    /// # Errors
    /// Any error of the device.
    pub fn occupancy(&self, threads: u32, shared_memory_bytes: u32) -> Result<u32> {
        if threads == 0 {
            return Err(DeviceError::invalid_value("a block has at least one thread"));
        }
        self.context().hal().occupancy(&self.0.hal, threads, shared_memory_bytes)
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("module")
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "function {}", self.0.name)
    }
}
