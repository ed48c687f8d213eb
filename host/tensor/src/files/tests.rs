//! Files written here and elsewhere, whole and damaged.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;
use tfrt_host::allocator::SystemAllocator;
use tfrt_host::host_buffer::HostBuffer;
use tfrt_host::{DType, Diagnostic, ErrorCode};

use super::btf::{self, BtfFile, Layout};
use super::safetensors::{self, SafeTensorsFile};
use super::{npy, npz};
use crate::{
    Accessor, CooHostTensor, DenseHostTensor, HostTensor, ScalarHostTensor, SharedAllocator,
    StringHostTensor, TensorMetadata, TensorShape,
};

static ME: Accessor = Accessor::new("test.files");

fn system() -> SharedAllocator {
    Arc::new(SystemAllocator)
}

fn in_memory(bytes: &[u8]) -> HostBuffer {
    HostBuffer::copy_from_slice(bytes, 64, &system()).unwrap()
}

fn f32s(shape: impl Into<TensorShape>, elements: &[f32]) -> DenseHostTensor {
    DenseHostTensor::from_slice(shape, elements, &system()).unwrap()
}

/// A dense, a sparse, a byte-sized and an empty tensor.
fn sample() -> Vec<HostTensor> {
    let sparse = f32s([2, 3], &[0.0, 1.5, 0.0, 0.0, 0.0, -2.0]);
    let bytes = DenseHostTensor::from_slice([3], &[1u8, 2, 3], &system()).unwrap();
    vec![
        f32s([2, 2], &[1.0, 2.0, 3.0, 4.0]).into(),
        CooHostTensor::from_dense(&sparse, &ME, &system()).unwrap().into(),
        bytes.into(),
        DenseHostTensor::allocate(TensorMetadata::new(DType::I64, [0]), &system()).unwrap().into(),
        ScalarHostTensor::new([2], 7i16).into(),
    ]
}

fn printed(tensor: &HostTensor) -> String {
    tensor.print(&ME).unwrap()
}

/// The metadata and what the tensor stores.
fn parts(tensor: &HostTensor) -> (TensorMetadata, Vec<String>) {
    let stored = match tensor {
        HostTensor::Coo(coo) => vec![coo.indices().clone(), coo.values().clone()],
        other => vec![other.dense().unwrap().clone()],
    };
    (tensor.metadata().clone(), stored.into_iter().map(|part| printed(&part.into())).collect())
}

#[test]
fn btf_round_trips() {
    let tensors = sample();
    let bytes = btf::encode(&tensors, &ME).unwrap();
    let file = BtfFile::from_buffer("sample", in_memory(&bytes)).unwrap();
    assert_eq!(file.len(), 5);
    for (i, tensor) in tensors.iter().take(4).enumerate() {
        let header = file.header(i).unwrap();
        assert_eq!((header.rank, header.dtype), (tensor.shape().rank(), tensor.dtype()));
        assert_eq!(header.layout, if i == 1 { Layout::Coo } else { Layout::Dense });
        assert_eq!(parts(&file.tensor(i).unwrap()), parts(tensor));
    }
    assert_eq!(
        printed(&file.tensor(4).unwrap()),
        "DenseHostTensor dtype = I16, shape = [2], values = [7, 7]"
    );
    let error = file.tensor(5).unwrap_err();
    assert_eq!(error.code, ErrorCode::OutOfRange);
    assert_eq!(
        error.message,
        "invalid tensor index 5 to read tensor from path sample which contains 5 tensors"
    );
}

#[test]
fn btf_bytes_are_those_of_the_format() {
    let tensor = DenseHostTensor::from_slice([1, 2], &[3i32, -1], &system()).unwrap();
    let words = [
        1u64.to_le_bytes(),
        16u64.to_le_bytes(),
        2u64.to_le_bytes(),
        [2, 0, 0, 0, 0, 0, 0, 0],
        1u64.to_le_bytes(),
        2u64.to_le_bytes(),
        [3, 0, 0, 0, 0xff, 0xff, 0xff, 0xff],
    ];
    assert_eq!(btf::encode(&[tensor.into()], &ME).unwrap(), words.concat());
}

