//! Directives at module scope.

use super::{Failed, Global, Parser};
use crate::syntax::{
    ast::FunctionId,
    lexer::{Tok, Token},
    suggest::nearest,
    types::{Linkage, Space},
};

/// The directives at module scope: they end a declaration without a semicolon, and serve as
/// suggestions.
const DIRECTIVES: &[&str] = &[
    "visible",
    "extern",
    "weak",
    "common",
    "entry",
    "func",
    "global",
    "const",
    "shared",
    "file",
    "loc",
    "section",
    "alias",
    "pragma",
    "version",
    "target",
    "address_size",
];

/// The greatest size of all `.const` variables of a module.
const MAX_CONST_BYTES: u64 = 64 << 10;

impl<'s> Parser<'s> {
    pub(super) fn directives(&mut self) {
        while !self.is(Tok::Eof) {
            let start = self.token.span;
            if self.directive().is_err() {
                self.recover_directive();
                // Skips at least one token, so that a misplaced directive is not parsed again.
                if self.token.span == start {
                    self.bump();
                    self.recover_directive();
                }
            }
        }
    }

    fn directive(&mut self) -> Result<(), Failed> {
        let token = self.token;
        if token.kind == Tok::Semicolon {
            // Compilers write no stray semicolons, but people do.
            self.bump();
            return Ok(());
        }
        if token.kind != Tok::Dotted {
            return self.unexpected("a directive");
        }
        let linkage = self.linkage()?;
        let token_after = self.token;
        match token_after.text {
            _ if token_after.kind != Tok::Dotted => self.unexpected("'.entry', '.func' or a state space"),
            "entry" | "func" => self.function(linkage),
            text if Space::from_word(text).is_some() => self.variables(linkage, None),
            _ if linkage != Linkage::Internal => self.unexpected("'.entry', '.func' or a state space"),
            "file" => self.file(),
            "loc" => self.loc().map(|_| ()),
            "section" => self.section(),
            "alias" => self.alias(),
            "pragma" => self.pragma(),
            "version" | "target" | "address_size" => self.fail(
                token.span,
                format!("{} belongs at the beginning of the module, once", token.describe()),
            ),
            "reg" => self.fail(token.span, "registers are declared within functions"),
            "tex" | "surf" | "sampler" => {
                self.fail(token.span, format!("{} is not supported", token.describe()))
            }
            _ => self.unknown_directive(token),
        }
    }

    /// Returns whether a directive at module scope begins here.
    pub(super) fn begins_directive(&self) -> bool {
        self.is(Tok::Dotted) && DIRECTIVES.contains(&self.token.text)
    }

    pub(super) fn unknown_directive<T>(&mut self, token: Token<'s>) -> Result<T, Failed> {
        let hint = nearest(token.text, DIRECTIVES).map(|near| format!("; did you mean '.{near}'?"));
        self.fail(token.span, format!("unknown directive {}{}", token.describe(), hint.unwrap_or_default()))
    }

    fn linkage(&mut self) -> Result<Linkage, Failed> {
        let linkage = match self.token.text {
            "visible" => Linkage::Visible,
            "extern" => Linkage::Extern,
            "weak" => Linkage::Weak,
            "common" => Linkage::Common,
            _ => return Ok(Linkage::Internal),
        };
        self.bump();
        Ok(linkage)
    }

    /// Skips to the next directive: past a semicolon or a block, or to the first directive on a
    /// line.
    fn recover_directive(&mut self) {
        let mut depth = std::mem::take(&mut self.open_braces);
        loop {
            let first = self.token.span.line > self.previous_end.line;
            match self.token.kind {
                Tok::Eof => return,
                Tok::LBrace => depth += 1,
                Tok::RBrace if depth <= 1 => return self.bump(),
                Tok::RBrace => depth -= 1,
                Tok::Semicolon if depth == 0 => return self.bump(),
                Tok::Dotted if depth == 0 && first && DIRECTIVES.contains(&self.token.text) => return,
                _ => {}
            }
            self.bump();
        }
    }

    /// Parses `.pragma "nounroll";`. Pragmas are hints that never change the meaning of a program.
    pub(super) fn pragma(&mut self) -> Result<(), Failed> {
        self.bump();
        loop {
            self.expect(Tok::Text, "a quoted text")?;
            if !self.accept(Tok::Comma) {
                return self.expect_semicolon();
            }
        }
    }

    /// Parses `.alias name, function;`, where `name` is a function without a body.
    fn alias(&mut self) -> Result<(), Failed> {
        self.bump();
        let alias = self.expect_name("a name")?;
        self.expect(Tok::Comma, "','")?;
        let target = self.expect_name("the name of a function")?;
        let alias_id = self.expect_function(alias);
        let target_id = self.expect_function(target);
        let (Some(alias_id), Some(target_id)) = (alias_id, target_id) else { return self.expect_semicolon() };
        let functions = &self.module.functions;
        let (from, to) = (&functions[alias_id.index()], &functions[target_id.index()]);
        let problem = if from.is_entry || to.is_entry {
            Some("kernels cannot have aliases")
        } else if from.body.is_some() || from.alias_of.is_some() {
            Some("the alias is a function of its own already")
        } else if to.body.is_none() {
            Some("the function behind an alias must be defined before it")
        } else if !from.signature.matches(&to.signature) {
            Some("alias and function have different parameters")
        } else {
            None
        };
        match problem {
            Some(problem) => self.report(alias.span, problem),
            None => self.module.functions[alias_id.index()].alias_of = Some(target_id),
        }
        self.expect_semicolon()
    }

    /// Returns the function with that name. Reports an error if there is none.
    pub(super) fn expect_function(&mut self, name: Token<'s>) -> Option<FunctionId> {
        match self.globals.get(name.text) {
            Some(&Global::Function(id)) => return Some(id),
            Some(_) => self.report(name.span, format!("{} is a variable, not a function", name.describe())),
            None => self.report(name.span, format!("there is no function {}", name.describe())),
        }
        None
    }

    /// Checks what is only known at the end of the module.
    pub(super) fn check_module(&mut self) {
        self.module.files.sort_by_key(|file| file.number);
        let mut bytes = 0_u64;
        let constants = self.module.variables.iter().filter(|variable| variable.space == Space::Const);
        for variable in constants {
            bytes = bytes.saturating_add(variable.layout.bytes());
            if bytes > MAX_CONST_BYTES {
                let message = format!("the module's .const variables take more than {MAX_CONST_BYTES} bytes");
                self.errors.add(variable.span, message);
                return;
            }
        }
    }
}
