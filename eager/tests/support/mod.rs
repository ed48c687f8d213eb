//! What the tests of the core runtime share: a runner of ops, and cases written as text.
#![allow(dead_code, clippy::panic, reason = "each test uses its part, and a test ends that way")]

use std::sync::Arc;

use tfrt_cpu::CpuOptions;
use tfrt_device::front::Platform;
use tfrt_eager::{CoreRuntime, DeviceTensor, OpAttrs, OpHandler, Results, TensorHandle};
use tfrt_host::{
    AsyncValueRef, BefFile, Chain, ExecutionContext, HostContext, KernelRegistry, RequestContext,
    ResourceContext,
    allocator::SystemAllocator,
    bef::{BefBuilder, OptionalSections, VerifiedBef},
    work_queue,
};
use tfrt_tensor::{
    Complex, DType, DenseHostTensor, HostTensor, SharedAllocator, StringHostTensor, TensorShape, bf16, f16,
};

/// The allocator of the tests' tensors.
pub(crate) fn allocator() -> SharedAllocator {
    Arc::new(SystemAllocator)
}

/// A host with a handler of all ops.
pub(crate) struct Runner {
    pub(crate) host: Arc<HostContext>,
    pub(crate) core: Arc<CoreRuntime>,
    pub(crate) cx: ExecutionContext,
    pub(crate) handler: Arc<dyn OpHandler>,
    /// What the handler's device belongs to.
    _platform: Option<Platform>,
}

impl Runner {
    pub(crate) fn new(queue: &str) -> Self {
        let queue = work_queue::from_str(queue).expect("a queue");
        let host = HostContext::builder(queue, allocator()).build();
        let core = CoreRuntime::of(&host);
        let cx = context(&host);
        Self { handler: core.cpu(), host, core, cx, _platform: None }
    }

    /// The same, with a handler of the ops that run on devices: a GPU if there is one, else the CPU device.
    pub(crate) fn on_device(queue: &str) -> Self {
        let mut runner = Self::new(queue);
        let options = CpuOptions { memory_bytes: 256 << 20, ..CpuOptions::default() };
        let backend = tfrt_gpu::find().or_else(|_| tfrt_cpu::open(&options));
        let platform = Platform::new(backend.expect("a device"));
        let device = platform.device(0).expect("a device");
        runner.handler = runner.core.on_device(&device, runner.core.cpu()).expect("a handler");
        runner._platform = Some(platform);
        runner
    }

    /// A result once it is there, in host memory.
    pub(crate) fn brought(&self, handle: &TensorHandle) -> TensorHandle {
        self.host.await_values(&[handle.tensor().clone()]).expect("not on a compute thread");
        let Some(tensor) = handle.tensor().get::<DeviceTensor>() else { return handle.clone() };
        let copy = tensor.to_host(&self.cx).expect("a copy").into_untyped();
        self.host.await_values(std::slice::from_ref(&copy)).expect("not on a compute thread");
        TensorHandle::new(self.core.host_device().clone(), tensor.metadata(), copy)
    }

    /// A tensor that ops take.
    pub(crate) fn handle(&self, tensor: impl Into<HostTensor>) -> TensorHandle {
        TensorHandle::from_host(self.core.host_device().clone(), tensor)
    }

    /// Runs a case's op and waits for its results.
    pub(crate) fn run(&self, case: &Case) -> Results {
        let arguments = case.arguments.iter().map(|tensor| self.handle(tensor.clone()));
        let count = case.expected.as_ref().map_or(1, Vec::len);
        let results = self.call(&case.op, arguments, &case.attrs, count);
        results.iter().map(|handle| self.brought(handle)).collect()
    }

    /// Calls an op.
    pub(crate) fn call(
        &self,
        op: &str,
        arguments: impl IntoIterator<Item = TensorHandle>,
        attrs: &OpAttrs,
        count: usize,
    ) -> Results {
        CoreRuntime::execute(&self.cx, &*self.handler, op, arguments, attrs, count, None)
            .unwrap_or_else(|error| panic!("{op}: {error}"))
    }
}

impl Runner {
    /// Calls an op without results that chains order.
    pub(crate) fn call_in_order(
        &self,
        op: &str,
        arguments: impl IntoIterator<Item = TensorHandle>,
        attrs: &OpAttrs,
        chain: &mut AsyncValueRef<Chain>,
    ) {
        CoreRuntime::execute(&self.cx, &*self.handler, op, arguments, attrs, 0, Some(chain))
            .unwrap_or_else(|error| panic!("{op}: {error}"));
    }
}

/// A context outside of any program.
pub(crate) fn context(host: &Arc<HostContext>) -> ExecutionContext {
    let bytes = BefBuilder::new(OptionalSections::Drop).finish().expect("an empty program");
    let verified = VerifiedBef::new(bytes).expect("an empty program verifies");
    let program = BefFile::load(verified, &KernelRegistry::new()).expect("an empty program loads");
    ExecutionContext::new(RequestContext::new(host.clone(), Arc::new(ResourceContext::new())), program)
}

/// One call of an op and what it gives: see `tests/reference/make.py`.
pub(crate) struct Case {
    pub(crate) op: String,
    pub(crate) attrs: OpAttrs,
    pub(crate) arguments: Vec<HostTensor>,
    /// Its results; nothing where it is an error.
    pub(crate) expected: Option<Vec<HostTensor>>,
}

impl Case {
    pub(crate) fn parse(line: &str) -> Result<Self, String> {
        let (op, rest) = line.split_once(" {").ok_or("no attributes")?;
        let (attrs, rest) = rest.split_once('}').ok_or("attributes without an end")?;
        let (arguments, expected) = rest.rsplit_once(" -> ").ok_or("no results")?;
        let expected = match expected {
            "error" => None,
            results => Some(tensors(results)?),
        };
        Ok(Self { op: op.to_owned(), attrs: attributes(attrs)?, arguments: tensors(arguments)?, expected })
    }
}

