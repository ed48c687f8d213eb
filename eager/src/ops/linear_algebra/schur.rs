//! Schur's form of any square matrix, and what it leads to: eigenvalues, square roots, logarithms.

use super::factors::{reduce, substitute};
use super::matrix::Matrix;
use crate::ops::complex::{self, C};

/// How many steps the search for one eigenvalue may take.
const MAX_STEPS: usize = 60;

/// A unitary matrix `u` and an upper triangular one `t`, so that the matrix is `u t u*`.
pub(super) struct Schur {
    pub(super) u: Matrix<C>,
    pub(super) t: Matrix<C>,
}

/// Makes an element below the diagonal zero by a rotation of its row and the one above; the columns
/// are rotated back.
fn rotate(t: &mut Matrix<C>, u: &mut Matrix<C>, row: usize, (p, q): (C, C), last: usize) {
    let norm = p.norm().hypot(q.norm());
    if norm == 0.0 {
        return;
    }
    let (p, q) = (p.unscale(norm), q.unscale(norm));
    for column in row.saturating_sub(1)..t.columns {
        let (x, y) = (t.get(row, column), t.get(row + 1, column));
        (*t.at(row, column), *t.at(row + 1, column)) = (p.conj() * x + q.conj() * y, p * y - q * x);
    }
    let rotate_back = |x: &mut Matrix<C>, i: usize| {
        let (a, b) = (x.get(i, row), x.get(i, row + 1));
        (*x.at(i, row), *x.at(i, row + 1)) = (a * p + b * q, b * p.conj() - a * q.conj());
    };
    (0..=last.min(row + 2)).for_each(|i| rotate_back(t, i));
    (0..u.rows).for_each(|i| rotate_back(u, i));
}

/// The eigenvalue of the two by two matrix that ends at `last`, which is nearer to its last element.
fn shift(t: &Matrix<C>, last: usize) -> C {
    let (a, b) = (t.get(last - 1, last - 1), t.get(last - 1, last));
    let (c, d) = (t.get(last, last - 1), t.get(last, last));
    let half = (a - d).scale(0.5);
    let root = complex::sqrt(half * half + b * c);
    let (one, other) = (half + root, half - root);
    let far = if one.norm_sqr() >= other.norm_sqr() { one } else { other };
    // The product of the two distances from `d` is -bc.
    if far == C::default() { d } else { d - complex::quotient(b * c, far) }
}

impl Schur {
    /// `None` if the search for an eigenvalue does not converge, as for NaN.
    pub(super) fn new(x: &Matrix<C>) -> Option<Self> {
        let mut t = x.clone();
        let mut u = reduce(&mut t, 1, true);
        let (mut last, mut steps) = (t.rows.saturating_sub(1), 0);
        while last > 0 {
            let is_small = |t: &Matrix<C>, row: usize| {
                let around = t.get(row, row).norm() + t.get(row - 1, row - 1).norm();
                t.get(row, row - 1).norm() <= f64::EPSILON * around
            };
            if is_small(&t, last) {
                *t.at(last, last - 1) = C::default();
                (last, steps) = (last - 1, 0);
                continue;
            }
            let first = (1..last).rev().find(|&row| is_small(&t, row)).unwrap_or(0);
            if first > 0 {
                *t.at(first, first - 1) = C::default();
            }
            steps += 1;
            if steps > MAX_STEPS {
                return None;
            }
            // A shift that is not an estimate breaks cycles.
            let by = match steps % 10 {
                0 => C::new(t.get(last, last - 1).norm() + t.get(last, last).norm(), 0.0),
                _ => shift(&t, last),
            };
            let start = (t.get(first, first) - by, t.get(first + 1, first));
            rotate(&mut t, &mut u, first, start, last);
            for row in first + 1..last {
                let bulge = (t.get(row, row - 1), t.get(row + 1, row - 1));
                rotate(&mut t, &mut u, row, bulge, last);
                *t.at(row + 1, row - 1) = C::default();
            }
        }
        Some(Self { u, t })
    }

