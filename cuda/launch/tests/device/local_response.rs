//! Local response normalization.

use tfrt_host::DType;
use tfrt_launch::LocalResponse;

use super::{Random, assert_close, device, widened};

#[test]
fn responses_and_their_gradients() {
    let (d, mut random) = (device(), Random::new(91));
    for (pixels, depth, radius) in
        [(5, 7, 2), (3, 1, 4), (2, 300, 5), (4, 9, u64::MAX >> 1), (6, 11, 0), (0, 3, 1), (4_001, 11, 2)]
    {
        let n = pixels * depth;
        let response = LocalResponse { radius, bias: 1.5, alpha: 0.25, beta: 0.75 };
        let near = |at: usize| {
            let (first, channel) = (at / depth * depth, at % depth);
            let radius = usize::try_from(radius).unwrap();
            first + channel.saturating_sub(radius)..first + (channel.saturating_add(radius) + 1).min(depth)
        };
        let [x, dy] = [0; 2].map(|_| random.halves(n, -2.0, 2.0));
        let [wide, wide_dy] = [&x, &dy].map(|halves| widened(halves));
        let sum = |at: usize| wide[near(at)].iter().map(|x| f64::from(*x).powi(2)).sum::<f64>();
        let norms: Vec<f64> = (0..n).map(|at| 1.5 + 0.25 * sum(at)).collect();
        let y: Vec<f32> = (0..n).map(|at| (f64::from(wide[at]) * norms[at].powf(-0.75)) as f32).collect();
        let share = |at: usize| f64::from(y[at]) * f64::from(wide_dy[at]) / norms[at];
        let dx = (0..n).map(|at| {
            let own = f64::from(wide_dy[at]) * norms[at].powf(-0.75);
            (own - 2.0 * 0.25 * 0.75 * f64::from(wide[at]) * near(at).map(share).sum::<f64>()) as f32
        });
        let dx: Vec<f32> = dx.collect();
        let extents = [n as u64, depth as u64];

        let (out, scratch) = (d.room::<f32>(n), d.room::<f32>(n));
        let [on_x, on_dy, on_y] = [&wide, &wide_dy, &y].map(|values| d.upload(values));
        d.kernels.local_response(&d.stream, response, DType::F32, &out, &on_x, extents).unwrap();
        assert_close(&d.download::<f32>(&out, n), &y, 2e-6);
        let operands = [&on_dy, &on_x, &on_y];
        let kernels = &d.kernels;
        let gradient = |dtype, out, operands| {
            kernels.local_response_gradient(&d.stream, response, dtype, out, operands, &scratch, extents)
        };
        gradient(DType::F32, &out, operands).unwrap();
        assert_close(&d.download::<f32>(&out, n), &dx, 2e-6);

        let halves = |x: &[f32]| x.iter().map(|&x| half::f16::from_f32(x)).collect::<Vec<_>>();
        let (out, on_x, on_dy, on_y) =
            (d.room::<half::f16>(n), d.upload(&x), d.upload(&dy), d.upload(&halves(&y)));
        d.kernels.local_response(&d.stream, response, DType::F16, &out, &on_x, extents).unwrap();
        assert_close(&widened(&d.download(&out, n)), &y, 1e-3);
        gradient(DType::F16, &out, [&on_dy, &on_x, &on_y]).unwrap();
        assert_close(&widened(&d.download(&out, n)), &dx, 2e-3);
    }
}
