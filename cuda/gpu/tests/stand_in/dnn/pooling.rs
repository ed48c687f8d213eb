//! Poolings, by their definition.

use std::ffi::{c_int, c_void};

use parking_lot::Mutex;

use super::geometry::{Windows, three};
use super::{BAD_PARAM, Handle, Tensor, descriptor, factors, ints, tensor};
use crate::driver::entry_points;
use crate::state::{Answer, forget, own};

#[derive(Clone, Default)]
struct Settings {
    mode: c_int,
    propagates_nan: bool,
    window: Vec<usize>,
    padding: Vec<usize>,
    strides: Vec<usize>,
}

#[derive(Default)]
struct Pooling(Mutex<Settings>);

/// `cudnnPoolingMode_t`.
const AVERAGE_INCLUDE_PADDING: c_int = 1;
const AVERAGE_EXCLUDE_PADDING: c_int = 2;

impl Settings {
    fn windows(&self, x: &Tensor, y: &Tensor) -> Answer<Windows> {
        let (x, y) = (&x.layout.extents, &y.layout.extents);
        let windows = Windows {
            x: three(&x[2..], 1).ok_or(BAD_PARAM)?,
            window: three(&self.window, 1).ok_or(BAD_PARAM)?,
            y: three(&y[2..], 1).ok_or(BAD_PARAM)?,
            padding: three(&self.padding, 0).ok_or(BAD_PARAM)?,
            strides: three(&self.strides, 1).ok_or(BAD_PARAM)?,
            dilations: [1; 3],
        };
        let fits = (0..3).all(|axis| {
            let padded = windows.x[axis] + 2 * windows.padding[axis];
            padded >= windows.window[axis]
                && windows.y[axis] == (padded - windows.window[axis]) / windows.strides[axis] + 1
        });
        if x[..2] == y[..2] && fits { Ok(windows) } else { Err(BAD_PARAM) }
    }

    fn is_average(&self) -> bool {
        self.mode == AVERAGE_INCLUDE_PADDING || self.mode == AVERAGE_EXCLUDE_PADDING
    }

    /// Returns the number by which the sum of a window with `inside` elements is divided.
    fn divisor(&self, windows: &Windows, inside: usize) -> f64 {
        if self.mode == AVERAGE_INCLUDE_PADDING { windows.taps() as f64 } else { inside as f64 }
    }

    /// Returns the place of the greatest element, the first of equal ones.
    fn greatest(&self, image: &[f64], places: &[(usize, usize)]) -> Option<usize> {
        let mut found: Option<usize> = None;
        for &(_, place) in places {
            let is_better = found.is_none_or(|best| {
                image[place] > image[best]
                    || self.propagates_nan && image[place].is_nan() && !image[best].is_nan()
                    || !self.propagates_nan && image[best].is_nan()
            });
            found = if is_better { Some(place) } else { found };
        }
        found
    }
}

entry_points! {
    fn cudnnCreatePoolingDescriptor(place: *mut *mut c_void) { descriptor::<Pooling>(place, "pooling descriptor") }
    fn cudnnSetPoolingNdDescriptor(
        raw: *mut c_void, mode: c_int, nan: c_int, rank: c_int, window: *const c_int, padding: *const c_int,
        strides: *const c_int,
    ) {
        if rank < 2 {
            return Err(BAD_PARAM);
        }
        let (window, padding, strides) = (ints(window, rank), ints(padding, rank), ints(strides, rank));
        *own::<Pooling>(raw, "cudnnSetPoolingNdDescriptor").0.lock() =
            Settings { mode, propagates_nan: nan == 1, window, padding, strides };
        Ok(())
    }
    fn cudnnDestroyPoolingDescriptor(raw: *mut c_void) {
        drop(forget::<Pooling>(raw, "cudnnDestroyPoolingDescriptor"));
        Ok(())
    }
    fn cudnnPoolingForward(
        handle: *mut c_void, pooling: *mut c_void, alpha: *const c_void, x_layout: *mut c_void, x: u64,
        beta: *const c_void, y_layout: *mut c_void, y: u64,
    ) {
        let call = "cudnnPoolingForward";
        let (stream, settings) = (Handle::stream(handle, call), own::<Pooling>(pooling, call).0.lock().clone());
        let (x, y) = (tensor(x_layout, x, call)?, tensor(y_layout, y, call)?);
        let (windows, factors) = (settings.windows(&x, &y)?, factors(&x, alpha, beta));
        stream.submit("pooling", move || {
            let (values, places) = (x.load()?, windows.places());
            let pooled = values.chunks_exact(windows.image()).flat_map(|image| {
                places.iter().map(|places| {
                    if settings.is_average() {
                        let sum: f64 = places.iter().map(|&(_, place)| image[place]).sum();
                        return sum / settings.divisor(&windows, places.len());
                    }
                    settings.greatest(image, places).map_or(f64::NEG_INFINITY, |place| image[place])
                })
            });
            y.blend(&pooled.collect::<Vec<_>>(), factors)
        })
    }
    fn cudnnPoolingBackward(
        handle: *mut c_void, pooling: *mut c_void, alpha: *const c_void, _y_layout: *mut c_void, _y: u64,
        dy_layout: *mut c_void, dy: u64, x_layout: *mut c_void, x: u64, beta: *const c_void, dx_layout: *mut c_void,
        dx: u64,
    ) {
        let call = "cudnnPoolingBackward";
        let (stream, settings) = (Handle::stream(handle, call), own::<Pooling>(pooling, call).0.lock().clone());
        let (dy, x, dx) = (tensor(dy_layout, dy, call)?, tensor(x_layout, x, call)?, tensor(dx_layout, dx, call)?);
        let (windows, factors) = (settings.windows(&x, &dy)?, factors(&x, alpha, beta));
        stream.submit("pooling's gradient", move || {
            let (values, gradients, places) = (x.load()?, dy.load()?, windows.places());
            let mut result = vec![0.0; values.len()];
            let images = values.chunks_exact(windows.image()).zip(result.chunks_exact_mut(windows.image()));
            for ((image, result), gradients) in images.zip(gradients.chunks_exact(windows.pixels())) {
                for (places, gradient) in places.iter().zip(gradients) {
                    if settings.is_average() {
                        let share = gradient / settings.divisor(&windows, places.len());
                        places.iter().for_each(|&(_, place)| result[place] += share);
                    } else if let Some(place) = settings.greatest(image, places) {
                        result[place] += gradient;
                    }
                }
            }
            dx.blend(&result, factors)
        })
    }
}
