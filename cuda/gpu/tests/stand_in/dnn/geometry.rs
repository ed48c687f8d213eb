//! Convolutions and poolings by their definition, in f64, over dense tensors with up to three
//! spatial directions.

/// The windows of a convolution or pooling.
#[derive(Clone)]
pub(super) struct Windows {
    pub(super) x: [usize; 3],
    pub(super) window: [usize; 3],
    pub(super) y: [usize; 3],
    pub(super) padding: [usize; 3],
    pub(super) strides: [usize; 3],
    pub(super) dilations: [usize; 3],
}

/// Returns three numbers, of which those that are missing are `fill`.
pub(super) fn three(numbers: &[usize], fill: usize) -> Option<[usize; 3]> {
    let mut all = [fill; 3];
    all.get_mut(..numbers.len())?.copy_from_slice(numbers);
    Some(all)
}

fn volume(extents: [usize; 3]) -> usize {
    extents.iter().product()
}

/// Calls `call` for every index, the last direction fastest.
fn each(extents: [usize; 3], mut call: impl FnMut([usize; 3])) {
    for a in 0..extents[0] {
        for b in 0..extents[1] {
            for c in 0..extents[2] {
                call([a, b, c]);
            }
        }
    }
}

impl Windows {
    pub(super) fn pixels(&self) -> usize {
        volume(self.y)
    }

    pub(super) fn taps(&self) -> usize {
        volume(self.window)
    }

    pub(super) fn image(&self) -> usize {
        volume(self.x)
    }

    /// Calls `call` with a pixel of the result, a tap of the window, and the place in the image,
    /// for each tap that lies within it.
    fn for_each(&self, mut call: impl FnMut(usize, usize, usize)) {
        let mut pixel = 0;
        each(self.y, |at| {
            let mut tap = 0;
            each(self.window, |offset| {
                let mut place = Some(0);
                for axis in 0..3 {
                    let position = at[axis] * self.strides[axis] + offset[axis] * self.dilations[axis];
                    let inside =
                        position.checked_sub(self.padding[axis]).filter(|&position| position < self.x[axis]);
                    place = place.zip(inside).map(|(place, inside)| place * self.x[axis] + inside);
                }
                if let Some(place) = place {
                    call(pixel, tap, place);
                }
                tap += 1;
            });
            pixel += 1;
        });
    }

    /// Returns, for each pixel, the elements of an image under its window with their taps.
    pub(super) fn places(&self) -> Vec<Vec<(usize, usize)>> {
        let mut places = vec![Vec::new(); self.pixels()];
        self.for_each(|pixel, tap, place| places[pixel].push((tap, place)));
        places
    }
}

/// A convolution: its windows, and the numbers of images, groups, and of channels in one group.
#[derive(Clone)]
pub(super) struct Convolution {
    pub(super) windows: Windows,
    pub(super) images: usize,
    pub(super) groups: usize,
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    pub(super) is_flipped: bool,
}

/// A row-major matrix, or its transpose.
type Matrix<'a> = (&'a [f64], bool);

/// Returns `a · b`, of extents `[m, k, n]`.
fn product((a, a_turned): Matrix<'_>, (b, b_turned): Matrix<'_>, [m, k, n]: [usize; 3]) -> Vec<f64> {
    let mut c = vec![0.0; m * n];
    let strides = |turned: bool, rows: usize, columns: usize| {
        if turned { (1, rows as isize) } else { (columns as isize, 1) }
    };
    let ((row_a, column_a), (row_b, column_b)) = (strides(a_turned, m, k), strides(b_turned, k, n));
    assert!(a.len() == m * k && b.len() == k * n, "matrices of these extents");
    // SAFETY: the matrices have the extents that are given, as was just checked, and the strides
    // are those of dense matrices or of their transposes.
    unsafe {
        matrixmultiply::dgemm(
            m,
            k,
            n,
            1.0,
            a.as_ptr(),
            row_a,
            column_a,
            b.as_ptr(),
            row_b,
            column_b,
            0.0,
            c.as_mut_ptr(),
            n as isize,
            1,
        );
    }
    c
}

impl Convolution {
    /// Returns the windows of one image and group as a matrix: a row for each channel and tap, a
    /// column for each pixel.
    fn patches(&self, x: &[f64]) -> Vec<f64> {
        let (pixels, taps) = (self.windows.pixels(), self.windows.taps());
        let mut patches = vec![0.0; self.inputs * taps * pixels];
        for channel in 0..self.inputs {
            let image = &x[channel * self.windows.image()..][..self.windows.image()];
            self.windows.for_each(|pixel, tap, place| {
                patches[(channel * taps + self.tap(tap)) * pixels + pixel] = image[place];
            });
        }
        patches
    }

    /// Returns the position in the filter of a tap.
    fn tap(&self, tap: usize) -> usize {
        if self.is_flipped { self.windows.taps() - 1 - tap } else { tap }
    }

    fn x_of(&self, image: usize, group: usize) -> std::ops::Range<usize> {
        let length = self.inputs * self.windows.image();
        let start = (image * self.groups + group) * length;
        start..start + length
    }

    fn y_of(&self, image: usize, group: usize) -> std::ops::Range<usize> {
        let length = self.outputs * self.windows.pixels();
        let start = (image * self.groups + group) * length;
        start..start + length
    }

    fn w_of(&self, group: usize) -> std::ops::Range<usize> {
        let length = self.outputs * self.rows();
        group * length..(group + 1) * length
    }

    fn rows(&self) -> usize {
        self.inputs * self.windows.taps()
    }

    fn parts(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let groups = self.groups;
        (0..self.images).flat_map(move |image| (0..groups).map(move |group| (image, group)))
    }

    pub(super) fn forward(&self, x: &[f64], w: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; self.images * self.groups * self.outputs * self.windows.pixels()];
        for (image, group) in self.parts() {
            let patches = self.patches(&x[self.x_of(image, group)]);
            let extents = [self.outputs, self.rows(), self.windows.pixels()];
            let part = product((&w[self.w_of(group)], false), (&patches, false), extents);
            y[self.y_of(image, group)].copy_from_slice(&part);
        }
        y
    }

    pub(super) fn backward_data(&self, w: &[f64], dy: &[f64]) -> Vec<f64> {
        let (pixels, taps) = (self.windows.pixels(), self.windows.taps());
        let mut dx = vec![0.0; self.images * self.groups * self.inputs * self.windows.image()];
        for (image, group) in self.parts() {
            let extents = [self.rows(), self.outputs, pixels];
            let patches =
                product((&w[self.w_of(group)], true), (&dy[self.y_of(image, group)], false), extents);
            let part = &mut dx[self.x_of(image, group)];
            for channel in 0..self.inputs {
                let gradient = &mut part[channel * self.windows.image()..][..self.windows.image()];
                self.windows.for_each(|pixel, tap, place| {
                    gradient[place] += patches[(channel * taps + self.tap(tap)) * pixels + pixel];
                });
            }
        }
        dx
    }

    pub(super) fn backward_filter(&self, x: &[f64], dy: &[f64]) -> Vec<f64> {
        let mut dw = vec![0.0; self.groups * self.outputs * self.rows()];
        for (image, group) in self.parts() {
            let patches = self.patches(&x[self.x_of(image, group)]);
            let extents = [self.outputs, self.windows.pixels(), self.rows()];
            let part = product((&dy[self.y_of(image, group)], false), (&patches, true), extents);
            dw[self.w_of(group)].iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
        dw
    }
}
