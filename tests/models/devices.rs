//! Programs for a place: `tfrt compile --target cuda` and `--target host`.

use std::{fs, path::Path};

use super::{errors, model, output, tfrt};

#[test]
fn a_device_program_computes_what_ops_compute() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("layer.mlir");
    let (model, program) = (model(), program.to_str().expect("a path"));
    let model = model.to_str().expect("a path");
    let refused = errors(&["compile", model, "--target=cuda", "-o", program], 1);
    assert!(
        refused.contains("input 'x': a device program needs static shapes, and ?x3xf32 is not"),
        "{refused}"
    );
    let input = ["-i", "x=2x3xf32=[0,-1,1,2,3,4]", "--json"];
    let expected = output(&[&["run", model][..], &input].concat());
    for options in [&[][..], &["--no-graph"]] {
        let compile = ["compile", model, "--target=cuda", "--input-shape", "batch=2", "-o", program];
        output(&[&compile[..], options].concat());
        let run = ["run", program, "--device=cpu", "--check"];
        assert_eq!(output(&[&run[..], &input].concat()), expected);
    }
    // The program is text, and says where each op comes from.
    let text = fs::read_to_string(program).expect("text");
    assert!(text.contains("loc(\"node 'dense' (MatMul)"), "{text}");
    let wrong = errors(&["run", program, "--device=cpu", "-i", "x=1x3xf32=0"], 1);
    assert!(wrong.contains("'x' must be F32 [2, 3], but it is F32 [1, 3]"), "{wrong}");
}

#[test]
fn a_host_program_stays_in_host_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("layer.bef");
    let (model, program) = (model(), program.to_str().expect("a path"));
    let model = model.to_str().expect("a path");
    let printed = output(&["compile", model, "--target=host", "--print", "-o", program]);
    assert!(printed.contains("corert.create_cpu_op_handler") && !printed.contains("default_op_handler"));
    let input = ["-i", "x=2x3xf32=[0,-1,1,2,3,4]", "--json"];
    let expected = output(&[&["run", model][..], &input].concat());
    for options in [&[][..], &["--device=cpu"]] {
        assert_eq!(output(&[&["run", program][..], options, &input].concat()), expected);
    }
}

/// A model with ops that only the host has.
fn host_ops() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/host_ops.mlir");
    path.to_str().expect("a path").to_owned()
}

#[test]
fn what_devices_lack_runs_on_the_host_between_graphs() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("program.mlir");
    let (model, program) = (host_ops(), program.to_str().expect("a path"));
    for input in ["4x8xf32=random(1)", "4x8xf32=-1", "4x8xf32=1"] {
        let input = ["-i", input, "--json"];
        let expected = output(&[&["run", &model][..], &input].concat());
        for options in [&[][..], &["--no-graph"]] {
            output(&[&["compile", &model, "--target=cuda", "-o", program][..], options].concat());
            let run = ["run", program, "--device=cpu", "--check"];
            let found = output(&[&run[..], &input].concat());
            assert_close(&found, &expected, 1e-4);
        }
    }
    let text = fs::read_to_string(program).expect("text");
    assert!(text.contains("func @run_0") && text.contains("\"tf.CumulativeLogsumexp\""), "{text}");
    let explained = output(&["compile", &model, "--target=cuda", "--explain"]);
    assert!(explained.contains("tf.CumulativeLogsumexp has no form for devices"), "{explained}");
    assert!(explained.contains("tf.If calls functions"), "{explained}");
    let refused = errors(&["compile", &model, "--target=cuda", "--strict", "-o", program], 1);
    assert!(refused.contains("tf.CumulativeLogsumexp has no form for devices"), "{refused}");
    assert!(refused.contains("?x2xi64 is not") && refused.contains("tf.If calls functions"), "{refused}");
}

/// What ops ask for is learnt on a device that does nothing, which has another number of processors.
#[test]
fn means_in_parts_have_the_memory_that_was_planned() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/large_mean.mlir");
    let model = path.to_str().expect("a path");
    let input = ["-i", "1x120x120x3xf32=random(1)", "--json"];
    let expected = output(&[&["run", model][..], &input].concat());
    let found = output(&[&["run", model, "--graph", "--device=cpu", "--check"][..], &input].concat());
    assert_close(&found, &expected, 1e-4);
    // By ops, too. Their stream is the runtime's, and is not reported as a leak.
    let found = output(&[&["run", model, "--device=cpu", "--check"][..], &input].concat());
    assert_close(&found, &expected, 1e-4);
}

