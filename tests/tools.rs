//! The `tfrt` binary as a process: streams, exit codes, messages and files.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    os::unix::fs::symlink,
    path::PathBuf,
    process::{Command, Output, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use serde_json::Value;

#[path = "tools/limits.rs"]
mod limits;

const SUM: &str = "func @main(%a: i32, %t: !t.tensor, %ch: !tfrt.chain) -> (i32, !t.tensor) {
  %b = tfrt.add.i32 %a, %a
  %ch1 = tfrt.print.i32 %b, %ch
  tfrt.return %b, %t : i32, !t.tensor
}
";

/// Prints without end.
const ENDLESS: &str = "func @main() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %count = tfrt.constant.i32 2147483647
  %one = tfrt.constant.i32 1
  %end:2 = tfrt.repeat.i32 %count, %one, %ch0 : i32, !tfrt.chain {
    %ch1 = tfrt.print.i32 %one, %ch0
    tfrt.return %one, %ch1 : i32, !tfrt.chain
  }
  tfrt.return %end#1 : !tfrt.chain
}
";

/// A folder with a program.
struct Folder(tempfile::TempDir);

impl Folder {
    fn with(program: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("program.mlir"), program).expect("a file");
        Self(folder)
    }

    fn tfrt(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tfrt"));
        command.current_dir(&self.0);
        for variable in ["NO_COLOR", "CLICOLOR_FORCE", "TERM", "COLUMNS"] {
            command.env_remove(variable);
        }
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.tfrt().args(arguments).output().expect("tfrt runs")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("JSON on the output")
}

#[test]
fn a_closed_output_ends_an_endless_run_quietly() {
    let folder = Folder::with(ENDLESS);
    assert!(
        folder.run(&["translate", "--mlir-to-bef", "program.mlir", "-o", "program.bef"]).status.success()
    );
    let (tfrt, executor) = (env!("CARGO_BIN_EXE_tfrt"), env!("CARGO_BIN_EXE_bef_executor"));
    for (tool, arguments) in [
        (tfrt, &["run", "program.mlir", "--work-queue", "s"][..]),
        (tfrt, &["run", "program.mlir", "--work-queue", "mstd:2"]),
        (executor, &["program.bef"]),
    ] {
        let mut command = Command::new(tool);
        command.args(arguments).current_dir(&folder.0).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the tool starts");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        // The lines keep the pipe until one is found; then it is closed.
        let is_printed = output.lines().any(|line| line.expect("a line") == "int32 = 1");
        assert!(is_printed, "{arguments:?}");
        let (ended, result) = mpsc::channel();
        let mut complaints = child.stderr.take().expect("a pipe");
        let id = child.id();
        thread::spawn(move || {
            let mut told = String::new();
            complaints.read_to_string(&mut told).expect("text");
            ended.send((child.wait().expect("a status").code(), told)).expect("a receiver");
        });
        match result.recv_timeout(Duration::from_secs(60)) {
            Ok(end) => assert_eq!(end, (Some(0), String::new()), "{arguments:?}"),
            Err(_) => {
                let _ = Command::new("kill").args(["-9", &id.to_string()]).status();
                panic!("the run does not end although its output is closed: {arguments:?}");
            }
        }
    }
}