/// The golden files of the `btf.*` kernels read this one.
#[test]
fn btf_sample_of_the_golden_files_is_ours() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/mlir/tensor/sample.btf");
    assert_eq!(std::fs::read(path).unwrap(), btf::encode(&sample()[..3], &ME).unwrap());
}

#[test]
fn btf_tensors_are_read_in_place_and_read_only() {
    let bytes = btf::encode(&sample(), &ME).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sample.btf");
    btf::write(&path, &sample(), &ME).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    let tensor = BtfFile::open(&path).unwrap().tensor(0).unwrap();
    let dense = tensor.dense().unwrap();
    assert_eq!(dense.write::<f32>(&ME).unwrap_err().code, ErrorCode::FailedPrecondition);
    let copy = dense.deep_copy(&ME, &system()).unwrap();
    copy.write::<f32>(&ME).unwrap()[0] = 9.0;
    assert_eq!(*dense.read::<f32>(&ME).unwrap(), [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn btf_both_numbers_of_the_sparse_layout_are_read() {
    let mut bytes = btf::encode(&sample()[1..2], &ME).unwrap();
    assert_eq!(bytes[16 + 9], 1);
    bytes[16 + 9] = 2;
    let file = BtfFile::from_buffer("sparse", in_memory(&bytes)).unwrap();
    assert_eq!(parts(&file.tensor(0).unwrap()), parts(&sample()[1]));
}

#[test]
fn btf_errors_name_file_and_offset() {
    let good = btf::encode(&sample(), &ME).unwrap();
    let record = usize::try_from(u64::from_le_bytes(good[8..16].try_into().unwrap())).unwrap();
    let cases: [(usize, u8, &str); 7] = [
        (0, 200, "f.btf: at byte 0: the file is too short for a table of 200 tensors"),
        (8, 49, "f.btf: at byte 8: a tensor's offset 49 is not a multiple of 8"),
        (record + 1, 1, "f.btf: at byte 48: rank 258 is higher than 255"),
        (record + 8, 77, "f.btf: at byte 56: unknown dtype 77"),
        (record + 9, 3, "f.btf: at byte 57: unknown layout 3"),
        (record + 12, 1, "f.btf: at byte 56: reserved bytes that are not zero"),
        (
            record + 23,
            255,
            "f.btf: at byte 64: an extent of a tensor is 18374686479671623682, more than 63 bits hold",
        ),
    ];
    for (at, byte, message) in cases {
        let mut bytes = good.clone();
        bytes[at] = byte;
        let result = BtfFile::from_buffer("f.btf", in_memory(&bytes)).and_then(|file| file.tensor(0));
        assert_eq!(result.unwrap_err().message, message);
    }
    let mut bytes = btf::encode(&sample()[1..2], &ME).unwrap();
    let index = bytes.len() - 2 * 4 - 8 - 4 * 8;
    bytes[index] = 2;
    let error = BtfFile::from_buffer("f.btf", in_memory(&bytes)).unwrap().tensor(0).unwrap_err();
    assert_eq!(
        error.message,
        "f.btf: at byte 16: coordinates [2, 1] lie outside the sparse tensor's shape [2, 3]"
    );
    let missing = BtfFile::open("/nonexistent/x.btf").unwrap_err();
    assert_eq!(missing.code, ErrorCode::NotFound);
    assert!(missing.message.starts_with("failed to open file /nonexistent/x.btf for reading"), "{missing}");
    assert_eq!(BtfFile::open(std::env::temp_dir()).unwrap_err().code, ErrorCode::Io);
}

#[test]
fn btf_says_what_it_cannot_hold() {
    let bools = DenseHostTensor::full([1], true, &system()).unwrap();
    let strings = StringHostTensor::empty_strings([1]).unwrap();
    for tensor in [HostTensor::from(bools), strings.into()] {
        let error = btf::encode(&[tensor], &ME).unwrap_err();
        assert!(error.message.starts_with("BTF has no tensors of dtype "), "{error}");
    }
}

/// Reads everything there is in a file that may be damaged. What comes out is whole.
fn read_all(bytes: &[u8]) {
    let Ok(file) = BtfFile::from_buffer("damaged", in_memory(bytes)) else { return };
    for i in 0..file.len().min(8) {
        if let Ok(tensor) = file.tensor(i) {
            printed(&tensor);
            assert_eq!(file.header(i).unwrap().dtype, tensor.dtype());
        }
    }
}

#[test]
fn every_truncation_and_byte_of_a_btf_file_is_survived() {
    let good = btf::encode(&sample(), &ME).unwrap();
    for end in 0..good.len() {
        read_all(&good[..end]);
    }
    for at in 0..good.len() {
        for byte in [0, 1, 2, 7, 8, 0x7f, 0x80, 0xff] {
            let mut bytes = good.clone();
            bytes[at] = byte;
            read_all(&bytes);
        }
    }
}

/// The example files, if this checkout has them beside it.
fn example(name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/mnist");
    let path = root.join(name);
    if path.is_file() {
        return Some(path);
    }
    eprintln!("SKIPPED: {} is not there", path.display());
    None
}

#[test]
fn btf_files_of_others_are_read() {
    for name in ["mnist_metadata.btf", "mnist_tensors.btf"] {
        let Some(path) = example(name) else { continue };
        let file = BtfFile::open(path).unwrap();
        assert!(!file.is_empty());
        let tensors: Vec<HostTensor> = (0..file.len()).map(|i| file.tensor(i).unwrap()).collect();
        let again = btf::encode(&tensors, &ME).unwrap();
        let again = BtfFile::from_buffer("again", in_memory(&again)).unwrap();
        for (i, tensor) in tensors.iter().enumerate() {
            assert_eq!(printed(&again.tensor(i).unwrap()), printed(tensor));
        }
    }
}

#[test]
fn safetensors_round_trip() {
    let weights = f32s([2, 2], &[1.0, 2.0, 3.0, 4.0]);
    let flags = DenseHostTensor::from_slice([3], &[true, false, true], &system()).unwrap();
    let step = DenseHostTensor::from_slice(TensorShape::scalar(), &[5i64], &system()).unwrap();
    let tensors = [("weights", &weights), ("flags", &flags), ("step", &step)];
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("model.safetensors");
    safetensors::write(&path, &tensors, &ME).unwrap();
    let file = SafeTensorsFile::open(&path).unwrap();
    assert_eq!(file.names().collect::<Vec<_>>(), ["flags", "step", "weights"]);
    for (name, tensor) in tensors {
        let read = file.tensor(name, &system()).unwrap();
        assert_eq!(printed(&read.into()), printed(&tensor.clone().into()));
    }
    assert_eq!(file.tensor("bias", &system()).unwrap_err().code, ErrorCode::NotFound);
    assert!(safetensors::encode(&[("a", &step), ("a", &step)], &ME).is_err());
}

#[test]
fn safetensors_say_what_they_are() {
    let x = f32s([1], &[1.0]);
    let bytes = safetensors::encode_with(&[("x", &x)], &[("model", "small"), ("by", "us")], &ME).unwrap();
    let file = SafeTensorsFile::from_buffer("f", in_memory(&bytes)).unwrap();
    assert_eq!((file.name(), file.text("model"), file.text("by")), ("f", Some("small"), Some("us")));
    let texts = ["h", "a", "g\"\n", "b", "f", "c", "e", "d"].map(|key| (key, "text"));
    let ways = [(); 4].map(|()| safetensors::encode_with(&[("x", &x)], &texts, &ME).unwrap());
    assert!(ways.iter().all(|bytes| *bytes == ways[0]), "the same texts give the same bytes");
    let path = std::env::temp_dir().join(format!("tfrt-texts-{}.safetensors", std::process::id()));
    for texts in [&texts[..], &[]] {
        safetensors::write_with(&path, &[("x", &x)], texts, &ME).unwrap();
        let written = std::fs::read(&path).unwrap();
        assert_eq!(written, safetensors::encode_with(&[("x", &x)], texts, &ME).unwrap());
    }
    std::fs::remove_file(&path).unwrap();
    let file = SafeTensorsFile::from_buffer("texts", in_memory(&ways[0])).unwrap();
    assert!(texts.iter().all(|&(key, text)| file.text(key) == Some(text)));
    let plain = safetensors::encode(&[("x", &x)], &ME).unwrap();
    assert_eq!(SafeTensorsFile::from_buffer("f", in_memory(&plain)).unwrap().text("model"), None);
}

#[test]
fn safetensors_out_of_alignment_are_copied() {
    let header = r#"{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
    for padding in 0..8 {
        let header = format!("{header}{}", " ".repeat(padding));
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        bytes.extend(2.5f32.to_le_bytes());
        let file = SafeTensorsFile::from_buffer("x", in_memory(&bytes)).unwrap();
        let tensor = file.tensor("x", &system()).unwrap();
        assert_eq!(*tensor.read::<f32>(&ME).unwrap(), [2.5]);
    }
}

#[test]
fn safetensors_damage_is_an_error() {
    let good = safetensors::encode(&[("x", &f32s([2], &[1.0, 2.0]))], &ME).unwrap();
    for end in 0..good.len() {
        assert!(SafeTensorsFile::from_buffer("x", in_memory(&good[..end])).is_err());
    }
    let header = r#"{"x":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}}"#;
    let bytes = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[0]].concat();
    let file = SafeTensorsFile::from_buffer("x", in_memory(&bytes)).unwrap();
    let error = file.tensor("x", &system()).unwrap_err();
    assert!(error.message.contains("tensor 'x': elements of type F8_E4M3 are not supported"), "{error}");
}

#[test]
fn booleans_of_files_are_0_or_1() {
    let header = r#"{"x":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}}"#;
    let bytes = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[0, 1, 2]].concat();
    let file = SafeTensorsFile::from_buffer("x", in_memory(&bytes)).unwrap();
    let error = file.tensor("x", &system()).unwrap_err();
    assert!(error.message.ends_with("tensor 'x': element 2 is 2, but a boolean is 0 or 1"), "{error}");
    for order in ["False", "True"] {
        let header = format!("{{'descr': '|b1', 'fortran_order': {order}, 'shape': (1, 3)}}");
        let error = read_npy(&npy_file(&header, &[1, 255, 0])).unwrap_err();
        assert!(error.starts_with("a.npy: at byte "), "{error}");
        assert!(error.ends_with("element 1 is 255, but a boolean is 0 or 1"), "{error}");
        assert!(read_npy(&npy_file(&header, &[1, 0, 0])).is_ok());
    }
}

/// An `.npy` file with this header text.
fn npy_file(header: &str, elements: &[u8]) -> Vec<u8> {
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), elements].concat()
}