    /// The matrix that has another triangular matrix in the place of `t`.
    fn with(&self, t: &Matrix<C>) -> Matrix<C> {
        self.u.times(t).times(&self.u.adjoint())
    }
}

/// The eigenvalues of a matrix, from the one of the smallest magnitude on, and eigenvectors of
/// length one in columns.
pub(super) fn eigen(x: &Matrix<C>) -> Option<(Vec<C>, Matrix<C>)> {
    let Schur { u, t } = Schur::new(x)?;
    let size = t.rows;
    let norm = t.values.iter().map(C::norm_sqr).sum::<f64>().sqrt();
    let mut vectors = Matrix::<C>::zeros(size, size);
    for k in (0..size).rev() {
        *vectors.at(k, k) = C::new(1.0, 0.0);
        for i in (0..k).rev() {
            let sum: C = (i + 1..=k).map(|m| t.get(i, m) * vectors.get(m, k)).sum();
            let mut gap = t.get(i, i) - t.get(k, k);
            if gap == C::default() {
                gap = C::new(f64::EPSILON * norm, 0.0);
            }
            *vectors.at(i, k) = if sum == C::default() { sum } else { complex::quotient(-sum, gap) };
        }
    }
    let vectors = u.times(&vectors);
    let mut order: Vec<usize> = (0..size).collect();
    let value = |k: usize| t.get(k, k);
    order.sort_by(|&a, &b| value(a).norm().total_cmp(&value(b).norm()));
    let mut sorted = Matrix::zeros(size, size);
    for (column, &from) in order.iter().enumerate() {
        let length = (0..size).map(|row| vectors.get(row, from).norm_sqr()).sum::<f64>().sqrt();
        (0..size).for_each(|row| *sorted.at(row, column) = vectors.get(row, from).unscale(length));
    }
    Some((order.into_iter().map(value).collect(), sorted))
}

/// The principal square root of an upper triangular matrix; `None` if there is none.
fn triangular_root(t: &Matrix<C>) -> Option<Matrix<C>> {
    let mut root = Matrix::<C>::zeros(t.rows, t.rows);
    for column in 0..t.rows {
        *root.at(column, column) = complex::sqrt(t.get(column, column));
        for row in (0..column).rev() {
            let sum: C = (row + 1..column).map(|k| root.get(row, k) * root.get(k, column)).sum();
            let rest = t.get(row, column) - sum;
            let divisor = root.get(row, row) + root.get(column, column);
            *root.at(row, column) = match (rest == C::default(), divisor == C::default()) {
                (true, _) => rest,
                (false, true) => return None,
                (false, false) => complex::quotient(rest, divisor),
            };
        }
    }
    Some(root)
}

/// The principal square root of a matrix; `None` if there is none.
pub(super) fn square_root(x: &Matrix<C>) -> Option<Matrix<C>> {
    let schur = Schur::new(x)?;
    Some(schur.with(&triangular_root(&schur.t)?))
}

/// The nodes and weights of Gauss and Legendre's rule of degree 7 on the interval from 0 to 1, of
/// which the others mirror the first ones.
const NODES: [(f64, f64); 4] = [
    (0.025_446_043_828_620_74, 0.064_742_483_084_434_85),
    (0.129_234_407_200_302_78, 0.139_852_695_744_638_34),
    (0.297_077_424_311_301_4, 0.190_915_025_252_559_47),
    (0.5, 0.208_979_591_836_734_7),
];

/// How near to the identity a matrix is for which the rule above gives the logarithm in double
/// precision.
const NEAR: f64 = 0.25;

