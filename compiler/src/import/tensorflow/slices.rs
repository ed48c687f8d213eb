//! Parts of variables: under which keys a checkpoint holds them, where they lie, and how graphs
//! name them.

use super::proto::{ExtentProto, SliceProto};

/// The key of a part of a variable: numbers and a text, written so that keys sort like what they
/// say.
pub(super) fn key(name: &str, slice: &SliceProto) -> Vec<u8> {
    let mut key = Vec::new();
    push_count(&mut key, 0);
    for &byte in name.as_bytes() {
        match byte {
            0 => key.extend([0, 0xff]),
            0xff => key.extend([0xff, 0]),
            byte => key.push(byte),
        }
    }
    key.extend([0, 1]);
    push_count(&mut key, slice.extent.len() as u64);
    for extent in &slice.extent {
        push_signed(&mut key, extent.start);
        push_signed(&mut key, extent.length.unwrap_or(-1));
    }
    key
}

/// The number of bytes, and the bytes without leading zeros.
fn push_count(key: &mut Vec<u8>, count: u64) {
    let bytes = count.to_be_bytes();
    let first = bytes.iter().position(|&byte| byte != 0).unwrap_or(bytes.len());
    key.push((bytes.len() - first) as u8);
    key.extend(&bytes[first..]);
}

/// A number of either sign, whose first bits say how many bytes it has.
fn push_signed(key: &mut Vec<u8>, value: i64) {
    let magnitude = if value < 0 { !value } else { value } as u64;
    let length = ((u64::BITS - magnitude.leading_zeros()) as usize / 7 + 1).min(10);
    let mut bytes = [if value < 0 { 0xff } else { 0 }; 10];
    bytes[2..].copy_from_slice(&value.to_be_bytes());
    let start = bytes.len() - length;
    let header = !(u16::MAX.checked_shr(length as u32).unwrap_or(0));
    bytes[start] ^= (header >> 8) as u8;
    if length > 1 {
        bytes[start + 1] ^= header as u8;
    }
    key.extend(&bytes[start..]);
}

/// Where a part lies along each dimension: its start and its extent.
fn ranges(slice: &SliceProto, dims: &[usize]) -> Result<Vec<(usize, usize)>, String> {
    if slice.extent.len() != dims.len() {
        return Err("a part has another number of dimensions".to_owned());
    }
    let range = |(extent, &dim): (&ExtentProto, &usize)| {
        let start = usize::try_from(extent.start).ok()?;
        let length = match extent.length {
            Some(length) if length >= 0 => usize::try_from(length).ok()?,
            _ => dim.checked_sub(start)?,
        };
        (start.checked_add(length)? <= dim).then_some((start, length))
    };
    let ranges = slice.extent.iter().zip(dims).map(range).collect::<Option<_>>();
    ranges.ok_or_else(|| "a part lies outside of its variable".to_owned())
}

/// Copies the elements of a part to their places. Gives the number of bytes.
pub(super) fn copy(
    slice: &SliceProto,
    dims: &[usize],
    size: usize,
    from: &[u8],
    to: &mut [u8],
) -> Result<usize, String> {
    let ranges = ranges(slice, dims)?;
    let count: usize = ranges.iter().map(|range| range.1).product();
    if count.saturating_mul(size) != from.len() {
        return Err(format!("a part has {} bytes instead of {}", from.len(), count.saturating_mul(size)));
    }
    for (number, element) in from.chunks_exact(size).enumerate() {
        let (mut rest, mut place, mut stride) = (number, 0, 1);
        for (&(start, length), &dim) in ranges.iter().zip(dims).rev() {
            place += (start + rest % length) * stride;
            (rest, stride) = (rest / length, stride * dim);
        }
        to[place * size..][..size].copy_from_slice(element);
    }
    Ok(from.len())
}

/// The start and the extents of a part of a tensor.
pub(super) type Part = (Vec<i64>, Vec<i64>);

/// Reads the part that a text such as `10 5 0,4:-` names after the shape of the whole; an empty
/// text names none.
pub(super) fn parse(text: &str) -> Result<Option<Part>, String> {
    let Some((_, parts)) = text.rsplit_once(' ') else {
        return if text.is_empty() { Ok(None) } else { Err(format!("'{text}' is no part of a tensor")) };
    };
    let (mut start, mut size) = (Vec::new(), Vec::new());
    for part in parts.split(':') {
        let range = match part {
            "-" => Some((0, -1)),
            part => part.split_once(',').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?))),
        };
        let (from, length) = range.ok_or_else(|| format!("'{text}' is no part of a tensor"))?;
        start.push(from);
        size.push(length);
    }
    Ok(Some((start, size)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(ranges: &[(i64, i64)]) -> SliceProto {
        let extent = |&(start, length): &(i64, i64)| ExtentProto { start, length: Some(length) };
        SliceProto { extent: ranges.iter().map(extent).collect() }
    }

    #[test]
    fn keys_are_those_of_tensorflow() {
        assert_eq!(key("w", &slice(&[(0, 4), (64, -1)])), b"\0w\0\x01\x01\x02\x80\x84\xc0\x40\x7f");
        assert_eq!(key("", &slice(&[(8192, 63)])), b"\0\0\x01\x01\x01\xe0\x20\x00\xbf");
    }

    #[test]
    fn parts_are_copied_to_their_places() {
        let mut whole = [0; 6];
        assert_eq!(copy(&slice(&[(1, 1), (0, 2)]), &[3, 2], 1, &[7, 8], &mut whole), Ok(2));
        assert_eq!(whole, [0, 0, 7, 8, 0, 0]);
        assert!(copy(&slice(&[(2, 2), (0, 2)]), &[3, 2], 1, &[0; 4], &mut whole).is_err());
        assert!(copy(&slice(&[(0, 1)]), &[3, 2], 1, &[0; 2], &mut whole).is_err());
    }

    #[test]
    fn texts_of_parts_are_read() {
        assert_eq!(parse(""), Ok(None));
        assert_eq!(parse("10 5 0,4:-"), Ok(Some((vec![0, 0], vec![4, -1]))));
        assert!(parse("10 5 0;4").is_err() && parse("x").is_err());
    }
}
