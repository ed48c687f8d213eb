//! A parsed module with every name resolved.
//!
//! Names are slices of the text, and references to them are ids. A [`RegisterId`], [`LabelId`],
//! [`PrototypeId`] or [`TableId`] indexes a list of its function; a [`VariableId`], [`FunctionId`]
//! or [`LocationId`] indexes a list of the module. Scopes are resolved: two registers `%r1` of two
//! blocks `{ }` are two registers with one name.
//!
//! Instructions stay generic: opcode, modifiers and operands in the order of the text; `code` knows
//! which of them are valid together. Abbreviations are expanded: `WARP_SZ` is the integer 32, a
//! constant expression is its value, a `.v4` register `v` is the vector `{v.x, v.y, v.z, v.w}`, and
//! `%tid` is the vector of its three axes and a zero.

use std::fmt;

use super::types::{Linkage, Space, SpecialRegister, Type};
use crate::Span;

macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident;)+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// Returns the position in the list.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )+};
}

ids! {
    /// A register: position in [`Function::registers`].
    RegisterId;
    /// A label: position in [`Function::labels`].
    LabelId;
    /// A `.callprototype`: position in [`Function::prototypes`].
    PrototypeId;
    /// A position in [`Function::branch_tables`] or [`Function::call_tables`].
    TableId;
    /// A variable: position in [`Module::variables`].
    VariableId;
    /// A function: position in [`Module::functions`].
    FunctionId;
    /// A line of the compiled source: position in [`Module::locations`].
    LocationId;
}

/// A module.
#[derive(Clone, Debug, PartialEq)]
pub struct Module<'s> {
    /// `.version`.
    pub version: Version,
    /// `.target`.
    pub target: Target,
    /// All variables, of all spaces and scopes.
    pub variables: Vec<Variable<'s>>,
    /// All functions, including kernels and functions that are only declared.
    pub functions: Vec<Function<'s>>,
    /// `.file`: the compiled source files, by number.
    pub files: Vec<SourceFile<'s>>,
    /// `.loc`: the source locations of instructions.
    pub locations: Vec<SourceLocation>,
}

/// `.version 8.4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The number before the dot.
    pub major: u32,
    /// The number after the dot.
    pub minor: u32,
}

/// `.target sm_90a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The architecture's number, such as 90.
    pub architecture: u32,
    /// The features of the architecture that the module may use.
    pub features: Features,
    /// `debug`: the module contains debugging information.
    pub debug: bool,
}

/// The features that a module may use: the letter after the number of its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Features {
    /// No letter: features that later architectures have too.
    Common,
    /// `f`: also features of the architecture's family.
    Family,
    /// `a`: also features that only this architecture has.
    Specific,
}

impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Features::Common => "",
            Features::Family => "f",
            Features::Specific => "a",
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}{}", self.architecture, self.features)
    }
}

/// `.file 1 "kernel.cu"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile<'s> {
    /// The number by which `.loc` refers to it.
    pub number: u32,
    /// The path.
    pub path: &'s str,
}

/// `.loc 1 15 3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    /// [`SourceFile::number`].
    pub file: u32,
    /// The line, from 1; 0 if there is none.
    pub line: u32,
    /// The column, from 1; 0 if there is none.
    pub column: u32,
    /// The location at which the code was inlined.
    pub inlined_at: Option<LocationId>,
}

/// The memory layout of values: a scalar, a vector, or an array of those.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The type of one component.
    pub element: Type,
    /// The number of components of a vector: 1, 2 or 4.
    pub vector: u32,
    /// The number of scalars or vectors: 1 without an array, 0 if [`unsized`](Layout::is_unsized).
    pub count: u64,
    /// Whether it is an array.
    pub is_array: bool,
    /// Whether the first dimension is open (`[]`), as for dynamic shared memory.
    pub is_unsized: bool,
    /// The alignment in bytes, a power of two: the declared one, or else that of the type.
    pub align: u32,
}

/// A variable. Parameters of functions are in their [`Signature`].
#[derive(Clone, Debug, PartialEq)]
pub struct Variable<'s> {
    /// The name.
    pub name: &'s str,
    /// The place of its definition, or of its declaration if it is `extern`.
    pub span: Span,
    /// The state space. Within functions, [`Space::Param`] holds the values that calls pass.
    pub space: Space,
    /// The visibility outside the module.
    pub linkage: Linkage,
    /// The function that declares it, or `None` at module scope.
    pub function: Option<FunctionId>,
    /// Type and size.
    pub layout: Layout,
    /// The initial value. Without one, `.global` and `.const` variables are zero.
    pub initializer: Option<Initializer>,
}

