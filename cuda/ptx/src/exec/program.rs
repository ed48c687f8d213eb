//! A program in its compact form, as `code` makes it: what the rest of `exec` runs.

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

/// An instruction, ready to run: its handler, the handler's operands, a constant. The types of the
/// fields are those the handler gives them ([`FieldType`]); a list of instructions has numbers
/// instead. `imm` is a constant or the offset of an address, `site` what memory the instruction
/// accessed last.
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
    /// Returns the instruction as its handler sees it.
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
        // SAFETY: the layout of an `Inst` is that of C, and each `FieldType` is a transparent
        // `u32`. By the caller's promise `Unlinked::new` has checked that the numbers are those of
        // registers as the types say.
        unsafe { &*std::ptr::from_ref(self).cast() }
    }
}

/// An instruction whose handler has not been picked for a processor. Its fields are those its
/// handlers take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unlinked {
    handlers: Handlers,
    numbers: [u32; FIELDS],
    imm: u64,
}

impl Unlinked {
    /// Puts handlers and fields together. It is an error if a field is not what the handlers take.
    pub(crate) fn new(handlers: Handlers, fields: Fields) -> Result<Unlinked, Mismatch> {
        let (numbers, imm) = fields.resolve(handlers.uses())?;
        Ok(Unlinked { handlers, numbers, imm })
    }

    fn link(&self, level: Level, instrumented: bool) -> Inst {
        let [dst, a, b, c, d, site] = self.numbers;
        Inst { run: self.handlers.pick(level, instrumented), dst, a, b, c, d, site, imm: self.imm }
    }
}

/// A register that is filled before a function runs, and with what.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Filled {
    Constant32(Reg<u32>, u32),
    Constant64(Reg<u64>, u64),
    /// Where the frame's local memory begins.
    LocalBase(Reg<u64>),
    Special32(Reg<u32>, SpecialRegister),
    Special64(Reg<u64>, SpecialRegister),
    SpecialPredicate(Pred, SpecialRegister),
}

impl Filled {
    /// Returns the special register that the register is filled with, if it is.
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
    /// The position in [`Program::functions`]; 0 is the kernel.
    pub(crate) index: u32,
    /// The first instruction.
    pub(crate) start: u32,
    /// Bytes of a register window.
    pub(crate) window_bytes: u32,
    /// Bytes of local memory of a frame: parameters, results, variables.
    pub(crate) local_bytes: u32,
    /// Offset and size of each parameter and result in the frame's local memory.
    pub(crate) parameters: Vec<(u32, u32)>,
    pub(crate) returns: Vec<(u32, u32)>,
    /// Registers to fill; the last `per_block` of them before every block.
    pub(crate) filled: Vec<Filled>,
    pub(crate) per_block: usize,
    /// 32-bit registers that the text declares and the code uses.
    pub(crate) registers: u32,
}

/// A call: offset and size of what is passed, in the caller's local memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallSite {
    pub(crate) arguments: Vec<(u32, u32)>,
    pub(crate) results: Vec<(u32, u32)>,
    /// The functions that may be called, if the call names them.
    pub(crate) targets: Option<Vec<u32>>,
}

/// Where an instruction comes from.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) name: Box<str>,
    pub(crate) line: u32,
    pub(crate) source: Option<(Arc<str>, u32)>,
}

/// A kernel and all it may call.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) functions: Vec<FunctionCode>,
    pub(crate) call_sites: Vec<CallSite>,
    /// Lists of registers that do not fit an instruction, as vectors.
    pub(crate) lists: Lists,
    /// The jump tables: positions of instructions.
    pub(crate) targets: Vec<u32>,
    /// How many instructions have a [`Site`](super::machine::Site).
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
    /// For each instruction, its position in `origins`.
    pub(crate) origin_of: Vec<u32>,
    pub(crate) origins: Vec<Origin>,
    /// The functions that can be called by address: from the module's number to the position here.
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

    /// Returns the name of the instruction of the text, with its modifiers.
    pub(crate) fn name_of(&self, pc: u32) -> &str {
        self.origin(pc).map_or("", |origin| &origin.name)
    }

    /// Returns where an instruction comes from.
    pub(crate) fn place(&self, pc: u32) -> Place {
        self.origin(pc).map_or_else(Place::default, |origin| Place {
            instruction: origin.name.to_string(),
            line: origin.line,
            source: origin.source.as_ref().map(|(file, line)| (file.to_string(), *line)),
        })
    }

    /// Returns the function with this number in the module, if it can be called from this call
    /// site.
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
