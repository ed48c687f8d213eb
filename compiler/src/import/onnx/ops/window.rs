//! Windows that move over the spatial dimensions of images.

use tfrt_ir::{Attribute, ValueId};

use crate::import::onnx::node::{ImportError, Imported, Node, ints};

/// From channels first to channels last.
pub(super) const TO_LAST: [i64; 4] = [0, 2, 3, 1];
/// From channels last to channels first.
pub(super) const TO_FIRST: [i64; 4] = [0, 3, 1, 2];

/// How a window moves over the spatial dimensions.
#[derive(Clone, Debug)]
pub(super) struct Window {
    pub(super) kernel: Vec<i64>,
    strides: Vec<i64>,
    pub(super) dilations: Vec<i64>,
    /// Before and after each dimension; `None` where `auto_pad` says `SAME` of extents that are not
    /// known.
    pads: Option<Vec<[i64; 2]>>,
    auto_pad: String,
    has_ceil_mode: bool,
}

/// How a window moves over the first of three spatial dimensions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Depth {
    pub(super) kernel: i64,
    pub(super) stride: i64,
    pub(super) dilation: i64,
    /// Before and after, not negative.
    pub(super) pads: [i64; 2],
}

impl Window {
    /// The window of a node over an input, with a kernel that the node's attribute or filter gives.
    pub(super) fn new(node: &Node<'_, '_>, x: ValueId, kernel: Vec<i64>) -> Imported<Self> {
        let (rank, dims) = (kernel.len(), node.dims(x)?);
        if dims.len() != rank + 2 || kernel.iter().any(|&extent| extent < 1) {
            let found = dims.len();
            return Err(
                format!("a kernel of shape {kernel:?} does not fit an input of {found} dimensions").into()
            );
        }
        let list = |name: &str| -> Imported<Vec<i64>> {
            let list = node.ints(name)?.unwrap_or_else(|| vec![1; rank]);
            match list.len() == rank && list.iter().all(|&number| number > 0) {
                true => Ok(list),
                false => Err(ImportError(format!("attribute '{name}' must have {rank} positive numbers"))),
            }
        };
        let mut window = Self {
            kernel,
            strides: list("strides")?,
            dilations: list("dilations")?,
            pads: None,
            auto_pad: node.string_or("auto_pad", "NOTSET")?,
            has_ceil_mode: node.flag("ceil_mode")?,
        };
        window.pads = match window.auto_pad.as_str() {
            "NOTSET" | "" => {
                let pads = node.ints("pads")?.unwrap_or_else(|| vec![0; 2 * rank]);
                if pads.len() != 2 * rank {
                    return Err(ImportError(format!("attribute 'pads' must have {} numbers", 2 * rank)));
                }
                Some((0..rank).map(|axis| [pads[axis], pads[axis + rank]]).collect())
            }
            "VALID" => Some(vec![[0, 0]; rank]),
            "SAME_UPPER" | "SAME_LOWER" => (0..rank).map(|axis| window.same(axis, dims[axis + 2])).collect(),
            other => return Err(ImportError(format!("'{other}' is not a value of attribute 'auto_pad'"))),
        };
        if window.auto_pad.starts_with("SAME") || window.keeps_extents(&dims[2..]) {
            // Nothing is left over that would be rounded.
            window.has_ceil_mode = false;
        }
        Ok(window)
    }

    /// The padding along an axis of an extent that makes as many outputs as there are strides in
    /// it.
    fn same(&self, axis: usize, extent: Option<u64>) -> Option<[i64; 2]> {
        let extent = i64::try_from(extent?).ok()?;
        let covered = (self.kernel[axis] - 1).checked_mul(self.dilations[axis])?.checked_add(1)?;
        let count = extent.checked_add(self.strides[axis] - 1)? / self.strides[axis];
        let total = ((count - 1).checked_mul(self.strides[axis])?.checked_add(covered)? - extent).max(0);
        let (less, more) = (total / 2, total - total / 2);
        Some(if self.auto_pad == "SAME_LOWER" { [more, less] } else { [less, more] })
    }

    /// Whether the last window ends where the padded input does, as far as can be known.
    fn keeps_extents(&self, dims: &[Option<u64>]) -> bool {
        let Some(pads) = &self.pads else { return false };
        let is_exact = |axis: usize| -> Option<bool> {
            let extent =
                i64::try_from(dims[axis]?).ok()?.checked_add(pads[axis][0])?.checked_add(pads[axis][1])?;
            let covered = (self.kernel[axis] - 1).checked_mul(self.dilations[axis])?.checked_add(1)?;
            Some((extent - covered) % self.strides[axis] == 0)
        };
        (0..self.kernel.len()).all(|axis| is_exact(axis).unwrap_or(self.strides[axis] == 1))
    }

