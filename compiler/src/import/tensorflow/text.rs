//! Protobuf's text format: a file such as `graph.pbtxt` in the wire format, as its messages are
//! declared.
//!
//! A schema lists the fields of each message. Fields that the importer does not read are parsed and
//! dropped; names that no schema has are errors with their line.

use prost::encoding::{WireType, encode_key, encode_varint};

use super::schema::{Field, Kind, Schema, data_type};

/// How deep messages may nest.
const MAX_DEPTH: usize = 100;

/// The message of a text in the wire format.
///
/// # Errors
/// The first thing that is wrong, with its line and column.
pub(super) fn encode(text: &str, schema: Schema) -> Result<Vec<u8>, String> {
    let mut parser = Parser { text, at: 0 };
    let mut out = Vec::new();
    match parser.message(Some(schema), None, 0, &mut out) {
        Ok(()) => Ok(out),
        Err(message) => {
            let before = &text[..floor(text, parser.at)];
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
            Err(format!("line {line}, column {column}: {message}"))
        }
    }
}

/// The last place at or before `at` where a character begins.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&place| text.is_char_boundary(place)).unwrap_or(0)
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// Skips spaces and comments.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            if !trimmed.starts_with('#') {
                return;
            }
            self.at += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }

    fn peek(&mut self) -> Option<char> {
        self.skip();
        self.rest().chars().next()
    }

    fn eat(&mut self, expected: char) -> bool {
        let found = self.peek() == Some(expected);
        if found {
            self.at += expected.len_utf8();
        }
        found
    }

    /// A word: letters, digits and what numbers are made of.
    fn word(&mut self) -> Result<&'t str, String> {
        self.skip();
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '+');
        let len = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        if len == 0 {
            let found = rest.chars().next().map_or("the end".to_owned(), |c| format!("'{c}'"));
            return Err(format!("expected a name or a value, found {found}"));
        }
        self.at += len;
        Ok(&rest[..len])
    }

    /// Fields up to `end`. Without a schema they are dropped.
    fn message(
        &mut self,
        schema: Option<Schema>,
        end: Option<char>,
        depth: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("messages nest deeper than {MAX_DEPTH}"));
        }
        loop {
            match (self.peek(), end) {
                (None, None) => return Ok(()),
                (None, Some(end)) => return Err(format!("expected '{end}', found the end")),
                (found, end) if found == end => {
                    self.at += 1;
                    return Ok(());
                }
                _ => self.field(schema, depth, out)?,
            }
            let _ = self.eat(',') || self.eat(';');
        }
    }

    fn field(&mut self, schema: Option<Schema>, depth: usize, out: &mut Vec<u8>) -> Result<(), String> {
        let field = if self.eat('[') {
            // The name of an extension or of an embedded message.
            let len = self.rest().find(']').ok_or("expected ']'")?;
            self.at += len + 1;
            None
        } else {
            let before = self.at;
            let name = self.word()?;
            match schema {
                None => None,
                Some(schema) => {
                    let found = schema.fields.iter().find(|field| field.name == name);
                    if found.is_none() {
                        self.at = before;
                        return Err(format!("a {} has no field '{name}'", schema.name));
                    }
                    found
                }
            }
        };
        let has_colon = self.eat(':');
        if self.eat('[') {
            while !self.eat(']') {
                self.value(field, has_colon, depth, out)?;
                if !self.eat(',') && self.peek() != Some(']') {
                    return Err("expected ',' or ']'".to_owned());
                }
            }
            return Ok(());
        }
        self.value(field, has_colon, depth, out)
    }

    fn value(
        &mut self,
        field: Option<&Field>,
        has_colon: bool,
        depth: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let opened = if self.eat('{') {
            Some('}')
        } else if self.eat('<') {
            Some('>')
        } else {
            None
        };
        if let Some(end) = opened {
            let mut inner = Vec::new();
            return match field.map(|field| (field.number, field.kind)) {
                None | Some((_, Kind::Skipped)) => self.message(None, Some(end), depth + 1, &mut inner),
                Some((number, Kind::Message(schema))) => {
                    self.message(Some(schema()), Some(end), depth + 1, &mut inner)?;
                    put_bytes(number, &inner, out);
                    Ok(())
                }
                _ => Err("expected a value, found a message".to_owned()),
            };
        }
        if !has_colon {
            return Err("expected ':' or '{'".to_owned());
        }
        self.scalar(field, out)
    }

    fn scalar(&mut self, field: Option<&Field>, out: &mut Vec<u8>) -> Result<(), String> {
        let is_text = matches!(self.peek(), Some('"' | '\''));
        let Some(&Field { number, kind, .. }) = field else { return self.drop_scalar(is_text) };
        match kind {
            Kind::Skipped => self.drop_scalar(is_text),
            Kind::Message(_) => Err("expected '{'".to_owned()),
            Kind::Bytes if is_text => {
                let bytes = self.strings()?;
                put_bytes(number, &bytes, out);
                Ok(())
            }
            Kind::Bytes => Err("expected a text in quotes".to_owned()),
            _ if is_text => Err("expected a number, found a text".to_owned()),
            Kind::Int => {
                let word = self.word()?;
                put_varint(number, integer(word)?, out);
                Ok(())
            }
            Kind::Bool => {
                let word = self.word()?;
                let value = match word {
                    "true" | "True" | "t" | "1" => 1,
                    "false" | "False" | "f" | "0" => 0,
                    _ => return Err(format!("'{word}' is not a truth value")),
                };
                put_varint(number, value, out);
                Ok(())
            }
            Kind::DataType => {
                let word = self.word()?;
                let value = match data_type(word) {
                    Some(value) => u64::from(value),
                    None => integer(word).map_err(|_| format!("'{word}' is not a data type"))?,
                };
                put_varint(number, value, out);
                Ok(())
            }
            Kind::Float => {
                let word = self.word()?;
                encode_key(number, WireType::ThirtyTwoBit, out);
                out.extend((float(word)? as f32).to_le_bytes());
                Ok(())
            }
            Kind::Double => {
                let word = self.word()?;
                encode_key(number, WireType::SixtyFourBit, out);
                out.extend(float(word)?.to_le_bytes());
                Ok(())
            }
        }
    }

    fn drop_scalar(&mut self, is_text: bool) -> Result<(), String> {
        if is_text { self.strings().map(drop) } else { self.word().map(drop) }
    }

    /// Texts in quotes, which are one text if several follow each other.
    fn strings(&mut self) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        while let Some(quote @ ('"' | '\'')) = self.peek() {
            self.at += 1;
            self.string(quote, &mut bytes)?;
        }
        Ok(bytes)
    }

    fn string(&mut self, quote: char, bytes: &mut Vec<u8>) -> Result<(), String> {
        loop {
            let c = self.rest().chars().next().ok_or("a text has no end")?;
            self.at += c.len_utf8();
            match c {
                _ if c == quote => return Ok(()),
                '\n' => return Err("a text goes over the end of its line".to_owned()),
                '\\' => self.escape(bytes)?,
                _ => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
            }
        }
    }

    /// Digits of a base, at most `max` of them.
    fn digits(&mut self, radix: u32, max: usize) -> Result<u32, String> {
        let len = self.rest().chars().take(max).take_while(|c| c.is_digit(radix)).count();
        let digits = &self.rest()[..len];
        self.at += len;
        u32::from_str_radix(digits, radix).map_err(|_| "an escape has no digits".to_owned())
    }

    fn escape(&mut self, bytes: &mut Vec<u8>) -> Result<(), String> {
        let c = self.rest().chars().next().ok_or("a text has no end")?;
        if c.is_digit(8) {
            // Values above 255 wrap, as they do in protobuf's own parser.
            let byte = self.digits(8, 3)?;
            bytes.push(byte as u8);
            return Ok(());
        }
        self.at += c.len_utf8();
        bytes.push(match c {
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'v' => 11,
            '\\' | '\'' | '"' | '?' => c as u8,
            'x' | 'X' => self.digits(16, 2)? as u8,
            'u' | 'U' => {
                let code = self.digits(16, if c == 'u' { 4 } else { 8 })?;
                let c = char::from_u32(code).ok_or("an escape is no character")?;
                bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
                return Ok(());
            }
            _ => return Err(format!("'\\{c}' is not an escape")),
        });
        Ok(())
    }
}

