//! Factorizations of one matrix, and systems of equations.

use super::matrix::{Matrix, Scalar};

/// The lower triangular factor of a self-adjoint matrix, of which the lower triangle is read;
/// `None` if it is not positive definite.
pub(super) fn cholesky<S: Scalar>(x: &Matrix<S>) -> Option<Matrix<S>> {
    let mut l = Matrix::<S>::zeros(x.rows, x.rows);
    for i in 0..x.rows {
        for j in 0..=i {
            let sum: S = (0..j).map(|k| l.get(i, k) * l.get(j, k).conj()).sum();
            let rest = x.get(i, j) - sum;
            *l.at(i, j) = match i == j {
                true if rest.real() > 0.0 => S::from(rest.real().sqrt()),
                true => return None,
                false => rest.over(l.get(j, j)),
            };
        }
    }
    Some(l)
}

/// Both triangular factors in one matrix, the order of rows, and the sign of that order.
pub(super) fn lu<S: Scalar>(mut x: Matrix<S>) -> (Matrix<S>, Vec<usize>, f64) {
    let mut order: Vec<usize> = (0..x.rows).collect();
    let mut sign = 1.0;
    for step in 0..x.rows.min(x.columns) {
        let size = |row: usize| x.get(row, step).size();
        let pivot = (step..x.rows).fold(step, |best, row| if size(row) > size(best) { row } else { best });
        if pivot != step {
            x.swap_rows(pivot, step);
            order.swap(pivot, step);
            sign = -sign;
        }
        let divisor = x.get(step, step);
        if divisor == S::default() {
            continue;
        }
        for row in step + 1..x.rows {
            let factor = x.get(row, step).over(divisor);
            *x.at(row, step) = factor;
            for column in step + 1..x.columns {
                let rest = x.get(row, column) - factor * x.get(step, column);
                *x.at(row, column) = rest;
            }
        }
    }
    (x, order, sign)
}

