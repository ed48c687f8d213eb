//! Files of other formats, told by their first bytes, so that a message can say what they are.

/// Offset, bytes, and what a file with these bytes there is.
const FORMATS: [(usize, &[u8], &str); 12] = [
    (
        0,
        b"version https://git-lfs.github.com/spec/",
        "a pointer of Git LFS instead of the file, which 'git lfs pull' fetches",
    ),
    (
        0,
        b"PK\x03\x04",
        "a zip archive, as PyTorch and Keras write; export the model with torch.onnx.export or Keras' model.export",
    ),
    (0, b"\x80\x02", "a pickle of Python; export the model with torch.onnx.export"),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file; export the model with Keras' model.export"),
    (4, b"TFL3", "a model of TensorFlow Lite; use the SavedModel that it was converted from"),
    (4, b"ORTM", "a model in the format of ONNX Runtime; use the ONNX file that it was converted from"),
    (0, b"GGUF", "a GGUF file; use an ONNX file of the model"),
    (0, b"\x93NUMPY", "an array of NumPy"),
    (0, b"<!DOCTYPE", "a web page"),
    (0, b"<!doctype", "a web page"),
    (0, b"<html", "a web page"),
    (8, b"{\"", "a file of tensors (safetensors) without a model"),
];

/// How many bytes of a file tell whether it is text.
const SAMPLE_BYTES: usize = 512;

/// Returns what a file is that is neither a model nor a program, or `None` if that is not known.
pub fn foreign_format(bytes: &[u8]) -> Option<&'static str> {
    let has = |(offset, magic): (usize, &[u8])| bytes.get(offset..).is_some_and(|at| at.starts_with(magic));
    FORMATS.iter().find(|(offset, magic, _)| has((*offset, magic))).map(|(.., name)| *name)
}

/// Returns why a file is not a program as text, as far as its first bytes tell.
pub fn binary_format(bytes: &[u8]) -> Option<&'static str> {
    let is_binary = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    let sample = &bytes[..bytes.len().min(SAMPLE_BYTES)];
    foreign_format(bytes).or_else(|| {
        (sample.first().is_some_and(is_binary) || sample.contains(&0)).then_some(
            "neither MLIR text nor a BEF file; the names of models end in .onnx, .pb or .pbtxt, or are folders",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_by_their_first_bytes() {
        let zip = foreign_format(b"PK\x03\x04\x14\0").unwrap();
        assert!(zip.contains("torch.onnx.export"), "{zip}");
        assert!(foreign_format(b"\x1c\0\0\0TFL3").unwrap().contains("TensorFlow Lite"));
        assert!(foreign_format(b"\x40\0\0\0\0\0\0\0{\"a\":").unwrap().contains("safetensors"));
        for unknown in [&b""[..], b"P", b"\x08\x0a\x12\x04", b"func @main() {\n}"] {
            assert_eq!(foreign_format(unknown), None);
        }
    }

    #[test]
    fn text_is_told_from_other_files() {
        for text in [&b""[..], b"\n\tfunc @main() {}", "// \u{e9}\n".as_bytes(), b"\x0c"] {
            assert_eq!(binary_format(text), None);
        }
        for binary in [&b"\x08\x0a\x12\x04"[..], b"abc\0", b"\0"] {
            assert!(binary_format(binary).unwrap().contains("names of models"), "{binary:?}");
        }
    }
}
