#!/usr/bin/env python3
"""Write the results of ONNX ops on small inputs, for `eager/tests/reference.rs` to compare ours with.

    python3 -m venv env && env/bin/pip install onnx==1.22.0 onnxruntime==1.32.0
    env/bin/python tests/reference/make_onnx.py

Each family is a file onnx_FAMILY.txt beside this script, in the format that `make.py` describes. ONNX Runtime computes the
results, or the reference implementation of the `onnx` package where ONNX Runtime lacks an op or a type. Inputs are random
numbers from a fixed seed.
"""
import os

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

NAMES = {
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "int8": "i8", "int16": "i16", "int32": "i32",
    "int64": "i64", "uint8": "ui8", "uint16": "ui16", "uint32": "ui32", "uint64": "ui64", "bool": "i1",
}
# Attributes that name an element type, which are types in our registry.
TYPES = {"dtype", "output_dtype", "output_datatype"}
OPSET = 22

lines = []
rng = np.random.default_rng(0)
f32, f64, f16, i32, i64, i8, u8 = np.float32, np.float64, np.float16, np.int32, np.int64, np.int8, np.uint8


def random(*shape, dtype=f32, low=-2.0, high=2.0):
    """Random numbers between two bounds."""
    if np.dtype(dtype).kind in "iu":
        low = 0 if np.dtype(dtype).kind == "u" else low
        return rng.integers(int(low), int(high), shape).astype(dtype)
    return np.asarray(np.round(rng.uniform(low, high, shape), 3)).astype(dtype)


def ints(*values):
    return np.array(values, i64)


def element(value):
    if isinstance(value, (bool, np.bool_)):
        return "1" if value else "0"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, np.float64):
        return repr(float(value))
    return repr(float(np.format_float_scientific(np.float32(value), unique=True)))


def tensor(value):
    value = np.asarray(value)
    elements = " ".join(element(e) for e in value.reshape(-1))
    return f"{NAMES[value.dtype.name]}[{','.join(map(str, value.shape))}] {elements}".rstrip()


def attribute(name, value):
    if name in TYPES:
        return f"t:{NAMES[helper.tensor_dtype_to_np_dtype(value).name]}"
    if isinstance(value, int):
        return f"i:{value}"
    if isinstance(value, float):
        return f"f:{value!r}"
    if isinstance(value, str):
        return f"s:{value}"
    if isinstance(value[0], str):
        return "ls:" + ",".join(value)
    kind = "lf" if isinstance(value[0], float) else "li"
    return f"{kind}:" + ",".join(map(str, value))


def computed(node, names, inputs):
    """The results by ONNX Runtime, or else by the reference implementation in the newest opset."""
    kinds = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for n, x in zip(names, inputs)]
    attempts = [(OPSET, by_runtime), (23, by_runtime), (17, by_runtime), (onnx.defs.onnx_opset_version(), by_reference)]
    # ONNX Runtime computes these with little precision.
    is_rough = node.op_type in ("DFT", "STFT") or node.op_type.endswith("Window")
    for opset, run in attempts[-1:] if is_rough else attempts:
        outputs = [onnx.ValueInfoProto(name=n) for n in node.output if n]
        graph = helper.make_graph([node], "case", kinds, outputs)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
        try:
            return run(model, dict(zip(names, inputs)))
        except Exception as error:  # each of them has its own exception types
            failure = error
    raise failure


def by_runtime(model, inputs):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


def by_reference(model, inputs):
    return ReferenceEvaluator(model).run(None, inputs)


def case(op, *inputs, outputs=(1,), **attributes):
    """Record one call. An input that is absent is None; `outputs` has a 1 for each wanted output."""
    inputs = [None if x is None else np.asarray(x) for x in inputs]
    given = [x for x in inputs if x is not None]
    names = [f"x{i}" for i in range(len(given))]
    rest = iter(names)
    node = helper.make_node(op, [next(rest) if x is not None else "" for x in inputs], [f"y{i}" if w else "" for i, w in enumerate(outputs)], **attributes)
    results = computed(node, names, given)
    words = [f"{name}={attribute(name, value)}" for name, value in attributes.items()]
    if any(x is None for x in inputs):
        words.append("operand_segment_sizes=li:" + ",".join("0" if x is None else "1" for x in inputs))
    if len(outputs) > 1 or op in ("LSTM", "GRU", "RNN"):
        words.append("result_segment_sizes=li:" + ",".join(map(str, outputs)))
    # Ops that always give all their outputs do not take the attribute.
    if op in ("TopK", "DynamicQuantizeLinear"):
        words.pop()
    lines.append(f"onnx.{op} {{{' '.join(words)}}} " + "; ".join(map(tensor, given)) + " -> " + "; ".join(map(tensor, results)))