fn put_varint(number: u32, value: u64, out: &mut Vec<u8>) {
    encode_key(number, WireType::Varint, out);
    encode_varint(value, out);
}

fn put_bytes(number: u32, bytes: &[u8], out: &mut Vec<u8>) {
    encode_key(number, WireType::LengthDelimited, out);
    encode_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// An integer in the form of a varint.
fn integer(word: &str) -> Result<u64, String> {
    let bad = || format!("'{word}' is not an integer");
    let (is_negative, digits) = word.strip_prefix('-').map_or((false, word), |digits| (true, digits));
    let value = if let Some(digits) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        u64::from_str_radix(digits, 16)
    } else if digits.len() > 1 && digits.starts_with('0') {
        u64::from_str_radix(digits, 8)
    } else {
        digits.parse()
    };
    let value = value.map_err(|_| bad())?;
    match is_negative {
        true if value > 1 << 63 => Err(bad()),
        true => Ok(value.wrapping_neg()),
        false => Ok(value),
    }
}

fn float(word: &str) -> Result<f64, String> {
    let digits = word.strip_suffix(['f', 'F']).filter(|digits| !digits.ends_with(['n', 'i'])).unwrap_or(word);
    // "inf" ends in an f that belongs to it.
    let text = if word.ends_with("inf") { word } else { digits };
    text.parse().map_err(|_| format!("'{word}' is not a number"))
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::{
        super::{proto::GraphDef, schema},
        *,
    };

    fn graph(text: &str) -> Result<GraphDef, String> {
        encode(text, schema::graph()).map(|bytes| GraphDef::decode(&bytes[..]).unwrap())
    }

    #[test]
    fn fields_are_read_in_every_notation() {
        let text = r#"
            # a comment
            node { name: "a" op: 'Const' device: "/cpu:0"
              attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } }
                float_val: [1.5, -inf] tensor_content: "\001\x02\n" } } }
              attr: < key: "n", value: { i: -3 } >; }
            versions { producer: 22 }
            library { }"#;
        let graph = graph(text).unwrap();
        let node = &graph.node[0];
        assert_eq!((node.name.as_str(), node.op.as_str()), ("a", "Const"));
        let Some(super::super::proto::Attr::Tensor(tensor)) = &node.attr["value"].value else {
            unreachable!("the attribute is a tensor")
        };
        assert_eq!(tensor.float_val, [1.5, f32::NEG_INFINITY]);
        assert_eq!(&tensor.tensor_content[..], [1, 2, b'\n']);
        assert_eq!(node.attr["n"].value, Some(super::super::proto::Attr::I(-3)));
    }

    #[test]
    fn errors_have_a_place() {
        let error = |text| graph(text).unwrap_err();
        assert_eq!(error("node { nme: \"a\" }"), "line 1, column 8: a NodeDef has no field 'nme'");
        assert_eq!(error("node {\n name: 3 }"), "line 2, column 8: expected a text in quotes");
        assert_eq!(error("node {"), "line 1, column 7: expected '}', found the end");
    }

    #[test]
    fn nesting_is_bounded() {
        let deep = "func { attr { value { ".repeat(200);
        let text = format!("node {{ attr {{ value {{ {deep}");
        assert!(graph(&text).unwrap_err().contains("nest deeper"));
    }
}
