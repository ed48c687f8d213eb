//! The product itself, in blocks of columns.

use super::kernel::{ByteKernel, ByteTile, ROWS, Sums, Tile, byte_kernel, floats};
use super::left::Numbers;
use super::{COLS, NarrowMatrix, NarrowRows, NarrowScales, NarrowShape, NarrowZeros, QUAD};
use crate::error::check_len;
use crate::matmul::choose_tiles;
use crate::shape::element_count;
use crate::tile::Grid;
use crate::{BlockOp, ShapeError, TileMut};

/// How many times as fast as products of floating-point numbers these are, about.
const FASTER: usize = 3;

/// The operands of [`NarrowProduct`].
#[derive(Debug, Clone, Copy)]
pub struct NarrowInput<'a> {
    /// The left operand.
    pub rows: &'a NarrowRows,
    /// The right operand.
    pub matrix: &'a NarrowMatrix,
    /// Its scales.
    pub scales: &'a NarrowScales,
    /// What stands for zero in it. If there is nothing, that is the number in the middle: 8 of 4
    /// bits.
    pub zeros: Option<&'a NarrowZeros>,
    /// Added to each row, if any: a number for each column.
    pub bias: Option<&'a [f32]>,
}

/// The product of rows by a matrix of narrow integers, `y = Σ a · (b − zero) · scale + bias`.
///
/// A block owns some columns of some rows.
#[derive(Debug, Clone)]
pub struct NarrowProduct {
    shape: NarrowShape,
    grid: Grid,
}

impl NarrowProduct {
    /// Plans the product of `rows` rows by a matrix of this shape for about `workers` threads at a
    /// time.
    ///
    /// # Errors
    /// TooLarge if an operand is.
    pub fn new(shape: NarrowShape, rows: usize, workers: usize) -> Result<Self, ShapeError> {
        let cols = shape.cols();
        element_count(&[rows, shape.depth()])?;
        element_count(&[rows, cols])?;
        let (tile_rows, tile_cols) = choose_tiles(1, rows, shape.depth().div_ceil(FASTER), cols, workers);
        let tile_cols = tile_cols.checked_next_multiple_of(COLS).ok_or(ShapeError::TooLarge)?;
        Ok(Self { shape, grid: Grid { tile_rows, tile_cols, ..Grid::whole(rows, cols) } })
    }

    fn check(&self, input: &NarrowInput<'_>) -> Result<(), ShapeError> {
        let shapes = [Some(input.matrix.shape()), Some(input.scales.shape())];
        let zeros = input.zeros.map(NarrowZeros::shape);
        if shapes.into_iter().chain([zeros]).flatten().any(|shape| *shape != self.shape) {
            return Err(ShapeError::Parameter("the matrix, its scales and its zeros must have one shape"));
        }
        check_len("rows of the left operand", self.grid.rows, input.rows.rows)?;
        check_len("a row", self.shape.blocks() * self.shape.block(), input.rows.stride)?;
        input.bias.map_or(Ok(()), |bias| check_len("bias", self.shape.cols(), bias.len()))
    }

    /// Computes some rows of a panel. Those of bytes are the `kernel`'s.
    fn tile(
        &self,
        input: &NarrowInput<'_>,
        kernel: ByteKernel,
        (panel, first, rows): (usize, usize, usize),
        out: &mut Sums,
    ) {
        let (stride, blocks) = (input.rows.stride / QUAD, self.shape.blocks());
        let fields = 8 / self.shape.bits();
        macro_rules! tile {
            ($left:expr) => {
                Tile {
                    left: &$left[first * stride..(first + rows) * stride],
                    stride,
                    chunks: input.matrix.panel(panel),
                    each: self.shape.block() / self.shape.chunk_rows(),
                    scales: input.scales.panel(panel),
                    zeros: input.zeros.map(|zeros| zeros.panel(panel)),
                    middle: self.shape.middle(),
                }
            };
        }
        match &input.rows.numbers {
            Numbers::Floats(numbers) => floats(fields, rows, &tile!(numbers.as_chunks().0), out),
            Numbers::Bytes { bytes, scales, sums } => {
                let own = first * blocks..(first + rows) * blocks;
                let tile = ByteTile { tile: tile!(bytes), scales: &scales[own.clone()], sums: &sums[own] };
                kernel(fields, rows, &tile, out);
            }
        }
    }
}

impl BlockOp for NarrowProduct {
    type Input<'a> = NarrowInput<'a>;
    type Output<'a> = &'a mut [f32];
    type Piece<'a> = TileMut<'a, f32>;

    fn block_count(&self) -> usize {
        self.grid.tile_count()
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        check_len("output", self.grid.len()?, output.len())?;
        TileMut::grid(output, &self.grid)
    }