fn read_npy(bytes: &[u8]) -> Result<String, String> {
    npy::read_buffer("a.npy", &in_memory(bytes), &system())
        .map(|tensor| printed(&tensor.into()))
        .map_err(|error| error.message)
}

#[test]
fn npy_round_trips() {
    let dir = tempfile::tempdir().unwrap();
    for (i, tensor) in [
        f32s([2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        DenseHostTensor::from_slice([1], &[true], &system()).unwrap(),
        DenseHostTensor::from_slice(TensorShape::scalar(), &[-3i64], &system()).unwrap(),
        DenseHostTensor::from_slice([0, 4], &[] as &[u16], &system()).unwrap(),
    ]
    .into_iter()
    .enumerate()
    {
        let path = dir.path().join(format!("{i}.npy"));
        npy::write(&path, &tensor.clone().into(), &ME, &system()).unwrap();
        let read = npy::read(&path, &system()).unwrap();
        assert_eq!(printed(&read.into()), printed(&tensor.into()));
    }
    let half = DenseHostTensor::full([1], half::bf16::ONE, &system()).unwrap();
    assert_eq!(npy::encode(&half, &ME).unwrap_err().message, ".npy has no arrays of dtype BF16");
}

#[test]
fn npy_headers_of_others_are_read() {
    let elements = [1i16, 2, 3, 4, 5, 6].map(i16::to_le_bytes).concat();
    let row_major = "DenseHostTensor dtype = I16, shape = [2, 3], values = [1, 2, 3, 4, 5, 6]";
    let plain = npy_file("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }\n", &elements);
    assert_eq!(read_npy(&plain).unwrap(), row_major);
    let reordered = npy_file("{\"shape\": (2,3), \"fortran_order\":False,\"descr\":\"<i2\"}", &elements);
    assert_eq!(read_npy(&reordered).unwrap(), row_major);
    let columns = npy_file("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }", &elements);
    let turned = "DenseHostTensor dtype = I16, shape = [2, 3], values = [1, 3, 5, 2, 4, 6]";
    assert_eq!(read_npy(&columns).unwrap(), turned);
}

#[test]
fn npy_strings_round_trip() {
    let texts = StringHostTensor::new([2, 2], vec!["", "a", "größer", "日本"]).unwrap();
    let bytes = StringHostTensor::new([2], vec![&b"\xff\0a"[..], b"bc"]).unwrap();
    let none = StringHostTensor::new([0], Vec::<String>::new()).unwrap();
    for tensor in [texts, bytes, none].map(HostTensor::from) {
        let written = npy::encode_tensor(&tensor, &ME, &system()).unwrap();
        let read = npy::read_tensor("a.npy", &in_memory(&written), &system()).unwrap();
        assert_eq!(printed(&read), printed(&tensor));
    }
    let zero = StringHostTensor::new([1], vec!["a\0"]).unwrap().into();
    let error = npy::encode_tensor(&zero, &ME, &system()).unwrap_err();
    assert_eq!(error.message, "string 0 ends with a zero, which .npy arrays cannot hold");
}

#[test]
fn npy_strings_of_others_are_read() {
    let read = |header: &str, elements: &[u8]| {
        let read = npy::read_tensor("a.npy", &in_memory(&npy_file(header, elements)), &system());
        read.map(|tensor| printed(&tensor)).map_err(|error| error.message)
    };
    let expected = StringHostTensor::new([1, 2], vec!["ab", "c"]).unwrap();
    let columns = "{'descr': '|S2', 'fortran_order': True, 'shape': (1, 2), }";
    assert_eq!(read(columns, b"abc\0").unwrap(), printed(&expected.into()));
    let text = "{'descr': '<U1', 'fortran_order': False, 'shape': (1,), }";
    assert_eq!(read(text, &[0, 0xd8, 0, 0]).unwrap_err(), "a.npy: at byte 67: element 0 is not text");
    let many = "{'descr': '|S0', 'fortran_order': False, 'shape': (1000000000000,), }";
    assert!(read(many, &[]).unwrap_err().ends_with("are not supported"));
    let huge = "{'descr': '<U4611686018427387904', 'fortran_order': False, 'shape': (1,), }";
    assert!(read(huge, &[]).unwrap_err().ends_with("are not supported"));
}

#[test]
fn npy_damage_is_an_error() {
    let case = |header: &str, elements: &[u8]| read_npy(&npy_file(header, elements)).unwrap_err();
    let object = case("{'descr': '|O', 'fortran_order': False, 'shape': (), }", &[]);
    assert_eq!(object, "a.npy: at byte 6: elements of type '|O' are not supported");
    let big = case("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", &[0; 4]);
    assert_eq!(big, "a.npy: at byte 6: elements of type '>f4' are not supported");
    let short = case("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", &[0; 4]);
    assert!(short.ends_with("F32 [2] takes 8 bytes, the file has 4"), "{short}");
    let huge = "{'descr': '<f4', 'fortran_order': True, 'shape': (18446744073709551615, 9, 9), }";
    assert!(case(huge, &[]).contains("too many elements"));
    let empty = "{'descr': '<f4', 'fortran_order': True, 'shape': (18446744073709551615, 9, 0), }";
    assert!(read_npy(&npy_file(empty, &[])).is_ok());
    for header in ["", "{}", "{'descr': 1}", "{'descr': '<f4', 'fortran_order': Maybe, 'shape': ()}"] {
        case(header, &[]);
    }
    let good = npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", &[0; 8]);
    for end in 0..good.len() {
        assert!(read_npy(&good[..end]).is_err());
    }
}

/// An archive of these arrays, deflated or not.
fn npz_file(arrays: &[(&str, &DenseHostTensor)], method: zip::CompressionMethod) -> Vec<u8> {
    use std::io::Write;
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(method);
    for (name, tensor) in arrays {
        archive.start_file(format!("{name}.npy"), options).unwrap();
        archive.write_all(&npy::encode(tensor, &ME).unwrap()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn npz_sample(method: zip::CompressionMethod) -> Vec<u8> {
    let (kernel, bias) = (f32s([2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), f32s([3], &[0.0; 3]));
    npz_file(&[("conv/kernel", &kernel), ("conv/bias", &bias)], method)
}

fn read_npz(bytes: &[u8]) -> Result<Vec<(String, DenseHostTensor)>, Diagnostic> {
    npz::read_buffer("a.npz", &in_memory(bytes), &system())
}

#[test]
fn npz_arrays_are_read() {
    for method in [zip::CompressionMethod::Stored, zip::CompressionMethod::Deflated] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.npz");
        std::fs::write(&path, npz_sample(method)).unwrap();
        let arrays = npz::read(&path, &system()).unwrap();
        let names: Vec<_> = arrays.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["conv/kernel", "conv/bias"]);
        assert_eq!(*arrays[0].1.read::<f32>(&ME).unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(arrays[1].1.shape().dims(), [3]);
    }
}

#[test]
fn npz_damage_is_an_error() {
    for method in [zip::CompressionMethod::Stored, zip::CompressionMethod::Deflated] {
        let good = npz_sample(method);
        for end in 0..good.len() {
            assert!(read_npz(&good[..end]).is_err(), "{end}");
        }
        for at in 0..good.len() {
            for byte in [0, 1, 0x7f, 0xff] {
                let mut bytes = good.clone();
                bytes[at] = byte;
                for (_, tensor) in read_npz(&bytes).unwrap_or_default() {
                    printed(&tensor.into());
                }
            }
        }
    }
    let message = |bytes: &[u8]| read_npz(bytes).unwrap_err().message;
    assert!(
        message(b"nothing").starts_with("a.npz: at byte 0: not an .npz file: "),
        "{}",
        message(b"nothing")
    );
    // An element of the first array is another: the sum says so.
    let mut bytes = npz_sample(zip::CompressionMethod::Stored);
    let at = bytes.windows(4).position(|window| window == 5f32.to_le_bytes()).unwrap();
    bytes[at] ^= 1;
    assert!(message(&bytes).starts_with("a.npz: conv/kernel.npy: "), "{}", message(&bytes));
}

#[test]
fn npz_arrays_take_memory_only_after_their_headers_are_checked() {
    use std::io::Write;
    use tfrt_host::allocator::{FailingAllocator, HostAllocator};

    let good = npy::encode(&f32s([2, 3], &[0.0; 6]), &ME).unwrap();
    let mut larger = good.clone();
    larger.extend_from_slice(&[0; 1 << 20]);
    let members = [
        (vec![0; 1 << 20], "not an .npy file"),
        (larger, "not as many bytes"),
        ([&b"\x93NUMPY\x02\x00\xff\xff\xff\x7f"[..], &[b' '; 1 << 20]].concat(), "the header is longer"),
    ];
    for (member, expected) in members {
        let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        archive.start_file("a.npy", zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(&member).unwrap();
        let bytes = archive.finish().unwrap().into_inner();
        // Has no memory at all.
        let none: Arc<dyn HostAllocator> = Arc::new(FailingAllocator::new(1, SystemAllocator));
        let error = npz::read_buffer("a.npz", &in_memory(&bytes), &none).unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidArgument, "{error}");
        assert!(error.message.contains(expected), "{error}");
    }
}

#[test]
fn npz_files_that_would_fill_the_memory_are_refused() {
    let mut bytes = npz_sample(zip::CompressionMethod::Deflated);
    // The size in the directory, 24 bytes after its mark.
    let entry = bytes.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
    for (size, message) in
        [(0xffff_fff0u32, "not as many bytes"), (1000, "not as many bytes"), (1, "not an .npy file")]
    {
        bytes[entry + 24..entry + 28].copy_from_slice(&size.to_le_bytes());
        let error = read_npz(&bytes).unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidArgument);
        assert!(error.message.contains(message), "{error}");
    }
}

proptest! {
    #[test]
    fn btf_damage_is_survived(damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = btf::encode(&sample(), &ME).unwrap();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        read_all(&bytes);
    }

    #[test]
    fn npy_damage_is_survived(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = npy::encode(&f32s([3, 1], &[1.0, 2.0, 3.0]), &ME).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let _ = read_npy(&bytes);
    }

    #[test]
    fn safetensors_damage_is_survived(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = safetensors::encode(&[("x", &f32s([3, 1], &[1.0, 2.0, 3.0]))], &ME).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(file) = SafeTensorsFile::from_buffer("x", in_memory(&bytes)) {
            for name in file.names() {
                let _ = file.tensor(name, &system()).map(|tensor| printed(&tensor.into()));
            }
        }
    }
}
