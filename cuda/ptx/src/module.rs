//! Loaded modules: their kernels, and the storage of their variables.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::Errors;
use crate::code::{self, Addresses, Outline};
use crate::error::ErrorSink;
use crate::exec::address::{AccessSpace, code_address};
use crate::exec::memory::{Allocation, Memory, MemoryError};
use crate::exec::program::Program;
use crate::exec::{Dim3, Params};
use crate::syntax::ast::{self, FunctionId, Limits, ParameterStorage, Relocation, Symbol, VariableId};
use crate::syntax::types::{Linkage, Space, Type};

/// The most bytes of a module's variables.
const MAX_VARIABLE_BYTES: u64 = 1 << 32;

/// The most instructions of the functions that kernels may call. A function counts once per kernel.
const MAX_CALLED_LENGTH: usize = 1 << 23;

/// A loaded module. Clones are cheap and share it.
#[derive(Clone)]
pub struct Module {
    inner: Arc<Inner>,
}

struct Inner {
    functions: Vec<Function>,
    globals: Vec<(String, Global)>,
    storage: Vec<Arc<Allocation>>,
    variables: Memory,
}

/// A variable at module scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Global {
    /// The device address.
    pub address: u64,
    /// The size in bytes.
    pub bytes: u64,
}

/// A kernel of a module. Clones are cheap; each keeps the module's variables alive.
#[derive(Clone)]
pub struct Function {
    inner: Arc<Kernel>,
}

struct Kernel {
    program: Program,
    parameters: Vec<Parameter>,
    limits: Limits,
    storage: Vec<Arc<Allocation>>,
}

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name.
    pub name: String,
    /// The type; for an array or a struct, the type of its elements.
    pub ty: Type,
    /// The alignment in bytes.
    pub align: u32,
    /// The size in bytes.
    pub bytes: u64,
    /// The offset in bytes from the first parameter.
    pub offset: u64,
}

/// The error for a kernel that a module does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFunction {
    /// The name that was asked for.
    pub name: String,
    /// The kernels of the module.
    pub known: Vec<String>,
}

impl fmt::Display for UnknownFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = if self.known.is_empty() { "none" } else { &self.known.join(", ") };
        write!(f, "the module has no kernel {}; it has {known}", self.name)
    }
}

impl std::error::Error for UnknownFunction {}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module")
            .field("functions", &self.functions().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function").field("name", &self.name()).finish_non_exhaustive()
    }
}

impl Module {
    /// Parses, checks and translates a module.
    ///
    /// # Errors
    /// All errors of the text, each with its line: what [`syntax::parse`](crate::syntax::parse)
    /// finds, and instructions that are unknown or have unsuitable operands.
    pub fn parse(text: &str) -> Result<Module, Errors> {
        Self::load(text, MAX_CALLED_LENGTH)
    }

    /// Does the same as [`Module::parse`], but all kernels together may call at most `budget`
    /// instructions.
    fn load(text: &str, mut budget: usize) -> Result<Module, Errors> {
        let tree = crate::syntax::parse(text)?;
        let mut errors = ErrorSink::default();
        let (storage, addresses, globals) = place_variables(&tree, &mut errors);
        let outline = Arc::new(Outline::new(&tree, addresses));
        let mut functions = Vec::new();
        for (index, function) in tree.functions.iter().enumerate() {
            let id = FunctionId(index as u32);
            if function.body.is_none() {
                continue;
            }
            if function.is_entry {
                let program = code::translate(&tree, id, &outline, &mut budget, &mut errors);
                functions.push((function, program));
            } else {
                code::check_function(&tree, id, &outline, &mut errors);
            }
        }
        errors.finish(())?;
        let variables = Memory::new();
        variables.attach(&storage);
        let functions =
            functions.into_iter().map(|(f, program)| Function::new(f, program, &storage)).collect();
        Ok(Module { inner: Arc::new(Inner { functions, globals, storage, variables }) })
    }

