//! The placement of variables: addresses of module variables, and offsets of shared variables,
//! local variables and parameters.

use std::collections::HashMap;
use std::sync::Arc;

use crate::syntax::ast::{Function, FunctionId, Module, Parameter, ParameterStorage, VariableId};
use crate::syntax::types::Space;

/// The addresses of a module's `.global` and `.const` variables.
pub(crate) type Addresses = HashMap<VariableId, u64>;

/// Places ranges of bytes one after another.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Packer {
    pub(super) end: u64,
}

impl Packer {
    pub(super) fn place(&mut self, bytes: u64, align: u32) -> u64 {
        let at = self.end.next_multiple_of(u64::from(align.max(1)));
        self.end = at + bytes;
        at
    }
}

/// Returns the size and alignment of a parameter, in bytes.
pub(crate) fn parameter_size(parameter: &Parameter<'_>) -> (u64, u32) {
    match parameter.storage {
        ParameterStorage::Memory(layout) => (layout.bytes(), layout.align),
        ParameterStorage::Register(ty, _) => (ty.bytes().into(), ty.bytes()),
    }
}

/// Places parameters one after another and returns the offset and size of each. `packer` is the
/// end.
pub(crate) fn place_parameters(parameters: &[Parameter<'_>], packer: &mut u64) -> Vec<(u32, u32)> {
    let mut inner = Packer { end: *packer };
    let place = |parameter: &Parameter<'_>| {
        let (bytes, align) = parameter_size(parameter);
        (inner.place(bytes, align) as u32, bytes as u32)
    };
    let places = parameters.iter().map(place).collect();
    *packer = inner.end;
    places
}

/// Facts about a module that the translation of every function needs.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    pub(super) addresses: Addresses,
    /// The local variables and call parameters of each function.
    variables: HashMap<FunctionId, Vec<VariableId>>,
    /// The paths of source files, by their numbers.
    pub(super) paths: HashMap<u32, Arc<str>>,
}

impl Outline {
    pub(crate) fn new(module: &Module<'_>, addresses: Addresses) -> Outline {
        let mut variables: HashMap<FunctionId, Vec<VariableId>> = HashMap::new();
        for (variable, index) in module.variables.iter().zip(0..) {
            if let Some(function) = variable.function
                && matches!(variable.space, Space::Local | Space::Param)
            {
                variables.entry(function).or_default().push(VariableId(index));
            }
        }
        let paths = module.files.iter().map(|file| (file.number, Arc::from(file.path))).collect();
        Outline { addresses, variables, paths }
    }
}

/// The frame of a function in local memory.
#[derive(Clone, Debug, Default)]
pub(super) struct FrameLayout {
    pub(super) parameters: Vec<(u32, u32)>,
    pub(super) returns: Vec<(u32, u32)>,
    pub(super) variables: HashMap<VariableId, u32>,
    pub(super) packer: Packer,
}

impl FrameLayout {
    pub(super) fn new(
        module: &Module<'_>,
        outline: &Outline,
        id: FunctionId,
        function: &Function<'_>,
    ) -> FrameLayout {
        let mut frame = FrameLayout::default();
        let mut end = 0;
        if !function.is_entry {
            frame.parameters = place_parameters(&function.signature.parameters, &mut end);
            frame.returns = place_parameters(&function.signature.returns, &mut end);
        }
        frame.packer.end = end;
        for &variable in outline.variables.get(&id).into_iter().flatten() {
            let layout = module.variables[variable.index()].layout;
            let at = frame.packer.place(layout.bytes(), layout.align);
            frame.variables.insert(variable, at as u32);
        }
        frame
    }
}
