//! cuDNN: convolutions, poolings, activations, softmax over channels and sums, by their
//! definitions. All other functions return "not supported".

mod backend;
mod descriptor;
mod geometry;
mod pooling;
mod program;

use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;

use parking_lot::Mutex;

use super::blas::{numbers, put_numbers};
use super::driver::{entry_points, put};
use super::state::{Answer, Context, check_range, forget, keep, own, violation};
use super::stream::Stream;

const BAD_PARAM: c_int = 2000;
const NOT_SUPPORTED: c_int = 3000;

struct Handle(Mutex<Option<Arc<Stream>>>);

impl Handle {
    fn stream(raw: *mut c_void, call: &str) -> Arc<Stream> {
        let stream = own::<Self>(raw, call).0.lock().clone();
        stream.unwrap_or_else(|| violation(format_args!("{call} would use the legacy default stream")))
    }
}

/// The layout of a tensor.
#[derive(Clone, Default)]
struct Layout {
    dtype: c_int,
    extents: Vec<usize>,
    strides: Vec<usize>,
}

#[derive(Default)]
struct TensorDescriptor(Mutex<Layout>);

#[derive(Default)]
struct Activation(Mutex<(c_int, f64)>);

/// A tensor argument of a call.
#[derive(Clone)]
struct Tensor {
    layout: Layout,
    address: u64,
}

/// Converts a `cudnnDataType_t`, which begins with float, double, half, to the type's number in
/// cuBLAS.
fn dtype(number: c_int) -> Answer<c_int> {
    match number {
        0..=2 => Ok(number),
        9 => Ok(14),
        _ => Err(NOT_SUPPORTED),
    }
}

fn tensor(descriptor: *mut c_void, address: u64, call: &str) -> Answer<Tensor> {
    let layout = own::<TensorDescriptor>(descriptor, call).0.lock().clone();
    let tensor = Tensor { layout, address };
    check_range(address, tensor.bytes()?).map_err(|_| BAD_PARAM)?;
    Ok(tensor)
}

impl Tensor {
    /// Returns the number of bytes from the first element to the last.
    fn bytes(&self) -> Answer<u64> {
        let size = match dtype(self.layout.dtype)? {
            1 => 8,
            0 => 4,
            _ => 2,
        };
        Ok((self.span() * size) as u64)
    }

    fn span(&self) -> usize {
        let last = self
            .layout
            .extents
            .iter()
            .zip(&self.layout.strides)
            .map(|(extent, stride)| (extent - 1) * stride);
        last.sum::<usize>() + 1
    }

    /// Calls `call` with the offset of each element, the last index fastest.
    fn for_each_place(&self, mut call: impl FnMut(usize)) {
        let (extents, strides) = (&self.layout.extents, &self.layout.strides);
        let last = extents.len() - 1;
        let (mut index, mut place) = (vec![0; extents.len()], 0);
        loop {
            (0..extents[last]).for_each(|i| call(place + i * strides[last]));
            let mut axis = last;
            loop {
                if axis == 0 {
                    return;
                }
                axis -= 1;
                index[axis] += 1;
                place += strides[axis];
                if index[axis] < extents[axis] {
                    break;
                }
                place -= strides[axis] * extents[axis];
                index[axis] = 0;
            }
        }
    }

    fn load(&self) -> Answer<Vec<f64>> {
        let all = numbers(dtype(self.layout.dtype)?, self.address, self.span())?;
        let mut elements = Vec::with_capacity(self.layout.extents.iter().product());
        self.for_each_place(|place| elements.push(all[place]));
        Ok(elements)
    }

    /// Writes `alpha * values + beta * old contents`.
    fn blend(&self, values: &[f64], (alpha, beta): (f64, f64)) -> Answer {
        let dtype = dtype(self.layout.dtype)?;
        let mut all = numbers(dtype, self.address, self.span())?;
        let mut values = values.iter();
        self.for_each_place(|place| {
            let old = if beta == 0.0 { 0.0 } else { beta * all[place] };
            all[place] = alpha * values.next().copied().unwrap_or(0.0) + old;
        });
        put_numbers(dtype, self.address, &all)
    }
}

/// Reads the factors, which are f64 for tensors of f64, and f32 otherwise.
fn factors(tensor: &Tensor, alpha: *const c_void, beta: *const c_void) -> (f64, f64) {
    let read = |place: *const c_void| {
        // SAFETY: the pointers are an entry point's `alpha` and `beta`, whose type depends on the
        // tensor's as documented for this function.
        unsafe {
            if tensor.layout.dtype == 1 {
                place.cast::<f64>().read()
            } else {
                place.cast::<f32>().read().into()
            }
        }
    };
    (read(alpha), read(beta))
}