def refused(text):
    """Record a call that ours must refuse."""
    lines.append(f"{text} -> error")


def network():
    x1, x2, x3 = random(2, 4, 9), random(2, 4, 7, 6), random(1, 2, 4, 5, 3)
    for x, k in ((x1, [3]), (x2, [3, 2]), (x3, [2, 3, 2])):
        n, c = len(k), x.shape[1]
        w, b = random(6, c, *k), random(6)
        case("Conv", x, w, b)
        case("Conv", x, w, strides=[2] * n, pads=[1] * n + [2] * n)
        case("Conv", x, random(6, c // 2, *k), b, group=2, dilations=[2] * n, pads=[2] * (2 * n))
        case("Conv", x, random(c, 1, *k), group=c, auto_pad="SAME_UPPER")
        case("ConvTranspose", x, random(c, 3, *k), random(3), strides=[2] * n, output_padding=[1] * n)
        case("ConvTranspose", x, random(c, 3, *k), group=2, dilations=[2] * n, pads=[1] * (2 * n))
        case("ConvTranspose", x, random(c, 2, *k), strides=[2] * n, auto_pad="SAME_LOWER")
        case("MaxPool", x, kernel_shape=k, strides=[2] * n, pads=[1] * n + [0] * n, ceil_mode=1)
        case("MaxPool", x, kernel_shape=k, dilations=[2] * n, outputs=(1, 1), pads=[1] * (2 * n))
        case("AveragePool", x, kernel_shape=k, strides=[2] * n, pads=[1] * (2 * n))
        case("AveragePool", x, kernel_shape=k, count_include_pad=1, pads=[1] * (2 * n), auto_pad="NOTSET")
        case("LpPool", x, kernel_shape=k, p=3)
        for op in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
            case(op, x)
    case("ConvTranspose", x2, random(4, 2, 3, 3), strides=[2, 2], output_shape=[13, 12])
    for dtype in (f64, f16):
        case("Conv", random(1, 2, 5, 5, dtype=dtype), random(2, 2, 3, 3, dtype=dtype), pads=[1, 1, 1, 1])
        case("MaxPool", random(1, 2, 5, 5, dtype=dtype), kernel_shape=[2, 2])
    case("MaxPool", random(1, 1, 5, 5, dtype=u8, high=200), kernel_shape=[2, 2], strides=[2, 2])
    case("MaxUnpool", random(1, 1, 2, 2), np.array([[[[5, 7], [13, 15]]]], i64), kernel_shape=[2, 2], strides=[2, 2])
    data = random(2, 3, 4)
    for mode in ("constant", "reflect", "edge", "wrap"):
        case("Pad", data, ints(0, 1, 2, 1, 0, 1), mode=mode)
        case("Pad", data, ints(1, -1), None, ints(-2), mode=mode)
    case("Pad", data, ints(0, 1, 2, -1, 0, 1), f32(2.5))
    x = random(1, 2, 4, 5)
    for mode in ("nearest", "linear", "cubic"):
        for transformation in ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric"):
            # Where extents are rounded, ONNX Runtime aligns corners in another way than the standard.
            height = 1.75 if transformation == "align_corners" else 1.7
            case("Resize", x, None, f32([1, 1, height, 2.0]), mode=mode, coordinate_transformation_mode=transformation)
            case("Resize", x, None, None, ints(3, 2), axes=[2, 3], mode=mode, coordinate_transformation_mode=transformation)
        if mode != "nearest":
            case("Resize", x, None, f32([1, 1, 0.5, 0.4]), mode=mode, antialias=1)
            case("Resize", x, None, None, ints(1, 2, 2, 3), mode=mode, antialias=1)
    for rounding in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
        case("Resize", x, None, f32([1, 1, 0.7, 1.6]), mode="nearest", nearest_mode=rounding)
    case("Resize", x, None, f32([1, 1, 1.5, 1.5]), mode="cubic", exclude_outside=1, cubic_coeff_a=-0.5)
    for policy in ("not_larger", "not_smaller"):
        case("Resize", x, None, None, ints(7, 7), axes=[2, 3], mode="linear", keep_aspect_ratio_policy=policy)
    case("Resize", x, f32([0, 0, 0.2, 0.1, 1, 1, 1.3, 0.9]), None, ints(1, 2, 3, 4), mode="linear", coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=7.0)
    x = random(2, 4, 3, 5)
    case("LayerNormalization", x, random(5), random(5))
    case("LayerNormalization", x, random(3, 5), axis=2, epsilon=0.01, outputs=(1, 1, 1))
    case("RMSNormalization", x, random(5))
    case("InstanceNormalization", x, random(4), random(4))
    case("GroupNormalization", x, random(4), random(4), num_groups=2)
    case("BatchNormalization", x, random(4), random(4), random(4), random(4, low=0.5))
    case("BatchNormalization", x, random(4), random(4), random(4), random(4, low=0.5), training_mode=1, outputs=(1, 1, 1))
    case("LRN", x, size=3, alpha=0.1, beta=0.5, bias=2.0)
    for axis in (0, 2, -1):
        for op in ("Softmax", "LogSoftmax", "Hardmax"):
            case(op, x, axis=axis)
    q, k, v = random(2, 4, 3, 8), random(2, 2, 5, 8), random(2, 2, 5, 6)
    case("Attention", q, k, v)
    case("Attention", q, k, v, random(3, 5), is_causal=1, softcap=2.0, scale=0.3)
    case("Attention", random(2, 3, 8), random(2, 5, 4), random(2, 5, 6), q_num_heads=4, kv_num_heads=2)
    case("Attention", q, k, v, None, random(2, 2, 2, 8), random(2, 2, 2, 6), outputs=(1, 1, 1))
    cos, sin = random(9, 4), random(9, 4)
    case("RotaryEmbedding", random(2, 3, 4, 8), cos, sin, rng.integers(0, 9, (2, 4)))
    case("RotaryEmbedding", random(2, 4, 16), cos, sin, rng.integers(0, 9, (2, 4)), num_heads=2, interleaved=1)
    image = random(1, 2, 6, 7)
    rois = f32([[0.5, 1, 5, 4.5], [0, 0, 6.9, 5.2]])
    for mode in ("avg", "max"):
        case("RoiAlign", image, rois, ints(0, 0), mode=mode, output_height=2, output_width=3, sampling_ratio=2)
    case("RoiAlign", image, rois, ints(0, 0), spatial_scale=0.7, output_height=3, output_width=2, coordinate_transformation_mode="output_half_pixel")
    case("MaxRoiPool", image, f32([[0, 1, 1, 5, 4], [0, 0, 2, 3, 3]]), pooled_shape=[2, 2])
    for mode in ("linear", "nearest", "cubic"):
        for padding in ("zeros", "border", "reflection"):
            case("GridSample", image, random(1, 3, 3, 2, low=-1.3, high=1.3), mode=mode, padding_mode=padding, align_corners=int(mode == "cubic"))
    case("GridSample", random(1, 2, 3, 4, 2), random(1, 2, 2, 3, 3, low=-1.1, high=1.1))
    case("AffineGrid", random(2, 2, 3), ints(2, 1, 3, 4))
    case("AffineGrid", random(1, 3, 4), ints(1, 1, 2, 3, 2), align_corners=1)
    case("Col2Im", random(1, 8, 12), ints(5, 4), ints(2, 2))
    refused("onnx.Conv {} f32[1,2,4] 0 0 0 0 0 0 0 0; f32[1,3,2] 0 0 0 0 0 0")
    refused("onnx.Resize {} f32[2] 0 0; f32[0]; f32[0]; i64[0]")


def recurrent():
    for op, gates, acts in (("RNN", 1, 1), ("GRU", 3, 2), ("LSTM", 4, 3)):
        cells = 3 if op == "LSTM" else 2
        for direction in ("forward", "reverse", "bidirectional"):
            d, t, b, n, h = (2 if direction == "bidirectional" else 1), 4, 3, 2, 5
            x, w, r, bias = random(t, b, n), random(d, gates * h, n), random(d, gates * h, h), random(d, 2 * gates * h)
            lengths, states = np.array([4, 2, 3], i32), [random(d, b, h) for _ in range(cells - 1)]
            common = dict(hidden_size=h, direction=direction, outputs=(1,) * cells)
            case(op, x, w, r, **common)
            case(op, x, w, r, bias, lengths, *states, **common)
            if op == "LSTM":
                case(op, x, w, r, bias, None, None, None, random(d, 3 * h), **common)
            if op == "GRU":
                case(op, x, w, r, bias, lengths, states[0], linear_before_reset=1, **common)
            names = ["HardSigmoid", "LeakyRelu", "Softsign"][-acts:] * d
            parameters = [a for name in names for a in {"HardSigmoid": [0.3], "LeakyRelu": [0.2]}.get(name, [])]
            betas = [0.4 for name in names if name == "HardSigmoid"]
            extra = {"activation_alpha": parameters} if parameters else {}
            extra |= {"activation_beta": betas} if betas else {}
            case(op, x, w, r, bias, clip=0.8, activations=names, **extra, **common)


def elements():
    data = random(3, 4, 2)
    for axis in (0, 1, -1):
        case("GatherElements", data, rng.integers(-2, 2, (2, 3, 2)), axis=axis)
        case("ScatterElements", data, np.argsort(random(2, 3, 2), axis=axis), random(2, 3, 2), axis=axis)
    for reduction in ("add", "mul", "max", "min"):
        case("ScatterElements", data, rng.integers(0, 2, (2, 3, 2)), random(2, 3, 2), reduction=reduction)
        case("ScatterND", data, ints(2, 0, 2).reshape(3, 1), random(3, 4, 2), reduction=reduction)
    case("ScatterND", random(4, 3, dtype=i64, low=-9, high=9), np.array([[3, 1], [0, -1]], i64), random(2, dtype=i64, high=9))
    case("GatherND", data, np.array([[0, 1], [-1, 2]], i64))
    case("GatherND", data, np.array([[1], [0], [3]], i64), batch_dims=1)
    for dtype in (f32, f64, i32, i64):
        x = random(3, 5, dtype=dtype, low=-9, high=9)
        case("TopK", x, ints(3), outputs=(1, 1))
        case("TopK", x, ints(2), axis=0, largest=0, outputs=(1, 1))
    boxes = random(1, 6, 4, low=0.0, high=1.0)
    scores = random(1, 2, 6, low=0.0, high=1.0)
    for center in (0, 1):
        case("NonMaxSuppression", boxes, scores, ints(3), f32([0.2]), f32([0.1]), center_point_box=center)
    case("NonMaxSuppression", boxes, scores, ints(4), f32([0.5]))
    x = random(3, 4, dtype=i64, low=-2, high=3)
    case("Unique", x, outputs=(1, 1, 1, 1))
    case("Unique", x, sorted=0, outputs=(1, 1, 1, 1))
    case("Unique", np.concatenate([x, x[:1]]), axis=0, outputs=(1, 1, 1, 1))
    case("Compress", data, np.array([True, False, True]), axis=1)
    case("Compress", data, np.array([False, True, True, False, True]))
    case("OneHot", ints(0, -1, 7, 2), ints(3), f32([-1, 2]))
    case("OneHot", np.array([[1, 2]], i64), ints(4), ints(0, 1), axis=1)
    for upper in (0, 1):
        for k in (-1, 0, 2):
            case("Trilu", data, np.array(k, i64), upper=upper)
    case("Trilu", random(3, 3, dtype=i64, high=9))
    for exclusive in (0, 1):
        for reverse in (0, 1):
            case("CumSum", data, np.array(exclusive, i32), exclusive=exclusive, reverse=reverse)
    case("CenterCropPad", random(5, 4, 3), ints(2, 7, 3))
    case("CenterCropPad", random(5, 4, 3), ints(8, 2), axes=[0, -1])
    case("Det", random(2, 3, 4, 4))
    case("BitShift", random(2, 3, dtype=u8, high=200), np.array([1, 3, 9], u8), direction="LEFT")
    case("BitShift", random(3, dtype=np.uint64, high=2**40), np.array([1, 3, 7], np.uint64), direction="RIGHT")
    case("Mod", random(4, dtype=i64, low=-9, high=9), ints(3, -3, 5, -5))
    case("Mod", random(4), f32([0.7, -0.7, 1.5, -1.5]), fmod=1)
    case("IsInf", f32([np.inf, -np.inf, np.nan, 1]))
    case("IsInf", f32([np.inf, -np.inf, np.nan, 1]), detect_negative=0)
    refused("onnx.GatherElements {} f32[2] 1 2; i64[1] 2")
    refused("onnx.ScatterND {} f32[2] 1 2; i64[1,1] 5; f32[1] 3")
    refused("onnx.TopK {} f32[2] 1 2; i64[1] 3")


def quantized():
    x = random(2, 3, 4, low=-3.0, high=3.0)
    for dtype in (u8, i8, np.uint16, np.int16):
        case("QuantizeLinear", x, f32(0.03), dtype(3))
        case("DequantizeLinear", random(2, 3, dtype=dtype, low=-90, high=120), f32(0.1), dtype(5))
    case("QuantizeLinear", x, f32([0.1, 0.02, 0.5]), np.array([0, 5, 9], u8))
    case("QuantizeLinear", x, random(2, 3, 2, low=0.1), axis=2, block_size=2)
    case("DequantizeLinear", random(2, 3, dtype=i8, low=-90, high=90), f32([0.1, 0.2]), axis=0)
    case("DequantizeLinear", random(4, 3, dtype=u8, high=200), random(2, 3), random(2, 3, dtype=u8, high=9), axis=0, block_size=2)
    case("DequantizeLinear", random(5, dtype=i32, low=-1000, high=1000), f32(0.25))
    case("DynamicQuantizeLinear", x, outputs=(1, 1, 1))
    case("DynamicQuantizeLinear", random(5, low=1.0, high=3.0), outputs=(1, 1, 1))
    a, b = random(2, 3, 4, dtype=u8, high=200), random(4, 5, dtype=i8, low=-90, high=90)
    case("MatMulInteger", a, b)
    case("MatMulInteger", a, b, u8(12), random(5, dtype=i8, low=-9, high=9))
    case("QLinearMatMul", a, f32(0.02), u8(3), random(4, 5, dtype=u8, high=200), f32(0.03), u8(7), f32(0.9), u8(100))
    image, filter = random(1, 4, 5, 5, dtype=u8, high=200), random(2, 4, 3, 3, dtype=u8, high=200)
    case("ConvInteger", image, filter, u8(4))
    case("ConvInteger", image, random(4, 2, 2, 2, dtype=u8, high=200), None, u8(3), group=2, strides=[2, 2], pads=[1, 1, 0, 0])
    signed = random(2, 4, 3, 3, dtype=i8, low=-90, high=90)
    case("QLinearConv", image, f32(0.02), u8(3), signed, f32([0.03, 0.01]), np.zeros(2, i8), f32(0.5), u8(90), random(2, dtype=i32, low=-99, high=99), pads=[1, 1, 1, 1])


def signal():
    for length in (1, 6, 7, 8):
        x = random(2, length, 3, 1)
        case("DFT", x, None, np.array(1, i64))
        case("DFT", x, None, np.array(1, i64), onesided=1)
        case("DFT", random(2, length, 2), inverse=1)
    case("DFT", random(2, 6, 1), np.array(9, i64))
    case("DFT", random(2, 6, 1), np.array(4, i64))
    case("STFT", random(2, 20, 1), np.array(4, i64), random(8), np.array(8, i64))
    case("STFT", random(1, 20, 1), np.array(5, i64), None, np.array(6, i64), onesided=0)
    for op in ("HannWindow", "HammingWindow", "BlackmanWindow"):
        case(op, np.array(9, i64))
        case(op, np.array(8, i64), periodic=0, output_datatype=TensorProto.DOUBLE)
    case("MelWeightMatrix", np.array(4, i64), np.array(16, i64), np.array(8192, i64), f32(10.0), f32(4000.0))


def main():
    global lines, rng
    for family in (network, recurrent, elements, quantized, signal):
        lines, rng = [], np.random.default_rng(1)
        family()
        with open(os.path.join(os.path.dirname(__file__), f"onnx_{family.__name__}.txt"), "w") as file:
            file.writelines(line + "\n" for line in lines)
        print(f"{family.__name__}: {len(lines)} cases")


if __name__ == "__main__":
    main()
