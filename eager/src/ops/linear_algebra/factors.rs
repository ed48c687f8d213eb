//! Factorizations of one matrix in double precision, row-major.

/// A matrix of `rows` by `columns`.
#[derive(Clone, Debug)]
pub(super) struct Matrix {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) values: Vec<f64>,
}

impl Matrix {
    pub(super) fn new(rows: usize, columns: usize, values: Vec<f64>) -> Self {
        Self { rows, columns, values }
    }

    pub(super) fn zeros(rows: usize, columns: usize) -> Self {
        Self::new(rows, columns, vec![0.0; rows * columns])
    }

    /// A lower triangle of NaN.
    pub(super) fn not_a_number(size: usize) -> Self {
        let mut matrix = Self::zeros(size, size);
        (0..size).for_each(|row| matrix.values[row * size..][..=row].fill(f64::NAN));
        matrix
    }

    pub(super) fn identity(size: usize) -> Self {
        let mut matrix = Self::zeros(size, size);
        (0..size).for_each(|i| *matrix.at(i, i) = 1.0);
        matrix
    }

    pub(super) fn get(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.columns + column]
    }

    pub(super) fn at(&mut self, row: usize, column: usize) -> &mut f64 {
        &mut self.values[row * self.columns + column]
    }

    pub(super) fn transposed(&self) -> Self {
        let mut matrix = Self::zeros(self.columns, self.rows);
        for row in 0..self.rows {
            for column in 0..self.columns {
                *matrix.at(column, row) = self.get(row, column);
            }
        }
        matrix
    }

    #[cfg(test)]
    pub(super) fn times(&self, other: &Self) -> Self {
        let mut product = Self::zeros(self.rows, other.columns);
        for row in 0..self.rows {
            for inner in 0..self.columns {
                let factor = self.get(row, inner);
                for column in 0..other.columns {
                    *product.at(row, column) += factor * other.get(inner, column);
                }
            }
        }
        product
    }

    fn swap_rows(&mut self, a: usize, b: usize) {
        for column in 0..self.columns {
            self.values.swap(a * self.columns + column, b * self.columns + column);
        }
    }
}

/// The lower triangular factor of a symmetric matrix, of which the lower triangle is read; `None`
/// if it is not positive definite.
pub(super) fn cholesky(x: &Matrix) -> Option<Matrix> {
    let mut l = Matrix::zeros(x.rows, x.rows);
    for i in 0..x.rows {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| l.get(i, k) * l.get(j, k)).sum();
            let rest = x.get(i, j) - sum;
            *l.at(i, j) = match i == j {
                true if rest > 0.0 => rest.sqrt(),
                true => return None,
                false => rest / l.get(j, j),
            };
        }
    }
    Some(l)
}

/// Both triangular factors in one matrix, the order of rows, and the sign of that order.
pub(super) fn lu(mut x: Matrix) -> (Matrix, Vec<usize>, f64) {
    let mut order: Vec<usize> = (0..x.rows).collect();
    let mut sign = 1.0;
    for step in 0..x.rows.min(x.columns) {
        let size = |row: usize| x.get(row, step).abs();
        let pivot = (step..x.rows).fold(step, |best, row| if size(row) > size(best) { row } else { best });
        if pivot != step {
            x.swap_rows(pivot, step);
            order.swap(pivot, step);
            sign = -sign;
        }
        let divisor = x.get(step, step);
        if divisor == 0.0 {
            continue;
        }
        for row in step + 1..x.rows {
            let factor = x.get(row, step) / divisor;
            *x.at(row, step) = factor;
            for column in step + 1..x.columns {
                *x.at(row, column) -= factor * x.get(step, column);
            }
        }
    }
    (x, order, sign)
}

/// The solution of a system of equations; `None` if the matrix is singular.
pub(super) fn solve(a: Matrix, b: &Matrix) -> Option<Matrix> {
    let size = a.rows;
    let (factors, order, _) = lu(a);
    if (0..size).any(|i| factors.get(i, i) == 0.0) {
        return None;
    }
    let mut x = Matrix::zeros(size, b.columns);
    for (row, &from) in order.iter().enumerate() {
        for column in 0..b.columns {
            *x.at(row, column) = b.get(from, column);
        }
    }
    substitute(&factors, &mut x, true, true);
    substitute(&factors, &mut x, false, false);
    Some(x)
}

/// Solves with a triangle of a matrix in place; `is_unit` says that its diagonal is one.
pub(super) fn substitute(a: &Matrix, x: &mut Matrix, is_lower: bool, is_unit: bool) {
    let size = a.rows;
    for step in 0..size {
        let row = if is_lower { step } else { size - 1 - step };
        let others = if is_lower { 0..row } else { row + 1..size };
        for column in 0..x.columns {
            let sum: f64 = others.clone().map(|k| a.get(row, k) * x.get(k, column)).sum();
            let rest = x.get(row, column) - sum;
            *x.at(row, column) = if is_unit { rest } else { rest / a.get(row, row) };
        }
    }
}

