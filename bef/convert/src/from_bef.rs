//! BEF to MLIR: each function with a body becomes a region; the named ones become functions of the
//! module, the others go to the kernels that refer to them.

use std::collections::HashMap;

use tfrt_bef::{FunctionInfo, FunctionKind, KernelRecord, SectionId, Storage, VerifiedBef};
use tfrt_ir::{
    Attribute, BlockId, Diagnostic, Diagnostics, FUNC, FUNC_TYPE, FunctionType, Location, MAX_DEPTH, Module,
    Name, OpId, OpRegistry, OpState, RegionId, SYM_NAME, Severity, Type, ValueId,
};

use crate::function_names::{self, Names};
use crate::{NATIVE, NONSTRICT, RETURN, SYNC, attributes};

/// What stands in for the value of an attribute that the file does not tell the kind of.
const UNKNOWN_ATTRIBUTE: i32 = 0xDEAD_BEEF_u32 as i32;

/// A module read from a BEF file.
#[derive(Debug)]
pub struct Converted {
    /// The module.
    pub module: Module,
    /// Doubts about the module, such as missing optional sections.
    pub warnings: Diagnostics,
}

/// Rebuilds the module that a BEF file was made from. `ops` says what ops call the attributes that
/// name functions. Errors carry `location`, usually the file's name.
///
/// Without the optional sections the result is a sketch: attributes lack their names and values,
/// and values lack their types.
///
/// # Errors
/// Everything wrong with the file.
pub fn bef_to_mlir(
    storage: impl Storage,
    ops: &OpRegistry,
    location: &Location,
) -> Result<Converted, Diagnostics> {
    let bef = VerifiedBef::new(storage).map_err(|errors| {
        let mut diagnostics = Diagnostics::new();
        errors
            .iter()
            .for_each(|error| diagnostics.push(Diagnostic::error(location.clone(), error.to_string())));
        diagnostics
    })?;
    let mut warnings = Diagnostics::new();
    let optional = [SectionId::AttributeTypes, SectionId::AttributeNames, SectionId::RegisterTypes];
    if optional.iter().any(|&id| !bef.has_section(id)) {
        let message = "Missing AttributeTypes, AttributeNames or RegisterTypes sections.";
        warnings.push(Diagnostic::new(Severity::Warning, location.clone(), message));
    }
    let converted = Reader::new(&bef, ops).and_then(Reader::read);
    let module = converted.map_err(|message| {
        let mut diagnostics = Diagnostics::new();
        diagnostics.push(Diagnostic::error(location.clone(), message));
        diagnostics
    })?;
    Ok(Converted { module, warnings })
}

/// Names by where they lie in the file, so that each is copied once.
#[derive(Default)]
struct NameCache(HashMap<(usize, usize), Name>);

impl NameCache {
    fn get(&mut self, text: &str) -> Name {
        self.0.entry((text.as_ptr().addr(), text.len())).or_insert_with(|| Name::from(text)).clone()
    }
}

/// The body of a function while the module is being put together.
#[derive(Clone, Copy)]
struct Body {
    region: RegionId,
    block: BlockId,
}

struct Reader<'a> {
    bef: &'a VerifiedBef,
    ops: &'a OpRegistry,
    module: Module,
    types: Vec<Type>,
    names: NameCache,
    attributes: HashMap<u32, Attribute>,
    reference_names: Names,
    /// One a function; taken when it goes to its kernel.
    bodies: Vec<Option<Body>>,
}

impl<'a> Reader<'a> {
    fn new(bef: &'a VerifiedBef, ops: &'a OpRegistry) -> Result<Self, String> {
        let types = (0..bef.type_count())
            .map(|index| {
                let name = bef.type_name(index);
                Type::parse(name)
                    .map_err(|error| format!("Invalid Types section. '{name}' is not a type: {error}"))
            })
            .collect::<Result<Vec<_>, _>>()?;
        check_nesting(bef)?;
        let reference_names = Names::read(bef.unknown_section(function_names::SECTION).unwrap_or(&[]));
        Ok(Self {
            bef,
            ops,
            module: Module::new(),
            types,
            names: NameCache::default(),
            attributes: HashMap::new(),
            reference_names,
            bodies: Vec::new(),
        })
    }

