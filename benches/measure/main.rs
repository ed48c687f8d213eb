//! A network that is loaded once and measured on command, so that a script can call it by turns
//! with another system.
//!
//! ```text
//! measure --device cuda --network device:f16:256:224 --weights weights.safetensors --images images.f32
//! measure --device cuda --model model.onnx --shape 1x3x224x224 --images images.f32 [--planned]
//! measure prepare FOLDER --images 256 --extent 224
//! ```
//!
//! `prepare` writes random weights and images, for this and for the other system. Otherwise it
//! writes one line of JSON when the first result is there, and one for each line that it reads:
//!
//! | line | answer |
//! |---|---|
//! | `call SECONDS` | calls from host memory to host memory, one at a time |
//! | `calls SECONDS` | the same, several in flight |
//! | `resident SECONDS` | launches of a device program whose images stay on the device, one at a time |
//! | `residents SECONDS` | the same, queued one behind the other |
//! | `scores FILE`, `resident-scores FILE` | writes the scores as raw f32 |

#![expect(clippy::print_stderr, clippy::print_stdout, reason = "its output is what it is for")]

mod inputs;
mod network;

use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::json;

use network::{Network, Source};

type Outcome<T = ()> = Result<T, String>;

/// How many calls are in flight, and how many are queued before they are waited for.
const IN_FLIGHT: usize = 4;
const QUEUED: usize = 16;
/// With `--short`, a rehearsal.
const QUEUED_SHORT: usize = 2;
/// The most latencies that are kept.
const MAX_CALLS: usize = 1_000_000;

pub(crate) fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("measure: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Outcome {
    if let Some(("prepare", rest)) = arguments.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        return inputs::prepare(rest);
    }
    let start = Instant::now();
    let source = Source::parse(arguments)?;
    let mut network = Network::open(&source)?;
    let opened = start.elapsed();
    network.call()?;
    answer(&json!({
        "backend": network.backend,
        "device": network.device,
        "load_s": network.load.as_secs_f64(),
        "setup_s": network.setup.as_secs_f64(),
        "first_call_s": (start.elapsed() - opened).as_secs_f64(),
        "first_result_s": start.elapsed().as_secs_f64(),
    }))?;
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let answered = command(&mut network, line.trim());
        answer(&answered.unwrap_or_else(|error| json!({ "error": error })))?;
    }
    Ok(())
}

fn answer(value: &serde_json::Value) -> Outcome {
    println!("{value}");
    std::io::stdout().flush().map_err(|error| error.to_string())
}

fn command(network: &mut Network, line: &str) -> Outcome<serde_json::Value> {
    let (mode, argument) = line.split_once(' ').ok_or_else(|| format!("'{line}' has no argument"))?;
    if let "scores" | "resident-scores" = mode {
        let scores = if mode == "scores" { network.call()? } else { network.resident_scores()? };
        let bytes: Vec<u8> = scores.iter().flat_map(|score| score.to_le_bytes()).collect();
        std::fs::write(argument, bytes).map_err(|error| format!("{argument}: {error}"))?;
        return Ok(json!({ "scores": scores.len() }));
    }
    let seconds: f64 = argument.parse().map_err(|_| format!("'{argument}' is no number of seconds"))?;
    let queued = if network.is_short { QUEUED_SHORT } else { QUEUED };
    let figures = match mode {
        "call" => measure(seconds, 1, || network.call().map(drop)),
        "calls" => measure(seconds, queued, || network.calls(queued, IN_FLIGHT)),
        "resident" => measure(seconds, 1, || network.launch(1)),
        "residents" => measure(seconds, queued, || network.launch(queued)),
        _ => Err(format!("there is no command '{mode}'")),
    }?;
    Ok(figures)
}

/// Makes calls for so long, `calls` at a time, after one that does not count.
fn measure(seconds: f64, calls: usize, mut call: impl FnMut() -> Outcome) -> Outcome<serde_json::Value> {
    call()?;
    let limit = Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?;
    let mut latencies = Vec::new();
    let start = Instant::now();
    let total = loop {
        let before = Instant::now();
        call()?;
        let now = Instant::now();
        latencies.push((now - before).as_secs_f64() * 1e6 / calls as f64);
        if now - start >= limit || latencies.len() >= MAX_CALLS {
            break now - start;
        }
    };
    latencies.sort_unstable_by(f64::total_cmp);
    let percentile = |percent: usize| {
        let rank = (latencies.len() * percent).div_ceil(100).max(1);
        latencies.get(rank - 1).copied().unwrap_or_default()
    };
    Ok(json!({
        "calls": latencies.len() * calls,
        "seconds": total.as_secs_f64(),
        "min_us": percentile(0),
        "p50_us": percentile(50),
        "p90_us": percentile(90),
        "p99_us": percentile(99),
        "max_us": percentile(100),
    }))
}
