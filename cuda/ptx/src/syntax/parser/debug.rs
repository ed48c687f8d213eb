//! Source locations: `.file`, `.loc`, and sections of debugging information.

use super::{Failed, Parser};
use crate::syntax::{
    ast::{LocationId, SourceFile, SourceLocation},
    lexer::Tok,
    number::Number,
};

impl<'s> Parser<'s> {
    /// Parses `.file 1 "kernel.cu"` or `.file 1 "kernel.cu", 1234, 5678`. The last two numbers are
    /// time and size.
    pub(super) fn file(&mut self) -> Result<(), Failed> {
        let span = self.token.span;
        self.bump();
        let number = self.expect_u32("a file number")?;
        let path = self.expect(Tok::Text, "a quoted path")?.text;
        while self.accept(Tok::Comma) {
            self.expect_u64("a number")?;
        }
        if self.file_numbers.insert(number) {
            self.module.files.push(SourceFile { number, path });
        } else {
            self.report(span, format!("there is a file {number} already"));
        }
        Ok(())
    }

    /// Parses `.loc 1 15 3` or `.loc 1 15 3, function_name name+offset, inlined_at 1 20 5`.
    pub(super) fn loc(&mut self) -> Result<LocationId, Failed> {
        self.bump();
        let mut location = self.place()?;
        while self.accept(Tok::Comma) {
            if self.is_word("inlined_at") {
                self.bump();
                let site = self.place()?;
                location.inlined_at = Some(self.call_site(site));
            } else if self.is_word("function_name") {
                self.bump();
                self.expect(Tok::Word, "a label")?;
                if self.accept(Tok::Plus) {
                    self.expect_u64("an offset")?;
                }
            } else {
                return self.unexpected("'function_name' or 'inlined_at'");
            }
        }
        let id = self.add_location(location);
        self.call_sites.insert((location.file, location.line, location.column), id);
        Ok(id)
    }

    fn place(&mut self) -> Result<SourceLocation, Failed> {
        let file = self.expect_u32("a file number")?;
        let line = self.expect_u32("a line")?;
        let column = self.expect_u32("a column")?;
        Ok(SourceLocation { file, line, column, inlined_at: None })
    }

    /// Returns the location of a call that was inlined: the last one given for that place, because
    /// it may itself be inlined.
    fn call_site(&mut self, site: SourceLocation) -> LocationId {
        match self.call_sites.get(&(site.file, site.line, site.column)) {
            Some(&id) => id,
            None => self.add_location(site),
        }
    }

    fn add_location(&mut self, location: SourceLocation) -> LocationId {
        let id = LocationId(self.module.locations.len() as u32);
        self.module.locations.push(location);
        id
    }

    /// Skips `.section .debug_info { … }`, and checks its form. No result of a program depends on
    /// it.
    pub(super) fn section(&mut self) -> Result<(), Failed> {
        self.bump();
        let name = self.expect(Tok::Dotted, "the name of a section")?;
        if !name.text.starts_with("debug") {
            return self.fail(name.span, format!("unknown section {}", name.describe()));
        }
        let brace = self.expect(Tok::LBrace, "'{'")?;
        self.open_braces = 1;
        while !self.is(Tok::RBrace) {
            let kind = self.token.kind;
            match kind {
                Tok::Word if self.peek().kind == Tok::Colon => {
                    self.bump();
                    self.bump();
                }
                Tok::Dotted if matches!(self.token.text, "b8" | "b16" | "b32" | "b64") => {
                    self.section_data()?
                }
                Tok::Eof => return self.fail(brace.span, "the section has no end"),
                _ => return self.unexpected("'.b8', '.b16', '.b32', '.b64', a label or '}'"),
            }
        }
        self.bump();
        self.open_braces = 0;
        Ok(())
    }

    /// Parses `.b8 1, 2` or `.b64 label+4`.
    fn section_data(&mut self) -> Result<(), Failed> {
        self.bump();
        loop {
            let mut operands = 0;
            while operands == 0 || self.accept(Tok::Plus) || self.accept(Tok::Minus) {
                if operands == 0 {
                    self.accept(Tok::Minus);
                }
                match self.token.kind {
                    Tok::Word | Tok::Dotted | Tok::Number(Number::Integer { .. }) => self.bump(),
                    _ => return self.unexpected("a number, a label or a section"),
                }
                operands += 1;
            }
            if !self.accept(Tok::Comma) {
                return Ok(());
            }
        }
    }
}
