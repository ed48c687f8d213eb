//! Any bytes as a safetensors file: every tensor is an error or can be read in full.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tfrt_fuzz::{READER, allocator, in_memory, read_tensor};
use tfrt_tensor::files::safetensors::{SafeTensorsFile, encode};

fuzz_target!(|bytes: &[u8]| {
    let Some(Ok(file)) = in_memory(bytes).map(|buffer| SafeTensorsFile::from_buffer("in", buffer)) else {
        return;
    };
    let mut tensors = Vec::new();
    for name in file.names() {
        if let Ok(tensor) = file.tensor(name, &allocator()) {
            read_tensor(&tensor.clone().into());
            tensors.push((name, tensor));
        }
    }
    let tensors: Vec<_> = tensors.iter().map(|(name, tensor)| (*name, tensor)).collect();
    let Ok(written) = encode(&tensors, &READER) else { return };
    let buffer = in_memory(&written).expect("a small file");
    let again = SafeTensorsFile::from_buffer("again", buffer).expect("what was written can be read");
    for (name, tensor) in tensors {
        let copy = again.tensor(name, &allocator()).expect("what was written can be read");
        assert_eq!(copy.metadata(), tensor.metadata());
    }
});
