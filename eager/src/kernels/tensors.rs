//! Tensor handles: made, printed, turned into host tensors and back.

use tfrt_host::{
    Arg, AsyncValue, AsyncValueRef, Attr, AttributeType, Chain, DType, Diagnostic, ExecutionContext,
    IndirectPromise, KernelRegistry, Promise, Rest,
    bef::{AttributeView, DenseAttribute, RawAttribute},
};
use tfrt_tensor::{
    Accessor, BString, DenseHostTensor, Element, HostTensor, StringHostTensor, TensorMetadata, TensorShape,
    bf16, dense_from_attribute, f16, files::in_temporary_file,
};

use crate::{
    CoreRuntime, Device, DeviceTensor, ForeignTensor, TensorHandle,
    ops::strings::copies,
    tensor_handle::{host_tensor, in_host_memory},
};

static PRINT: Accessor = Accessor::new("corert.print_tensorhandle");
static TRANSFER: Accessor = Accessor::new("corert.transfer");
static FREEZE: Accessor = Accessor::new("corert.freeze");

fn on_host(tensor: impl Into<HostTensor>, cx: &ExecutionContext) -> TensorHandle {
    TensorHandle::from_host(CoreRuntime::of(cx.host()).host_device().clone(), tensor)
}

fn print(handle: &TensorHandle, cx: &ExecutionContext) -> Result<(), Diagnostic> {
    let text = if let Some(error) = handle.error() {
        // Existing programs expect this text.
        format!("Error TensorHandle: '{}'", error.message)
    } else if let Some(tensor) = handle.tensor().get::<DeviceTensor>() {
        tensor.dense().to_string()
    } else if let Some(tensor) = handle.tensor().get::<ForeignTensor>() {
        format!("a tensor of another task: {}", tensor.metadata())
    } else {
        match handle.host_tensor() {
            Some(tensor) => text(tensor?)?,
            None => "a tensor that is still computed".to_owned(),
        }
    };
    cx.host().print(format_args!("{text}\n"));
    Ok(())
}

fn print_when_available(handle: Arg<TensorHandle>, _: Chain, cx: &ExecutionContext) -> AsyncValueRef<Chain> {
    let (promise, chain) = Promise::new();
    let (kept, cx) = (TensorHandle::clone(&handle), cx.clone());
    handle.tensor().and_then(move || cx.settle(promise, print(&kept, &cx).map(|()| Chain)));
    chain
}

/// Returns a tensor as existing programs expect it to print: they check that halves are not shown.
fn text(tensor: &HostTensor) -> Result<String, Diagnostic> {
    let halves = match tensor.dtype() {
        DType::F16 => "fp16",
        DType::BF16 => "bf16",
        _ => return tensor.print(&PRINT),
    };
    let (form, dtype, shape) = (tensor.form(), tensor.dtype(), tensor.shape());
    Ok(format!("{form} dtype = {dtype:?}, shape = {shape}, values = [Does not support printing {halves}.]"))
}

fn to_shape(handle: Arg<TensorHandle>, _chain: Chain) -> AsyncValueRef<TensorShape> {
    let (promise, shape) = Promise::new();
    let kept = TensorHandle::clone(&handle);
    handle.when_metadata(move || match kept.metadata() {
        Some(Ok(metadata)) => promise.emplace(metadata.shape),
        Some(Err(error)) => promise.set_error(error),
        None => promise.set_error(Diagnostic::internal("metadata that came is gone")),
    });
    shape
}

fn string_tensor(
    shape: Attr<RawAttribute<'_>>,
    values: Attr<RawAttribute<'_>>,
    cx: &ExecutionContext,
) -> Result<TensorHandle, Diagnostic> {
    let malformed =
        || Diagnostic::invalid_argument("a string tensor needs a shape of i64 and a list of strings");
    let dims: &[i64] = match shape.0.typed() {
        Ok(AttributeView::DataArray(dims)) => dims.elements().ok_or_else(malformed)?,
        Ok(AttributeView::Aggregate(none)) if none.is_empty() => &[],
        _ => return Err(malformed()),
    };
    let shape = TensorShape::from_signed(dims)?;
    let values = values.0.aggregate().map_err(|_| malformed())?;
    let strings = values.iter().map(|value| match value {
        Ok(AttributeView::String(bytes)) => Some(BString::from(bytes)),
        _ => None,
    });
    let mut strings = strings.collect::<Option<Vec<_>>>().ok_or_else(malformed)?;
    if let [one] = &*strings {
        strings = copies(one, shape.num_elements()?)?;
    }
    Ok(on_host(StringHostTensor::new(shape, strings)?, cx))
}

fn dense_tensor(value: Attr<DenseAttribute<'_>>, cx: &ExecutionContext) -> Result<TensorHandle, Diagnostic> {
    Ok(on_host(dense_from_attribute(&value.0, cx.host().allocator())?, cx))
}

fn create_dense<T: Element>(
    shape: &[i64],
    values: &[T],
    cx: &ExecutionContext,
) -> Result<TensorHandle, Diagnostic> {
    let metadata = TensorMetadata::new(T::DTYPE, TensorShape::from_signed(shape)?);
    let mut tensor = DenseHostTensor::allocate(metadata, cx.host().allocator())?;
    fill(&mut tensor, values)?;
    Ok(on_host(tensor, cx))
}

