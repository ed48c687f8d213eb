//! Resizing of images, with gradients, and local response normalization.

use std::ops::Range;

use tfrt_host::{DType, Diagnostic};
use tfrt_math::{CastTo, Float, Number, ops};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, HostTensor, TensorMetadata, TensorShape, with_bits};

use super::support::{
    Computed, Described, Output, allocate, compute, float_attr, int_attr, invalid, one, operand_type,
    room_for, same, take, unsupported, vector, with_float, with_number, with_type,
};
use super::types;
use super::window::four;
use crate::{AttrSpec, CpuCall, MetadataCall, OpAttrs, OpRegistry, attr};

static ME: Accessor = Accessor::new("tf image op");

/// The mapping of a resized image's pixels to the original, along one axis.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    factor: f32,
    /// Whether pixels are squares with their positions in the middle, instead of points.
    half_pixels: bool,
    /// Whether the outermost pixels of both images coincide.
    aligned: bool,
}

impl Scale {
    fn new(attrs: &OpAttrs, from: usize, to: usize) -> Result<Self, Diagnostic> {
        let scale = Self::of_any(attrs, from, to)?;
        if scale.aligned && scale.half_pixels {
            return Err(invalid("If half_pixel_centers is True, align_corners must be False."));
        }
        Ok(scale)
    }

    /// Creates a mapping like [`Self::new`], for ops that allow both attributes at once.
    fn of_any(attrs: &OpAttrs, from: usize, to: usize) -> Result<Self, Diagnostic> {
        let flag = |name| Ok::<bool, Diagnostic>(attrs.optional(name)?.unwrap_or(false));
        let (aligned, half_pixels) = (flag("align_corners")?, flag("half_pixel_centers")?);
        let factor = match aligned && to > 1 {
            true => (from - 1) as f32 / (to - 1) as f32,
            false => from as f32 / to as f32,
        };
        Ok(Self { factor, half_pixels, aligned })
    }

    /// Returns the two pixels among `extent` that pixel `at` lies between, and its weight towards
    /// the second.
    pub(super) fn between(self, at: usize, extent: usize) -> (usize, usize, f32) {
        let place = match self.half_pixels {
            true => (at as f32 + 0.5) * self.factor - 0.5,
            false => at as f32 * self.factor,
        };
        let below = place.floor();
        // Positions outside the image are clamped to its border.
        let first = (below.max(0.0) as usize).min(extent - 1);
        (first, (place.ceil().max(0.0) as usize).min(extent - 1), place - below)
    }

    /// Returns the pixel among `extent` that is nearest to pixel `at`.
    pub(super) fn nearest(self, at: usize, extent: usize) -> usize {
        let place = match self.half_pixels {
            true => (at as f32 + 0.5) * self.factor,
            false => at as f32 * self.factor,
        };
        let place = if self.aligned { place.round() } else { place.floor() };
        (place as usize).min(extent - 1)
    }
}

/// Returns the height and width in a tensor.
pub(super) fn positive_size(size: &HostTensor) -> Result<[usize; 2], Diagnostic> {
    let size = match *vector(size, "size")? {
        [height, width] => [height, width].map(|extent| usize::try_from(extent).unwrap_or(0)),
        _ => return Err(invalid(format!("size must have two elements, got {}", size.shape()))),
    };
    if size.contains(&0) {
        return Err(invalid("output dimensions must be positive"));
    }
    Ok(size)
}

/// The extents of original and resized images, and the mappings between them.
pub(super) struct Sizes {
    /// The batch, height, width and channels of the original.
    pub(super) input: [usize; 4],
    /// The height and width of the resized images.
    pub(super) output: [usize; 2],
    /// The mappings along height and width.
    pub(super) scales: [Scale; 2],
}