/// The initial value of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Initializer {
    /// The bytes up to the last one in the text. The rest is zero.
    pub bytes: Vec<u8>,
    /// The places where addresses are inserted, in ascending order.
    pub relocations: Vec<Relocation>,
}

/// An address, or a part of it, in an initializer: `((symbol + addend) & mask) >>
/// mask.trailing_zeros()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// The offset from the variable's start, in bytes.
    pub offset: u64,
    /// The number of bytes.
    pub bytes: u32,
    /// The owner of the address: a variable at module scope, or a function.
    pub symbol: Symbol,
    /// The number that is added to it.
    pub addend: i64,
    /// Whether it is the generic address instead of the one in the variable's space.
    pub generic: bool,
    /// The selected bits, usually all.
    pub mask: u64,
}

/// The meaning of a name that has an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symbol {
    /// A variable.
    Variable(VariableId),
    /// A parameter of this function, by position; it lives in [`Space::Param`].
    Parameter(u32),
    /// A return parameter of this function, by position.
    Return(u32),
    /// A function.
    Function(FunctionId),
}

/// A kernel or a device function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function<'s> {
    /// The name.
    pub name: &'s str,
    /// The place of its definition, or of its declaration if it has no body.
    pub span: Span,
    /// Whether it is a kernel, `.entry`.
    pub is_entry: bool,
    /// The visibility outside the module.
    pub linkage: Linkage,
    /// The parameters and results.
    pub signature: Signature<'s>,
    /// The limits that it sets for launches.
    pub limits: Limits,
    /// `.alias`: the function for which this one, which has no body, is another name.
    pub alias_of: Option<FunctionId>,
    /// The registers: those declared individually, and the used ones of `%r<100>`.
    pub registers: Vec<Register<'s>>,
    /// Its labels.
    pub labels: Vec<Label<'s>>,
    /// Its `.branchtargets`.
    pub branch_tables: Vec<BranchTable<'s>>,
    /// Its `.calltargets`.
    pub call_tables: Vec<CallTable<'s>>,
    /// Its `.callprototype`s.
    pub prototypes: Vec<Prototype<'s>>,
    /// Its instructions; `None` if it is only declared.
    pub body: Option<Vec<Instruction<'s>>>,
}

/// The parameters and results of a function.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Signature<'s> {
    /// The results.
    pub returns: Vec<Parameter<'s>>,
    /// The parameters.
    pub parameters: Vec<Parameter<'s>>,
    /// `.noreturn`.
    pub no_return: bool,
}

/// A parameter, or a returned one.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter<'s> {
    /// The name, or `_` if a prototype has none.
    pub name: &'s str,
    /// The place of its declaration.
    pub span: Span,
    /// The way in which it is passed.
    pub storage: ParameterStorage,
    /// `.ptr`: the properties of its target.
    pub pointer: Option<PointerAttribute>,
}

/// The way in which a parameter is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterStorage {
    /// `.param`: in memory, at [`Symbol::Parameter`] or [`Symbol::Return`].
    Memory(Layout),
    /// `.reg`: in a register. The id is valid if the function has a body.
    Register(Type, RegisterId),
}

/// `.ptr .global .align 16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointerAttribute {
    /// The state space of its target, or `None` for a generic address.
    pub space: Option<Space>,
    /// The alignment of its target, or 0 if it is not given.
    pub align: u32,
}