/// Asserts that two results as JSON are the same but for rounding, relative to numbers above one.
pub(super) fn assert_close(found: &str, expected: &str, tolerance: f64) {
    let numbers = |json: &str| {
        let value: serde_json::Value = serde_json::from_str(json).expect("JSON");
        let (mut numbers, mut left) = (Vec::new(), vec![&value]);
        while let Some(value) = left.pop() {
            match value {
                serde_json::Value::Array(values) => left.extend(values),
                serde_json::Value::Object(fields) => left.extend(fields.values()),
                other => numbers.extend(other.as_f64()),
            }
        }
        numbers
    };
    let (a, b) = (numbers(found), numbers(expected));
    let are_close = a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= tolerance * b.abs().max(1.));
    assert!(a.len() == b.len() && !a.is_empty() && are_close, "{found} is not {expected}");
}

#[test]
fn a_program_has_a_plan_for_each_batch_size() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("layer.mlir");
    let (model, program) = (model(), program.to_str().expect("a path"));
    let model = model.to_str().expect("a path");
    output(&["compile", model, "--target=cuda", "--batch=4,1", "-o", program]);
    for input in ["x=1x3xf32=[0,-1,1]", "x=4x3xf32=random(1)"] {
        let expected = output(&["run", model, "-i", input, "--json"]);
        let found = output(&["run", program, "--device=cpu", "--check", "-i", input, "--json"]);
        assert_close(&found, &expected, 1e-4);
    }
    let wrong = errors(&["run", program, "--device=cpu", "-i", "x=2x3xf32=0"], 1);
    assert!(
        wrong.contains("'x' has the shape [2, 3], but the program was compiled for batches of 1, 4"),
        "{wrong}"
    );
    let fixed = errors(&["compile", &host_ops(), "--target=cuda", "--batch=1", "-o", program], 1);
    assert!(fixed.contains("need an input whose first extent is open"), "{fixed}");
}

#[test]
fn a_narrow_program_says_how_far_it_is_off() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("layer.mlir");
    let (model, program) = (model(), program.to_str().expect("a path"));
    let model = model.to_str().expect("a path");
    let shape = ["--input-shape", "batch=8", "--target=cuda", "-o", program];
    for (precision, ty, tolerance) in [("f16", "8x3xf16", "0.01"), ("bf16", "8x3xbf16", "0.1")] {
        let compile = [&["compile", model, "--precision", precision][..], &shape].concat();
        let compiled = tfrt(&compile);
        let said = String::from_utf8_lossy(&compiled.stderr);
        assert!(compiled.status.success() && said.contains("differs from f32 by at most"), "{said}");
        let text = fs::read_to_string(program).expect("text");
        assert!(text.contains(ty), "{text}");
        let input = ["-i", "8x3xf32=random(1)"];
        let values = folder.path().join("y.npy");
        let values = values.to_str().expect("a path");
        output(&[&["run", model, "-o", values][..], &input].concat());
        let expected = format!("@{values}");
        let run = ["run", program, "--device=cpu", "--tolerance", tolerance, "--expected-output", &expected];
        output(&[&run[..], &input].concat());
    }
}

#[test]
fn what_a_narrow_type_is_too_coarse_for_stays_wide() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("program.mlir");
    let program = program.to_str().expect("a path");
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/cancelling.mlir");
    let compile = ["compile", model.to_str().expect("a path"), "--target=cuda", "-o", program];
    for (precision, max_error, wide, types) in [
        ("f16", "10", "0 of 3", ["4x4xf16", "8x4xf16"]),
        ("f16", "0.01", "2 of 3", ["4x4xf16", "8x4xf32"]),
        ("bf16", "0.02", "2 of 3", ["4x4xbf16", "8x4xf32"]),
        ("f16", "1e-9", "3 of 3", ["4x4xf32", "8x4xf32"]),
    ] {
        for input in [&[][..], &["-i", "4x8xf32=random(7)"], &["-i", "arg0=4x8xf32=0.3"]] {
            let options = ["--precision", precision, "--max-error", max_error];
            let compiled = tfrt(&[&compile[..], &options, input].concat());
            let said = String::from_utf8_lossy(&compiled.stderr);
            assert!(compiled.status.success(), "{said}");
            assert!(said.contains(&format!("precision: {wide} products")), "{options:?}: {said}");
            assert_eq!(said.contains("cancelling.mlir:7:8"), !wide.starts_with('0'), "{said}");
            assert_eq!(said.contains("on these inputs"), !input.is_empty(), "{said}");
            let text = fs::read_to_string(program).expect("text");
            assert!(types.iter().all(|ty| text.contains(ty)), "{options:?}: {text}");
        }
    }
    for (options, why) in [
        (&["--max-error", "0.1"][..], "--max-error and --input are for --precision f16 or bf16"),
        (&["--precision=f16", "--max-error=0"], "it must be a positive number"),
        (&["--precision=f16", "-i", "y=1"], "'y=1' is for none of the model's inputs"),
        (&["--precision=f16", "-i", "@a.npy", "-i", "@b.npy"], "'@b.npy' is for none of the model's inputs"),
        (&["--precision=f16", "-i", "arg0=f32=1", "-i", "arg0=f32=2"], "is given twice"),
    ] {
        let refused = errors(&[&compile[..], options].concat(), 2);
        assert!(refused.contains(why), "{options:?}: {refused}");
    }
    // What differs from run to run cannot be held to a bound.
    let random = folder.path().join("random.mlir");
    let text = fs::read_to_string(&model).expect("text").replace(
        "  %3 = \"tf.Sub\"(%2, %1)",
        "  %shape = \"tf.Const\"() {value = dense<4> : tensor<2xi32>} : () -> tensor<2xi32>
  %noise = \"tf.RandomUniform\"(%shape) {dtype = f32, seed = 0 : i64, seed2 = 0 : i64} : (tensor<2xi32>) -> tensor<4x4xf32>
  %3 = \"tf.Sub\"(%2, %noise)",
    );
    assert!(text.contains("RandomUniform"));
    fs::write(&random, text).expect("written");
    let compile = ["compile", random.to_str().expect("a path"), "--precision=f16", "--max-error=0.01"];
    let refused = errors(&[&compile[..], &["-o", program]].concat(), 1);
    assert!(refused.contains("'result1' differs by") && refused.contains("from one run in f32"), "{refused}");
}