impl Sizes {
    /// Computes the sizes for images of this shape and the size in a tensor.
    pub(super) fn new(attrs: &OpAttrs, images: &TensorShape, size: &HostTensor) -> Result<Self, Diagnostic> {
        let input @ [_, height, width, _] = four(images, "images")?;
        let output = positive_size(size)?;
        if height == 0 || width == 0 {
            return Err(invalid("input image must be of non-zero size"));
        }
        let scales = [Scale::new(attrs, height, output[0])?, Scale::new(attrs, width, output[1])?];
        Ok(Self { input, output, scales })
    }

    /// Returns the shape of the resized images.
    pub(super) fn dims(&self) -> [usize; 4] {
        [self.input[0], self.output[0], self.output[1], self.input[3]]
    }
}

/// A resized image.
struct Resized {
    out: DenseHostTensor,
    input: [usize; 4],
    output: [usize; 2],
    scales: [Scale; 2],
}

impl Resized {
    /// Allocates a result of this type, with the size in the second argument.
    fn new(call: &CpuCall<'_>, dtype: DType) -> Result<Self, Diagnostic> {
        let [images, size] = take(call)?;
        let sizes = Sizes::new(call.attrs, images.shape(), size)?;
        let out = allocate(call, dtype, &sizes.dims())?;
        let Sizes { input, output, scales } = sizes;
        Ok(Self { out, input, output, scales })
    }

    /// Returns the number of rows of the result, the number of elements of one, and its cost if an
    /// element costs `cost`.
    fn units(&self, cost: usize) -> (usize, usize, usize) {
        let unit = self.output[1].saturating_mul(self.input[3]);
        (self.out.num_elements().checked_div(unit).unwrap_or(0), unit, unit.saturating_mul(cost))
    }
}

/// Returns the source of each column of a result; empty if the result has no rows, however wide.
pub(super) fn resized_columns<C>(
    rows: usize,
    width: usize,
    f: impl Fn(usize) -> C,
) -> Result<Vec<C>, Diagnostic> {
    let width = if rows == 0 { 0 } else { width };
    let mut columns = room_for(width)?;
    columns.extend((0..width).map(f));
    Ok(columns)
}

/// Interpolates linearly between the four pixels around each position, in f32.
fn resize_bilinear<T: Element + CastTo<f32>>(call: &CpuCall<'_>) -> Computed {
    let resized = Resized::new(call, DType::F32)?;
    let (units, [_, height, width, channels]) = (resized.units(4), resized.input);
    let Resized { out, output, scales: [vertical, horizontal], .. } = resized;
    let columns = resized_columns(units.0, output[1], |x| horizontal.between(x, width))?;
    let image = call.arguments[0].dense()?.read_owned::<T>(&ME)?;
    compute(call, &ME, out, units, move |rows: Range<usize>, out: &mut [f32]| {
        for (row, out) in rows.zip(out.chunks_exact_mut(units.1.max(1))) {
            let (top, bottom, down) = vertical.between(row % output[0], height);
            let line = |y| &image[(row / output[0] * height + y) * width * channels..][..width * channels];
            let (top, bottom) = (line(top), line(bottom));
            for (out, &(left, right, along)) in out.chunks_exact_mut(channels).zip(&columns) {
                let mix = |line: &[T], c: usize| {
                    let (left, right): (f32, f32) =
                        (line[left * channels + c].cast_to(), line[right * channels + c].cast_to());
                    left + (right - left) * along
                };
                for (c, out) in out.iter_mut().enumerate() {
                    let (top, bottom) = (mix(top, c), mix(bottom, c));
                    *out = top + (bottom - top) * down;
                }
            }
        }
        Ok(())
    })
}

