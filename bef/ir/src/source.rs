//! A source text and its lines. This module reads no files.

use crate::{Location, Name};

/// The longest text that parses, in bytes: 512 MiB.
pub const MAX_SOURCE_BYTES: usize = 512 << 20;

/// A range of bytes in a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    pub(crate) fn to(self, end: Span) -> Span {
        Span { start: self.start, end: end.end.max(self.start) }
    }
}

/// A named text, with its lines indexed.
#[derive(Clone, Debug)]
pub struct Source {
    name: Name,
    text: Vec<u8>,
    first_line: u32,
    line_starts: Vec<u32>,
}

impl Source {
    /// Creates a text named `name` in messages. It need not be UTF-8, because MLIR strings and
    /// comments hold any bytes.
    pub fn new(name: impl Into<Name>, text: impl Into<Vec<u8>>) -> Source {
        Source::with_first_line(name, text, 1)
    }

    /// Creates a text whose first line has the number `first_line`, for a part of a split file.
    pub fn with_first_line(name: impl Into<Name>, text: impl Into<Vec<u8>>, first_line: u32) -> Source {
        let text = text.into();
        let mut line_starts = vec![0];
        if text.len() <= MAX_SOURCE_BYTES {
            let newlines = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
            line_starts.extend(newlines.map(|(at, _)| at as u32 + 1));
        }
        Source { name: name.into(), text, first_line, line_starts }
    }

    /// Returns the name.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Returns the bytes.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns the number of the first line.
    pub fn first_line(&self) -> u32 {
        self.first_line
    }

    /// Returns line and column of a byte, counted as in [`Location::File`].
    pub fn line_column(&self, offset: u32) -> (u32, u32) {
        let line = self.line_starts.partition_point(|&start| start <= offset).saturating_sub(1);
        let start = self.line_starts.get(line).copied().unwrap_or(0);
        (self.first_line.saturating_add(line as u32), offset - start + 1)
    }

    /// Returns the location of a byte.
    pub fn location(&self, offset: u32) -> Location {
        let (line, column) = self.line_column(offset);
        Location::File { file: self.name.clone(), line, column }
    }

    /// Returns the offset of a line and column, clamped into the line, or `None` if there is no
    /// such line.
    pub fn offset(&self, line: u32, column: u32) -> Option<u32> {
        let index = line.checked_sub(self.first_line)? as usize;
        let start = *self.line_starts.get(index)?;
        let end = self.line_starts.get(index + 1).map_or(self.text.len() as u32, |next| next - 1);
        Some(start.saturating_add(column.saturating_sub(1)).min(end))
    }

    /// Returns the bytes of a line without its end, or `None` if there is no such line.
    pub fn line(&self, line: u32) -> Option<&[u8]> {
        let index = line.checked_sub(self.first_line)? as usize;
        let start = *self.line_starts.get(index)? as usize;
        let end = self.line_starts.get(index + 1).map_or(self.text.len(), |&next| next as usize - 1);
        self.text.get(start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_positions_correspond() {
        let source = Source::with_first_line("f", "ab\n\ncd", 10);
        for (offset, line, column) in [(0, 10, 1), (2, 10, 3), (3, 11, 1), (4, 12, 1), (6, 12, 3)] {
            assert_eq!(source.line_column(offset), (line, column));
            assert_eq!(source.offset(line, column), Some(offset));
        }
        assert_eq!(source.offset(13, 1), None);
        assert_eq!(source.offset(9, 1), None);
        assert_eq!(source.line(12), Some(&b"cd"[..]));
    }
}
