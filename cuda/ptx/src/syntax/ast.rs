//! A module as its text says it, with every name resolved.
//!
//! Names are slices of the text. What they refer to is an id: a [`RegisterId`], [`LabelId`],
//! [`PrototypeId`] or [`TableId`] indexes a list of its function, a [`VariableId`], [`FunctionId`]
//! or [`LocationId`] a list of the module. Scopes are gone: two registers `%r1` of two blocks `{ }`
//! are two registers with one name.
//!
//! Instructions stay generic: opcode, modifiers and operands in the order of the text. Which of
//! them go together is known to `code`. What stands for a list of known words or for simpler
//! operands is written out: `WARP_SZ` is the integer 32, a constant expression its value, a `.v4`
//! register `v` the vector `{v.x, v.y, v.z, v.w}`, `%tid` the vector of its three axes and a zero.

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
    /// A `.branchtargets` or `.calltargets`: position in [`Function::branch_tables`] or
    /// [`Function::call_tables`].
    TableId;
    /// A variable: position in [`Module::variables`].
    VariableId;
    /// A function: position in [`Module::functions`].
    FunctionId;
    /// A line of the source that was compiled: position in [`Module::locations`].
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
    /// All functions, kernels among them; also those that are only declared.
    pub functions: Vec<Function<'s>>,
    /// `.file`: the files that were compiled, by number.
    pub files: Vec<SourceFile<'s>>,
    /// `.loc`: where instructions come from.
    pub locations: Vec<SourceLocation>,
}

/// `.version 8.4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The number before the dot.
    pub major: u32,
    /// The number behind the dot.
    pub minor: u32,
}

/// `.target sm_90a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// 90.
    pub architecture: u32,
    /// What of the architecture the module may use.
    pub features: Features,
    /// `debug`: the module carries debugging information.
    pub debug: bool,
}

/// What of an architecture a module may use: the letter behind the number of its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Features {
    /// No letter: what later architectures have too.
    Common,
    /// `f`: also what other architectures of the family have.
    Family,
    /// `a`: also what only this architecture has.
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
    /// Where the code was inlined.
    pub inlined_at: Option<LocationId>,
}

/// How values lie in memory: a scalar, a vector, or an array of those.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The type of one component.
    pub element: Type,
    /// Components of a vector: 1, 2 or 4.
    pub vector: u32,
    /// Scalars or vectors in the array, over all dimensions; 1 if it is none, 0 if it is
    /// [`unsized`](Layout::is_unsized).
    pub count: u64,
    /// Whether it is an array.
    pub is_array: bool,
    /// Whether the first dimension is left open: `[]`, as of dynamic shared memory.
    pub is_unsized: bool,
    /// Alignment in bytes, a power of two: as declared, else that of the type.
    pub align: u32,
}

/// A variable, but for a function's parameters, which are in its [`Signature`].
#[derive(Clone, Debug, PartialEq)]
pub struct Variable<'s> {
    /// The name.
    pub name: &'s str,
    /// Where it is defined; where it is declared if it is `extern`.
    pub span: Span,
    /// Where it lives. [`Space::Param`] within functions: what calls pass.
    pub space: Space,
    /// Who sees it.
    pub linkage: Linkage,
    /// The function it is declared in; none at module scope.
    pub function: Option<FunctionId>,
    /// Type and size.
    pub layout: Layout,
    /// What it holds at first. Without one: zeros in `.global` and `.const`.
    pub initializer: Option<Initializer>,
}

/// What a variable holds at first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Initializer {
    /// The bytes, little-endian, up to the last one the text gives; the rest is zeros.
    pub bytes: Vec<u8>,
    /// Where addresses have to be put in, ascending.
    pub relocations: Vec<Relocation>,
}

/// An address, or a part of it, in an initializer: `((symbol + addend) & mask) >>
/// mask.trailing_zeros()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Where, in bytes from the variable's start.
    pub offset: u64,
    /// How many bytes.
    pub bytes: u32,
    /// Whose address: a variable at module scope, or a function.
    pub symbol: Symbol,
    /// What is added to it.
    pub addend: i64,
    /// Whether the generic address is meant, not that in the variable's space.
    pub generic: bool,
    /// Which bits; all ones in the ordinary case.
    pub mask: u64,
}

/// What a name with an address stands for.
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
    /// Where it is defined; where it is declared if it has no body.
    pub span: Span,
    /// Whether it is a kernel, `.entry`.
    pub is_entry: bool,
    /// Who sees it.
    pub linkage: Linkage,
    /// What it takes and gives.
    pub signature: Signature<'s>,
    /// What it asks of a launch.
    pub limits: Limits,
    /// `.alias`: the function that this one, which has no body, is another name for.
    pub alias_of: Option<FunctionId>,
    /// Its registers: those declared one by one, and of `%r<100>` those that are used.
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

