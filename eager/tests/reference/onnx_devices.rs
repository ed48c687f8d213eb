//! Ops of ONNX on a device against those of the host, over types, axes, attributes, empty tensors and
//! arguments that are wrong: changes of shape, elements and resized tensors.

use tfrt_tensor::HostTensor;

use crate::{
    EXACT, difference,
    support::{Case, Runner},
    tolerance_of,
};

pub(crate) const FLOATS: [&str; 4] = ["f32", "f16", "bf16", "f64"];
const NUMBERS: [&str; 12] =
    ["f32", "f16", "bf16", "f64", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64"];

/// A tensor of small numbers, the same in each run, in which halves occur if the type has them.
pub(crate) fn tensor(dtype: &str, dims: &[usize], seed: usize) -> String {
    let count: usize = dims.iter().product();
    let is_unsigned = dtype.starts_with("ui");
    let number = |i: usize| {
        let value = (i * 37 + seed * 11 + i / 5) % 13;
        match dtype {
            "i1" => (value % 2).to_string(),
            "c64" | "c128" => format!("{value}:{}", value % 3),
            _ if is_unsigned => value.to_string(),
            _ if dtype.contains('f') => (value as f64 / 2.0 - 3.0).to_string(),
            _ => (value as i64 - 6).to_string(),
        }
    };
    literal(dtype, dims, &(0..count).map(number).collect::<Vec<_>>())
}

pub(crate) fn literal(dtype: &str, dims: &[usize], elements: &[impl ToString]) -> String {
    let list = |numbers: Vec<String>, with: &str| numbers.join(with);
    let dims = list(dims.iter().map(ToString::to_string).collect(), ",");
    format!("{dtype}[{dims}] {}", list(elements.iter().map(ToString::to_string).collect(), " "))
}

/// The results of an op that gives `count`, or the first error.
fn results(runner: &Runner, line: &str, count: usize) -> Result<Vec<HostTensor>, String> {
    let case = Case::parse(&format!("{line} -> error")).unwrap_or_else(|error| panic!("{line}: {error}"));
    let arguments = case.arguments.iter().map(|tensor| runner.handle(tensor.clone()));
    let results = runner.call(&case.op, arguments, &case.attrs, count);
    let brought = results.iter().map(|handle| {
        let handle = runner.brought(handle);
        let tensor = handle.host_tensor().expect("all are available").map_err(|error| error.to_string())?;
        Ok(tensor.clone())
    });
    brought.collect()
}

/// Both runners, and what differed between them.
pub(crate) struct Comparison {
    host: Runner,
    device: Runner,
    wrong: Vec<String>,
}

impl Comparison {
    pub(crate) fn new() -> Self {
        Self { host: Runner::new("s"), device: Runner::on_device("s"), wrong: Vec::new() }
    }

    /// Compares the results of a call, of which there are `count`.
    pub(crate) fn check(&mut self, line: &str, count: usize) {
        let op = line.split(' ').next().unwrap_or_default();
        let known = self.host.core.ops().op(op).is_some_and(|op| op.runs_on_devices());
        assert!(known, "{op} does not run on devices");
        let wrong = match (results(&self.host, line, count), results(&self.device, line, count)) {
            (Ok(expected), Ok(found)) => expected.iter().zip(&found).find_map(|(expected, found)| {
                difference(found, expected, tolerance_of(op, expected.dtype()))
            }),
            (Err(error), _) => Some(format!("an error on the host: {error}")),
            (_, Err(error)) => Some(format!("an error on the device: {error}")),
        };
        self.wrong.extend(wrong.map(|wrong| format!("{line}\n    {wrong}")));
    }

    /// That a call is an error, on the host and on the device.
    pub(crate) fn refuses(&mut self, line: &str) {
        let outcomes = [results(&self.host, line, 1), results(&self.device, line, 1)];
        if outcomes.iter().any(Result::is_ok) {
            self.wrong.push(format!("{line}\n    is no error: {outcomes:?}"));
        }
    }

    pub(crate) fn end(self) {
        assert!(self.wrong.is_empty(), "{} calls differ\n{}", self.wrong.len(), self.wrong.join("\n"));
    }
}

#[test]
fn shapes_and_paddings() {
    let mut compared = Comparison::new();
    for dtype in NUMBERS.iter().chain(&["i1", "c64", "c128"]) {
        let x = tensor(dtype, &[2, 3, 4], 1);
        let one = tensor(dtype, &[], 5);
        for call in [
            format!("onnx.Reshape {{}} {x}; i64[2] 0 -1"),
            format!("onnx.Expand {{}} {}; i64[3] 2 1 4", tensor(dtype, &[3, 1], 2)),
            format!("onnx.Slice {{}} {x}; i64[2] -1 1; i64[2] -4 9; i64[2] 1 2; i64[2] -2 2"),
            format!("onnx.Squeeze {{}} {}; i64[1] -2", tensor(dtype, &[3, 1, 1], 2)),
            format!("onnx.Squeeze {{}} {}", tensor(dtype, &[3, 1, 1], 2)),
            format!("onnx.Unsqueeze {{}} {x}; i64[2] 0 -1"),
            format!("onnx.Pad {{}} {x}; i64[6] 1 0 2 0 2 1; {one}"),
            format!("onnx.Pad {{}} {x}; i64[6] 1 -1 2 0 -2 -1"),
            format!("onnx.Pad {{mode=s:edge}} {x}; i64[6] 1 0 2 0 2 1"),
            format!("onnx.Pad {{mode=s:reflect}} {x}; i64[6] 1 0 2 0 2 -1"),
            format!(
                "onnx.Pad {{mode=s:wrap operand_segment_sizes=li:1,1,0,1}} {x}; i64[4] 1 5 0 7; i64[2] 0 -1"
            ),
            format!("onnx.Pad {{}} {}; i64[2] 2 1; {one}", tensor(dtype, &[0], 2)),
            format!("onnx.Slice {{}} {}; i64[1] 0; i64[1] 9", tensor(dtype, &[0, 3], 2)),
            format!("onnx.Slice {{}} {x}; i64[1] -9; i64[1] -99; i64[1] 1; i64[1] -1"),
            // More axes than one move has.
            format!("tf.Tile {{}} {}; i64[4] 2 3 2 2", tensor(dtype, &[2, 3, 2, 2], 1)),
            format!("tf.Tile {{}} {}; i64[5] 2 1 3 2 0", tensor(dtype, &[2, 3, 2, 2, 2], 1)),
            format!("tf.Tile {{}} {}; i64[5] 2 2 1 2 2", tensor(dtype, &[2, 1, 3, 2, 2], 1)),
        ] {
            compared.check(&call, 1);
        }
    }
    let x = tensor("f32", &[2, 3], 1);
    for call in [
        format!("onnx.Reshape {{}} {x}; i64[1] 4"),
        format!("onnx.Expand {{}} {x}; i64[2] 2 5"),
        format!("onnx.Slice {{}} {x}; i64[1] 0; i64[1] 1; i64[1] 0; i64[1] 0"),
        format!("onnx.Squeeze {{}} {x}; i64[1] 0"),
        format!("onnx.Unsqueeze {{}} {x}; i64[2] 0 0"),
        format!("onnx.Pad {{}} {x}; i64[3] 1 1 1"),
        format!("onnx.Pad {{mode=s:mirror}} {x}; i64[4] 1 1 1 1"),
        format!("onnx.Pad {{mode=s:edge}} {x}; i64[4] -2 0 1 0"),
        format!("onnx.Pad {{mode=s:edge}} {}; i64[2] 1 0", tensor("f32", &[0], 1)),
    ] {
        compared.refuses(&call);
    }
    compared.end();
}

#[test]
fn elements_at_indices() {
    let mut compared = Comparison::new();
    for dtype in NUMBERS.iter().chain(&["i1", "c64", "c128"]) {
        let x = tensor(dtype, &[3, 4, 2], 1);
        for index in ["i32", "i64"] {
            let at = literal(index, &[2, 4, 2], &[0, 2, -1, 1, -3, 0, 2, 2, 1, 1, 0, -2, 2, 0, 1, -1]);
            let along = literal(index, &[3, 5, 2], &(0..30).map(|i| i % 8 - 4).collect::<Vec<i32>>());
            let pairs = literal(index, &[2, 2], &[2, -1, 0, 3]);
            let of_batch = literal(index, &[3, 2, 1], &[3, -1, 0, 1, -4, 2]);
            let deep = literal(index, &[3, 2, 2], &[3, -1, 0, 1, -4, 0, 1, 1, 2, -2, 0, 0]);
            compared.check(&format!("onnx.GatherElements {{}} {x}; {at}"), 1);
            compared.check(&format!("onnx.GatherElements {{axis=i:-2}} {x}; {along}"), 1);
            compared.check(&format!("onnx.GatherND {{}} {x}; {pairs}"), 1);
            compared.check(&format!("onnx.GatherND {{batch_dims=i:1}} {x}; {of_batch}"), 1);
            compared.check(&format!("onnx.GatherND {{batch_dims=i:1}} {x}; {deep}"), 1);
            let updates = tensor(dtype, &[2, 4, 2], 3);
            compared.check(&format!("onnx.ScatterElements {{}} {x}; {at}; {updates}"), 1);
            let rows = tensor(dtype, &[2, 2], 3);
            compared.check(&format!("onnx.ScatterND {{}} {x}; {pairs}; {rows}"), 1);
        }
        let updates = tensor(dtype, &[1, 5, 2], 3);
        let at = literal("i64", &[1, 5, 2], &[0, 2, 1, 1, -4, 0, 2, 2, 1, -1]);
        let twice = literal("i32", &[3, 1], &[0, 2, -1]);
        for reduction in ["add", "mul", "max", "min"] {
            if ["i1", "c64", "c128"].contains(dtype) {
                continue;
            }
            let attrs = format!("axis=i:1 reduction=s:{reduction}");
            compared.check(&format!("onnx.ScatterElements {{{attrs}}} {x}; {at}; {updates}"), 1);
            let units = tensor(dtype, &[3, 4, 2], 3);
            compared.check(&format!("onnx.ScatterND {{reduction=s:{reduction}}} {x}; {twice}; {units}"), 1);
        }
        for (upper, k) in [(0, 0), (1, 0), (1, 2), (1, -1), (0, 1), (0, -2), (1, 99), (0, -99)] {
            let matrices = tensor(dtype, &[2, 3, 4], 2);
            compared.check(&format!("onnx.Trilu {{upper=i:{upper}}} {matrices}; i64[] {k}"), 1);
        }
        let values = tensor(dtype, &[2], 4);
        compared.check(&format!("onnx.OneHot {{}} i64[2,2] 0 -1 3 7; i64[] 4; {values}"), 1);
        compared.check(&format!("onnx.OneHot {{axis=i:0}} f32[3] 1.5 -4 -5; f32[1] 4; {values}"), 1);
        compared.check(&format!("onnx.OneHot {{axis=i:1}} ui8[3] 1 0 255; i32[] 2; {values}"), 1);
    }
    let empty = tensor("f32", &[0, 3], 1);
    compared.check(&format!("onnx.GatherElements {{axis=i:1}} {empty}; i64[0,2]"), 1);
    compared.check(&format!("onnx.ScatterElements {{}} {}; i64[0,3]; {empty}", tensor("f32", &[2, 3], 1)), 1);
    compared.check(&format!("onnx.Trilu {{}} {empty}; i64[] 1"), 1);
    let x = tensor("f32", &[2, 3], 1);
    for call in [
        format!("onnx.GatherElements {{axis=i:2}} {x}; i64[1,1] 0"),
        format!("onnx.GatherElements {{}} {x}; i64[1] 0"),
        format!("onnx.GatherElements {{}} {x}; f32[1,1] 0"),
        format!("onnx.GatherElements {{}} {empty}; i64[1,1] 0"),
        format!("onnx.GatherND {{batch_dims=i:1}} {x}; i64[1,1] 0"),
        format!("onnx.GatherND {{}} {x}; i64[1,3] 0 0 0"),
        format!("onnx.ScatterElements {{}} {x}; i64[1,1] 2; f32[1,1] 0"),
        format!("onnx.ScatterElements {{reduction=s:div}} {x}; i64[1,1] 0; f32[1,1] 0"),
        format!("onnx.ScatterND {{}} {x}; i64[1,1] 0; f32[1,2] 0 0"),
        format!("onnx.ScatterND {{}} {x}; i64[1,1] -3; f32[1,3] 0 0 0"),
        "onnx.Trilu {} f32[2] 1 2".to_owned(),
        "onnx.OneHot {} i64[1] 0; i64[] -1; f32[2] 0 1".to_owned(),
        "onnx.OneHot {} i64[1] 0; i64[] 2; f32[3] 0 1 2".to_owned(),
    ] {
        compared.refuses(&call);
    }
    compared.end();
}

#[test]
fn lines_and_functions() {
    let mut compared = Comparison::new();
    for dtype in NUMBERS {
        let x = tensor(dtype, &[3, 5, 2], 1);
        for (axis, flags) in
            [(0, ""), (1, "exclusive=i:1"), (-1, "reverse=i:1"), (1, "exclusive=i:1 reverse=i:1")]
        {
            compared.check(&format!("onnx.CumSum {{{flags}}} {x}; i64[] {axis}"), 1);
        }
        for (axis, k, largest) in [(0, 2, 1), (1, 5, 0), (-1, 1, 1), (1, 0, 0)] {
            let attrs = format!("axis=i:{axis} largest=i:{largest}");
            compared.check(&format!("onnx.TopK {{{attrs}}} {x}; i64[1] {k}"), 2);
        }
        let divisor = literal(dtype, &[5, 1], &["3", "2", "1", "4", "5"]);
        compared.check(&format!("onnx.Mod {{fmod=i:1}} {x}; {divisor}"), 1);
        compared.check(&format!("onnx.Mod {{}} {x}; {divisor}"), 1);
    }
    for dtype in FLOATS {
        let odd = format!("{dtype}[2,4] NaN 1 inf -inf 2 NaN -inf 3");
        compared.check(&format!("onnx.TopK {{}} {odd}; i64[1] 3"), 2);
        compared.check(&format!("onnx.TopK {{largest=i:0}} {odd}; i64[1] 4"), 2);
        for (negative, positive) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let attrs = format!("detect_negative=i:{negative} detect_positive=i:{positive}");
            compared.check(&format!("onnx.IsInf {{{attrs}}} {odd}"), 1);
        }
        for op in ["Softmax", "LogSoftmax", "Hardmax"] {
            for (axis, dims) in [(0, &[4, 3, 2][..]), (1, &[4, 3, 2]), (-1, &[4, 3, 2]), (1, &[2, 0, 3])] {
                compared.check(&format!("onnx.{op} {{axis=i:{axis}}} {}", tensor(dtype, dims, 3)), 1);
            }
        }
    }
    let x = tensor("f32", &[2, 3], 1);
    for call in [
        format!("onnx.CumSum {{}} {x}; i64[] 2"),
        format!("onnx.TopK {{}} {x}; i64[1] 4"),
        format!("onnx.TopK {{}} {x}; i64[1] -1"),
        format!("onnx.Softmax {{axis=i:2}} {x}"),
        format!("onnx.Mod {{}} {x}; f32[2] 1 2"),
    ] {
        compared.refuses(&call);
    }
    compared.end();
}

