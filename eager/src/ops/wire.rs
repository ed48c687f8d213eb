//! Messages in the format of protocol buffers, read field by field.

use tfrt_host::Diagnostic;

use super::support::invalid;

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field<'m> {
    /// An integer.
    Number(u64),
    /// Four bytes.
    Four([u8; 4]),
    /// Eight bytes.
    Eight([u8; 8]),
    /// A string, a message or packed numbers.
    Bytes(&'m [u8]),
}

/// The fields of a message with their numbers, in order.
pub(super) struct Fields<'m>(&'m [u8]);

impl<'m> Fields<'m> {
    pub(super) fn new(message: &'m [u8]) -> Self {
        Self(message)
    }

    /// The next field, or `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<(u64, Field<'m>)>, Diagnostic> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let tag = varint(&mut self.0)?;
        let field = match tag & 7 {
            0 => Field::Number(varint(&mut self.0)?),
            1 => Field::Eight(array(&mut self.0)?),
            2 => {
                let length = usize::try_from(varint(&mut self.0)?).map_err(|_| truncated())?;
                Field::Bytes(taken(&mut self.0, length)?)
            }
            5 => Field::Four(array(&mut self.0)?),
            other => return Err(invalid(format!("a message has a field of the unknown kind {other}"))),
        };
        Ok(Some((tag >> 3, field)))
    }

    /// The last field of this number that holds bytes.
    pub(super) fn last_bytes(message: &'m [u8], number: u64) -> Result<Option<&'m [u8]>, Diagnostic> {
        let (mut fields, mut last) = (Self::new(message), None);
        while let Some(field) = fields.next()? {
            if let (found, Field::Bytes(bytes)) = field
                && found == number
            {
                last = Some(bytes);
            }
        }
        Ok(last)
    }
}

fn truncated() -> Diagnostic {
    invalid("a message ends in the middle of a field")
}

fn taken<'m>(rest: &mut &'m [u8], length: usize) -> Result<&'m [u8], Diagnostic> {
    let (taken, after) = rest.split_at_checked(length).ok_or_else(truncated)?;
    *rest = after;
    Ok(taken)
}

fn array<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], Diagnostic> {
    taken(rest, N)?.try_into().map_err(|_| truncated())
}

/// Takes an integer of seven bits in each byte.
pub(super) fn varint(rest: &mut &[u8]) -> Result<u64, Diagnostic> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let [byte] = array(rest)?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(invalid("a message has an integer of more than 64 bits"))
}

/// Appends an integer of seven bits in each byte.
pub(super) fn push_varint(message: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        message.push(value as u8 | 0x80);
        value >>= 7;
    }
    message.push(value as u8);
}

/// Appends a field that holds bytes.
pub(super) fn push_bytes(message: &mut Vec<u8>, number: u64, bytes: &[u8]) {
    push_varint(message, number << 3 | 2);
    push_varint(message, bytes.len() as u64);
    message.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_and_faults_reported() {
        let mut message = Vec::new();
        push_bytes(&mut message, 3, b"text");
        push_varint(&mut message, 1 << 3);
        push_varint(&mut message, 300);
        let mut fields = Fields::new(&message);
        assert_eq!(fields.next().unwrap(), Some((3, Field::Bytes(b"text"))));
        assert_eq!(fields.next().unwrap(), Some((1, Field::Number(300))));
        assert_eq!(fields.next().unwrap(), None);
        assert!(Fields::new(&message[..3]).next().is_err());
        assert!(Fields::new(&[0xff; 12]).next().is_err());
    }
}