/// An orthogonal and an upper triangular factor, by Householder's reflections.
pub(super) fn qr(mut x: Matrix) -> (Matrix, Matrix) {
    let mut q = Matrix::identity(x.rows);
    for step in 0..x.columns.min(x.rows) {
        let tail: f64 = (step + 1..x.rows).map(|row| x.get(row, step).powi(2)).sum();
        let head = x.get(step, step);
        if tail == 0.0 {
            continue;
        }
        let norm = (head * head + tail).sqrt();
        let beta = if head >= 0.0 { -norm } else { norm };
        let mut v: Vec<f64> = (step..x.rows).map(|row| x.get(row, step)).collect();
        v[0] = head - beta;
        let square: f64 = v.iter().map(|value| value * value).sum();
        for column in step..x.columns {
            let along: f64 = v.iter().zip(step..).map(|(value, row)| value * x.get(row, column)).sum();
            let factor = 2.0 * along / square;
            v.iter().zip(step..).for_each(|(value, row)| *x.at(row, column) -= factor * value);
        }
        for row in 0..q.rows {
            let along: f64 = v.iter().zip(step..).map(|(value, column)| value * q.get(row, column)).sum();
            let factor = 2.0 * along / square;
            v.iter().zip(step..).for_each(|(value, column)| *q.at(row, column) -= factor * value);
        }
        (step + 1..x.rows).for_each(|row| *x.at(row, step) = 0.0);
    }
    (q, x)
}

const MAX_SWEEPS: usize = 60;

/// The eigenvalues of a symmetric matrix in ascending order and its eigenvectors in columns, by
/// Jacobi's rotations. The lower triangle is read.
pub(super) fn eigen(x: &Matrix) -> (Vec<f64>, Matrix) {
    let size = x.rows;
    let mut a = x.clone();
    for row in 0..size {
        for column in row + 1..size {
            *a.at(row, column) = x.get(column, row);
        }
    }
    let mut vectors = Matrix::identity(size);
    let norm: f64 = a.values.iter().map(|value| value * value).sum();
    for _ in 0..MAX_SWEEPS {
        let off: f64 =
            (0..size).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a.get(i, j).powi(2)).sum();
        if off <= norm * 1e-32 {
            break;
        }
        for p in 0..size {
            for q in p + 1..size {
                let apq = a.get(p, q);
                if apq == 0.0 {
                    continue;
                }
                let theta = (a.get(q, q) - a.get(p, p)) / (2.0 * apq);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for k in 0..size {
                    let (x, y) = (a.get(k, p), a.get(k, q));
                    (*a.at(k, p), *a.at(k, q)) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..size {
                    let (x, y) = (a.get(p, k), a.get(q, k));
                    (*a.at(p, k), *a.at(q, k)) = (c * x - s * y, s * x + c * y);
                    let (x, y) = (vectors.get(k, p), vectors.get(k, q));
                    (*vectors.at(k, p), *vectors.at(k, q)) = (c * x - s * y, s * x + c * y);
                }
            }
        }
    }
    let mut order: Vec<usize> = (0..size).collect();
    order.sort_by(|&i, &j| a.get(i, i).total_cmp(&a.get(j, j)));
    let values = order.iter().map(|&i| a.get(i, i)).collect();
    let mut sorted = Matrix::zeros(size, size);
    for (column, &from) in order.iter().enumerate() {
        (0..size).for_each(|row| *sorted.at(row, column) = vectors.get(row, from));
    }
    (values, sorted)
}