/// Selects the nearest pixel for each position.
fn resize_nearest<T: Element>(call: &CpuCall<'_>) -> Computed {
    let image = call.arguments[0].dense()?;
    let resized = Resized::new(call, image.dtype())?;
    let (units, [_, height, width, channels]) = (resized.units(1), resized.input);
    let Resized { out, output, scales: [vertical, horizontal], .. } = resized;
    let columns = resized_columns(units.0, output[1], |x| horizontal.nearest(x, width))?;
    let image = image.as_bits().read_owned::<T>(&ME)?;
    compute(call, &ME, Output::Bits(out), units, move |rows: Range<usize>, out: &mut [T]| {
        for (row, out) in rows.zip(out.chunks_exact_mut(units.1.max(1))) {
            let y = vertical.nearest(row % output[0], height);
            let line = &image[(row / output[0] * height + y) * width * channels..][..width * channels];
            for (out, &x) in out.chunks_exact_mut(channels).zip(&columns) {
                out.copy_from_slice(&line[x * channels..][..channels]);
            }
        }
        Ok(())
    })
}

/// The two pixels that a pixel of a resized image lies between, and its weight towards the second.
pub(super) trait Place: Fn(usize) -> (usize, usize, f32) + Send + Sync + 'static {}

impl<P: Fn(usize) -> (usize, usize, f32) + Send + Sync + 'static> Place for P {}

/// For each pixel of the original along one axis, the pixels of a resized image that take from it.
/// Positions never decrease along an axis, so these pixels are adjacent and need no list.
pub(super) struct Takers<P> {
    /// The number of pixels of the resized image.
    resized: usize,
    place: P,
}

impl<P: Place> Takers<P> {
    /// Returns the takers of `pixel`, then those of the next one, and so on.
    pub(super) fn from(&self, pixel: usize) -> impl Iterator<Item = Range<usize>> {
        let (mut first, mut beyond) = (0, self.resized);
        while first < beyond {
            let middle = first.midpoint(beyond);
            match (self.place)(middle).1 < pixel {
                true => first = middle + 1,
                false => beyond = middle,
            }
        }
        let mut takers = first..first;
        (pixel..).map(move |pixel| {
            while takers.end < self.resized && (self.place)(takers.end).0 <= pixel {
                takers.end += 1;
            }
            while takers.start < takers.end && (self.place)(takers.start).1 < pixel {
                takers.start += 1;
            }
            takers.clone()
        })
    }

    /// Returns the weights with which these takers use `pixel`. A taker that lies between a pixel
    /// and itself uses it twice.
    pub(super) fn weights(&self, takers: Range<usize>, pixel: usize) -> impl Iterator<Item = (usize, f32)> {
        takers.flat_map(move |taker| {
            let (first, second, near) = (self.place)(taker);
            let parts = [(first, 1.0 - near), (second, near)];
            parts.into_iter().filter(move |part| part.0 == pixel).map(move |part| (taker, part.1))
        })
    }
}

/// Returns the takers for linear interpolation.
pub(super) fn takers_between(
    attrs: &OpAttrs,
    extent: usize,
    resized: usize,
) -> Result<Takers<impl Place + use<>>, Diagnostic> {
    let scale = Scale::new(attrs, extent, resized)?;
    Ok(Takers { resized, place: move |at| scale.between(at, extent) })
}

/// Returns the takers for the nearest pixel. Both attributes may be set, which TensorFlow allows
/// for this gradient only.
pub(super) fn takers_nearest(
    attrs: &OpAttrs,
    extent: usize,
    resized: usize,
) -> Result<Takers<impl Place + use<>>, Diagnostic> {
    let scale = Scale::of_any(attrs, extent, resized)?;
    let place = move |at| {
        let nearest = scale.nearest(at, extent);
        (nearest, nearest, 0.0)
    };
    Ok(Takers { resized, place })
}

