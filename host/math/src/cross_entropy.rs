//! Cross-entropy of logits with labels, together with its gradient.
//!
//! For a row `x` of logits and labels `p`: `loss = Σ p[c] · (ln Σ exp(x) - x[c])`, and the gradient
//! with respect to `x` is `softmax(x) · Σ p - p`; labels normally sum to one. A label of zero
//! contributes nothing to the loss, whatever its logit.

use std::marker::PhantomData;

use crate::error::check_len;
use crate::parallel::Chunks;
use crate::softmax::{EXP_COST, exp_row, row_max};
use crate::{BlockOp, Float, Number, ShapeError};

/// Class numbers as labels.
pub trait Labels: Copy + Send + Sync + 'static {
    /// Returns the class as a signed number.
    fn class(self) -> i64;
}

macro_rules! labels {
    ($($t:ty),*) => {$(
        impl Labels for $t {
            fn class(self) -> i64 { i64::from(self) }
        }
    )*};
}

labels!(u8, i32, i64);

/// The operands of a cross-entropy.
#[derive(Debug, Clone, Copy)]
pub struct CrossEntropyInput<'a, T, L> {
    /// `rows` × `cols` logits.
    pub logits: &'a [T],
    /// `rows` × `cols` probabilities, or `rows` classes for the sparse form.
    pub labels: &'a [L],
}

/// Both outputs: `rows` losses and `rows` × `cols` gradients.
type Outputs<'a, T> = (&'a mut [T], &'a mut [T]);

/// Cross-entropy with a probability for each class. Outputs: losses (`rows`), gradients (`rows` ×
/// `cols`).
#[derive(Debug, Clone)]
pub struct CrossEntropy<T> {
    cols: usize,
    losses: Chunks,
    gradients: Chunks,
    unit_mass: bool,
    element: PhantomData<fn(T) -> T>,
}

/// Cross-entropy with one class for each row. Outputs: losses (`rows`), gradients (`rows` ×
/// `cols`).
///
/// A class outside `0..cols` is [`ShapeError::Index`].
#[derive(Debug, Clone)]
pub struct SparseCrossEntropy<T, L> {
    dense: CrossEntropy<T>,
    label: PhantomData<fn(L)>,
}

impl<T: Float> CrossEntropy<T> {
    /// Plans `rows` rows over `cols` classes, of which there must be at least one.
    pub fn new(rows: usize, cols: usize) -> Result<Self, ShapeError> {
        if cols == 0 {
            return Err(ShapeError::Parameter("cross-entropy needs at least one class"));
        }
        let cost = cols.saturating_mul(EXP_COST);
        let (losses, gradients) = (Chunks::new(rows, 1, cost)?, Chunks::new(rows, cols, cost)?);
        Ok(Self { cols, losses, gradients, unit_mass: false, element: PhantomData })
    }

    /// Assumes that the labels of a row sum to one, even if they do not: the gradient is
    /// `softmax(x) - p`.
    #[must_use]
    pub fn unit_mass(mut self) -> Self {
        self.unit_mass = true;
        self
    }

    /// Runs a block. `label(row, logits)` returns the sum of the labels and the loss's term `Σ p ·
    /// (log_sum - x)`, and subtracts the labels from the gradient.
    fn block(
        &self,
        block: usize,
        logits: &[T],
        (losses, gradients): Outputs<'_, T>,
        mut row: impl FnMut(usize, Row<'_, T>) -> Result<T, ShapeError>,
    ) -> Result<(), ShapeError> {
        let rows = self.losses.units_of(block, losses.len())?;
        let range = self.gradients.elements_of(block, gradients.len())?;
        check_len("logits", self.gradients.len(), logits.len())?;
        let pieces = gradients.chunks_exact_mut(self.cols).zip(logits[range].chunks_exact(self.cols));
        for ((number, loss), (gradient, logits)) in rows.zip(losses).zip(pieces) {
            let max = row_max(logits);
            let sum = exp_row(gradient, logits, max);
            *loss = row(number, Row { logits, gradient, max, sum })?;
        }
        Ok(())
    }
}

/// One row of logits with the parts of its softmax.
struct Row<'a, T: Float> {
    logits: &'a [T],
    /// The gradient; before it is set, `exp(x - max)`.
    gradient: &'a mut [T],
    max: T,
    /// `Σ exp(x - max)`.
    sum: T::Acc,
}