/// Starts the tool, sends it SIGINT once `output` has a line that begins with `line`, and returns
/// its end.
fn interrupt(folder: &Folder, arguments: &[&str], line: &str) -> Output {
    let mut command = folder.tfrt();
    let mut child =
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("tfrt starts");
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut read = String::new();
    while !read.starts_with(line) {
        read.clear();
        assert!(output.read_line(&mut read).expect("a line") > 0, "{arguments:?} ended by itself");
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill runs").success());
    let mut rest = Vec::new();
    output.read_to_end(&mut rest).expect("the rest");
    let ended = child.wait_with_output().expect("an end");
    Output { stdout: rest, ..ended }
}

#[test]
fn an_interrupted_run_still_writes_its_trace() {
    let folder = Folder::with(ENDLESS);
    for queue in ["s", "mstd:2"] {
        let arguments = ["run", "program.mlir", "--work-queue", queue, "--trace", "trace.json"];
        let output = interrupt(&folder, &arguments, "int32 = 1");
        assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
        assert!(text(&output.stderr).ends_with("interrupted\n"), "{}", text(&output.stderr));
        let trace: Value =
            serde_json::from_slice(&fs::read(folder.file("trace.json")).expect("a trace")).expect("JSON");
        assert!(trace.to_string().contains("tfrt.print.i32"));
        fs::remove_file(folder.file("trace.json")).expect("a trace");
    }
}

#[test]
fn an_interrupted_measurement_prints_its_figures() {
    let folder = Folder::with("func @main() -> i32 { %a = tfrt.constant.i32 1 tfrt.return %a : i32 }");
    let mut command = folder.tfrt();
    command.args(["bench", "program.mlir", "--time", "600s"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("tfrt starts");
    // Nothing says when the measurement begins.
    thread::sleep(Duration::from_secs(3));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    let output = child.wait_with_output().expect("an end");
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert!(text(&output.stdout).contains("throughput"), "{output:?}");
}

#[test]
fn weights_that_become_shorter_are_an_error() {
    let folder = Folder::with("func @main(%x: !t.tensor) -> !t.tensor { tfrt.return %x : !t.tensor }");
    let input = ["-i", "100000xf32=1"];
    let written = folder.run(&[&["run", "program.mlir", "-o", "w.safetensors"], &input[..]].concat());
    assert!(written.status.success(), "{written:?}");
    let mut command = folder.tfrt();
    // The program reads no weight, so only their size tells.
    command.args(["bench", "program.mlir", "--weights", "w.safetensors", "--time", "600s"]).args(input);
    let child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("tfrt starts");
    // Nothing says when the measurement begins.
    thread::sleep(Duration::from_secs(3));
    let file = fs::File::options().write(true).open(folder.file("w.safetensors")).expect("a file");
    file.set_len(8192).expect("a shorter file");
    let output = child.wait_with_output().expect("an end");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(
        text(&output.stderr).contains("file w.safetensors became shorter while it was read"),
        "{output:?}"
    );
}

#[test]
fn an_input_that_never_comes_ends_at_the_deadline() {
    let folder = Folder::with("func @main(%x: !t.tensor) -> !t.tensor { tfrt.return %x : !t.tensor }");
    assert!(Command::new("mkfifo").arg(folder.file("x.npy")).status().expect("mkfifo runs").success());
    let output = folder.run(&["run", "program.mlir", "-i", "@x.npy", "--deadline", "200ms"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let expected = "argument 0 (!t.tensor): the deadline of 200 ms has passed";
    assert!(text(&output.stderr).contains(expected), "{output:?}");
}

#[test]
fn inputs_above_the_limit_are_not_read() {
    let folder = Folder::with("func @main(%x: !t.tensor) -> !t.tensor { tfrt.return %x : !t.tensor }");
    let written = folder.run(&["run", "program.mlir", "-i", "1000xf32=1", "-o", "x.npy"]);
    assert!(written.status.success(), "{written:?}");
    let size = fs::metadata(folder.file("x.npy")).expect("a file").len();
    let run = |max_bytes: u64| {
        let max_bytes = max_bytes.to_string();
        folder.run(&["run", "program.mlir", "-i", "@x.npy", "--max-input-bytes", &max_bytes])
    };
    assert!(run(size).status.success());
    let refused = run(size - 1);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    let expected = format!("it has more than {} bytes; raise --max-input-bytes to read it", size - 1);
    assert!(text(&refused.stderr).contains(&expected), "{refused:?}");
    // A device that never ends.
    symlink("/dev/zero", folder.file("endless.btf")).expect("a link");
    let limit = ["--max-input-bytes", "1000000"];
    let endless = folder.run(&[&["run", "program.mlir", "-i", "@endless.btf"], &limit[..]].concat());
    assert_eq!(endless.status.code(), Some(1), "{endless:?}");
    assert!(text(&endless.stderr).contains("it has more than 1000000 bytes"), "{endless:?}");
}

#[test]
fn a_program_that_never_comes_ends_at_the_deadline() {
    let folder = Folder::with("");
    let fifo = folder.file("fifo.mlir");
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo runs").success());
    let never = folder.run(&["run", "fifo.mlir", "--deadline", "200ms"]);
    let mut command = folder.tfrt();
    command.args(["run", "-", "--deadline", "200ms"]).stdin(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().expect("tfrt starts");
    // Keeps the input open, without a word.
    let input = child.stdin.take();
    let silent = child.wait_with_output().expect("an end");
    drop(input);
    for output in [never, silent] {
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(text(&output.stderr).contains("the deadline of 200 ms has passed"), "{output:?}");
    }
    // A program that comes through a pipe is read once, and runs.
    let writer = thread::spawn(move || {
        fs::write(fifo, "func @main() -> i32 { %x = tfrt.constant.i32 7 tfrt.return %x : i32 }")
    });
    let output = folder.run(&["run", "fifo.mlir", "--deadline", "20s"]);
    writer.join().expect("no panic").expect("a written program");
    assert_eq!(text(&output.stdout), "result 0: i32 = 7\n", "{output:?}");
}

#[test]
fn a_deadline_of_nothing_has_passed_at_the_start() {
    let folder = Folder::with("func @main(%x: i32) -> i32 { %y = tfrt.add.i32 %x, %x tfrt.return %y : i32 }");
    for _ in 0..10 {
        let output = folder.run(&["run", "program.mlir", "-i", "2", "--deadline", "0s"]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(text(&output.stderr).contains("the deadline of 0 ms has passed"), "{output:?}");
        assert!(output.stdout.is_empty(), "{output:?}");
    }
}

#[test]
fn traces_and_profiles_show_the_work_of_streams() {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/missing_event.mlir");
    let folder = Folder::with("");
    let traced = folder.run(&["run", program, "--function", "ordered", "--trace", "trace.json"]);
    assert!(traced.status.success(), "{traced:?}");
    let trace: Value =
        serde_json::from_slice(&fs::read(folder.file("trace.json")).expect("a trace")).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    let stream_of = |work: &str| {
        let event = events.iter().find(|event| event["name"] == work && event["cat"] == "device");
        let event = event.unwrap_or_else(|| panic!("{work} is not in the trace: {trace}"));
        let is_its = |row: &&Value| row["name"] == "thread_name" && row["tid"] == event["tid"];
        events.iter().find(is_its).expect("a named row")["args"]["name"].as_str().expect("a name")
    };
    assert_eq!(stream_of("memory set, 4096 bytes"), "device 0 stream 0");
    assert_eq!(stream_of("copy from device to device, 4096 bytes"), "device 0 stream 1");

    let measured = ["bench", program, "--function", "ordered", "--time", "10ms", "--profile", "--json"];
    let measured = folder.run(&[&measured[..], &["--flame-graph", "flame.svg"]].concat());
    let work = json(&measured)["device_profile"].as_array().expect("a profile").clone();
    let set = work.iter().find(|row| row["name"] == "memory set, 4096 bytes").expect("the work");
    assert_eq!(set["count"], 1.0, "{measured:?}");
    let flame = fs::read_to_string(folder.file("flame.svg")).expect("a picture");
    assert!(flame.contains("<title>memory set, 4096 bytes\n"), "{flame}");
}

#[test]
fn exit_codes_tell_wrong_usage_from_failures() {
    let folder = Folder::with(SUM);
    let tensor = "2xf32=0";
    for (arguments, code, message) in [
        (&["-i", "x", "-i", tensor][..], 2, "argument 0 (i32): 'x' is not a number of this type"),
        (&["-i", "1", "-i", "2xf32=[1]"], 2, "argument 1 (!t.tensor): "),
        (&["-i", "0=1", "-i", "0=2", "-i", tensor], 2, "argument 0 (i32) is given twice, the second time"),
        (&["-i", "1", "-i", "@x.npy#5"], 2, "'x.npy' holds one tensor, so '#5' names none"),
        (&["-i", "1", "-i", "@x.npy"], 1, "failed to open file x.npy for reading"),
        (&["-i", "1", "-i", tensor, "--expected-output", "y"], 2, "expected output 0 (i32): 'y' is not"),
        (&["-i", "1", "-i", tensor, "--expected-output", "3"], 1, "result 0 is not as expected: it is 2"),
        (&["-i", "1", "-i", tensor, "--device", "x"], 2, "invalid value for '--device <DEVICE>'"),
        (&["-i", "1", "-i", tensor, "--work-queue", "x"], 2, "invalid value for '--work-queue <TYPE>'"),
        (&["-i", "1", "-i", tensor, "-o", "1=x.txt"], 2, "'x.txt' is neither .npy nor .btf"),
        (&["-f", "f"], 2, "the program has no function 'f', but main"),
    ] {
        let output = folder.run(&[&["run", "program.mlir"], arguments].concat());
        let complaint = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {complaint}");
        assert!(complaint.contains(message), "{arguments:?}: {complaint}");
    }
}

#[test]
fn every_failure_of_a_json_run_is_json() {
    let folder = Folder::with(SUM);
    let failures = [
        (&["missing.mlir"][..], "NotFound", "missing.mlir"),
        (&["program.mlir", "-i", "x"], "Usage", "'x' is not a number"),
        (&["program.mlir", "-i", "1", "-i", "@x.npy"], "NotFound", "x.npy"),
        (&["program.mlir", "-f", "f"], "Usage", "no function 'f'"),
    ];
    for (arguments, code, message) in failures {
        let output = folder.run(&[&["run", "--json"], arguments].concat());
        let error = &json(&output)["errors"][0];
        assert_eq!(error["code"], code, "{arguments:?}: {error}");
        assert!(error["message"].as_str().expect("a message").contains(message), "{arguments:?}: {error}");
        assert!(!output.status.success() && !output.stderr.is_empty());
    }
    let expected = ["--expected-output", "3", "--expected-output", "2xf32=[0,1]"];
    let arguments = [&["run", "--json", "program.mlir", "-i", "1", "-i", "2xf32=0"], &expected[..]].concat();
    let output = folder.run(&arguments);
    let mismatches = json(&output)["mismatches"].clone();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!((&mismatches[0]["result"], &mismatches[0]["actual"]), (&0.into(), &"2".into()));
    assert_eq!((&mismatches[0]["index"], &mismatches[0]["expected"]), (&Value::Null, &"3".into()));
    assert_eq!((&mismatches[1]["index"], &mismatches[1]["expected"]), (&1.into(), &"1".into()));
}

#[test]
fn errors_show_lines_of_standard_input() {
    let folder = Folder::with("");
    for command in ["run", "opt"] {
        let mut child = folder.tfrt();
        let child = child.args([command, "-"]).stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child.spawn().expect("tfrt starts");
        let mut input = child.stdin.take().expect("a pipe");
        input.write_all(b"func @main() {\n  tfrt.no_such_kernel\n  tfrt.return\n}\n").expect("input");
        drop(input);
        let complaint = text(&child.wait_with_output().expect("an end").stderr);
        assert!(complaint.contains("<stdin>:2:3") && complaint.contains("^^^^"), "{command}: {complaint}");
    }
}

#[test]
fn names_in_messages_cannot_control_the_terminal() {
    let folder = Folder::with("");
    fs::write(folder.file("program.mlir"), "func @main() {\n  \"no\u{1b}[2J.kernel\"() : () -> ()\n}\n")
        .expect("a file");
    for command in ["run", "opt"] {
        let output = folder.run(&[command, "program.mlir"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(!output.stderr.contains(&0x1b), "{command}: {}", text(&output.stderr));
    }
}

#[test]
fn colors_follow_the_option_and_the_environment() {
    let folder = Folder::with("func @main() {\n  tfrt.no_such_kernel\n  tfrt.return\n}\n");
    let colored = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = folder.tfrt();
        command.args(arguments).args(["run", "program.mlir"]).envs(variables.iter().copied());
        command.output().expect("tfrt runs").stderr.contains(&0x1b)
    };
    assert!(!colored(&[], &[]), "the stream is not a terminal");
    assert!(colored(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!colored(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(colored(&["--color", "always"], &[("NO_COLOR", "1")]));
    assert!(!colored(&["--color=never"], &[("CLICOLOR_FORCE", "1")]));
    let usage = |arguments: &[&str]| folder.run(arguments).stderr.contains(&0x1b);
    assert!(usage(&["run", "--color", "always", "--wrong"]) && !usage(&["run", "--wrong"]));
}

#[test]
fn help_wraps_at_the_width_of_the_terminal() {
    let folder = Folder::with("");
    for command in ["run", "bench", "inspect", "devices", "kernels"] {
        for option in ["-h", "--help"] {
            let output =
                folder.tfrt().args([command, option]).env("COLUMNS", "80").output().expect("tfrt runs");
            let help = text(&output.stdout);
            let long: Vec<_> = help.lines().filter(|line| line.chars().count() > 80).collect();
            assert!(long.is_empty(), "{command} {option}: {long:#?}");
        }
    }
}

#[test]
fn output_files_are_checked_before_the_run_and_written_as_a_whole() {
    let folder = Folder::with(SUM);
    let inputs = ["run", "program.mlir", "-i", "1", "-i", "2xf32=0"];
    for option in ["--trace=none/t.json", "--memory-timeline=none/t.html", "-o1=none/t.npy"] {
        let output = folder.run(&[&inputs[..], &[option]].concat());
        assert_eq!((output.status.code(), &*text(&output.stdout)), (Some(1), ""), "{option}");
        assert!(text(&output.stderr).contains("cannot write 'none/t."), "{}", text(&output.stderr));
    }
    let output = folder.run(&[&inputs[..], &["--trace=t.json", "-o=1=t.npy"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let mut names: Vec<_> = fs::read_dir(&folder.0)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .collect();
    names.sort();
    assert_eq!(names, ["program.mlir", "t.json", "t.npy"]);
}

#[cfg(unix)]
#[test]
fn deep_nesting_needs_no_stack_of_the_system() {
    let depth = 100;
    let open: String = (0..depth).map(|_| "\"a.b\"() ({\n").collect();
    let close: String = (0..depth).map(|_| "}) : () -> ()\n").collect();
    let folder = Folder::with(&format!("func @main() {{\n{open}{close}tfrt.return\n}}\n"));
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -s 128; exec \"$0\" opt --allow-unregistered-dialect program.mlir"]);
    let output = shell.arg(env!("CARGO_BIN_EXE_tfrt")).current_dir(&folder.0).output().expect("a shell");
    assert!(output.status.success(), "{:?}: {}", output.status, text(&output.stderr));
    assert_eq!(text(&output.stdout).matches("a.b").count(), depth);
}

#[test]
fn the_reference_is_printed_by_name() {
    let folder = Folder::with("");
    let output = folder.run(&["kernels", "tfrt.add.i32"]);
    assert!(text(&output.stdout).starts_with("tfrt.add.i32: (i32, i32) -> (i32)\n"), "{output:?}");
    let entries = json(&folder.run(&["kernels", "tfrt.add", "--json"]))["kernels"].clone();
    let names: Vec<_> = entries.as_array().expect("a list").iter().map(|entry| &entry["name"]).collect();
    assert!(names.contains(&&"tfrt.add.i32".into()) && names.contains(&&"tfrt.add.f32".into()), "{names:?}");
    let output = folder.run(&["ops", "tf.MatMul"]);
    assert!(text(&output.stdout).contains("attributes: transpose_a: bool = false"), "{output:?}");
    let op = json(&folder.run(&["ops", "tf.MatMul", "--json"]))["ops"][0].clone();
    assert_eq!((&op["name"], &op["runs_on_host"]), (&"tf.MatMul".into(), &true.into()));
    let output = folder.run(&["kernels", "print.i3"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("knows no 'print.i3'; similar names: tfrt.print.i32"),
        "{output:?}"
    );
}

/// Where the choice of a device is left open, a program that uses one says which it got, once and
/// beside its results.
#[test]
fn auto_says_which_device_it_chose() {
    let program = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mlir/cuda/devices.mlir");
    let program = program.to_str().expect("a path");
    let folder = Folder::with(SUM);
    let complaints = |arguments: &[&str]| text(&folder.run(arguments).stderr);
    let auto = complaints(&["run", program, "--function", "events"]);
    assert_eq!(auto.lines().filter(|line| line.starts_with("device: ")).count(), 1, "{auto}");
    let cpu = complaints(&["run", program, "--function", "events", "--device", "cpu"]);
    assert!(!cpu.contains("device: "), "{cpu}");
}
