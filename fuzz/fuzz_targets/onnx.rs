//! Any bytes as an ONNX model: it is refused, or it becomes an op graph that the verifier accepts
//! after each pass, and a program.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tfrt_compiler::import::{ImportOptions, onnx};
use tfrt_fuzz::{EVALUATOR, compile};

fuzz_target!(|bytes: &[u8]| {
    compile(onnx::read_bytes("in.onnx", bytes, &ImportOptions::default(), &EVALUATOR));
});
