//! A loaded program, and what a call of one of its kernels sees.
//!
//! A program's parts refer to each other by type, and so do these modules: a [`Plan`] holds
//! kernels, a kernel is called with a [`KernelFrame`], a frame has an
//! [`ExecutionContext`](crate::ExecutionContext), and a context keeps the program. How Rust
//! functions become kernels (`kernel`) and how files become programs (`load`) build on this and are
//! unknown here.

mod frame;
mod plan;

use std::{collections::HashMap, fmt, sync::Arc};

pub use frame::{KernelFn, KernelFrame, NativeFn};
pub(crate) use frame::{RegisterFile, ScalarFn, ScalarFrame};
pub(crate) use plan::{AttributeCell, Body, Dispatch, NewStep, Operand, Plan, Step};
use tfrt_bef::{FunctionKind, VerifiedBef};

use crate::diagnostic::SourceLocation;

/// A program ready to run.
pub struct BefFile {
    bef: VerifiedBef,
    bodies: Vec<Body>,
    by_name: HashMap<String, u32>,
}

/// A function of a loaded program.
#[derive(Clone, Copy)]
pub struct FunctionRef<'f> {
    program: &'f Arc<BefFile>,
    index: u32,
}

/// A function that keeps its program alive.
#[derive(Clone, Debug)]
pub struct Function {
    program: Arc<BefFile>,
    index: u32,
}

impl BefFile {
    /// A program of planned functions, in the order of the file.
    pub(crate) fn new(bef: VerifiedBef, bodies: Vec<Body>) -> Arc<Self> {
        let named = bef.functions().iter().enumerate().filter(|(_, info)| !info.name.is_empty());
        let by_name = named.map(|(index, info)| (info.name.to_string(), index as u32)).collect();
        Arc::new(Self { bef, bodies, by_name })
    }

    /// The file behind the program.
    pub fn bef(&self) -> &VerifiedBef {
        &self.bef
    }

    /// The function of this name.
    pub fn function<'f>(self: &'f Arc<Self>, name: &str) -> Option<FunctionRef<'f>> {
        self.by_name.get(name).map(|&index| FunctionRef::new(self, index))
    }

    /// All functions in file order, nested ones included (they have no name).
    pub fn functions<'f>(self: &'f Arc<Self>) -> impl ExactSizeIterator<Item = FunctionRef<'f>> {
        (0..self.bodies.len()).map(|index| FunctionRef::new(self, index as u32))
    }

    pub(crate) fn source_location(&self, offset: u32) -> Option<SourceLocation> {
        source_location(&self.bef, offset)
    }

    pub(crate) fn kernel_name(&self, kernel: u32) -> Option<&str> {
        ((kernel as usize) < self.bef.kernel_count()).then(|| self.bef.kernel_name(kernel as usize))
    }
}

/// Returns the source location at an offset of the file's positions, if the file says.
pub(crate) fn source_location(bef: &VerifiedBef, offset: u32) -> Option<SourceLocation> {
    let location = bef.location(offset)?;
    (!location.file.is_empty()).then(|| SourceLocation {
        file: location.file.into(),
        line: location.line,
        column: location.column,
    })
}

impl<'f> FunctionRef<'f> {
    pub(crate) fn new(program: &'f Arc<BefFile>, index: u32) -> Self {
        Self { program, index }
    }

    /// The function's name; empty for a nested one.
    pub fn name(&self) -> &'f str {
        &self.info().name
    }

    /// MLIR spellings of the argument types.
    pub fn argument_types(&self) -> impl ExactSizeIterator<Item = &'f str> + use<'f> {
        let bef = &self.program.bef;
        self.info().argument_types.iter().map(|&index| bef.type_name(index as usize))
    }

    /// MLIR spellings of the result types.
    pub fn result_types(&self) -> impl ExactSizeIterator<Item = &'f str> + use<'f> {
        let bef = &self.program.bef;
        self.info().result_types.iter().map(|&index| bef.type_name(index as usize))
    }

    /// How the function runs.
    pub fn kind(&self) -> FunctionKind {
        self.info().kind
    }

    /// A handle that keeps the program alive.
    pub fn to_function(self) -> Function {
        Function { program: self.program.clone(), index: self.index }
    }

    /// The program the function belongs to.
    pub fn program(&self) -> &'f Arc<BefFile> {
        self.program
    }

    pub(crate) fn index(&self) -> u32 {
        self.index
    }

    fn info(&self) -> &'f tfrt_bef::FunctionInfo {
        &self.program.bef.functions()[self.index as usize]
    }

    pub(crate) fn body(&self) -> &'f Body {
        &self.program.bodies[self.index as usize]
    }
}

impl Function {
    /// The function, borrowed.
    pub fn as_ref(&self) -> FunctionRef<'_> {
        FunctionRef::new(&self.program, self.index)
    }
}

impl fmt::Debug for BefFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BefFile({} functions, {} kernels)", self.bodies.len(), self.bef.kernel_count())
    }
}

impl fmt::Debug for FunctionRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "function '{}'", self.name())
    }
}