impl<T: Float> Row<'_, T> {
    /// `-ln softmax(x)[class]`.
    fn surprise(&self, class: usize) -> T {
        T::from_acc(self.sum).ln().minus(self.logits[class].minus(self.max))
    }

    /// Sets the gradient to `mass · softmax(x) - p`.
    fn set_gradient(&mut self, mass: T::Acc, label: impl Fn(usize) -> T) {
        let scale = mass.over(self.sum);
        for (class, g) in self.gradient.iter_mut().enumerate() {
            *g = T::from_acc(g.to_acc().times(scale)).minus(label(class));
        }
    }
}

impl<T: Float> BlockOp for CrossEntropy<T> {
    type Input<'a> = CrossEntropyInput<'a, T, T>;
    type Output<'a> = Outputs<'a, T>;
    type Piece<'a> = Outputs<'a, T>;

    fn block_count(&self) -> usize {
        self.losses.block_count()
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        let (losses, gradients) = output;
        Ok(self.losses.split(losses)?.into_iter().zip(self.gradients.split(gradients)?).collect())
    }

    fn run_block(
        &self,
        block: usize,
        input: CrossEntropyInput<'_, T, T>,
        piece: Outputs<'_, T>,
    ) -> Result<(), ShapeError> {
        check_len("labels", self.gradients.len(), input.labels.len())?;
        self.block(block, input.logits, piece, |number, mut row| {
            let labels = &input.labels[number * self.cols..][..self.cols];
            let (mut loss, mut mass) = (T::Acc::ZERO, T::Acc::ZERO);
            for (class, &label) in labels.iter().enumerate() {
                mass = mass.plus(label.to_acc());
                if label != T::ZERO {
                    loss = loss.plus(label.to_acc().times(row.surprise(class).to_acc()));
                }
            }
            let mass = if self.unit_mass { T::Acc::ONE } else { mass };
            row.set_gradient(mass, |class| labels[class]);
            Ok(T::from_acc(loss))
        })
    }
}

impl<T: Float, L: Labels> SparseCrossEntropy<T, L> {
    /// Plans `rows` rows over `cols` classes, of which there must be at least one.
    pub fn new(rows: usize, cols: usize) -> Result<Self, ShapeError> {
        Ok(Self { dense: CrossEntropy::new(rows, cols)?, label: PhantomData })
    }
}

impl<T: Float, L: Labels> BlockOp for SparseCrossEntropy<T, L> {
    type Input<'a> = CrossEntropyInput<'a, T, L>;
    type Output<'a> = Outputs<'a, T>;
    type Piece<'a> = Outputs<'a, T>;

    fn block_count(&self) -> usize {
        self.dense.block_count()
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        self.dense.split(output)
    }

    fn run_block(
        &self,
        block: usize,
        input: CrossEntropyInput<'_, T, L>,
        piece: Outputs<'_, T>,
    ) -> Result<(), ShapeError> {
        let bound = self.dense.cols;
        check_len("labels", self.dense.losses.len(), input.labels.len())?;
        self.dense.block(block, input.logits, piece, |number, mut row| {
            let value = input.labels[number].class();
            let class = usize::try_from(value).ok().filter(|&class| class < bound);
            let class =
                class.ok_or(ShapeError::Index { operand: "labels", position: number, value, bound })?;
            row.set_gradient(T::Acc::ONE, |c| if c == class { T::ONE } else { T::ZERO });
            Ok(row.surprise(class))
        })
    }
}