/// Computes the gradient of resizing: for each row of the original, `f` sums what the pixels of the
/// resized images took. It gets the row's position in its image, the resized image's gradient, and
/// the row.
fn resize_gradient<G: Element, T: Element>(
    call: &CpuCall<'_>,
    gradient: &DenseHostTensor,
    [height, width]: [usize; 2],
    f: impl Fn(usize, &[G], &mut [T]) + Send + Sync + 'static,
) -> Computed {
    let [batch, rows, columns, channels] = four(gradient.shape(), "grads")?;
    let metadata = TensorMetadata::new(T::DTYPE, TensorShape::new(&[batch, height, width, channels])?);
    let out = DenseHostTensor::allocate(metadata, call.cx.host().allocator())?;
    if gradient.num_elements() == 0 || out.num_elements() == 0 {
        return Ok(out.into());
    }
    let (unit, image) = (width * channels, rows * columns * channels);
    let cost = unit.saturating_add(image / height).saturating_mul(4);
    let gradient = gradient.read_owned::<G>(&ME)?;
    compute(call, &ME, out, (batch * height, unit, cost), move |range, out: &mut [T]| {
        for (row, out) in range.zip(out.chunks_exact_mut(unit)) {
            f(row % height, &gradient[row / height * image..][..image], out);
        }
        Ok(())
    })
}

fn bilinear_gradient_metadata(call: MetadataCall<'_>) -> Described {
    let [gradient, original] = call.take()?;
    if gradient.dtype != DType::F32 {
        return Err(invalid(format!("grads must be of type f32, got {}", gradient.dtype)));
    }
    let [batch, rows, columns, channels] = four(&gradient.shape, "grads")?;
    let [_, height, width, _] = four(&original.shape, "original_image")?;
    if [rows, columns, height, width].contains(&0) {
        return Err(invalid("resized and original dimensions must be positive"));
    }
    one(TensorMetadata::new(original.dtype, TensorShape::new(&[batch, height, width, channels])?))
}

/// Computes the gradient of linear interpolation: each pixel passes its gradient to the pixels
/// around it by their weights.
fn bilinear_gradient<T: Element + Float>(call: &CpuCall<'_>) -> Computed {
    let [gradient, original] = call.dense()?;
    let [_, rows, columns, channels] = four(gradient.shape(), "grads")?;
    let [_, height, width, _] = four(original.shape(), "original_image")?;
    let axis = |extent, resized| takers_between(call.attrs, extent, resized);
    let (vertical, horizontal) = (axis(height, rows)?, axis(width, columns)?);
    resize_gradient(call, gradient, [height, width], move |row, gradient: &[f32], out: &mut [T]| {
        let mut sums = vec![0.0; channels];
        let above = vertical.from(row).next().unwrap_or_default();
        for ((column, taken), out) in horizontal.from(0).enumerate().zip(out.chunks_exact_mut(channels)) {
            sums.fill(0.0);
            for (x, along) in horizontal.weights(taken, column) {
                for (y, down) in vertical.weights(above.clone(), row) {
                    let pixel = &gradient[(y * columns + x) * channels..][..channels];
                    let given = pixel.iter().map(|pixel| f64::from(pixel * down * along));
                    sums.iter_mut().zip(given).for_each(|(sum, given)| *sum += given);
                }
            }
            out.iter_mut().zip(&sums).for_each(|(out, &sum)| *out = T::from_f64(sum));
        }
    })
}

/// Computes the gradient of nearest-pixel resizing: each pixel passes its gradient to its nearest
/// pixel.
fn nearest_gradient<T: Element + Number>(call: &CpuCall<'_>) -> Computed {
    let [gradient, size] = take(call)?;
    let gradient = gradient.dense()?;
    let [_, rows, columns, channels] = four(gradient.shape(), "grads")?;
    let [height, width] = positive_size(size)?;
    let axis = |extent, resized| takers_nearest(call.attrs, extent, resized);
    let (vertical, horizontal) = (axis(height, rows)?, axis(width, columns)?);
    resize_gradient(call, gradient, [height, width], move |row, gradient: &[T], out: &mut [T]| {
        let above = vertical.from(row).next().unwrap_or_default();
        // The gradient starts as zeros.
        for (taken, out) in horizontal.from(0).zip(out.chunks_exact_mut(channels)) {
            for place in above.clone().flat_map(|y| taken.clone().map(move |x| y * columns + x)) {
                let pixel = &gradient[place * channels..][..channels];
                out.iter_mut().zip(pixel).for_each(|(out, &given)| *out = ops::add(*out, given));
            }
        }
    })
}

