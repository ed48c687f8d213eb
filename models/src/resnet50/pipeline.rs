//! The network in stages on several tasks of a cluster: each task computes some layers and sends
//! what they give to the next.

use std::fmt::Write as _;
use std::ops::Range;

use super::program::{Form, Precision, ProgramOptions, check_extent, prepare};
use super::{Layer, Step, Value, host, layers_of, steps};

/// A stage needs at least a step, and cuts are possible between blocks alone.
const MAX_TASKS: usize = 16;

/// A part of the network.
struct Stage {
    number: usize,
    steps: Range<usize>,
    /// The layers with weights.
    layers: Vec<usize>,
    input: Value,
    output: Value,
}

/// The values that a step uses.
fn inputs(step: &Step) -> Vec<Value> {
    match *step {
        Step::Convolution { input, residual, .. } => std::iter::once(input).chain(residual).collect(),
        Step::MaxPool { input } | Step::Mean { input } | Step::Scores { input, .. } => vec![input],
    }
}

/// The value that a step computes.
fn output(step: &Step) -> Value {
    match *step {
        Step::Convolution { at, .. } | Step::Scores { at, .. } => Value::Layer(at),
        Step::MaxPool { .. } => Value::Pooled,
        Step::Mean { .. } => Value::Mean,
    }
}

/// Returns the only value that the steps from `cut` on need of those before, if it is the only one.
fn crossing(steps: &[Step], cut: usize) -> Option<Value> {
    let made: Vec<_> = steps[..cut].iter().map(output).collect();
    let mut needed = steps[cut..].iter().flat_map(inputs).filter(|value| made.contains(value));
    let first = needed.next()?;
    needed.all(|value| value == first).then_some(first)
}

/// Cuts the network where one value crosses, in stages of about the same number of steps.
fn stages(steps: &[Step], count: usize) -> Result<Vec<Stage>, String> {
    let cuts: Vec<_> = (1..steps.len()).filter_map(|cut| Some((cut, crossing(steps, cut)?))).collect();
    let mut stages = Vec::new();
    let (mut start, mut input) = (0, Value::Images);
    for number in 0..count {
        let wanted = steps.len() * (number + 1) / count;
        let nearest = cuts.iter().filter(|(cut, _)| *cut > start).min_by_key(|(cut, _)| cut.abs_diff(wanted));
        let last = steps.last().map_or(Value::Images, output);
        let (end, value) =
            if number + 1 == count { (steps.len(), last) } else { *nearest.ok_or("no cut")? };
        let layers = steps[start..end].iter().filter_map(|step| match *step {
            Step::Convolution { at, .. } | Step::Scores { at, .. } => Some(at),
            _ => None,
        });
        stages.push(Stage { number, steps: start..end, layers: layers.collect(), input, output: value });
        (start, input) = (end, value);
    }
    Ok(stages)
}

/// A repeated text, with commas.
fn joined<T>(items: impl IntoIterator<Item = T>, text: impl Fn(T) -> String) -> String {
    items.into_iter().map(text).collect::<Vec<_>>().join(", ")
}

impl Stage {
    /// The program that makes the weights.
    fn weights(&self, options: &ProgramOptions, layers: &[Layer]) -> String {
        let types = joined(&self.layers, |_| host::FILTER.to_owned());
        let names = joined(&self.layers, |at| format!("%w{at}"));
        let mut text = format!("func @weights{}() -> ({types}) {{\n  %ch = tfrt.new.chain\n", self.number);
        for &at in &self.layers {
            text += &host::weights(options, at, &layers[at]);
        }
        let _ = writeln!(text, "  tfrt.return {names} : {types}\n}}");
        text
    }

    /// The program that computes.
    fn compute(&self, options: &ProgramOptions, layers: &[Layer], steps: &[Step]) -> String {
        let weights = joined(&self.layers, |at| format!("%w{at}: {}", host::FILTER));
        let (number, input) = (self.number, self.input);
        let mut text = format!("func @stage{number}({weights}, {input}: !t.tensor) -> !t.tensor {{\n");
        text += "  %ch = tfrt.new.chain\n";
        if number == 0 {
            text += &host::check_images(options, layers);
        }
        for step in &steps[self.steps.clone()] {
            host::step(&mut text, options, layers, step);
        }
        let output =
            if self.steps.end == steps.len() { "%scores".to_owned() } else { self.output.to_string() };
        let _ = writeln!(text, "  tfrt.return {output} : !t.tensor\n}}");
        text
    }

