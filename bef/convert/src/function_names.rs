//! Under which names kernels refer to functions.
//!
//! The format keeps attribute names for converting back, but none for attributes that are references to functions. Most ops
//! call theirs `callee`, which is what converting back assumes; [`Names::section`] holds the others. It is a section the
//! format does not define, written only where something is not called `callee`, so that other readers skip it:
//! for each kernel in question its function's index, its own index and the number of names, as variable-length integers,
//! then the NUL-terminated names.

use std::collections::HashMap;

/// The section's number.
pub(crate) const SECTION: u8 = 0x80;
/// What a reference to a function is called if nothing else is known.
pub(crate) const DEFAULT: &str = "callee";

/// The names of references to functions, by function index and kernel index.
#[derive(Debug, Default)]
pub(crate) struct Names {
    names: HashMap<(u32, u32), Vec<String>>,
}

impl Names {
    /// The section's bytes for kernels in the order given, or `None` where there is nothing to say.
    pub(crate) fn section(kernels: &[((u32, u32), Vec<&str>)]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        for ((function, kernel), names) in kernels {
            if names.is_empty() || names[..] == [DEFAULT] {
                continue;
            }
            for number in [*function, *kernel, names.len() as u32] {
                put_integer(&mut out, number);
            }
            for name in names {
                out.extend_from_slice(name.as_bytes());
                out.push(0);
            }
        }
        (!out.is_empty()).then_some(out)
    }

    /// Reads the section. What is malformed counts as not said: the names are for people to read.
    pub(crate) fn read(section: &[u8]) -> Self {
        let mut rest = section;
        let mut names = HashMap::new();
        while let Some((key, list)) = read_entry(&mut rest) {
            names.insert(key, list);
        }
        Self { names }
    }

    /// The name of reference number `index` of a kernel.
    pub(crate) fn get(&self, function: u32, kernel: u32, index: usize) -> &str {
        self.names.get(&(function, kernel)).and_then(|names| names.get(index)).map_or(DEFAULT, String::as_str)
    }
}

fn read_entry(rest: &mut &[u8]) -> Option<((u32, u32), Vec<String>)> {
    let function = read_integer(rest)?;
    let kernel = read_integer(rest)?;
    let count = read_integer(rest)? as usize;
    let mut names = Vec::new();
    for _ in 0..count {
        let end = rest.iter().position(|&byte| byte == 0)?;
        names.push(std::str::from_utf8(&rest[..end]).ok()?.to_owned());
        *rest = &rest[end + 1..];
    }
    Some(((function, kernel), names))
}

fn put_integer(out: &mut Vec<u8>, value: u32) {
    let groups = (u32::BITS - value.leading_zeros()).div_ceil(7).max(1);
    for group in (0..groups).rev() {
        out.push((value >> (7 * group) & 0x7F) as u8 | if group == 0 { 0 } else { 0x80 });
    }
}

fn read_integer(rest: &mut &[u8]) -> Option<u32> {
    let mut value = 0_u32;
    loop {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        value = value.checked_mul(0x80)? | u32::from(byte & 0x7F);
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unusual_names_are_written_and_read_back() {
        let usual = [((0, 1), vec!["callee"]), ((0, 2), vec![])];
        assert_eq!(Names::section(&usual), None);
        let unusual = [((3, 200), vec!["then", "else"]), ((3, 1), vec!["callee"]), ((7, 2), vec!["body"])];
        let section = Names::section(&unusual).unwrap();
        let names = Names::read(&section);
        assert_eq!(
            (names.get(3, 200, 0), names.get(3, 200, 1), names.get(3, 200, 2)),
            ("then", "else", "callee")
        );
        assert_eq!((names.get(3, 1, 0), names.get(7, 2, 0)), ("callee", "body"));
        for len in 0..section.len() {
            assert!(Names::read(&section[..len]).names.len() < 2);
        }
        Names::read(&[0xFF; 20]);
    }
}
