//! Drawing smooth strokes with a round pen, anti-aliased.

use super::{PIXELS, SIDE};

/// Straight pieces that stand for the curve between two control points.
const PIECES: usize = 6;

/// The Catmull-Rom curve through the points, as the corners of a polyline. A point given twice is a
/// sharp corner.
pub(super) fn smooth(points: &[(f32, f32)]) -> impl Iterator<Item = (f32, f32)> {
    let at = |i: isize| points[i.clamp(0, points.len() as isize - 1) as usize];
    let curve = move |i: usize, t: f32| {
        let i = i as isize;
        let blend = |pick: fn((f32, f32)) -> f32| {
            let [a, b, c, d] = [at(i - 1), at(i), at(i + 1), at(i + 2)].map(pick);
            let cubic = (3.0 * (b - c) + d - a) * t + 2.0 * a - 5.0 * b + 4.0 * c - d;
            b + 0.5 * t * ((c - a) + t * cubic)
        };
        (blend(|p| p.0), blend(|p| p.1))
    };
    let spans = points.len().saturating_sub(1);
    let last = points.last().copied();
    (0..spans).flat_map(move |i| (0..PIECES).map(move |k| curve(i, k as f32 / PIECES as f32))).chain(last)
}

/// How much of each pixel is covered by ink, from 0 to 1.
#[derive(Debug)]
pub(super) struct Canvas([f32; PIXELS]);

impl Canvas {
    /// An empty sheet.
    pub(super) fn new() -> Self {
        Self([0.0; PIXELS])
    }

    /// The cover of each pixel, row by row.
    pub(super) fn cover(&self) -> &[f32] {
        &self.0
    }

    /// Draws a polyline with a pen whose radius, in pixels, goes from `start` to `end`.
    pub(super) fn stroke(&mut self, path: &[(f32, f32)], start: f32, end: f32) {
        let pieces = path.len().saturating_sub(1).max(1) as f32;
        for (i, pair) in path.windows(2).enumerate() {
            let radius = start + (end - start) * (i as f32 / pieces);
            self.piece(pair[0], pair[1], radius);
        }
    }

    /// Draws a straight piece with round ends.
    fn piece(&mut self, from: (f32, f32), to: (f32, f32), radius: f32) {
        let reach = radius + 1.0;
        let range = |a: f32, b: f32| {
            // Conversions saturate, so that pieces off the sheet draw nothing.
            let (low, high) = ((a.min(b) - reach).max(0.0), (a.max(b) + reach).min(SIDE as f32));
            low as usize..high.max(0.0) as usize
        };
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let square = dx * dx + dy * dy;
        for y in range(from.1, to.1) {
            for x in range(from.0, to.0) {
                let (px, py) = (x as f32 + 0.5 - from.0, y as f32 + 0.5 - from.1);
                let t = if square > 0.0 { ((px * dx + py * dy) / square).clamp(0.0, 1.0) } else { 0.0 };
                let (ex, ey) = (px - t * dx, py - t * dy);
                let cover = (radius + 0.5 - (ex * ex + ey * ey).sqrt()).clamp(0.0, 1.0);
                let pixel = &mut self.0[y * SIDE + x];
                *pixel = pixel.max(cover);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_pass_through_their_points() {
        let points = [(0.0, 0.0), (1.0, 0.5), (2.0, 3.0)];
        let path: Vec<_> = smooth(&points).collect();
        assert_eq!(path.len(), 2 * PIECES + 1);
        assert_eq!((path[0], path[PIECES], path[2 * PIECES]), (points[0], points[1], points[2]));
        assert_eq!(smooth(&[]).count(), 0);
    }

    #[test]
    fn a_line_covers_its_area_wherever_it_runs() {
        let mut canvas = Canvas::new();
        canvas.stroke(&[(5.0, 14.0), (23.0, 14.0)], 2.0, 2.0);
        let area: f32 = canvas.cover().iter().sum();
        assert!((area - (18.0 * 4.0 + 12.57)).abs() < 3.0, "{area}");
        canvas.stroke(&[(-50.0, -9.0), (-3.0, 90.0)], 2.0, 1.0);
        assert_eq!(canvas.cover().iter().sum::<f32>(), area);
    }
}