/// The principal logarithm of a matrix; `None` if there is none.
pub(super) fn logarithm(x: &Matrix<C>) -> Option<Matrix<C>> {
    let schur = Schur::new(x)?;
    if schur.t.diagonal().any(|value| value == C::default()) {
        return None;
    }
    let (mut root, size) = (schur.t.clone(), x.rows);
    let identity = Matrix::<C>::identity(size);
    let mut factor = 1.0;
    let rest = loop {
        let values = root.values.iter().zip(&identity.values).map(|(a, b)| a - b).collect();
        let rest = Matrix::new(size, size, values);
        let norm = rest.values.iter().map(C::norm_sqr).sum::<f64>().sqrt();
        if norm <= NEAR {
            break rest;
        }
        if factor > 1e18 || !norm.is_finite() {
            return None;
        }
        root = triangular_root(&root)?;
        factor *= 2.0;
    };
    // log(1 + r) is the integral of r / (1 + s r) for s from 0 to 1.
    let mut sum = Matrix::<C>::zeros(size, size);
    let mirrored = NODES[..3].iter().map(|&(node, weight)| (1.0 - node, weight));
    for (node, weight) in NODES.iter().copied().chain(mirrored) {
        let values = identity.values.iter().zip(&rest.values).map(|(&one, r)| one + r.scale(node)).collect();
        let mut part = rest.clone();
        substitute(&Matrix::new(size, size, values), &mut part, false, false);
        sum.values.iter_mut().zip(&part.values).for_each(|(sum, part)| *sum += part.scale(weight));
    }
    sum.values.iter_mut().for_each(|value| *value = value.scale(factor));
    for i in 0..size {
        // The logarithms of eigenvalues are known without the roots' rounding.
        *sum.at(i, i) = complex::ln(schur.t.get(i, i));
    }
    Some(schur.with(&sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_close(a: &Matrix<C>, b: &Matrix<C>) -> bool {
        a.values.iter().zip(&b.values).all(|(a, b)| (a - b).norm() < 1e-9)
    }

    fn matrix(size: usize, seed: u64) -> Matrix<C> {
        let mut random = fastrand::Rng::with_seed(seed);
        let values = (0..size * size).map(|_| C::new(random.f64() - 0.5, random.f64() - 0.5)).collect();
        Matrix::new(size, size, values)
    }

    #[test]
    fn the_form_multiplies_to_the_matrix() {
        for size in 0..9 {
            let x = matrix(size, 7 + size as u64);
            let schur = Schur::new(&x).unwrap();
            assert!(is_close(&schur.with(&schur.t), &x));
            assert!((0..size).all(|row| (0..row).all(|column| schur.t.get(row, column) == C::default())));
            let (values, vectors) = eigen(&x).unwrap();
            let mut scaled = vectors.clone();
            for row in 0..size {
                (0..size)
                    .for_each(|column| *scaled.at(row, column) = vectors.get(row, column) * values[column]);
            }
            assert!(is_close(&x.times(&vectors), &scaled));
            let root = square_root(&x).unwrap();
            assert!(is_close(&root.times(&root), &x));
        }
    }

    #[test]
    fn a_rotation_by_a_quarter_has_imaginary_eigenvalues() {
        let turn = Matrix::new(2, 2, [0.0, -1.0, 1.0, 0.0].map(|value| C::new(value, 0.0)).to_vec());
        let (values, _) = eigen(&turn).unwrap();
        assert!(values.iter().all(|value| value.re.abs() < 1e-15 && (value.im.abs() - 1.0).abs() < 1e-15));
        // Half of it is the logarithm of a rotation by an eighth, whose powers are known.
        let log = logarithm(&turn).unwrap();
        assert!((log.get(1, 0) - C::new(std::f64::consts::FRAC_PI_2, 0.0)).norm() < 1e-14);
    }

    #[test]
    fn a_logarithm_undoes_a_diagonal_power() {
        let mut x = Matrix::<C>::zeros(3, 3);
        for (i, value) in [1e-3, 2.0, 900.0].into_iter().enumerate() {
            *x.at(i, i) = C::new(value, 0.0);
        }
        let (basis, _) = crate::ops::linear_algebra::factors::qr(matrix(3, 5));
        let log = logarithm(&basis.times(&x).times(&basis.adjoint())).unwrap();
        let back = basis.adjoint().times(&log).times(&basis);
        for i in 0..3 {
            assert!((back.get(i, i) - complex::ln(x.get(i, i))).norm() < 1e-9);
        }
        assert!(logarithm(&Matrix::zeros(2, 2)).is_none());
        assert!(eigen(&Matrix::new(2, 2, vec![C::new(f64::NAN, 0.0); 4])).is_none());
    }
}