    /// Iterates over the names of the kernels in the order of the text.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        self.inner.functions.iter().map(Function::name)
    }

    /// Returns a kernel by its name.
    ///
    /// # Errors
    /// [`UnknownFunction`], which lists the kernels of the module.
    pub fn function(&self, name: &str) -> Result<Function, UnknownFunction> {
        let found = self.inner.functions.iter().find(|function| function.name() == name);
        let known = || self.functions().map(str::to_owned).collect();
        found.cloned().ok_or_else(|| UnknownFunction { name: name.to_owned(), known: known() })
    }

    /// Returns a `.global` or `.const` variable at module scope.
    pub fn global(&self, name: &str) -> Option<Global> {
        self.inner.globals.iter().find(|(known, _)| known == name).map(|(_, global)| *global)
    }

    /// Adds the module's variables to a memory, where they can be read and written by their
    /// addresses. A launch does that as well.
    pub fn attach(&self, memory: &Memory) {
        memory.attach(&self.inner.storage);
    }

    /// Removes the module's variables from a memory.
    pub fn detach(&self, memory: &Memory) {
        memory.detach(&self.inner.storage);
    }

    /// Copies `bytes` to a variable, from `address` on.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] if the range is not inside a variable of this module.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        self.inner.variables.write(address, bytes)
    }

    /// Copies from a variable to `bytes`.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] if the range is not inside a variable of this module.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), MemoryError> {
        self.inner.variables.read(address, bytes)
    }
}

impl Function {
    fn new(function: &ast::Function<'_>, program: Program, storage: &[Arc<Allocation>]) -> Function {
        let places = code::parameter_places(function);
        let parameter = |(parameter, (offset, bytes)): (&ast::Parameter<'_>, (u32, u32))| {
            let (ty, align) = match parameter.storage {
                ParameterStorage::Memory(layout) => (layout.element, layout.align),
                ParameterStorage::Register(ty, _) => (ty, ty.bytes()),
            };
            Parameter {
                name: parameter.name.to_owned(),
                ty,
                align,
                bytes: bytes.into(),
                offset: offset.into(),
            }
        };
        let parameters = function.signature.parameters.iter().zip(places).map(parameter).collect();
        let kernel = Kernel { program, parameters, limits: function.limits, storage: storage.to_vec() };
        Function { inner: Arc::new(kernel) }
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner.program.name
    }

    /// Returns the parameters in order.
    #[must_use]
    pub fn parameters(&self) -> &[Parameter] {
        &self.inner.parameters
    }

    /// Returns the largest number of threads of a block.
    #[must_use]
    pub fn max_threads(&self) -> u32 {
        let limits = self.inner.limits;
        let limit =
            limits.required_threads.or(limits.max_threads).map(|threads| Dim3::from(threads).volume());
        limit.unwrap_or(1024).min(1024) as u32
    }

    /// Returns the bytes of static shared memory of a block.
    #[must_use]
    pub fn shared_bytes(&self) -> u32 {
        self.inner.program.shared_bytes
    }

    /// Returns the bytes of local memory of a thread.
    #[must_use]
    pub fn local_bytes(&self) -> u32 {
        self.inner.program.functions[0].local_bytes
    }

    /// Returns the number of 32-bit registers that the text uses. A compiler for a GPU needs fewer,
    /// because it shares registers between values.
    #[must_use]
    pub fn registers(&self) -> u32 {
        self.inner.program.functions[0].registers
    }

    pub(crate) fn program(&self) -> &Program {
        &self.inner.program
    }

    pub(crate) fn limits(&self) -> Limits {
        self.inner.limits
    }

    /// Adds the module's variables to a memory.
    pub(crate) fn attach(&self, memory: &Memory) {
        if !self.inner.storage.is_empty() {
            memory.attach(&self.inner.storage);
        }
    }

    /// Returns the bytes of the parameters in the kernel's layout, as 16-byte words.
    pub(crate) fn param_bank(&self, params: &Params) -> Result<Vec<u128>, String> {
        let expected = &self.inner.parameters;
        let given = params.iter().count();
        if given != expected.len() {
            return Err(format!("{given} parameters where {} are needed", expected.len()));
        }
        let mut bank = vec![0u128; (self.inner.program.param_bytes as usize).div_ceil(16)];
        for (value, parameter) in params.iter().zip(expected) {
            if value.len() as u64 != parameter.bytes {
                let Parameter { name, bytes, .. } = parameter;
                return Err(format!("{} bytes for parameter {name}, which has {bytes}", value.len()));
            }
            for (&byte, at) in value.iter().zip(parameter.offset..) {
                bank[at as usize / 16] |= u128::from(byte) << (8 * (at % 16));
            }
        }
        // The kernel reads the bank byte by byte in memory order.
        Ok(bank.into_iter().map(u128::to_le).collect())
    }

    /// Returns the same for bytes that are already laid out.
    pub(crate) fn packed_bank(&self, bytes: &[u8]) -> Result<Vec<u128>, String> {
        let end = self.inner.parameters.last().map_or(0, |last| last.offset + last.bytes);
        if bytes.len() as u64 != end {
            return Err(format!("{} bytes of parameters where {end} are needed", bytes.len()));
        }
        let word = |bytes: &[u8]| {
            let mut word = [0; 16];
            word[..bytes.len()].copy_from_slice(bytes);
            u128::from_ne_bytes(word)
        };
        let mut bank: Vec<u128> = bytes.chunks(16).map(word).collect();
        bank.resize((self.inner.program.param_bytes as usize).div_ceil(16), 0);
        Ok(bank)
    }
}