    /// Checks that the number of windows over an input of these spatial extents is not negative, as
    /// far as they are known. Where it is 0 the result is empty, as in ONNX Runtime.
    pub(super) fn check_fits(&self, dims: &[Option<u64>]) -> Imported<()> {
        let Some(pads) = &self.pads else { return Ok(()) };
        for (axis, &[before, after]) in pads.iter().enumerate() {
            let Some(extent) = dims[axis].and_then(|extent| i64::try_from(extent).ok()) else { continue };
            let covered = (self.kernel[axis] - 1)
                .checked_mul(self.dilations[axis])
                .and_then(|reach| reach.checked_add(1))
                .ok_or("the window is too large")?;
            let padded = extent.saturating_add(before).saturating_add(after);
            let stride = self.strides[axis];
            let beyond = if self.has_ceil_mode { stride.saturating_mul(2) - 1 } else { stride };
            if extent > 0 && covered.saturating_sub(padded) > beyond {
                let message = format!(
                    "a window over {covered} elements does not fit {padded} padded ones of dimension {}",
                    axis + 2
                );
                return Err(ImportError(message));
            }
        }
        Ok(())
    }

    /// Whether TensorFlow's ops on images have such windows: with known padding that does not crop,
    /// and rounded down.
    pub(super) fn is_for_images(&self) -> bool {
        let is_padding = |pads: &Vec<[i64; 2]>| pads.iter().flatten().all(|&pad| pad >= 0);
        self.kernel.len() <= 2 && !self.has_ceil_mode && self.pads.as_ref().is_some_and(is_padding)
    }

    /// A window that gives the same outputs of an input of these spatial extents, rounded down: where
    /// the last one would be left out, more is added behind. It may not count as the padding does.
    /// `None` if what is needed is not known.
    pub(super) fn rounded_down(&self, extents: &[Option<u64>]) -> Option<Self> {
        let mut window = Self { has_ceil_mode: false, ..self.clone() };
        if self.has_ceil_mode {
            let pads = self.pads.as_ref()?;
            let each =
                (0..self.kernel.len()).map(|axis| self.pad_rounded_down(axis, extents[axis]?, pads[axis]));
            window.pads = Some(each.collect::<Option<_>>()?);
        }
        Some(window)
    }

    /// The padding of an axis for [`Window::rounded_down`].
    fn pad_rounded_down(&self, axis: usize, extent: u64, [before, after]: [i64; 2]) -> Option<[i64; 2]> {
        let stride = self.strides[axis];
        let covered = (self.kernel[axis] - 1).checked_mul(self.dilations[axis])?.checked_add(1)?;
        let from_first = i64::try_from(extent).ok()?.checked_add(before)?;
        let steps = from_first.checked_add(after)?.checked_sub(covered)?;
        if steps < 0 {
            return None;
        }
        // Where the last window begins, counted from the first.
        let last = steps.checked_add(stride - 1)?.div_euclid(stride).checked_mul(stride)?;
        if last < from_first {
            return Some([before, last + covered - from_first]);
        }
        // A window that would begin in the padding behind the input is left out, and so it is when
        // rounded down if it would also end behind the padding.
        (last > steps).then_some([before, after])
    }

    /// Whether nothing is added around the input.
    pub(super) fn is_unpadded(&self) -> bool {
        self.pads.as_ref().is_some_and(|pads| pads.iter().all(|pad| *pad == [0, 0]))
    }

    /// The window over images of height one that a window over rows is.
    pub(super) fn of_rows(self) -> Self {
        let before = |list: Vec<i64>| [1].into_iter().chain(list).collect();
        Self {
            kernel: before(self.kernel),
            strides: before(self.strides),
            dilations: before(self.dilations),
            pads: self.pads.map(|pads| [[0, 0]].into_iter().chain(pads).collect()),
            ..self
        }
    }

    /// The window of the first of three spatial dimensions and that of the other two, if the padding
    /// is known and does not crop.
    pub(super) fn split_depth(&self) -> Option<(Depth, Self)> {
        let (&[kernel, ..], &[stride, ..], &[dilation, ..], [pads, ..]) =
            (&*self.kernel, &*self.strides, &*self.dilations, &**self.pads.as_ref()?)
        else {
            return None;
        };
        let planes = Self {
            kernel: self.kernel[1..].to_vec(),
            strides: self.strides[1..].to_vec(),
            dilations: self.dilations[1..].to_vec(),
            pads: self.pads.as_ref().map(|pads| pads[1..].to_vec()),
            ..self.clone()
        };
        let is_plain = self.kernel.len() == 3 && pads.iter().all(|&pad| pad >= 0) && planes.is_for_images();
        is_plain.then_some((Depth { kernel, stride, dilation, pads: *pads }, planes))
    }

