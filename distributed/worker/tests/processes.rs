//! Workers that are killed, stopped and asked to end; certificates, folders, devices and traces of
//! whole processes.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod cluster;

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use cluster::{Workers, free_addresses};
use serde_json::Value;
use tfrt::SharedWriter;

/// A program that executes one function without arguments on the first worker. `<remote>` is the
/// function `remote`.
const CALL: &str = r#"
func @main() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %ctx = tfrt_dist.get_distributed_context
  %w = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:0"}
  %spec = tfrt_dist.create_remote_execute_spec %ctx {output_devices = ["/job:worker/task:0/device:CPU:0"]}
  %c1 = tfrt_dist.register_tfrt_function(%c0, %ctx, %w) "remote" "<remote>"
  %one = tfrt.constant.i32 1
  %called = tfrt.print.i32 %one, %c1
  %c2, %id = tfrt_dist.remote_execute[%called, %ctx, %w, %spec] "remote"() : () -> (!tfrt_dist.remote_object_id)
  tfrt.return %c2 : !tfrt.chain
}
// ----- remote
"#;

/// A function that waits for data which nobody sends.
const WAIT: &str = r#"
func @remote(%ctx: !tfrt_dist.dist_context) -> !tfrt_dist.payload {
  %from = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:0"}
  %key = tfrt_test.get_string {value = "never"}
  %p = tfrt_dist.recv_bytes %ctx, %from, %key
  tfrt.return %p : !tfrt_dist.payload
}"#;

const PRINT: &str = r#"
func @remote() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %x = tfrt.constant.i32 42
  %c1 = tfrt.print.i32 %x, %c0
  tfrt.return %c1 : !tfrt.chain
}"#;

/// Runs a program that waits, and does something to the worker meanwhile.
fn disturb(workers: &Workers, disturb: impl FnOnce(&Workers)) -> (String, Duration) {
    let program = workers.write(&format!("{CALL}{WAIT}"));
    let (output, printed) = SharedWriter::buffer();
    let elapsed = thread::scope(|scope| {
        let running = scope.spawn(|| workers.run_into(&program, &[], output));
        // The program prints before it calls.
        while printed.lock().is_empty() {
            assert!(!running.is_finished());
            thread::sleep(Duration::from_millis(10));
        }
        thread::sleep(Duration::from_millis(300));
        let start = Instant::now();
        disturb(workers);
        running.join().unwrap();
        start.elapsed()
    });
    (workers.text(&program, &printed.lock()), elapsed)
}

#[test]
fn a_killed_worker_is_an_error_that_names_it() {
    let workers = Workers::start(1, "");
    let (printed, elapsed) = disturb(&workers, |workers| workers.signal(0, "KILL"));
    assert!(printed.contains("RemoteExecute on /job:worker/task:0 (ADDRESS0)"), "{printed}");
    assert!(elapsed < Duration::from_secs(10), "{elapsed:?}");
}

#[test]
fn a_stopped_worker_is_an_error_at_the_deadline() {
    let workers = Workers::start(1, "[calls]\ndeadline_ms = 2000\nmax_retries = 0\n");
    let (printed, elapsed) = disturb(&workers, |workers| workers.signal(0, "STOP"));
    assert!(
        printed.contains("RemoteExecute on /job:worker/task:0 (ADDRESS0): no answer within 2000 ms"),
        "{printed}"
    );
    assert!(elapsed < Duration::from_secs(15), "{elapsed:?}");
}

#[test]
fn a_worker_ends_when_it_is_asked_to() {
    let mut workers = Workers::start(1, "[server]\nshutdown_ms = 500\n");
    let (printed, _) = disturb(&workers, |workers| workers.signal(0, "TERM"));
    assert!(printed.contains("/job:worker/task:0"), "{printed}");
    assert!(workers.child(0).wait().unwrap().success());
}

#[test]
fn a_worker_without_calls_ends_well() {
    let mut workers = Workers::start(1, "");
    workers.signal(0, "TERM");
    assert!(workers.child(0).wait().unwrap().success());
}

#[test]
fn connections_are_encrypted_between_valid_certificates() {
    let folder = tempfile::tempdir().unwrap();
    tfrt_worker::write_certificates(folder.path(), &[]).unwrap();
    let tls = format!(
        "[tls]\nca = '{0}/ca.pem'\ncertificate = '{0}/task.pem'\nkey = '{0}/task.key'\n",
        folder.path().display()
    );
    let workers = Workers::start(2, &tls);
    assert_eq!(workers.run_text(&format!("{CALL}{PRINT}"), &[]), "int32 = 1\nint32 = 42\n");
    // The same cluster without certificates.
    let text = fs::read_to_string(workers.config()).unwrap();
    fs::write(workers.config(), text.split("[tls]").next().unwrap()).unwrap();
    let printed = workers.run_text(&format!("{CALL}{PRINT}"), &[]);
    assert!(printed.contains("error: GetDevices on /job:worker/task:0"), "{printed}");
}

#[test]
fn programs_read_only_the_folders_of_the_configuration() {
    let btf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md").canonicalize().unwrap();
    let read = format!(
        r#"
func @remote() -> !t.tensor {{
  %path = tfrt_test.get_string {{value = "{}"}}
  %index = tfrt.constant.i32 0
  %t = btf.read_dense_tensor.f32.2 %path, %index
  tfrt.return %t : !t.tensor
}}"#,
        btf.display()
    );
    let closed = Workers::start(1, "").run_text(&format!("{CALL}{read}"), &[]);
    assert!(closed.contains("programs on this host may not read"), "{closed}");
    let folders = format!("[server]\nfolders = ['{}']\n", btf.parent().unwrap().display());
    let open = Workers::start(1, &folders).run_text(&format!("{CALL}{read}"), &[]);
    assert!(!open.contains("may not read") && open.contains("error"), "{open}");
}

#[test]
fn devices_of_all_tasks_are_listed() {
    let workers = Workers::start(2, "");
    let expected = "/job:worker/task:0/device:CPU:0  CPU\n/job:worker/task:1/device:CPU:0  CPU\n";
    assert_eq!(workers.tfrt(&["devices"]), expected);
}

#[test]
fn a_trace_has_the_kernels_of_all_tasks() {
    let workers = Workers::start(1, "");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.json");
    workers.run_text(&format!("{CALL}{PRINT}"), &["--trace", file.to_str().unwrap()]);
    let trace: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let of = |name: &'static str| events.iter().filter(move |event| event["name"] == name);
    let task = of("process_name").find(|event| event["args"]["name"] == "/job:worker/task:0").unwrap();
    // The client prints before it calls, and the task while it is called.
    let time = |event: &Value| event["ts"].as_f64().unwrap();
    let is_remote = |event: &&Value| event["pid"] == task["pid"];
    let remote = time(of("tfrt.print.i32").find(is_remote).unwrap());
    let called = time(of("tfrt_dist.remote_execute").next().unwrap());
    let end = events.iter().filter_map(|event| event["ts"].as_f64()).fold(0.0, f64::max);
    assert!(called - 5_000.0 < remote && remote < end + 5_000.0, "{called} {remote} {end}");
}

#[test]
fn other_hosts_are_not_served_without_certificates() {
    let addresses = free_addresses(1);
    let workers = Workers::with_config(&addresses, &format!("[jobs]\nworker = {addresses:?}\n"));
    let output = Command::new(env!("CARGO_BIN_EXE_tfrt_worker"))
        .args(["--listen", "0.0.0.0:0", "--task", "/job:worker/task:0", "--config"])
        .arg(workers.config())
        .stdout(Stdio::null())
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains("--insecure"), "{error}");
}
