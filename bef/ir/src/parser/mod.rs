//! Parses text into a [`Module`]: the token stream, errors and recovery from them. The parser
//! reports every error it can, up to [`crate::MAX_DIAGNOSTICS`], and never recurses deeper than
//! [`MAX_DEPTH`].

mod alias;
mod attrs;
mod dense;
mod func;
mod grammar;
mod locs;
mod ops;
mod scope;
mod types;

pub use alias::MAX_ALIAS_EXPANSION;

use std::collections::{HashMap, HashSet};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::lexer::{Lexer, MAX_DEPTH, Tok, Token};
use crate::name::Interner;
use crate::source::{MAX_SOURCE_BYTES, Source, Span};
use crate::{Attribute, Location, Module, Name, OpId, OpRegistry, Type};

pub use ops::UnresolvedOperand;

/// Says that an error has been reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed;

/// The result of a parsing function. Errors go to the parser's diagnostics.
pub type Parsed<T> = Result<T, Failed>;

/// Options for parsing.
#[derive(Clone, Debug)]
pub struct ParseOptions {
    /// Whether operations of unknown dialects are accepted in generic form; see
    /// [`OpRegistry::accepts`].
    pub allow_unregistered: bool,
    /// Whether to verify the module after parsing.
    pub verify: bool,
    /// Whether to stop at the first error, as MLIR's own tools do. Texts with comments that
    /// announce their errors expect that.
    pub first_error_only: bool,
}

impl Default for ParseOptions {
    /// Allows unregistered operations, verifies the module and reports all errors.
    fn default() -> ParseOptions {
        ParseOptions { allow_unregistered: true, verify: true, first_error_only: false }
    }
}

/// Parses one source into a module and, if `options` say so, verifies it. The registry defines the
/// operations.
///
/// # Errors
/// All errors in the text. After a syntax error, parsing continues with the next statement, and
/// functions without syntax errors are still verified.
pub fn parse_module(
    source: &Source,
    registry: &OpRegistry,
    options: &ParseOptions,
) -> Result<Module, Diagnostics> {
    if source.text().len() > MAX_SOURCE_BYTES {
        let mut diagnostics = Diagnostics::new();
        let message = format!("the text has {} bytes, more than {MAX_SOURCE_BYTES}", source.text().len());
        diagnostics.push(Diagnostic::error(Location::file(source.name(), 1, 1), message));
        return Err(diagnostics);
    }
    let mut parser = Parser::new(source, registry, options);
    parser.top_level();
    if parser.diagnostics.has_errors() { Err(parser.diagnostics) } else { Ok(parser.module) }
}

impl Type {
    /// Reads a type from its text, such as `tensor<2xf32>` or `!tfrt.chain`.
    ///
    /// # Errors
    /// The first error in the text.
    pub fn parse(text: &str) -> Result<Type, String> {
        parse_fragment(text, |parser| {
            let ty = parser.ty()?;
            Ok(ty)
        })
    }
}

impl Attribute {
    /// Reads an attribute from its text, such as `[1 : i32, "a"]`.
    ///
    /// # Errors
    /// The first error in the text.
    pub fn parse(text: &str) -> Result<Attribute, String> {
        parse_fragment(text, |parser| parser.attribute(None))
    }
}

fn parse_fragment<T>(text: &str, parse: impl FnOnce(&mut Parser<'_, '_>) -> Parsed<T>) -> Result<T, String> {
    let source = Source::new("text", text);
    let (registry, options) = (OpRegistry::new(), ParseOptions::default());
    let mut parser = Parser::new(&source, &registry, &options);
    let parsed = parse(&mut parser).and_then(|value| {
        parser.expect(Tok::Eof, "at the end")?;
        Ok(value)
    });
    parsed.map_err(|Failed| parser.diagnostics.iter().next().map(|d| d.message.clone()).unwrap_or_default())
}