/// What a function takes and gives.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Signature<'s> {
    /// What it returns.
    pub returns: Vec<Parameter<'s>>,
    /// What it takes.
    pub parameters: Vec<Parameter<'s>>,
    /// `.noreturn`.
    pub no_return: bool,
}

/// A parameter, also one that is returned.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter<'s> {
    /// The name; `_` where a prototype gives none.
    pub name: &'s str,
    /// Where it is declared.
    pub span: Span,
    /// How it is passed.
    pub storage: ParameterStorage,
    /// `.ptr`: what it points to.
    pub pointer: Option<PointerAttribute>,
}

/// How a parameter is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterStorage {
    /// `.param`: in memory, at [`Symbol::Parameter`] or [`Symbol::Return`].
    Memory(Layout),
    /// `.reg`: in a register, which the function has under this id if it has a body.
    Register(Type, RegisterId),
}

/// `.ptr .global .align 16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointerAttribute {
    /// The space of what it points to; none if the address is generic.
    pub space: Option<Space>,
    /// How what it points to is aligned; 0 where the text does not say.
    pub align: u32,
}

/// What a kernel asks of a launch, or promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Limits {
    /// `.maxntid`: threads of a block, at most as many as the product.
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid`: threads of a block, exactly.
    pub required_threads: Option<[u32; 3]>,
    /// `.minnctapersm`, and the older `.maxnctapersm`.
    pub min_blocks_per_multiprocessor: Option<u32>,
    /// `.maxnreg`.
    pub max_registers: Option<u32>,
    /// `.reqnctapercluster`: blocks of a cluster, exactly; `Some([0; 3])` for `.explicitcluster`.
    pub required_cluster: Option<[u32; 3]>,
    /// `.maxclusterrank`: blocks of a cluster, at most.
    pub max_cluster_rank: Option<u32>,
}

/// A register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register<'s> {
    /// The name, as it is used: `%r5`. Components of vector registers share the vector's.
    pub name: &'s str,
    /// The type.
    pub ty: Type,
    /// Where it is declared.
    pub span: Span,
}

/// A label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label<'s> {
    /// The name.
    pub name: &'s str,
    /// Where it stands.
    pub span: Span,
    /// The instruction it stands before: a position in [`Function::body`], its length at the end.
    pub target: u32,
}

/// `table: .branchtargets L1, L2;`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchTable<'s> {
    /// The name.
    pub name: &'s str,
    /// Where it stands.
    pub span: Span,
    /// Its labels.
    pub targets: Vec<LabelId>,
}

/// `table: .calltargets f, g;`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallTable<'s> {
    /// The name.
    pub name: &'s str,
    /// Where it stands.
    pub span: Span,
    /// Its functions, all of one signature.
    pub targets: Vec<FunctionId>,
}

/// `prototype: .callprototype (.param .b32 _) _ (.param .b64 _);`.
#[derive(Clone, Debug, PartialEq)]
pub struct Prototype<'s> {
    /// The name.
    pub name: &'s str,
    /// Where it stands.
    pub span: Span,
    /// What functions called through it take and give.
    pub signature: Signature<'s>,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction<'s> {
    /// The predicate under which it takes place.
    pub guard: Option<Guard>,
    /// The first word: `ld`, `setp`, `cp`.
    pub opcode: &'s str,
    /// The further words in order, without dots: `global`, `v4`, `f32`; also `L1::no_allocate`.
    pub modifiers: Box<[&'s str]>,
    /// The operands in order. Those of `call` are one: [`Operand::Call`].
    pub operands: Box<[Operand]>,
    /// Where it stands: the place of its opcode.
    pub span: Span,
    /// What it was compiled from.
    pub source: Option<LocationId>,
}

/// `@p` or `@!p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// Whether the instruction takes place where the predicate is false.
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
    /// `-%r1`, `%r1.b0`, `-%r1.h1`: what video instructions take.
    Selected {
        /// The register.
        register: RegisterId,
        /// Whether there is a minus before it.
        negated: bool,
        /// Which of its bytes or halves.
        selector: Option<Selector>,
    },
    /// `%tid.x`.
    Special(SpecialRegister),
    /// `1`, `0x10U`, `0f3F800000`, `1.5`.
    Immediate(Immediate),
    /// The address of a variable, a parameter or a function, and what is added to it: `x`, `x+4`,
    /// and `x[1]` with its index times the size of an element.
    Symbol {
        /// Whose address.
        symbol: Symbol,
        /// Bytes behind it.
        offset: i64,
    },
    /// `[%rd1+4]`, `[x]`, and, in instructions that access memory, `x[1]`.
    Address {
        /// Where it counts from.
        base: AddressBase,
        /// Bytes behind it.
        offset: i64,
    },
    /// `{%f1, %f2, _}`.
    Vector(Box<[Operand]>),
    /// `%p1|%p2`: two destinations.
    Pair(Box<(Operand, Operand)>),
    /// `_`: a destination that is not wanted.
    Sink,
    /// `L1`, of `bra`.
    Label(LabelId),
    /// The table of `brx.idx`.
    BranchTable(TableId),
    /// Everything behind `call`.
    Call(Box<Call>),
}

