//! The guide's plug-in compiles as it stands there, and a kernel written in Rust runs on it.
#![expect(clippy::unwrap_used, reason = "tests end that way")]

#[expect(dead_code, reason = "not all of it is used here")]
mod support;

use std::{path::Path, process::Command};

use tfrt_plugin::Plugin;

#[test]
fn the_guides_plugin_works() {
    let guide = std::fs::read_to_string(support::crate_dir().join("README.md")).unwrap();
    let code = guide.split("```c\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let dir = support::scratch("guide");
    let (source, library) = (dir.join("foo.c"), dir.join("libfoo.so"));
    std::fs::write(&source, code).unwrap();
    support::plugin(&source, &library, &["-Wno-unused-parameter"]);
    let plugin = Plugin::load(&library).unwrap();
    assert_eq!((plugin.name(), plugin.device_type()), ("foo platform", "FOO"));

    // For the whole workspace, as tests are built: other features would compile its dependencies
    // again.
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked", "--workspace", "--example", "host_kernel"])
        .current_dir(support::crate_dir())
        .status()
        .unwrap();
    assert!(built.success());
    let examples = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("debug").join("examples");
    let shown = Command::new(examples.join("host_kernel")).arg(&library).output().unwrap();
    let output = String::from_utf8_lossy(&shown.stdout);
    assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
    assert!(output.ends_with("y = [100.0, 102.5, 105.0, 107.5, 110.0, 112.5, 115.0, 117.5]\n"), "{output}");
    std::fs::remove_dir_all(dir).unwrap();
}