/// The singular values in descending order, with left and right vectors in columns, as many as
/// there are values. Rotations make the columns orthogonal.
pub(super) fn svd(x: &Matrix) -> (Vec<f64>, Matrix, Matrix) {
    if x.rows < x.columns {
        let (values, left, right) = svd(&x.transposed());
        return (values, right, left);
    }
    let (mut u, count) = (x.clone(), x.columns);
    let mut v = Matrix::identity(count);
    for _ in 0..MAX_SWEEPS {
        let mut is_done = true;
        for p in 0..count {
            for q in p + 1..count {
                let dot =
                    |a: usize, b: usize| (0..u.rows).map(|row| u.get(row, a) * u.get(row, b)).sum::<f64>();
                let (alpha, beta, gamma) = (dot(p, p), dot(q, q), dot(p, q));
                if gamma.abs() <= 1e-15 * (alpha * beta).sqrt() || gamma == 0.0 {
                    continue;
                }
                is_done = false;
                let zeta = (beta - alpha) / (2.0 * gamma);
                let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
                let c = 1.0 / (1.0 + t * t).sqrt();
                let s = c * t;
                for matrix in [&mut u, &mut v] {
                    for row in 0..matrix.rows {
                        let (x, y) = (matrix.get(row, p), matrix.get(row, q));
                        (*matrix.at(row, p), *matrix.at(row, q)) = (c * x - s * y, s * x + c * y);
                    }
                }
            }
        }
        if is_done {
            break;
        }
    }
    let norm = |column: usize| (0..u.rows).map(|row| u.get(row, column).powi(2)).sum::<f64>().sqrt();
    let mut order: Vec<(f64, usize)> = (0..count).map(|column| (norm(column), column)).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut left, mut right) = (Matrix::zeros(u.rows, count), Matrix::zeros(count, count));
    for (column, &(size, from)) in order.iter().enumerate() {
        (0..u.rows)
            .for_each(|row| *left.at(row, column) = if size > 0.0 { u.get(row, from) / size } else { 0.0 });
        (0..count).for_each(|row| *right.at(row, column) = v.get(row, from));
    }
    let largest = order.first().map_or(0.0, |first| first.0);
    let rank = order.iter().take_while(|value| value.0 > largest * 1e-14).count();
    complete(&mut left, rank);
    (order.iter().map(|value| value.0).collect(), left, right)
}

/// Makes the columns from `known` on orthonormal to all before them.
pub(super) fn complete(x: &mut Matrix, known: usize) {
    let mut candidate = 0;
    for column in known..x.columns {
        while candidate < x.rows {
            let mut vector = vec![0.0; x.rows];
            vector[candidate] = 1.0;
            candidate += 1;
            for _ in 0..2 {
                for before in 0..column {
                    let along: f64 = (0..x.rows).map(|row| vector[row] * x.get(row, before)).sum();
                    (0..x.rows).for_each(|row| vector[row] -= along * x.get(row, before));
                }
            }
            let norm = vector.iter().map(|value| value * value).sum::<f64>().sqrt();
            if norm > 1e-6 {
                (0..x.rows).for_each(|row| *x.at(row, column) = vector[row] / norm);
                break;
            }
        }
    }
}

/// The principal square root, by the iteration of Denman and Beavers; `None` if it does not
/// converge.
pub(super) fn square_root(x: &Matrix) -> Option<Matrix> {
    let (mut y, mut z) = (x.clone(), Matrix::identity(x.rows));
    for _ in 0..100 {
        let identity = Matrix::identity(x.rows);
        let (inverse_y, inverse_z) = (solve(y.clone(), &identity)?, solve(z.clone(), &identity)?);
        let mean = |a: &Matrix, b: &Matrix| {
            let values = a.values.iter().zip(&b.values).map(|(a, b)| 0.5 * (a + b)).collect();
            Matrix::new(x.rows, x.rows, values)
        };
        let (next, other) = (mean(&y, &inverse_z), mean(&z, &inverse_y));
        let change: f64 = next.values.iter().zip(&y.values).map(|(a, b)| (a - b).abs()).sum();
        let size: f64 = next.values.iter().map(|value| value.abs()).sum();
        (y, z) = (next, other);
        if change <= 1e-14 * size {
            return Some(y);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: &Matrix, b: &Matrix) -> bool {
        a.values.iter().zip(&b.values).all(|(a, b)| (a - b).abs() < 1e-10)
    }

    #[test]
    fn factors_multiply_to_the_matrix() {
        let values = [4.0, 1.0, -2.0, 0.5, 3.0, 1.0, 7.0, -1.0, 2.0, 6.0, 0.0, 5.0];
        let x = Matrix::new(4, 3, values.to_vec());
        let (q, r) = qr(x.clone());
        assert!(close(&q.times(&r), &x) && close(&q.transposed().times(&q), &Matrix::identity(4)));
        let (s, u, v) = svd(&x);
        let mut scaled = u.clone();
        (0..4).for_each(|row| (0..3).for_each(|column| *scaled.at(row, column) *= s[column]));
        assert!(close(&scaled.times(&v.transposed()), &x) && s[0] >= s[1] && s[1] >= s[2]);
        let square = x.transposed().times(&x);
        let l = cholesky(&square).unwrap();
        assert!(close(&l.times(&l.transposed()), &square));
        let (values, vectors) = eigen(&square);
        let mut scaled = vectors.clone();
        (0..3).for_each(|row| (0..3).for_each(|column| *scaled.at(row, column) *= values[column]));
        assert!(close(&scaled.times(&vectors.transposed()), &square));
        let root = square_root(&square).unwrap();
        assert!(close(&root.times(&root), &square));
        let inverse = solve(square.clone(), &Matrix::identity(3)).unwrap();
        assert!(close(&inverse.times(&square), &Matrix::identity(3)));
        assert!(solve(Matrix::zeros(2, 2), &Matrix::identity(2)).is_none());
    }
}
