//! Functions: the part before their bodies, and the merging of several declarations of one
//! function.

use super::{Body, Failed, Global, Parser};
use crate::{
    Span,
    syntax::{
        MAX_FUNCTIONS,
        ast::{Function, FunctionId, Limits, Module, ParameterStorage, Signature, Version},
        lexer::{Tok, Token},
        suggest::nearest,
        types::Linkage,
    },
};

/// The directives between a function's parameters and its body, for suggestions.
const DIRECTIVES: &[&str] = &[
    "maxntid",
    "reqntid",
    "minnctapersm",
    "maxnctapersm",
    "maxnreg",
    "noreturn",
    "pragma",
    "reqnctapercluster",
    "explicitcluster",
    "maxclusterrank",
    "blocksareclusters",
    "attribute",
    "abi_preserve",
    "abi_preserve_control",
];

/// The greatest size of a kernel's parameters, from PTX ISA 8.1 and sm_70 on, and before.
const MAX_KERNEL_PARAMETER_BYTES: u64 = 32_764;
const KERNEL_PARAMETER_BYTES_MAX_BEFORE: u64 = 4352;

/// The part of a function before its body.
struct Head<'s> {
    name: Token<'s>,
    is_entry: bool,
    linkage: Linkage,
    signature: Signature<'s>,
    limits: Limits,
}

impl<'s> Parser<'s> {
    /// Parses `.entry` or `.func`, up to the end of its body or its declaration.
    pub(super) fn function(&mut self, linkage: Linkage) -> Result<(), Failed> {
        let head = self.head(linkage)?;
        let brace = self.token.span;
        if !self.accept(Tok::LBrace) {
            let is_entry = head.is_entry;
            self.declare_function(head, false);
            let next_begins = self.begins_directive() || self.is(Tok::Eof);
            return if next_begins && !is_entry { Ok(()) } else { self.expect_semicolon() };
        }
        if linkage == Linkage::Extern {
            self.report(head.name.span, format!("{} is .extern and has a body", head.name.describe()));
        }
        let id = self.declare_function(head, true);
        let mut body = Body::new(id, &self.module.functions[id.index()].signature);
        self.statements(&mut body, brace);
        self.finish_function(body);
        Ok(())
    }

