//! The parser: recursive descent in one pass. It resolves and checks names where they occur,
//! because PTX requires declarations before uses, except for labels.
//!
//! A function that cannot continue reports the reason and returns [`Failed`]. The loop over
//! statements or directives then skips to the start of the next one. An error that does not prevent
//! further parsing, such as an undeclared name, is reported without failing.

mod address;
mod body;
mod call;
mod debug;
mod function;
mod header;
mod initializer;
mod instruction;
mod label;
mod module;
mod operand;
mod register;
mod signature;
mod variable;

use std::collections::{HashMap, HashSet};

pub(super) use body::Body;

use super::{
    ast::{Features, FunctionId, LocationId, Module, Target, VariableId, Version},
    lexer::{Lexer, Tok, Token},
    number::Number,
    scope::Entry,
    types::Type,
};
use crate::{Errors, Span, error::ErrorSink};

/// An error was reported, and parsing cannot continue at this place.
#[derive(Debug)]
pub(super) struct Failed;

/// The meaning of a name at module scope.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Global {
    Variable(VariableId),
    Function(FunctionId),
}

/// Parses a module.
pub(super) struct Parser<'s> {
    lexer: Lexer<'s>,
    pub(super) token: Token<'s>,
    ahead: Option<Token<'s>>,
    /// The end of the previous token.
    previous_end: Span,
    /// The number of braces that the current statement has opened.
    open_braces: u32,
    /// The number of instructions of the module so far.
    instructions: usize,
    errors: ErrorSink,
    module: Module<'s>,
    globals: HashMap<&'s str, Global>,
    file_numbers: HashSet<u32>,
    /// Source locations by file, line and column. Code that was inlined finds its call site here.
    call_sites: HashMap<(u32, u32, u32), LocationId>,
    /// The number of bytes of initializers so far.
    initialized_bytes: u64,
}

/// Parses a module.
pub(super) fn parse(text: &str) -> Result<Module<'_>, Errors> {
    let mut lexer = Lexer::new(text);
    let token = lexer.next();
    let module = Module {
        version: Version { major: 0, minor: 0 },
        target: Target { architecture: 0, features: Features::Common, debug: false },
        variables: Vec::new(),
        functions: Vec::new(),
        files: Vec::new(),
        locations: Vec::new(),
    };
    let mut parser = Parser {
        lexer,
        token,
        ahead: None,
        previous_end: token.span,
        open_braces: 0,
        instructions: 0,
        errors: ErrorSink::default(),
        module,
        globals: HashMap::new(),
        file_numbers: HashSet::new(),
        call_sites: HashMap::new(),
        initialized_bytes: 0,
    };
    parser.header();
    parser.directives();
    parser.check_module();
    parser.errors.finish(parser.module)
}

impl<'s> Parser<'s> {
    /// Advances to the next token. The text ends early once enough errors have been found.
    pub(super) fn bump(&mut self) {
        self.previous_end = self.token.end;
        self.token = match self.ahead.take() {
            Some(token) => token,
            None => self.lexer.next(),
        };
        if self.errors.is_full() {
            self.token.kind = Tok::Eof;
            self.ahead = None;
        }
    }

    /// Returns the token after this one.
    fn peek(&mut self) -> Token<'s> {
        match self.ahead {
            Some(token) => token,
            None => *self.ahead.insert(self.lexer.next()),
        }
    }

    fn is(&self, kind: Tok) -> bool {
        self.token.kind == kind
    }

    fn is_word(&self, text: &str) -> bool {
        self.is(Tok::Word) && self.token.text == text
    }

    fn is_dotted(&self, text: &str) -> bool {
        self.is(Tok::Dotted) && self.token.text == text
    }

    fn report(&mut self, span: Span, message: impl Into<String>) {
        self.errors.add(span, message);
    }

    pub(super) fn fail<T>(&mut self, span: Span, message: impl Into<String>) -> Result<T, Failed> {
        self.errors.add(span, message);
        Err(Failed)
    }

    /// Fails because this token is not the expected one.
    pub(super) fn unexpected<T>(&mut self, expected: &str) -> Result<T, Failed> {
        let found = self.token.complaint();
        let message =
            found.unwrap_or_else(|| format!("expected {expected}, found {}", self.token.describe()));
        self.fail(self.token.span, message)
    }

    pub(super) fn expect(&mut self, kind: Tok, expected: &str) -> Result<Token<'s>, Failed> {
        if !self.is(kind) {
            return self.unexpected(expected);
        }
        let token = self.token;
        self.bump();
        Ok(token)
    }

    fn accept(&mut self, kind: Tok) -> bool {
        let is = self.is(kind);
        if is {
            self.bump();
        }
        is
    }

    /// Parses the semicolon at the end of a statement. If it is missing at the end of a line,
    /// reports that and continues.
    fn expect_semicolon(&mut self) -> Result<(), Failed> {
        if self.accept(Tok::Semicolon) {
            return Ok(());
        }
        if self.token.span.line > self.previous_end.line || matches!(self.token.kind, Tok::Eof | Tok::RBrace)
        {
            self.report(self.previous_end, "expected ';'");
            return Ok(());
        }
        self.unexpected("';'")
    }

    /// Parses the name in a declaration.
    fn expect_name(&mut self, expected: &str) -> Result<Token<'s>, Failed> {
        if self.is_word("_") {
            return self.fail(self.token.span, "'_' cannot be a name");
        }
        self.expect(Tok::Word, expected)
    }

    /// Parses a plain number of 32 bits.
    fn expect_u32(&mut self, expected: &str) -> Result<u32, Failed> {
        let span = self.token.span;
        let number = self.expect_u64(expected)?;
        match u32::try_from(number) {
            Ok(number) => Ok(number),
            Err(_) => self.fail(span, format!("{number} does not fit in 32 bits")),
        }
    }

    /// Parses a plain number.
    fn expect_u64(&mut self, expected: &str) -> Result<u64, Failed> {
        let Tok::Number(Number::Integer { bits, .. }) = self.token.kind else {
            return self.unexpected(expected);
        };
        self.bump();
        Ok(bits)
    }

    fn expect_type(&mut self, expected: &str) -> Result<Type, Failed> {
        if !self.is(Tok::Dotted) {
            return self.unexpected(expected);
        }
        let token = self.token;
        let Some(ty) = Type::from_word(token.text) else {
            let message = match token.text {
                "texref" | "samplerref" | "surfref" => format!("{} is not supported", token.describe()),
                _ => format!("expected {expected}, found {}", token.describe()),
            };
            return self.fail(token.span, message);
        };
        self.bump();
        match ty {
            Type::Bf16 | Type::Bf16x2 => {
                let instead = if ty == Type::Bf16 { ".b16" } else { ".b32" };
                self.fail(token.span, format!("{ty} is the type of an instruction only; declare {instead}"))
            }
            _ => Ok(ty),
        }
    }

    /// Skips past the next semicolon, or to the end of the block.
    fn recover_statement(&mut self) {
        let mut depth = std::mem::take(&mut self.open_braces);
        loop {
            match self.token.kind {
                Tok::Eof => return,
                Tok::RBrace if depth == 0 => return,
                Tok::RBrace => depth -= 1,
                Tok::LBrace => depth += 1,
                Tok::Semicolon => {
                    self.bump();
                    return;
                }
                _ => {}
            }
            self.bump();
        }
    }

    /// Reports a name that has a different meaning than required.
    fn report_wrong_meaning(&mut self, token: Token<'s>, what: &str, entry: Entry) {
        self.report(token.span, format!("{} is {}, not {what}", token.describe(), entry.describe()));
    }
}
