//! Walking over the windows of a batch of images.

use crate::window::Window;

/// One window: the image and the position among its windows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pixel {
    pub(super) image: usize,
    pub(super) y: usize,
    pub(super) x: usize,
}

impl Pixel {
    /// Returns the `number`-th window of a batch of images.
    pub(super) fn new(window: &Window, number: usize) -> Self {
        let (height, width) = (window.y.output.max(1), window.x.output.max(1));
        Self { image: number / width / height, y: number / width % height, x: number % width }
    }

    /// Returns the window after this one.
    pub(super) fn next(self, window: &Window) -> Self {
        if self.x + 1 < window.x.output {
            Self { x: self.x + 1, ..self }
        } else if self.y + 1 < window.y.output {
            Self { x: 0, y: self.y + 1, ..self }
        } else {
            Self { x: 0, y: 0, image: self.image + 1 }
        }
    }
}
