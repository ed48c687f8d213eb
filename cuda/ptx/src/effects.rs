//! What kernels do with the memory that their parameters point to, read from the text alone.
//!
//! An address belongs to the parameters and variables that it is computed from. This follows values
//! through registers, calls and the variables of threads, whatever the order of instructions, so it
//! names every parameter through which a kernel may access memory, and perhaps some through which
//! it never does. It assumes that an address computed from a pointer stays in the memory that the
//! pointer belongs to.

use std::collections::{BTreeMap, HashMap};

use crate::Errors;
use crate::syntax::ast::{
    AddressBase, Call, CallTarget, Function, FunctionId, Instruction, Module, Operand, ParameterStorage,
    RegisterId, Symbol, VariableId,
};
use crate::syntax::types::{Space, SpecialRegister, Type};

/// How memory is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Whether it is read by ordinary instructions.
    pub reads: bool,
    /// Whether it is written by ordinary instructions.
    pub writes: bool,
    /// Whether it is accessed by atomic operations, or by accesses that threads synchronize by.
    pub synchronizes: bool,
}

impl Uses {
    fn add(&mut self, other: Uses) {
        self.reads |= other.reads;
        self.writes |= other.writes;
        self.synchronizes |= other.synchronizes;
    }
}

const READS: Uses = Uses { reads: true, writes: false, synchronizes: false };
const WRITES: Uses = Uses { reads: false, writes: true, synchronizes: false };
const SYNCHRONIZES: Uses = Uses { reads: false, writes: false, synchronizes: true };

/// What a kernel does with global memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// The uses of the memory that each parameter points to.
    pub parameters: Vec<Uses>,
    /// The uses of the module's variables in global memory, by name.
    pub variables: BTreeMap<String, Uses>,
    /// The line of an access through an address that is computed from none of these, such as a
    /// pointer that was loaded.
    pub elsewhere: Option<u32>,
}

/// Returns what each kernel of a module does, by its name.
///
/// # Errors
/// The errors of a text that is no PTX.
pub fn effects(text: &str) -> Result<BTreeMap<String, Effects>, Errors> {
    let module = crate::syntax::parse(text)?;
    let kernels = module.functions.iter().enumerate().filter(|(_, function)| function.is_entry);
    Ok(kernels
        .filter(|(_, function)| function.body.is_some())
        .map(|(index, function)| {
            (function.name.to_owned(), Flow::new(&module, FunctionId(index as u32)).effects())
        })
        .collect())
}

/// What a value is computed from, as a set of bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Sources(Vec<u64>);

impl Sources {
    fn of(bit: usize) -> Sources {
        let mut words = vec![0; bit / 64 + 1];
        words[bit / 64] = 1 << (bit % 64);
        Sources(words)
    }

    /// Adds others; whether there were new ones.
    fn add(&mut self, other: &Sources) -> bool {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        let mut is_new = false;
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            is_new |= *theirs & !*mine != 0;
            *mine |= theirs;
        }
        is_new
    }

    fn bits(&self) -> impl Iterator<Item = usize> {
        let words = self.0.iter().enumerate();
        words.flat_map(|(index, &word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| 64 * index + bit)
        })
    }
}

/// Something that holds values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Holder {
    Register(FunctionId, RegisterId),
    Parameter(FunctionId, u32),
    Return(FunctionId, u32),
    /// A variable of a thread, of a block or of a call.
    Variable(VariableId),
}

/// The values of a kernel and of the functions that it calls.
struct Flow<'m, 's> {
    module: &'m Module<'s>,
    kernel: FunctionId,
    holders: HashMap<Holder, Sources>,
    /// The functions that run.
    reached: Vec<FunctionId>,
    has_changed: bool,
}

/// The bits of [`Sources`]: a value that was loaded from global memory, the memory that a
/// cooperative launch gives to its blocks, the kernel's parameters, and the module's variables.
const LOADED: usize = 0;
const WORKSPACE: usize = 1;
const PARAMETERS: usize = 2;