#[test]
fn resized_tensors() {
    let mut compared = Comparison::new();
    let modes = ["mode=s:nearest", "mode=s:linear", "mode=s:cubic", "mode=s:cubic exclude_outside=i:1"];
    let transformations = [
        "half_pixel",
        "half_pixel_symmetric",
        "pytorch_half_pixel",
        "align_corners",
        "asymmetric",
        "tf_half_pixel_for_nn",
    ];
    for dtype in NUMBERS {
        let x = tensor(dtype, &[1, 2, 4, 5], 1);
        for mode in modes {
            for antialias in [0, 1] {
                let attrs = format!("{mode} antialias=i:{antialias}");
                let scales = "f32[4] 1 1 0.6 1.7";
                let given = "operand_segment_sizes=li:1,0,1";
                compared.check(&format!("onnx.Resize {{{attrs} {given}}} {x}; {scales}"), 1);
                let given = "operand_segment_sizes=li:1,0,0,1 axes=li:3,1";
                compared.check(&format!("onnx.Resize {{{attrs} {given}}} {x}; i64[2] 3 5"), 1);
            }
        }
    }
    let x = tensor("f32", &[2, 4, 5], 1);
    for mode in modes {
        for transformation in transformations {
            let attrs = format!("{mode} coordinate_transformation_mode=s:{transformation}");
            let given = "operand_segment_sizes=li:1,0,0,1";
            compared.check(&format!("onnx.Resize {{{attrs} {given}}} {x}; i64[3] 2 7 3"), 1);
        }
        let attrs =
            format!("{mode} coordinate_transformation_mode=s:tf_crop_and_resize extrapolation_value=f:9.5");
        let roi = "f32[6] 0 -0.4 0.2 1 0.8 1.1";
        let given = "operand_segment_sizes=li:1,1,0,1";
        compared.check(&format!("onnx.Resize {{{attrs} {given}}} {x}; {roi}; i64[3] 2 7 3"), 1);
    }
    let given = "operand_segment_sizes=li:1,0,0,1 mode=s:linear";
    compared.check(&format!("onnx.Resize {{{given}}} {}; i64[2] 0 4", tensor("f32", &[0, 3], 1)), 1);
    compared.check(&format!("onnx.Resize {{{given}}} {}; i64[2] 2 0", tensor("f32", &[2, 3], 1)), 1);
    for call in [
        format!("onnx.Resize {{{given}}} {x}; i64[2] 2 2"),
        format!("onnx.Resize {{{given}}} {}; i64[2] 2 2", tensor("f32", &[0, 3], 1)),
        format!("onnx.Resize {{mode=s:quadratic operand_segment_sizes=li:1,0,0,1}} {x}; i64[3] 2 2 2"),
        format!("onnx.Resize {{operand_segment_sizes=li:1,0,1}} {x}; f32[3] 1 -1 1"),
        format!("onnx.Resize {{}} {x}"),
    ] {
        compared.refuses(&call);
    }
    compared.end();
}

