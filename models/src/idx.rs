//! The IDX format, in which MNIST is distributed, plain or compressed with gzip.
//!
//! A file is two zero bytes, a byte for the element type, a byte for the number of dimensions, the
//! dimensions as 32-bit numbers, and the elements in row-major order; all big-endian. Only unsigned
//! bytes (type 8) are read here. See <http://yann.lecun.com/exdb/mnist/>.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::digits::{CLASSES, DigitSet, SIDE};

/// The greatest number of elements of a file. MNIST has 47 million.
pub const MAX_ELEMENTS: usize = 1 << 30;
/// The greatest number of dimensions.
pub const MAX_RANK: usize = 8;

/// The code of unsigned bytes.
const UNSIGNED_BYTE: u8 = 8;
/// The first bytes of a gzip file.
const GZIP_MAGIC: [u8; 2] = [0x1F, 0x8B];

/// An array of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdxArray {
    /// The extents, outermost first.
    pub shape: Vec<usize>,
    /// The elements in row-major order, as many as the shape says.
    pub data: Vec<u8>,
}

/// An error in a file, and its position.
#[derive(Debug)]
pub struct IdxError {
    /// The name of the file.
    pub file: PathBuf,
    /// The offset in the uncompressed contents, in bytes.
    pub offset: u64,
    /// The error.
    pub problem: Problem,
}

/// The kinds of errors in IDX files.
#[derive(Debug)]
#[non_exhaustive]
pub enum Problem {
    /// The file cannot be opened, read or decompressed.
    Io(io::Error),
    /// The file ends before its contents do; this many bytes are missing.
    Truncated(u64),
    /// The first two bytes are not zero.
    Magic([u8; 2]),
    /// The element type is not unsigned bytes.
    ElementType(u8),
    /// There are more dimensions than [`MAX_RANK`].
    Rank(usize),
    /// There are more elements than [`MAX_ELEMENTS`].
    TooLarge(Vec<usize>),
    /// Bytes follow the last element.
    Trailing,
    /// The array is not the images or labels that it should be; the text says what was expected.
    Contents(&'static str),
}

impl fmt::Display for IdxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, byte {}: ", self.file.display(), self.offset)?;
        match &self.problem {
            Problem::Io(error) => write!(f, "{error}"),
            Problem::Truncated(missing) => write!(f, "the file ends here, {missing} bytes too early"),
            Problem::Magic(bytes) => {
                write!(f, "not an IDX file: it begins with {bytes:02x?} instead of two zero bytes")
            }
            Problem::ElementType(code) => {
                write!(f, "element type {code:#04x} is not supported, only 0x08 (bytes)")
            }
            Problem::Rank(rank) => write!(f, "{rank} dimensions are more than {MAX_RANK}"),
            Problem::TooLarge(shape) => {
                write!(f, "an array of {shape:?} has more than {MAX_ELEMENTS} elements")
            }
            Problem::Trailing => f.write_str("bytes follow the last element"),
            Problem::Contents(expected) => write!(f, "expected {expected}"),
        }
    }
}

impl std::error::Error for IdxError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.problem {
            Problem::Io(error) => Some(error),
            _ => None,
        }
    }
}

/// Reads a file, and decompresses it if it is a gzip file.
pub fn read(path: &Path) -> Result<IdxArray, IdxError> {
    let fail = |error| IdxError { file: path.to_owned(), offset: 0, problem: Problem::Io(error) };
    parse(path, io::BufReader::new(File::open(path).map_err(fail)?))
}

/// Reads an array from any reader. `name` is its name in errors.
pub fn parse(name: &Path, mut input: impl Read) -> Result<IdxArray, IdxError> {
    let mut start = Vec::new();
    let begun = input.by_ref().take(2).read_to_end(&mut start);
    begun.map_err(|error| IdxError { file: name.to_owned(), offset: 0, problem: Problem::Io(error) })?;
    let whole = io::Cursor::new(&start).chain(input);
    if start == GZIP_MAGIC {
        Parser { name, input: MultiGzDecoder::new(whole), offset: 0 }.array()
    } else {
        Parser { name, input: whole, offset: 0 }.array()
    }
}

struct Parser<'a, R> {
    name: &'a Path,
    input: R,
    offset: u64,
}

