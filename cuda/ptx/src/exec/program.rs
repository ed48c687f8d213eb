//! A program in its compact form, which `code` produces and the rest of `exec` runs.

#![expect(unsafe_code, reason = "gives fields of instructions their types")]

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::fault::Place;
use super::level::{Handlers, Level};
use super::machine::Handler;
use super::matrix::Matrices;
use super::slots::{FIELDS, FieldType, Fields, Lists, Mismatch, Pred, Reg};
use super::video::Form;
use crate::syntax::types::SpecialRegister;

/// An instruction, ready to run: its handler, the handler's operands and a constant. A handler sees
/// the fields with their types ([`FieldType`]); a list of instructions stores them as numbers.
/// `imm` is a constant or the offset of an address, `site` the index of the instruction's
/// [`Site`](super::machine::Site).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Inst<Dst = u32, A = u32, B = u32, C = u32, D = u32, Site = u32> {
    pub(crate) run: Handler,
    pub(crate) dst: Dst,
    pub(crate) a: A,
    pub(crate) b: B,
    pub(crate) c: C,
    pub(crate) d: D,
    pub(crate) site: Site,
    pub(crate) imm: u64,
}

impl Inst {
    /// Returns the instruction with typed fields, as its handler sees it.
    ///
    /// # Safety
    /// The instruction's handler has fields of these types.
    pub(crate) unsafe fn typed<Dst, A, B, C, D, Site>(&self) -> &Inst<Dst, A, B, C, D, Site>
    where
        Dst: FieldType,
        A: FieldType,
        B: FieldType,
        C: FieldType,
        D: FieldType,
        Site: FieldType,
    {
        // SAFETY: `Inst` is `repr(C)`, and each `FieldType` is a transparent `u32`. The caller
        // promises that the handler has fields of these types, and `Unlinked::new` checked the
        // numbers against them.
        unsafe { &*std::ptr::from_ref(self).cast() }
    }
}

/// An instruction whose handler has not been picked for a processor. Its fields are those that its
/// handlers expect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unlinked {
    handlers: Handlers,
    numbers: [u32; FIELDS],
    imm: u64,
}

impl Unlinked {
    /// Combines handlers and fields. Fails if a field is not of the kind that the handlers expect.
    pub(crate) fn new(handlers: Handlers, fields: Fields) -> Result<Unlinked, Mismatch> {
        let (numbers, imm) = fields.resolve(handlers.uses())?;
        Ok(Unlinked { handlers, numbers, imm })
    }

    fn link(&self, level: Level, instrumented: bool) -> Inst {
        let [dst, a, b, c, d, site] = self.numbers;
        Inst { run: self.handlers.pick(level, instrumented), dst, a, b, c, d, site, imm: self.imm }
    }
}

/// A register that is filled before a function runs, and its value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Filled {
    Constant32(Reg<u32>, u32),
    Constant64(Reg<u64>, u64),
    /// The start of the frame's local memory.
    LocalBase(Reg<u64>),
    Special32(Reg<u32>, SpecialRegister),
    Special64(Reg<u64>, SpecialRegister),
    SpecialPredicate(Pred, SpecialRegister),
}

impl Filled {
    /// Returns the special register that the register is filled with, if any.
    pub(crate) fn special(self) -> Option<SpecialRegister> {
        match self {
            Filled::Special32(_, special)
            | Filled::Special64(_, special)
            | Filled::SpecialPredicate(_, special) => Some(special),
            _ => None,
        }
    }
}

/// A function of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct FunctionCode {
    /// The index in [`Program::functions`]; 0 is the kernel.
    pub(crate) index: u32,
    /// The index of the first instruction.
    pub(crate) start: u32,
    /// The size of a register window, in bytes.
    pub(crate) window_bytes: u32,
    /// The size of a frame's local memory, in bytes: parameters, results, variables.
    pub(crate) local_bytes: u32,
    /// The offset and size of each parameter and result in the frame's local memory.
    pub(crate) parameters: Vec<(u32, u32)>,
    pub(crate) returns: Vec<(u32, u32)>,
    /// The registers to fill. The last `per_block` of them are filled before every block.
    pub(crate) filled: Vec<Filled>,
    pub(crate) per_block: usize,
    /// The number of 32-bit registers that the text declares and the code uses.
    pub(crate) registers: u32,
}