    /// The program that sends what the stage gives to the next one.
    fn send(&self) -> String {
        let (number, next) = (self.number, self.number + 1);
        format!(
            "func @send{number}(%ctx: !tfrt_dist.dist_context, %t: !t.tensor) -> !tfrt.chain {{\n  \
             %ch = tfrt.new.chain\n  \
             %to = tfrt_dist.get_task_handle %ctx {{task_name = \"{}\"}}\n  \
             %key = tfrt_test.get_string {{value = \"input of stage {next}\"}}\n  \
             %payload = tfrt_dist.serialize %t, %ch\n  \
             %sent = tfrt_dist.send_bytes %ctx, %to, %key, %payload\n  \
             tfrt.return %sent : !tfrt.chain\n}}\n",
            task(next)
        )
    }

    /// The program that receives what the stage takes.
    fn receive(&self) -> String {
        let number = self.number;
        let from = if number == 0 { "/job:client/task:0".to_owned() } else { task(number - 1) };
        format!(
            "func @receive{number}(%ctx: !tfrt_dist.dist_context) -> !t.tensor {{\n  \
             %from = tfrt_dist.get_task_handle %ctx {{task_name = \"{from}\"}}\n  \
             %key = tfrt_test.get_string {{value = \"input of stage {number}\"}}\n  \
             %payload = tfrt_dist.recv_bytes %ctx, %from, %key\n  \
             %t = tfrt_dist.deserialize %payload\n  \
             tfrt.return %t : !t.tensor\n}}\n"
        )
    }

    /// The lines of the client that register the stage's programs and start them. Calls of a task
    /// wait for the registrations there; ids say what depends on what.
    fn client(&self, is_last: bool, programs: &[(&str, String)]) -> String {
        let number = self.number;
        let mut text = format!(
            "  %task{number} = tfrt_dist.get_task_handle %ctx {{task_name = \"{}\"}}\n",
            task(number)
        );
        for (name, count) in [("one", 1), ("all", self.layers.len())] {
            let devices = joined(0..count, |_| format!("\"{}/device:CPU:0\"", task(number)));
            let _ = writeln!(
                text,
                "  %{name}{number} = tfrt_dist.create_remote_execute_spec %ctx {{output_devices = [{devices}]}}"
            );
        }
        for (name, program) in programs {
            let _ = writeln!(
                text,
                "  %registered_{name}{number} = tfrt_dist.register_tfrt_function(%ch, %ctx, %task{number}) \
                 \"{name}{number}\" \"{}\"",
                program.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
            );
        }
        let registered = joined(programs, |(name, _)| format!("%registered_{name}{number}"));
        let _ = writeln!(text, "  %ready{number} = tfrt.merge.chains {registered}");
        const ID: &str = "!tfrt_dist.remote_object_id";
        let ids = joined(&self.layers, |at| format!("%w{at}"));
        let types = joined(&self.layers, |_| ID.to_owned());
        let mut execute = |results: &str, spec: &str, name: &str, arguments: &str, types: (&str, &str)| {
            let _ = writeln!(
                text,
                "  %done_{name}{number}, {results} = tfrt_dist.remote_execute[%ready{number}, %ctx, %task{number}, \
                 %{spec}{number}] \"{name}{number}\"({arguments}) : ({}) -> ({})",
                types.0, types.1
            );
        };
        execute(&ids, "all", "weights", "", ("", &types));
        execute(&format!("%x{number}"), "one", "receive", "", ("", ID));
        let (arguments, argument_types) = (format!("{ids}, %x{number}"), format!("{types}, {ID}"));
        execute(&format!("%y_of{number}"), "one", "stage", &arguments, (&argument_types, ID));
        if !is_last {
            execute(&format!("%sent{number}"), "one", "send", &format!("%y_of{number}"), (ID, ID));
        }
        text
    }
}