impl<R: Read> Parser<'_, R> {
    fn error(&self, problem: Problem) -> IdxError {
        IdxError { file: self.name.to_owned(), offset: self.offset, problem }
    }

    /// Reads the next `count` bytes. Memory grows with the actual contents, not with what the
    /// header claims.
    fn bytes(&mut self, count: usize) -> Result<Vec<u8>, IdxError> {
        let mut bytes = Vec::new();
        let outcome = self.input.by_ref().take(count as u64).read_to_end(&mut bytes);
        self.offset += bytes.len() as u64;
        outcome.map_err(|error| self.error(Problem::Io(error)))?;
        match count - bytes.len() {
            0 => Ok(bytes),
            missing => Err(self.error(Problem::Truncated(missing as u64))),
        }
    }

    fn array(mut self) -> Result<IdxArray, IdxError> {
        let magic = self.bytes(4)?;
        // Errors in the header refer to its first byte.
        let at_start = |problem| IdxError { file: self.name.to_owned(), offset: 0, problem };
        let rank = match magic[..] {
            [0, 0, UNSIGNED_BYTE, rank] if usize::from(rank) <= MAX_RANK => usize::from(rank),
            [0, 0, UNSIGNED_BYTE, rank] => return Err(at_start(Problem::Rank(usize::from(rank)))),
            [0, 0, code, _] => return Err(at_start(Problem::ElementType(code))),
            _ => return Err(at_start(Problem::Magic([magic[0], magic[1]]))),
        };
        let dims = self.bytes(rank * 4)?;
        let dim = |b: &[u8]| b.iter().fold(0usize, |n, &byte| (n << 8) | usize::from(byte));
        let shape: Vec<usize> = dims.chunks_exact(4).map(dim).collect();
        let count = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d)).filter(|&n| n <= MAX_ELEMENTS);
        let count = count.ok_or_else(|| self.error(Problem::TooLarge(shape.clone())))?;
        let data = self.bytes(count)?;
        let mut rest = Vec::new();
        let outcome = self.input.by_ref().take(1).read_to_end(&mut rest);
        outcome.map_err(|error| self.error(Problem::Io(error)))?;
        if rest.is_empty() { Ok(IdxArray { shape, data }) } else { Err(self.error(Problem::Trailing)) }
    }
}

/// Writes an array. The data must have the length that the shape says, and the shape must fit the
/// format.
pub fn write(mut output: impl Write, array: &IdxArray) -> io::Result<()> {
    let invalid = |text| io::Error::new(io::ErrorKind::InvalidInput, text);
    let count = array.shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
    if count != Some(array.data.len()) {
        return Err(invalid("the array's shape does not match its data"));
    }
    let rank = u8::try_from(array.shape.len()).map_err(|_| invalid("the array has too many dimensions"))?;
    output.write_all(&[0, 0, UNSIGNED_BYTE, rank])?;
    for &dim in &array.shape {
        let dim = u32::try_from(dim).map_err(|_| invalid("a dimension does not fit 32 bits"))?;
        output.write_all(&dim.to_be_bytes())?;
    }
    output.write_all(&array.data)?;
    output.flush()
}

/// A part of MNIST.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    /// The 60,000 training images.
    Train,
    /// The 10,000 test images.
    Test,
}

