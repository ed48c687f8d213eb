//! What the front end says of texts: which modules it takes, what it makes of them, and which
//! errors it finds where.

#![expect(clippy::panic, clippy::unwrap_used, reason = "what fails here fails the test")]

mod errors;
mod hostile;
mod modules;
mod needs;
mod refused;

use tfrt_ptx::syntax::{ast::Module, parse};

/// A module's first lines, in front of what a test is about, on one line.
const HEADER: &str = ".version 8.4 .target sm_90 .address_size 64\n";

/// The module that consists of the header and this text, whose first line is line 2.
fn text(body: &str) -> String {
    format!("{HEADER}{body}")
}

/// A kernel with this body, which begins in line 3. There are registers of most types, and a
/// parameter `p`.
fn kernel(body: &str) -> String {
    text(&format!(
        ".visible .entry k(.param .u64 p) {{ .reg .b32 %r<10>; .reg .b64 %d<10>; .reg .pred %p<4>; .reg .f32 %f<4>;\n{body}\nret; }}"
    ))
}

/// All errors of a text, a line each.
fn errors(text: &str) -> Vec<String> {
    match parse(text) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    }
}

/// A module that must be sound.
#[track_caller]
fn module(text: &str) -> Module<'_> {
    match parse(text) {
        Ok(module) => module,
        Err(errors) => panic!("{errors}\n{text}"),
    }
}