/// Indices out of bounds give zeros, and lengths beyond the steps are the steps.
#[test]
fn devices_read_nothing_out_of_bounds() {
    let device = Runner::on_device("s");
    let check = |line: &str, expected: &str| {
        let expected =
            Case::parse(&format!("tf.Identity {{}} {expected} -> error")).map(|case| case.arguments);
        let expected = expected.unwrap_or_else(|error| panic!("{line}: {error}"));
        let found = results(&device, line, 1).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(difference(&found[0], &expected[0], EXACT), None, "{line}");
    };
    check("onnx.GatherElements {} i32[3] 1 2 3; i64[4] 3 -4 9223372036854775807 2", "i32[4] 0 0 0 3");
    check("onnx.GatherND {} i32[2,2] 1 2 3 4; i64[4,2] 0 2 2 0 -3 0 1 -1", "i32[4] 0 0 0 4");
    check("onnx.GatherND {batch_dims=i:1} i32[2,2] 1 2 3 4; i64[2,2,1] 2 1 -3 0", "i32[2,2] 0 2 0 3");
    let rotated = "f32[1,1,2,2] 1 2 3 4; f32[1,1] 1; f32[1,1] 0; i64[1,2] 0 5";
    check(&format!("onnx.RotaryEmbedding {{}} {rotated}"), "f32[1,1,2,2] 1 2 0 0");
    let regions = "f32[1,1,2,2] 1 1 1 1; f32[2,4] 0 0 2 2 0 0 2 2; i64[2] 0 7";
    check(&format!("onnx.RoiAlign {{}} {regions}"), "f32[2,1,1,1] 1 0");
    let steps = "f32[2,1,1] 1 2; f32[1,1,1] 1; f32[1,1,1] 0; f32[1,2] 0 0";
    check(
        &format!("onnx.RNN {{activations=ls:Relu result_segment_sizes=li:1,0}} {steps}; i32[1] 9"),
        "f32[2,1,1,1] 1 2",
    );
}