/// Reads a part of MNIST from a folder with the original files, with or without `.gz`.
pub fn read_mnist(folder: &Path, split: Split) -> Result<DigitSet, IdxError> {
    let prefix = match split {
        Split::Train => "train",
        Split::Test => "t10k",
    };
    let file = |kind: &str| {
        let plain = folder.join(format!("{prefix}-{kind}-ubyte"));
        if plain.exists() { plain } else { folder.join(format!("{prefix}-{kind}-ubyte.gz")) }
    };
    let (image_file, label_file) = (file("images-idx3"), file("labels-idx1"));
    let (images, labels) = (read(&image_file)?, read(&label_file)?);
    let wrong = |file: PathBuf, offset: u64, expected| {
        Err(IdxError { file, offset, problem: Problem::Contents(expected) })
    };
    match images.shape[..] {
        [count, SIDE, SIDE] if labels.shape == [count] => {}
        [_, SIDE, SIDE] => return wrong(label_file, 4, "one label for each image"),
        _ => return wrong(image_file, 4, "images of 28 by 28 pixels"),
    }
    if let Some(bad) = labels.data.iter().position(|&label| usize::from(label) >= CLASSES) {
        return wrong(label_file, 8 + bad as u64, "a label from 0 to 9");
    }
    Ok(DigitSet { images: images.data, labels: labels.data })
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn encode(array: &IdxArray) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&mut bytes, array).unwrap();
        bytes
    }

    fn message(bytes: &[u8]) -> String {
        parse(Path::new("f"), bytes).unwrap_err().to_string()
    }

    fn sample() -> IdxArray {
        IdxArray { shape: vec![2, 1, 3], data: vec![1, 2, 3, 4, 5, 6] }
    }

    #[test]
    fn arrays_survive_plain_and_compressed() {
        for array in [
            sample(),
            IdxArray { shape: vec![], data: vec![9] },
            IdxArray { shape: vec![0, 4], data: vec![] },
        ] {
            let bytes = encode(&array);
            assert_eq!(parse(Path::new("f"), &bytes[..]).unwrap(), array);
            let mut gz = GzEncoder::new(Vec::new(), Compression::fast());
            gz.write_all(&bytes).unwrap();
            assert_eq!(parse(Path::new("f.gz"), &gz.finish().unwrap()[..]).unwrap(), array);
        }
        assert_eq!(encode(&sample())[..8], [0, 0, 8, 3, 0, 0, 0, 2]);
    }

    #[test]
    fn errors_name_file_and_offset() {
        let good = encode(&sample());
        assert_eq!(message(&good[..20]), "f, byte 20: the file ends here, 2 bytes too early");
        assert_eq!(message(&[]), "f, byte 0: the file ends here, 4 bytes too early");
        assert_eq!(
            message(b"PNG!"),
            "f, byte 0: not an IDX file: it begins with [50, 4e] instead of two zero bytes"
        );
        assert_eq!(
            message(&[0, 0, 13, 1]),
            "f, byte 0: element type 0x0d is not supported, only 0x08 (bytes)"
        );
        assert_eq!(message(&[0, 0, 8, 200]), "f, byte 0: 200 dimensions are more than 8");
        assert!(
            message(&[&[0, 0, 8, 2][..], &[0xFF; 8]].concat())
                .starts_with("f, byte 12: an array of [4294967295,")
        );
        assert_eq!(message(&[&good[..], &[0]].concat()), "f, byte 22: bytes follow the last element");
        // A header may claim a gigabyte. Missing contents are neither read nor allocated.
        assert!(message(&[0, 0, 8, 1, 0x3F, 0, 0, 0, 1]).ends_with("bytes too early"));
        assert!(
            read(Path::new("/nonexistent/f"))
                .unwrap_err()
                .to_string()
                .starts_with("/nonexistent/f, byte 0: ")
        );
    }

    #[test]
    fn every_truncation_and_flip_is_an_error_or_an_array() {
        let good = encode(&sample());
        for length in 0..good.len() {
            assert!(parse(Path::new("f"), &good[..length]).is_err());
        }
        for (byte, bit) in (0..good.len()).flat_map(|byte| (0..8).map(move |bit| (byte, bit))) {
            let mut bad = good.clone();
            bad[byte] ^= 1 << bit;
            let parsed = parse(Path::new("f"), &bad[..]);
            assert_eq!(parsed.is_ok(), byte >= 16, "byte {byte} bit {bit}");
        }
    }

    #[test]
    fn writing_checks_the_shape() {
        assert!(write(io::sink(), &IdxArray { shape: vec![2], data: vec![1] }).is_err());
        assert!(write(io::sink(), &IdxArray { shape: vec![0; 256], data: vec![] }).is_err());
    }

    #[test]
    fn mnist_is_read_from_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let set = crate::digits::generate(1, 0..20);
        let images = IdxArray { shape: vec![20, SIDE, SIDE], data: set.images.clone() };
        let mut labels = IdxArray { shape: vec![20], data: set.labels.clone() };
        let save =
            |name: &str, array: &IdxArray| std::fs::write(folder.path().join(name), encode(array)).unwrap();
        save("t10k-images-idx3-ubyte", &images);
        save("t10k-labels-idx1-ubyte", &labels);
        assert_eq!(read_mnist(folder.path(), Split::Test).unwrap(), set);
        assert!(read_mnist(folder.path(), Split::Train).is_err());
        labels.data[3] = 10;
        save("t10k-labels-idx1-ubyte", &labels);
        let error = read_mnist(folder.path(), Split::Test).unwrap_err().to_string();
        assert!(error.ends_with("t10k-labels-idx1-ubyte, byte 11: expected a label from 0 to 9"), "{error}");
    }
}