impl<'m, 's> Flow<'m, 's> {
    fn new(module: &'m Module<'s>, kernel: FunctionId) -> Self {
        Flow { module, kernel, holders: HashMap::new(), reached: vec![kernel], has_changed: false }
    }

    fn function(&self, id: FunctionId) -> &'m Function<'s> {
        &self.module.functions[self.module.definition(id).index()]
    }

    fn parameter_count(&self) -> usize {
        self.function(self.kernel).signature.parameters.len()
    }

    fn variable_bit(&self, variable: VariableId) -> usize {
        PARAMETERS + self.parameter_count() + variable.index()
    }

    fn variable_of(&self, bit: usize) -> Option<VariableId> {
        let index = bit.checked_sub(PARAMETERS + self.parameter_count())?;
        (index < self.module.variables.len()).then_some(VariableId(index as u32))
    }

    fn effects(mut self) -> Effects {
        loop {
            self.has_changed = false;
            let count = self.reached.len();
            let mut next = 0;
            while let Some(&function) = self.reached.get(next) {
                next += 1;
                for instruction in self.function(function).body.iter().flatten() {
                    self.follow(function, instruction);
                }
            }
            if !self.has_changed && self.reached.len() == count {
                break;
            }
        }
        let mut effects =
            Effects { parameters: vec![Uses::default(); self.parameter_count()], ..Effects::default() };
        for &function in &self.reached {
            for instruction in self.function(function).body.iter().flatten() {
                self.collect(function, instruction, &mut effects);
            }
        }
        effects
    }

    fn held(&self, holder: Holder) -> Sources {
        self.holders.get(&holder).cloned().unwrap_or_default()
    }

    fn put(&mut self, holder: Holder, sources: &Sources) {
        if !sources.0.is_empty() {
            self.has_changed |= self.holders.entry(holder).or_default().add(sources);
        }
    }

    /// The address of a name, as a value.
    fn address_of(&self, symbol: Symbol) -> Sources {
        match symbol {
            Symbol::Variable(id) => Sources::of(self.variable_bit(id)),
            Symbol::Parameter(index) => Sources::of(PARAMETERS + index as usize),
            Symbol::Return(_) | Symbol::Function(_) => Sources::default(),
        }
    }

    fn base(&self, function: FunctionId, base: AddressBase) -> Sources {
        match base {
            AddressBase::Register(register) => self.held(Holder::Register(function, register)),
            AddressBase::Symbol(symbol) => self.address_of(symbol),
            AddressBase::Zero => Sources::default(),
        }
    }

    /// What an operand's value is computed from. Predicates decide what runs, and are part of no
    /// address.
    fn value(&self, function: FunctionId, operand: &Operand) -> Sources {
        let mut sources = Sources::default();
        match operand {
            Operand::Register(register) | Operand::Selected { register, .. }
                if self.function(function).registers[register.index()].ty != Type::Pred =>
            {
                sources = self.held(Holder::Register(function, *register));
            }
            Operand::Symbol { symbol, .. } => sources = self.address_of(*symbol),
            Operand::Address { base, .. } => sources = self.base(function, *base),
            Operand::Special(register) if is_workspace(*register) => sources = Sources::of(WORKSPACE),
            Operand::Vector(parts) => {
                for part in parts {
                    sources.add(&self.value(function, part));
                }
            }
            Operand::Pair(pair) => {
                sources.add(&self.value(function, &pair.0));
                sources.add(&self.value(function, &pair.1));
            }
            _ => {}
        }
        sources
    }

    /// Lets a destination hold a value.
    fn assign(&mut self, function: FunctionId, destination: &Operand, sources: &Sources) {
        match destination {
            Operand::Register(register) | Operand::Selected { register, .. } => {
                self.put(Holder::Register(function, *register), sources);
            }
            Operand::Vector(parts) => parts.iter().for_each(|part| self.assign(function, part, sources)),
            Operand::Pair(pair) => {
                self.assign(function, &pair.0, sources);
                self.assign(function, &pair.1, sources);
            }
            Operand::Symbol { symbol: Symbol::Variable(id), .. } => self.put(Holder::Variable(*id), sources),
            _ => {}
        }
    }

