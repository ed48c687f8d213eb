//! Device programs: `tfrt compile --target cuda`.

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
    // Results are numbered anew in each function, and the chain is used once, in the lines that follow.
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