/// Normalization of each element by those of adjacent channels: `x · (bias + alpha · Σ x²)^-beta`.
#[derive(Clone, Copy)]
pub(super) struct Response {
    pub(super) radius: usize,
    pub(super) bias: f32,
    pub(super) alpha: f32,
    pub(super) beta: f32,
}

impl Response {
    pub(super) fn of(attrs: &OpAttrs) -> Result<Self, Diagnostic> {
        let number =
            |name, otherwise| Ok::<_, Diagnostic>(float_attr(attrs, name)?.unwrap_or(otherwise) as f32);
        let radius = int_attr(attrs, "depth_radius")?.unwrap_or(5);
        let radius = usize::try_from(radius)
            .map_err(|_| invalid(format!("depth_radius must not be negative, got {radius}")))?;
        Ok(Self {
            radius,
            bias: number("bias", 1.0)?,
            alpha: number("alpha", 1.0)?,
            beta: number("beta", 0.5)?,
        })
    }

    /// Returns the channels near one.
    fn near(self, channel: usize, depth: usize) -> Range<usize> {
        channel.saturating_sub(self.radius)..channel.saturating_add(self.radius).saturating_add(1).min(depth)
    }

    /// Computes the base of the power that each element of a pixel is divided by.
    fn norms(self, pixel: &[f32], norms: &mut [f32]) {
        for (channel, norm) in norms.iter_mut().enumerate() {
            let sum: f32 = pixel[self.near(channel, pixel.len())].iter().map(|x| x * x).sum();
            *norm = self.bias + self.alpha * sum;
        }
    }

    fn cost(self, depth: usize) -> usize {
        // The cost of a power and of the adjacent channels.
        depth.saturating_mul(self.radius.min(depth).saturating_mul(2).saturating_add(20))
    }
}

fn response<T: Element + Float>(call: &CpuCall<'_>) -> Computed {
    let ([x], out, response) = (call.dense()?, call.allocate_unset(0)?, Response::of(call.attrs)?);
    let [_, _, _, depth] = four(x.shape(), "in")?;
    let (x, pixels) = (x.read_owned::<T>(&ME)?, out.num_elements().checked_div(depth).unwrap_or(0));
    compute(call, &ME, out, (pixels, depth, response.cost(depth)), move |pixels, out: &mut [T]| {
        let (mut pixel, mut norms) = (vec![0.0; depth], vec![0.0; depth]);
        for (i, out) in pixels.zip(out.chunks_exact_mut(depth.max(1))) {
            widen(&x[i * depth..][..depth], &mut pixel);
            response.norms(&pixel, &mut norms);
            for ((out, x), norm) in out.iter_mut().zip(&pixel).zip(&norms) {
                *out = T::from_f64(f64::from(x * norm.powf(-response.beta)));
            }
        }
        Ok(())
    })
}

fn widen<T: Float>(from: &[T], to: &mut [f32]) {
    from.iter().zip(to).for_each(|(from, to)| *to = from.to_f64() as f32);
}

fn response_gradient_metadata(call: MetadataCall<'_>) -> Described {
    let [gradient, x, y] = call.take()?;
    if gradient != x || x != y {
        return Err(invalid(format!(
            "input_grads, input_image, and output_image should have the same shape: {gradient}, {x} and {y}"
        )));
    }
    four(&x.shape, "input_grads")?;
    one(x.clone())
}