/// The solution of a system of equations; `None` if the matrix is singular.
pub(super) fn solve<S: Scalar>(a: Matrix<S>, b: &Matrix<S>) -> Option<Matrix<S>> {
    let (factors, order, _) = lu(a);
    if factors.diagonal().any(|value| value == S::default()) {
        return None;
    }
    let mut x = Matrix::<S>::zeros(factors.rows, b.columns);
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
pub(super) fn substitute<S: Scalar>(a: &Matrix<S>, x: &mut Matrix<S>, is_lower: bool, is_unit: bool) {
    let size = a.rows;
    for step in 0..size {
        let row = if is_lower { step } else { size - 1 - step };
        let others = if is_lower { 0..row } else { row + 1..size };
        for column in 0..x.columns {
            let sum: S = others.clone().map(|k| a.get(row, k) * x.get(k, column)).sum();
            let rest = x.get(row, column) - sum;
            *x.at(row, column) = if is_unit { rest } else { rest.over(a.get(row, row)) };
        }
    }
}

/// A reflection of the rows from `first` on that leaves only the first of them nonzero in a column:
/// its vector, and that element. `None` if the other elements are zero already.
fn reflection<S: Scalar>(x: &Matrix<S>, first: usize, column: usize) -> Option<(Vec<S>, S)> {
    let mut vector: Vec<S> = (first..x.rows).map(|row| x.get(row, column)).collect();
    let head = *vector.first()?;
    let tail: f64 = vector[1..].iter().map(|value| value.square()).sum();
    let is_real = head == S::from(head.real());
    if tail == 0.0 && is_real {
        return None;
    }
    let norm = (head.square() + tail).sqrt();
    let beta = S::from(if head.real() >= 0.0 { -norm } else { norm });
    vector[0] = head - beta;
    Some((vector, beta))
}

/// Subtracts from the rows from `first` on their part along a vector, scaled so that the vector of
/// a [`reflection`] maps `head` to the element that it names.
fn reflect<S: Scalar>(x: &mut Matrix<S>, (vector, factor): (&[S], S), first: usize, from: usize) {
    for column in from..x.columns {
        let along: S = vector.iter().zip(first..).map(|(value, row)| value.conj() * x.get(row, column)).sum();
        let by = factor * along;
        for (value, row) in vector.iter().zip(first..) {
            let rest = x.get(row, column) - by * *value;
            *x.at(row, column) = rest;
        }
    }
}

/// Multiplies from the right with the adjoint of what [`reflect`] multiplies with from the left.
fn reflect_columns<S: Scalar>(x: &mut Matrix<S>, (vector, factor): (&[S], S), first: usize) {
    for row in 0..x.rows {
        let along: S = vector.iter().zip(first..).map(|(value, column)| x.get(row, column) * *value).sum();
        let by = along * factor.conj();
        for (value, column) in vector.iter().zip(first..) {
            let rest = x.get(row, column) - by * value.conj();
            *x.at(row, column) = rest;
        }
    }
}

/// What scales the vector of a reflection: one over its product with the column that it reflects.
fn reflection_factor<S: Scalar>(vector: &[S], head: S) -> S {
    let tail: f64 = vector[1..].iter().map(|value| value.square()).sum();
    let along = vector[0].conj() * head + S::from(tail);
    S::from(1.0).over(along)
}

/// Applies reflections to columns from the first on, so that only `below` elements below the
/// diagonal are left. Gives the unitary matrix to multiply the result with from the left. With
/// `is_similar` the result is multiplied with the matrix from the right, too.
pub(super) fn reduce<S: Scalar>(x: &mut Matrix<S>, below: usize, is_similar: bool) -> Matrix<S> {
    let mut q = Matrix::identity(x.rows);
    for step in 0..x.columns.min(x.rows.saturating_sub(below)) {
        let first = step + below;
        let Some((vector, beta)) = reflection(x, first, step) else { continue };
        let factor = reflection_factor(&vector, x.get(first, step));
        reflect(x, (&vector, factor), first, step);
        if is_similar {
            reflect_columns(x, (&vector, factor), first);
        }
        reflect_columns(&mut q, (&vector, factor), first);
        *x.at(first, step) = beta;
        (first + 1..x.rows).for_each(|row| *x.at(row, step) = S::default());
    }
    q
}

/// A unitary and an upper triangular factor, by Householder's reflections.
pub(super) fn qr<S: Scalar>(mut x: Matrix<S>) -> (Matrix<S>, Matrix<S>) {
    let q = reduce(&mut x, 0, false);
    (q, x)
}

const MAX_SWEEPS: usize = 60;

/// A rotation by Jacobi's method: the tangent's cosine and sine for half the difference of the
/// diagonal over the element beside it.
fn rotation(ratio: f64) -> (f64, f64) {
    let t = ratio.signum() / (ratio.abs() + (ratio * ratio + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    (c, t * c)
}

/// Rotates two columns, of which the second is multiplied with a number of magnitude one before.
fn rotate_columns<S: Scalar>(x: &mut Matrix<S>, (p, q): (usize, usize), (c, s): (f64, f64), phase: S) {
    for row in 0..x.rows {
        let (a, b) = (x.get(row, p), x.get(row, q) * phase);
        (*x.at(row, p), *x.at(row, q)) = (a.scaled(c) - b.scaled(s), a.scaled(s) + b.scaled(c));
    }
}

/// The eigenvalues of a self-adjoint matrix in ascending order and its eigenvectors in columns, by
/// Jacobi's rotations. The lower triangle is read.
pub(super) fn eigen<S: Scalar>(x: &Matrix<S>) -> (Vec<f64>, Matrix<S>) {
    let size = x.rows;
    let mut a = x.clone();
    for row in 0..size {
        *a.at(row, row) = S::from(x.get(row, row).real());
        for column in row + 1..size {
            *a.at(row, column) = x.get(column, row).conj();
        }
    }
    let mut vectors = Matrix::identity(size);
    let norm: f64 = a.values.iter().map(|value| value.square()).sum();
    for _ in 0..MAX_SWEEPS {
        let off: f64 =
            (0..size).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a.get(i, j).square()).sum();
        if off <= norm * 1e-32 {
            break;
        }
        for p in 0..size {
            for q in p + 1..size {
                let beside = a.get(p, q);
                if beside == S::default() {
                    continue;
                }
                let (beside, phase) = beside.polar();
                let (c, s) = rotation((a.get(q, q).real() - a.get(p, p).real()) / (2.0 * beside));
                rotate_columns(&mut a, (p, q), (c, s), phase.conj());
                for k in 0..size {
                    let (x, y) = (a.get(p, k), a.get(q, k) * phase);
                    (*a.at(p, k), *a.at(q, k)) = (x.scaled(c) - y.scaled(s), x.scaled(s) + y.scaled(c));
                }
                rotate_columns(&mut vectors, (p, q), (c, s), phase.conj());
            }
        }
    }
    let value = |i: usize| a.get(i, i).real();
    let mut order: Vec<usize> = (0..size).collect();
    order.sort_by(|&i, &j| value(i).total_cmp(&value(j)));
    let values = order.iter().map(|&i| value(i)).collect();
    let mut sorted = Matrix::zeros(size, size);
    for (column, &from) in order.iter().enumerate() {
        (0..size).for_each(|row| *sorted.at(row, column) = vectors.get(row, from));
    }
    (values, sorted)
}

/// The singular values in descending order, with left and right vectors in columns, as many as
/// there are values. Rotations make the columns orthogonal.
pub(super) fn svd<S: Scalar>(x: &Matrix<S>) -> (Vec<f64>, Matrix<S>, Matrix<S>) {
    if x.rows < x.columns {
        let (values, left, right) = svd(&x.adjoint());
        return (values, right, left);
    }
    let (mut u, count) = (x.clone(), x.columns);
    let mut v = Matrix::identity(count);
    for _ in 0..MAX_SWEEPS {
        let mut is_done = true;
        for p in 0..count {
            for q in p + 1..count {
                let square = |column: usize| (0..u.rows).map(|row| u.get(row, column).square()).sum::<f64>();
                let (alpha, beta) = (square(p), square(q));
                let gamma: S = (0..u.rows).map(|row| u.get(row, p).conj() * u.get(row, q)).sum();
                if gamma.size() <= 1e-15 * (alpha * beta).sqrt() || gamma == S::default() {
                    continue;
                }
                is_done = false;
                let (gamma, phase) = gamma.polar();
                let turn = rotation((beta - alpha) / (2.0 * gamma));
                rotate_columns(&mut u, (p, q), turn, phase.conj());
                rotate_columns(&mut v, (p, q), turn, phase.conj());
            }
        }
        if is_done {
            break;
        }
    }
    let norm = |column: usize| (0..u.rows).map(|row| u.get(row, column).square()).sum::<f64>().sqrt();
    let mut order: Vec<(f64, usize)> = (0..count).map(|column| (norm(column), column)).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut left, mut right) = (Matrix::<S>::zeros(u.rows, count), Matrix::<S>::zeros(count, count));
    for (column, &(size, from)) in order.iter().enumerate() {
        for row in 0..u.rows {
            *left.at(row, column) =
                if size > 0.0 { u.get(row, from).scaled(1.0 / size) } else { S::default() };
        }
        (0..count).for_each(|row| *right.at(row, column) = v.get(row, from));
    }
    let largest = order.first().map_or(0.0, |first| first.0);
    let rank = order.iter().take_while(|value| value.0 > largest * 1e-14).count();
    complete(&mut left, rank);
    (order.iter().map(|value| value.0).collect(), left, right)
}

/// Makes the columns from `known` on orthonormal to all before them.
pub(super) fn complete<S: Scalar>(x: &mut Matrix<S>, known: usize) {
    let mut candidate = 0;
    for column in known..x.columns {
        while candidate < x.rows {
            let mut vector = vec![S::default(); x.rows];
            vector[candidate] = S::from(1.0);
            candidate += 1;
            for _ in 0..2 {
                for before in 0..column {
                    let along: S = (0..x.rows).map(|row| x.get(row, before).conj() * vector[row]).sum();
                    (0..x.rows).for_each(|row| vector[row] = vector[row] - along * x.get(row, before));
                }
            }
            let norm = vector.iter().map(|value| value.square()).sum::<f64>().sqrt();
            if norm > 1e-6 {
                (0..x.rows).for_each(|row| *x.at(row, column) = vector[row].scaled(1.0 / norm));
                break;
            }
        }
    }
}

/// The solution of least squares with the smallest norm. Singular values below `tolerance` of the
/// largest count as zero.
pub(super) fn least_squares<S: Scalar>(a: &Matrix<S>, b: &Matrix<S>, tolerance: f64) -> Matrix<S> {
    let (values, u, v) = svd(a);
    let mut along = u.adjoint().times(b);
    let least = values.first().copied().unwrap_or(0.0) * tolerance;
    for (row, &value) in values.iter().enumerate() {
        let by = if value > least { 1.0 / value } else { 0.0 };
        (0..along.columns).for_each(|column| *along.at(row, column) = along.get(row, column).scaled(by));
    }
    v.times(&along)
}

/// The solution of least squares by the normal equations, with the sum of the squares of its
/// elements times `l2` added to what is made least; `None` if the equations are not definite.
pub(super) fn regularized<S: Scalar>(a: &Matrix<S>, b: &Matrix<S>, l2: f64) -> Option<Matrix<S>> {
    let adjoint = a.adjoint();
    let is_tall = a.rows >= a.columns;
    let mut gram = if is_tall { adjoint.times(a) } else { a.times(&adjoint) };
    (0..gram.rows).for_each(|i| *gram.at(i, i) = gram.get(i, i) + S::from(l2));
    let l = cholesky(&gram)?;
    let mut x = if is_tall { adjoint.times(b) } else { b.clone() };
    substitute(&l, &mut x, true, false);
    substitute(&l.adjoint(), &mut x, false, false);
    Some(if is_tall { x } else { adjoint.times(&x) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::complex::C;

    fn is_close<S: Scalar>(a: &Matrix<S>, b: &Matrix<S>) -> bool {
        a.values.iter().zip(&b.values).all(|(&a, &b)| (a - b).size() < 1e-10)
    }

    fn scaled<S: Scalar>(x: &Matrix<S>, by: &[f64]) -> Matrix<S> {
        let mut scaled = x.clone();
        for row in 0..x.rows {
            for (column, &by) in by.iter().enumerate() {
                *scaled.at(row, column) = x.get(row, column).scaled(by);
            }
        }
        scaled
    }

    fn check<S: Scalar>(values: Vec<S>) {
        let x = Matrix::new(4, 3, values);
        let (q, r) = qr(x.clone());
        assert!(is_close(&q.times(&r), &x) && is_close(&q.adjoint().times(&q), &Matrix::identity(4)));
        let (s, u, v) = svd(&x);
        assert!(is_close(&scaled(&u, &s).times(&v.adjoint()), &x) && s[0] >= s[1] && s[1] >= s[2]);
        let (s, u, v) = svd(&x.adjoint());
        assert!(is_close(&scaled(&u, &s).times(&v.adjoint()), &x.adjoint()));
        let square = x.adjoint().times(&x);
        let l = cholesky(&square).unwrap();
        assert!(is_close(&l.times(&l.adjoint()), &square));
        let (values, vectors) = eigen(&square);
        assert!(is_close(&scaled(&vectors, &values).times(&vectors.adjoint()), &square));
        let inverse = solve(square.clone(), &Matrix::identity(3)).unwrap();
        assert!(is_close(&inverse.times(&square), &Matrix::identity(3)));
        assert!(solve(Matrix::<S>::zeros(2, 2), &Matrix::identity(2)).is_none());
        let b = x.first_columns(2);
        let least = least_squares(&x, &b, 1e-14);
        assert!(is_close(&x.times(&least), &b) && is_close(&regularized(&x, &b, 0.0).unwrap(), &least));
        let wide = least_squares(&x.adjoint(), &least, 1e-14);
        assert!(is_close(&regularized(&x.adjoint(), &least, 0.0).unwrap(), &wide));
    }

    #[test]
    fn factors_multiply_to_the_matrix() {
        let values = [4.0, 1.0, -2.0, 0.5, 3.0, 1.0, 7.0, -1.0, 2.0, 6.0, 0.0, 5.0];
        check(values.to_vec());
        check(values.iter().zip(values.iter().rev()).map(|(&re, &im)| C::new(re, im)).collect());
    }
}
