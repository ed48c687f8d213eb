//! Arrays of strings: `<U`, text of four bytes a character, and `|S`, any bytes. Each element has
//! the size of the longest one and ends with zeros.

use bstr::BString;
use tfrt_host::Diagnostic;

use super::{CHARACTER_SIZE, Elements, Header, from_column_major, header};
use crate::string::StringHostTensor;

/// The most bytes that the strings of one file are written as.
const MAX_SIZE: usize = 1 << 32;

/// The strings that the bytes of all elements are.
pub(super) fn decode(bytes: &[u8], header: &Header) -> Result<StringHostTensor, String> {
    let (size, dims) = (header.elements.size(), header.shape.dims());
    let turned;
    let bytes = if header.fortran_order && size > 0 && !bytes.is_empty() {
        let mut row_major = vec![0; bytes.len()];
        from_column_major(bytes, (size, dims), &mut row_major);
        turned = row_major;
        &turned[..]
    } else {
        bytes
    };
    if size == 0 && !dims.contains(&0) {
        // A small file could name any number of them.
        return Err("strings without room for a character are not supported".to_owned());
    }
    let strings = bytes.chunks_exact(size.max(1)).enumerate().map(|(at, element)| match header.elements {
        Elements::Text(_) => text(element).ok_or_else(|| format!("element {at} is not text")),
        _ => Ok(BString::from(without_zeros(element))),
    });
    let strings = strings.collect::<Result<Vec<_>, _>>()?;
    StringHostTensor::new(header.shape.clone(), strings).map_err(|error| error.message)
}

fn without_zeros(element: &[u8]) -> &[u8] {
    let length = element.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &element[..length]
}

fn text(element: &[u8]) -> Option<BString> {
    let (characters, _) = element.as_chunks::<CHARACTER_SIZE>();
    let length = characters.iter().rposition(|c| *c != [0; CHARACTER_SIZE]).map_or(0, |last| last + 1);
    let characters = characters[..length].iter().map(|&c| char::from_u32(u32::from_le_bytes(c)));
    characters.collect::<Option<String>>().map(BString::from)
}

/// The file of a tensor of strings: text if all of them are UTF-8, else bytes.
pub(super) fn encode(tensor: &StringHostTensor) -> Result<Vec<u8>, Diagnostic> {
    let strings = tensor.strings();
    if let Some(at) = strings.iter().position(|string| string.last() == Some(&0)) {
        return Err(Diagnostic::invalid_argument(format!(
            "string {at} ends with a zero, which .npy arrays cannot hold"
        )));
    }
    let texts: Option<Vec<&str>> = strings.iter().map(|string| std::str::from_utf8(string).ok()).collect();
    let elements = match &texts {
        // NumPy has no arrays of text without characters: they have one.
        Some(texts) => {
            Elements::Text(texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1))
        }
        None => Elements::Bytes(strings.iter().map(|string| string.len()).max().unwrap_or(0).max(1)),
    };
    let size = strings.len().checked_mul(elements.size()).filter(|&size| size <= MAX_SIZE);
    let size = size.ok_or_else(|| {
        Diagnostic::invalid_argument(
            "an .npy array of these strings, all as long as the longest, is too large",
        )
    })?;
    let descr = match elements {
        Elements::Text(length) => format!("<U{length}"),
        Elements::Bytes(length) => format!("|S{length}"),
        Elements::Numbers(_) => return Err(Diagnostic::internal("strings that are numbers")),
    };
    let mut file = header(&descr, tensor.shape(), size)?;
    for (at, string) in strings.iter().enumerate() {
        let end = file.len() + elements.size();
        match texts.as_ref().and_then(|texts| texts.get(at)) {
            Some(text) => text.chars().for_each(|c| file.extend_from_slice(&u32::from(c).to_le_bytes())),
            None => file.extend_from_slice(string),
        }
        file.resize(end, 0);
    }
    Ok(file)
}