/// Computes `dx_k = dy_k · norm_k^-beta - 2 · alpha · beta · x_k · Σ dy_j · y_j / norm_j`, where
/// `j` runs over the channels near `k`.
fn response_gradient<T: Element + Float>(call: &CpuCall<'_>) -> Computed {
    let ([dy, x, y], out, response) = (call.dense()?, call.allocate_unset(0)?, Response::of(call.attrs)?);
    let [_, _, _, depth] = four(x.shape(), "input_image")?;
    let operands = [dy.read_owned::<T>(&ME)?, x.read_owned::<T>(&ME)?, y.read_owned::<T>(&ME)?];
    let pixels = out.num_elements().checked_div(depth).unwrap_or(0);
    compute(call, &ME, out, (pixels, depth, response.cost(depth)), move |pixels, out: &mut [T]| {
        let [mut dy, mut x, mut y] = [(); 3].map(|()| vec![0.0; depth]);
        let mut norms = vec![0.0; depth];
        for (i, out) in pixels.zip(out.chunks_exact_mut(depth.max(1))) {
            for (from, to) in operands.iter().zip([&mut dy, &mut x, &mut y]) {
                widen(&from[i * depth..][..depth], to);
            }
            response.norms(&x, &mut norms);
            // Replaces each result by what it adds to adjacent channels.
            for ((y, dy), norm) in y.iter_mut().zip(&dy).zip(&norms) {
                *y *= dy / norm;
            }
            for (k, out) in out.iter_mut().enumerate() {
                let sum: f32 = y[response.near(k, depth)].iter().sum();
                let own = dy[k] * norms[k].powf(-response.beta);
                *out = T::from_f64(f64::from(own - 2.0 * response.alpha * response.beta * x[k] * sum));
            }
        }
        Ok(())
    })
}

fn response_metadata(call: MetadataCall<'_>) -> Described {
    let [x] = call.take()?;
    four(&x.shape, "in")?;
    same(call)
}

const RESIZED: [AttrSpec; 2] =
    [attr::boolean_or("align_corners", false), attr::boolean_or("half_pixel_centers", false)];

const RESPONSE: [AttrSpec; 4] = [
    attr::int_or("depth_radius", 5),
    attr::float_or("bias", 1.0),
    attr::float_or("alpha", 1.0),
    attr::float_or("beta", 0.5),
];

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.ResizeBilinear")
        .types(types::NUMBERS)
        .attrs(RESIZED)
        .cpu(|call| with_number!(operand_type(&call)?, "tf.ResizeBilinear", |T| resize_bilinear::<T>(&call)));
    ops.add("tf.ResizeNearestNeighbor").types(types::ELEMENTS).attrs(RESIZED).cpu(|call| {
        let dtype = operand_type(&call)?;
        with_bits!(
            dtype,
            |T| resize_nearest::<T>(&call),
            else Err(unsupported("tf.ResizeNearestNeighbor", dtype))
        )
    });
    ops.add("tf.ResizeBilinearGrad")
        .types(types::FLOATS)
        .attrs(RESIZED)
        .metadata(bilinear_gradient_metadata)
        .cpu(|call| {
            with_float!(call.result(0)?.dtype, "tf.ResizeBilinearGrad", |T| bilinear_gradient::<T>(&call))
        });
    ops.add("tf.ResizeNearestNeighborGrad").types(types::NUMBERS).attrs(RESIZED).cpu(|call| {
        with_number!(operand_type(&call)?, "tf.ResizeNearestNeighborGrad", |T| nearest_gradient::<T>(&call))
    });
    macro_rules! floats {
        ($($name:literal, $metadata:path => $f:ident;)*) => {$(
            ops.add($name).types(types::NARROW_FLOATS).attrs(RESPONSE).metadata($metadata).cpu(|call| {
                with_type!(call.result(0)?.dtype, $name, |T| $f::<T>(&call),
                    F16 tfrt_tensor::f16, BF16 tfrt_tensor::bf16, F32 f32)
            });
        )*};
    }
    floats! {
        "tf.LRN", response_metadata => response;
        "tf.LRNGrad", response_gradient_metadata => response_gradient;
    }
}
