//! Tokens of MLIR text. The lexer works on bytes and keeps no history: a parser may move back and
//! lex again.

use crate::source::Span;

/// The longest identifier in bytes, for `foo`, `%foo`, `@foo`, `#foo`, `!foo` and `^foo`.
pub const MAX_NAME_BYTES: usize = 4096;

/// The deepest nesting of regions, attributes and types together that parses.
pub const MAX_DEPTH: usize = 128;

/// The kind of a token. Its span leads to its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tok {
    Eof,
    /// An invalid token, with the reason.
    Error(&'static str),
    /// `foo.bar`, also for keywords.
    Bare,
    /// `%foo`.
    Value,
    /// `@foo` or `@"foo"`.
    Symbol,
    /// `#foo`.
    Hash,
    /// `!foo`.
    Bang,
    /// `^foo`.
    Caret,
    /// `12` or `0x1F`.
    Int,
    /// `1.5e3`.
    Float,
    /// `"…"`, with quotes and escapes.
    String,
    Arrow,
    Colon,
    ColonColon,
    Comma,
    Equal,
    Minus,
    Plus,
    Star,
    Question,
    Slash,
    LParen,
    RParen,
    LBrace,
    RBrace,
    LSquare,
    RSquare,
    Less,
    Greater,
}

impl Tok {
    /// Returns the description of the kind in messages.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Tok::Eof => "end of input",
            Tok::Error(_) => "an invalid token",
            Tok::Bare => "an identifier",
            Tok::Value => "an SSA value",
            Tok::Symbol => "a symbol name",
            Tok::Hash => "an attribute name",
            Tok::Bang => "a type name",
            Tok::Caret => "a block label",
            Tok::Int => "an integer",
            Tok::Float => "a floating-point number",
            Tok::String => "a string",
            Tok::Arrow => "'->'",
            Tok::Colon => "':'",
            Tok::ColonColon => "'::'",
            Tok::Comma => "','",
            Tok::Equal => "'='",
            Tok::Minus => "'-'",
            Tok::Plus => "'+'",
            Tok::Star => "'*'",
            Tok::Question => "'?'",
            Tok::Slash => "'/'",
            Tok::LParen => "'('",
            Tok::RParen => "')'",
            Tok::LBrace => "'{'",
            Tok::RBrace => "'}'",
            Tok::LSquare => "'['",
            Tok::RSquare => "']'",
            Tok::Less => "'<'",
            Tok::Greater => "'>'",
        }
    }
}

/// A token and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Tok,
    pub(crate) span: Span,
}

/// Splits a text into tokens on demand.
#[derive(Clone, Debug)]
pub(crate) struct Lexer<'s> {
    text: &'s [u8],
    position: usize,
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.')
}

fn is_suffix_byte(byte: u8) -> bool {
    is_name_byte(byte) || byte == b'-'
}

impl<'s> Lexer<'s> {
    pub(crate) fn new(text: &'s [u8]) -> Lexer<'s> {
        // Some editors write a byte order mark, which has no meaning in UTF-8.
        let position = if text.starts_with("\u{FEFF}".as_bytes()) { "\u{FEFF}".len() } else { 0 };
        Lexer { text, position }
    }

    /// Continues at `offset`.
    pub(crate) fn seek(&mut self, offset: u32) {
        self.position = (offset as usize).min(self.text.len());
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.position + ahead).copied().unwrap_or(0)
    }

    /// Advances over bytes for which `keep` returns true.
    fn skip_while(&mut self, keep: impl Fn(u8) -> bool) {
        let rest = self.text.get(self.position..).unwrap_or_default();
        self.position += rest.iter().position(|&byte| !keep(byte)).unwrap_or(rest.len());
    }

    fn skip_blanks(&mut self) {
        loop {
            self.skip_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
            if self.peek(0) != b'/' || self.peek(1) != b'/' {
                return;
            }
            self.skip_while(|byte| byte != b'\n');
        }
    }

    pub(crate) fn next(&mut self) -> Token {
        self.skip_blanks();
        let start = self.position;
        let mut kind = self.scan();
        let names = matches!(kind, Tok::Bare | Tok::Value | Tok::Symbol | Tok::Hash | Tok::Bang | Tok::Caret);
        if names && self.position - start > MAX_NAME_BYTES {
            kind = Tok::Error("name is longer than 4096 bytes");
        }
        Token { kind, span: Span { start: start as u32, end: self.position as u32 } }
    }