fn task(number: usize) -> String {
    format!("/job:worker/task:{number}")
}

/// Returns a program that a client of a cluster runs: the first `task_count` workers compute the
/// host form's layers in stages. `@infer` takes images and returns their scores, and `@main` prints
/// the most probable classes of one image.
///
/// # Errors
/// If the options are not those of a host program, or the number of tasks is 0 or more than 16.
pub fn pipeline(options: &ProgramOptions, task_count: usize) -> Result<String, String> {
    check_extent(options.extent)?;
    if options.form != Form::Host || options.precision != Precision::F32 {
        return Err("a pipeline computes with host kernels in f32 alone".to_owned());
    }
    if task_count == 0 || task_count > MAX_TASKS {
        return Err(format!("a pipeline has 1 to {MAX_TASKS} tasks, not {task_count}"));
    }
    let layers = layers_of(options.variant);
    let steps = steps(&layers);
    let stages = stages(&steps, task_count)?;
    let mut text = format!(
        "// ResNet-50 ({}'s) for images of {1} x {1} pixels in stages on {task_count} tasks.\n\
         // Written by `tfrt resnet50 program`.\n\n\
         // Prints the likeliest classes of an image.\n\
         func @main(%image: !t.tensor) -> !tfrt.chain {{\n{2}  \
         %scores = tfrt.call @infer(%images) : (!t.tensor) -> !t.tensor\n  \
         %ch0 = tfrt.new.chain\n  \
         %ch1 = \"tfrt_resnet50.report\"(%scores, %ch0) {{ count = 5 : i64 }} : (!t.tensor, !tfrt.chain) -> !tfrt.chain\n  \
         tfrt.return %ch1 : !tfrt.chain\n}}\n\n\
         // The scores of images.\n\
         func @infer(%images: !t.tensor) -> !t.tensor {{\n  \
         %ch = tfrt.new.chain\n  \
         %ctx = tfrt_dist.get_distributed_context\n",
        options.variant,
        options.extent,
        prepare(options)
    );
    for stage in &stages {
        let is_last = stage.number + 1 == task_count;
        let mut programs = vec![
            ("weights", stage.weights(options, &layers)),
            ("receive", stage.receive()),
            ("stage", stage.compute(options, &layers, &steps)),
        ];
        if !is_last {
            programs.push(("send", stage.send()));
        }
        text += &stage.client(is_last, &programs);
    }
    let last = task_count - 1;
    let _ = write!(
        text,
        "  %payload = tfrt_dist.serialize %images, %ch\n  \
         %key = tfrt_test.get_string {{value = \"input of stage 0\"}}\n  \
         %sent = tfrt_dist.send_bytes %ctx, %task0, %key, %payload\n  \
         %scores = tfrt_dist.fetch_remote_object %ready{last}, %ctx, %task{last}, %y_of{last}\n  \
         tfrt.return %scores : !t.tensor\n}}\n"
    );
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resnet50::Variant;

    #[test]
    fn stages_have_all_steps_once() {
        let layers = layers_of(Variant::Torchvision);
        let steps = steps(&layers);
        for count in [1, 2, 4, 8, MAX_TASKS] {
            let stages = stages(&steps, count).unwrap();
            assert_eq!((stages.len(), stages[0].steps.start), (count, 0));
            assert_eq!(stages[count - 1].steps.end, steps.len());
            for pair in stages.windows(2) {
                assert_eq!((pair[0].steps.end, pair[0].output), (pair[1].steps.start, pair[1].input));
                assert!(!pair[0].steps.is_empty());
            }
            let layers_of_stages: usize = stages.iter().map(|stage| stage.layers.len()).sum();
            assert_eq!(layers_of_stages, layers.len());
        }
    }

    #[test]
    fn pipelines_have_bounds() {
        let options = ProgramOptions::new(Form::Host);
        assert!(pipeline(&options, 2).is_ok());
        for count in [0, MAX_TASKS + 1] {
            assert!(pipeline(&options, count).is_err());
        }
        assert!(pipeline(&ProgramOptions::new(Form::Device), 2).is_err());
        assert!(pipeline(&options.with_extent(100), 2).is_err());
    }
}