    /// What memory at an address holds: what was stored to variables there, or something that was
    /// loaded.
    fn contents(&self, function: FunctionId, instruction: &Instruction<'_>, operand: &Operand) -> Sources {
        let Operand::Address { base, .. } = operand else { return Sources::default() };
        if let AddressBase::Symbol(symbol @ (Symbol::Parameter(_) | Symbol::Return(_))) = *base {
            return match symbol {
                Symbol::Parameter(index) if function == self.kernel => {
                    Sources::of(PARAMETERS + index as usize)
                }
                Symbol::Parameter(index) => self.held(Holder::Parameter(function, index)),
                _ => Sources::default(),
            };
        }
        let address = self.base(function, *base);
        if instruction.has("param") {
            // Part of a struct that is passed by value.
            return address;
        }
        let mut contents = Sources::default();
        let mut is_own = false;
        for bit in address.bits() {
            if let Some(variable) = self.variable_of(bit).filter(|&id| !self.is_global(id)) {
                contents.add(&self.held(Holder::Variable(variable)));
                is_own = true;
            }
        }
        let is_global = !is_own
            && !["shared", "local", "shared::cta", "shared::cluster"].iter().any(|s| instruction.has(s));
        if is_global {
            contents.add(&Sources::of(LOADED));
        }
        contents
    }

    fn is_global(&self, variable: VariableId) -> bool {
        matches!(self.module.variables[variable.index()].space, Space::Global | Space::Const)
    }

    /// Follows the values through an instruction.
    fn follow(&mut self, function: FunctionId, instruction: &Instruction<'_>) {
        let operands = &instruction.operands;
        match (instruction.opcode, &operands[..]) {
            ("call", [Operand::Call(call)]) => self.follow_call(function, call),
            ("st", [address, value]) => {
                let sources = self.value(function, value);
                self.store(function, address, &sources);
            }
            ("ld" | "ldu", [destination, address, ..]) => {
                let sources = self.contents(function, instruction, address);
                self.assign(function, destination, &sources);
            }
            ("atom", [destination, ..]) => self.assign(function, destination, &Sources::of(LOADED)),
            (_, [destination, rest @ ..]) => {
                let mut sources = Sources::default();
                for operand in rest {
                    sources.add(&self.value(function, operand));
                }
                self.assign(function, destination, &sources);
            }
            _ => {}
        }
    }

    fn store(&mut self, function: FunctionId, address: &Operand, sources: &Sources) {
        let Operand::Address { base, .. } = address else { return };
        if let AddressBase::Symbol(Symbol::Return(index)) = *base {
            self.put(Holder::Return(function, index), sources);
            return;
        }
        let own: Vec<_> = self.base(function, *base).bits().filter_map(|bit| self.variable_of(bit)).collect();
        own.into_iter().for_each(|variable| self.put(Holder::Variable(variable), sources));
    }

    fn follow_call(&mut self, function: FunctionId, call: &Call) {
        let targets = match call.target {
            CallTarget::Direct(id) => vec![id],
            CallTarget::Table(_, table) => self.function(function).call_tables[table.index()].targets.clone(),
            CallTarget::Prototype(..) => return,
        };
        for target in targets.into_iter().map(|id| self.module.definition(id)) {
            if !self.reached.contains(&target) {
                self.reached.push(target);
            }
            for (index, argument) in call.arguments.iter().enumerate() {
                let sources = self.argument(function, argument);
                self.put_parameter(target, index, &sources);
            }
            for (index, result) in call.results.iter().enumerate() {
                let storage = self.function(target).signature.returns.get(index).map(|result| result.storage);
                let sources = match storage {
                    Some(ParameterStorage::Register(_, id)) => self.held(Holder::Register(target, id)),
                    _ => self.held(Holder::Return(target, index as u32)),
                };
                self.assign(function, result, &sources);
            }
        }
    }