    fn run_block(
        &self,
        block: usize,
        input: NarrowInput<'_>,
        mut piece: TileMut<'_, f32>,
    ) -> Result<(), ShapeError> {
        let at = self.grid.tile(block)?;
        piece.check(&at)?;
        self.check(&input)?;
        let (kernel, mut sums) = (byte_kernel(), [[0.0; COLS]; ROWS]);
        for first in (0..at.cols).step_by(COLS) {
            let (cols, col) = (COLS.min(at.cols - first), at.col + first);
            for start in (0..at.rows).step_by(ROWS) {
                let rows = ROWS.min(at.rows - start);
                self.tile(&input, kernel, (col / COLS, at.row + start, rows), &mut sums);
                for (row, sums) in sums.iter_mut().enumerate().take(rows) {
                    if let Some(bias) = input.bias {
                        sums.iter_mut().zip(&bias[col..][..cols]).for_each(|(sum, bias)| *sum += bias);
                    }
                    piece.row_mut(start + row)[first..][..cols].copy_from_slice(&sums[..cols]);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::NarrowPrecision;
    use super::super::kernel::{ByteKernel, portable};
    use super::*;
    use crate::Serial;

    /// Bytes without a pattern.
    fn bytes(count: usize, seed: u32) -> Vec<u8> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..count).map(|_| next()).collect()
    }

    fn floats_of(count: usize, seed: u32) -> Vec<f32> {
        bytes(count, seed).into_iter().map(|byte| (f32::from(byte) - 128.0) / 64.0).collect()
    }

    struct Case {
        shape: NarrowShape,
        rows: usize,
        left: Vec<f32>,
        packed: Vec<u8>,
        scales: Vec<f32>,
        zeros: Option<Vec<u8>>,
    }

    impl Case {
        fn new(
            (rows, depth, cols): (usize, usize, usize),
            block: usize,
            bits: usize,
            has_zeros: bool,
        ) -> Self {
            let shape = NarrowShape::new([depth, cols], block, bits).unwrap();
            Self {
                shape,
                rows,
                left: floats_of(rows * depth, 1),
                packed: bytes(cols * shape.column_bytes(), 2),
                scales: floats_of(cols * shape.blocks(), 3),
                zeros: has_zeros.then(|| bytes(cols * shape.zero_bytes(), 4)),
            }
        }

        fn run(&self, precision: NarrowPrecision, bias: Option<&[f32]>) -> Vec<f32> {
            let Self { shape, rows, .. } = *self;
            let matrix = NarrowMatrix::new(shape, &self.packed).unwrap();
            let scales = NarrowScales::new(shape, &self.scales).unwrap();
            let zeros = self.zeros.as_ref().map(|zeros| NarrowZeros::new(shape, zeros).unwrap());
            let left = NarrowRows::new(&shape, precision, rows, &self.left).unwrap();
            let plan = NarrowProduct::new(shape, rows, 3).unwrap();
            let mut out = vec![7.0; rows * shape.cols()];
            let input =
                NarrowInput { rows: &left, matrix: &matrix, scales: &scales, zeros: zeros.as_ref(), bias };
            plan.run(&Serial, input, &mut out).unwrap();
            out
        }

        /// The integer in place `at` of packed ones.
        fn integer(&self, bytes: &[u8], at: usize) -> f64 {
            let bits = self.shape.bits();
            f64::from(bytes[at * bits / 8] >> (at * bits % 8)) % f64::from(1u32 << bits)
        }

        fn weight(&self, k: usize, col: usize) -> f64 {
            let block = k / self.shape.block();
            let integer = self.integer(&self.packed[col * self.shape.column_bytes()..], k);
            let zero = match &self.zeros {
                Some(zeros) => self.integer(&zeros[col * self.shape.zero_bytes()..], block),
                None => f64::from(1 << (self.shape.bits() - 1)),
            };
            (integer.floor() - zero.floor()) * f64::from(self.scales[col * self.shape.blocks() + block])
        }

        /// The left operand as bytes stand for it.
        fn rounded(&self) -> Vec<f32> {
            let mut all = self.left.clone();
            for row in all.chunks_exact_mut(self.shape.depth().max(1)) {
                for block in row.chunks_mut(self.shape.block()) {
                    let scale = block.iter().fold(0.0f32, |most, x| most.max(x.abs())) / 127.0;
                    block.iter_mut().for_each(|x| *x = (*x * (1.0 / scale)).round_ties_even() * scale);
                }
            }
            all
        }

        fn check(&self, precision: NarrowPrecision, left: &[f32]) {
            let (depth, cols) = (self.shape.depth(), self.shape.cols());
            let bias = floats_of(cols, 5);
            let out = self.run(precision, Some(&bias));
            for (at, &found) in out.iter().enumerate() {
                let (row, col) = (at / cols, at % cols);
                let products = (0..depth).map(|k| f64::from(left[row * depth + k]) * self.weight(k, col));
                let (sum, size) = products.fold((0.0, 1.0), |(sum, size), x| (sum + x, size + x.abs()));
                let expected = sum + f64::from(bias[col]);
                let error = (f64::from(found) - expected).abs() / size;
                assert!(error < 1e-5, "{:?} {at}: {found}, not {expected}", self.shape);
            }
        }
    }

    const EXTENTS: [(usize, usize, usize); 6] =
        [(1, 64, 16), (1, 100, 37), (5, 33, 50), (13, 256, 130), (3, 0, 5), (0, 32, 16)];

    #[test]
    fn products_are_those_of_the_definition() {
        for (bits, block) in [(4, 32), (4, 16), (4, 128), (8, 32), (2, 64), (2, 16)] {
            for (extents, has_zeros) in EXTENTS.into_iter().flat_map(|e| [(e, true), (e, false)]) {
                let case = Case::new(extents, block, bits, has_zeros);
                case.check(NarrowPrecision::F32, &case.left);
                case.check(NarrowPrecision::Bytes, &case.rounded());
            }
        }
    }

    /// The greatest integers, whose products do not fit into 16 bits, among them.
    #[test]
    fn tiles_are_alike_on_every_processor() {
        #[cfg(target_arch = "x86_64")]
        let kernels: Vec<ByteKernel> = super::super::x86::kernels().collect();
        #[cfg(not(target_arch = "x86_64"))]
        let kernels: Vec<ByteKernel> = vec![];
        for bits in [2, 4, 8] {
            let mut case = Case::new((ROWS, 96, COLS), 32, bits, true);
            case.packed[..200].fill(255);
            case.left[..64].fill(2.0);
            let matrix = NarrowMatrix::new(case.shape, &case.packed).unwrap();
            let scales = NarrowScales::new(case.shape, &case.scales).unwrap();
            let zeros = NarrowZeros::new(case.shape, case.zeros.as_ref().unwrap()).unwrap();
            let left = NarrowRows::new(&case.shape, NarrowPrecision::Bytes, ROWS, &case.left).unwrap();
            let Numbers::Bytes { bytes, scales: of_rows, sums } = &left.numbers else { unreachable!() };
            let tile = Tile {
                left: bytes,
                stride: 96 / QUAD,
                chunks: matrix.panel(0),
                each: 32 / case.shape.chunk_rows(),
                scales: scales.panel(0),
                zeros: Some(zeros.panel(0)),
                middle: 0,
            };
            let tile = ByteTile { tile, scales: of_rows, sums };
            for rows in 1..=ROWS {
                let mut expected = [[0.0; COLS]; ROWS];
                portable(8 / bits, rows, &tile, &mut expected);
                for kernel in &kernels {
                    let mut found = [[0.0; COLS]; ROWS];
                    kernel(8 / bits, rows, &tile, &mut found);
                    for (found, expected) in found.iter().zip(&expected).flat_map(|(a, b)| a.iter().zip(b)) {
                        assert!((found - expected).abs() <= 1e-3, "{found}, not {expected}");
                    }
                }
            }
        }
    }

    #[test]
    fn rows_that_are_not_finite_give_nan() {
        for value in [f32::NAN, f32::INFINITY] {
            let mut case = Case::new((2, 64, 16), 32, 4, false);
            case.left[70] = value;
            let out = case.run(NarrowPrecision::Bytes, None);
            assert!(out[..16].iter().all(|x| x.is_finite()) && out[16..].iter().all(|x| x.is_nan()));
        }
        // Numbers too small to be divided are zero.
        let mut case = Case::new((1, 32, 16), 32, 4, false);
        case.left.fill(1e-44);
        assert!(case.run(NarrowPrecision::Bytes, None).iter().all(|&x| x == 0.0));
    }

    #[test]
    fn operands_that_do_not_fit_are_errors() {
        assert!(NarrowShape::new([32, 16], 24, 4).is_err() && NarrowShape::new([32, 16], 32, 3).is_err());
        assert!(NarrowShape::new([usize::MAX, 16], 32, 4).is_err());
        let case = Case::new((2, 64, 16), 32, 4, true);
        let shape = case.shape;
        assert!(NarrowMatrix::new(shape, &case.packed[1..]).is_err());
        assert!(NarrowScales::new(shape, &case.scales[1..]).is_err());
        assert!(NarrowZeros::new(shape, &case.packed[..1]).is_err());
        assert!(NarrowRows::new(&shape, NarrowPrecision::F32, 3, &case.left).is_err());
        let matrix = NarrowMatrix::new(shape, &case.packed).unwrap();
        let scales = NarrowScales::new(shape, &case.scales).unwrap();
        let rows = NarrowRows::new(&shape, NarrowPrecision::F32, 2, &case.left).unwrap();
        let input = NarrowInput { rows: &rows, matrix: &matrix, scales: &scales, zeros: None, bias: None };
        let run = |shape, rows, input, len: usize| {
            NarrowProduct::new(shape, rows, 1).unwrap().run(&Serial, input, &mut vec![0.0; len])
        };
        assert!(run(shape, 2, input, 32).is_ok() && run(shape, 2, input, 31).is_err());
        assert!(run(shape, 1, input, 16).is_err());
        assert!(run(NarrowShape::new([64, 16], 16, 4).unwrap(), 2, input, 32).is_err());
        assert!(run(shape, 2, NarrowInput { bias: Some(&[1.0]), ..input }, 32).is_err());
    }
}