/// `cudnnActivationMode_t`: sigmoid, relu, tanh, clipped relu, elu.
fn activate(mode: c_int, coefficient: f64, x: f64) -> Answer<f64> {
    match mode {
        0 => Ok(1.0 / (1.0 + (-x).exp())),
        1 => Ok(x.max(0.0)),
        2 => Ok(x.tanh()),
        3 => Ok(x.clamp(0.0, coefficient)),
        4 => Ok(if x > 0.0 { x } else { coefficient * x.exp_m1() }),
        _ => Err(NOT_SUPPORTED),
    }
}

/// Returns the slope of an activation with the value `y`.
fn slope(mode: c_int, y: f64) -> f64 {
    match mode {
        0 => y * (1.0 - y),
        1 => f64::from(u8::from(y > 0.0)),
        _ => 1.0 - y * y,
    }
}

/// Computes the softmax of each image over its channels or, per instance, over all elements.
fn softmax(tensor: &Tensor, algorithm: c_int, mode: c_int, values: &mut [f64]) -> Answer {
    let extents = &tensor.layout.extents;
    if mode != 0 && extents[2..].iter().product::<usize>() != 1 {
        return Err(NOT_SUPPORTED);
    }
    let row = extents[1..].iter().product::<usize>();
    for row in values.chunks_exact_mut(row) {
        let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = row.iter().map(|value| (value - most).exp()).sum();
        for value in row {
            let log = *value - most - sum.ln();
            *value = if algorithm == 2 { log } else { log.exp() };
        }
    }
    Ok(())
}

fn ints(place: *const c_int, count: c_int) -> Vec<usize> {
    // SAFETY: the pointer is an entry point's array, with the count that the same call specifies,
    // at least four.
    let numbers = unsafe { std::slice::from_raw_parts(place, count as usize) };
    numbers.iter().map(|&value| value as usize).collect()
}

