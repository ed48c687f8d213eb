//! Writing values into dense tensors.

use tfrt_host::{Arg, ArgumentType, Attr, AttributeType, Chain, Diagnostic, KernelRegistry, Rest};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, bf16, f16};

static FILL: Accessor = Accessor::new("tfrt_dht.fill_tensor_with_constant");
static SET_CONSTANTS: Accessor = Accessor::new("tfrt_dht.set_tensor_with_constant_values");
static SET_VALUES: Accessor = Accessor::new("tfrt_dht.set_tensor_with_values");

fn check_count(tensor: &DenseHostTensor, count: usize) -> Result<(), Diagnostic> {
    if tensor.num_elements() == count {
        return Ok(());
    }
    Err(Diagnostic::invalid_argument(format!(
        "Incorrect number of values for the tensor: {count}, but expected {}",
        tensor.num_elements()
    )))
}

fn fill<T>(tensor: Arg<DenseHostTensor>, _chain: Chain, value: Attr<T>) -> Result<Chain, Diagnostic>
where
    T: Element + for<'f> AttributeType<Borrowed<'f> = T>,
{
    tensor.write::<T>(&FILL)?.fill(value.0);
    Ok(Chain)
}

fn set_constants<T>(tensor: Arg<DenseHostTensor>, values: Attr<[T]>) -> Result<(), Diagnostic>
where
    T: Element,
    [T]: AttributeType,
    for<'f> <[T] as AttributeType>::Borrowed<'f>: AsRef<[T]>,
{
    let values = values.0.as_ref();
    check_count(&tensor, values.len())?;
    tensor.write::<T>(&SET_CONSTANTS)?.copy_from_slice(values);
    Ok(())
}

fn set_constants_chained<T>(
    tensor: Arg<DenseHostTensor>,
    chain: Chain,
    values: Attr<[T]>,
) -> Result<Chain, Diagnostic>
where
    T: Element,
    [T]: AttributeType,
    for<'f> <[T] as AttributeType>::Borrowed<'f>: AsRef<[T]>,
{
    set_constants(tensor, values).map(|()| chain)
}

fn set_values<T>(tensor: Arg<DenseHostTensor>, chain: Chain, values: Rest<T>) -> Result<Chain, Diagnostic>
where
    T: Element + ArgumentType,
{
    check_count(&tensor, values.len())?;
    let mut elements = tensor.write::<T>(&SET_VALUES)?;
    for (element, value) in elements.iter_mut().zip(values.iter()) {
        *element = *value?;
    }
    Ok(chain)
}

macro_rules! fills {
    ($registry:ident, $($type:ty => $suffix:literal)*) => {$(
        // "Constant" as a variable's value would be an argument.
        $registry
            .add(concat!("tfrt_dht.fill_tensor_with_constant.", $suffix), fill::<$type>)
            .attributes(&["value"])
            .mutates(&[0])
            .doc("Writes one value into every place of a tensor.");
        $registry
            .add(concat!("tfrt_dht.set_tensor_with_constant_values.", $suffix), set_constants_chained::<$type>)
            .attributes(&["values"])
            .mutates(&[0])
            .doc("Writes constants into a tensor, row-major; there must be one for each place.");
        $registry
            .add(concat!("tfrt_dht_sync.set_tensor_with_constant_values.", $suffix), set_constants::<$type>)
            .attributes(&["values"])
            .mutates(&[0])
            .doc("Writes constants into a tensor, row-major; there must be one for each place.");
        $registry
            .add(concat!("tfrt_dht.set_tensor_with_values.", $suffix), set_values::<$type>)
            .mutates(&[0])
            .doc("Writes its further arguments into a tensor, row-major; there must be one for each place.");
    )*};
}

pub(super) fn register(registry: &mut KernelRegistry) {
    fills!(registry,
        bool => "bool" i8 => "i8" i16 => "i16" i32 => "i32" i64 => "i64"
        u8 => "ui8" u16 => "ui16" u32 => "ui32" u64 => "ui64"
        f16 => "f16" bf16 => "bf16" f32 => "f32" f64 => "f64");
}
