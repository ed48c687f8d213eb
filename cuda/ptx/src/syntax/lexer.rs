//! Splits PTX text into words, numbers and signs, on demand and in one pass.

use super::number::{self, Number};
use crate::Span;

/// The kind of a token. Its place leads to its text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Tok {
    Eof,
    /// An invalid token, with the reason.
    Invalid(Invalid),
    /// `mov`, `%r1`, `$L__BB0_1`, `_`.
    Word,
    /// `.global`, `.L1::no_allocate`.
    Dotted,
    Number(Number),
    /// `"kernel.cu"`, with its quotes.
    Text,
    At,
    Comma,
    Semicolon,
    Colon,
    LBrace,
    RBrace,
    LParen,
    RParen,
    LSquare,
    RSquare,
    Less,
    LessEqual,
    ShiftLeft,
    Greater,
    GreaterEqual,
    ShiftRight,
    Equal,
    EqualEqual,
    Bang,
    BangEqual,
    Pipe,
    PipePipe,
    Ampersand,
    AmpersandAmpersand,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Caret,
    Tilde,
    Question,
}

/// The reason why text is not a token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Invalid {
    Character,
    Comment,
    Text,
    Preprocessor,
    NameLength,
    Number(number::Invalid),
}

/// A token and its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'s> {
    pub(super) kind: Tok,
    /// The text, without the dot of a dotted word and the quotes of a quoted text.
    pub(super) text: &'s str,
    pub(super) span: Span,
    /// The place after its end.
    pub(super) end: Span,
}

/// Reads tokens.
pub(super) struct Lexer<'s> {
    text: &'s str,
    position: usize,
    line: u32,
    line_start: usize,
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
}

impl<'s> Lexer<'s> {
    pub(super) fn new(text: &'s str) -> Lexer<'s> {
        Lexer { text, position: 0, line: 1, line_start: 0 }
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.position + ahead).copied().unwrap_or(0)
    }

    fn at(&self, position: usize) -> Span {
        Span { line: self.line, column: (position - self.line_start + 1) as u32 }
    }

    fn skip_while(&mut self, keep: impl Fn(u8) -> bool) {
        let rest = &self.text.as_bytes()[self.position..];
        self.position += rest.iter().position(|&byte| !keep(byte)).unwrap_or(rest.len());
    }

    fn newline(&mut self) {
        self.position += 1;
        self.line += 1;
        self.line_start = self.position;
    }

    /// Skips blanks and comments. Returns whether a comment has no end.
    fn skip_blanks(&mut self) -> bool {
        loop {
            match (self.peek(0), self.peek(1)) {
                (b'\n', _) => self.newline(),
                (b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c', _) => self.position += 1,
                (b'/', b'/') => self.skip_while(|byte| byte != b'\n'),
                (b'/', b'*') => {
                    if !self.skip_comment() {
                        return true;
                    }
                }
                (b'#', _) if self.is_line_marker() => self.skip_while(|byte| byte != b'\n'),
                _ => return false,
            }
        }
    }

    /// Skips a `/* */` comment. Returns `false`, without moving, if it has no end.
    fn skip_comment(&mut self) -> bool {
        let body = &self.text.as_bytes()[self.position + 2..];
        let Some(length) = body.windows(2).position(|pair| pair == b"*/") else { return false };
        let end = self.position + 2 + length + 2;
        for (position, &byte) in self.text.as_bytes().iter().enumerate().take(end).skip(self.position) {
            if byte == b'\n' {
                self.line += 1;
                self.line_start = position + 1;
            }
        }
        self.position = end;
        true
    }

    /// Returns whether a `#` begins a line marker of a preprocessor: `# 1 "file"` or `#line 1`,
    /// first on its line.
    fn is_line_marker(&self) -> bool {
        let bytes = self.text.as_bytes();
        let first = bytes[self.line_start..self.position].iter().all(|byte| matches!(byte, b' ' | b'\t'));
        let rest = bytes[self.position + 1..].trim_ascii_start();
        first && (rest.starts_with(b"line ") || rest.first().is_some_and(u8::is_ascii_digit))
    }

    pub(super) fn next(&mut self) -> Token<'s> {
        let endless = self.skip_blanks();
        let start = self.position;
        let span = self.at(start);
        let mut kind = match endless {
            true => {
                self.position = self.text.len();
                Tok::Invalid(Invalid::Comment)
            }
            false => self.scan(),
        };
        // Names may be of any script within texts and comments only, so that this cuts between
        // characters.
        let mut text = self.text.get(start..self.position).unwrap_or_default();
        match kind {
            Tok::Dotted => text = &text[1..],
            Tok::Text => text = &text[1..text.len() - 1],
            _ => {}
        }
        if matches!(kind, Tok::Word | Tok::Dotted) && text.len() > super::MAX_NAME_BYTES {
            kind = Tok::Invalid(Invalid::NameLength);
        }
        Token { kind, text, span, end: self.at(self.position) }
    }

    fn scan(&mut self) -> Tok {
        let byte = self.peek(0);
        match byte {
            0 if self.position >= self.text.len() => Tok::Eof,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => self.word(),
            b'%' if is_word_byte(self.peek(1)) => self.word(),
            b'0'..=b'9' => self.number(),
            b'.' => self.dotted(),
            b'"' => self.quoted(),
            b'#' => {
                self.skip_while(|byte| byte != b'\n');
                Tok::Invalid(Invalid::Preprocessor)
            }
            _ => self.sign(byte),
        }
    }