/// Creates a descriptor. It belongs to no context, but is kept with the current one, in which it is
/// used and destroyed.
fn descriptor<T: std::any::Any + Send + Sync + Default>(
    place: *mut *mut c_void,
    kind: &'static str,
) -> Answer {
    put(place, keep(Context::current("creating a descriptor of cuDNN"), kind, Arc::new(T::default())))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cudnnGetLastErrorString(message: *mut c_char, bytes: usize) {
    let text = b"the stand-in does not do this\0";
    // SAFETY: the caller's buffer has `bytes` bytes, and at most the bytes of the text are written.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), message.cast(), text.len().min(bytes)) };
}

entry_points! {
    fn cudnnGetProperty(property: c_int, value: *mut c_int) { put(value, if property == 0 { 9 } else { 0 }) }
    fn cudnnCreate(handle: *mut *mut c_void) {
        put(handle, keep(Context::working("cudnnCreate")?, "cuDNN handle", Arc::new(Handle(Mutex::default()))))
    }
    fn cudnnDestroy(handle: *mut c_void) {
        drop(forget::<Handle>(handle, "cudnnDestroy"));
        Ok(())
    }
    fn cudnnSetStream(handle: *mut c_void, stream: *mut c_void) {
        let set = if stream.is_null() { None } else { Some(own(stream, "cudnnSetStream")) };
        *own::<Handle>(handle, "cudnnSetStream").0.lock() = set;
        Ok(())
    }
    fn cudnnCreateTensorDescriptor(place: *mut *mut c_void) {
        descriptor::<TensorDescriptor>(place, "tensor descriptor")
    }
    fn cudnnSetTensorNdDescriptor(
        raw: *mut c_void, dtype: c_int, rank: c_int, extents: *const c_int, strides: *const c_int,
    ) {
        if rank < 4 {
            return Err(BAD_PARAM);
        }
        let layout = Layout { dtype, extents: ints(extents, rank), strides: ints(strides, rank) };
        *own::<TensorDescriptor>(raw, "cudnnSetTensorNdDescriptor").0.lock() = layout;
        Ok(())
    }
    fn cudnnDestroyTensorDescriptor(raw: *mut c_void) {
        drop(forget::<TensorDescriptor>(raw, "cudnnDestroyTensorDescriptor"));
        Ok(())
    }
    fn cudnnCreateActivationDescriptor(place: *mut *mut c_void) {
        descriptor::<Activation>(place, "activation descriptor")
    }
    fn cudnnSetActivationDescriptor(raw: *mut c_void, mode: c_int, _nan: c_int, coefficient: f64) {
        *own::<Activation>(raw, "cudnnSetActivationDescriptor").0.lock() = (mode, coefficient);
        Ok(())
    }
    fn cudnnDestroyActivationDescriptor(raw: *mut c_void) {
        drop(forget::<Activation>(raw, "cudnnDestroyActivationDescriptor"));
        Ok(())
    }
    fn cudnnActivationForward(
        handle: *mut c_void, activation: *mut c_void, alpha: *const c_void, x_layout: *mut c_void, x: u64,
        beta: *const c_void, y_layout: *mut c_void, y: u64,
    ) {
        let stream = Handle::stream(handle, "cudnnActivationForward");
        let (mode, coefficient) = *own::<Activation>(activation, "cudnnActivationForward").0.lock();
        let (x, y) = (tensor(x_layout, x, "cudnnActivationForward")?, tensor(y_layout, y, "cudnnActivationForward")?);
        let factors = factors(&x, alpha, beta);
        activate(mode, coefficient, 0.0)?;
        stream.submit("activation", move || {
            let values = x.load()?.into_iter().map(|x| activate(mode, coefficient, x));
            let values = values.collect::<Answer<Vec<_>>>()?;
            y.blend(&values, factors)
        })
    }
    fn cudnnActivationBackward(
        handle: *mut c_void, activation: *mut c_void, alpha: *const c_void, y_layout: *mut c_void, y: u64,
        dy_layout: *mut c_void, dy: u64, _x_layout: *mut c_void, _x: u64, beta: *const c_void, dx_layout: *mut c_void,
        dx: u64,
    ) {
        let call = "cudnnActivationBackward";
        let stream = Handle::stream(handle, call);
        let (mode, _) = *own::<Activation>(activation, call).0.lock();
        let (y, dy, dx) = (tensor(y_layout, y, call)?, tensor(dy_layout, dy, call)?, tensor(dx_layout, dx, call)?);
        let factors = factors(&y, alpha, beta);
        if mode > 2 {
            return Err(NOT_SUPPORTED);
        }
        stream.submit("activation's gradient", move || {
            let slopes = y.load()?.into_iter().map(|y| slope(mode, y));
            dx.blend(&slopes.zip(dy.load()?).map(|(slope, dy)| slope * dy).collect::<Vec<_>>(), factors)
        })
    }
    fn cudnnSoftmaxForward(
        handle: *mut c_void, algorithm: c_int, mode: c_int, alpha: *const c_void, x_layout: *mut c_void, x: u64,
        beta: *const c_void, y_layout: *mut c_void, y: u64,
    ) {
        let stream = Handle::stream(handle, "cudnnSoftmaxForward");
        let (x, y) = (tensor(x_layout, x, "cudnnSoftmaxForward")?, tensor(y_layout, y, "cudnnSoftmaxForward")?);
        let factors = factors(&x, alpha, beta);
        softmax(&x, algorithm, mode, &mut [])?;
        stream.submit("softmax", move || {
            let mut values = x.load()?;
            softmax(&x, algorithm, mode, &mut values)?;
            y.blend(&values, factors)
        })
    }
    fn cudnnAddTensor(
        handle: *mut c_void, alpha: *const c_void, a_layout: *mut c_void, a: u64, beta: *const c_void,
        c_layout: *mut c_void, c: u64,
    ) {
        let stream = Handle::stream(handle, "cudnnAddTensor");
        let (a, c) = (tensor(a_layout, a, "cudnnAddTensor")?, tensor(c_layout, c, "cudnnAddTensor")?);
        let factors = factors(&a, alpha, beta);
        let mut spread = a.clone();
        // The stride of an extent of one does not matter.
        for (axis, (&extent, &wanted)) in a.layout.extents.iter().zip(&c.layout.extents).enumerate() {
            if extent == 1 {
                spread.layout.strides[axis] = 0;
            } else if extent != wanted {
                return Err(BAD_PARAM);
            }
        }
        spread.layout.extents.clone_from(&c.layout.extents);
        stream.submit("sum of tensors", move || c.blend(&spread.load()?, factors))
    }
}

/// Declares functions that must exist because the backend resolves all functions at once.
macro_rules! not_supported {
    ($($name:ident),* $(,)?) => {$(
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name() -> c_int {
            NOT_SUPPORTED
        }
    )*};
}
not_supported!(
    cudnnSoftmaxBackward,
    cudnnBatchNormalizationForwardInference,
    cudnnBatchNormalizationForwardTraining,
    cudnnBatchNormalizationBackward,
);
