//! Sorted tables in the format of LevelDB, in which checkpoints keep their index.
//!
//! A file is a sequence of blocks with a footer. A block holds entries whose keys share prefixes, and is followed by a byte
//! that tells its compression and by a checksum. The index block, which the footer points to, lists the data blocks.

/// What ends every table.
const MAGIC: u64 = 0xdb47_7524_8b80_fb57;
const FOOTER_BYTES: usize = 48;
/// The type byte and the checksum behind each block.
const TRAILER_BYTES: usize = 5;
/// The longest key or value that is read.
const MAX_ENTRY_BYTES: usize = 1 << 24;
/// The most entries that are read.
const MAX_ENTRIES: usize = 1 << 22;

/// A key and its value.
pub(super) type Entry = (Vec<u8>, Vec<u8>);

/// All entries of a table, in order.
///
/// # Errors
/// What is wrong with the bytes, and where.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<Entry>, String> {
    let start = bytes.len().checked_sub(FOOTER_BYTES).ok_or("the table is shorter than its footer")?;
    let footer = &bytes[start..];
    let magic = footer[FOOTER_BYTES - 8..].try_into().map_or(0, u64::from_le_bytes);
    if magic != MAGIC {
        return Err("the file does not end as a table does".to_owned());
    }
    let mut cursor = Cursor { bytes: footer, at: 0 };
    // The first handle is that of a block about the table, which holds nothing here.
    let (_, _) = (cursor.varint()?, cursor.varint()?);
    let index = block(bytes, cursor.handle()?)?;
    let mut found = Vec::new();
    for (_, handle) in entries(index, &mut 0)? {
        let handle = Cursor { bytes: &handle, at: 0 }.handle()?;
        let mut count = found.len();
        found.extend(entries(block(bytes, handle)?, &mut count)?);
    }
    Ok(found)
}

/// The checksum as files hold it: rotated, so that the checksum of a checksum is not that of nothing.
pub(super) fn masked(checksum: u32) -> u32 {
    checksum.rotate_right(15).wrapping_add(0xa282_ead8)
}

/// The contents of a block, whose checksum is verified.
fn block(bytes: &[u8], (offset, size): (usize, usize)) -> Result<&[u8], String> {
    let outside = || format!("a block of {size} bytes at {offset} lies outside of the file");
    let end = offset.checked_add(size).and_then(|end| end.checked_add(TRAILER_BYTES)).ok_or_else(outside)?;
    let whole = bytes.get(offset..end).ok_or_else(outside)?;
    let (checked, checksum) = whole.split_at(size + 1);
    let checksum = checksum.try_into().map_or(0, u32::from_le_bytes);
    if masked(crc32c::crc32c(checked)) != checksum {
        return Err(format!("the block at {offset} does not have its checksum"));
    }
    match checked[size] {
        0 => Ok(&checked[..size]),
        other => Err(format!("the block at {offset} is compressed (type {other}), which is not supported")),
    }
}

/// The entries of a block. `count` is how many of the table were read so far.
fn entries(block: &[u8], count: &mut usize) -> Result<Vec<Entry>, String> {
    let short = "a block is shorter than its list of restarts";
    let tail = block.len().checked_sub(4).ok_or(short)?;
    let restarts = block[tail..].try_into().map_or(0, u32::from_le_bytes) as usize;
    let end = restarts.checked_mul(4).and_then(|bytes| tail.checked_sub(bytes)).ok_or(short)?;
    let mut cursor = Cursor { bytes: &block[..end], at: 0 };
    let mut found: Vec<Entry> = Vec::new();
    let mut key = Vec::new();
    while cursor.at < end {
        let (shared, own, value) = (cursor.length()?, cursor.length()?, cursor.length()?);
        if shared > key.len() {
            return Err(format!("an entry shares {shared} bytes with a key of {}", key.len()));
        }
        key.truncate(shared);
        key.extend_from_slice(cursor.take(own)?);
        if key.len() > MAX_ENTRY_BYTES {
            return Err(format!("a key is longer than {MAX_ENTRY_BYTES} bytes"));
        }
        *count += 1;
        if *count > MAX_ENTRIES {
            return Err(format!("the table has more than {MAX_ENTRIES} entries"));
        }
        found.push((key.clone(), cursor.take(value)?.to_vec()));
    }
    Ok(found)
}

/// Reads numbers and bytes one after the other.
pub(super) struct Cursor<'b> {
    pub(super) bytes: &'b [u8],
    pub(super) at: usize,
}

impl<'b> Cursor<'b> {
    /// A number of seven bits a byte, the lowest first.
    pub(super) fn varint(&mut self) -> Result<u64, String> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes.get(self.at).ok_or("a number is cut off")?;
            self.at += 1;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err("a number has more than ten bytes".to_owned())
    }

    fn size(&mut self) -> Result<usize, String> {
        usize::try_from(self.varint()?).map_err(|_| "a size does not fit memory".to_owned())
    }

    /// An offset and a size.
    fn handle(&mut self) -> Result<(usize, usize), String> {
        Ok((self.size()?, self.size()?))
    }

    fn length(&mut self) -> Result<usize, String> {
        match self.size()? {
            length if length <= MAX_ENTRY_BYTES => Ok(length),
            length => Err(format!("an entry of {length} bytes is too long")),
        }
    }

    /// The next bytes.
    pub(super) fn take(&mut self, count: usize) -> Result<&'b [u8], String> {
        let end = self.at.checked_add(count).ok_or("an entry is cut off")?;
        let bytes = self.bytes.get(self.at..end).ok_or("an entry is cut off")?;
        self.at = end;
        Ok(bytes)
    }
}
