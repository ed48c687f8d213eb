//! A program in its compact form, as `code` makes it: what the rest of `exec` runs.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::fault::Place;
use super::level::{Handlers, Level};
use super::machine::Handler;
use super::matrix::Matrices;
use super::video::Form;
use crate::syntax::types::SpecialRegister;

/// Bytes from the low to the high half of a register of 128 bits, each a slot of 64 bits.
pub(crate) const WIDE_HALF: u32 = 256;

/// An instruction, ready to run. What the fields mean is the handler's affair: `dst`, `a`, `b`, `c`, `d` are
/// mostly offsets of registers in the window, `imm` a constant or an address' offset, `site` what memory it
/// accessed last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inst {
    pub(crate) run: Handler,
    pub(crate) dst: u32,
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) c: u32,
    pub(crate) d: u32,
    pub(crate) site: u32,
    pub(crate) imm: u64,
}

/// An instruction whose handler has not been picked for a processor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unlinked {
    pub(crate) handlers: Handlers,
    pub(crate) dst: u32,
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) c: u32,
    pub(crate) d: u32,
    pub(crate) site: u32,
    pub(crate) imm: u64,
}

/// What a slot is filled with before a function runs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Filled {
    Constant32(u32),
    Constant64(u64),
    /// Where the frame's local memory begins.
    LocalBase,
    Special(SpecialRegister),
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
    /// Slots to fill; the last `per_block` of them before every block.
    pub(crate) filled: Vec<(u32, Filled)>,
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
    /// Lists of operands that do not fit an instruction: vectors, jump tables.
    pub(crate) operands: Vec<u32>,
    /// How many instructions have a [`Site`](super::machine::Site).
    pub(crate) sites: u32,
    /// Bytes of local memory of a thread.
    pub(crate) local_stride: u32,
    /// Bytes of static shared memory.
    pub(crate) shared_bytes: u32,
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
    /// A program without functions.
    pub(crate) fn new(name: &str, shared_bytes: u32, param_bytes: u32) -> Program {
        Program { name: name.to_owned(), shared_bytes, param_bytes, ..Program::default() }
    }

    /// The code for a processor, with or without instruments.
    pub(crate) fn linked(&self, level: Level, instrumented: bool) -> &[Inst] {
        let copy = &self.linked[level as usize * 2 + usize::from(instrumented)];
        copy.get_or_init(|| {
            let link = |from: &Unlinked| {
                let handlers = if instrumented { &from.handlers.instrumented } else { &from.handlers.plain };
                let Unlinked { dst, a, b, c, d, site, imm, .. } = *from;
                Inst { run: handlers[level as usize], dst, a, b, c, d, site, imm }
            };
            self.code.iter().map(link).collect()
        })
    }

    fn origin(&self, pc: u32) -> Option<&Origin> {
        self.origin_of.get(pc as usize).and_then(|&origin| self.origins.get(origin as usize))
    }

    /// The name of the instruction of the text, with its modifiers.
    pub(crate) fn name_of(&self, pc: u32) -> &str {
        self.origin(pc).map_or("", |origin| &origin.name)
    }

    /// Where an instruction comes from.
    pub(crate) fn place(&self, pc: u32) -> Place {
        self.origin(pc).map_or_else(Place::default, |origin| Place {
            instruction: origin.name.to_string(),
            line: origin.line,
            source: origin.source.as_ref().map(|(file, line)| (file.to_string(), *line)),
        })
    }

    /// The function with this number in the module, if it can be called from this call site.
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
