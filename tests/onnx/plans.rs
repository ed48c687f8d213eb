//! Plans of the networks that come with the `onnx` package: their width, their events, the streams
//! that are chosen, and the size of the arena. Their programs on several streams are proved to be
//! in order, and to need each of their waits.

use std::{ops::ControlFlow, path::Path, time::Instant};

use libtest_mimic::Trial;
use tfrt::{Runtime, host::KernelRegistry};
use tfrt_compiler::{
    CompileOptions, Graph, MAIN, Stage, Target,
    analysis::device_problem,
    compile, compile_observed,
    lower::{SETUP, cuda::CudaOptions},
    pass,
    plan::{Options, Streams, check, cost::Machine, plan},
    proof::{self, Entry},
};
use tfrt_ir::{Module, OpId};

/// A network: its name, its width, the most events on 1, 2, … streams, and whether one stream is
/// chosen.
type Network = (&'static str, usize, &'static [usize], Option<bool>);

const NETWORKS: &[Network] = &[
    ("bvlc_alexnet", 1, &[0], Some(true)),
    ("densenet121", 1, &[0], Some(true)),
    ("inception_v1", 4, &[0, 18, 36, 54], None),
    ("inception_v2", 4, &[0, 20, 40, 56], None),
    ("resnet50", 2, &[0, 8], Some(true)),
    ("shufflenet", 2, &[0, 6], None),
    ("squeezenet", 2, &[0, 16], None),
    ("vgg19", 1, &[0], Some(true)),
    ("zfnet512", 1, &[0], Some(true)),
];

/// How much larger than the lower bound an arena may be.
const MAX_RATIO: f64 = 1.0;
/// How long planning may take. Builds without optimization get more time.
const MAX_SECONDS: f64 = if cfg!(debug_assertions) { 10.0 } else { 1.0 };

/// The tests of the networks in a folder, if it is there.
pub(super) fn trials(runtime: &Runtime, folder: &Path) -> Vec<Trial> {
    let file = |name: &str| folder.join(format!("light_{name}.onnx"));
    let networks = NETWORKS.iter().filter(|(name, ..)| file(name).exists());
    networks
        .flat_map(|network| {
            let (of_plan, planned) = (runtime.clone(), file(network.0));
            let (of_proof, proved) = (of_plan.clone(), planned.clone());
            let plan = Trial::test(format!("plan/{}", network.0), move || {
                let graph = op_graph(&of_plan, &planned)?;
                Ok(judge(network, &graph)?)
            });
            [plan, Trial::test(format!("proof/{}", network.0), move || Ok(prove(&of_proof, &proved)?))]
        })
        .collect()
}

/// Proves the programs of a network on two and more streams, and finds what is out of order without
/// any one of the waits.
fn prove(runtime: &Runtime, file: &Path) -> Result<(), String> {
    let mut kernels = KernelRegistry::new();
    tfrt::register_kernels(&mut kernels);
    let ops = tfrt::operations(&kernels).map_err(|errors| errors.to_string())?;
    let entry = Entry { setup: Some(SETUP), function: MAIN };
    let prove = |module: &Module| proof::check(module, &ops, entry).ok_or("the program lacks a function");
    for count in 2..=4 {
        let target = Target::Cuda(CudaOptions { streams: Streams::AtMost(count), ..CudaOptions::default() });
        let options = CompileOptions { target, ..CompileOptions::default() };
        let compiled = compile(file, &options, runtime.host()).map_err(|errors| errors.to_string())?;
        let whole = prove(&compiled.module)?;
        if !whole.holds() {
            return Err(format!("{count} streams: {whole:?}"));
        }
        let module = &compiled.module;
        let is_wait = |op: &OpId| &*module.op(*op).name == "tfrt_cuda.stream.wait";
        for wait in module.walk(module.root()).filter(is_wait) {
            let mut broken = module.clone();
            // Its chain comes last.
            let chain = *module.op(wait).operands.last().ok_or("a wait without a chain")?;
            broken.replace_op(wait, &[chain]);
            if !prove(&broken)?.findings.iter().any(|finding| finding.is_certain) {
                let place = &module.op(wait).location;
                return Err(format!(
                    "{count} streams: nothing is out of order without the wait at {place:?}"
                ));
            }
        }
    }
    Ok(())
}

/// The graph of a model after all passes.
fn op_graph(runtime: &Runtime, file: &Path) -> Result<Graph, String> {
    let mut graph = None;
    let last = pass::PASSES.last().map_or("", |pass| pass.name);
    compile_observed(file, &CompileOptions::default(), runtime.host(), &mut |step, stage| match stage {
        Stage::Ops(ops) if step == last => {
            graph = Some(ops.clone());
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    })
    .map_err(|errors| errors.to_string())?;
    graph.ok_or_else(|| "the passes did not end".to_owned())
}

fn judge(&(_, width, most_events, is_one_stream): &Network, graph: &Graph) -> Result<(), String> {
    let h200 = Machine::find("h200").ok_or("no model of the H200")?;
    let problem = device_problem(graph, h200, None).map_err(|errors| errors.to_string())?;
    let counts = (1..=4).map(Streams::AtMost);
    for streams in [Streams::Auto].into_iter().chain(counts) {
        let options = Options { streams, device: h200.queues, ..Options::default() };
        let start = Instant::now();
        let plan = plan(&problem, &options).map_err(|error| error.to_string())?;
        let seconds = start.elapsed().as_secs_f64();
        check(&problem, &plan).map_err(|violation| violation.to_string())?;
        let events: Vec<_> = plan.predictions.iter().map(|prediction| prediction.event_count).collect();
        let is_one = plan.schedule.stream_count == 2;
        let ratio = plan.layout.arena_bytes as f64 / plan.layout.lower_bound_bytes as f64;
        let is_good = plan.width == width
            && events.len() == most_events.len()
            && events.iter().zip(most_events).all(|(count, most)| count <= most)
            && (streams != Streams::Auto || is_one_stream.is_none_or(|expected| expected == is_one))
            && ratio <= MAX_RATIO
            && seconds < MAX_SECONDS;
        if !is_good {
            return Err(format!(
                "{streams:?}: width {}, events {events:?}, one stream {is_one}, arena {ratio:.3} of the bound, {seconds:.2} s",
                plan.width
            ));
        }
    }
    Ok(())
}