type Globals = Vec<(String, Global)>;

/// Allocates a module's variables and sets their initial values.
fn place_variables(
    tree: &ast::Module<'_>,
    errors: &mut ErrorSink,
) -> (Vec<Arc<Allocation>>, Addresses, Globals) {
    let mut storage = Vec::new();
    let mut addresses: Addresses = HashMap::new();
    let mut globals = Vec::new();
    let mut total = 0u64;
    for (index, variable) in tree.variables.iter().enumerate() {
        let lives = matches!(variable.space, Space::Global | Space::Const);
        if !lives || variable.linkage == Linkage::Extern {
            continue;
        }
        let bytes = variable.layout.bytes();
        total = total.saturating_add(bytes);
        if total > MAX_VARIABLE_BYTES {
            errors.add(variable.span, format!("variables take more than {MAX_VARIABLE_BYTES} bytes"));
            break;
        }
        let label = format!("variable {}", variable.name);
        match Allocation::new(bytes, variable.space == Space::Const, label) {
            Ok(allocation) => {
                let global = Global { address: allocation.base, bytes };
                addresses.insert(VariableId(index as u32), allocation.base);
                if variable.function.is_none() {
                    globals.push((variable.name.to_owned(), global));
                }
                storage.push(Arc::new(allocation));
            }
            Err(error) => errors.add(variable.span, error.to_string()),
        }
    }
    let memory = Memory::new();
    memory.attach(&storage);
    for (index, variable) in tree.variables.iter().enumerate() {
        let id = VariableId(index as u32);
        let (Some(initializer), Some(&address)) = (&variable.initializer, addresses.get(&id)) else {
            continue;
        };
        let mut bytes = initializer.bytes.clone();
        for relocation in &initializer.relocations {
            if let Err(reason) = relocate(tree, &addresses, relocation, &mut bytes, variable.layout.bytes()) {
                errors.add(variable.span, format!("variable {}: {reason}", variable.name));
            }
        }
        if let Err(error) = memory.write(address, &bytes) {
            errors.add(variable.span, error.to_string());
        }
    }
    (storage, addresses, globals)
}

fn relocate(
    tree: &ast::Module<'_>,
    addresses: &Addresses,
    relocation: &Relocation,
    bytes: &mut Vec<u8>,
    size: u64,
) -> Result<(), String> {
    let base = match relocation.symbol {
        Symbol::Function(id) => code_address(tree.definition(id).0),
        Symbol::Variable(id) => match tree.variables[id.index()].space {
            Space::Global | Space::Const => {
                *addresses.get(&id).ok_or("the address of a variable that is defined in no module at hand")?
            }
            Space::Shared if relocation.generic => AccessSpace::Shared.window(),
            _ => return Err("the address of a variable that differs between threads or blocks".into()),
        },
        Symbol::Parameter(_) | Symbol::Return(_) => return Err("the address of a parameter".into()),
    };
    let value = base.wrapping_add_signed(relocation.addend) & relocation.mask;
    let value = value.checked_shr(relocation.mask.trailing_zeros()).unwrap_or(0);
    let (start, count) = (relocation.offset as usize, relocation.bytes as usize);
    if relocation.offset + u64::from(relocation.bytes) > size || count > 8 {
        return Err("an address beyond the end of the variable".into());
    }
    if bytes.len() < start + count {
        bytes.resize(start + count, 0);
    }
    bytes[start..start + count].copy_from_slice(&value.to_le_bytes()[..count]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A long chain of functions that many kernels call would take memory for each kernel.
    #[test]
    fn kernels_that_call_too_much() {
        let chain: String = (1..20).map(|i| format!(".func f{i}() {{ call f{}; ret; }}\n", i - 1)).collect();
        let kernels: String = (0..20).map(|i| format!(".entry k{i}() {{ call f19; ret; }}\n")).collect();
        let head = ".version 8.0\n.target sm_80\n.address_size 64\n";
        let text = format!("{head}.func f0() {{ ret; }}\n{chain}{kernels}");
        let errors = Module::load(&text, 500).expect_err("it is too much").to_string();
        assert!(errors.contains("the kernels of this module together call too much code"), "{errors}");
        assert_eq!(Module::load(&text, 5000).expect("it is not").functions().count(), 20);
    }
}