    fn argument(&self, function: FunctionId, argument: &Operand) -> Sources {
        match argument {
            Operand::Symbol { symbol: Symbol::Variable(id), .. }
                if self.module.variables[id.index()].space == Space::Param =>
            {
                self.held(Holder::Variable(*id))
            }
            other => self.value(function, other),
        }
    }

    fn put_parameter(&mut self, target: FunctionId, index: usize, sources: &Sources) {
        match self.function(target).signature.parameters.get(index).map(|parameter| parameter.storage) {
            Some(ParameterStorage::Register(_, id)) => self.put(Holder::Register(target, id), sources),
            Some(ParameterStorage::Memory(_)) => self.put(Holder::Parameter(target, index as u32), sources),
            None => {}
        }
    }

    /// Notes which memory an instruction accesses.
    fn collect(&self, function: FunctionId, instruction: &Instruction<'_>, effects: &mut Effects) {
        if let [Operand::Call(call)] = &instruction.operands[..]
            && self.calls_unknown(call)
        {
            effects.elsewhere.get_or_insert(instruction.span.line);
        }
        let is_private =
            ["shared", "local", "param", "shared::cta", "const"].iter().any(|space| instruction.has(space));
        if is_private && instruction.opcode != "cp" {
            return;
        }
        let addresses =
            instruction.operands.iter().filter(|operand| matches!(operand, Operand::Address { .. }));
        for (index, address) in addresses.enumerate() {
            if let Some(uses) = uses_of(instruction, index) {
                self.note(&self.value(function, address), uses, instruction, effects);
            }
        }
    }

    /// Whether a call's function is not in this module; those that the runtime provides access
    /// nothing of the program.
    fn calls_unknown(&self, call: &Call) -> bool {
        matches!(call.target, CallTarget::Prototype(..))
    }

    fn note(&self, address: &Sources, uses: Uses, instruction: &Instruction<'_>, effects: &mut Effects) {
        let mut is_known = false;
        for bit in address.bits().filter(|&bit| bit != LOADED) {
            is_known = true;
            match (bit.checked_sub(PARAMETERS), self.variable_of(bit)) {
                (_, Some(variable)) if self.is_global(variable) => {
                    let name = self.module.variables[variable.index()].name.to_owned();
                    effects.variables.entry(name).or_default().add(uses);
                }
                (Some(parameter), None) => effects.parameters[parameter].add(uses),
                _ => {}
            }
        }
        if !is_known && !is_shared(instruction) {
            effects.elsewhere.get_or_insert(instruction.span.line);
        }
    }
}

/// Whether an instruction may compute addresses of shared memory from numbers.
fn is_shared(instruction: &Instruction<'_>) -> bool {
    let is_of_blocks = ["mbarrier", "ldmatrix", "stmatrix", "wgmma", "tcgen05"].contains(&instruction.opcode);
    is_of_blocks || instruction.modifiers.iter().any(|word| word.starts_with("shared"))
}

fn is_workspace(register: SpecialRegister) -> bool {
    matches!(register, SpecialRegister::Environment(_))
}

