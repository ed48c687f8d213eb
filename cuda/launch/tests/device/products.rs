//! Products of matrices of integers.

use tfrt_host::DType;
use tfrt_launch::Products;

use super::{Random, device};

#[test]
fn products_of_integers() {
    let (d, mut random) = (device(), Random::new(81));
    let (batch, rows, inner, columns) = (3, 5, 33, 7);
    for flags in 0..16 {
        let flag = |bit: usize| flags >> bit & 1 == 1;
        let (transposed, single) = ([flag(0), flag(1)], [flag(2), flag(3)]);
        let a = random.i32s(batch * rows * inner, i32::MIN..i32::MAX);
        let b = random.i32s(batch * inner * columns, i32::MIN..i32::MAX);
        let at = |index: usize, n: usize, row: usize, column: usize, [rows, columns]: [usize; 2]| {
            let start = if single[index] { 0 } else { n * rows * columns };
            start + if transposed[index] { column * rows + row } else { row * columns + column }
        };
        let mut expected = Vec::new();
        for n in 0..batch {
            for row in 0..rows {
                for column in 0..columns {
                    let term = |sum: i32, k: usize| {
                        let a = a[at(0, n, row, k, [rows, inner])];
                        sum.wrapping_add(a.wrapping_mul(b[at(1, n, k, column, [inner, columns])]))
                    };
                    expected.push((0..inner).fold(0, term));
                }
            }
        }
        let [batch, rows, inner, columns] = [batch, rows, inner, columns].map(|extent| extent as u64);
        let products = Products { batch, rows, inner, columns, transposed, single };
        let (da, db, dy) = (d.upload(&a), d.upload(&b), d.room::<i32>(expected.len()));
        d.kernels.products(&d.stream, DType::I32, &dy, [&da, &db], products).unwrap();
        assert_eq!(d.download::<i32>(&dy, expected.len()), expected, "{products:?}");

        // What wraps in fewer bits are the low ones.
        let bytes = |x: &[i32]| d.upload(&x.iter().map(|&x| x as u8).collect::<Vec<_>>());
        d.kernels.products(&d.stream, DType::UI8, &dy, [&bytes(&a), &bytes(&b)], products).unwrap();
        let expected: Vec<_> = expected.iter().map(|&y| y as u8).collect();
        assert_eq!(d.download::<u8>(&dy, expected.len()), expected, "{products:?}");
    }
}
