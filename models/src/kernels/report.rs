//! What programs tell people: how far they are, how good and how fast they were.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use tfrt_host::{
    Arg, AsyncValue, Attr, Chain, Diagnostic, ErrorCode, ExecutionContext, KernelRegistry, Rest,
};

use tfrt_tensor::{Accessor, DenseHostTensor};

use super::{PROGRESS, Progress};

static LOSS: Accessor = Accessor::new("tfrt_mnist.report_loss");

/// When the first clock of the process was read.
static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

fn now_ns() -> i64 {
    i64::try_from(ORIGIN.elapsed().as_nanos()).unwrap_or(i64::MAX)
}

/// Seconds since a time that [`now_ns`] gave; never zero, so that it can be divided by.
fn seconds_since(start_ns: i64) -> f64 {
    let ns = now_ns().saturating_sub(start_ns).max(1);
    Duration::from_nanos(ns.unsigned_abs()).as_secs_f64()
}

/// `1234567` as `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place != 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Where the program computed: on the device that it names, else on the host's own threads.
fn place(named: &Rest<AsyncValue>, cx: &ExecutionContext) -> Result<String, Diagnostic> {
    if let Some(name) = named.iter().next() {
        let name = name?;
        let text = name.get::<String>().cloned();
        return text.ok_or_else(|| {
            Diagnostic::invalid_argument(format!("a {} is not the name of a device", name.type_name()))
        });
    }
    let queue = cx.host().work_queue();
    let threads = if queue.is_single_threaded() { 1 } else { queue.parallelism() };
    Ok(if threads == 1 { "cpu (1 thread)".to_owned() } else { format!("cpu ({threads} threads)") })
}

/// `53,486 images/s, on cpu (2 threads)`.
fn speed(images: i32, seconds: f64, place: &str) -> String {
    let rate = (f64::from(images) / seconds).round() as u64;
    format!("{} images/s, on {place}", grouped(rate))
}

/// Shows how much of how much is done, if the request has somebody to show it.
pub(super) fn show_progress(
    (done, total): (u64, u64),
    label: &str,
    cx: &ExecutionContext,
) -> Result<(), Diagnostic> {
    match cx.resources().get::<Progress>(PROGRESS) {
        Ok(progress) => {
            (progress.0)(done, total, label);
            Ok(())
        }
        Err(error) if error.code == ErrorCode::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn progress(
    done: i32,
    total: i32,
    _chain: Chain,
    label: Attr<str>,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    let count = |number: i32| u64::from(number.max(0).unsigned_abs());
    show_progress((count(done), count(total)), label.0, cx)?;
    Ok(Chain)
}

/// Prints the mean of the losses of a batch on the first rank.
fn report_loss(
    rank: i32,
    step: i32,
    losses: Arg<DenseHostTensor>,
    _chain: Chain,
    every: Attr<i64>,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    let is_due = every.0 > 0 && i64::from(step) % every.0 == 0;
    if rank == 0 && is_due {
        let losses = losses.read::<f32>(&LOSS)?;
        let mean = losses.iter().map(|loss| f64::from(*loss)).sum::<f64>() / losses.len().max(1) as f64;
        cx.host().print(format_args!("step {step}: loss {mean:.7}\n"));
        cx.host().flush();
    }
    Ok(Chain)
}

fn report_training(
    images: i32,
    start_ns: i64,
    _chain: Chain,
    named: Rest<AsyncValue>,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    let seconds = seconds_since(start_ns);
    let speed = speed(images, seconds, &place(&named, cx)?);
    let count = grouped(images.max(0).unsigned_abs().into());
    cx.host().print(format_args!("trained on {count} images in {seconds:.1} s: {speed}\n"));
    Ok(Chain)
}

fn report_accuracy(
    correct: i32,
    count: i32,
    images: i32,
    start_ns: i64,
    _chain: Chain,
    named: Rest<AsyncValue>,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    if count <= 0 {
        return Err(Diagnostic::invalid_argument("no image was looked at"));
    }
    let percent = 100.0 * f64::from(correct) / f64::from(count);
    let speed = speed(images, seconds_since(start_ns), &place(&named, cx)?);
    cx.host().print(format_args!("accuracy: {percent:.2} % ({correct} of {count}), {speed}\n"));
    Ok(Chain)
}

pub(super) fn register(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_mnist.now", |chain: Chain| (now_ns(), chain))
        .side_effecting()
        .doc("The time in nanoseconds, from an origin that is the process's own.");
    registry
        .add("tfrt_mnist.progress", progress)
        .attributes(&["label"])
        .side_effecting()
        .doc("Shows how much of how much is done, if the request has somebody to show it.");
    registry
        .add("tfrt_mnist.report_loss", report_loss)
        .attributes(&["every"])
        .side_effecting()
        .doc("Prints the mean of a batch's losses, on rank 0 and if the step is a multiple of `every`.");
    registry
        .add("tfrt_mnist.report_training", report_training)
        .side_effecting()
        .doc("Prints how many images were learnt from, how fast since the start, and where: on a device if its name is given.");
    registry
        .add("tfrt_mnist.report_accuracy", report_accuracy)
        .side_effecting()
        .doc(
            "Prints how many of how many are right, how many images were looked at in a second, and where: on a device if \
             its name is given.",
        );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")];
        for (number, text) in cases {
            assert_eq!(grouped(number), text);
        }
    }
}