/// Parses one source. Grammars in code use it. `'s` is the lifetime of the source, `'o` that of
/// registry and options.
///
/// A method that returns [`Failed`] has reported an error. The grammar passes that on, and parsing
/// continues with the next statement.
pub struct Parser<'s, 'o> {
    pub(crate) source: &'s Source,
    pub(crate) registry: &'o OpRegistry,
    pub(crate) options: &'o ParseOptions,
    pub(crate) module: Module,
    pub(crate) diagnostics: Diagnostics,
    lexer: Lexer<'s>,
    token: Token,
    /// The end of the token before `token`.
    last_end: u32,
    depth: usize,
    /// The deepest nesting since the definition of the current alias began.
    peak_depth: usize,
    names: Interner,
    scopes: Vec<scope::Scope<'s>>,
    aliases: alias::Aliases<'s>,
    dialect_types: HashMap<&'s [u8], Type>,
    /// Functions with syntax errors, which are not verified.
    broken: HashSet<OpId>,
    /// The number of results so far that a count in the text gave.
    counted_results: usize,
    /// How many more tokens may be skipped during recovery.
    recovery_budget: usize,
    /// Whether every top-level statement parsed, so that a missing symbol is known to be undefined.
    all_symbols: bool,
}

impl<'s, 'o> Parser<'s, 'o> {
    fn new(source: &'s Source, registry: &'o OpRegistry, options: &'o ParseOptions) -> Parser<'s, 'o> {
        let mut lexer = Lexer::new(source.text());
        let token = lexer.next();
        Parser {
            source,
            registry,
            options,
            module: Module::new(),
            diagnostics: Diagnostics::new(),
            lexer,
            token,
            last_end: 0,
            depth: 0,
            peak_depth: 0,
            names: Interner::default(),
            scopes: vec![scope::Scope::default()],
            aliases: alias::Aliases::default(),
            dialect_types: HashMap::new(),
            broken: HashSet::new(),
            counted_results: 0,
            recovery_budget: 16 << 20,
            all_symbols: true,
        }
    }