/// A call. Arguments and results are given by offset and size in the caller's local memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallSite {
    pub(crate) arguments: Vec<(u32, u32)>,
    pub(crate) results: Vec<(u32, u32)>,
    /// The functions that may be called, if the call lists them.
    pub(crate) targets: Option<Vec<u32>>,
}

/// The line of text that an instruction comes from.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) name: Box<str>,
    pub(crate) line: u32,
    pub(crate) source: Option<(Arc<str>, u32)>,
}

/// A kernel and everything it may call.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) functions: Vec<FunctionCode>,
    pub(crate) call_sites: Vec<CallSite>,
    /// Lists of registers that do not fit into an instruction, such as vectors.
    pub(crate) lists: Lists,
    /// The jump tables, as indices of instructions.
    pub(crate) targets: Vec<u32>,
    /// The number of instructions that have a [`Site`](super::machine::Site).
    pub(crate) sites: u32,
    /// Bytes of local memory of a thread.
    pub(crate) local_stride: u32,
    /// Bytes of static shared memory, without those that the system reserves in front of it.
    pub(crate) shared_bytes: u32,
    /// Bytes of shared memory that the system reserves and the program may use.
    pub(crate) reserved_shared_bytes: u32,
    /// Bytes of parameters.
    pub(crate) param_bytes: u32,
    pub(crate) matrices: Matrices,
    pub(crate) videos: Vec<Form>,
    pub(crate) code: Vec<Unlinked>,
    /// For each instruction, the index of its origin in `origins`.
    pub(crate) origin_of: Vec<u32>,
    pub(crate) origins: Vec<Origin>,
    /// The functions that can be called by address: maps the module's number to the index in
    /// `functions`.
    pub(crate) by_address: HashMap<u32, u32>,
    linked: [OnceLock<Box<[Inst]>>; 6],
}

impl Program {
    /// Creates a program without functions.
    pub(crate) fn new(name: &str, param_bytes: u32) -> Program {
        Program { name: name.to_owned(), param_bytes, ..Program::default() }
    }

    /// Returns the code for a processor, with or without instruments.
    pub(crate) fn linked(&self, level: Level, instrumented: bool) -> &[Inst] {
        let copy = &self.linked[level as usize * 2 + usize::from(instrumented)];
        copy.get_or_init(|| {
            self.code.iter().map(|instruction| instruction.link(level, instrumented)).collect()
        })
    }

    fn origin(&self, pc: u32) -> Option<&Origin> {
        self.origin_of.get(pc as usize).and_then(|&origin| self.origins.get(origin as usize))
    }

    /// Returns the name of an instruction in the text, with its modifiers.
    pub(crate) fn name_of(&self, pc: u32) -> &str {
        self.origin(pc).map_or("", |origin| &origin.name)
    }

    /// Returns the place that an instruction comes from.
    pub(crate) fn place(&self, pc: u32) -> Place {
        self.origin(pc).map_or_else(Place::default, |origin| Place {
            instruction: origin.name.to_string(),
            line: origin.line,
            source: origin.source.as_ref().map(|(file, line)| (file.to_string(), *line)),
        })
    }

    /// Returns the index of function `id` of the module, if this call site may call it.
    pub(crate) fn callable(&self, id: u64, site: u32) -> Option<u32> {
        let callee = *self.by_address.get(&u32::try_from(id).ok()?)?;
        let site = &self.call_sites[site as usize];
        let code = &self.functions[callee as usize];
        let listed = site.targets.as_ref().is_none_or(|targets| targets.contains(&(id as u32)));
        let sizes = |list: &[(u32, u32)]| list.iter().map(|(_, bytes)| *bytes).collect::<Vec<_>>();
        let fits =
            sizes(&site.arguments) == sizes(&code.parameters) && sizes(&site.results) == sizes(&code.returns);
        (listed && fits).then_some(callee)
    }
}
