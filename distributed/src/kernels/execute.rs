//! Remote execution in its three forms.

use tfrt_collectives::{DistributedContext, TaskHandle};
use tfrt_host::{
    AsyncValue, AttributeParameter, AttributeSpec, Chain, DType, Diagnostic, ExecutionContext, KernelFrame,
    KernelRegistry, KernelSignature, Promise, TypeSpec, Value,
};

use super::{print, programs::RemoteExecuteSpec, spawn};
use crate::{
    RemoteClient, RemoteContext, RemoteObjectId,
    proto::{Output, RemoteExecuteRequest},
    tensors::{self, PromisedTensor},
};

/// The arguments before the ids: chain, context, task and specification.
const FIXED_ARGUMENTS: usize = 4;

/// A form of the kernel.
#[derive(Clone, Copy)]
enum Form {
    /// Ids in, ids out.
    Ids,
    /// The last outputs have handles besides.
    Handles,
    /// The ids of the outputs follow those of the inputs, and handles come out.
    Preallocated,
}

/// One call of the kernel, as the program wrote it.
struct RemoteCall {
    context: DistributedContext,
    client: RemoteClient,
    function: String,
    inputs: Vec<RemoteObjectId>,
    outputs: Vec<RemoteObjectId>,
    handle_count: usize,
}

fn argument<T: Value + Clone>(frame: &KernelFrame<'_>, index: usize) -> Result<T, Diagnostic> {
    frame.argument(index).get::<T>().cloned().ok_or_else(|| {
        let found = frame.argument(index).type_name();
        Diagnostic::invalid_argument(format!(
            "argument {index} should be of type {}, got {found}",
            T::TYPE_NAME
        ))
    })
}

fn count(what: &str, number: i32) -> Result<usize, Diagnostic> {
    usize::try_from(number).map_err(|_| Diagnostic::invalid_argument(format!("{what} is {number}")))
}

impl RemoteCall {
    fn new(form: Form, frame: &KernelFrame<'_>) -> Result<Self, Diagnostic> {
        let context: DistributedContext = argument(frame, 1)?;
        let spec: RemoteExecuteSpec = argument(frame, 3)?;
        let mut ids = (FIXED_ARGUMENTS..frame.argument_count())
            .map(|index| argument::<RemoteObjectId>(frame, index))
            .collect::<Result<Vec<_>, _>>()?;
        let (name, handle_count) = match form {
            Form::Ids => (0, 0),
            Form::Handles => (1, count("the number of handles", frame.attribute::<i32>(0)?)?),
            Form::Preallocated => (2, count("the number of handles", frame.attribute::<i32>(1)?)?),
        };
        let remote = RemoteContext::of(&context)?;
        let devices = spec.output_devices.len();
        let outputs = match form {
            Form::Preallocated => {
                let inputs = count("the number of inputs", frame.attribute::<i32>(0)?)?;
                if inputs > ids.len() {
                    let message = format!("{inputs} of {} ids are inputs", ids.len());
                    return Err(Diagnostic::invalid_argument(message));
                }
                ids.split_off(inputs)
            }
            _ => spec.output_devices.iter().map(|device| remote.objects.allocate(device.clone())).collect(),
        };
        let ids_out = if matches!(form, Form::Preallocated) { 0 } else { outputs.len() };
        let expected = 1 + ids_out + handle_count;
        if outputs.len() != devices || handle_count > outputs.len() || frame.result_count() != expected {
            let message = format!(
                "the specification has {devices} output devices, and the call has {} outputs, {handle_count} handles \
                 and {} results; expected {expected} results",
                outputs.len(),
                frame.result_count()
            );
            return Err(Diagnostic::invalid_argument(message));
        }
        let task: TaskHandle = argument(frame, 2)?;
        let client = remote.client(&context, task)?;
        let function = frame.attribute::<str>(name)?.to_owned();
        Ok(Self { context, client, function, inputs: ids, outputs, handle_count })
    }

    fn request(&self) -> RemoteExecuteRequest {
        let first_handle = self.outputs.len() - self.handle_count;
        let output = |(number, id): (usize, &RemoteObjectId)| Output {
            id: Some(id.into()),
            need_metadata: number >= first_handle,
        };
        RemoteExecuteRequest {
            header: None,
            function: self.function.clone(),
            inputs: self.inputs.iter().map(Into::into).collect(),
            outputs: self.outputs.iter().enumerate().map(output).collect(),
        }
    }