    /// Scans one token from `position`, which is at its first byte.
    fn scan(&mut self) -> Tok {
        let Some(&first) = self.text.get(self.position) else { return Tok::Eof };
        self.position += 1;
        match first {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                self.skip_while(is_name_byte);
                Tok::Bare
            }
            b'%' => self.suffix(Tok::Value),
            b'#' => self.suffix(Tok::Hash),
            b'!' => self.suffix(Tok::Bang),
            b'^' => self.suffix(Tok::Caret),
            b'@' => self.symbol(),
            b'0'..=b'9' => self.number(first),
            b'"' => self.string(),
            b'-' if self.peek(0) == b'>' => {
                self.position += 1;
                Tok::Arrow
            }
            b':' if self.peek(0) == b':' => {
                self.position += 1;
                Tok::ColonColon
            }
            b'-' => Tok::Minus,
            b':' => Tok::Colon,
            b',' => Tok::Comma,
            b'=' => Tok::Equal,
            b'+' => Tok::Plus,
            b'*' => Tok::Star,
            b'?' => Tok::Question,
            b'/' => Tok::Slash,
            b'(' => Tok::LParen,
            b')' => Tok::RParen,
            b'{' => Tok::LBrace,
            b'}' => Tok::RBrace,
            b'[' => Tok::LSquare,
            b']' => Tok::RSquare,
            b'<' => Tok::Less,
            b'>' => Tok::Greater,
            _ => {
                // One error for a sequence of bytes that cannot begin a token, instead of one per
                // byte.
                self.skip_while(|byte| byte >= 0x80 || matches!(byte, 1..=8 | 14..=31 | 127));
                Tok::Error("unexpected character")
            }
        }
    }

    /// Scans a name after its sigil: digits, or a letter or one of `$._-` followed by more of
    /// these.
    fn suffix(&mut self, kind: Tok) -> Tok {
        let first = self.peek(0);
        if first.is_ascii_digit() {
            self.skip_while(|byte| byte.is_ascii_digit());
            return kind;
        }
        if !is_suffix_byte(first) {
            return Tok::Error("expected a name after '%', '#', '!' or '^'");
        }
        self.skip_while(is_suffix_byte);
        kind
    }

    fn symbol(&mut self) -> Tok {
        let first = self.peek(0);
        if first == b'"' {
            self.position += 1;
            return match self.string() {
                Tok::String => Tok::Symbol,
                error => error,
            };
        }
        if !first.is_ascii_alphabetic() && first != b'_' {
            return Tok::Error("expected a name or a string after '@'");
        }
        self.skip_while(is_name_byte);
        Tok::Symbol
    }

    fn number(&mut self, first: u8) -> Tok {
        if first == b'0' && self.peek(0) == b'x' && self.peek(1).is_ascii_hexdigit() {
            self.position += 1;
            self.skip_while(|byte| byte.is_ascii_hexdigit());
            return Tok::Int;
        }
        self.skip_while(|byte| byte.is_ascii_digit());
        if self.peek(0) != b'.' {
            return Tok::Int;
        }
        self.position += 1;
        self.skip_while(|byte| byte.is_ascii_digit());
        if matches!(self.peek(0), b'e' | b'E') {
            let signed = usize::from(matches!(self.peek(1), b'+' | b'-'));
            if self.peek(1 + signed).is_ascii_digit() {
                self.position += 1 + signed;
                self.skip_while(|byte| byte.is_ascii_digit());
            }
        }
        Tok::Float
    }

    /// Scans the rest of a string whose opening quote has been taken.
    fn string(&mut self) -> Tok {
        loop {
            self.skip_while(|byte| !matches!(byte, b'"' | b'\\' | b'\n' | 0x0B | 0x0C));
            match self.peek(0) {
                b'"' => {
                    self.position += 1;
                    return Tok::String;
                }
                b'\\' => {
                    let hex = self.peek(1).is_ascii_hexdigit() && self.peek(2).is_ascii_hexdigit();
                    match self.peek(1) {
                        b'"' | b'\\' | b'n' | b't' => self.position += 2,
                        _ if hex => self.position += 3,
                        _ => {
                            self.position += 1;
                            return Tok::Error("unknown escape in string");
                        }
                    }
                }
                _ => return Tok::Error("expected '\"' at the end of a string"),
            }
        }
    }

    /// Takes the balanced text `<…>` that begins at `offset`, including the brackets, and continues
    /// after it.
    ///
    /// A `->` closes nothing, and brackets inside strings do not count.
    pub(crate) fn balanced(&mut self, offset: u32, max_depth: usize) -> Result<&'s [u8], &'static str> {
        self.seek(offset);
        let mut closers: Vec<u8> = Vec::new();
        loop {
            self.skip_while(|byte| {
                !matches!(byte, b'<'..=b'>' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'"' | b'-' | 0)
            });
            let byte = self.peek(0);
            if self.position >= self.text.len() || byte == 0 {
                return Err("expected a closing bracket");
            }
            self.position += 1;
            match byte {
                b'<' => closers.push(b'>'),
                b'(' => closers.push(b')'),
                b'[' => closers.push(b']'),
                b'{' => closers.push(b'}'),
                b'-' if self.peek(0) == b'>' => self.position += 1,
                b'"' => {
                    if let Tok::Error(message) = self.string() {
                        return Err(message);
                    }
                }
                b'>' | b')' | b']' | b'}' if closers.pop() != Some(byte) => {
                    return Err("unbalanced brackets");
                }
                _ => {}
            }
            if closers.len() > max_depth {
                return Err("brackets are nested too deeply");
            }
            if closers.is_empty() {
                return Ok(&self.text[offset as usize..self.position]);
            }
        }
    }
}

