use super::*;
use crate::Serial;

/// Numbers between -1 and 1.
fn numbers(count: usize, seed: usize) -> Vec<f32> {
    (0..count).map(|i| ((i * 7919 + seed * 104_729) % 1009) as f32 / 504.5 - 1.0).collect()
}

fn len(shape: &[usize]) -> usize {
    shape.iter().product()
}

/// The element of a reordered tensor at a place of what it is broadcast to.
fn at(view: &Reordered, data: &[f32], place: &[usize]) -> f64 {
    let missing = place.len() - view.dims.len();
    let axes = view.dims.iter().zip(&view.strides).zip(&place[missing..]);
    f64::from(data[axes.map(|((&dim, stride), &i)| if dim == 1 { 0 } else { i * stride }).sum::<usize>()])
}

/// Attention by its definition, in double precision, in the order of the output.
fn reference(plan: &Attention, shape: &AttentionShape, input: AttentionInput<'_>) -> Vec<f64> {
    let rank = plan.dims.len();
    let place = |mut index: usize| {
        let mut place = vec![0; rank];
        for (axis, &own) in plan.output.iter().enumerate().rev() {
            place[own] = index % plan.output_shape[axis];
            index /= plan.output_shape[axis];
        }
        place
    };
    let result = |index: usize| {
        let place = place(index);
        let with = |a: usize, b: usize| [&place[..rank - 2], &[a, b]].concat();
        let score = |key: usize| {
            let products = (0..plan.depth).map(|d| {
                at(&shape.queries, input.queries, &with(place[rank - 2], d))
                    * at(&shape.keys, input.keys, &with(key, d))
            });
            let mask = shape.mask.as_ref().zip(input.mask);
            let summand = mask.map_or(0.0, |(view, mask)| at(view, mask, &with(place[rank - 2], key)));
            let score = products.sum::<f64>() * f64::from(plan.scale);
            plan.cap.map_or(score, |cap| f64::from(cap) * (score / f64::from(cap)).tanh()) + summand
        };
        let seen = (plan.seen_by_first + place[rank - 2]).min(plan.key_count);
        let scores: Vec<f64> = (0..seen).map(score).collect();
        let greatest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = scores.iter().map(|score| (score - greatest).exp()).collect();
        let sum: f64 = weights.iter().sum();
        let values = weights
            .iter()
            .enumerate()
            .map(|(key, weight)| weight / sum * at(&shape.values, input.values, &with(key, place[rank - 1])));
        values.sum()
    };
    (0..len(&plan.output_shape)).map(result).collect()
}

struct Case<'a> {
    queries: (&'a [usize], &'a [usize]),
    keys: (&'a [usize], &'a [usize]),
    values: (&'a [usize], &'a [usize]),
    mask: Option<&'a [usize]>,
    output: &'a [usize],
}

fn check(case: &Case<'_>) {
    for (seen_by_first, cap) in [(None, None), (Some(1), Some(0.5)), (Some(5), None), (None, Some(2.0))] {
        check_with(case, seen_by_first, cap);
    }
}

fn check_with(case: &Case<'_>, seen_by_first: Option<usize>, cap: Option<f32>) {
    let view = |(shape, order): (&[usize], &[usize])| Reordered::new(shape, order).unwrap();
    let mask = case.mask.map(|mask| view((mask, &(0..mask.len()).collect::<Vec<_>>())));
    let shape = AttentionShape {
        queries: view(case.queries),
        keys: view(case.keys),
        values: view(case.values),
        mask,
        seen_by_first,
        output: case.output.to_vec(),
    };
    let [queries, keys, values] = [case.queries.0, case.keys.0, case.values.0];
    let (queries, keys) = (numbers(len(queries), 1), numbers(len(keys), 2));
    let (values, mask) = (numbers(len(values), 3), case.mask.map(|mask| numbers(len(mask), 4)));
    let input = AttentionInput { queries: &queries, keys: &keys, values: &values, mask: mask.as_deref() };
    let plan = |workers| {
        let plan = Attention::new(&shape, 0.7, workers).unwrap();
        if let Some(cap) = cap { plan.capped(cap) } else { plan }
    };
    let (plan, cut) = (plan(1), plan(5));
    let expected = reference(&plan, &shape, input);
    let mut out = vec![f32::NAN; expected.len()];
    plan.run(&Serial, input, &mut out).unwrap();
    for (out, expected) in out.iter().zip(&expected) {
        assert!((f64::from(*out) - expected).abs() < 1e-5, "{out}, not {expected}");
    }
    // The results are the same for any cut into blocks.
    let mut again = vec![f32::NAN; expected.len()];
    cut.run(&Serial, input, &mut again).unwrap();
    assert_eq!(out, again);
}