    fn head(&mut self, linkage: Linkage) -> Result<Head<'s>, Failed> {
        let is_entry = self.token.text == "entry";
        self.bump();
        while self.is_dotted("attribute") {
            self.attribute()?;
        }
        let mut signature = Signature::default();
        if self.is(Tok::LParen) {
            if is_entry {
                return self.fail(self.token.span, "a kernel returns nothing");
            }
            signature.returns = self.parameters(0, false)?;
        }
        let name = self.expect_name("the name of the function")?;
        if self.is(Tok::LParen) {
            let registers = signature.register_count();
            signature.parameters = self.parameters(registers, false)?;
        }
        if is_entry {
            self.check_kernel_parameters(&signature, name.span);
        } else if let [_, second, ..] = &signature.returns[..]
            && signature.register_count() < signature.returns.len() as u32
        {
            self.report(second.span, "a function returns one .param, or any number of .reg");
        }
        let mut limits = Limits::default();
        // The first compilers wrote declarations without a semicolon, directly followed by the next
        // directive.
        while self.is(Tok::Dotted) && (is_entry || self.is_dotted("pragma") || !self.begins_directive()) {
            self.function_directive(is_entry, &mut signature, &mut limits)?;
        }
        if limits.max_threads.is_some() && limits.required_threads.is_some() {
            self.report(name.span, ".maxntid and .reqntid exclude each other");
        }
        Ok(Head { name, is_entry, linkage, signature, limits })
    }

    fn check_kernel_parameters(&mut self, signature: &Signature<'s>, span: Span) {
        let mut bytes = 0_u64;
        for parameter in &signature.parameters {
            match parameter.storage {
                ParameterStorage::Memory(layout) => {
                    bytes = bytes.next_multiple_of(layout.align.into()) + layout.bytes();
                    if layout.is_unsized {
                        self.report(parameter.span, "a kernel's parameter needs a size");
                    }
                }
                ParameterStorage::Register(..) => {
                    self.report(parameter.span, "a kernel takes its parameters in .param, not in .reg");
                }
            }
        }
        let Module { version, target, .. } = self.module;
        let recent = version >= Version { major: 8, minor: 1 } && target.architecture >= 70;
        let most = if recent { MAX_KERNEL_PARAMETER_BYTES } else { KERNEL_PARAMETER_BYTES_MAX_BEFORE };
        if bytes > most {
            self.report(span, format!("the parameters take {bytes} bytes; {most} is the most"));
        }
    }

    /// Parses `.attribute(.unified(1, 2))` or `.attribute(.managed)`, which concern the driver's
    /// placement of a variable.
    pub(super) fn attribute(&mut self) -> Result<(), Failed> {
        self.bump();
        self.expect(Tok::LParen, "'('")?;
        loop {
            let name = self.expect(Tok::Dotted, "'.managed' or '.unified'")?;
            match name.text {
                "managed" => {}
                "unified" => {
                    self.expect(Tok::LParen, "'('")?;
                    self.expect_u64("a number")?;
                    self.expect(Tok::Comma, "','")?;
                    self.expect_u64("a number")?;
                    self.expect(Tok::RParen, "')'")?;
                }
                _ => return self.fail(name.span, format!("unknown attribute {}", name.describe())),
            }
            if !self.accept(Tok::Comma) {
                break;
            }
        }
        self.expect(Tok::RParen, "')'")?;
        Ok(())
    }

    fn function_directive(
        &mut self,
        is_entry: bool,
        signature: &mut Signature<'s>,
        limits: &mut Limits,
    ) -> Result<(), Failed> {
        let token = self.token;
        let for_kernels = !matches!(
            token.text,
            "noreturn" | "pragma" | "attribute" | "abi_preserve" | "abi_preserve_control"
        );
        if for_kernels && !is_entry && DIRECTIVES.contains(&token.text) {
            return self.fail(token.span, format!("{} belongs to kernels", token.describe()));
        }
        if token.text == "noreturn" && is_entry {
            return self.fail(token.span, "'.noreturn' belongs to functions that are called");
        }
        match token.text {
            "pragma" => return self.pragma(),
            "attribute" => return self.attribute(),
            _ => self.bump(),
        }
        match token.text {
            "maxntid" => limits.max_threads = Some(self.dimensions()?),
            "reqntid" => limits.required_threads = Some(self.dimensions()?),
            "reqnctapercluster" => limits.required_cluster = Some(self.dimensions()?),
            "explicitcluster" => limits.required_cluster = limits.required_cluster.or(Some([0; 3])),
            "minnctapersm" | "maxnctapersm" => {
                limits.min_blocks_per_multiprocessor = Some(self.expect_u32("a number of blocks")?);
            }
            "maxnreg" => limits.max_registers = Some(self.expect_u32("a number of registers")?),
            "maxclusterrank" => limits.max_cluster_rank = Some(self.expect_u32("a number of blocks")?),
            "noreturn" => signature.no_return = true,
            "abi_preserve" | "abi_preserve_control" => {
                self.expect_u32("a number of registers")?;
            }
            "blocksareclusters" => {
                return self.fail(token.span, "'.blocksareclusters' is not supported");
            }
            _ => {
                let hint = nearest(token.text, DIRECTIVES).map(|near| format!("; did you mean '.{near}'?"));
                let message = format!("unknown directive {}{}", token.describe(), hint.unwrap_or_default());
                return self.fail(token.span, message);
            }
        }
        Ok(())
    }

    /// Parses `128`, `16, 16` or `8, 8, 8`.
    fn dimensions(&mut self) -> Result<[u32; 3], Failed> {
        let mut sizes = [1; 3];
        for (axis, size) in sizes.iter_mut().enumerate() {
            if axis > 0 && !self.accept(Tok::Comma) {
                break;
            }
            let span = self.token.span;
            *size = self.expect_u32("a size")?;
            if *size == 0 {
                self.report(span, "the size must not be 0");
            }
        }
        Ok(sizes)
    }

    /// Adds a function, or merges this declaration with an earlier one.
    fn declare_function(&mut self, head: Head<'s>, defines: bool) -> FunctionId {
        let Head { name, is_entry, linkage, signature, limits } = head;
        let known = self.globals.get(name.text).copied();
        if let Some(Global::Function(id)) = known {
            self.redeclare_function(id, name, is_entry, &signature, defines);
            let function = &mut self.module.functions[id.index()];
            if defines {
                function.signature = signature;
                function.span = name.span;
                function.limits = limits;
                // The body is filled in when it has been parsed. Until then, the empty body makes a
                // second definition an error.
                function.body = Some(Vec::new());
                if linkage != Linkage::Internal {
                    function.linkage = linkage;
                }
            }
            return id;
        }
        if self.module.functions.len() == MAX_FUNCTIONS {
            self.report(name.span, format!("a module has at most {MAX_FUNCTIONS} functions"));
            // The module is never returned after this error, so the first function can stand for
            // this one.
            return FunctionId(0);
        }
        let id = FunctionId(self.module.functions.len() as u32);
        match known {
            Some(_) => self.report(name.span, format!("{} is a variable already", name.describe())),
            None => _ = self.globals.insert(name.text, Global::Function(id)),
        }
        self.module.functions.push(Function {
            name: name.text,
            span: name.span,
            is_entry,
            linkage,
            signature,
            limits,
            alias_of: None,
            registers: Vec::new(),
            labels: Vec::new(),
            branch_tables: Vec::new(),
            call_tables: Vec::new(),
            prototypes: Vec::new(),
            body: defines.then(Vec::new),
        });
        id
    }

    fn redeclare_function(
        &mut self,
        id: FunctionId,
        name: Token<'s>,
        is_entry: bool,
        signature: &Signature<'s>,
        defines: bool,
    ) {
        let known = &self.module.functions[id.index()];
        let place = known.span;
        let problem = if defines && known.body.is_some() {
            "is defined twice"
        } else if known.is_entry != is_entry {
            "is a kernel in one declaration and a function in the other"
        } else if !known.signature.matches(signature) {
            "is declared with other parameters before"
        } else {
            return;
        };
        self.report(name.span, format!("{} {problem}; see {place}", name.describe()));
    }
}