    fn read(mut self) -> Result<Module, String> {
        let bef = self.bef;
        for (index, info) in bef.functions().iter().enumerate() {
            let body = bef.function(index).map(|_| {
                let region = self.module.create_region();
                let types = self.types_at(&info.argument_types);
                Body { region, block: self.module.create_block(region, &types) }
            });
            self.bodies.push(body);
        }
        let bodies = self.bodies.clone();
        for (index, (info, body)) in bef.functions().iter().zip(bodies).enumerate() {
            if let Some(body) = body {
                self.fill(index, body)?;
            }
            if !info.name.is_empty() {
                self.add_function(index, info, body);
            }
        }
        Ok(self.module)
    }

    fn types_at(&self, indices: &[u32]) -> Vec<Type> {
        indices.iter().map(|&index| self.types.get(index as usize).cloned().unwrap_or(Type::None)).collect()
    }

    fn location(&mut self, offset: u32) -> Location {
        match self.bef.location(offset) {
            Some(location) if location.file.is_empty() && location.line == 0 => Location::Unknown,
            Some(location) => Location::file(self.names.get(location.file), location.line, location.column),
            None => Location::Unknown,
        }
    }

    /// Adds a named function to the module.
    fn add_function(&mut self, index: usize, info: &FunctionInfo, body: Option<Body>) {
        let ty = FunctionType {
            inputs: self.types_at(&info.argument_types),
            results: self.types_at(&info.result_types),
        };
        let Some(body) = body else {
            let op = self.module.add_external_function(info.name.as_str(), ty, Location::Unknown);
            self.module.op_mut(op).attributes.set(NATIVE, Attribute::Unit);
            return;
        };
        let location = self.bef.function(index).map_or(0, |function| function.location());
        let location = self.location(location);
        let mut state = OpState::new(FUNC)
            .attr(SYM_NAME, Attribute::string(&info.name))
            .attr(FUNC_TYPE, Attribute::Type(Type::function(ty.inputs, ty.results)))
            .region(body.region)
            .at(location);
        if info.kind == FunctionKind::Sync {
            state.attributes.set(SYNC, Attribute::Unit);
        }
        let op = self.module.create_op(state);
        self.module.append_op(self.module.body(), op);
    }

    /// Adds the kernels of a function to its block.
    fn fill(&mut self, index: usize, body: Body) -> Result<(), String> {
        let bef = self.bef;
        let Some(function) = bef.function(index) else { return Ok(()) };
        let types = self.register_types(index);
        let mut values: Vec<Option<ValueId>> = vec![None; types.len()];
        for (kernel_index, kernel) in function.kernels().enumerate() {
            let results = if kernel_index == 0 {
                &self.module.block(body.block).arguments
            } else {
                let op = self.add_kernel(index, kernel_index, &kernel, body.block, &values, &types)?;
                &self.module.op(op).results
            };
            // The pseudo kernel's first result is no register.
            let registers = kernel.results().iter().skip(usize::from(kernel_index == 0));
            for (&register, &value) in registers.zip(results) {
                if let Some(slot) = values.get_mut(register as usize) {
                    *slot = Some(value);
                }
            }
        }
        let operands = values_of(function.result_registers(), &values)?;
        let location = self.location(function.location());
        let op = self.module.create_op(OpState::new(RETURN).operands(operands).at(location));
        self.module.append_op(body.block, op);
        Ok(())
    }

    /// The types of a function's registers. Without a RegisterTypes section, those that can be told
    /// from the function's own type; the others are `none`.
    fn register_types(&self, index: usize) -> Vec<Type> {
        if let Some(types) = self.bef.register_types(index) {
            return self.types_at(types);
        }
        let Some(function) = self.bef.function(index) else { return Vec::new() };
        let mut types = vec![Type::None; function.register_use_counts().len()];
        let results = function.result_registers().iter().zip(&function.info().result_types);
        let pseudo = function.kernel(0).unwrap_or_default();
        let arguments = pseudo.results().iter().skip(1).zip(&function.info().argument_types);
        for (&register, &ty) in results.chain(arguments) {
            if let (Some(slot), Some(ty)) = (types.get_mut(register as usize), self.types.get(ty as usize)) {
                *slot = ty.clone();
            }
        }
        types
    }