fn attributes(text: &str) -> Result<OpAttrs, String> {
    let mut attrs = OpAttrs::new();
    for word in text.split_whitespace() {
        let (name, value) = word.split_once('=').ok_or("an attribute without a value")?;
        let (kind, value) = value.split_once(':').ok_or("an attribute without a kind")?;
        let list = || value.split(',').filter(|item| !item.is_empty());
        let numbers =
            || list().map(|n| n.parse::<i64>().map_err(|e| e.to_string())).collect::<Result<Vec<_>, _>>();
        let set = match kind {
            "b" => attrs.set(name, value == "true"),
            "i" => attrs.set(name, value.parse::<i64>().map_err(|e| e.to_string())?),
            "f" => attrs.set(name, value.parse::<f32>().map_err(|e| e.to_string())?),
            "s" => attrs.set_string(name, &decoded(value)),
            "t" => attrs.set_type(name, dtype(value)?),
            "li" => attrs.set_array(name, &numbers()?),
            "lf" => {
                let numbers: Result<Vec<f32>, String> =
                    list().map(|n| n.parse::<f32>().map_err(|e| e.to_string())).collect();
                attrs.set_array(name, &numbers?)
            }
            "ls" => attrs.set_strings(name, list()),
            _ => return Err(format!("an attribute of kind '{kind}'")),
        };
        set.map_err(|error| error.to_string())?;
    }
    Ok(attrs)
}

/// A text in which bytes may be written as `%` and two digits.
fn decoded(text: &str) -> String {
    String::from_utf8(decoded_bytes(text)).expect("text in UTF-8")
}

/// Bytes, some of which may be written as `%` and two digits.
fn decoded_bytes(text: &str) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        bytes.push(u8::from_str_radix(&after[..2], 16).expect("two digits"));
        rest = &after[2..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

fn dtype(name: &str) -> Result<DType, String> {
    let known = [
        ("f16", DType::F16),
        ("bf16", DType::BF16),
        ("f32", DType::F32),
        ("f64", DType::F64),
        ("i1", DType::I1),
        ("i8", DType::I8),
        ("i16", DType::I16),
        ("i32", DType::I32),
        ("i64", DType::I64),
        ("ui8", DType::UI8),
        ("ui16", DType::UI16),
        ("ui32", DType::UI32),
        ("ui64", DType::UI64),
        ("c64", DType::Complex64),
        ("c128", DType::Complex128),
        ("str", DType::String),
    ];
    known.iter().find(|known| known.0 == name).map(|known| known.1).ok_or(format!("no data type '{name}'"))
}

fn tensors(text: &str) -> Result<Vec<HostTensor>, String> {
    text.split(';').map(str::trim).filter(|text| !text.is_empty()).map(tensor).collect()
}

fn tensor(text: &str) -> Result<HostTensor, String> {
    let (head, elements) = text.split_once(']').ok_or(format!("no shape in '{text}'"))?;
    let (name, dims) = head.split_once('[').ok_or("no shape")?;
    let dims = dims
        .split(',')
        .filter(|dim| !dim.is_empty())
        .map(|dim| dim.parse().map_err(|_| "no extent".to_owned()));
    let shape =
        TensorShape::new(&dims.collect::<Result<Vec<usize>, String>>()?).map_err(|e| e.to_string())?;
    let elements: Vec<&str> = elements.split_whitespace().collect();
    let dtype = dtype(name)?;
    let failed = |error: &dyn std::fmt::Display| format!("'{text}': {error}");
    macro_rules! dense {
        ($type:ty, $parse:expr) => {{
            let values: Result<Vec<$type>, String> = elements.iter().map(|&e| $parse(e)).collect();
            DenseHostTensor::from_slice(shape, &values?, &allocator()).map(HostTensor::from)
        }};
    }
    macro_rules! number {
        ($type:ty) => {
            dense!($type, |e: &str| e.parse::<$type>().map_err(|error| failed(&error)))
        };
    }
    macro_rules! complex {
        ($type:ty) => {
            dense!(Complex<$type>, |e: &str| {
                let (re, im) = e.split_once(':').ok_or_else(|| failed(&"no complex number"))?;
                let part = |part: &str| part.parse::<$type>().map_err(|error| failed(&error));
                Ok(Complex::new(part(re)?, part(im)?))
            })
        };
    }
    let float = |e: &str| e.parse::<f64>().map_err(|error| failed(&error));
    match dtype {
        DType::String => {
            let strings = elements.iter().map(|e| decoded_bytes(e.trim_matches('"'))).collect();
            StringHostTensor::new(shape, strings).map(HostTensor::from)
        }
        DType::I1 => dense!(bool, |e| Ok(e == "1")),
        DType::I8 => number!(i8),
        DType::I16 => number!(i16),
        DType::I32 => number!(i32),
        DType::I64 => number!(i64),
        DType::UI8 => number!(u8),
        DType::UI16 => number!(u16),
        DType::UI32 => number!(u32),
        DType::UI64 => number!(u64),
        DType::F16 => dense!(f16, |e| float(e).map(f16::from_f64)),
        DType::BF16 => dense!(bf16, |e| float(e).map(bf16::from_f64)),
        DType::F32 => number!(f32),
        DType::F64 => number!(f64),
        DType::Complex64 => complex!(f32),
        DType::Complex128 => complex!(f64),
        _ => return Err(failed(&"no such elements")),
    }
    .map_err(|error| failed(&error))
}
