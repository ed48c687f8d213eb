//! Sorted tables in the format of LevelDB, in which checkpoints keep their index.
//!
//! A file is a sequence of blocks with a footer. A block holds entries whose keys share prefixes,
//! and is followed by a byte that tells its compression and by a checksum. The index block, which
//! the footer points to, lists the data blocks.

use std::borrow::Cow;

/// What ends every table.
const MAGIC: u64 = 0xdb47_7524_8b80_fb57;
const FOOTER_BYTES: usize = 48;
/// The type byte and the checksum behind each block.
const TRAILER_BYTES: usize = 5;
/// The type of blocks that Snappy compressed.
const SNAPPY: u8 = 1;
/// The longest key or value that is read.
const MAX_ENTRY_BYTES: usize = 1 << 24;
/// The most entries that are read.
const MAX_ENTRIES: usize = 1 << 22;
/// The most bytes that all keys and values together may have.
const MAX_TOTAL_BYTES: usize = 1 << 28;
/// The longest block, decompressed.
const MAX_BLOCK_BYTES: usize = 1 << 26;

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
    let mut room = Room::default();
    for (_, handle) in entries(&index, &mut Room::default())? {
        let handle = Cursor { bytes: &handle, at: 0 }.handle()?;
        found.extend(entries(&block(bytes, handle)?, &mut room)?);
    }
    Ok(found)
}

/// How much more may be read.
pub(super) struct Room {
    entries: usize,
    bytes: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self { entries: MAX_ENTRIES, bytes: MAX_TOTAL_BYTES }
    }
}

impl Room {
    /// Takes the room of an entry.
    fn take(&mut self, bytes: usize) -> Result<(), String> {
        let entries = self.entries.checked_sub(1);
        self.entries = entries.ok_or_else(|| format!("the table has more than {MAX_ENTRIES} entries"))?;
        let left = self.bytes.checked_sub(bytes);
        self.bytes =
            left.ok_or_else(|| format!("the table's entries have more than {MAX_TOTAL_BYTES} bytes"))?;
        Ok(())
    }
}

/// The checksum as files hold it: rotated, so that the checksum of a checksum is not that of
/// nothing.
pub(super) fn masked(checksum: u32) -> u32 {
    checksum.rotate_right(15).wrapping_add(0xa282_ead8)
}

/// The contents of a block, whose checksum is verified.
fn block(bytes: &[u8], (offset, size): (usize, usize)) -> Result<Cow<'_, [u8]>, String> {
    let outside = || format!("a block of {size} bytes at {offset} lies outside of the file");
    let end = offset.checked_add(size).and_then(|end| end.checked_add(TRAILER_BYTES)).ok_or_else(outside)?;
    let whole = bytes.get(offset..end).ok_or_else(outside)?;
    let (checked, checksum) = whole.split_at(size + 1);
    let checksum = checksum.try_into().map_or(0, u32::from_le_bytes);
    if masked(crc32c::crc32c(checked)) != checksum {
        return Err(format!("the block at {offset} does not have its checksum"));
    }
    match checked[size] {
        0 => Ok(Cow::Borrowed(&checked[..size])),
        SNAPPY => decompressed(&checked[..size])
            .map(Cow::Owned)
            .map_err(|error| format!("the block at {offset} cannot be decompressed: {error}")),
        other => Err(format!("the block at {offset} is compressed (type {other}), which is not supported")),
    }
}

/// The contents of a block that Snappy compressed.
fn decompressed(compressed: &[u8]) -> Result<Vec<u8>, String> {
    let size = snap::raw::decompress_len(compressed).map_err(|error| error.to_string())?;
    if size > MAX_BLOCK_BYTES {
        return Err(format!("{size} bytes are too many"));
    }
    snap::raw::Decoder::new().decompress_vec(compressed).map_err(|error| error.to_string())
}

/// The entries of a block, as far as there is room for them.
pub(super) fn entries(block: &[u8], room: &mut Room) -> Result<Vec<Entry>, String> {
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
        let value = cursor.take(value)?;
        room.take(key.len() + value.len())?;
        found.push((key.clone(), value.to_vec()));
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A block with its type and checksum.
    fn stored(contents: &[u8], compression: u8) -> Vec<u8> {
        let mut block = contents.to_vec();
        block.push(compression);
        let checksum = masked(crc32c::crc32c(&block));
        block.extend_from_slice(&checksum.to_le_bytes());
        block
    }

    /// A block of entries, none of which shares a part of its key.
    fn contents(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut block = Vec::new();
        for (key, value) in entries {
            block.extend([0, key.len() as u8, value.len() as u8]);
            block.extend_from_slice(key.as_bytes());
            block.extend_from_slice(value);
        }
        block.extend_from_slice(&[0, 0, 0, 0, 1, 0, 0, 0]);
        block
    }

    fn table(data: &[u8], compression: u8) -> Vec<u8> {
        let mut file = stored(data, compression);
        let handle = [0, data.len() as u8];
        let index = contents(&[("z", &handle)]);
        let mut footer = vec![0, 0, file.len() as u8, index.len() as u8];
        file.extend(stored(&index, 0));
        footer.resize(FOOTER_BYTES - 8, 0);
        file.extend(footer);
        file.extend_from_slice(&MAGIC.to_le_bytes());
        file
    }

    #[test]
    fn blocks_that_snappy_compressed_are_read() {
        let plain = contents(&[("a", b"one"), ("b", b"two two two two two two two two")]);
        let expected = read(&table(&plain, 0)).unwrap();
        assert_eq!(expected[0], (b"a".to_vec(), b"one".to_vec()));
        let compressed = snap::raw::Encoder::new().compress_vec(&plain).unwrap();
        assert!(compressed.len() < plain.len());
        assert_eq!(read(&table(&compressed, SNAPPY)).unwrap(), expected);
    }

    #[test]
    fn blocks_that_grow_without_bound_are_refused() {
        // The length is all that a block of so many bytes needs to claim it.
        let error = read(&table(&[0xff, 0xff, 0xff, 0xff, 0x0f, 0], SNAPPY)).unwrap_err();
        assert!(error.contains("too many") || error.contains("cannot be decompressed"), "{error}");
        // Entries that share a long key take memory each.
        let long = "k".repeat(120);
        let mut block = Vec::new();
        block.extend([0, long.len() as u8, 0]);
        block.extend_from_slice(long.as_bytes());
        for _ in 0..100 {
            block.extend([long.len() as u8, 0, 0]);
        }
        block.extend_from_slice(&[0, 0, 0, 0, 1, 0, 0, 0]);
        let mut room = Room { entries: 1000, bytes: 5000 };
        assert!(entries(&block, &mut room).unwrap_err().contains("bytes"));
        assert!(entries(&block, &mut Room::default()).is_ok());
    }

    #[test]
    fn changed_tables_are_errors_or_read() {
        let block = contents(&[("a", b"one"), ("bb", b"two"), ("ccc", b"three")]);
        let file = table(&block, 0);
        for at in 0..block.len() {
            for value in [0, 1, 2, 0x7f, 0x80, 0xff] {
                let mut changed = block.clone();
                changed[at] = value;
                let _ = entries(&changed, &mut Room::default());
                let _ = read(&table(&changed, 0));
            }
        }
        for at in 0..file.len() {
            let mut changed = file.clone();
            changed[at] ^= 0x41;
            let _ = read(&changed);
            let _ = read(&file[..at]);
        }
    }
}
