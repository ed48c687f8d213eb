//! Any bytes as an .npy file: an error, or a tensor that can be read, and written again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tfrt_fuzz::{READER, allocator, in_memory, read_tensor};
use tfrt_tensor::files::npy;

fuzz_target!(|bytes: &[u8]| {
    let Some(buffer) = in_memory(bytes) else { return };
    let Ok(tensor) = npy::read_buffer("in.npy", &buffer, &allocator()) else { return };
    read_tensor(&tensor.clone().into());
    let written = npy::encode(&tensor, &READER).expect("what was read can be written");
    let buffer = in_memory(&written).expect("a small file");
    let again = npy::read_buffer("again.npy", &buffer, &allocator()).expect("what was written can be read");
    assert_eq!(again.metadata(), tensor.metadata());
    let elements = |tensor: &tfrt_tensor::DenseHostTensor| tensor.read_bytes(&READER).unwrap().to_vec();
    assert_eq!(elements(&again), elements(&tensor));
});