/// Returns the bytes that a string token stands for: without quotes, without the `@` of a symbol,
/// and with escapes resolved.
pub(crate) fn unescape(token: &[u8]) -> Vec<u8> {
    let body = token.strip_prefix(b"@").unwrap_or(token);
    let body = body.strip_prefix(b"\"").and_then(|body| body.strip_suffix(b"\"")).unwrap_or(body);
    let mut bytes = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = rest.iter().position(|&byte| byte == b'\\') {
        bytes.extend_from_slice(&rest[..at]);
        let escape = rest.get(at + 1).copied().unwrap_or(b'\\');
        let (byte, length) = match escape {
            b'n' => (b'\n', 2),
            b't' => (b'\t', 2),
            b'"' | b'\\' => (escape, 2),
            _ => (hex_digit(escape) << 4 | hex_digit(rest.get(at + 2).copied().unwrap_or(b'0')), 3),
        };
        bytes.push(byte);
        rest = rest.get(at + length..).unwrap_or_default();
    }
    bytes.extend_from_slice(rest);
    bytes
}

/// Returns the value of a hexadecimal digit, or 0 for other bytes.
pub(crate) fn hex_digit(byte: u8) -> u8 {
    char::from(byte).to_digit(16).unwrap_or(0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Tok> {
        let mut lexer = Lexer::new(text.as_bytes());
        let mut kinds = Vec::new();
        loop {
            match lexer.next().kind {
                Tok::Eof => return kinds,
                kind => kinds.push(kind),
            }
        }
    }

    #[test]
    fn tokens_of_each_kind() {
        use Tok::*;
        let table: &[(&str, &[Tok])] = &[
            ("tfrt.add.i32 %x, %0#1", &[Bare, Value, Comma, Value, Hash]),
            ("@f @\"a b\"::@g", &[Symbol, Symbol, ColonColon, Symbol]),
            ("1 0x1F 1. 1.5e-3 2.e 4x0", &[Int, Int, Float, Float, Float, Bare, Int, Bare]),
            ("->-:::=", &[Arrow, Minus, ColonColon, Colon, Equal]),
            ("\"a\\\"b\\0A\" // end\n?*+", &[String, Question, Star, Plus]),
            ("^bb0 !t.tensor #a.b", &[Caret, Bang, Hash]),
            ("\"open", &[Error("expected '\"' at the end of a string")]),
            ("\"\\q", &[Error("unknown escape in string"), Bare]),
            ("\u{1F980}\u{1F980}a", &[Error("unexpected character"), Bare]),
            ("\u{FEFF}a \u{FEFF}", &[Bare, Error("unexpected character")]),
        ];
        for (text, expected) in table {
            assert_eq!(kinds(text), *expected, "{text}");
        }
    }

    #[test]
    fn long_names_are_errors() {
        assert_eq!(kinds(&"a".repeat(MAX_NAME_BYTES)), [Tok::Bare]);
        assert!(matches!(kinds(&"a".repeat(MAX_NAME_BYTES + 1))[..], [Tok::Error(_)]));
    }

    #[test]
    fn balanced_text_minds_arrows_and_strings() {
        let mut lexer = Lexer::new(b"x<(a -> b), \">\", [1]> rest");
        assert_eq!(lexer.balanced(1, 8), Ok(&b"<(a -> b), \">\", [1]>"[..]));
        assert_eq!(lexer.next().kind, Tok::Bare);
        assert_eq!(Lexer::new(b"<(>)").balanced(0, 8), Err("unbalanced brackets"));
        assert_eq!(Lexer::new(b"<<").balanced(0, 8), Err("expected a closing bracket"));
        assert!(Lexer::new(&[b'<'; 100_000]).balanced(0, 8).is_err());
    }

    #[test]
    fn escapes_resolve() {
        assert_eq!(unescape(b"\"a\\n\\t\\\"\\\\\\FFz\""), b"a\n\t\"\\\xFFz");
        assert_eq!(unescape(b"@\"a b\""), b"a b");
    }
}