    fn word(&mut self) -> Tok {
        self.position += 1;
        self.skip_while(is_word_byte);
        Tok::Word
    }

    /// Scans a word after a dot, which may contain `::`, or a number like `.5`. A word may begin
    /// with a digit, as in `tex.2d`, but only directly after another word.
    fn dotted(&mut self) -> Tok {
        let behind_word = self.position > 0 && is_word_byte(self.text.as_bytes()[self.position - 1]);
        if self.peek(1).is_ascii_digit() && !behind_word {
            return self.number();
        }
        if !is_word_byte(self.peek(1)) {
            return self.invalid_character();
        }
        self.position += 1;
        self.skip_while(is_word_byte);
        while self.peek(0) == b':' && self.peek(1) == b':' && is_word_byte(self.peek(2)) {
            self.position += 2;
            self.skip_while(is_word_byte);
        }
        Tok::Dotted
    }

    fn number(&mut self) -> Tok {
        let (length, number) = number::scan(&self.text.as_bytes()[self.position..]);
        self.position += length;
        match number {
            Ok(number) => Tok::Number(number),
            Err(why) => Tok::Invalid(Invalid::Number(why)),
        }
    }

    fn quoted(&mut self) -> Tok {
        let rest = &self.text.as_bytes()[self.position + 1..];
        match rest.iter().position(|&byte| matches!(byte, b'"' | b'\n')) {
            Some(length) if rest[length] == b'"' => {
                self.position += length + 2;
                Tok::Text
            }
            end => {
                self.position += 1 + end.unwrap_or(rest.len());
                Tok::Invalid(Invalid::Text)
            }
        }
    }

    /// Scans a character, of any width, with which no token begins.
    fn invalid_character(&mut self) -> Tok {
        let width = self.text[self.position..].chars().next().map_or(1, char::len_utf8);
        self.position += width;
        Tok::Invalid(Invalid::Character)
    }

    fn sign(&mut self, byte: u8) -> Tok {
        let (length, kind) = match (byte, self.peek(1)) {
            (b'<', b'<') => (2, Tok::ShiftLeft),
            (b'<', b'=') => (2, Tok::LessEqual),
            (b'>', b'>') => (2, Tok::ShiftRight),
            (b'>', b'=') => (2, Tok::GreaterEqual),
            (b'=', b'=') => (2, Tok::EqualEqual),
            (b'!', b'=') => (2, Tok::BangEqual),
            (b'|', b'|') => (2, Tok::PipePipe),
            (b'&', b'&') => (2, Tok::AmpersandAmpersand),
            (b'@', _) => (1, Tok::At),
            (b',', _) => (1, Tok::Comma),
            (b';', _) => (1, Tok::Semicolon),
            (b':', _) => (1, Tok::Colon),
            (b'{', _) => (1, Tok::LBrace),
            (b'}', _) => (1, Tok::RBrace),
            (b'(', _) => (1, Tok::LParen),
            (b')', _) => (1, Tok::RParen),
            (b'[', _) => (1, Tok::LSquare),
            (b']', _) => (1, Tok::RSquare),
            (b'<', _) => (1, Tok::Less),
            (b'>', _) => (1, Tok::Greater),
            (b'=', _) => (1, Tok::Equal),
            (b'!', _) => (1, Tok::Bang),
            (b'|', _) => (1, Tok::Pipe),
            (b'&', _) => (1, Tok::Ampersand),
            (b'+', _) => (1, Tok::Plus),
            (b'-', _) => (1, Tok::Minus),
            (b'*', _) => (1, Tok::Star),
            (b'/', _) => (1, Tok::Slash),
            (b'%', _) => (1, Tok::Percent),
            (b'^', _) => (1, Tok::Caret),
            (b'~', _) => (1, Tok::Tilde),
            (b'?', _) => (1, Tok::Question),
            _ => return self.invalid_character(),
        };
        self.position += length;
        kind
    }
}

impl Token<'_> {
    /// Returns the description in messages.
    pub(super) fn describe(&self) -> String {
        match self.kind {
            Tok::Eof => "the end of the text".into(),
            Tok::Dotted => format!("'.{}'", shortened(self.text)),
            Tok::Text => "a quoted text".into(),
            _ => format!("'{}'", shortened(self.text)),
        }
    }

    /// Returns the message for an invalid token.
    pub(super) fn complaint(&self) -> Option<String> {
        let Tok::Invalid(why) = self.kind else { return None };
        Some(match why {
            Invalid::Character => match self.text.chars().next() {
                Some(character) => format!("unexpected character {character:?}"),
                None => "unexpected character".into(),
            },
            Invalid::Comment => "the comment has no end".into(),
            Invalid::Text => "the quoted text has no end on its line".into(),
            Invalid::Preprocessor => "preprocessor directives are not supported".into(),
            Invalid::NameLength => format!("the name is longer than {} bytes", super::MAX_NAME_BYTES),
            Invalid::Number(why) => why.describe(self.text),
        })
    }
}

/// Shortens a word for a message.
pub(super) fn shortened(text: &str) -> String {
    const MAX_LENGTH: usize = 100;
    match text.char_indices().nth(MAX_LENGTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
