//! The second pass: functions, kernels and what they refer to, encoded.

use std::collections::HashMap;

use tfrt_bef::{
    BefBuilder, FunctionBuilder, FunctionId, KernelSpec, LocationId, OptionalSections, Register, TypeId,
};
use tfrt_ir::{BlockId, Diagnostics, Module, Name, OpId, OpRegistry, RegionId, Type, ValueId};

use crate::function_names::{self, Referrer};
use crate::to_bef::collect::FunctionEntry;
use crate::to_bef::{error_at, references};
use crate::{NONSTRICT, RETURN, attributes};

/// Encodes the functions the first pass listed, which also made sure that this succeeds but for
/// size limits.
pub(super) fn emit(
    module: &Module,
    ops: &OpRegistry,
    functions: &[FunctionEntry],
    optional: OptionalSections,
    builder: &mut BefBuilder,
    errors: &mut Diagnostics,
) {
    let mut emitter = Emitter {
        module,
        ops,
        builder,
        errors,
        types: HashMap::new(),
        named: HashMap::new(),
        regions: HashMap::new(),
        registers: vec![None; module.value_id_count()],
        referrers: Vec::new(),
    };
    let ids: Vec<FunctionId> = functions.iter().map(|function| emitter.declare(function)).collect();
    for (entry, id) in functions.iter().zip(ids) {
        if let Some((_, block)) = entry.body {
            emitter.emit_body(entry, id, block);
        }
    }
    if optional == OptionalSections::Keep
        && let Some(section) = function_names::section(ops, &emitter.referrers)
    {
        builder.unknown_section(function_names::SECTION, 1, &section);
    }
}

struct Emitter<'a> {
    module: &'a Module,
    ops: &'a OpRegistry,
    builder: &'a mut BefBuilder,
    errors: &'a mut Diagnostics,
    types: HashMap<Type, TypeId>,
    named: HashMap<&'a str, FunctionId>,
    regions: HashMap<RegionId, FunctionId>,
    /// By value, of the functions that were emitted. No function uses another's values.
    registers: Vec<Option<Register>>,
    referrers: Vec<Referrer<'a>>,
}

impl<'a> Emitter<'a> {
    fn declare(&mut self, function: &FunctionEntry) -> FunctionId {
        let view = self.module.as_function(function.op);
        let id = match (function.body, view.and_then(|view| view.ty())) {
            (None, Some(ty)) => {
                let arguments = self.type_ids(&ty.inputs);
                let results = self.type_ids(&ty.results);
                self.builder.native_function(&function.name, &arguments, &results)
            }
            _ => self.builder.declare_function(&function.name),
        };
        if let Some((region, _)) = function.body {
            self.regions.insert(region, id);
        }
        if let Some(view) = view {
            self.named.insert(view.name(), id);
        }
        id
    }

    fn type_id(&mut self, ty: &Type) -> TypeId {
        if let Some(&id) = self.types.get(ty) {
            return id;
        }
        let id = self.builder.type_name(&ty.to_string());
        self.types.insert(ty.clone(), id);
        id
    }

    fn type_ids(&mut self, types: &[Type]) -> Vec<TypeId> {
        types.iter().map(|ty| self.type_id(ty)).collect()
    }

    /// Each op has a location of its own, even where two say the same: kernels may be told apart by
    /// it.
    fn location(&mut self, op: OpId) -> LocationId {
        match self.module.op(op).location.file_position() {
            Some((file, line, column)) => self.builder.unique_location(file, line, column),
            None => self.builder.unique_location("", 0, 0),
        }
    }

    fn emit_body(&mut self, entry: &FunctionEntry, id: FunctionId, block: BlockId) {
        let module = self.module;
        let location = self.location(entry.op);
        let arguments = &module.block(block).arguments;
        let types = self.type_ids(&module.types_of(arguments));
        let mut body = FunctionBuilder::new(location, &types);
        self.define(arguments, body.arguments());
        let mut results = Vec::new();
        let mut kernel_index = 0;
        for (op, operation) in module.ops_in(block) {
            let Some(operands) = operation
                .operands
                .iter()
                .map(|operand| self.registers[operand.index()])
                .collect::<Option<Vec<_>>>()
            else {
                error_at(module, op, self.errors, "an operand is used before it is defined");
                return;
            };
            if operation.name == RETURN {
                results = operands;
                break;
            }
            kernel_index += 1;
            let defined = self.emit_kernel(op, (id.get(), kernel_index), &operands, &mut body);
            self.define(&operation.results, defined);
        }
        self.builder.define_function(id, entry.kind, &body, &results);
    }

    /// Notes the registers of values.
    fn define(&mut self, values: &[ValueId], registers: impl IntoIterator<Item = Register>) {
        for (value, register) in values.iter().zip(registers) {
            self.registers[value.index()] = Some(register);
        }
    }

    fn emit_kernel(
        &mut self,
        op: OpId,
        position: (u32, u32),
        arguments: &[Register],
        body: &mut FunctionBuilder,
    ) -> Vec<Register> {
        let module = self.module;
        let operation = module.op(op);
        let definition = if operation.attributes.is_empty() { None } else { self.ops.get(&operation.name) };
        let typed = definition.is_some_and(|definition| definition.typed_attributes);
        let mut attributes = Vec::new();
        let mut functions = Vec::new();
        let mut names = Vec::new();
        for (name, attribute) in operation.attributes.iter() {
            if name == NONSTRICT {
                continue;
            }
            if let Some(references) = references(attribute) {
                let in_list = attribute.as_array().is_some();
                for reference in references {
                    let symbol = reference.as_flat_symbol().map(Name::as_str);
                    functions.extend(symbol.and_then(|symbol| self.named.get(symbol)).copied());
                    names.push(function_names::reference_name(name.as_str(), in_list));
                }
            } else if let Some(value) = attributes::to_bef(attribute) {
                attributes.push((self.builder.attribute_name(name), self.builder.attribute(&value, typed)));
            }
        }
        functions.extend(operation.regions.iter().filter_map(|region| self.regions.get(region).copied()));
        if !names.is_empty() {
            self.referrers.push(Referrer { position, op: operation.name.as_str(), names });
        }
        let spec = KernelSpec {
            kernel: self.builder.kernel(&operation.name),
            location: self.location(op),
            arguments,
            attributes: &attributes,
            functions: &functions,
            result_types: &self.type_ids(&module.result_types(op)),
            nonstrict: operation.attributes.contains(NONSTRICT),
        };
        body.kernel(&spec)
    }
}
