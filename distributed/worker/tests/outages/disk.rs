//! A worker whose disk is full.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

use tfrt_distributed::proto;
use tfrt_host::ErrorCode;

use crate::{
    is_root_test,
    requests::{TASK, register},
    support::{Client, Worker},
};

const GRAPH: &str = r#"func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = "tf.Relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  tfrt.return %y : tensor<2xf32>
}"#;

/// A small file system. Dropping it removes it.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: &Path) -> Self {
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(at).status();
        assert!(mounted.unwrap().success());
        Self(at.to_owned())
    }

    /// Fills the disk and returns the file that does.
    fn fill(&self) -> PathBuf {
        let path = self.0.join("full");
        let mut file = fs::File::create(&path).unwrap();
        while file.write_all(&[0; 512]).is_ok() {}
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // A test that fails for another reason says that one.
        drop(Command::new("umount").arg(&self.0).status());
    }
}

#[test]
fn a_full_disk_is_an_error_and_the_worker_stays_up() {
    if !is_root_test() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let disk = SmallDisk::mount(folder.path());
    let path = folder.path().to_str().unwrap();
    let worker = Worker::start(&[], "127.0.0.1:0", &[("TMPDIR", path), ("TFRT_CACHE_DIR", path)]);
    let client = Client::prepare(&worker);
    let graph = || proto::RegisterFunctionRequest {
        language: proto::Language::Ops.into(),
        ..register("graph", GRAPH)
    };
    let full = disk.fill();
    let error = client.fabric.block_on(client.client.register_function(graph())).unwrap_err();
    assert_eq!(error.code, ErrorCode::Io, "{error}");
    let text = error.to_string();
    assert!(text.contains("RegisterFunction") && text.contains(TASK) && text.contains("No space"), "{text}");
    // Calls that need no disk work, and this one does when there is room again.
    client.ask();
    fs::remove_file(full).unwrap();
    client.fabric.block_on(client.client.register_function(graph())).unwrap();
    drop((worker, client, disk));
}