/// Sets a new tensor's elements: one value everywhere, or one for each place.
pub(crate) fn fill<T: Element>(tensor: &mut DenseHostTensor, values: &[T]) -> Result<(), Diagnostic> {
    let elements = tensor.elements_mut::<T>()?;
    match values {
        &[value] => elements.fill(value),
        _ if values.len() == elements.len() => elements.copy_from_slice(values),
        _ => {
            let (given, places) = (values.len(), elements.len());
            let message = format!("{given} values do not fill a tensor of {places} elements");
            return Err(Diagnostic::invalid_argument(message));
        }
    }
    Ok(())
}

/// Returns a tensor on another device, or in another form.
fn transfer(
    source: Arg<TensorHandle>,
    target: Arg<Device>,
    form: Attr<str>,
    cx: &ExecutionContext,
) -> TensorHandle {
    let (promise, tensor) = IndirectPromise::new();
    let (form, cx, device) = (form.0.to_owned(), cx.clone(), target.clone());
    let value = source.tensor().clone();
    source.tensor().and_then(move || match convert(&value, &form, &device, &cx) {
        Ok(tensor) => promise.forward_to(tensor),
        Err(error) => promise.set_error(cx.emit(error)),
    });
    match source.metadata() {
        Some(Ok(metadata)) => TensorHandle::new(target.clone(), &metadata, tensor),
        _ => TensorHandle::from_pending(target.clone(), tensor),
    }
}

/// Returns the tensor in host memory: itself, or a copy of a device's.
fn to_host_tensor(handle: Arg<TensorHandle>, _: Rest<Chain>, cx: &ExecutionContext) -> AsyncValue {
    let value = handle.tensor().clone();
    if value.is_available() {
        return in_host_memory(value, cx);
    }
    let ((promise, tensor), cx) = (IndirectPromise::new(), cx.clone());
    handle.tensor().and_then(move || promise.forward_to(in_host_memory(value, &cx)));
    tensor
}

/// Returns a dense tensor that nobody can write: ops then keep what they prepare of it, such as a
/// matrix that is laid out for products. Strings and what is not in host memory pass through.
fn freeze(source: Arg<TensorHandle>, cx: &ExecutionContext) -> TensorHandle {
    let (promise, tensor) = IndirectPromise::new();
    let (cx, value) = (cx.clone(), source.tensor().clone());
    source.tensor().and_then(move || match value.get::<HostTensor>() {
        None | Some(HostTensor::String(_)) => promise.forward_to(value.clone()),
        Some(tensor) => match frozen(tensor, &cx) {
            Ok(frozen) => promise.forward_to(AsyncValue::new(HostTensor::from(frozen))),
            Err(error) => promise.set_error(cx.emit(error)),
        },
    });
    match source.metadata() {
        Some(Ok(metadata)) => TensorHandle::new(source.device().clone(), &metadata, tensor),
        _ => TensorHandle::from_pending(source.device().clone(), tensor),
    }
}

/// The elements of a tensor in memory that is read-only. A large tensor is in a temporary file, if
/// one can be had, so that its memory is free once ops have prepared what they need.
fn frozen(tensor: &HostTensor, cx: &ExecutionContext) -> Result<DenseHostTensor, Diagnostic> {
    let allocator = cx.host().allocator();
    let mut dense = tensor.to_dense(&FREEZE, allocator)?;
    if !dense.buffer().is_writable() {
        return Ok(dense);
    }
    if let Ok(Some(moved)) = in_temporary_file(&dense) {
        return Ok(moved);
    }
    if !dense.make_readonly() {
        dense = dense.deep_copy(&FREEZE, allocator)?;
        dense.make_readonly();
    }
    Ok(dense)
}

/// Returns an available tensor in another form, or elsewhere; it may come later.
fn convert(
    value: &AsyncValue,
    form: &str,
    target: &Device,
    cx: &ExecutionContext,
) -> Result<AsyncValue, Diagnostic> {
    if let Some(tensor) = value.get::<DeviceTensor>() {
        return match (form, target.queue()) {
            ("DenseGpu", Some(queue)) => tensor.transfer_to(queue, cx),
            ("DenseHost", None) => tensor.to_host(cx).map(AsyncValueRef::into_untyped),
            _ => Err(no_conversion("DenseGpu", form)),
        };
    }
    if let Some(tensor) = value.get::<ForeignTensor>() {
        return match (form, target.queue()) {
            ("DenseHost", None) => tensor.to_host(cx).map(AsyncValueRef::into_untyped),
            _ => Err(no_conversion("a tensor of another task", form)),
        };
    }
    let tensor = host_tensor(value)?;
    match (form, target.queue()) {
        ("DenseGpu", Some(queue)) if !matches!(tensor, HostTensor::String(_)) => {
            DeviceTensor::transfer_from(tensor, queue, cx)
        }
        (_, None) => convert_on_host(tensor, form, cx).map(AsyncValue::new),
        _ => Err(no_conversion(form_name(tensor), form)),
    }
}