#[test]
fn results_are_those_of_the_definition() {
    let plain = &[0, 1, 2, 3][..];
    for (rows, keys, depth, columns) in
        [(1, 1, 1, 1), (5, 7, 3, 17), (70, 33, 4, 5), (3, 130, 6, 8), (2, 3, 200, 66)]
    {
        for mask in [None, Some(&[1, 1, rows, keys][..]), Some(&[2, 1, 1, keys]), Some(&[rows, 1]), Some(&[])]
        {
            // With heads before rows, and with heads beside their columns.
            check(&Case {
                queries: (&[2, 3, rows, depth], plain),
                keys: (&[2, 3, keys, depth], plain),
                values: (&[2, 3, keys, columns], plain),
                mask,
                output: plain,
            });
            check(&Case {
                queries: (&[rows, 2, 3, depth], &[1, 2, 0, 3]),
                keys: (&[2, keys, 3, depth], &[0, 2, 1, 3]),
                values: (&[2, 3, columns, keys], &[0, 1, 3, 2]),
                mask,
                output: &[2, 0, 1, 3],
            });
        }
    }
}

#[test]
fn batches_and_rows_are_broadcast() {
    check(&Case {
        queries: (&[2, 1, 3, 4], &[0, 1, 2, 3]),
        keys: (&[1, 5, 6, 4], &[0, 1, 2, 3]),
        values: (&[2, 5, 6, 7], &[0, 1, 2, 3]),
        mask: None,
        output: &[0, 2, 1, 3],
    });
    // A mask of more rows than there are queries repeats them.
    check(&Case {
        queries: (&[1, 4], &[0, 1]),
        keys: (&[6, 4], &[0, 1]),
        values: (&[6, 3], &[0, 1]),
        mask: Some(&[5, 6]),
        output: &[0, 1],
    });
}

#[test]
fn extents_may_be_zero() {
    let view = |shape: &[usize]| Reordered::new(shape, &[0, 1]).unwrap();
    for ([rows, keys, depth, columns], expected) in
        [([2, 0, 3, 4], 0.0), ([2, 3, 0, 4], 0.5), ([0, 3, 2, 4], 0.0), ([2, 3, 2, 0], 0.0)]
    {
        let shape = AttentionShape {
            queries: view(&[rows, depth]),
            keys: view(&[keys, depth]),
            values: view(&[keys, columns]),
            mask: None,
            seen_by_first: None,
            output: vec![0, 1],
        };
        let plan = Attention::new(&shape, 1.0, 2).unwrap();
        let [queries, all_keys, values] =
            [rows * depth, keys * depth, keys * columns].map(|count| vec![0.5; count]);
        let input = AttentionInput { queries: &queries, keys: &all_keys, values: &values, mask: None };
        let mut out = vec![f32::NAN; rows * columns];
        plan.run(&Serial, input, &mut out).unwrap();
        assert!(out.iter().all(|x| (x - expected).abs() < 1e-6), "{out:?}");
    }
}

#[test]
fn operands_that_do_not_fit_are_errors() {
    let view = |shape: &[usize], order: &[usize]| Reordered::new(shape, order).unwrap();
    let good = AttentionShape {
        queries: view(&[2, 3], &[0, 1]),
        keys: view(&[4, 3], &[0, 1]),
        values: view(&[4, 5], &[0, 1]),
        mask: None,
        seen_by_first: None,
        output: vec![0, 1],
    };
    let plan = Attention::new(&good, 1.0, 1).unwrap();
    let [queries, keys, values] = [vec![0.0; 6], vec![0.0; 12], vec![0.0; 20]];
    let input = AttentionInput { queries: &queries, keys: &keys, values: &values, mask: None };
    assert!(plan.run(&Serial, input, &mut [0.0; 9]).is_err());
    assert!(plan.run(&Serial, AttentionInput { keys: &queries, ..input }, &mut [0.0; 10]).is_err());
    for bad in [
        AttentionShape { seen_by_first: Some(0), ..good.clone() },
        AttentionShape { queries: view(&[3, 2], &[1, 0]), ..good.clone() },
        AttentionShape { keys: view(&[4, 2], &[0, 1]), ..good.clone() },
        AttentionShape { values: view(&[3, 5], &[0, 1]), ..good.clone() },
        AttentionShape { values: view(&[1, 4, 5], &[0, 1, 2]), ..good.clone() },
        AttentionShape { mask: Some(view(&[3, 4], &[0, 1])), ..good.clone() },
        AttentionShape { mask: Some(view(&[1, 1, 4], &[0, 1, 2])), ..good.clone() },
        AttentionShape { output: vec![1, 0], ..good.clone() },
        AttentionShape { output: vec![0], ..good.clone() },
    ] {
        assert!(Attention::new(&bad, 1.0, 1).is_err(), "{bad:?}");
    }
    assert!(Reordered::new(&[2, 3], &[0, 0]).is_err() && Reordered::new(&[2, 3], &[0]).is_err());
}