/// The values of a line of MLIR after a kernel's name: `%a, %b` of `%c = kernel %a, %b`.
fn operands<'t>(line: &'t str, kernel: &str) -> Option<Vec<&'t str>> {
    let (_, rest) = line.split_once(kernel)?;
    let rest = rest.split(" loc(").next()?;
    Some(rest.split(',').map(str::trim).collect())
}

/// The program without the wait in one line: what came after it now comes after what was before it.
fn without_wait(text: &str, at: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let (result, _) = lines[at].trim().split_once(" = ").expect("a result");
    let before = operands(lines[at], "tfrt_cuda.stream.wait").expect("a wait").pop().expect("a chain");
    // Results are numbered anew in each function, and the chain is used once, in the lines that
    // follow.
    let (head, tail) = (&lines[..at], &lines[at + 1..]);
    let word = |part: &str| {
        if part.trim_matches(',') == result { part.replace(result, before) } else { part.into() }
    };
    let mut is_replaced = false;
    let tail = tail.iter().map(|line| {
        let changed = line.split(' ').map(word).collect::<Vec<String>>().join(" ");
        let is_other = is_replaced || changed == *line;
        is_replaced |= changed != *line;
        if is_other { (*line).to_owned() } else { changed }
    });
    let tail: Vec<String> = tail.collect();
    [head.join("\n"), tail.join("\n")].join("\n")
}

#[test]
fn every_event_of_a_device_program_is_needed() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("branches.mlir");
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/branches.mlir");
    let model = model.to_str().expect("a path");
    let input = ["-i", "512x512xf32=random(1)"];
    let values = folder.path().join("y.npy");
    let values = values.to_str().expect("a path");
    output(&[&["run", model, "-o", values][..], &input].concat());
    let expected = format!("@{values}");
    for streams in ["1", "2", "3", "4"] {
        let path = program.to_str().expect("a path");
        let compile = ["compile", model, "--target=cuda", "--no-graph", "--streams", streams, "-o", path];
        output(&compile);
        let run =
            [&["run", path, "--device=cpu", "--check", "--expected-output", &expected][..], &input].concat();
        output(&run);
        assert!(output(&["check", path]).contains("all in order"));
        // The text changes below, and the weights, of which there are none, are for this one.
        fs::remove_file(program.with_extension("safetensors")).expect("removed");
        let text = fs::read_to_string(&program).expect("text");
        let waits = text.lines().enumerate().filter(|(_, line)| line.contains("tfrt_cuda.stream.wait "));
        let waits: Vec<usize> = waits.map(|(at, _)| at).collect();
        assert_eq!(waits.is_empty(), streams == "1", "{text}");
        for at in waits {
            let changed = without_wait(&text, at);
            fs::write(&program, &changed).expect("written");
            for command in [&run[..], &["check", path]] {
                let done = tfrt(command);
                let said = String::from_utf8_lossy(&done.stderr);
                assert!(
                    !done.status.success() && said.contains("nothing orders the two"),
                    "{command:?}: line {at} of {text}: {said}"
                );
            }
        }
    }
}

/// In every order of the host's kernels, also if calls begin before `setup` is done.
#[test]
fn the_programs_that_come_with_the_runtime_are_in_order() {
    for (program, functions) in [
        ("models/mnist/device_inference.mlir", &["main", "infer"][..]),
        ("models/resnet50/device.mlir", &["main", "upload", "launch", "download"]),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(program);
        let checked = output(&["check", path.to_str().expect("a path")]);
        let proved: Vec<&str> = checked.lines().filter(|line| line.ends_with("all in order")).collect();
        assert_eq!(proved.len(), functions.len(), "{checked}");
        assert!(proved.iter().zip(functions).all(|(line, name)| line.starts_with(name)), "{checked}");
    }
}