/// The limits that a kernel sets for launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Limits {
    /// `.maxntid`: the product is the most threads of a block.
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid`: the exact number of threads of a block.
    pub required_threads: Option<[u32; 3]>,
    /// `.minnctapersm`, and the older `.maxnctapersm`.
    pub min_blocks_per_multiprocessor: Option<u32>,
    /// `.maxnreg`.
    pub max_registers: Option<u32>,
    /// `.reqnctapercluster`: blocks of a cluster; `Some([0; 3])` for `.explicitcluster`.
    pub required_cluster: Option<[u32; 3]>,
    /// `.maxclusterrank`: the most blocks of a cluster.
    pub max_cluster_rank: Option<u32>,
}

/// A register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register<'s> {
    /// The name, such as `%r5`. Components of a vector register share it.
    pub name: &'s str,
    /// The type.
    pub ty: Type,
    /// The place of its declaration.
    pub span: Span,
}

/// A label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label<'s> {
    /// The name.
    pub name: &'s str,
    /// The place in the text.
    pub span: Span,
    /// The next instruction: a position in [`Function::body`], or its length.
    pub target: u32,
}

/// `table: .branchtargets L1, L2;`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchTable<'s> {
    /// The name.
    pub name: &'s str,
    /// The place in the text.
    pub span: Span,
    /// Its labels.
    pub targets: Vec<LabelId>,
}

/// `table: .calltargets f, g;`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallTable<'s> {
    /// The name.
    pub name: &'s str,
    /// The place in the text.
    pub span: Span,
    /// The functions, all with one signature.
    pub targets: Vec<FunctionId>,
}

/// `prototype: .callprototype (.param .b32 _) _ (.param .b64 _);`.
#[derive(Clone, Debug, PartialEq)]
pub struct Prototype<'s> {
    /// The name.
    pub name: &'s str,
    /// The place in the text.
    pub span: Span,
    /// The parameters and results of functions called through it.
    pub signature: Signature<'s>,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction<'s> {
    /// The predicate under which it executes.
    pub guard: Option<Guard>,
    /// The first word: `ld`, `setp`, `cp`.
    pub opcode: &'s str,
    /// The other words in order, without dots: `global`, `L1::no_allocate`.
    pub modifiers: Box<[&'s str]>,
    /// The operands in order. A `call` has a single one: [`Operand::Call`].
    pub operands: Box<[Operand]>,
    /// The place of its opcode.
    pub span: Span,
    /// The source location.
    pub source: Option<LocationId>,
}

/// `@p` or `@!p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// Whether the instruction executes if the predicate is false.
    pub negated: bool,
    /// The predicate, whose type is [`Type::Pred`].
    pub register: RegisterId,
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// `%r1`.
    Register(RegisterId),
    /// `!%p1`.
    Not(RegisterId),
    /// `-%r1`, `%r1.b0`, `-%r1.h1`: an operand of a video instruction.
    Selected {
        /// The register.
        register: RegisterId,
        /// Whether it has a minus sign.
        negated: bool,
        /// The selected bytes or halves.
        selector: Option<Selector>,
    },
    /// `%tid.x`.
    Special(SpecialRegister),
    /// `1`, `0x10U`, `0f3F800000`, `1.5`.
    Immediate(Immediate),
    /// The address of a variable, a parameter or a function, plus an offset: `x`, `x+4`, and `x[1]`
    /// with its index times the size of an element.
    Symbol {
        /// The owner of the address.
        symbol: Symbol,
        /// The offset in bytes.
        offset: i64,
    },
    /// `[%rd1+4]`, `[x]`, and, in instructions that access memory, `x[1]`.
    Address {
        /// The base of the address.
        base: AddressBase,
        /// The offset in bytes.
        offset: i64,
    },
    /// `{%f1, %f2, _}`.
    Vector(Box<[Operand]>),
    /// `%p1|%p2`: two destinations.
    Pair(Box<(Operand, Operand)>),
    /// `_`: a destination that discards the result.
    Sink,
    /// `L1`, of `bra`.
    Label(LabelId),
    /// The table of `brx.idx`.
    BranchTable(TableId),
    /// The operands of `call`.
    Call(Box<Call>),
}

/// A part of a 32-bit register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selector {
    /// `.b0` to `.b3`.
    Byte(u8),
    /// `.h0`, `.h1`.
    Half(u8),
    /// `.b7610`, `.h32`: the numbers of bytes or halves from the last to the first.
    Several {
        /// Whether the numbers select bytes.
        bytes: bool,
        /// The count of numbers.
        count: u8,
        /// The numbers.
        parts: [u8; 4],
    },
}

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Immediate {
    /// An integer of 64 bits, of which an instruction uses as many as it needs.
    Integer {
        /// The bits, in two's complement if negative.
        bits: u64,
        /// Whether it is unsigned.
        unsigned: bool,
    },
    /// `0f3F800000`: the bits of an `f32`.
    F32(u32),
    /// `1.5`, `0d3FF0000000000000`: the bits of an `f64`.
    F64(u64),
}