/// A part of a 32-bit register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selector {
    /// `.b0` to `.b3`.
    Byte(u8),
    /// `.h0`, `.h1`.
    Half(u8),
    /// `.b7610`, `.h32`, of instructions on four bytes or two halves: the numbers from the last to
    /// the first.
    Several {
        /// Whether the numbers are of bytes.
        bytes: bool,
        /// How many numbers there are.
        count: u8,
        /// The numbers.
        parts: [u8; 4],
    },
}

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Immediate {
    /// An integer: 64 bits, of which an instruction takes as many as it needs.
    Integer {
        /// The bits; in two's complement if negative.
        bits: u64,
        /// Whether it counts as unsigned.
        unsigned: bool,
    },
    /// `0f3F800000`: the bits of an `f32`.
    F32(u32),
    /// `1.5`, `0d3FF0000000000000`: the bits of an `f64`.
    F64(u64),
}

/// Where an address counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressBase {
    /// A register of 32 or 64 bits.
    Register(RegisterId),
    /// A name.
    Symbol(Symbol),
    /// 0: the offset is the address.
    Zero,
}

/// `call (%r1), f, (%r2, %r3), prototype;`.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Where results go: registers, or variables in [`Space::Param`] as [`Operand::Symbol`]; also
    /// [`Operand::Sink`].
    pub results: Vec<Operand>,
    /// What is called.
    pub target: CallTarget,
    /// What is passed: registers, constants, or variables in [`Space::Param`] as
    /// [`Operand::Symbol`].
    pub arguments: Vec<Operand>,
}

/// What a call calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallTarget {
    /// A function by its name.
    Direct(FunctionId),
    /// The function whose address is in a register; it has the prototype's signature.
    Prototype(RegisterId, PrototypeId),
    /// The function whose address is in a register; it is one of the table.
    Table(RegisterId, TableId),
}

impl Instruction<'_> {
    /// Returns whether one of the modifiers is this word.
    pub fn has(&self, modifier: &str) -> bool {
        self.modifiers.contains(&modifier)
    }

    /// Returns the instruction's name as the text has it: `ld.global.f32`.
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

    /// Returns the function that has the body: the one behind the alias if it is one.
    pub fn definition(&self, id: FunctionId) -> FunctionId {
        // What has an alias has a body, so that there is no second alias behind the first.
        self.functions[id.index()].alias_of.unwrap_or(id)
    }

    /// Returns the path of a source file.
    pub fn path(&self, file: u32) -> Option<&'s str> {
        let index = self.files.binary_search_by_key(&file, |entry| entry.number).ok()?;
        Some(self.files[index].path)
    }
}

impl Layout {
    /// Returns the size in bytes; 0 if unsized.
    pub fn bytes(&self) -> u64 {
        // Cannot overflow: the parser bounds it.
        self.count * u64::from(self.vector) * u64::from(self.element.bytes())
    }

    /// Returns whether both can be declarations of one variable: alignment aside they are the same,
    /// and sizes may be left open.
    pub(super) fn matches(&self, other: &Layout) -> bool {
        let sizes = self.count == other.count || self.is_unsized || other.is_unsized;
        sizes && (self.element, self.vector, self.is_array) == (other.element, other.vector, other.is_array)
    }
}

impl Signature<'_> {
    /// Returns whether both can be declarations of one function.
    pub(super) fn matches(&self, other: &Signature<'_>) -> bool {
        let same = |a: &[Parameter<'_>], b: &[Parameter<'_>]| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.storage.matches(&b.storage))
        };
        same(&self.returns, &other.returns) && same(&self.parameters, &other.parameters)
    }

    /// Returns how many parameters, returned ones included, are in registers.
    pub(super) fn register_count(&self) -> u32 {
        let all = self.returns.iter().chain(&self.parameters);
        all.filter(|parameter| matches!(parameter.storage, ParameterStorage::Register(..))).count() as u32
    }
}

impl Parameter<'_> {
    /// Returns whether it is an array whose size is left open, as for a variable number of
    /// arguments.
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
    /// Returns the space of what it names, given the module it is from; none for functions.
    pub fn space(self, module: &Module<'_>) -> Option<Space> {
        match self {
            Symbol::Variable(id) => Some(module.variables[id.index()].space),
            Symbol::Parameter(_) | Symbol::Return(_) => Some(Space::Param),
            Symbol::Function(_) => None,
        }
    }
}