fn convert_on_host(tensor: &HostTensor, form: &str, cx: &ExecutionContext) -> Result<HostTensor, Diagnostic> {
    match (form, tensor) {
        ("DenseHost", HostTensor::Dense(_) | HostTensor::Scalar(_) | HostTensor::Coo(_)) => {
            tensor.to_dense(&TRANSFER, cx.host().allocator()).map(HostTensor::from)
        }
        ("StringHost", HostTensor::String(_)) | ("CooHost", HostTensor::Coo(_)) => Ok(tensor.clone()),
        ("AnyScalarHost" | "ScalarHost", HostTensor::Scalar(_)) => Ok(tensor.clone()),
        ("AnyScalarHost" | "ScalarHost", HostTensor::Coo(sparse)) => {
            sparse.to_scalar(&TRANSFER).map(HostTensor::from)
        }
        _ => Err(no_conversion(form_name(tensor), form)),
    }
}

/// How programs call the form of a tensor.
fn form_name(tensor: &HostTensor) -> &str {
    tensor.form().trim_end_matches("Tensor")
}

fn no_conversion(from: &str, to: &str) -> Diagnostic {
    // Existing programs expect this text.
    Diagnostic::invalid_argument(format!("cannot find conversion function for [{from}]->[{to}]"))
}

fn get_device(_chain: Chain, name: Attr<str>, cx: &ExecutionContext) -> Result<Device, Diagnostic> {
    CoreRuntime::of(cx.host()).device(name.0)
}

fn register_create<T>(registry: &mut KernelRegistry, suffix: &str)
where
    T: Element,
    [T]: for<'f> AttributeType<Borrowed<'f> = &'f [T]>,
{
    for dialect in ["corert", "corert_sync"] {
        registry
            .add(
                format!("{dialect}.create_dense_tensor.{suffix}"),
                |shape: Attr<[i64]>, value: Attr<[T]>, cx: &ExecutionContext| {
                    create_dense(shape.0, value.0, cx)
                },
            )
            .attributes(&["shape", "value"])
            .doc("A dense tensor: one value everywhere, or one for each place.");
    }
}

pub(super) fn register(registry: &mut KernelRegistry) {
    registry
        .add("corert.ht_to_tensorhandle", |tensor: Arg<HostTensor>, _: Chain, cx: &ExecutionContext| {
            on_host(HostTensor::clone(&tensor), cx)
        })
        .reads(&[])
        .aliases(0, 0)
        .doc("A host tensor as one that ops take.");
    registry
        .add("corert.tensorhandle_to_ht", to_host_tensor)
        .aliases(0, 0)
        .doc("The tensor that ops gave, in host memory.");
    registry
        .add("corert.tensorhandle_to_shape", to_shape)
        .doc("The shape of a tensor, before its elements are there.");
    registry
        .add("corert.print_tensorhandle", print_when_available)
        .side_effecting()
        .doc("Prints a tensor when it is there.");
    registry
        .add("corert_sync.print_tensorhandle", |handle: Arg<TensorHandle>, cx: &ExecutionContext| {
            print(&handle, cx)
        })
        .side_effecting()
        .doc("Prints a tensor, if it is there.");
    registry
        .add("corert.const_string_tensor", string_tensor)
        .attributes(&["shape", "value"])
        .typed_attributes()
        .doc("A tensor of strings: one everywhere, or one for each place.");
    for name in ["corert.const_dense_tensor", "corert_sync.const_dense_tensor"] {
        registry
            .add(name, dense_tensor)
            .typed_attributes()
            .doc("A dense tensor of the elements of a constant.");
    }
    registry
        .add("corert.transfer", transfer)
        .attributes(&["dst_tensor_type_name"])
        .doc("A tensor on another device, or in another form.");
    registry.add("corert.freeze", freeze).doc(
        "The same tensor, dense and read-only if it is in host memory. Ops keep what they prepare of it from one call to the next.",
    );
    registry.add("tfrt.get_device", get_device).attributes(&["device_name"]).doc("The device of this name.");
    register_create::<u8>(registry, "ui8");
    register_create::<u16>(registry, "ui16");
    register_create::<u32>(registry, "ui32");
    register_create::<u64>(registry, "ui64");
    register_create::<i8>(registry, "i8");
    register_create::<i16>(registry, "i16");
    register_create::<i32>(registry, "i32");
    register_create::<i64>(registry, "i64");
    register_create::<f16>(registry, "f16");
    register_create::<bf16>(registry, "bf16");
    register_create::<f32>(registry, "f32");
    register_create::<f64>(registry, "f64");
    for dialect in ["corert", "corert_sync"] {
        registry
            .add(
                format!("{dialect}.create_dense_tensor.i1"),
                |shape: Attr<[i64]>, value: Attr<[bool]>, cx: &ExecutionContext| {
                    create_dense(shape.0, &value.0, cx)
                },
            )
            .attributes(&["shape", "value"])
            .doc("A dense tensor: one value everywhere, or one for each place.");
    }
}
