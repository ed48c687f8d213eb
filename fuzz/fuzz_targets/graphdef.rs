//! Any bytes as a GraphDef of TensorFlow, in the text form if the first byte is odd: it is refused,
//! or it becomes an op graph that the verifier accepts after each pass, and a program.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tfrt_compiler::import::{ImportOptions, tensorflow};
use tfrt_fuzz::{EVALUATOR, compile};

fuzz_target!(|bytes: &[u8]| {
    let Some((form, bytes)) = bytes.split_first() else { return };
    let name = if form % 2 == 1 { "in.pbtxt" } else { "in.pb" };
    compile(tensorflow::read_bytes(name, bytes, &ImportOptions::default(), &EVALUATOR));
});
