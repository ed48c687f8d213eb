//! Compiles the library through which plug-ins find `TF_SetStatus` and its like, and which
//! `src/status` contains.

use std::{env, path::PathBuf};

fn main() {
    let source = "src/status/shim.c";
    println!("cargo::rerun-if-changed={source}");
    println!("cargo::rerun-if-changed=build.rs");
    let library = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("status.so");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        std::fs::write(&library, [])
            .unwrap_or_else(|error| fail(&format!("no {}: {error}", library.display())));
        return;
    }
    let mut compiler = cc::Build::new().get_compiler().to_command();
    compiler.args(["-shared", "-fPIC", "-O2", "-g0", "-nostdlib", "-fno-stack-protector"]);
    // Plug-ins that were linked with TensorFlow ask for its library by this name, and find it in
    // the process.
    compiler.args(["-Wl,-soname,libtensorflow_framework.so.2", source, "-o"]).arg(&library);
    match compiler.status() {
        Ok(status) if status.success() => {}
        Ok(status) => fail(&format!("{compiler:?}: {status}")),
        Err(error) => fail(&format!("{compiler:?}: {error}")),
    }
}

#[expect(clippy::panic, reason = "how a build script fails")]
fn fail(message: &str) -> ! {
    panic!("{message}")
}