/// What an instruction does at one of its addresses; `None` for nothing.
fn uses_of(instruction: &Instruction<'_>, index: usize) -> Option<Uses> {
    // Accesses that are ordered, by which threads may synchronize.
    let is_strong =
        ["volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"].iter().any(|w| instruction.has(w));
    match instruction.opcode {
        "ld" | "ldu" | "st" if is_strong => Some(SYNCHRONIZES),
        "ld" | "ldu" => Some(READS),
        "st" => Some(WRITES),
        "atom" | "red" => Some(SYNCHRONIZES),
        "cp" if instruction.has("reduce") => Some(if index == 0 { SYNCHRONIZES } else { READS }),
        "cp" => Some(if index == 0 { WRITES } else { READS }),
        "prefetch" | "prefetchu" | "applypriority" | "discard" | "createpolicy" | "isspacep" | "cvta"
        | "mov" => None,
        "mbarrier" | "ldmatrix" | "stmatrix" | "call" => None,
        _ => Some(Uses { reads: true, writes: true, synchronizes: false }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = ".version 7.0\n.target sm_70\n.address_size 64\n";

    fn of(text: &str) -> Effects {
        let effects = effects(&format!("{HEAD}{text}")).expect("PTX");
        effects.get("k").expect("a kernel").clone()
    }

    #[test]
    fn loads_and_stores_belong_to_the_parameters_of_their_addresses() {
        let effects = of(".visible .entry k(.param .u64 x, .param .u64 y, .param .u32 n) {\n\
            .reg .b64 %a<4>; .reg .b32 %r<4>; .reg .pred %p;\n\
            ld.param.u64 %a0, [x]; ld.param.u64 %a1, [y]; ld.param.u32 %r0, [n];\n\
            cvta.to.global.u64 %a0, %a0; mov.u32 %r1, %tid.x; setp.ge.u32 %p, %r1, %r0; @%p bra END;\n\
            mul.wide.u32 %a2, %r1, 4; add.s64 %a3, %a0, %a2; ld.global.u32 %r2, [%a3];\n\
            add.s64 %a3, %a1, %a2; st.global.u32 [%a3], %r2;\nEND: ret; }");
        // Registers are followed whatever the order is: the sum is an address of both.
        let both = Uses { reads: true, writes: true, synchronizes: false };
        assert_eq!(effects.parameters, [both, both, Uses::default()]);
        assert_eq!((effects.variables.len(), effects.elsewhere), (0, None));
        let effects = of(".visible .entry k(.param .u64 x, .param .u64 y) {\n\
            .reg .b64 %a<2>; .reg .b32 %r;\n\
            ld.param.u64 %a0, [x]; ld.param.u64 %a1, [y]; ld.global.u32 %r, [%a0]; st.global.u32 [%a1], %r; ret; }");
        assert_eq!(effects.parameters, [READS, WRITES]);
    }

    #[test]
    fn calls_structs_and_shared_memory_are_followed() {
        let effects = of(".visible .func put(.param .b64 to, .param .b32 value) {\n\
            .reg .b64 %a; .reg .b32 %r; ld.param.b64 %a, [to]; ld.param.b32 %r, [value]; st.b32 [%a], %r; ret; }\n\
            .visible .entry k(.param .u64 x, .param .align 8 .b8 pair[16]) {\n\
            .reg .b64 %a<3>; .reg .b32 %r; .shared .b32 s;\n\
            ld.param.u64 %a0, [pair+8]; st.shared.b32 [s], 7; ld.shared.b32 %r, [s];\n\
            { .param .b64 p; .param .b32 v; st.param.b64 [p], %a0; st.param.b32 [v], %r; call put, (p, v); } ret; }");
        assert_eq!(effects.parameters, [Uses::default(), WRITES]);
        assert_eq!(effects.elsewhere, None);
    }

    #[test]
    fn variables_atomics_flags_and_loaded_pointers_are_named() {
        let effects =
            of(".visible .global .u32 count;\n.visible .entry k(.param .u64 x, .param .u64 flag) {\n\
            .reg .b64 %a<3>; .reg .b32 %r;\n\
            ld.param.u64 %a0, [x]; ld.param.u64 %a1, [flag]; atom.global.add.u32 %r, [count], 1;\n\
            ld.acquire.gpu.u32 %r, [%a1];\n\
            ld.global.u64 %a2, [%a0];\nst.u32 [%a2], %r; ret; }");
        assert_eq!(effects.parameters, [READS, SYNCHRONIZES]);
        assert_eq!(effects.variables, BTreeMap::from([("count".to_owned(), SYNCHRONIZES)]));
        assert_eq!(effects.elsewhere, Some(10));
    }

    #[test]
    fn text_that_is_no_ptx_has_errors() {
        assert!(effects("no module").is_err());
    }
}
