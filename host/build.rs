//! Names the compiler: kernel libraries share Rust types with the host, so both must come from the
//! same one.

use std::{env, process::Command};

fn main() {
    let compiler = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(compiler).arg("--version").output();
    let version =
        version.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned()).unwrap_or_default();
    println!("cargo::rustc-env=TFRT_COMPILER={version}");
    println!("cargo::rerun-if-changed=build.rs");
}
