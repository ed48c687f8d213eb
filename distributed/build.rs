//! Compiles the protobuf schemas, without `protoc`.

use std::{env, error::Error, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=proto");
    let files = protox::compile(["proto/remote.proto"], ["proto"])?;
    let out = env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?;
    // Byte fields are shared with the message that they arrived in.
    tonic_prost_build::configure().bytes(".").out_dir(Path::new(&out)).compile_fds(files)?;
    Ok(())
}