    /// Returns the bytes of a span.
    fn bytes(&self, span: Span) -> &'s [u8] {
        self.source.text().get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// Returns the text of an ASCII token: any token except strings, symbols and errors.
    fn text(&self, span: Span) -> &'s str {
        std::str::from_utf8(self.bytes(span)).unwrap_or_default()
    }

    pub(crate) fn token(&self) -> Token {
        self.token
    }

    /// Returns the span of the current token.
    pub fn span(&self) -> Span {
        self.token.span
    }

    pub(crate) fn at(&self, kind: Tok) -> bool {
        self.token.kind == kind
    }

    /// Takes the current token.
    pub(crate) fn bump(&mut self) -> Token {
        let token = self.token;
        self.last_end = token.span.end;
        self.token = self.lexer.next();
        token
    }

    /// Continues at `offset`.
    fn seek(&mut self, offset: u32) {
        self.lexer.seek(offset);
        self.token = self.lexer.next();
    }

    /// Takes the current token if it is of this kind.
    pub(crate) fn eat(&mut self, kind: Tok) -> bool {
        let found = self.at(kind);
        if found {
            self.bump();
        }
        found
    }

    /// Takes the current token, which must be of this kind. `context` says where it is expected,
    /// such as "after the name".
    pub(crate) fn expect(&mut self, kind: Tok, context: &str) -> Parsed<Token> {
        if self.at(kind) {
            return Ok(self.bump());
        }
        Err(self.unexpected(&format!("{} {context}", kind.describe())))
    }

    /// Returns whether the current token is this word.
    pub(crate) fn at_word(&self, word: &str) -> bool {
        self.at(Tok::Bare) && self.bytes(self.token.span) == word.as_bytes()
    }

    /// Takes the current token if it is this word.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.bump();
        }
        found
    }

    /// Takes the current token, which must be this word.
    pub fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.unexpected(&format!("'{word}'"))) }
    }

    /// Reports that the current token is not `wanted`.
    pub(crate) fn unexpected(&mut self, wanted: &str) -> Failed {
        let Token { kind, span } = self.token;
        if let Tok::Error(message) = kind {
            return self.error(span, message);
        }
        let found = match kind {
            Tok::Bare | Tok::Value | Tok::Hash | Tok::Bang | Tok::Caret | Tok::Int | Tok::Float
                if span.end - span.start < 40 =>
            {
                format!("'{}'", self.text(span))
            }
            kind => kind.describe().to_owned(),
        };
        self.error(span, format!("expected {wanted}, found {found}"))
    }

    /// Reports an error at a span.
    pub fn error(&mut self, span: Span, message: impl Into<String>) -> Failed {
        let diagnostic = self.diagnostic(span, message);
        self.report(diagnostic)
    }

    /// Reports an error, unless another one was reported and only the first counts.
    fn report(&mut self, diagnostic: Diagnostic) -> Failed {
        if !(self.options.first_error_only && self.diagnostics.has_errors()) {
            self.diagnostics.push(diagnostic);
        }
        Failed
    }

    /// Creates an error at a span, without reporting it.
    fn diagnostic(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(self.source.location(span.start), message);
        diagnostic.length = span.end.saturating_sub(span.start);
        diagnostic
    }

    /// Runs `parse` one level deeper, or fails if that is too deep.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            let span = self.token.span;
            return Err(self.error(span, format!("nested more than {MAX_DEPTH} levels deep")));
        }
        self.depth += 1;
        self.peak_depth = self.peak_depth.max(self.depth);
        let result = parse(self);
        self.depth -= 1;
        result
    }

    fn intern(&mut self, text: &str) -> Name {
        self.names.intern(text)
    }

    /// Parses `item (',' item)*` up to and including `close`. The opening bracket has been taken.
    /// The list may be empty.
    pub(crate) fn list_until(
        &mut self,
        close: Tok,
        mut item: impl FnMut(&mut Self) -> Parsed<()>,
    ) -> Parsed<()> {
        if self.eat(close) {
            return Ok(());
        }
        loop {
            item(self)?;
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        self.expect(close, "or ',' in the list")?;
        Ok(())
    }

    /// Recovers from an error in the statement that began at `start`: continues where the next
    /// statement seems to begin.
    ///
    /// The statement is lexed again from its start to find its brackets. A statement begins a line
    /// outside the brackets that the failed one opened. If the line is indented no deeper than the
    /// failed statement, brackets are ignored, because one of them may be missing.
    ///
    /// An outer statement may fail after inner ones did, and is then lexed again each time. The
    /// recovery budget bounds the sum of that work.
    fn recover(&mut self, start: u32) {
        if self.at(Tok::Eof) {
            return;
        }
        let failed_at = self.token.span.start.max(start);
        let (_, start_column) = self.source.line_column(start);
        self.seek(start);
        let mut depth = 0usize;
        let mut first = true;
        loop {
            let Token { kind, span } = self.token;
            self.recovery_budget = self.recovery_budget.saturating_sub(1);
            if kind == Tok::Eof {
                return;
            }
            if self.recovery_budget == 0 {
                self.seek(u32::MAX);
                return;
            }
            let may_stop = !first && span.start >= failed_at;
            if may_stop && self.begins_line(span.start) {
                let outdented = self.source.line_column(span.start).1 <= start_column;
                if (depth == 0 || outdented) && self.looks_like_statement() {
                    return;
                }
            }
            match kind {
                Tok::LParen | Tok::LBrace | Tok::LSquare => depth += 1,
                Tok::RBrace if depth == 0 => return,
                Tok::RParen | Tok::RBrace | Tok::RSquare => depth = depth.saturating_sub(1),
                _ => {}
            }
            first = false;
            self.bump();
        }
    }

    /// Returns whether only blanks precede `offset` on its line.
    fn begins_line(&self, offset: u32) -> bool {
        let before = self.source.text().get(..offset as usize).unwrap_or_default();
        before.iter().rev().find(|byte| !matches!(byte, b' ' | b'\t')).is_none_or(|&byte| byte == b'\n')
    }

    /// Returns whether the current token begins a statement rather than continues one.
    fn looks_like_statement(&self) -> bool {
        let mut lexer = self.lexer.clone();
        match self.token.kind {
            Tok::Bare => {
                let text = self.text(self.token.span);
                text.contains('.') || matches!(text, "func" | "module")
            }
            Tok::String => lexer.next().kind == Tok::LParen,
            Tok::Caret => true,
            Tok::Hash | Tok::Bang => lexer.next().kind == Tok::Equal,
            Tok::Value => {
                // Result names, `%a, %b:2 =`. More than a few hundred are not worth scanning.
                for _ in 0..300 {
                    let mut after = lexer.next().kind;
                    if after == Tok::Colon && lexer.next().kind == Tok::Int {
                        after = lexer.next().kind;
                    }
                    match after {
                        Tok::Equal => return true,
                        Tok::Comma if lexer.next().kind == Tok::Value => {}
                        _ => return false,
                    }
                }
                false
            }
            _ => false,
        }
    }

    /// Returns whether to stop because no more errors are kept.
    fn gave_up(&self) -> bool {
        self.diagnostics.is_full() || (self.options.first_error_only && self.diagnostics.has_errors())
    }
}