/// The base of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressBase {
    /// A register of 32 or 64 bits.
    Register(RegisterId),
    /// A name.
    Symbol(Symbol),
    /// Zero: the offset is the address.
    Zero,
}

/// `call (%r1), f, (%r2, %r3), prototype;`.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The destinations of results: registers, variables in [`Space::Param`] as
    /// [`Operand::Symbol`], or [`Operand::Sink`].
    pub results: Vec<Operand>,
    /// The callee.
    pub target: CallTarget,
    /// The arguments: registers, constants, or [`Space::Param`] variables as [`Operand::Symbol`].
    pub arguments: Vec<Operand>,
}

/// The callee of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallTarget {
    /// A function by its name.
    Direct(FunctionId),
    /// A function whose address is in a register, with the prototype's signature.
    Prototype(RegisterId, PrototypeId),
    /// A function of the table, whose address is in a register.
    Table(RegisterId, TableId),
}

impl Instruction<'_> {
    /// Returns whether the instruction has this modifier.
    pub fn has(&self, modifier: &str) -> bool {
        self.modifiers.contains(&modifier)
    }

    /// Returns the instruction's full name in the text, such as `ld.global.f32`.
    pub fn full_name(&self) -> String {
        let mut name = self.opcode.to_owned();
        for modifier in &self.modifiers {
            name.push('.');
            name.push_str(modifier);
        }
        name
    }
}

impl<'s> Module<'s> {
    /// Returns the function with this name.
    pub fn function(&self, name: &str) -> Option<FunctionId> {
        let position = self.functions.iter().position(|function| function.name == name);
        position.map(|index| self.definition(FunctionId(index as u32)))
    }

    /// Returns the function with the body: the target if `id` is an alias.
    pub fn definition(&self, id: FunctionId) -> FunctionId {
        // The target of an alias has a body, so it is not an alias itself.
        self.functions[id.index()].alias_of.unwrap_or(id)
    }

    /// Returns the path of a source file.
    pub fn path(&self, file: u32) -> Option<&'s str> {
        let index = self.files.binary_search_by_key(&file, |entry| entry.number).ok()?;
        Some(self.files[index].path)
    }
}

impl Layout {
    /// Returns the size in bytes, or 0 if unsized.
    pub fn bytes(&self) -> u64 {
        // Cannot overflow: the parser bounds it.
        self.count * u64::from(self.vector) * u64::from(self.element.bytes())
    }

    /// Returns whether both can declare one variable: equal except for alignment and open sizes.
    pub(super) fn matches(&self, other: &Layout) -> bool {
        let sizes = self.count == other.count || self.is_unsized || other.is_unsized;
        sizes && (self.element, self.vector, self.is_array) == (other.element, other.vector, other.is_array)
    }
}

impl Signature<'_> {
    /// Returns whether both can declare one function.
    pub(super) fn matches(&self, other: &Signature<'_>) -> bool {
        let same = |a: &[Parameter<'_>], b: &[Parameter<'_>]| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.storage.matches(&b.storage))
        };
        same(&self.returns, &other.returns) && same(&self.parameters, &other.parameters)
    }

    /// Returns how many parameters and results are in registers.
    pub(super) fn register_count(&self) -> u32 {
        let all = self.returns.iter().chain(&self.parameters);
        all.filter(|parameter| matches!(parameter.storage, ParameterStorage::Register(..))).count() as u32
    }
}

impl Parameter<'_> {
    /// Returns whether it is an array of open size.
    pub fn is_unsized(&self) -> bool {
        matches!(self.storage, ParameterStorage::Memory(Layout { is_unsized: true, .. }))
    }
}

impl ParameterStorage {
    fn matches(&self, other: &ParameterStorage) -> bool {
        match (self, other) {
            (ParameterStorage::Memory(a), ParameterStorage::Memory(b)) => a.matches(b),
            (ParameterStorage::Register(a, _), ParameterStorage::Register(b, _)) => a == b,
            _ => false,
        }
    }
}

impl Symbol {
    /// Returns the state space in the module, or `None` for functions.
    pub fn space(self, module: &Module<'_>) -> Option<Space> {
        match self {
            Symbol::Variable(id) => Some(module.variables[id.index()].space),
            Symbol::Parameter(_) | Symbol::Return(_) => Some(Space::Param),
            Symbol::Function(_) => None,
        }
    }
}
