//! Bodies of functions: statements, blocks, and the names in scope.

use super::{Failed, Parser};
use crate::{
    Span,
    syntax::{
        MAX_DEPTH,
        ast::{
            BranchTable, CallTable, FunctionId, Instruction, LocationId, ParameterStorage, Prototype,
            Register, RegisterId, Signature,
        },
        lexer::Tok,
        parser::label::Draft,
        scope::{Entry, Scopes},
        types::{Linkage, Space},
    },
};

/// A function's body while it is parsed.
pub(in crate::syntax) struct Body<'s> {
    pub(super) function: FunctionId,
    pub(super) scopes: Scopes<'s>,
    pub(super) registers: Vec<Register<'s>>,
    pub(super) labels: Vec<Draft<'s>>,
    pub(super) branch_tables: Vec<BranchTable<'s>>,
    pub(super) call_tables: Vec<CallTable<'s>>,
    pub(super) prototypes: Vec<Prototype<'s>>,
    pub(super) instructions: Vec<Instruction<'s>>,
    /// The location of the last `.loc`.
    pub(super) location: Option<LocationId>,
}

impl<'s> Body<'s> {
    /// Starts the body of a function, with its parameters in scope.
    pub(super) fn new(function: FunctionId, signature: &Signature<'s>) -> Body<'s> {
        let mut body = Body {
            function,
            scopes: Scopes::new(),
            registers: Vec::new(),
            labels: Vec::new(),
            branch_tables: Vec::new(),
            call_tables: Vec::new(),
            prototypes: Vec::new(),
            instructions: Vec::new(),
            location: None,
        };
        let returns =
            signature.returns.iter().enumerate().map(|(index, it)| (Entry::Return(index as u32), it));
        let taken =
            signature.parameters.iter().enumerate().map(|(index, it)| (Entry::Parameter(index as u32), it));
        for (mut entry, parameter) in returns.chain(taken) {
            if let ParameterStorage::Register(ty, id) = parameter.storage {
                body.registers.push(Register { name: parameter.name, ty, span: parameter.span });
                entry = Entry::Register(id);
            }
            // Duplicate names of parameters were reported with the signature.
            let _ = body.scopes.declare(parameter.name, entry, parameter.span);
        }
        body
    }

    pub(super) fn add_register(&mut self, register: Register<'s>) -> RegisterId {
        let id = RegisterId(self.registers.len() as u32);
        self.registers.push(register);
        id
    }
}

impl<'s> Parser<'s> {
    /// Parses statements up to the end of the function, whose opening brace was at `brace`.
    pub(super) fn statements(&mut self, body: &mut Body<'s>, brace: Span) {
        loop {
            match self.token.kind {
                Tok::Eof => {
                    self.report(brace, "the function has no end: '{' is not closed");
                    return self.close_all(body);
                }
                Tok::Dotted if self.begins_function() => {
                    let message = format!("expected '}}' before {}", self.token.describe());
                    self.report(self.token.span, message);
                    return self.close_all(body);
                }
                Tok::RBrace => {
                    self.bump();
                    self.close_block(body);
                    if body.scopes.depth() == 0 {
                        return;
                    }
                }
                Tok::LBrace => {
                    if body.scopes.depth() >= MAX_DEPTH {
                        self.report(
                            self.token.span,
                            format!("blocks are nested deeper than {MAX_DEPTH} levels"),
                        );
                        self.errors.stop();
                    }
                    self.bump();
                    body.scopes.push();
                }
                _ => {
                    if self.statement(body).is_err() {
                        self.recover_statement();
                    }
                }
            }
        }
    }

    /// Returns whether the next function begins here, so that the end of this one is missing.
    fn begins_function(&self) -> bool {
        let first = self.token.span.line > self.previous_end.line;
        first && matches!(self.token.text, "entry" | "func" | "visible" | "weak" | "extern" | "common")
    }

    fn close_all(&mut self, body: &mut Body<'s>) {
        while body.scopes.depth() > 0 {
            self.close_block(body);
        }
    }

    fn statement(&mut self, body: &mut Body<'s>) -> Result<(), Failed> {
        let token = self.token;
        match token.kind {
            Tok::Semicolon => {
                self.bump();
                Ok(())
            }
            Tok::Word if self.peek().kind == Tok::Colon => self.label(body),
            Tok::Word | Tok::At => self.instruction(body),
            Tok::Dotted => match token.text {
                "reg" => self.registers(body),
                "loc" => {
                    body.location = Some(self.loc()?);
                    Ok(())
                }
                "pragma" => self.pragma(),
                "file" => self.file(),
                "section" => self.section(),
                "branchtargets" | "calltargets" | "callprototype" => {
                    self.fail(token.span, format!("{} needs a label before it", token.describe()))
                }
                "tex" | "surf" | "sampler" => {
                    self.fail(token.span, format!("{} is not supported", token.describe()))
                }
                text if Space::from_word(text).is_some() => self.variables(Linkage::Internal, Some(body)),
                _ => self.unknown_directive(token),
            },
            _ => self.unexpected("an instruction, a label or a directive"),
        }
    }

    /// Adds the body to its function.
    pub(super) fn finish_function(&mut self, body: Body<'s>) {
        let mut body = body;
        let labels = body.resolve_labels();
        let function = &mut self.module.functions[body.function.index()];
        function.registers = body.registers;
        function.labels = labels;
        function.branch_tables = body.branch_tables;
        function.call_tables = body.call_tables;
        function.prototypes = body.prototypes;
        function.body = Some(body.instructions);
    }
}
