//! Any bytes as a BTF file: every tensor is an error or can be read in full.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tfrt_fuzz::{READER, in_memory, read_tensor};
use tfrt_tensor::files::btf::{self, BtfFile};

fuzz_target!(|bytes: &[u8]| {
    let Some(Ok(file)) = in_memory(bytes).map(|buffer| BtfFile::from_buffer("in.btf", buffer)) else {
        return;
    };
    let mut tensors = Vec::new();
    for index in 0..file.len() {
        let header = file.header(index);
        if let Ok(tensor) = file.tensor(index) {
            let header = header.expect("a record has a header");
            assert_eq!((header.rank, header.dtype), (tensor.shape().rank(), tensor.dtype()));
            read_tensor(&tensor);
            tensors.push(tensor);
        }
    }
    let _ = file.tensor(file.len());
    // Records may share bytes; written out, a small file of many of those would become large.
    tensors.truncate(8);
    let written = btf::encode(&tensors, &READER).expect("what was read can be written");
    let buffer = in_memory(&written).expect("a small file");
    let again = BtfFile::from_buffer("again.btf", buffer).expect("what was written can be read");
    assert_eq!(again.len(), tensors.len());
    for (index, tensor) in tensors.iter().enumerate() {
        let copy = again.tensor(index).expect("what was written can be read");
        assert_eq!(copy.metadata(), tensor.metadata());
    }
});