    /// The attributes of an `onnx.*` op with this window.
    pub(super) fn onnx_attributes(&self) -> Vec<(&'static str, Attribute)> {
        let mut attributes = vec![
            ("kernel_shape", ints(&self.kernel)),
            ("strides", ints(&self.strides)),
            ("dilations", ints(&self.dilations)),
        ];
        attributes.push(match &self.pads {
            Some(pads) => {
                let pads: Vec<i64> =
                    pads.iter().map(|pad| pad[0]).chain(pads.iter().map(|pad| pad[1])).collect();
                ("pads", ints(&pads))
            }
            None => ("auto_pad", Attribute::string(self.auto_pad.clone())),
        });
        if self.has_ceil_mode {
            attributes.push(("ceil_mode", Attribute::i64(1)));
        }
        attributes
    }

    /// Strides and padding of TensorFlow's ops on images with the channels last.
    pub(super) fn image_attributes(&self) -> Vec<(&'static str, Attribute)> {
        let mut attributes = vec![("strides", self.each(&self.strides))];
        match self.pads.as_deref() {
            Some(&[[top, bottom], [left, right]]) if !self.is_unpadded() => {
                attributes.push(("padding", Attribute::string("EXPLICIT")));
                attributes.push(("explicit_paddings", ints(&[0, 0, top, bottom, left, right, 0, 0])));
            }
            _ => attributes.push(("padding", Attribute::string("VALID"))),
        }
        attributes
    }

    /// Numbers of the two spatial dimensions, among those of all.
    pub(super) fn each(&self, list: &[i64]) -> Attribute {
        ints(&[&[1], list, &[1]].concat())
    }
}

/// Inserts a dimension of extent one.
pub(super) fn insert(node: &mut Node<'_, '_>, x: ValueId, axis: i64) -> Imported<ValueId> {
    let axis = node.add_integer(axis)?;
    node.op("tf.ExpandDims", &[x, axis], &[])
}

/// Takes away a dimension of extent one.
pub(super) fn remove(node: &mut Node<'_, '_>, x: ValueId, axis: i64) -> Imported<ValueId> {
    node.op("tf.Squeeze", &[x], &[("squeeze_dims", ints(&[axis]))])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of windows along an axis, by the definition.
    fn count(
        extent: i64,
        (covered, stride): (i64, i64),
        [before, after]: [i64; 2],
        is_rounded_up: bool,
    ) -> i64 {
        let rest = extent + before + after - covered;
        if !is_rounded_up {
            return rest / stride + 1;
        }
        let windows = (rest + stride - 1) / stride + 1;
        windows - i64::from((windows - 1) * stride >= extent + before)
    }

    #[test]
    fn windows_that_are_rounded_down_are_as_many() {
        let (mut grown, mut same) = (0, 0);
        for (extent, kernel, stride, dilation) in (1..12).flat_map(|e| {
            (1..5).flat_map(move |k| (1..5).flat_map(move |s| (1..3).map(move |d| (e, k, s, d))))
        }) {
            let covered = (kernel - 1) * dilation + 1;
            for pads in (0..kernel).flat_map(|before| (0..kernel).map(move |after| [before, after])) {
                if extent + pads[0] + pads[1] < covered {
                    continue;
                }
                let window = Window {
                    kernel: vec![kernel],
                    strides: vec![stride],
                    dilations: vec![dilation],
                    pads: Some(vec![pads]),
                    auto_pad: "NOTSET".to_owned(),
                    has_ceil_mode: true,
                };
                let wanted = count(extent, (covered, stride), pads, true);
                let down = window.rounded_down(&[u64::try_from(extent).ok()]).unwrap();
                let found = down.pads.unwrap()[0];
                assert_eq!(
                    count(extent, (covered, stride), found, false),
                    wanted,
                    "{window:?} over {extent}"
                );
                assert!(
                    !down.has_ceil_mode && found[1] < covered.max(pads[1] + 1),
                    "{window:?} over {extent}"
                );
                if found == pads { same += 1 } else { grown += 1 }
            }
        }
        assert!(grown > 100 && same > 100, "{grown} and {same}");
    }

    #[test]
    fn windows_over_unknown_extents_are_not_rounded_down() {
        let window = Window {
            kernel: vec![3],
            strides: vec![2],
            dilations: vec![1],
            pads: Some(vec![[0, 0]]),
            auto_pad: "NOTSET".to_owned(),
            has_ceil_mode: true,
        };
        assert!(window.rounded_down(&[None]).is_none());
        assert!(Window { has_ceil_mode: false, ..window }.rounded_down(&[None]).is_some());
    }
}