    /// Makes the call. Returns the chain, and the handles of the last outputs.
    fn start(self, cx: &ExecutionContext) -> Result<(AsyncValue, Vec<AsyncValue>), Diagnostic> {
        let request = self.request();
        let Self { context, client, outputs, handle_count, .. } = self;
        let first_handle = outputs.len() - handle_count;
        let mut handles = Vec::new();
        let mut promises = Vec::new();
        for id in &outputs[first_handle..] {
            let (promise, handle) = PromisedTensor::new(&context, &client, id.clone())?;
            handles.push(AsyncValue::new(handle));
            promises.push(promise);
        }
        let (promise, chain) = Promise::<Chain>::new();
        let call = async move { client.remote_execute(request).await };
        spawn(&context, cx, call, move |cx, reply| match reply {
            Ok(reply) => {
                print(cx, &reply.printed);
                tensors::settle(promises, &reply.metadata, cx);
                promise.emplace(Chain);
            }
            Err(error) => {
                let error = cx.emit_remote(error);
                for promised in promises {
                    promised.fail(&error);
                }
                promise.set_error(error);
            }
        })?;
        Ok((chain.into_untyped(), handles))
    }
}

fn run(form: Form, frame: &mut KernelFrame<'_>) {
    let started = RemoteCall::new(form, frame).and_then(|call| {
        let ids = if matches!(form, Form::Preallocated) { Vec::new() } else { call.outputs.clone() };
        call.start(frame.context()).map(|started| (ids, started))
    });
    match started {
        Ok((ids, (chain, handles))) => {
            let ids = ids.into_iter().map(AsyncValue::new);
            let results: Vec<_> = std::iter::once(chain).chain(ids).chain(handles).collect();
            frame.set_results(results);
        }
        Err(error) => frame.fail(error),
    }
}

fn signature(attributes: &[&'static str], results: TypeSpec) -> KernelSignature {
    let named = |name| TypeSpec::Named(name);
    let attribute = |&name: &&'static str| AttributeParameter {
        name,
        alias: None,
        spec: if name == "program_name" { AttributeSpec::String } else { AttributeSpec::Scalar(DType::I32) },
    };
    KernelSignature {
        arguments: vec![
            named(Chain::TYPE_NAME),
            named(DistributedContext::TYPE_NAME),
            named(TaskHandle::TYPE_NAME),
            named(RemoteExecuteSpec::TYPE_NAME),
        ],
        rest_arguments: Some(named(RemoteObjectId::TYPE_NAME)),
        attributes: attributes.iter().map(attribute).collect(),
        results: vec![named(Chain::TYPE_NAME)],
        rest_results: Some(results),
        ..KernelSignature::default()
    }
}

pub(super) fn register(registry: &mut KernelRegistry) {
    let ids = TypeSpec::Named(RemoteObjectId::TYPE_NAME);
    let name = "tfrt_dist.remote_execute";
    registry
        .add_raw(name, signature(&["program_name"], ids), |frame| run(Form::Ids, frame))
        .side_effecting()
        .assembly(
            "`[` $arg0 `,` $arg1 `,` $arg2 `,` $arg3 `]` $program_name `(` $args `)` attr-dict `:` \
             functional-type($args, $results)",
        )
        .doc(
            "Executes a registered function on a task: chain, context, task, specification, and the ids of the inputs. \
             The ids of the outputs come at once; the chain is available when the function has ended.",
        );
    registry
        .add_raw(
            "tfrt_dist.remote_execute_th",
            signature(&["num_tensorhandle_output", "program_name"], TypeSpec::Any),
            |frame| run(Form::Handles, frame),
        )
        .side_effecting()
        .assembly(
            "`[` $arg0 `,` $arg1 `,` $arg2 `,` $arg3 `,` $num_tensorhandle_output `]` $program_name `(` $args `)` \
             attr-dict `:` functional-type($args, $results)",
        )
        .doc("Executes a registered function on a task, and returns tensor handles for so many of its last outputs.");
    registry
        .add_raw(
            "tfrt_dist.remote_execute_th_preallocated",
            signature(&["num_inputs", "num_tensorhandle_output", "program_name"], TypeSpec::Any),
            |frame| run(Form::Preallocated, frame),
        )
        .side_effecting()
        .assembly(
            "`[` $arg0 `,` $arg1 `,` $arg2 `,` $arg3 `,` $num_inputs `,` $num_tensorhandle_output `]` $program_name \
             `(` $args `)` attr-dict `:` functional-type($args, $results)",
        )
        .doc(
            "Executes a registered function on a task. The ids of the outputs follow those of the inputs. Returns \
             tensor handles for so many of the last outputs.",
        );
}