    fn add_kernel(
        &mut self,
        function: usize,
        index: usize,
        kernel: &KernelRecord<'_>,
        block: BlockId,
        values: &[Option<ValueId>],
        types: &[Type],
    ) -> Result<OpId, String> {
        let name = self.names.get(self.bef.kernel_name(kernel.kernel_code() as usize));
        let mut state = OpState::new(&name).at(self.location(kernel.location()));
        state.operands = values_of(kernel.arguments(), values)?;
        state.result_types = kernel
            .results()
            .iter()
            .map(|&register| types.get(register as usize).cloned().unwrap_or(Type::None))
            .collect();
        if kernel.nonstrict() {
            state.attributes.set(NONSTRICT, Attribute::Unit);
        }
        self.add_attributes(function, index, kernel, &mut state);
        let mut references = 0;
        let mut lists: Vec<(String, Vec<Attribute>)> = Vec::new();
        for &callee in kernel.functions() {
            let callee = callee as usize;
            let symbol = self.bef.functions().get(callee).map_or("", |info| info.name.as_str());
            if symbol.is_empty() {
                let body = self.bodies.get_mut(callee).and_then(Option::take);
                state.regions.push(body.ok_or("Failed to resolve functions.")?.region);
                continue;
            }
            let reference =
                self.reference_names.get(self.ops, (function as u32, index as u32), &name, references);
            let (attribute, in_list) = function_names::attribute_of(&reference);
            let symbol = Attribute::symbol(symbol);
            if !in_list {
                let attribute = unused_name(&state, attribute);
                state.attributes.set(attribute.as_str(), symbol);
            } else if let Some((_, list)) = lists.last_mut().filter(|(name, _)| name == attribute) {
                list.push(symbol);
            } else {
                lists.push((attribute.to_owned(), vec![symbol]));
            }
            references += 1;
        }
        for (attribute, list) in lists {
            let attribute = unused_name(&state, &attribute);
            state.attributes.set(attribute.as_str(), Attribute::array(list));
        }
        let op = self.module.create_op(state);
        self.module.append_op(block, op);
        Ok(op)
    }

    fn add_attributes(
        &mut self,
        function: usize,
        index: usize,
        kernel: &KernelRecord<'_>,
        state: &mut OpState,
    ) {
        let bef = self.bef;
        let mut names = bef.attribute_names(function, index);
        for (position, &offset) in kernel.attributes().iter().enumerate() {
            let name = match names.as_mut().and_then(Iterator::next) {
                Some(name) => self.names.get(name),
                None => Name::from(format!("attr{position}")),
            };
            let value = self.attributes.entry(offset).or_insert_with(|| {
                let known = bef.attribute_view(offset).and_then(|(view, _)| attributes::from_bef(&view));
                known.unwrap_or_else(|| Attribute::i32(UNKNOWN_ATTRIBUTE))
            });
            state.attributes.set(name, value.clone());
        }
    }
}

/// Names an attribute like this one that the op does not have yet.
fn unused_name(state: &OpState, attribute: &str) -> String {
    let mut attribute = attribute.to_owned();
    while state.attributes.contains(&attribute) {
        attribute.push('_');
    }
    attribute
}

fn values_of(registers: &[u32], values: &[Option<ValueId>]) -> Result<Vec<ValueId>, String> {
    let value = |&register: &u32| values.get(register as usize).copied().flatten();
    registers
        .iter()
        .map(value)
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| "Using undefined registers.".to_owned())
}

/// Checks that every unnamed function belongs to exactly one kernel, and that they nest in named
/// functions to a bounded depth: then they are regions.
fn check_nesting(bef: &VerifiedBef) -> Result<(), String> {
    let functions = bef.functions();
    let is_region = |index: usize| functions.get(index).is_some_and(|info| info.name.is_empty());
    let mut reached = vec![false; functions.len()];
    let mut stack: Vec<(usize, usize)> =
        (0..functions.len()).filter(|&index| !is_region(index)).map(|index| (index, 1)).collect();
    while let Some((index, depth)) = stack.pop() {
        let Some(function) = bef.function(index) else { continue };
        for callee in
            function.kernels().flat_map(|kernel| kernel.functions().iter().map(|&callee| callee as usize))
        {
            if !is_region(callee) {
                continue;
            }
            if std::mem::replace(&mut reached[callee], true) {
                return Err("Failed to resolve functions: two kernels have the same region.".to_owned());
            }
            if depth >= MAX_DEPTH / 2 {
                return Err(format!(
                    "Failed to resolve functions: regions nest deeper than {}.",
                    MAX_DEPTH / 2
                ));
            }
            stack.push((callee, depth + 1));
        }
    }
    match (0..functions.len()).find(|&index| is_region(index) && !reached[index]) {
        Some(index) => {
            Err(format!("Failed to resolve functions: no kernel has the region at index {index}."))
        }
        None => Ok(()),
    }
}
