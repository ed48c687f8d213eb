#!/usr/bin/env python3
"""Writes the values that TensorFlow's ops give on small inputs, for `eager/tests/reference.rs` to compare ours with.

    python3 -m venv env && env/bin/pip install tensorflow-cpu==2.21.0
    env/bin/python tests/reference/make.py [FAMILY…]

Each family is a file FAMILY.txt beside this script. A line is a case:

    tf.Op {attribute=kind:value …} type[extents] elements; … -> type[extents] elements; …

or ends in `-> error` where TensorFlow refuses the call. In strings, `%` and two digits stand for a byte; a complex number is
real:imaginary. Inputs are random numbers from a fixed seed, and edges: values that
are not finite, signed zeros, extremes of integers, empty tensors, negative axes.
"""
import os
import struct
import sys
import zlib

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import numpy as np
import tensorflow as tf

BF16 = tf.bfloat16.as_numpy_dtype
NAMES = {
    np.dtype(np.float16): "f16", np.dtype(BF16): "bf16", np.dtype(np.float32): "f32", np.dtype(np.float64): "f64",
    np.dtype(np.int8): "i8", np.dtype(np.int16): "i16", np.dtype(np.int32): "i32", np.dtype(np.int64): "i64",
    np.dtype(np.uint8): "ui8", np.dtype(np.uint16): "ui16", np.dtype(np.uint32): "ui32", np.dtype(np.uint64): "ui64",
    np.dtype(bool): "i1", np.dtype(np.complex64): "c64", np.dtype(np.complex128): "c128",
}
FLOATS = [np.float32, np.float64, np.float16, BF16]
INTEGERS = [np.int32, np.int64, np.uint8]
COMPLEX = [np.complex64, np.complex128]
NUMBERS = FLOATS + INTEGERS
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.75, 100.0, -100.0, np.inf, -np.inf, np.nan]
FEW = [0.0, -0.0, -1.0, 2.5, np.inf, -np.inf, np.nan]

# Attributes that Python calls differently.
RENAMED = {"Squeeze": {"axis": "squeeze_dims"}}

lines = []
rng = np.random.default_rng(0)


def is_float(dtype):
    return np.dtype(dtype) in [np.dtype(t) for t in FLOATS]


def random(dtype, *shape, low=-4.0, high=4.0):
    """Numbers between two bounds; integers for integer types, which are not negative for unsigned ones."""
    if np.dtype(dtype) == np.dtype(bool):
        return rng.integers(0, 2, shape).astype(bool)
    if np.dtype(dtype).kind == "c":
        return (random(np.float32, *shape, low=low, high=high) + 1j * random(np.float32, *shape, low=low, high=high)).astype(dtype)
    if is_float(dtype):
        return np.asarray(np.round(rng.uniform(low, high, shape), 4)).astype(dtype)
    low = 0 if np.dtype(dtype).kind == "u" else int(2 * low)
    return rng.integers(low, int(2 * high), shape).astype(dtype)


def special(dtype, few=False):
    """Edges of a type."""
    if is_float(dtype):
        return np.array(FEW if few else SPECIAL, np.float64).astype(dtype)
    info = np.iinfo(dtype)
    return np.array([0, 1, 3, info.max, info.min] + [2, 7, info.max - 1, info.min + 1][few * 4:], dtype)


def encoded(text):
    """Bytes that would end a word of a case, or that a reader would not see, as `%` and two digits."""
    text = text if isinstance(text, bytes) else text.encode()
    return "".join(chr(b) if 32 < b < 127 and chr(b) not in '%"{};=,->' else f"%{b:02x}" for b in text)


def element(value):
    if isinstance(value, (bytes, str)):
        return '"' + encoded(value) + '"'
    if isinstance(value, (bool, np.bool_)):
        return "1" if value else "0"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, np.complexfloating):
        return f"{element(value.real)}:{element(value.imag)}"
    if isinstance(value, (np.float64, float)):
        return repr(float(value))
    return repr(float(np.format_float_scientific(np.float32(value), unique=True)))


def tensor(value):
    # NumPy drops zero bytes at the end of its own strings.
    value = np.asarray(value, object if isinstance(value, bytes) else None)
    name = "str" if value.dtype.kind in "OSU" else NAMES[value.dtype]
    elements = " ".join(element(e) for e in value.reshape(-1))
    return f"{name}[{','.join(map(str, value.shape))}] {elements}".rstrip()


def attribute(value):
    if isinstance(value, bool):
        return f"b:{str(value).lower()}"
    if isinstance(value, int):
        return f"i:{value}"
    if isinstance(value, float):
        return f"f:{value!r}"
    if isinstance(value, str):
        return f"s:{encoded(value)}"
    if isinstance(value, tf.DType):
        return f"t:{NAMES[np.dtype(value.as_numpy_dtype)] if value != tf.string else 'str'}"
    if isinstance(value, (list, tuple)):
        if value and isinstance(value[0], str):
            return "ls:" + ",".join(value)
        return "li:" + ",".join(map(str, value))
    raise TypeError(f"{value!r} is no attribute")


def text(op, arguments, attributes):
    words = [f"{name}={attribute(value)}" for name, value in attributes.items()]
    return f"tf.{op} {{{' '.join(words)}}} " + "; ".join(tensor(a) for a in arguments)


def is_argument(value):
    array = (np.ndarray, np.generic)
    return isinstance(value, array) or isinstance(value, list) and bool(value) and isinstance(value[0], array)


def constants(value):
    return [tf.constant(v) for v in value] if isinstance(value, list) else tf.constant(value)


def case(op, **given):
    """Records one call. Arrays and lists of them are arguments, given in the op's order; the rest are attributes."""
    arguments = []
    for value in filter(is_argument, given.values()):
        arguments.extend(value if isinstance(value, list) else [value])
    renamed = RENAMED.get(op, {})
    attributes = {renamed.get(name, name): value for name, value in given.items() if not is_argument(value)}
    try:
        # As tensors, whose types stay what they are.
        given = {name: constants(value) if is_argument(value) else value for name, value in given.items()}
        results = getattr(tf.raw_ops, op)(**given)
        if not isinstance(results, (tuple, list)):
            results = [results]
        outcome = "; ".join(tensor(r.numpy()) for r in results)
    except (tf.errors.OpError, ValueError) as error:
        if "Could not find device" in str(error) or "No WhereOp" in str(error):
            return  # not refused, but not there for this type
        outcome = "error"
        if os.environ.get("VERBOSE"):
            print(op, str(error).splitlines()[0][:160], file=sys.stderr)
    lines.append(f"{text(op, arguments, attributes)} -> {outcome}")


def pairs(values):
    """Every pair of some values."""
    left, right = np.meshgrid(values, values, indexing="ij")
    return left.reshape(-1), right.reshape(-1)


def two(op, x, y):
    """Both arguments in the op's order."""
    return {"y": x, "x": y} if op == "Atan2" else {"x": x, "y": y}


def arithmetic():
    shapes = [((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1, 2), (3, 1)), ((), (2,)), ((0, 2), (1, 2)), ((3, 1), (1, 0))]
    everywhere = ["AddV2", "Sub", "Mul", "Maximum", "Minimum", "SquaredDifference", "FloorDiv", "FloorMod"]
    for op in everywhere + ["RealDiv", "Pow", "Mod", "DivNoNan", "Atan2", "TruncateDiv", "BitwiseAnd", "BitwiseXor"]:
        for dtype in NUMBERS:
            if op == "SquaredDifference" and dtype == np.uint8:
                continue
            if op in ("RealDiv", "DivNoNan", "Atan2") and not is_float(dtype) or op == "TruncateDiv" and is_float(dtype):
                continue
            if op.startswith("Bitwise") and is_float(dtype) or op == "Pow" and dtype == np.uint8:
                continue
            if op == "Mod" and dtype not in (np.float32, np.float64, np.int32, np.int64):
                continue
            for left, right in shapes if dtype in (np.float32, np.int32) else shapes[1:2]:
                x, y = random(dtype, *left), random(dtype, *right)
                if op == "Pow":
                    x, y = np.abs(x), np.abs(y)
                elif not is_float(dtype) and op in ("FloorDiv", "FloorMod", "Mod", "TruncateDiv"):
                    y = np.where(y == 0, np.array(3, dtype), y)
                case(op, **two(op, x, y))
            x, y = pairs(special(dtype, few=True))
            if not is_float(dtype) and op in ("FloorDiv", "FloorMod", "Mod", "TruncateDiv"):
                # TensorFlow leaves the least number divided by -1 to the processor; zero has a separate case.
                keep = (y != 0)
                x, y = x[keep], y[keep]
            if op == "Pow" and not is_float(dtype):
                x, y = x[y >= 0], y[y >= 0]
            if op == "Pow" and is_float(dtype):
                # Halves are computed through powers of floats, whose signs of zero differ.
                keep = ~(np.isinf(y.astype(np.float64)))
                x, y = x[keep], y[keep]
            case(op, **two(op, x, y))
    for op in ("FloorDiv", "FloorMod"):
        case(op, x=np.array([1, 2], np.int32), y=np.array([1, 0], np.int32))
    case("Pow", x=np.array([2], np.int32), y=np.array([-1], np.int32))
    case("AddV2", x=np.ones((2, 3), np.float32), y=np.ones(2, np.float32))
    case("AddV2", x=np.ones(2, np.float32), y=np.ones(2, np.int32))
    case("Add", x=np.array([["a"], ["b"]], object), y=np.array(["c", ""], object))
    case("AddV2", x=np.array(["a"], object), y=np.array(["c"], object))
    for dtype in FLOATS:
        case("TruncateDiv", x=np.array([7, -7, 1, 0, -1, 2.5], dtype), y=np.array([2, 2, 0, 0, 3, np.inf], dtype))
    for dtype in COMPLEX:
        for op in ("AddV2", "Sub", "Mul", "RealDiv"):
            case(op, x=random(dtype, 2, 1, 2), y=random(dtype, 3, 1))
        for op in ("Equal", "NotEqual"):
            case(op, x=np.array([1 + 2j, 1 + 2j, np.nan], dtype), y=np.array([1 + 2j, 1 - 2j, np.nan], dtype))
    for dtype in (np.int32, np.int64):
        divisors = np.array([[-7], [-2], [1], [3], [np.iinfo(dtype).max]], dtype)
        for op in ("Div", "FloorDiv", "FloorMod", "Mod", "TruncateDiv", "TruncateMod"):
            case(op, x=np.array([-9, -7, -1, 0, 6, 20, np.iinfo(dtype).min], dtype), y=divisors)
            case(op, x=random(dtype, 2, 0), y=random(dtype, 1))
            case(op, x=np.array([3, -4], dtype), y=np.array([2, 0], dtype))
    for dtype in FLOATS:
        case("Mod", x=random(dtype, 2, 3), y=random(dtype, 3, low=1.0))
        case("TruncateMod", x=random(dtype, 2, 3), y=random(dtype, 3, low=1.0))


def complex_numbers():
    real = np.array([1.5, -2.5, 0.25, -0.0])
    for dtype in COMPLEX:
        def some(*shape):
            return random(dtype, *shape, low=-2.0, high=2.0)

        # On the cuts the sign of zero says on which side.
        cuts = [2, -2, complex(2, -0.0), complex(-2, -0.0), 2j, -2j, complex(0, -2)]
        few = np.array([0, 1, -1, 1j, -1j, 1e-9 + 1e-10j, 30 + 2j, -40 + 1j, 1e3 - 1e3j] + cuts, dtype)
        far = np.array([800, 800j, 1e3, -800, -800j, 750 + 1j, complex(800, -0.0)], dtype)
        # Beside branch points and poles, and where a power of e is more than the largest number, but not its product with a sine.
        beside = [z + d for z in (1, -1, 1j, -1j) for d in (1e-7, 1e-6, -1e-6, 1e-6j, -1e-6j, 1e-3 + 1e-3j)]
        beside = np.array(beside + [complex(-1, 1e-8), complex(1e-8, 1), complex(-1 + 1e-6, -0.0)], dtype)
        right = np.array([np.pi / 2, 1.5708, -1.5708, 3 * np.pi / 2, -7 * np.pi / 2], dtype) + np.array([[0], [1e-6j], [1e-3j]], dtype)
        steep = np.array([710.2 - 0.3j, -712 + 3j, 711 + 1.5j] if dtype == np.complex128 else [89 - 0.03j, -90 + 3.1j, 89.3 + 1.5j], dtype)
        infinite = np.array([complex(x, y) for x in (np.inf, -np.inf, 1, -2) for y in (np.inf, -np.inf, 1, -2)], dtype)
        for op in ("Neg", "Sign", "Square", "Exp", "Expm1", "Log", "Log1p", "Sqrt", "Rsqrt", "Reciprocal", "Inv", "Sigmoid", "Sin", "Cos",
                   "Tan", "Sinh", "Cosh", "Tanh", "Asin", "Acos", "Atan", "Asinh", "Acosh", "Atanh"):
            case(op, x=some(3, 4))
            case(op, x=some(0, 4))
            if op in ("Neg", "Sign", "Square", "Sigmoid", "Tanh", "Sqrt", "Asinh", "Acosh", "Acos"):
                case(op, x=few)
            elif op in ("Log", "Log1p", "Asin", "Atan", "Atanh"):
                case(op, x=np.array(cuts, dtype))
            # Of what overflows TensorFlow makes NaN in Expm1.
            if op not in ("Square", "Expm1"):
                case(op, x=far)
            elif op == "Expm1":
                case(op, x=np.array([-800, 800j, 2, 2j], dtype))
            if op in ("Log", "Log1p", "Sqrt", "Rsqrt", "Reciprocal", "Asin", "Acos", "Atan", "Asinh", "Acosh", "Atanh"):
                # Below the cut the vectors of TensorFlow's roots lose the sign, and single numbers do not.
                case(op, x=beside[:-1] if op in ("Sqrt", "Rsqrt") else beside)
            if op in ("Tan", "Tanh"):
                case(op, x=right if op == "Tan" else 1j * right)
            if op in ("Exp", "Sinh", "Cosh", "Sin", "Cos"):
                case(op, x=steep if op not in ("Sin", "Cos") else 1j * steep)
            if op in ("Rsqrt", "Log", "Tan", "Tanh", "Asin", "Acos", "Atan", "Asinh", "Acosh", "Atanh"):
                case(op, x=infinite)
        for op in ("SigmoidGrad", "TanhGrad", "SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad"):
            case(op, y=some(2, 3), dy=some(2, 3))
        for op in ("AddV2", "Mul", "RealDiv", "SquaredDifference", "Pow", "DivNoNan", "MulNoNan", "Div", "TruncateDiv"):
            for left, right in (((2, 3), (2, 3)), ((2, 1, 2), (3, 1)), ((), (2,)), ((0, 2), (1, 2))):
                case(op, x=some(*left), y=some(*right))
        case("Pow", x=np.array([2, -2, 10, 0.5], dtype), y=np.array([2000, 3, 400, 2000], dtype))
        case("DivNoNan", x=np.array([1 + 1j, np.inf, 0], dtype), y=np.array([0, 0, 0], dtype))
        case("MulNoNan", x=np.array([np.nan, np.inf, 1j], dtype), y=np.array([0, 0, 2], dtype))
        for op in ("Sum", "Mean", "Prod"):
            for axes in ([0], [1, -1], [], [0, 1, 2], [3]):
                case(op, input=some(2, 3, 2), axis=np.array(axes, np.int32), keep_dims=len(axes) == 1)
            case(op, input=some(0, 2), axis=np.array([0], np.int32))
        case("Sum", input=some(70, 3), axis=np.array([0], np.int32))
        for op in ("Cumsum", "Cumprod"):
            for axis, exclusive, reverse in ((0, False, False), (1, True, False), (-1, False, True)):
                case(op, x=some(2, 3), axis=np.array(axis, np.int32), exclusive=exclusive, reverse=reverse)
        case("AddN", inputs=[some(2, 3) for _ in range(3)])
        case("BiasAdd", value=some(2, 3), bias=some(3))
        case("BiasAddGrad", out_backprop=some(2, 2, 3))
        case("BiasAddGrad", out_backprop=some(2, 3, 2), data_format="NCHW")
        for ta in (False, True):
            for tb in (False, True):
                case("MatMul", a=some(*((3, 2) if ta else (2, 3))), b=some(*((4, 3) if tb else (3, 4))), transpose_a=ta, transpose_b=tb)
                case("BatchMatMulV2", x=some(2, *((3, 2) if ta else (2, 3))), y=some(1, *((4, 3) if tb else (3, 4))), adj_x=ta, adj_y=tb)
        case("MatMul", a=some(2, 0), b=some(0, 2))
        case("MatMul", a=some(2, 3), b=some(2, 3))
        case("BatchMatMul", x=some(2, 2, 3), y=some(2, 3, 1))
        wide = (np.arange(260) - 40j).astype(dtype).reshape(2, 130)
        case("MatMul", a=wide[:, :2], b=wide)
        case("BatchMatMulV2", x=np.zeros((2, 2, 0), dtype), y=np.zeros((2, 0, 2), dtype), adj_x=False, adj_y=False)
        for to in (tf.bool, tf.int8, tf.int32, tf.int64, tf.uint8, tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.complex64, tf.complex128):
            case("Cast", x=np.array([1.75 + 2j, 0.5j, 0, 100.5 - 1j], dtype), DstT=to)
            case("Cast", x=np.abs(real).astype(to.as_numpy_dtype), DstT=tf.as_dtype(dtype))
        case("Cast", x=np.array([2**53 + 1, -3], np.int64), DstT=tf.as_dtype(dtype))

        def one(value):
            return np.array(value, dtype)

        change("AssignAddVariableOp", {"resource": some(2, 3)}, value=some(2, 3))
        change("AssignSubVariableOp", {"resource": some(2, 3)}, value=some(2, 3))
        change("ResourceApplyGradientDescent", {"var": some(2, 3)}, alpha=one(0.1 + 0.2j), delta=some(2, 3))
        for nesterov in (False, True):
            change("ResourceApplyMomentum", {"var": some(3), "accum": some(3)}, lr=one(0.1), grad=some(3), momentum=one(0.9j),
                   use_nesterov=nesterov)
            change("ResourceApplyAdam", {"var": some(3), "m": some(3), "v": some(3)}, beta1_power=one(0.9), beta2_power=one(0.875),
                   lr=one(0.01), beta1=one(0.9), beta2=one(0.99), epsilon=one(1e-3), grad=some(3), use_nesterov=nesterov)
    edges = [complex(np.inf, 0), complex(np.inf, np.inf), complex(0, np.inf), 1 + 2j, complex(np.inf, np.nan), complex(-np.inf, 3),
             0, complex(np.nan, 1)]
    for dtype in COMPLEX:
        x, y = pairs(np.array(edges, dtype))
        case("Mul", x=x, y=y)
        case("Expm1", x=np.array([1e-10 + 1e-10j, 1e-5, 1 + 2j, 1j * np.pi, 0, -1e-12 + 3j, 30 - 1j, -700 + 1j], dtype))
        case("Log1p", x=np.array([1e-10 + 1e-10j, 1e-5, 1 + 2j, 1j * np.pi, 0, -1e-12 + 3j, 1e30j, -2], dtype))
    for dtype in COMPLEX:
        moved_complex_numbers(dtype)
    for dtype in COMPLEX:
        for nesterov in (False, True):
            numbers = [random(dtype, 3, low=-2.0, high=2.0) for _ in range(3)]
            change("ResourceApplyKerasMomentum", {"var": numbers[0], "accum": numbers[1]}, lr=np.array(0.1, dtype), grad=numbers[2],
                   momentum=np.array(0.9j, dtype), use_nesterov=nesterov)
    # Numbers far apart whose quotient is one, or beyond all numbers.
    small, one_each = 1.9 * 2.0**-424, np.array([1, 1 + 1j, 3 - 4j])
    case("RealDiv", x=2.0**600 * np.ones(3, np.complex128), y=small * one_each)
    case("RealDiv", x=small * one_each, y=2.0**600 * one_each[::-1])
    case("RealDiv", x=np.array([1e300, 1e300j, -1e300, 1e-300]), y=np.array([1e-300, 1e-300, 1e-300, 1e300], np.complex128))


def moved_complex_numbers(dtype):
    """What moves elements of whatever size, and chooses among them."""
    def some(*shape):
        return random(dtype, *shape, low=-2.0, high=2.0)

    def number(value, of=np.int32):
        return np.array(value, of)

    x, y = some(2, 3, 4), some(2, 3, 4)
    image = some(1, 4, 6, 2)
    case("Sub", x=x, y=some(3, 1))
    edges = np.array([0, complex(0, -0.0), complex(np.nan, 1), complex(1, np.nan), 1, 1j, complex(np.inf, 1)], dtype)
    left, right = pairs(edges)
    for op in ("Equal", "NotEqual"):
        case(op, x=left, y=right)
        case(op, x=x, y=x[:, :1])
    for order in ([0, 2, 1], [2, 1, 0], [1, 0, 2], [0, 1, 2]):
        case("Transpose", x=x, perm=number(order))
    case("Transpose", x=some(2, 1, 2, 3, 2, 2), perm=number([5, 2, 4, 0, 3, 1]))
    case("ConcatV2", values=[x, some(2, 1, 4)], axis=number(1))
    case("Pack", values=[x, y], axis=1)
    case("Unpack", value=x, num=3, axis=1)
    case("Split", axis=number(2), value=x, num_split=2)
    case("SplitV", value=x, size_splits=number([1, 2]), axis=number(1), num_split=2)
    case("Slice", input=x, begin=number([0, 1, 1]), size=number([2, 2, 3]))
    case("StridedSlice", input=x, begin=number([1, 0, -1]), end=number([0, 3, 0]), strides=number([-1, 2, -2]), begin_mask=0, end_mask=1)
    case("StridedSliceGrad", shape=number([2, 3, 4]), begin=number([0, 0, 1]), end=number([2, 3, 4]), strides=number([1, 2, 2]), dy=some(2, 2, 2))
    case("ReverseV2", tensor=x, axis=number([1, -1]))
    case("ReverseSequence", input=x, seq_lengths=number([2, 3]), seq_dim=1, batch_dim=0)
    case("Roll", input=x, shift=number([1, -2]), axis=number([0, 2]))
    case("Tile", input=x, multiples=number([1, 2, 3]))
    case("BroadcastTo", input=some(3, 1), shape=number([2, 3, 4]))
    case("Pad", input=x, paddings=number([[1, 0], [0, 2], [1, 1]]))
    case("PadV2", input=x, paddings=number([[0, 1], [2, 0], [0, 0]]), constant_values=number(1.5 - 2j, dtype))
    case("MirrorPad", input=x, paddings=number([[0, 1], [1, 2], [2, 2]]), mode="REFLECT")
    case("SpaceToBatchND", input=image, block_shape=number([2, 3]), paddings=number([[1, 1], [0, 0]]))
    case("BatchToSpaceND", input=some(6, 2, 2, 1), block_shape=number([2, 3]), crops=number([[1, 0], [0, 2]]))
    case("SpaceToDepth", input=image, block_size=2)
    case("DepthToSpace", input=some(1, 2, 3, 8), block_size=2)
    case("GatherV2", params=x, indices=number([[2, 0], [1, 1]]), axis=number(1))
    case("GatherNd", params=x, indices=number([[1, 2], [0, 0]]))
    case("OneHot", indices=number([1, 0, 4]), depth=number(3), on_value=number(1 + 2j, dtype), off_value=number(-1j, dtype))
    case("Select", condition=number([True, False], bool), x=x, y=y)
    case("SelectV2", condition=x.real > 0, t=x, e=some(4))
    case("Fill", dims=number([2, 3]), value=number(1 - 1j, dtype))
    case("ZerosLike", x=x)
    case("OnesLike", x=x)
    case("Where", condition=edges)
    case("MatrixBandPart", input=x, num_lower=number(1, np.int64), num_upper=number(0, np.int64))
    case("Bitcast", input=x, type=tf.float32)
    case("Reshape", tensor=x, shape=number([4, 6]))
    case("ExpandDims", input=x, axis=number(1))
    case("Einsum", inputs=[x, some(4, 5)], equation="abc,cd->adb")
    case("Einsum", inputs=[some(3, 3)], equation="aa->a")
    case("ScatterNd", indices=number([[1], [3], [1]]), updates=some(3, 2), shape=number([4, 2]))
    for op in ("Add", "Sub", "Update"):
        case(f"TensorScatter{op}", tensor=x, indices=number([[1, 2], [0, 1], [1, 2]]), updates=some(3, 4))


def compare():
    for op in ("Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual"):
        for dtype in NUMBERS:
            x, y = pairs(special(dtype, few=True))
            case(op, x=x, y=y)
            case(op, x=random(dtype, 2, 3), y=random(dtype, 3))
        case(op, x=random(np.float32, 0, 3), y=random(np.float32, 3))
        case(op, x=random(np.float32, 2, 3), y=random(np.float32, 2, 2))
    for op in ("Equal", "NotEqual"):
        case(op, x=random(bool, 4), y=random(bool, 4))
        case(op, x=np.array(["a", "b"], object), y=np.array([["a"], ["b"]], object))
        case(op, x=random(np.float32, 2, 3), y=random(np.float32, 2), incompatible_shape_error=False)
    for op in ("LogicalAnd", "LogicalOr"):
        case(op, x=np.array([[True], [False]]), y=np.array([True, False]))
    case("LogicalNot", x=np.array([True, False]))
    for dtype in NUMBERS + [bool]:
        x, y = random(dtype, 2, 3), random(dtype, 2, 3)
        case("Select", condition=random(bool, 2, 3), x=x, y=y)
        case("Select", condition=np.array([True, False]), x=x, y=y)
        case("SelectV2", condition=np.array([[True], [False]]), t=x, e=y[:1])
        case("Where", condition=np.where(random(bool, 2, 3), x, np.zeros_like(x)))
    case("Select", condition=np.array(True), x=random(np.float32, 2, 2), y=random(np.float32, 2, 2))
    case("Select", condition=np.array([True, False]), x=random(np.float32, 2, 2), y=random(np.float32, 2, 2))
    case("SelectV2", condition=np.array([True, False]), t=random(np.float32, 2, 2), e=random(np.float32, 2, 2))
    case("SelectV2", condition=np.array([True, False]), t=np.array(1.5, np.float32), e=random(np.float32, 2))
    case("SelectV2", condition=random(bool, 0), t=random(np.float32, 1), e=random(np.float32, 1))
    case("Select", condition=random(bool, 3), x=random(np.float32, 2, 2), y=random(np.float32, 2, 2))
    case("Select", condition=np.array([True, False]), x=np.array(["a", "b"], object), y=np.array(["c", "d"], object))
    case("Where", condition=np.zeros((0, 2), np.float32))
    case("Where", condition=np.array(True))
    case("Where", condition=np.array([np.nan, 0.0, -0.0], np.float32))


def unary():
    anywhere = ["Exp", "Expm1", "Sin", "Cos", "Tanh", "Sigmoid", "Erf", "Erfc", "Floor", "Ceil", "Rint", "Sinh", "Atan",
                "Asinh", "IsNan", "IsInf", "IsFinite", "Softplus", "Softsign", "Elu", "Selu", "LeakyRelu"]
    for op in anywhere:
        name = "features" if op in ("Softplus", "Softsign", "Elu", "Selu", "LeakyRelu") else "x"
        for dtype in FLOATS:
            case(op, **{name: random(dtype, 2, 5)})
            values = special(dtype)
            if op in ("Sin", "Cos") or op == "Sinh":
                values = values[np.isfinite(values.astype(np.float64)) & (np.abs(values.astype(np.float64)) < 10)]
            if op in ("Erf", "Erfc") and dtype == np.float64:
                values = values[~np.isinf(values)]  # TensorFlow 2.21 gives NaN
            case(op, **{name: values})
        case(op, **{name: np.zeros((0, 3), np.float32)})
    for op in ("Log", "Log1p", "Sqrt", "Rsqrt", "Acosh", "Lgamma"):
        for dtype in FLOATS:
            case(op, x=random(dtype, 2, 5, low=1.0, high=9.0))
            case(op, x=np.array([0.0, 0.25, 1.0, 4.0, -1.5 if op != "Lgamma" else 0.5, np.inf, np.nan], np.float64).astype(dtype))
    for op in ("Acos", "Asin", "Atanh", "Tan"):
        for dtype in (np.float32, np.float64):
            case(op, x=random(dtype, 2, 5, low=-0.9, high=0.9))
            case(op, x=np.array([0.0, 1.0, np.nan], dtype))
    for op in ("Abs", "Neg", "Sign", "Square", "Round"):
        for dtype in NUMBERS:
            if dtype == np.uint8 and op != "Square" or op == "Round" and not is_float(dtype):
                continue  # TensorFlow 2.21 rounds integers to zero
            case(op, x=random(dtype, 2, 5))
            case(op, x=special(dtype))
    for op in ("Relu", "Relu6"):
        for dtype in NUMBERS:
            case(op, features=random(dtype, 2, 5))
            case(op, features=special(dtype))
    case("LeakyRelu", features=random(np.float32, 2, 5), alpha=0.1)
    for op in ("Reciprocal", "Inv"):
        for dtype in FLOATS:
            case(op, x=random(dtype, 2, 5, low=0.5))
    case("Invert", x=random(np.int32, 5))
    for op in ("SigmoidGrad", "TanhGrad", "SqrtGrad", "RsqrtGrad", "ReciprocalGrad"):
        for dtype in FLOATS:
            case(op, y=random(dtype, 2, 3, low=0.25), dy=random(dtype, 2, 3))
    for op in ("ReluGrad", "Relu6Grad", "LeakyReluGrad", "SoftplusGrad", "SoftsignGrad"):
        for dtype in FLOATS:
            case(op, gradients=random(dtype, 2, 5), features=random(dtype, 2, 5, high=9.0))
            case(op, gradients=np.ones(len(SPECIAL), dtype), features=special(dtype))
    for op in ("EluGrad", "SeluGrad"):
        for dtype in FLOATS:
            case(op, gradients=random(dtype, 2, 5), outputs=random(dtype, 2, 5, low=-0.9))
    case("ReluGrad", gradients=random(np.float32, 2, 5), features=random(np.float32, 2, 4))
    for dtype in INTEGERS + [np.int8, np.uint16]:
        case("Relu6Grad", gradients=random(dtype, 5), features=np.array([0, 1, 5, 6, 7], dtype))
    for op in ("SigmoidGrad", "TanhGrad", "SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad"):
        for shape in ((3, 2), (6,), (1,), (2, 1)):
            case(op, y=random(np.float32, 2, 3, low=0.25), dy=random(np.float32, *shape))
            case(op, y=random(np.float32, *shape, low=0.25), dy=random(np.float32, 2, 3))
    for op in ("ReluGrad", "Relu6Grad"):
        for dtype in FLOATS:
            # What is not finite is seen also where the function does not rise.
            gradients = np.array([np.nan, np.inf, -np.inf, np.nan, 1])
            case(op, gradients=gradients.astype(dtype), features=np.array([-1, 0, -2, 1, 7]).astype(dtype))


def gelu():
    """`tf.nn.gelu`, for which TensorFlow has no op of its own; its constants are of single precision."""
    for dtype in (np.float32, np.float16, BF16):
        x = random(dtype, 2, 5)
        for approximate in (False, True):
            result = tf.nn.gelu(tf.constant(x), approximate=approximate).numpy()
            lines.append(f"{text('Gelu', [x], {'approximate': approximate})} -> {tensor(result)}")


def activation():
    gelu()


def constant():
    for dtype in NUMBERS + [bool]:
        x = random(dtype, 2, 3)
        case("ZerosLike", x=x)
        case("OnesLike", x=x)
        case("Fill", dims=np.array([2, 2], np.int32), value=random(dtype))
        case("OneHot", indices=np.array([0, 2, -1, 3], np.int32), depth=np.array(3, np.int32),
             on_value=np.array(1, dtype), off_value=np.array(0, dtype), axis=-1)
    case("Fill", dims=np.array([], np.int32), value=np.array(2.5, np.float32))
    case("Fill", dims=np.array([0, 3], np.int64), value=np.array(2.5, np.float32))
    case("Fill", dims=np.array([2, -1], np.int32), value=np.array(2.5, np.float32))
    case("Fill", dims=np.array([2], np.int32), value=np.array("a", object))
    for axis in (0, 1, 2, -1, 3):
        case("OneHot", indices=np.array([[0, 1], [2, 5]], np.int64), depth=np.array(3, np.int32),
             on_value=np.array(5.0, np.float32), off_value=np.array(-1.0, np.float32), axis=axis)
    case("OneHot", indices=np.array([0], np.int32), depth=np.array(0, np.int32),
         on_value=np.array(1.0, np.float32), off_value=np.array(0.0, np.float32), axis=-1)
    case("OneHot", indices=np.array([0], np.uint8), depth=np.array(2, np.int32),
         on_value=np.array(1.0, np.float32), off_value=np.array(0.0, np.float32), axis=-1)
    for start, limit, delta in ((0, 5, 1), (3, 18, 3), (5, 0, -2), (0, 0, 1), (0, 5, 0), (0, -5, 1), (0, 5, -1)):
        for dtype in (np.int32, np.int64, np.float32, np.float64):
            case("Range", start=np.array(start, dtype), limit=np.array(limit, dtype), delta=np.array(delta, dtype))
    case("Range", start=np.array(0, np.float32), limit=np.array(3, np.float32), delta=np.array(0.1, np.float32))
    for count in (1, 2, 5):
        case("LinSpace", start=np.array(-1, np.float32), stop=np.array(2, np.float32), num=np.array(count, np.int32))
    case("LinSpace", start=np.array(-1, np.float32), stop=np.array(2, np.float32), num=np.array(0, np.int32))
    for axis in (-1, 0):
        case("OneHot", indices=np.array([0, 2, -1], np.int8), depth=np.array(3, np.int32), on_value=np.array("on", object),
             off_value=np.array("", object), axis=axis)
    for shape in ([1], [1, 1]):
        # Some ops take a vector of one for a scalar.
        one = np.full(shape, 1, np.float32)
        case("Fill", dims=np.array([2]), value=one)
        case("Fill", dims=np.full(shape, 2), value=one[0])
        case("Range", start=one, limit=np.array(3, np.float32), delta=one)
        case("LinSpace", start=one, stop=np.array(3, np.float32), num=np.array(3, np.int32))
        case("LinSpace", start=np.array(1, np.float32), stop=np.array(3, np.float32), num=np.full(shape, 3, np.int32))
        indices, depth, on = np.array([0, 2]), np.array(3, np.int32), np.array(1, np.float32)
        case("OneHot", indices=indices, depth=np.full(shape, 3, np.int32), on_value=on, off_value=on)
        case("OneHot", indices=indices, depth=depth, on_value=one, off_value=on)
        case("OneHot", indices=indices, depth=depth, on_value=on, off_value=one)
    case("Fill", dims=np.array(2), value=np.array(1, np.float32))
    for ends in ((-np.inf, 1), (1, np.inf), (np.nan, 1)):
        # What is between may be no number; the ends are what they are.
        case("LinSpace", start=np.array(ends[0], np.float32), stop=np.array(ends[1], np.float32), num=np.array(4, np.int32))
    for axis in (-2, 2):
        case("OneHot", indices=indices, depth=depth, on_value=on, off_value=on, axis=axis)
    for dtype in (np.float16, BF16, np.float64):
        case("Range", start=np.array(1, dtype), limit=np.array(40, dtype), delta=np.array(3, dtype))
    case("Range", start=np.array(2**40, np.int64), limit=np.array(-2**41, np.int64), delta=np.array(-10**12, np.int64))
    case("LinSpace", start=np.array(2.5, np.float64), stop=np.array(-1 / 3, np.float64), num=np.array(7, np.int64))


def shape():
    x = random(np.float32, 2, 3, 4)
    for given in ([4, 6], [-1], [2, -1, 2], [24], [5, -1], [3, 3], [-1, -1], [2, -3], []):
        case("Reshape", tensor=x, shape=np.array(given, np.int32))
    for given in ([-1, 3], [3, -1], [-1, 0], [0], [2]):
        case("Reshape", tensor=np.zeros((0, 3), np.float32), shape=np.array(given, np.int64))
    case("Reshape", tensor=np.array(["a", "b"], object), shape=np.array([2, 1], np.int32))
    for axis in (0, 1, 3, -1, -4, 4, -5):
        case("ExpandDims", input=x, axis=np.array(axis, np.int32))
    y = random(np.int32, 1, 2, 1, 3)
    for axes in ([], [0], [2], [0, 2], [-2], [1], [4]):
        case("Squeeze", input=y, axis=axes)
    for op in ("Shape", "Size"):
        for out in (tf.int32, tf.int64):
            case(op, input=y, out_type=out)
    case("Rank", input=y)
    case("Identity", input=y)
    case("Identity", input=np.array(["a"], object))


def gradients():
    x, y = random(np.float32, 2, 3), random(np.float32, 4)
    for out in (tf.int32, tf.int64):
        case("ShapeN", input=[x, y, random(np.float32)], out_type=out)
    for dtype in (np.int32, np.int64):
        for a, b in (([2, 3], [3]), ([3], [2, 3]), ([], [2]), ([], []), ([1, 3], [2, 1]), ([1, 3], [1, 3]), ([1, 3], [1, 1]),
                     ([1], []), ([1, 1], [1]), ([2, 1, 3], [1, 3]), ([2], [3]), ([2, 3], [2]), ([0], [1]), ([0, 2], [2]),
                     ([5, 1, 1, 2], [1, 4, 1, 2]), ([1, 1, 2], [1, 2])):
            case("BroadcastGradientArgs", s0=np.array(a, dtype), s1=np.array(b, dtype))
        case("ConcatOffset", concat_dim=np.array(1, np.int32), shape=[np.array(s, dtype) for s in ([2, 3], [2, 5], [2, 1])])
        for places in ([2, 0, 1], [0], [], [0, 0], [3, 0, 1], [-1, 0, 1]):
            case("InvertPermutation", x=np.array(places, dtype))
    for axis, shapes in ((-1, ([2, 3], [2, 5])), (0, ([1, 3], [0, 3])), (2, ([2, 3], [2, 5])), (-3, ([2, 3], [2, 3])),
                         (0, ([2, 3], [2, 5])), (0, ([2], [2, 5])), (0, ([], []))):
        case("ConcatOffset", concat_dim=np.array(axis, np.int32), shape=[np.array(s, np.int32) for s in shapes])
    case("InvertPermutation", x=np.array([[0]], np.int32))
    for dtype in NUMBERS + COMPLEX:
        case("UnsortedSegmentSum", data=random(dtype, 4, 2), segment_ids=np.array([2, 0, 2, -1], np.int32),
             num_segments=np.array(3, np.int32))
    data = random(np.float32, 2, 3, 2)
    for ids, count in (([0, 1], 2), ([[0, 1, 2], [2, 1, 0]], np.int64(4)), (1, 3), ([0, 2], 2), ([0], 2), ([[0, 1], [1, 0]], 2),
                       ([-5, -1], 1), ([0, 1], -1), ([0, 1], 0), ([-1, -1], 0)):
        case("UnsortedSegmentSum", data=data, segment_ids=np.array(ids, np.int64), num_segments=np.array(count))
    case("UnsortedSegmentSum", data=np.zeros((2, 0), np.float32), segment_ids=np.array([0, 1], np.int32),
         num_segments=np.array(2, np.int32))
    for dtype in NUMBERS + COMPLEX + [bool]:
        case("MatrixBandPart", input=random(dtype, 3, 4), num_lower=np.array(1, np.int32), num_upper=np.array(0, np.int32))
    square = random(np.float32, 2, 4, 3)
    for lower, upper in ((-1, 0), (0, -1), (0, 0), (-1, -1), (4, 3), (5, 0), (0, 4), (2, 1), (1, 2), (-7, 1)):
        case("MatrixBandPart", input=square, num_lower=np.array(lower, np.int64), num_upper=np.array(upper, np.int64))
    case("MatrixBandPart", input=random(np.float32, 3), num_lower=np.array(0, np.int32), num_upper=np.array(0, np.int32))
    case("MatrixBandPart", input=np.zeros((0, 3), np.float32), num_lower=np.array(0, np.int32), num_upper=np.array(0, np.int32))
    case("MatrixBandPart", input=np.zeros((2, 3, 0), np.float32), num_lower=np.array(0, np.int32),
         num_upper=np.array(0, np.int32))
    for dtype in NUMBERS + COMPLEX + [bool]:
        case("ScatterNd", indices=np.array([[1], [3], [1]], np.int32), updates=random(dtype, 3, 2), shape=np.array([4, 2], np.int32))
        for op in ("Update", "Add", "Sub", "Max", "Min"):
            case("TensorScatter" + op, tensor=random(dtype, 2, 3), indices=np.array([[1, 2], [0, 0], [1, 2]]), updates=random(dtype, 3))
    f = np.float32
    for indices, updates, into in (
            ([[0], [2], [0]], (3,), [4]), ([[0], [4]], (2,), [4]), ([[0], [-1]], (2,), [4]), ([[0, 1]], (1, 2), [2, 3, 2]), ([[0], [1]], (3,), [4]),
            ([0, 1], (2,), [4]), ([0], (2,), [4, 2]), ([1], (2,), [4, 2]), ([1, 1], (), [4, 2]), (0, (), [4]), (np.zeros((2, 0)), (2, 3), [3]),
            (np.zeros((0, 1)), (0,), [4]), ([[0]], (1,), [0]), (np.zeros((0, 1)), (0,), [0]), ([[0]], (1,), [-1]), ([[0]], (1,), []),
            ([[0]], (1, 0), [3, 0]), ([[0, 0]], (1,), [3]), ([[7]], (1, 0), [3, 0]), ([[[0, 1]], [[1, 0]]], (2, 1, 2), [2, 2, 2]),
            (np.zeros((0, 3)), (0, 2), [2, 2]), ([[1, 1, 1]], (1,), [2, 2]), ([[0]], (1, 3), [4, 2])):
        indices, updates = np.array(indices, np.int64), random(f, *updates)
        case("ScatterNd", indices=indices, updates=updates, shape=np.array(into, np.int64))
        if min(into, default=1) >= 0:
            case("TensorScatterAdd", tensor=random(f, *into), indices=indices, updates=updates)
    case("ScatterNd", indices=np.array([[0]]), updates=random(f, 1), shape=np.array([2], np.int32))
    case("ScatterNd", indices=np.array([[0]]), updates=random(f, 1), shape=np.array([[2]]))
    for indices, updates, into in (((0, 0), (0, 4), [4]), ((0, 0), (0,), [])):
        case("ScatterNd", indices=np.zeros(indices, np.int32), updates=np.zeros(updates, f), shape=np.array(into, np.int32))
    case("TensorScatterUpdate", tensor=random(f, 2), indices=np.array([[0]]), updates=random(np.float64, 1))
    for policy in ("IGNORE", "ERROR", "DEFAULT", "other"):
        case("TensorScatterUpdate", tensor=random(f, 2), indices=np.array([[0], [5], [-1]]), updates=random(f, 3), bad_indices_policy=policy)
    diagonals()


def diagonals():
    for dtype in NUMBERS + COMPLEX + [bool]:
        case("MatrixDiag", diagonal=random(dtype, 2, 3))
        case("MatrixDiagPart", input=random(dtype, 2, 3, 2))
        case("MatrixSetDiag", input=random(dtype, 2, 3, 4), diagonal=random(dtype, 2, 3))
        case("MatrixDiagV3", diagonal=random(dtype, 2, 2), k=np.array([0, 1], np.int32), num_rows=np.array(-1, np.int32),
             num_cols=np.array(3, np.int32), padding_value=random(dtype))
        case("MatrixDiagPartV3", input=random(dtype, 3, 4), k=np.array([-1, 1], np.int32), padding_value=random(dtype))
        case("MatrixSetDiagV3", input=random(dtype, 3, 4), diagonal=random(dtype, 2, 3), k=np.array([0, 1], np.int32))
    f, nine = np.float32, np.array(9, np.float32)
    # Diagonals and errors in them: too many, of other lengths, beyond the matrix, upside down.
    for k in (0, 1, -2, 3, 4, -3, [0], [-1, 1], [-2, 3], [1, 2], [-2, -1], [0, 0], [2, 2], [1, 0], [0, 1, 2], [[0]], [-5, 1], []):
        k = np.array(k, np.int32)
        count = int(np.ptp(k)) + 1 if k.size else 1
        for align in ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT", "MIDDLE") if k.size == 2 else ("RIGHT_LEFT",):
            case("MatrixDiagPartV3", input=random(f, 2, 3, 4), k=k, padding_value=nine, align=align)
            for length in (1, 2, 3):
                dims = (2, length) if count == 1 else (2, count, length)
                case("MatrixSetDiagV3", input=random(f, 2, 3, 4), diagonal=random(f, *dims), k=k, align=align)
            case("MatrixDiagV3", diagonal=random(f, *dims), k=k, num_rows=np.array(-1, np.int32), num_cols=np.array(-1, np.int32),
                 padding_value=nine, align=align)
        case("MatrixDiagPartV2", input=random(f, 3, 4), k=k, padding_value=nine)
        case("MatrixSetDiagV2", input=random(f, 3, 4), diagonal=random(f, *dims[1:]), k=k)
        for rows, columns in ((-1, -1), (3, -1), (-1, 4), (3, 5), (4, 4), (2, 9), (9, 9), (-7, 4)):
            case("MatrixDiagV2", diagonal=random(f, *dims[1:]), k=k, num_rows=np.array(rows, np.int32),
                 num_cols=np.array(columns, np.int32), padding_value=nine)
    for dims in ((), (0,), (2, 0), (0, 3), (2, 3, 0), (2, 0, 3), (0, 0)):
        case("MatrixDiag", diagonal=random(f, *dims))
        case("MatrixDiagPart", input=random(f, *dims))
        case("MatrixSetDiag", input=random(f, *dims), diagonal=random(f, *dims[:-2], min(dims[-2:], default=1)))
    case("MatrixDiagV3", diagonal=random(f, 2), k=np.array(0, np.int32), num_rows=np.array([2], np.int32), num_cols=np.array(2, np.int32),
         padding_value=nine)
    case("MatrixDiagV3", diagonal=random(f, 2), k=np.array(0, np.int32), num_rows=np.array(2, np.int32), num_cols=np.array(2, np.int32),
         padding_value=nine[None])
    case("MatrixDiagPartV3", input=random(f, 2, 2), k=np.array(0, np.int32), padding_value=np.array([1, 2], f))


def concat():
    for dtype in NUMBERS + [bool]:
        x, y = random(dtype, 2, 3), random(dtype, 2, 3)
        case("ConcatV2", values=[x, y], axis=np.array(1, np.int32))
        case("Pack", values=[x, y], axis=1)
    x, y = random(np.float32, 2, 0, 3), random(np.float32, 2, 2, 3)
    for axis in (0, 1, 2, -1, -2, -3, 3, -4):
        case("ConcatV2", values=[y, y], axis=np.array(axis, np.int64))
        case("Pack", values=[y, y, y], axis=axis)
    case("ConcatV2", values=[x, y, x], axis=np.array(1, np.int32))
    case("ConcatV2", values=[x, y], axis=np.array(0, np.int32))
    case("ConcatV2", values=[random(np.float32, 2), y], axis=np.array(0, np.int32))
    case("Concat", concat_dim=np.array(0, np.int32), values=[y, y])
    case("ConcatV2", values=[np.array(["a"], object), np.array(["b", "c"], object)], axis=np.array(0, np.int32))
    case("Pack", values=[np.array("a", object), np.array("b", object)], axis=0)
    case("Pack", values=[random(np.int32), random(np.int32)], axis=-1)
    case("Pack", values=[random(np.int32, 2), random(np.int32, 3)], axis=0)
    for shape in ([1], [1, 1]):
        axis, tensors = np.zeros(shape, np.int32), [np.array([1, 2], np.float32), np.array([3], np.float32)]
        case("Concat", concat_dim=axis, values=tensors)
        case("ConcatV2", values=tensors, axis=axis)


def slice():
    x = random(np.float32, 3, 4, 2)
    for begin, size in (([0, 0, 0], [3, 4, 2]), ([1, 2, 0], [2, 1, -1]), ([3, 0, 0], [0, 4, 2]), ([0, 0, 0], [-1, -1, -1]),
                        ([0, 0, 0], [4, 1, 1]), ([-1, 0, 0], [1, 1, 1]), ([0, 0], [1, 1]), ([2, 3, 1], [1, 1, 1])):
        case("Slice", input=x, begin=np.array(begin, np.int32), size=np.array(size, np.int32))
    case("Slice", input=np.array(["a", "b", "c"], object), begin=np.array([1], np.int64), size=np.array([2], np.int64))
    case("Slice", input=np.array(5, np.int32), begin=np.array([], np.int32), size=np.array([], np.int32))
    y = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    specs = [
        dict(begin=[0, 0, 0], end=[2, 3, 4], strides=[1, 2, 3]), dict(begin=[1, -1, -1], end=[2, -4, -5], strides=[1, -1, -2]),
        dict(begin=[1], end=[2], strides=[1]), dict(begin=[1], end=[2], strides=[1], shrink_axis_mask=1),
        dict(begin=[-1, 0], end=[0, 0], strides=[1, 1], shrink_axis_mask=3), dict(begin=[2], end=[3], strides=[1], shrink_axis_mask=1),
        dict(begin=[0, 1], end=[0, 2], strides=[1, 1], ellipsis_mask=1), dict(begin=[0, 0, 3], end=[0, 0, 0], strides=[1, 1, 1],
        ellipsis_mask=1, new_axis_mask=2, shrink_axis_mask=4), dict(begin=[0, 0, 0], end=[0, 0, 0], strides=[1, 1, 1], new_axis_mask=5),
        dict(begin=[1, 1], end=[1, 2], strides=[1, 1], begin_mask=1, end_mask=2), dict(begin=[5, 0], end=[9, 2], strides=[1, 1]),
        dict(begin=[0], end=[1], strides=[0]), dict(begin=[0, 0, 0, 0], end=[1, 1, 1, 1], strides=[1, 1, 1, 1]),
        dict(begin=[0, 0], end=[0, 0], strides=[1, 1], ellipsis_mask=3), dict(begin=[1], end=[0], strides=[-1], shrink_axis_mask=1),
        dict(begin=[0, 0], end=[0, 0], strides=[-1, -2], begin_mask=3, end_mask=3), dict(begin=[-9, 0], end=[9, -9], strides=[1, 1]),
        dict(begin=[], end=[], strides=[]), dict(begin=[0, 1, 0], end=[0, 3, 0], strides=[1, 1, 1], begin_mask=1, end_mask=1,
        ellipsis_mask=4, new_axis_mask=4), dict(begin=[1, 0, 0], end=[2, 0, 2], strides=[1, 1, 1], ellipsis_mask=2, shrink_axis_mask=1),
    ]
    for spec in specs:
        lists = {name: np.array(spec[name], np.int32) for name in ("begin", "end", "strides")}
        case("StridedSlice", input=y, **lists, **{name: mask for name, mask in spec.items() if name not in lists})
    for axis, count in ((0, 3), (1, 2), (-1, 1), (1, 3), (3, 1), (0, 0)):
        case("Split", axis=np.array(axis, np.int32), value=x, num_split=count)
    for sizes, axis in (([1, 2], 0), ([1, -1], 1), ([4], -2), ([1, 3], 0), ([0, 2], 2), ([-1, -1], 0), ([5, -1], 1)):
        case("SplitV", value=x, size_splits=np.array(sizes, np.int32), axis=np.array(axis, np.int32), num_split=len(sizes))
    for axis, count in ((0, 3), (1, 4), (-1, 2), (0, 2), (3, 1)):
        case("Unpack", value=x, num=count, axis=axis)
    case("Unpack", value=np.array(["a", "b"], object), num=2, axis=0)
    for axes in ([0], [1, -1], [], [0, 0], [3]):
        case("ReverseV2", tensor=x, axis=np.array(axes, np.int32))
    names = {name: np.array(values, np.int16) for name, values in dict(begin=[0, 1], end=[2, 3], strides=[1, 2]).items()}
    case("StridedSlice", input=random(np.float32, 2, 3), **names)
    case("SplitV", value=random(np.float32, 3, 2), size_splits=np.array([1, -1], np.int8), axis=np.array(0, np.int32), num_split=2)
    x = np.array([1, 2], np.float32)
    for shape in ([1], [1, 1]):
        zero, two = np.zeros(shape, np.int32), np.full(shape, 2, np.int32)
        case("Split", axis=zero, value=x, num_split=1)
        case("SplitV", value=x, size_splits=np.array([2]), axis=zero, num_split=1)
        case("SplitV", value=x, size_splits=two, axis=np.array(0, np.int32), num_split=1)
        case("Slice", input=x, begin=zero, size=two)
        case("StridedSlice", input=x, begin=zero, end=two, strides=np.ones(shape, np.int32))
        case("ReverseV2", tensor=x, axis=zero)
    case("ReverseV2", tensor=x, axis=np.array(0, np.int32))
    for dims, axes in (((0, 3), [1, 9]), ((2, 0), 0), ((), [0]), ((), 5), ((1, 0), [0, 0])):
        # Where there is at most one place TensorFlow does not look at the axes.
        case("ReverseV2", tensor=np.zeros(dims, np.float32), axis=np.array(axes, np.int32))
    for dims, sizes in (((4,), [-1]), ((4,), [4]), ((4,), [3]), ((0, 2), [-1]), ((0, 2), [0])):
        case("SplitV", value=np.zeros(dims, np.float32), size_splits=np.array(sizes), axis=np.array(0, np.int32), num_split=1)

    def given_back(dims, spec, dtype=np.float32, **given):
        lists = {name: np.array(spec[name], np.int32) for name in ("begin", "end", "strides")}
        masks = {name: mask for name, mask in spec.items() if name not in lists}
        try:
            dy = random(dtype, *tf.raw_ops.StridedSlice(input=np.zeros(dims, np.float32), **lists, **masks).shape)
        except tf.errors.OpError:
            dy = random(dtype, 1)
        case("StridedSliceGrad", **{"shape": np.array(dims, np.int32), **lists, "dy": dy, **masks, **given})

    for spec in specs:
        given_back((2, 3, 4), spec)
    for dtype in NUMBERS + COMPLEX + [bool]:
        given_back((3, 5), dict(begin=[2, 1], end=[0, 5], strides=[-1, 3]), dtype)
    for dims in ((0, 3), (3, 0), (4, 2)):
        given_back(dims, dict(begin=[1, 0], end=[1, 2], strides=[1, 1]))
    given_back((), dict(begin=[], end=[], strides=[]))
    part = dict(begin=[1], end=[3], strides=[1])
    for wrong in (dict(dy=random(np.float32, 3)), dict(dy=random(np.float32, 2, 1)), dict(shape=np.array([-1], np.int32)),
                  dict(shape=np.array([[4]], np.int32)), dict(shape=np.array([4])), dict(shape=np.array([4, 1], np.int32))):
        given_back((4,), part, **wrong)
    for dtype in NUMBERS + COMPLEX + [bool]:
        case("ReverseSequence", input=random(dtype, 2, 3, 2), seq_lengths=np.array([3, 2], np.int32), seq_dim=1)
    for dims, lengths, row, batch in (
            ((2, 3), [1, 3], 1, 0), ((2, 3), [1, 4], 1, 0), ((2, 3), [0, -1], 1, 0), ((2, 3), [1, 2, 2], 0, 1), ((2, 3), [1, 2], 1, 1), ((2, 3), [1], 1, 0),
            ((2, 3), [1, 2], -1, 0), ((2, 3), [1, 2], 2, 0), ((2, 3), [1, 2], 1, -2), ((0, 3), [], 1, 0), ((2, 0), [0, 0], 1, 0), ((2, 3, 2), [[1, 2]], 1, 0),
            ((2, 3, 2, 2), [2, 1, 0], 3, 1), ((3, 2, 4), [2, 3, 1, 0], 0, 2), ((2, 3, 0), [2, 3], 1, 0)):
        case("ReverseSequence", input=random(np.float32, *dims), seq_lengths=np.array(lengths, np.int64), seq_dim=row, batch_dim=batch)
    case("ReverseSequence", input=np.array([["a", "b"]], object), seq_lengths=np.array([2], np.int32), seq_dim=1)
    # The second ellipsis is of no entry.
    case("StridedSlice", input=random(np.float32, 4), begin=np.zeros(1, np.int32), end=np.ones(1, np.int32),
         strides=np.ones(1, np.int32), begin_mask=0, end_mask=0, ellipsis_mask=5, new_axis_mask=0, shrink_axis_mask=0)


def gather():
    x = random(np.float32, 4, 3, 2)
    for indices in ([0, 3, 1], [[0], [2]], [], 2, [4], [-1]):
        case("Gather", params=x, indices=np.array(indices, np.int32))
        for axis in (1, -1):
            case("GatherV2", params=x, indices=np.minimum(np.array(indices, np.int64), 1), axis=np.array(axis, np.int32))
    case("GatherV2", params=x, indices=np.array([0], np.int32), axis=np.array(3, np.int32))
    case("GatherV2", params=random(np.int32, 2, 3, 2), indices=np.array([[2, 0], [1, 1]], np.int32), axis=np.array(1, np.int32),
         batch_dims=1)
    case("GatherV2", params=random(np.int32, 2, 3), indices=np.array([[2], [1]], np.int32), axis=np.array(1, np.int32), batch_dims=-1)
    case("GatherV2", params=np.array(["a", "b"], object), indices=np.array([1, 0], np.int32), axis=np.array(0, np.int32))
    case("Gather", params=np.zeros((3, 0), np.float32), indices=np.array([1], np.int32))
    case("Gather", params=np.zeros((3, 0), np.float32), indices=np.array([1], np.float32))
    case("GatherV2", params=np.zeros(3, np.float32), indices=np.zeros(0, np.float32), axis=np.array(0, np.int32))
    for dtype in NUMBERS + [bool]:
        case("Gather", params=random(dtype, 3, 2), indices=np.array([2, 0], np.int64))
    for indices in ([[0, 0], [3, 2]], [[1]], [[[0, 1, 1]]], [[4]], [[-1]], [[0, 0, 0, 0]], [[]]):
        case("GatherNd", params=x, indices=np.array(indices, np.int32))
    for indices in (np.array(0, np.int32), np.array([0, 1], np.int32)):
        case("GatherV2", params=random(np.float32, 3), indices=indices, axis=np.array(0, np.int32), batch_dims=-1 - indices.ndim)
    case("GatherV2", params=random(np.float32, 3, 2), indices=np.array([2, 0], np.int16), axis=np.array(0, np.int32))
    case("GatherNd", params=random(np.float32, 3, 2), indices=np.array([[2, 0]], np.int16))
    case("GatherV2", params=np.array([1, 2], np.float32), indices=np.array([0]), axis=np.array([0]))
    for dims, indices in (((3, 0), [[0], [1]]), ((0,), np.zeros((2, 0))), ((3, 0), np.zeros((0, 1)))):
        # Nothing can be chosen from nothing.
        case("GatherNd", params=np.zeros(dims, np.float32), indices=np.array(indices, np.int32))
    for dims, index, axis in (((3, 0), 7, 0), ((3, 0), 0, 1), ((0, 3), 9, 1), ((0,), 0, 0), ((2, 0, 3), -1, 2)):
        # Of nothing any index will do, where the result is nothing too.
        case("GatherV2", params=np.zeros(dims, np.float32), indices=np.array([index]), axis=np.array(axis, np.int32))
    for policy in ("", "DEFAULT", "ERROR", "IGNORE", "WRONG"):
        for indices in ([[1], [0]], [[1], [-1], [7]], [[1, 0], [2, 9], [0, 1]]):
            indices, x = np.array(indices, np.int32), random(np.float32, 3, 2)
            case("GatherNd", params=x, indices=indices, bad_indices_policy=policy)
            updates = random(np.float32, len(indices), *x.shape[indices.shape[1]:])
            case("ScatterNd", indices=indices, updates=updates, shape=np.array([3, 2], np.int32), bad_indices_policy=policy)
            case("TensorScatterUpdate", tensor=x, indices=indices, updates=updates, bad_indices_policy=policy)
            case("TensorScatterAdd", tensor=x, indices=indices, updates=updates, bad_indices_policy=policy)


def layout():
    x = random(np.float32, 2, 3)
    for paddings in ([[1, 0], [0, 2]], [[0, 0], [0, 0]], [[1, 1]], [[-1, 0], [0, 0]], [[1, 2, 3], [1, 2, 3]]):
        case("Pad", input=x, paddings=np.array(paddings, np.int32))
        case("PadV2", input=x, paddings=np.array(paddings, np.int64), constant_values=np.array(7.5, np.float32))
    for dtype in NUMBERS + [bool]:
        y = random(dtype, 2, 2)
        case("Pad", input=y, paddings=np.array([[1, 0], [0, 1]], np.int32))
        case("Tile", input=y, multiples=np.array([2, 1], np.int32))
        case("Transpose", x=random(dtype, 2, 3), perm=np.array([1, 0], np.int32))
        case("BroadcastTo", input=random(dtype, 2, 1), shape=np.array([2, 2, 2], np.int32))
        case("ReverseV2", tensor=y, axis=np.array([0], np.int32))
    case("Pad", input=np.zeros((0, 2), np.float32), paddings=np.array([[1, 0], [0, 0]], np.int32))
    for mode in ("REFLECT", "SYMMETRIC"):
        for paddings in ([[1, 1], [2, 1]], [[0, 0], [0, 2]], [[2, 0], [3, 0]], [[3, 0], [0, 0]]):
            case("MirrorPad", input=x, paddings=np.array(paddings, np.int32), mode=mode)
    for multiples in ([1, 2], [3, 1], [2, 2], [0, 1], [2], [-1, 1]):
        case("Tile", input=x, multiples=np.array(multiples, np.int32))
    case("Tile", input=np.array(["a", "b"], object), multiples=np.array([2], np.int32))
    z = random(np.float32, 2, 3, 4)
    for perm in ([0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1], [-1, 0, 1], [0, 0, 1], [0, 1], [0, 1, 3]):
        case("Transpose", x=z, perm=np.array(perm, np.int32))
    case("Transpose", x=np.array(5, np.int32), perm=np.array([], np.int32))
    case("Transpose", x=np.zeros((0, 3), np.int32), perm=np.array([1, 0], np.int32))
    case("Transpose", x=np.array([["a", "b"], ["c", "d"]], object), perm=np.array([1, 0], np.int32))
    for shape in ([2, 3], [4, 2, 3], [2, 2], [3], [0, 2, 3]):
        case("BroadcastTo", input=x, shape=np.array(shape, np.int32))
    case("BroadcastTo", input=np.array(1, np.int32), shape=np.array([2, 2], np.int64))
    words = np.array([["a", "b"], ["c", "d e"]], object)
    for paddings in ([[1, 0], [0, 2]], [[0, 0], [0, 0]], [[1, 1]]):
        case("Pad", input=words, paddings=np.array(paddings, np.int32))
        case("PadV2", input=words, paddings=np.array(paddings, np.int32), constant_values=np.array("-", object))
    x = np.array([1, 2], np.float32)
    for shape in ([], [1], [1, 1]):
        case("PadV2", input=x, paddings=np.array([[0, 1]]), constant_values=np.full(shape, 3, np.float32))
        case("Tile", input=x, multiples=np.full(shape, 2))
        case("BroadcastTo", input=x, shape=np.full(shape, 2))
        case("Transpose", x=x, perm=np.full(shape, 0))
    for dtype in NUMBERS + [bool] + COMPLEX:
        case("PadV2", input=random(dtype, 2, 2), paddings=np.array([[1, 0], [0, 1]], np.int32), constant_values=np.array(1, dtype))
    for constant in (np.array(2**53 + 1), np.array(2**64 - 1, np.uint64), np.array(np.nan), np.array(1.5 - 2j, np.complex64)):
        case("PadV2", input=random(constant.dtype, 1, 2), paddings=np.array([[0, 1], [1, 0]], np.int32), constant_values=constant)
    for dtype in COMPLEX:
        case("Pad", input=random(dtype, 2, 2), paddings=np.array([[1, 0], [0, 1]], np.int32))
    case("PadV2", input=x, paddings=np.array([[0, 1]]), constant_values=np.array(1, np.int32))
    for dtype in NUMBERS + COMPLEX + [bool]:
        case("Roll", input=random(dtype, 2, 3), shift=np.array(1, np.int32), axis=np.array(1, np.int32))
    case("Roll", input=np.array(["a", "b", "c"], object), shift=np.array([-1], np.int64), axis=np.array([0], np.int64))
    rolled = random(np.float32, 3, 4, 2)
    for shift, axis in (([1, 2], [0, 1]), ([5, -7, 1], [1, -2, 0]), ([0], [2]), ([], []), (-1, -1), (2**31 - 1, 0), (1, 3), (1, -4),
                        ([1], 0), ([1, 2], [0])):
        case("Roll", input=rolled, shift=np.array(shift, np.int32), axis=np.array(axis, np.int32))
    case("Roll", input=np.zeros((0, 2), np.float32), shift=np.array(1, np.int32), axis=np.array(0, np.int32))
    case("Roll", input=np.float32(1), shift=np.array([], np.int32), axis=np.array([], np.int32))
    for dtype in NUMBERS + COMPLEX + [bool]:
        case("SpaceToBatchND", input=random(dtype, 2, 3, 5, 2), block_shape=np.array([2, 3], np.int32), paddings=np.array([[1, 0], [0, 1]]))
        case("BatchToSpaceND", input=random(dtype, 12, 2, 2, 2), block_shape=np.array([2, 3]), crops=np.array([[1, 0], [0, 2]], np.int32))
        case("SpaceToDepth", input=random(dtype, 2, 2, 4, 3), block_size=2)
        case("DepthToSpace", input=random(dtype, 2, 1, 2, 12), block_size=2)
    f = np.float32
    for dims, blocks, paddings in (
            ((1, 4, 1), [2], [[0, 0]]), ((1, 3, 1), [2], [[0, 0]]), ((1, 3, 1), [2], [[1, 0]]), ((1, 3, 1), [0], [[1, 0]]), ((1, 3, 1), [-1], [[1, 0]]),
            ((1, 3, 1), [2], [[-1, 0]]), ((1, 3, 1), [2], [[0]]), ((2, 3), [], np.zeros((0, 2))), ((1, 4, 4), [2, 2], [[0, 0], [0, 0]]),
            ((1,), [2], [[0, 0]]), ((2, 0, 3), [2], [[0, 0]]), ((2, 0, 3), [2], [[1, 1]]), ((0, 4, 3), [2], [[0, 0]]), ((1, 4, 1), [[2]], [[0, 0]]),
            ((1, 4, 1), 2, [[0, 0]]), ((1, 4, 1), [2], [0, 0]), ((3, 4, 1), [1], [[0, 0]]), ((3, 4, 2), [1, 2], [[0, 2], [0, 0]]),
            ((1, 4, 0), [2], [[0, 0]]), ((2, 1), [3], [[1, 1]]), ((2, 2, 3, 2, 1), [2, 3, 1], [[0, 0], [0, 0], [1, 1]])):
        case("SpaceToBatchND", input=random(f, *dims), block_shape=np.array(blocks, np.int32), paddings=np.array(paddings, np.int32))
    for dims, blocks, crops in (
            ((4, 2, 1), [2], [[0, 0]]), ((4, 2, 1), [2], [[1, 0]]), ((4, 2, 1), [2], [[2, 2]]), ((4, 2, 1), [2], [[3, 2]]), ((3, 2, 1), [2], [[0, 0]]),
            ((4, 2, 1), [2], [[-1, 0]]), ((0, 2, 1), [2], [[0, 0]]), ((4, 0, 1), [2], [[0, 0]]), ((4, 2, 1), [0], [[0, 0]]), ((4,), [2], [[0, 0]]),
            ((4, 2, 2), [2, 2], [[0, 1], [1, 0]]), ((4, 2, 0), [2], [[1, 1]]), ((2, 3), [], np.zeros((0, 2))), ((6, 2, 1, 2, 1), [2, 1, 3], [[0, 1], [0, 0], [2, 1]])):
        case("BatchToSpaceND", input=random(f, *dims), block_shape=np.array(blocks, np.int32), crops=np.array(crops, np.int32))
    three = dict(block_shape=np.array([2, 2, 3], np.int32))
    case("SpaceToBatchND", input=random(np.float64, 1, 4, 2, 5, 2), **three, paddings=np.array([[0, 0], [1, 1], [0, 1]], np.int32))
    case("BatchToSpaceND", input=random(np.float64, 12, 2, 2, 1, 2), **three, crops=np.array([[0, 1], [1, 0], [1, 1]], np.int32))
    for dims, size in (((1, 4, 6, 1), 2), ((1, 3, 6, 2), 3), ((1, 3, 2, 1), 2), ((1, 2, 2, 1), 1), ((1, 2, 2), 2), ((0, 2, 2, 1), 2), ((1, 0, 2, 1), 2)):
        case("SpaceToDepth", input=random(f, *dims), block_size=size)
    for dims, size in (((1, 2, 3, 4), 2), ((1, 1, 2, 18), 3), ((1, 1, 1, 5), 2), ((1, 1, 1, 0), 2), ((1, 1, 1, 4), 0), ((1, 4, 4), 2), ((2, 0, 1, 4), 2)):
        case("DepthToSpace", input=random(f, *dims), block_size=size)
    letters = np.array([["a", "b"], ["c", "d"]], object)
    case("SpaceToDepth", input=letters.reshape(1, 2, 2, 1), block_size=2)
    case("DepthToSpace", input=letters.reshape(1, 1, 1, 4), block_size=2)


def cast():
    types = [tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16,
             tf.uint32, tf.uint64, tf.bool]
    for dtype in FLOATS:
        # What is beyond 64 bits depends on the processor and on how the loop was compiled.
        values = np.array([0.0, -0.0, 1.0, -1.5, 2.5, 100.7, -100.7, 300.0, 70000.0], np.float64)
        for to in types:
            keep = values if not to.is_unsigned else values[values >= 0]
            keep = keep if to.is_floating or to == tf.bool else keep[np.abs(keep) < min(float(to.max), 65000.0)]
            case("Cast", x=keep.astype(dtype), DstT=to)
    for to in (tf.int32, tf.int64, tf.float16, tf.bool):
        case("Cast", x=np.array([np.nan, np.inf, -np.inf], np.float32), DstT=to)
    for dtype in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64):
        info = np.iinfo(dtype)
        for to in types:
            case("Cast", x=np.array([0, 1, 5, info.max, info.min, info.max - 1], dtype), DstT=to)
    for to in types:
        case("Cast", x=np.array([True, False]), DstT=to)
    case("Bitcast", input=random(np.float32, 2), type=tf.int32)
    case("Bitcast", input=random(np.float32, 2), type=tf.uint8)
    case("Bitcast", input=random(np.uint8, 2, 4), type=tf.int32)
    case("Bitcast", input=random(np.uint8, 2, 3), type=tf.int32)
    # What would be rounded beyond the greatest number; of integers nothing is cut off.
    for dtype, to in ((np.float32, tf.float16), (np.float32, tf.bfloat16), (np.float64, tf.float32), (np.float64, tf.float16),
                      (np.float64, tf.bfloat16)):
        most = {tf.float16: 65519.0, tf.bfloat16: 3.4e38, tf.float32: 3.40282355e38}[to]
        case("Cast", x=np.array([1.9999999, -0.1, most, -most, np.inf, np.nan, 1e-7, 3.0], dtype), DstT=to, Truncate=True)
    case("Cast", x=np.array([65519, 65520, 70000, -2**31], np.int32), DstT=tf.float16, Truncate=True)
    # Amid two halves, but for digits that are lost on the way.
    for to, digits in ((tf.float16, 11), (tf.bfloat16, 8)):
        odd = [2**digits + 1, 2**digits + 3]
        close = [sign * middle * (1 + way * 2.0**-40) for sign in (1, -1) for middle in odd for way in (1, -1)]
        case("Cast", x=np.array(close + [65519.999999, 3.3961775292304957e38]), DstT=to)
        case("Cast", x=np.array(close) * (1 + 1j), DstT=to)
    for dtype in (np.int32, np.int64, np.uint32, np.uint64):
        wide = 2**(np.iinfo(dtype).bits - 11)
        case("Cast", x=np.array([middle * wide + way for middle in odd for way in (1, 0, -1)], dtype), DstT=to)
    for dtype, to in ((np.float32, tf.float16), (np.float64, tf.float16), (np.float32, tf.bfloat16), (np.float64, tf.float32)):
        beyond = np.array([65535.0, 70000.0, -1e6, 3.4028e38, -1e300, 6e-8, 1.2345e-6, 1e-46, np.inf, np.nan], np.float64)
        case("Cast", x=np.where(np.abs(beyond) < 1e39, beyond, np.sign(beyond) * np.inf).astype(dtype) if dtype == np.float32 else beyond,
             DstT=to, Truncate=True)


def reduce():
    for op in ("Sum", "Mean", "Max", "Min", "Prod"):
        for dtype in NUMBERS:
            x = random(dtype, 2, 3, 2, low=-2.0, high=2.0)
            for axes in ([0], [1, 2]) if dtype != np.float32 else ([0], [1], [-1], [0, 2], [0, 1, 2], [], [3], [-4], [0, 0]):
                case(op, input=x, axis=np.array(axes, np.int32), keep_dims=len(axes) == 1)
        case(op, input=random(np.float32, 3), axis=np.array(0, np.int64))
        case(op, input=random(np.float32), axis=np.array([], np.int32))
        case(op, input=np.zeros((0, 2), np.float32), axis=np.array([0], np.int32))
        case(op, input=np.zeros((0, 2), np.float32), axis=np.array([1], np.int32))
        case(op, input=np.array([1.0, np.nan, 3.0], np.float32), axis=np.array([0], np.int32))
        case(op, input=np.array([np.inf, -np.inf, 3.0], np.float32), axis=np.array([0], np.int32))
        case(op, input=random(np.float32, 12, 20), axis=np.array([0, 1], np.int32))
    case("Sum", input=np.array([2147483647, 1], np.int32), axis=np.array([0], np.int32))
    for op in ("All", "Any"):
        for axes in ([0], [1], [0, 1], []):
            case(op, input=random(bool, 2, 3), axis=np.array(axes, np.int32), keep_dims=False)
        case(op, input=np.zeros((0, 2), bool), axis=np.array([0], np.int32), keep_dims=True)
    for dtype in NUMBERS:
        if dtype != np.uint8:
            case("BiasAdd", value=random(dtype, 2, 3), bias=random(dtype, 3))
            case("BiasAddGrad", out_backprop=random(dtype, 2, 2, 3))
            case("AddN", inputs=[random(dtype, 2, 3) for _ in range(3)])
    case("BiasAdd", value=random(np.float32, 1, 2, 3, 2), bias=random(np.float32, 2), data_format="NHWC")
    case("BiasAdd", value=random(np.float32, 2, 3), bias=random(np.float32, 2))
    case("BiasAdd", value=random(np.float32, 3), bias=random(np.float32, 3))
    case("BiasAdd", value=random(np.float32, 2, 3), bias=random(np.float32, 3, 1))
    case("BiasAddGrad", out_backprop=random(np.float32, 1, 3, 2, 2), data_format="NCHW")
    case("AddN", inputs=[random(np.float32, 2), random(np.float32, 3)])
    case("AddN", inputs=[random(np.float32, 2)])
    for dtype in FLOATS:
        case("L2Loss", t=random(dtype, 2, 3))


def order():
    for op in ("ArgMax", "ArgMin"):
        for dtype in NUMBERS:
            case(op, input=random(dtype, 3, 4), dimension=np.array(1, np.int32))
        x = random(np.float32, 2, 3, 4)
        for axis in (0, 1, 2, -1, 3, -4):
            case(op, input=x, dimension=np.array(axis, np.int32), output_type=tf.int32)
        for values in ([1, 2, 2], [np.nan, 1, 2], [1, np.nan, 3], [np.nan, np.nan]):
            case(op, input=np.array(values, np.float32), dimension=np.array(0, np.int64), output_type=tf.int64)
        case(op, input=np.zeros((0, 3), np.float32), dimension=np.array(0, np.int32))
        case(op, input=np.zeros((0, 3), np.float32), dimension=np.array(1, np.int32))
    for dtype in NUMBERS:
        case("TopKV2", input=random(dtype, 2, 6), k=np.array(3, np.int32))
        for op in ("Cumsum", "Cumprod"):
            case(op, x=random(dtype, 2, 3, low=-2.0, high=2.0), axis=np.array(1, np.int32))
    for k in (0, 1, 6, 7):
        case("TopKV2", input=random(np.float32, 6), k=np.array(k, np.int32))
    case("TopKV2", input=np.array([3, 1, 3, 2, 3], np.int32), k=np.array(4, np.int32))
    case("TopKV2", input=np.array(3, np.int32), k=np.array(1, np.int32))
    x = random(np.float32, 2, 3, 2)
    for axis in (0, 1, -1, 3):
        for exclusive in (False, True):
            for reverse in (False, True):
                case("Cumsum", x=x, axis=np.array(axis, np.int32), exclusive=exclusive, reverse=reverse)
                case("Cumprod", x=x, axis=np.array(axis, np.int32), exclusive=exclusive, reverse=reverse)
    case("Cumsum", x=np.zeros((0, 2), np.float32), axis=np.array(1, np.int32))
    for op in ("ArgMax", "ArgMin"):
        for values in ([[False, True], [True, True]], [[True, False], [False, False]]):
            case(op, input=np.array(values), dimension=np.array(1, np.int32))
    for to in (tf.int16, tf.uint16):
        case("ArgMax", input=random(np.float32, 2, 3), dimension=np.array(0, np.int32), output_type=to)
    for to in (tf.int16, tf.int64):
        case("TopKV2", input=random(np.float32, 2, 3), k=np.array(2, np.int16), index_type=to)
    for shape in ([1], [1, 1]):
        zero, x = np.zeros(shape, np.int32), np.array([1, 2], np.float32)
        case("ArgMax", input=x, dimension=zero)
        case("Cumsum", x=x, axis=zero)
        case("TopKV2", input=x, k=np.ones(shape, np.int32))
    for dims in ((0, 0), (0, 3, 0)):
        # A dimension without elements has no greatest one, also where nobody asks for it.
        case("ArgMax", input=np.zeros(dims, np.float32), dimension=np.array(0, np.int32))
        case("ArgMin", input=np.zeros(dims, np.float32), dimension=np.array(-1, np.int32))
    for op in ("Cumsum", "Cumprod"):
        case(op, x=np.zeros((2**40, 0, 3), np.float32), axis=np.array(1, np.int32))
    case("TopKV2", input=np.zeros((3, 0), np.float32), k=np.array(0, np.int32))


def matmul():
    for dtype in FLOATS + [np.int32, np.int64]:
        for ta in (False, True):
            for tb in (False, True):
                a, b = random(dtype, *((3, 2) if ta else (2, 3))), random(dtype, *((4, 3) if tb else (3, 4)))
                case("MatMul", a=a, b=b, transpose_a=ta, transpose_b=tb)
        case("BatchMatMulV2", x=random(dtype, 2, 2, 3), y=random(dtype, 2, 3, 2))
    case("MatMul", a=random(np.float32, 2, 3), b=random(np.float32, 2, 3), transpose_a=False, transpose_b=False)
    case("MatMul", a=random(np.float32, 0, 3), b=random(np.float32, 3, 2), transpose_a=False, transpose_b=False)
    case("MatMul", a=random(np.float32, 2, 0), b=random(np.float32, 0, 2), transpose_a=False, transpose_b=False)
    case("MatMul", a=random(np.float32, 3), b=random(np.float32, 3, 2), transpose_a=False, transpose_b=False)
    case("MatMul", a=random(np.float32, 17, 33), b=random(np.float32, 33, 9), transpose_a=False, transpose_b=False)
    f = np.float32
    for x, y in (((2, 2, 3), (3, 2)), ((1, 2, 3), (4, 3, 2)), ((2, 1, 2, 3), (1, 3, 3, 2)), ((0, 2, 3), (3, 2)), ((2, 2, 3), (3, 3, 3)),
                 ((3, 2, 1, 4), (2, 4, 1)), ((3,), (3, 2))):
        case("BatchMatMulV2", x=random(f, *x), y=random(f, *y))
    for ax in (False, True):
        for ay in (False, True):
            x, y = random(f, 2, *((3, 2) if ax else (2, 3))), random(f, 1, *((4, 3) if ay else (3, 4)))
            case("BatchMatMulV2", x=x, y=y, adj_x=ax, adj_y=ay)
    follow = {"Relu": tf.nn.relu, "Relu6": tf.nn.relu6, "Elu": tf.nn.elu, "LeakyRelu": tf.nn.leaky_relu, "Tanh": tf.tanh,
              "Sigmoid": tf.sigmoid, None: tf.identity}
    for activation, function in follow.items():
        a, b, bias = random(f, 2, 3), random(f, 3, 4), random(f, 4)
        result = function(tf.nn.bias_add(tf.matmul(a, b), bias)).numpy()
        fused = ["BiasAdd"] + ([activation] if activation else [])
        lines.append(f"{text('_FusedMatMul', [a, b, bias], {'fused_ops': fused})} -> {tensor(result)}")
    case("BatchMatMulV2", x=random(np.int16, 2, 2, 3), y=random(np.int16, 1, 3, 2))
    case("BatchMatMulV2", x=np.array([[[300, 2]]], np.int16), y=np.array([[[300], [1]]], np.int16))
    for op in ("BatchMatMul", "BatchMatMulV2"):
        # The first version broadcasts nothing.
        for batches in (((2,), (2,)), ((2,), (1,)), ((1, 2), (2,)), ((0,), (1,))):
            case(op, x=random(np.float32, *batches[0], 1, 2), y=random(np.float32, *batches[1], 2, 1))

    def einsum(equation, *shapes, dtype=np.float32):
        # Of one sign, so that no digits are lost.
        case("Einsum", inputs=[random(dtype, *shape, low=0.5, high=2.0) for shape in shapes], equation=equation)

    for dtype in FLOATS + [np.int32, np.int64] + COMPLEX:
        einsum("ab,bc->ca", (2, 3), (3, 4), dtype=dtype)
        einsum("...acb,dca->...bd", (2, 1, 2, 3, 4), (2, 3, 2), dtype=dtype)
        einsum("aab,b->a", (3, 3, 2), (2,), dtype=dtype)
        einsum("abc->b", (2, 3, 4), dtype=dtype)
        einsum("ab->bab", (2, 3), dtype=dtype)
    for equation, *shapes in (
            ("ab,bc->ac", (2, 3), (3, 4)), ("ab,cb->ac", (2, 3), (4, 3)), ("ba,bc->ac", (3, 2), (3, 4)), ("ba,cb->ca", (3, 2), (4, 3)),
            # Attention, and its gradients.
            ("abc,cde->abde", (2, 3, 4), (4, 2, 5)), ("abcd,cde->abe", (2, 3, 2, 4), (2, 4, 5)), ("aecd,abcd->acbe", (2, 3, 2, 4), (2, 5, 2, 4)),
            ("acbe,aecd->abcd", (2, 3, 4, 5), (2, 5, 3, 2)), ("abe,cde->abcd", (2, 3, 5), (2, 4, 5)), ("abde,abc->cde", (2, 3, 2, 5), (2, 3, 4)),
            ("...ab,...bc->...ac", (2, 1, 3, 2), (4, 2, 5)), ("...ab,bc->...ac", (2, 3, 4), (4, 5)), ("a...,b...->ab...", (2, 3), (4, 1)),
            ("a...,b...->b...a", (2, 3), (4, 2, 3)), ("a...,b->ab...", (2, 3), (4,)), ("a...,a...->...", (2, 3, 1), (2, 4)), ("...,...->...", (2, 3), (3,)),
            ("...,->...", (2, 3), ()), (",->", (), ()), ("->", ()), ("...->...", (2, 3)), ("...ab->...ba", (2, 3, 4)), ("...ab->ab", (2, 3)), ("ab->...ab", (2, 3)),
            ("aa->a", (3, 3)), ("aa->", (3, 3)), ("a->aa", (3,)), ("aa->aa", (3, 3)), ("aab->ba", (2, 2, 3)), ("aba->", (2, 3, 2)), ("...a->...aa", (2, 3)),
            ("a->aaa", (2,)), ("abb,bcc->ac", (2, 3, 3), (3, 2, 2)), ("ab,cd->", (2, 3), (2, 2)), ("ab,cd->ad", (2, 3), (2, 4)), ("ab,ab->ab", (2, 3), (2, 3)),
            ("ab,ab->ba", (2, 3), (2, 3)), ("ab,ba->", (2, 3), (3, 2)), ("a,b->ba", (2,), (3,)), ("a,b->abba", (2,), (3,)), ("abc,->b", (2, 3, 4), ()),
            ("Ab,bA->A", (2, 3), (3, 2)), ("abcdefgh->hgfedcba", (1, 2, 1, 2, 1, 2, 1, 2)), ("abcd,bdef->fca", (2, 3, 2, 2), (3, 2, 2, 4)),
            ("ab,bc->ac", (2, 0), (0, 3)), ("ab,bc->ac", (0, 2), (2, 3)), ("a->", (0,)), ("aa->a", (0, 0)), ("a->aa", (0,)), ("...a,...a->...", (0, 2), (1, 2)),
            # What is refused.
            ("ab,bc", (2, 3), (3, 4)), ("ab->ab->ab", (2, 3)), ("ab , bc -> ac", (2, 3), (3, 4)), ("...ab->ab", (1, 2, 3)), ("a...,b...->ab", (2, 3), (4, 1)),
            ("a,b->ab", (2,)), ("a->a", (2,), (2,)), ("a,b,c->abc", (2,), (2,), (2,)), ("ab,ab->ab", (2, 3), (1, 3)), ("ab->a", (2, 3, 4)), ("......->", (2, 3)),
            ("aa->a", (2, 3)), ("", (2,)), ("abc->a", (2, 3)), ("a...,a...->a...", (2, 3), (2, 4)), ("...->", (2, 3))):
        einsum(equation, *shapes)
    case("Einsum", inputs=[random(np.float32, 2), random(np.float64, 2)], equation="a,a->a")


def softmax():
    for op in ("Softmax", "LogSoftmax"):
        for dtype in FLOATS:
            case(op, logits=random(dtype, 2, 3, 4))
        case(op, logits=np.array([[1000.0, -1000.0], [np.inf, 0.0], [np.nan, 0.0], [-np.inf, 0.0]], np.float32))
        case(op, logits=np.zeros((2, 0), np.float32))
        case(op, logits=np.array(1.0, np.float32))
        case(op, logits=random(np.float32, 5))
    for dtype in FLOATS:
        features = random(dtype, 3, 4)
        labels = np.abs(random(dtype, 3, 4)) / np.array(10, dtype)
        case("SoftmaxCrossEntropyWithLogits", features=features, labels=labels)
        for index in (np.int32, np.int64):
            case("SparseSoftmaxCrossEntropyWithLogits", features=features, labels=np.array([0, 3, 2], index))
    f = np.float32
    case("SoftmaxCrossEntropyWithLogits", features=random(f, 3, 4), labels=np.array([[0, 1, 0, 0]], f))
    case("SoftmaxCrossEntropyWithLogits", features=random(f, 3, 4), labels=random(f, 3, 3))
    case("SoftmaxCrossEntropyWithLogits", features=random(f, 4), labels=random(f, 4))
    case("SoftmaxCrossEntropyWithLogits", features=random(f, 0, 4), labels=random(f, 0, 4))
    case("SparseSoftmaxCrossEntropyWithLogits", features=random(f, 2, 3), labels=np.array([0, 3], np.int32))
    case("SparseSoftmaxCrossEntropyWithLogits", features=random(f, 2, 3), labels=np.array([0, -1], np.int32))
    case("SparseSoftmaxCrossEntropyWithLogits", features=random(f, 2, 3), labels=np.array([0], np.int32))
    case("SoftmaxCrossEntropyWithLogits", features=np.zeros((2, 0), np.float32), labels=np.zeros((2, 0), np.float32))
    for op in ("Softmax", "LogSoftmax"):
        for dtype in FLOATS:
            case(op, logits=np.zeros((0, 3), dtype))
            case(op, logits=np.zeros((3, 0), dtype))
    for dtype in FLOATS:
        # Differences of large numbers.
        large = 100.0 if dtype == BF16 else 1e4
        logits = np.array([[large, large + 0.25, large - 1], [large, -large, 0], [1e4, 1e4, 1e4], [88, -88, 0.5]], dtype)
        case("SoftmaxCrossEntropyWithLogits", features=logits, labels=np.full((4, 3), [0.5, 0.25, 0.25], dtype))
        case("SparseSoftmaxCrossEntropyWithLogits", features=logits, labels=np.array([0, 1, 2, 0], np.int32))


def random_numbers():
    shape = np.array([3, 5], np.int32)
    for dtype in (tf.float32, tf.float64, tf.float16, tf.bfloat16):
        for op in ("RandomUniform", "RandomStandardNormal", "TruncatedNormal"):
            case(op, shape=shape, dtype=dtype, seed=12, seed2=345)
        for op in ("StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal"):
            case(op, shape=shape, seed=np.array([7, -9], np.int64), dtype=dtype)
        for op in ("StatelessRandomUniformV2", "StatelessRandomNormalV2", "StatelessTruncatedNormalV2"):
            case(op, shape=shape, key=np.array([2**40 + 3], np.uint64), counter=np.array([5, 2**63 + 1], np.uint64),
                 alg=np.array(1, np.int32), dtype=dtype)
    for dtype in (np.int32, np.int64):
        bounds = dict(minval=np.array(-5, dtype), maxval=np.array(1000, dtype))
        case("RandomUniformInt", shape=shape, **bounds, seed=1, seed2=2)
        case("StatelessRandomUniformInt", shape=shape, seed=np.array([1, 2], np.int32), **bounds)
        case("StatelessRandomUniformIntV2", shape=shape, key=np.array([1], np.uint64), counter=np.array([0, 0], np.uint64),
             alg=np.array(1, np.int32), **bounds)
        case("RandomUniformInt", shape=shape, minval=np.array(5, dtype), maxval=np.array(5, dtype), seed=1, seed2=2)
    case("StatelessRandomUniform", shape=np.array([0], np.int32), seed=np.array([1, 2], np.int32))
    case("StatelessRandomUniform", shape=shape, seed=np.array([1, 2, 3], np.int32))
    case("StatelessRandomUniform", shape=np.array([-1], np.int32), seed=np.array([1, 2], np.int32))
    seed, key, counter = np.array([1, 2]), np.array([1], np.uint64), np.array([1, 2], np.uint64)
    low, high, philox = np.array(0, np.int32), np.array(5, np.int32), np.array(1, np.int32)
    for sizes in (np.array(2), np.array([[1, 2]])):
        case("StatelessRandomUniform", shape=sizes, seed=seed)
    case("StatelessRandomUniform", shape=np.array([2]), seed=seed[None])
    case("StatelessRandomUniformInt", shape=np.array([2]), seed=seed, minval=np.array([0], np.int32), maxval=high)
    case("StatelessRandomUniformInt", shape=np.array([0]), seed=seed, minval=high, maxval=low)
    case("StatelessRandomUniformInt", shape=np.array([1]), seed=seed, minval=high, maxval=low)
    for wrong in (dict(key=np.array([1, 2], np.uint64)), dict(key=np.array(1, np.uint64)), dict(counter=counter[None]),
                  dict(alg=np.array([1], np.int32))):
        case("StatelessRandomUniformV2", **{"shape": np.array([2]), "key": key, "counter": counter, "alg": philox, **wrong})
    for op in ("StatelessRandomGetKeyCounter", "StatelessRandomGetKeyCounterAlg"):
        for seed in (np.array([1, 2], np.int32), np.array([2**40, -7]), np.array([1, 2, 3]), np.array(1)):
            case(op, seed=seed)
    case("StatelessRandomGetAlg")
    # A number so near to 2 that it is rounded to that.
    case("StatelessTruncatedNormal", shape=np.array([7, 5]), seed=np.array([1509573967, -779116859], np.int32), dtype=tf.float16)
    case("TruncatedNormal", shape=np.array([300]), seed=599, seed2=603, dtype=tf.bfloat16)
    key = np.array([3], np.uint64)
    # (Of a counter of one word TensorFlow reads a second one.)
    for counter in (np.array([5, 6, 7], np.uint64), np.array([], np.uint64)):
        for alg in (1, 2, 3, 0, -1):
            for op in ("StatelessRandomUniformV2", "StatelessRandomNormalV2"):
                case(op, shape=np.array([3]), key=key, counter=counter, alg=np.array(alg, np.int32))
    two = np.array([5, 6], np.uint64)
    for alg in (2, 3, 0, -1, 4):
        case("StatelessRandomUniformV2", shape=np.array([3]), key=key, counter=two, alg=np.array(alg, np.int32))
    for dims in ([], [0], [2, 0]):
        for alg in (1, 2, 7):
            case("StatelessRandomUniformV2", shape=np.array(dims, np.int32), key=key, counter=two, alg=np.array(alg, np.int32))
            case("StatelessRandomUniformIntV2", shape=np.array(dims, np.int32), key=key, counter=two, alg=np.array(alg, np.int32),
                 minval=np.array(2, np.int32), maxval=np.array(9, np.int32))
        if dims:
            case("StatelessRandomUniformV2", shape=np.array(dims, np.int32), key=key, counter=two[:1], alg=np.array(1, np.int32))
        case("StatelessRandomUniform", shape=np.array(dims, np.int32), seed=np.array([1, 2]))
        case("RandomUniform", shape=np.array(dims, np.int32), dtype=tf.float32, seed=1, seed2=2)



def change(op, variables, **given):
    """Records an op that changes variables: their values before are its first arguments, those after its results."""
    states = {name: tf.Variable(value) for name, value in variables.items()}
    arguments = [*variables.values(), *filter(is_argument, given.values())]
    attributes = {name: value for name, value in given.items() if not is_argument(value)}
    line = text(op, arguments, attributes)
    handles = {name: state.handle for name, state in states.items()}
    call = {name: tf.constant(value) if is_argument(value) else value for name, value in given.items()}
    try:
        getattr(tf.raw_ops, op)(**handles, **call)
        outcome = "; ".join(tensor(state.numpy()) for state in states.values())
    except (tf.errors.OpError, ValueError):
        outcome = "error"
    lines.append(f"{line} -> {outcome}")


def training():
    for dtype in FLOATS:
        def one(value):
            return np.array(value, dtype)

        def some():
            return random(dtype, 2, 3)

        change("ResourceApplyGradientDescent", {"var": some()}, alpha=one(0.1), delta=some())
        for nesterov in (False, True):
            change("ResourceApplyMomentum", {"var": some(), "accum": some()}, lr=one(0.1), grad=some(), momentum=one(0.9),
                   use_nesterov=nesterov)
            change("ResourceApplyAdam", {"var": some(), "m": some(), "v": np.abs(some())}, beta1_power=one(0.9), beta2_power=one(0.875),
                   lr=one(0.01), beta1=one(0.9), beta2=one(0.99), epsilon=one(1e-3), grad=some(), use_nesterov=nesterov)
        change("AssignAddVariableOp", {"resource": some()}, value=some())
        change("AssignSubVariableOp", {"resource": some()}, value=some())
    change("AssignAddVariableOp", {"resource": random(np.int32, 3)}, value=random(np.int32, 3))
    change("AssignAddVariableOp", {"resource": random(np.float32, 3)}, value=random(np.float32, 2))
    change("ResourceApplyGradientDescent", {"var": random(np.float32, 3)}, alpha=np.array(0.1, np.float32), delta=random(np.float32, 2))
    # A vector of one is no scalar.
    one, f = np.array([0.5], np.float32), np.float32
    change("ResourceApplyGradientDescent", {"var": random(f, 3)}, alpha=one, delta=random(f, 3), use_locking=True)
    change("ResourceApplyMomentum", {"var": random(f, 3), "accum": random(f, 3)}, lr=one, grad=random(f, 3), momentum=one[0],
           use_locking=True)
    change("ResourceApplyMomentum", {"var": random(f, 3), "accum": random(f, 3)}, lr=one[0], grad=random(f, 3), momentum=one[0],
           use_locking=True)
    change("ResourceApplyAdam", {"var": random(f, 3), "m": random(f, 3), "v": random(f, 3, low=0)}, beta1_power=one[0],
           beta2_power=one[0], lr=one[0], beta1=one, beta2=one[0], epsilon=one[0], grad=random(f, 3))
    for dtype in FLOATS:
        def one(value):
            return np.array(value, dtype)

        def some(low=-4.0):
            return random(dtype, 2, 3, low=low)

        for nesterov in (False, True):
            change("ResourceApplyKerasMomentum", {"var": some(), "accum": some()}, lr=one(0.125), grad=some(), momentum=one(0.75),
                   use_nesterov=nesterov)
        change("ResourceApplyRMSProp", {"var": some(), "ms": some(0.5), "mom": some()}, lr=one(0.125), rho=one(0.75), momentum=one(0.5),
               epsilon=one(0.001), grad=some())
    half = np.array(0.5, f)
    for wrong in (dict(lr=np.array([0.5], f)), dict(grad=random(f, 2)), dict(rho=np.array([0.5, 0.5], f))):
        given = dict(lr=half, rho=half, momentum=half, epsilon=half, grad=random(f, 3))
        change("ResourceApplyRMSProp", {"var": random(f, 3), "ms": random(f, 3, low=0), "mom": random(f, 3)}, **{**given, **wrong})
    change("ResourceApplyKerasMomentum", {"var": random(f, 3), "accum": random(f, 2)}, lr=half, grad=random(f, 3), momentum=half)


def convolution():
    shapes = [  # images, filter, stride, dilation, padding
        ((2, 5, 6, 3), (3, 3, 3, 4), 1, 1, "SAME"), ((1, 5, 5, 2), (3, 2, 2, 3), 2, 1, "VALID"),
        ((1, 6, 6, 16), (1, 1, 16, 9), 1, 1, "VALID"), ((1, 6, 5, 4), (1, 1, 4, 2), 2, 1, "SAME"),
        ((1, 7, 7, 2), (3, 3, 2, 2), 1, 2, "SAME"), ((1, 8, 8, 2), (2, 2, 2, 2), 3, 1, "SAME"),
        ((1, 6, 6, 4), (3, 3, 2, 6), 1, 1, "SAME"), ((0, 4, 4, 1), (2, 2, 1, 1), 1, 1, "SAME"),
        ((1, 2, 2, 1), (3, 3, 1, 1), 1, 1, "VALID"), ((1, 1, 2, 1), (3, 3, 1, 1), 1, 1, "VALID"),
        ((1, 4, 4, 3), (2, 2, 2, 1), 1, 1, "SAME"), ((1, 4, 4, 2), (2, 2, 2, 3), 1, 1, "FULL"),
    ]
    explicit = [0, 0, 1, 2, 0, 1, 0, 0]
    for images, filters, stride, dilation, padding in shapes:
        strides, dilations = [1, stride, stride, 1], [1, dilation, dilation, 1]
        window = {"strides": strides, "padding": padding, "dilations": dilations}
        for dtype in (np.float32, np.float64, np.float16):
            x, w = random(dtype, *images, low=-1, high=1), random(dtype, *filters, low=-1, high=1)
            case("Conv2D", input=x, filter=w, **window)
            if dtype == np.float32 and padding != "FULL" and images[3] == filters[2] and dilation == 1 and images[1] > 2:
                y = tf.nn.conv2d(x, w, strides, padding).numpy()
                dy = random(dtype, *y.shape, low=-1, high=1)
                case("Conv2DBackpropInput", input_sizes=np.array(images, np.int32), filter=w, out_backprop=dy, **window)
                case("Conv2DBackpropFilter", input=x, filter_sizes=np.array(filters, np.int32), out_backprop=dy, **window)
    x, w = random(np.float32, 1, 4, 5, 2), random(np.float32, 3, 3, 2, 3)
    case("Conv2D", input=x, filter=w, strides=[1, 1, 1, 1], padding="EXPLICIT", explicit_paddings=explicit)
    case("Conv2D", input=x, filter=w, strides=[1, 1, 1, 1], padding="EXPLICIT", explicit_paddings=[0, 0, -1, 0, 0, 0, 0, 0])
    case("Conv2D", input=x, filter=w, strides=[1, 1, 1, 1], padding="SAME", explicit_paddings=explicit)
    case("Conv2D", input=x, filter=w, strides=[2, 1, 1, 1], padding="SAME")
    case("Conv2D", input=x, filter=w, strides=[1, 0, 1, 1], padding="SAME")
    case("Conv2D", input=x[0], filter=w, strides=[1, 1, 1, 1], padding="SAME")
    for multiplier, stride, padding in ((1, 1, "SAME"), (2, 2, "VALID"), (3, 1, "VALID")):
        x, w = random(np.float32, 2, 5, 6, 3, low=-1, high=1), random(np.float32, 3, 2, 3, multiplier, low=-1, high=1)
        window = {"strides": [1, stride, stride, 1], "padding": padding}
        case("DepthwiseConv2dNative", input=x, filter=w, **window)
        dy = random(np.float32, *tf.nn.depthwise_conv2d(x, w, window["strides"], padding).shape)
        case("DepthwiseConv2dNativeBackpropInput", input_sizes=np.array(x.shape, np.int32), filter=w, out_backprop=dy, **window)
        case("DepthwiseConv2dNativeBackpropFilter", input=x, filter_sizes=np.array(w.shape, np.int32), out_backprop=dy, **window)
    case("DepthwiseConv2dNative", input=x, filter=w[:, :, :2], strides=[1, 1, 1, 1], padding="SAME")
    convolution_gradients()
    fused_convolution()
    x, w, dy = random(np.int32, 1, 4, 5, 2), random(np.int32, 2, 3, 2, 2), random(np.int32, 1, 3, 3, 2)
    case("Conv2DBackpropInput", input_sizes=np.array(x.shape, np.int32), filter=w, out_backprop=dy, strides=[1, 1, 1, 1],
         padding="VALID")
    # Height and width alone.
    w, dy = random(np.float32, 2, 3, 2, 4, low=-1.0, high=1.0), random(np.float32, 2, 3, 3, 4, low=-1.0, high=1.0)
    for sizes in ([4, 5], [6, 6], [4], []):
        case("Conv2DBackpropInput", input_sizes=np.array(sizes, np.int32), filter=w, out_backprop=dy, strides=[1, 1, 1, 1],
             padding="VALID")
    case("Conv2DBackpropInput", input_sizes=np.array([[2, 4, 5, 2]], np.int32), filter=w, out_backprop=dy, strides=[1, 1, 1, 1],
         padding="VALID")
    for images, filters in (((1, 4, 4, 0), (2, 2, 0, 3)), ((1, 4, 4, 0), (2, 2, 0, 0)), ((1, 4, 4, 2), (2, 2, 2, 0)),
                            ((1, 4, 4, 2), (2, 2, 0, 3)), ((1, 4, 4, 0), (2, 2, 2, 3)), ((0, 4, 4, 2), (2, 2, 2, 3)),
                            ((1, 4, 4, 2), (0, 2, 2, 3)), ((1, 0, 4, 2), (2, 2, 2, 3))):
        for padding in ("SAME", "VALID"):
            x, w = random(np.float32, *images), random(np.float32, *filters)
            case("Conv2D", input=x, filter=w, strides=[1, 1, 1, 1], padding=padding)
    integer_convolution()


def integer_convolution():
    """Sums of integers wrap."""
    def wide(*shape):
        return rng.integers(-2**31, 2**31, shape).astype(np.int32)

    explicit = {"padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 2, 0, 1, 0, 0]}
    for filters, rest in (((3, 2, 4, 3), {"padding": "SAME"}), ((2, 2, 4, 3), {"padding": "VALID", "dilations": [1, 2, 1, 1]}),
                          ((3, 3, 4, 2), explicit), ((2, 3, 2, 4), {"padding": "SAME"})):
        x, w = wide(2, 5, 6, 4), wide(*filters)
        for stride in (1, 2):
            window = {"strides": [1, stride, stride, 1], **rest}
            case("Conv2D", input=x, filter=w, **window)
            if filters[2] == 4 and "dilations" not in rest:
                dy = wide(*tf.raw_ops.Conv2D(input=x, filter=w, **window).shape)
                case("Conv2DBackpropInput", input_sizes=np.array(x.shape, np.int32), filter=w, out_backprop=dy, **window)
    # Of depthwise ones TensorFlow has none: those of each channel on its own.
    x, w, window = wide(2, 5, 6, 3), wide(3, 2, 3, 2), {"strides": [1, 2, 1, 1], "padding": "SAME"}
    channels = list(zip(np.split(x, 3, 3), np.split(w, 3, 2)))
    y = np.concatenate([tf.raw_ops.Conv2D(input=x, filter=w, **window).numpy() for x, w in channels], 3)
    lines.append(f"{text('DepthwiseConv2dNative', [x, w], window)} -> {tensor(y)}")
    sizes, dy = np.array(x.shape, np.int32), wide(*y.shape)
    parts = zip(channels, np.split(dy, 3, 3))
    dx = [tf.raw_ops.Conv2DBackpropInput(input_sizes=x.shape, filter=w, out_backprop=dy, **window).numpy() for (x, w), dy in parts]
    lines.append(f"{text('DepthwiseConv2dNativeBackpropInput', [sizes, w, dy], window)} -> {tensor(np.concatenate(dx, 3))}")


def convolution_gradients():
    """Of every type, and with explicit paddings."""
    window = {"strides": [1, 2, 1, 1], "padding": "SAME"}
    for dtype in FLOATS:
        x, w = random(dtype, 2, 5, 4, 2, low=-1, high=1), random(dtype, 3, 2, 2, 3, low=-1, high=1)
        dy = random(dtype, 2, 3, 4, 3, low=-1, high=1)
        rounded("Conv2DBackpropInput", dtype, input_sizes=np.array(x.shape, np.int32), filter=w, out_backprop=dy, **window)
        rounded("Conv2DBackpropFilter", dtype, input=x, filter_sizes=np.array(w.shape, np.int32), out_backprop=dy, **window)
    for dtype in (np.float64, np.float16, BF16):
        x, w = random(dtype, 1, 4, 4, 2, low=-1, high=1), random(dtype, 2, 2, 2, 2, low=-1, high=1)
        window = {"strides": [1, 1, 1, 1], "padding": "VALID"}
        case("DepthwiseConv2dNative", input=x, filter=w, **window)
        dy = random(dtype, 1, 3, 3, 4, low=-1, high=1)
        case("DepthwiseConv2dNativeBackpropInput", input_sizes=np.array(x.shape, np.int32), filter=w, out_backprop=dy, **window)
        case("DepthwiseConv2dNativeBackpropFilter", input=x, filter_sizes=np.array(w.shape, np.int32), out_backprop=dy, **window)
    x, w = random(np.float32, 1, 4, 5, 2, low=-1, high=1), random(np.float32, 3, 3, 2, 3, low=-1, high=1)
    window = {"strides": [1, 1, 1, 1], "padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 2, 0, 1, 0, 0]}
    dy = random(np.float32, 1, 5, 4, 3, low=-1, high=1)
    case("Conv2DBackpropInput", input_sizes=np.array(x.shape, np.int32), filter=w, out_backprop=dy, **window)
    case("Conv2DBackpropFilter", input=x, filter_sizes=np.array(w.shape, np.int32), out_backprop=dy, **window)
    case("Conv2D", input=random(np.int32, 1, 4, 4, 2), filter=random(np.int32, 2, 2, 2, 3), strides=[1, 1, 1, 1], padding="SAME")
    dy = random(np.float32, 1, 4, 4, 3)
    case("Conv2DBackpropFilter", input=x, filter_sizes=np.array(w.shape, np.int32), out_backprop=dy, **window)
    x, w, dy = random(np.float32, 1, 4, 4, 4, low=-1), random(np.float32, 3, 3, 2, 6, low=-1), random(np.float32, 1, 4, 4, 6, low=-1)
    window = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    grouped_gradients(x, w, dy, 2, window)


def rounded(op, dtype, **given):
    """Records a call whose sums TensorFlow adds up in the half types, as it is in f32 and rounded once."""
    if dtype not in (np.float16, BF16):
        return case(op, **given)
    wide = {n: v.astype(np.float32) if is_argument(v) and v.dtype == dtype else v for n, v in given.items()}
    result = getattr(tf.raw_ops, op)(**wide).numpy().astype(dtype)
    arguments = [v for v in given.values() if is_argument(v)]
    attributes = {n: v for n, v in given.items() if not is_argument(v)}
    lines.append(f"{text(op, arguments, attributes)} -> {tensor(result)}")


def grouped_gradients(x, w, dy, groups, window):
    """Of a convolution in groups, which TensorFlow's gradients leave to other devices: those of each group on its own."""
    sizes = [np.array(a.shape, np.int32) for a in (x, w)]
    parts = list(zip(np.split(x, groups, 3), np.split(w, groups, 3), np.split(dy, groups, 3)))
    dx = [tf.raw_ops.Conv2DBackpropInput(input_sizes=p[0].shape, filter=p[1], out_backprop=p[2], **window).numpy() for p in parts]
    dw = [tf.raw_ops.Conv2DBackpropFilter(input=p[0], filter_sizes=p[1].shape, out_backprop=p[2], **window).numpy() for p in parts]
    lines.append(f"{text('Conv2DBackpropInput', [sizes[0], w, dy], window)} -> {tensor(np.concatenate(dx, 3))}")
    lines.append(f"{text('Conv2DBackpropFilter', [x, sizes[1], dy], window)} -> {tensor(np.concatenate(dw, 3))}")


def fused_convolution():
    """By the ops that it consists of."""
    follow = {"Relu": tf.nn.relu, "Relu6": tf.nn.relu6, "Elu": tf.nn.elu, "LeakyRelu": tf.nn.leaky_relu, None: tf.identity}
    f, c = np.float32, 3
    for activation, function in follow.items():
        x, w = random(f, 1, 4, 4, 2, low=-1, high=1), random(f, 3, 3, 2, c, low=-1, high=1)
        sums, further = tf.nn.conv2d(x, w, 1, "SAME"), [activation] if activation else []
        window = {"strides": [1, 1, 1, 1], "padding": "SAME"}
        bias = random(f, c)
        given = {**window, "fused_ops": ["BiasAdd", *further]}
        lines.append(f"{text('_FusedConv2D', [x, w, bias], given)} -> {tensor(function(tf.nn.bias_add(sums, bias)).numpy())}")
        vectors = [random(f, c), random(f, c), random(f, c), random(f, c, low=0.5)]
        given = {**window, "fused_ops": ["FusedBatchNorm", *further], "epsilon": 0.001}
        normal = tf.raw_ops.FusedBatchNormV3(x=sums, scale=vectors[0], offset=vectors[1], mean=vectors[2], variance=vectors[3],
                                             epsilon=0.001, is_training=False)[0]
        lines.append(f"{text('_FusedConv2D', [x, w, *vectors], given)} -> {tensor(function(normal).numpy())}")
    given = {**window, "fused_ops": ["BiasAdd", "Add"]}
    lines.append(f"{text('_FusedConv2D', [x, w, bias], given)} -> error")
    given = {**window, "fused_ops": ["FusedBatchNorm"]}
    lines.append(f"{text('_FusedConv2D', [x, w, bias], given)} -> error")


def pooling():
    for images, window, stride, padding in (((2, 5, 6, 3), (2, 3), 2, "SAME"), ((1, 5, 5, 2), (3, 3), 1, "VALID"),
                                            ((1, 4, 4, 1), (3, 2), 3, "SAME"), ((1, 2, 2, 1), (3, 3), 1, "VALID"),
                                            ((0, 4, 4, 2), (2, 2), 2, "VALID"), ((1, 4, 4, 1), (2, 2), 1, "NONE")):
        given = {"ksize": [1, *window, 1], "strides": [1, stride, stride, 1], "padding": padding}
        for dtype in (np.float32, np.float64, np.float16, BF16):
            x = random(dtype, *images)
            case("MaxPool", input=x, **given)
            case("AvgPool", value=x, **given)
            if padding != "NONE" and dtype == np.float32 and images[1] > 2:
                y = tf.nn.max_pool2d(x, window, stride, padding).numpy()
                dy = random(dtype, *y.shape)
                case("MaxPoolGrad", orig_input=x, orig_output=y, grad=dy, **given)
                case("AvgPoolGrad", orig_input_shape=np.array(x.shape, np.int32), grad=dy, **given)
        case("MaxPool", input=random(np.int32, *images), **given)
    x = random(np.float32, 1, 4, 4, 2)
    case("MaxPool", input=x, ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="EXPLICIT", explicit_paddings=[0, 0, 1, 0, 0, 1, 0, 0])
    case("MaxPool", input=x, ksize=[2, 2, 2, 1], strides=[1, 1, 1, 1], padding="SAME")
    case("MaxPool", input=x, ksize=[1, 0, 2, 1], strides=[1, 1, 1, 1], padding="SAME")
    case("MaxPool", input=x[0], ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="SAME")
    given = {"ksize": [1, 2, 3, 1], "strides": [1, 2, 1, 1], "padding": "SAME"}
    for dtype in (np.float64, np.float16, BF16):
        x = random(dtype, 1, 5, 4, 2)
        y = tf.nn.max_pool2d(tf.constant(x), (2, 3), (2, 1), "SAME").numpy()
        case("MaxPoolGrad", orig_input=x, orig_output=y, grad=random(dtype, *y.shape), **given)
        case("AvgPoolGrad", orig_input_shape=np.array(x.shape, np.int32), grad=random(dtype, *y.shape), **given)
    # NaN loses; of nothing, and of negative infinity, the least finite number is the greatest.
    for dtype in FLOATS:
        x = np.array([[np.nan, 1], [2, np.nan], [np.nan] * 2, [-np.inf] * 2, [-np.inf, np.nan], [-np.inf, np.inf], [-0.0, 0]], dtype)
        case("MaxPool", input=x.reshape(1, 7, 2, 1), ksize=[1, 1, 2, 1], strides=[1, 1, 2, 1], padding="VALID")
        case("MaxPool", input=x.reshape(1, 7, 2, 1), ksize=[1, 2, 1, 1], strides=[1, 1, 1, 1], padding="SAME")
    window = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1]}
    # (TensorFlow does not compare the gradient's extents with the window's: some end the process.)
    for padding in ("SAME", "VALID"):
        for sizes, dims in (([1, 4, 4, 2], (1, 2, 2, 2)), ([0, 4, 4, 2], (0, 2, 2, 2)), ([1, 4, 4, 0], (1, 2, 2, 0)),
                            ([1, 0, 4, 2], (1, 0, 2, 2)), ([4, 4, 2], (1, 2, 2, 2)), ([1, 4, 4, 2], (2, 2, 2)), ([1, 4, -4, 2], (1, 2, 2, 2))):
            case("AvgPoolGrad", orig_input_shape=np.array(sizes, np.int32), grad=random(np.float32, *dims), padding=padding, **window)
    case("AvgPoolGrad", orig_input_shape=np.array([1, 4, 4, 2], np.int32), grad=random(np.float32, 2, 2, 2, 2), padding="SAME",
         ksize=[2, 2, 2, 1], strides=[1, 2, 2, 1])
    case("AvgPoolGrad", orig_input_shape=np.array([[1, 4, 4, 2]], np.int32), grad=random(np.float32, 1, 2, 2, 2), padding="SAME", **window)
    # Maxima of integers, of which many are equal or extremes, and sums of gradients that wrap.
    for dtype in INTEGERS + [np.int8, np.int16, np.uint16, np.uint32, np.uint64]:
        info = np.iinfo(dtype)
        x = rng.choice(np.array([info.min, info.min, info.max, info.max - 1, 0, 1, info.max // 2 + 1], dtype), (2, 5, 4, 2))
        for padding in ("SAME", "VALID"):
            given = {"ksize": [1, 2, 3, 1], "strides": [1, 1, 2, 1], "padding": padding}
            if dtype not in (np.uint32, np.uint64):  # of which TensorFlow has the gradient alone
                case("MaxPool", input=x, **given)
            y = np.zeros((2, 5 - (padding == "VALID"), 2 - (padding == "VALID"), 2), dtype)
            case("MaxPoolGrad", orig_input=x, orig_output=y, grad=rng.choice(x.reshape(-1), y.shape), **given)
    for dtype in (np.int8, np.uint8, np.int16, np.int32):  # the maximum of no pixels
        case("MaxPool", input=np.zeros((1, 0, 1, 1), dtype), ksize=[1, 2, 1, 1], strides=[1, 1, 1, 1], padding="EXPLICIT",
             explicit_paddings=[0, 0, 1, 1, 0, 0, 0, 0])


def known_statistics(op, x, scale, offset, mean, variance, **attributes):
    """Batch normalization with known statistics: TensorFlow leaves the fourth and fifth result unset, ours repeat them."""
    results = getattr(tf.raw_ops, op)(x=x, scale=scale, offset=offset, mean=mean, variance=variance, **attributes)
    results = [tensor(r.numpy()) for r in results]
    results[3:5] = [tensor(mean), tensor(variance)]
    lines.append(f"{text(op, [x, scale, offset, mean, variance], attributes)} -> {'; '.join(results)}")


def batch_norm():
    for dtype in (np.float32, np.float16, BF16):
        for images in ((2, 3, 2, 4), (1, 1, 1, 2), (3, 1, 5, 1)):
            x, c = random(dtype, *images), images[3]
            vectors = [random(np.float32, c), random(np.float32, c), random(np.float32, c), random(np.float32, c, low=0.5)]
            names = dict(zip(("scale", "offset", "mean", "variance"), vectors))
            for op in ("FusedBatchNormV2", "FusedBatchNormV3"):
                known_statistics(op, x, *vectors, epsilon=0.001, is_training=False)
                if images[0] * images[2] > 1:
                    case(op, x=x, **names, epsilon=0.001, is_training=True)
                    case(op, x=x, **names, epsilon=0.001, is_training=True, exponential_avg_factor=0.25)
            if dtype == np.float32 and images[0] * images[2] > 1:
                dy, mean, variance = random(dtype, *images), x.mean((0, 1, 2)), x.var((0, 1, 2))
                case("FusedBatchNormGradV2", y_backprop=dy, x=x, scale=vectors[0], reserve_space_1=mean,
                     reserve_space_2=variance, epsilon=0.001, is_training=True)
                case("FusedBatchNormGradV2", y_backprop=dy, x=x, scale=vectors[0], reserve_space_1=mean,
                     reserve_space_2=variance, epsilon=0.001, is_training=False)
    case("FusedBatchNormV2", x=x, scale=vectors[0][:1], offset=np.zeros(3, np.float32), mean=vectors[2],
         variance=vectors[3], is_training=False)
    given = {"x": random(np.float32, 0, 2, 2, 3), "scale": random(np.float32, 3), "offset": random(np.float32, 3),
             "mean": np.zeros(0, np.float32), "variance": np.zeros(0, np.float32)}
    results = [r.numpy() for r in tf.raw_ops.FusedBatchNormV2(**given, is_training=True)]
    results[3:5] = results[1:3]  # which TensorFlow leaves unset
    lines.append(f"{text('FusedBatchNormV2', list(given.values()), {'is_training': True})} -> {'; '.join(map(tensor, results))}")
    for dtype in (np.float16, BF16):
        x, dy, c = random(dtype, 2, 3, 2, 2), random(dtype, 2, 3, 2, 2), 2
        wide = x.astype(np.float32)
        for training in (True, False):
            case("FusedBatchNormGradV2", y_backprop=dy, x=x, scale=random(np.float32, c), reserve_space_1=wide.mean((0, 1, 2)),
                 reserve_space_2=wide.var((0, 1, 2)), epsilon=0.001, is_training=training)
    x, one = random(np.float32, 2, 2, 1, 2), np.ones(2, np.float32)
    for count in (0, 1, 3):
        # In training statistics are only averaged with; with a weight of one not even that, so that there may be any number.
        for factor in (1.0, 0.5):
            given = np.ones(count, np.float32)
            case("FusedBatchNormV3", x=x, scale=one, offset=one, mean=given, variance=one, exponential_avg_factor=factor)
            case("FusedBatchNormV3", x=x, scale=one, offset=one, mean=one, variance=given, exponential_avg_factor=factor)
    # Images that vary little around a large mean, exactly: subtracting the mean last loses digits.
    x = (4096 + rng.integers(0, 64, (1, 2, 4, 2)) / 64).astype(np.float32)
    vectors = [np.array([1, -2], np.float32), np.array([0.5, 3], np.float32), np.full(2, 4096.3, np.float32), np.full(2, 1e-4, np.float32)]
    known_statistics("FusedBatchNormV3", x, *vectors, epsilon=0.001, is_training=False)
    case("FusedBatchNormV3", x=x, scale=vectors[0], offset=vectors[1], mean=vectors[2], variance=vectors[3], epsilon=0.001, is_training=True)


def channels_first(op, images, **given):
    """Records a call on images in NCHW, which TensorFlow refuses on CPUs, so that it computes them in NHWC. `images` names the
    arguments that are images, or their shape; so are results of four dimensions unless they are a filter's gradient."""
    first = [0, 3, 1, 2]
    results = getattr(tf.raw_ops, op)(**{name: tf.constant(v) if is_argument(v) else v for name, v in given.items()})
    results = [r.numpy() for r in (results if isinstance(results, (tuple, list)) else [results])]
    if "is_training" in given and not given["is_training"] and "mean" in given:
        results[3:5] = [given["mean"], given["variance"]]  # as for known_statistics
    arguments = {name: v for name, v in given.items() if is_argument(v)}
    arguments = [v if name not in images else v.transpose(first) if v.ndim == 4 else v[first] for name, v in arguments.items()]
    attributes = {name: v for name, v in given.items() if not is_argument(v)}
    for name, values in attributes.items():
        if isinstance(values, list):
            step = len(values) // 4
            attributes[name] = [v for axis in first for v in values[axis * step:(axis + 1) * step]]
    if not op.endswith("BackpropFilter"):
        results = [r.transpose(first) if r.ndim == 4 else r for r in results]
    lines.append(f"{text(op, arguments, {**attributes, 'data_format': 'NCHW'})} -> {'; '.join(map(tensor, results))}")


def nchw():
    for images, filters, stride, dilation, padding in (
            ((2, 5, 6, 3), (3, 3, 3, 4), 1, 1, "SAME"), ((1, 7, 6, 4), (3, 2, 4, 5), 2, 1, "VALID"),
            ((1, 7, 7, 2), (3, 3, 2, 2), 1, 2, "SAME"), ((1, 5, 5, 4), (3, 3, 2, 6), 1, 1, "SAME"),
            ((0, 4, 4, 1), (2, 2, 1, 1), 1, 1, "SAME"), ((2, 4, 5, 17), (1, 1, 17, 9), 1, 1, "VALID"),
            ((1, 5, 6, 2), (3, 3, 2, 3), 2, 1, "EXPLICIT")):
        window = {"strides": [1, stride, stride, 1], "padding": padding, "dilations": [1, dilation, dilation, 1]}
        if padding == "EXPLICIT":
            window["explicit_paddings"] = [0, 0, 1, 2, 2, 0, 0, 0]
        for dtype in (np.float32, np.float64, np.float16, BF16):
            x, w = random(dtype, *images, low=-1, high=1), random(dtype, *filters, low=-1, high=1)
            channels_first("Conv2D", ["input"], input=x, filter=w, **window)
            if dtype == np.float32 and images[3] == filters[2] and dilation == 1 and images[0]:
                y = tf.raw_ops.Conv2D(input=x, filter=w, **window).numpy()
                dy = random(dtype, *y.shape, low=-1, high=1)
                channels_first("Conv2DBackpropInput", ["input_sizes", "out_backprop"], input_sizes=np.array(images, np.int32),
                               filter=w, out_backprop=dy, **window)
                channels_first("Conv2DBackpropFilter", ["input", "out_backprop"], input=x,
                               filter_sizes=np.array(filters, np.int32), out_backprop=dy, **window)
    for dtype in (np.float32, np.float64, np.float16, BF16):
        x, w = random(dtype, 2, 5, 6, 3, low=-1, high=1), random(dtype, 3, 2, 3, 2, low=-1, high=1)
        channels_first("DepthwiseConv2dNative", ["input"], input=x, filter=w, strides=[1, 2, 2, 1], padding="SAME")
    for images, window, stride, padding in (((2, 5, 6, 3), (2, 3), 2, "SAME"), ((1, 5, 5, 2), (3, 3), 1, "VALID")):
        given = {"ksize": [1, *window, 1], "strides": [1, stride, stride, 1], "padding": padding}
        for dtype in (np.float32, np.float16):
            x = random(dtype, *images)
            channels_first("MaxPool", ["input"], input=x, **given)
            channels_first("AvgPool", ["value"], value=x, **given)
        x = random(np.float32, *images)
        y = tf.nn.max_pool2d(x, window, stride, padding).numpy()
        dy = random(np.float32, *y.shape)
        channels_first("MaxPoolGrad", ["orig_input", "orig_output", "grad"], orig_input=x, orig_output=y, grad=dy, **given)
        channels_first("AvgPoolGrad", ["orig_input_shape", "grad"], orig_input_shape=np.array(x.shape, np.int32), grad=dy, **given)
    channels_first("MaxPool", ["input"], input=random(np.float32, 1, 4, 4, 2), ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1],
                   padding="EXPLICIT", explicit_paddings=[0, 0, 1, 0, 0, 1, 0, 0])
    for dtype in (np.float32, np.float16, BF16):
        x = random(dtype, 2, 3, 2, 4)
        names = dict(zip(("scale", "offset", "mean", "variance"), [random(np.float32, 4) for _ in range(3)]))
        names["variance"] = random(np.float32, 4, low=0.5)
        for training in (True, False):
            channels_first("FusedBatchNormV3", ["x"], x=x, **names, epsilon=0.001, is_training=training)
        if dtype == np.float32:
            channels_first("FusedBatchNormGradV2", ["y_backprop", "x"], y_backprop=random(dtype, 2, 3, 2, 4), x=x,
                           scale=names["scale"], reserve_space_1=x.mean((0, 1, 2)), reserve_space_2=x.var((0, 1, 2)),
                           epsilon=0.001, is_training=True)
    for dtype in (np.float32, np.float16, np.int32):
        channels_first("SpaceToDepth", ["input"], input=random(dtype, 2, 4, 6, 3), block_size=2)
        channels_first("DepthToSpace", ["input"], input=random(dtype, 2, 2, 3, 18), block_size=3)


def image():
    options = ({}, {"align_corners": True}, {"half_pixel_centers": True})
    for dtype in NUMBERS:
        x = random(dtype, 2, 3, 4, 2)
        for option in options if dtype == np.float32 else options[2:]:
            for size in ([5, 7], [2, 2], [3, 4], [1, 1]):
                case("ResizeBilinear", images=x, size=np.array(size, np.int32), **option)
                case("ResizeNearestNeighbor", images=x, size=np.array(size, np.int32), **option)
    f = np.float32
    for op in ("ResizeBilinear", "ResizeNearestNeighbor"):
        case(op, images=random(f, 1, 2, 2, 1), size=np.array([3, 3], np.int32), align_corners=True, half_pixel_centers=True)
        for shape, size in (((1, 2, 2, 1), [0, 3]), ((1, 0, 2, 1), [2, 2]), ((1, 2, 2, 1), [2]), ((2, 2, 1), [2, 2]), ((0, 2, 2, 1), [3, 3]),
                            ((1, 1, 1, 3), [2, 3]), ((1, 2, 2, 1), [2, -1])):
            case(op, images=random(f, *shape), size=np.array(size, np.int32))
    for dtype in (np.float32, np.float16):
        x = random(dtype, 2, 1, 2, 7)
        case("LRN", input=x)
        case("LRN", input=x, depth_radius=1, bias=2.0, alpha=0.5, beta=0.75)
        y = tf.raw_ops.LRN(input=x, depth_radius=2, alpha=0.25, beta=0.75).numpy()
        case("LRNGrad", input_grads=random(dtype, *x.shape), input_image=x, output_image=y, depth_radius=2, alpha=0.25, beta=0.75)
    case("LRN", input=np.zeros((0, 2, 2, 3), f))
    case("LRN", input=random(f, 1, 2, 2, 3), depth_radius=0)
    case("LRN", input=random(f, 2, 2, 3))
    case("LRNGrad", input_grads=random(f, 1, 1, 1, 2), input_image=random(f, 1, 1, 1, 3), output_image=random(f, 1, 1, 1, 3))
    sizes = (((5, 7), (3, 4)), ((2, 2), (3, 4)), ((3, 4), (3, 4)), ((1, 1), (3, 2)), ((6, 8), (3, 4)), ((4, 1), (1, 3)))
    for dtype in FLOATS:
        for option in options if dtype == f else options[2:]:
            for resized, size in sizes:
                case("ResizeBilinearGrad", grads=random(f, 2, *resized, 2, low=0.5), original_image=random(dtype, 2, *size, 2), **option)
    for dtype in FLOATS + [np.int32, np.uint8, np.int8]:
        for option in options if dtype == f else options[2:]:
            for resized, size in sizes:
                case("ResizeNearestNeighborGrad", grads=random(dtype, 2, *resized, 2, low=0.5), size=np.array(size, np.int32), **option)
    for dims, original in (((2, 4, 4, 1), (1, 2, 2, 3)), ((1, 4, 4, 1), (1, 0, 2, 1)), ((1, 0, 4, 1), (1, 2, 2, 1)), ((4, 4, 1), (1, 2, 2, 1)),
                           ((1, 4, 4, 1), (2, 2, 1)), ((0, 4, 4, 1), (0, 2, 2, 1)), ((1, 4, 4, 0), (1, 2, 2, 0))):
        case("ResizeBilinearGrad", grads=random(f, *dims), original_image=random(f, *original))
    case("ResizeBilinearGrad", grads=random(f, 1, 2, 2, 1), original_image=random(f, 1, 2, 2, 1), align_corners=True, half_pixel_centers=True)
    for dims, size in (((1, 4, 4, 1), [2]), ((1, 4, 4, 1), [0, 2]), ((1, 4, 4, 1), [2, -2]), ((1, 0, 4, 1), [2, 2]), ((4, 4, 1), [2, 2]),
                       ((0, 4, 4, 1), [2, 2]), ((1, 4, 4, 0), [2, 2]), ((1, 4, 4, 1), [[2, 2]]), ((1, 2, 2, 1), [4, 4])):
        case("ResizeNearestNeighborGrad", grads=random(f, *dims), size=np.array(size, np.int32))
    for dims, size in (((2, 2, 5, 1), [3, 4]), ((1, 1, 1, 4), [2, 4]), ((1, 6, 2, 3), [2, 5])):
        case("ResizeNearestNeighborGrad", grads=random(f, *dims), size=np.array(size, np.int32), align_corners=True, half_pixel_centers=True)


def strings():
    def words(*values):
        return np.array(values, object)

    for joined in ([words("a", "b"), np.array("x", object), words("c", "d")], [words("a", "b"), words("c")], [words("one")],
                   [np.array("a", object), np.array("", object)], [words(["a"], ["b"]), words("c", "d")]):
        case("StringJoin", inputs=joined, separator="-")
    case("StringJoin", inputs=[words("a;b", 'say "no"')] * 2)
    grid = words(["a", "b"], ["c", "d"])
    for axes in ([], [0], [1], [-1], [0, 1], [1, 0], [0, 0], [2]):
        case("ReduceJoin", inputs=grid, reduction_indices=np.array(axes, np.int32), separator=", ")
        case("ReduceJoin", inputs=grid, reduction_indices=np.array(axes, np.int32), keep_dims=True)
    cube = words(*[[[f"{i}{j}{k}" for k in range(2)] for j in range(3)] for i in range(2)])
    for axes in ([0, 2], [2, 0], [1], [2, 1, 0]):
        case("ReduceJoin", inputs=cube, reduction_indices=np.array(axes, np.int32), separator="|")
    case("ReduceJoin", inputs=cube[:0], reduction_indices=np.array([0], np.int32))
    case("ReduceJoin", inputs=np.array("a", object), reduction_indices=np.array([], np.int32))
    case("ReduceJoin", inputs=np.array("a", object), reduction_indices=np.array([0], np.int32))
    for unit in ("BYTE", "UTF8_CHAR"):
        case("StringLength", input=words("\u00e9x", "", "abc"), unit=unit)
        for dtype in (np.int32, np.int64):
            for pos, length in ((1, 2), (-2, 5), (3, 1), (4, 1), (-3, 1), (-4, 1), (1, -1), (0, 0), (0, 2147483647)):
                case("Substr", input=words("abc", "xyz"), pos=np.array(pos, dtype), len=np.array(length, dtype), unit=unit)
    case("Substr", input=words("a\u00e9c"), pos=np.array(1), len=np.array(1), unit="UTF8_CHAR")
    for pos, length in ((-1, -1), (-2, -1), (0, -1), (-1, 0), (-3, 9), (-4, 1)):
        case("Substr", input=words("a\u00e9c"), pos=np.array([pos]), len=np.array([length]), unit="UTF8_CHAR")
    case("Substr", input=np.array("abcdef", object), pos=np.array([1, 2]), len=np.array([2, 3]))
    case("Substr", input=words("abc", "def"), pos=np.array([[1], [2]]), len=np.array([[1], [1]]))
    case("Substr", input=words("abc", "def"), pos=np.array(1), len=np.array([1, 1]))
    case("Substr", input=words("abc", "def"), pos=np.array([1, 1, 1]), len=np.array([1, 1, 1]))
    for op in ("StringLower", "StringUpper"):
        for encoding in ("", "utf-8", "latin-1"):
            case(op, input=words("\u00c0\u00c9bC", "\u00dfz", ""), encoding=encoding)
    case("StringStrip", input=words(" a b\t\n", "\v\fx", "", "  ", "\u00a0x"))
    lines_of_words = words("a,b,,c", " x  y z", "", ",", "  q w ")
    for separator in (",", "", ",,", " "):
        for splits in (-1, 0, 1, 2):
            case("StringSplitV2", input=lines_of_words, sep=np.array(separator, object), maxsplit=splits)
    case("StringSplitV2", input=words(), sep=np.array(",", object))
    case("StringSplitV2", input=words(["a"]), sep=np.array(",", object))
    case("StringSplitV2", input=words("a"), sep=words(","))
    numbers = ["1", "+1", " 1 ", "1e3", "0x10", "0x1.8p-2", "inf", "-INF", "nan", "", "1.5", "1.5x", "1e400", "-1e400", "1e-50", "infinity",
               "99999999999", "-5", "1_0", ".5", "5.", "\t7\n", "- 5", "1e", "2147483648", "-2147483648", "16777217", "0.1"]
    for to in (tf.float32, tf.float64, tf.int32, tf.int64, tf.uint32, tf.uint64):
        for number in numbers:
            case("StringToNumber", string_tensor=words(number), out_type=to)
    case("StringToNumber", string_tensor=words(["1", "2"], ["3", "4"]))
    for to in (tf.float32, tf.float64):
        # Half of a last digit, exactly and not.
        case("StringToNumber", string_tensor=words("0x1.000001", "0x1.00000100000000001", "0x1.00000000000008", "0x1.000000000000080001"),
             out_type=to)
    fractions = np.array([1.0, -2.5, np.inf, -np.inf, np.nan, 1e10, 1e-7, 0.1, -0.0, 123456.789, 999999.5, 2.5, 0.5])
    for option in ({}, dict(precision=2), dict(scientific=True), dict(shortest=True), dict(scientific=True, precision=0),
                   dict(shortest=True, precision=3), dict(shortest=True, precision=0), dict(width=9), dict(width=9, fill="0"),
                   dict(width=9, fill="-"), dict(width=9, fill="+"), dict(fill=" "), dict(fill="#", shortest=True), dict(fill="x"),
                   dict(fill="00", width=5), dict(scientific=True, shortest=True), dict(precision=0, fill="#"), dict(precision=0),
                   dict(scientific=True, precision=0, fill="#"), dict(scientific=True, width=16, fill="0"), dict(precision=30)):
        for dtype in (np.float32, np.float64):
            case("AsString", input=fractions.astype(dtype), **option)
        case("AsString", input=np.array([1, -20, 0], np.int32), **option)
        case("AsString", input=np.array([3, 255], np.uint8), **option)
        case("AsString", input=np.array([True, False]), **option)
        case("AsString", input=words("a", "\u00e9", "abcdefgh"), **option)
    for dtype in FLOATS + [np.int8, np.int16, np.int64, np.uint16, np.uint32, np.uint64]:
        case("AsString", input=special(dtype)[special(dtype) == special(dtype)])
    for dtype in FLOATS + [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, bool]:
        case("StringFormat", inputs=[random(dtype, 2, 2)])
    ramp = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 8
    for ends in (0, 1, 2, 3, -1, -2):
        case("StringFormat", inputs=[ramp], summarize=ends)
        case("StringFormat", inputs=[np.arange(7)], summarize=ends)
        case("StringFormat", inputs=[np.zeros((7, 1, 7), np.int32)], summarize=ends)
        for dims in ((0,), (2, 0), (0, 2), (), (5, 2)):
            case("StringFormat", inputs=[np.zeros(dims, np.int64)], summarize=ends)
    case("StringFormat", inputs=[np.array(1.5, np.float32), words("a", "b\n\"\u00e9'\\")], template="x {} y {} z", placeholder="{}")
    for dims in ((0,), (2, 0)):
        case("StringFormat", inputs=[np.zeros(dims, bool)])
    case("StringFormat", inputs=[np.array(1)], template="{} {}", placeholder="{}")
    case("StringFormat", inputs=[np.array(1)], template="a", placeholder="")
    case("StringFormat", inputs=[np.array([0.1, 1e20, np.nan, -np.inf, 1 / 3, -0.0, 1e-10, 123456789.0, 3.4e38], np.float32)], summarize=-1)
    case("StringFormat", inputs=[np.array([0.1, 1e300, np.nan, -np.inf, 1 / 3, -0.0, 1e-10, 123456789.0, 2**53 + 2.0])], summarize=-1)
    for width, precision, fill in ((3, 2, ""), (10, 0, "0"), (4, 2, "-"), (2, 9, ""), (0, 2, ""), (-1, 1, "")):
        case("AsString", input=words("xyz", ""), width=width, precision=precision, fill=fill)
    # No bytes, amid a character.
    for position, length in ((1, 0), (-1, 0), (2, -9)):
        case("Substr", input=words("\u00e9"), pos=np.array(position), len=np.array(length))


def integers():
    """Every op that computes with all types of integers, at their edges."""
    types = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]

    def edges(dtype):
        info = np.iinfo(dtype)
        return np.array([info.min, info.max, info.max // 2 + 1, info.max - 6, 0, 1, 2, 7], dtype)

    for dtype in types:
        info, some = np.iinfo(dtype), edges(dtype)
        x, y = pairs(some[[0, 1, 2, 4, 7]])
        for op in ("AddV2", "Add", "Sub", "Mul", "Maximum", "Minimum", "SquaredDifference", "BitwiseAnd", "BitwiseOr", "BitwiseXor",
                   "Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual"):
            case(op, x=x, y=y)
            case(op, x=some[:3].reshape(3, 1), y=some[3:])
            case(op, x=np.zeros((2, 0), dtype), y=np.zeros(1, dtype))
        for op in ("Div", "RealDiv", "FloorDiv", "FloorMod", "Mod", "TruncateDiv", "TruncateMod"):
            # Neither zero, nor the least number by -1, which TensorFlow leaves to the processor.
            case(op, x=x[y != 0], y=y[y != 0])
            case(op, x=some.reshape(8, 1), y=np.array([1, 3, info.max], dtype))
            if info.min < 0:
                case(op, x=some[1:], y=np.array(-3, dtype))
                case(op, x=np.array([-7, 7, -8, 8], dtype).reshape(4, 1), y=np.array([-2, 2, 3], dtype))
        for exponents in (np.array([0, 1, 2, 3, 31, 64, 100], dtype), np.array(2, dtype)):
            case("Pow", x=some.reshape(8, 1), y=exponents)
        for op, name in (("Neg", "x"), ("Abs", "x"), ("Sign", "x"), ("Square", "x"), ("Floor", "x"), ("Ceil", "x"), ("Round", "x"),
                         ("Relu", "features"), ("Relu6", "features"), ("Invert", "x")):
            if op == "Round" and dtype in (np.int32, np.int64):
                continue  # TensorFlow gives zeros
            case(op, **{name: some})
            case(op, **{name: np.zeros((0, 3), dtype)})
        for op in ("ReluGrad", "Relu6Grad"):
            case(op, gradients=some[::-1], features=np.array([0, 1, 5, 6, 7, info.min, info.max, 3], dtype))
        case("AddN", inputs=[some, some, some[::-1]])
        case("BiasAdd", value=some.reshape(2, 4), bias=some[4:])
        case("BiasAddGrad", out_backprop=some.reshape(4, 2))
        for op in ("Sum", "Prod", "Mean", "Max", "Min"):
            for axes in ([0], [1], [0, 1], [0, 2], []):
                x = np.concatenate([some, some[::-1], random(dtype, 8)]).reshape(3, 2, 4)
                case(op, input=x, axis=np.array(axes, np.int32), keep_dims=len(axes) == 1)
            case(op, input=np.full((9, 60), info.max, dtype), axis=np.array([1, 0], np.int32)) if dtype == np.int8 else None
            case(op, input=np.zeros((0, 2), dtype), axis=np.array([0], np.int32))
            case(op, input=np.zeros((0, 2), dtype), axis=np.array([1], np.int32))
        for op in ("Cumsum", "Cumprod"):
            case(op, x=some.reshape(2, 4), axis=np.array(1, np.int32))
            case(op, x=some.reshape(4, 2), axis=np.array(0, np.int32), exclusive=True, reverse=True)
        for op in ("ArgMax", "ArgMin"):
            case(op, input=some.reshape(2, 4), dimension=np.array(1, np.int32))
            case(op, input=some.reshape(2, 2, 2), dimension=np.array(0, np.int32), output_type=tf.int32)
        case("TopKV2", input=np.concatenate([some, some]).reshape(2, 8), k=np.array(5, np.int32))
        for condition in (np.array([[True], [False]]), np.array([True, False, False, True])):
            case("SelectV2", condition=condition, t=some.reshape(2, 4), e=some[:4])
        case("Where", condition=some.reshape(2, 4))
        case("Fill", dims=np.array([2, 2], np.int32), value=some[1])
        case("OneHot", indices=np.array([1, 0, 3, -1], np.int32), depth=np.array(3, np.int32), on_value=some[1], off_value=some[0])
        case("OneHot", indices=np.array([1, 0, 3, info.max], dtype), depth=np.array(3, np.int32), on_value=np.array(1.0, np.float32),
             off_value=np.array(0.5, np.float32))
        case("ZerosLike", x=some)
        case("OnesLike", x=some)
        case("Range", start=np.array(1, dtype), limit=np.array(100, dtype), delta=np.array(30, dtype))
        case("MatrixBandPart", input=some.reshape(2, 2, 2), num_lower=np.array(0, np.int64), num_upper=np.array(-1, np.int64))
        for transposed in (False, True) if dtype in (np.int32, np.int64) else ():
            case("MatMul", a=some.reshape(2, 4), b=some.reshape((2, 4) if transposed else (4, 2)), transpose_b=transposed)
        if dtype in (np.int8, np.uint8, np.int16, np.int32, np.int64):
            case("BatchMatMulV2", x=some.reshape(2, 2, 2), y=some[:4].reshape(1, 2, 2), adj_x=True)
            case("BatchMatMulV2", x=some.reshape(2, 1, 2, 2), y=some.reshape(2, 2, 2))
            case("BatchMatMulV2", x=np.zeros((2, 0), dtype), y=np.zeros((0, 3), dtype))
        ids, places = np.array([2, 0, -1, 2], np.int32), np.array([[2], [0], [2], [1]], np.int64)
        case("UnsortedSegmentSum", data=some.reshape(4, 2), segment_ids=ids, num_segments=np.array(4, np.int32))
        case("ScatterNd", indices=places, updates=some.reshape(4, 2), shape=np.array([4, 2], np.int64))
        for op in ("Add", "Sub", "Max", "Min", "Update"):
            case(f"TensorScatter{op}", tensor=some[::-1].reshape(4, 2), indices=places, updates=some.reshape(4, 2))
            case(f"TensorScatter{op}", tensor=some, indices=np.zeros((0, 1), np.int32), updates=np.zeros(0, dtype))
        for to in types + FLOATS + [bool]:
            case("Cast", x=some, DstT=tf.as_dtype(to))
        for to in types:
            case("Bitcast", input=some, type=tf.as_dtype(to))
    for dtype in (np.float32, np.float64):
        # What is beyond a type depends on how the loop was compiled.
        values = np.array([0.9, 1.5, 127.9, 128.0, 255.9, 256.0, 32767.5, 65535.5, 65536.0, 2.0**31 - 128, 2.0**31, 2.0**32 - 256,
                           2.0**33, 2.0**53, 2.0**62])
        for to in types:
            info, all_of = np.iinfo(to), np.concatenate([values, -values])
            case("Cast", x=all_of[(all_of > info.min - 1.0) & (all_of < info.max + 1.0)].astype(dtype), DstT=tf.as_dtype(to))
        case("Cast", x=np.array([2.0**63, 2.0**64 - 2.0**40], dtype), DstT=tf.uint64)
        case("Cast", x=np.array([np.nan, 1e30], dtype), DstT=tf.int32)
    for dtype in (np.float16, BF16):
        for to in types:
            values = np.array([0.9, 1.5, 100.0, 127.0, 300.0, 32000.0, 60000.0])
            case("Cast", x=values[values < np.iinfo(to).max + 1.0].astype(dtype), DstT=tf.as_dtype(to))
    # Ours take types that TensorFlow has no kernels for.
    lines[:] = [line for line in lines if not line.endswith("-> error")]


def unlisted(value):
    """A list as the tensor that ours is, and other tensors as they are."""
    if value.dtype != tf.variant:
        return value
    return tf.raw_ops.TensorListStack(input_handle=value, element_shape=tf.constant(-1), element_dtype=tf.float32, num_elements=-1)


def list_case(op, handle, **given):
    """As `case`, of an op that takes a list, which is given as the tensor of its elements."""
    attributes = {name: value for name, value in given.items() if not is_argument(value)}
    arguments = [handle] + [value for value in given.values() if is_argument(value)]
    try:
        given = {name: constants(value) if is_argument(value) else value for name, value in given.items()}
        if op in ("TensorListGetItem", "TensorListGather", "TensorListPopBack", "TensorListStack"):
            given["element_dtype"] = tf.float32
        list_of = tf.raw_ops.TensorListFromTensor(tensor=tf.constant(handle), element_shape=tf.constant(handle.shape[1:], tf.int32))
        results = getattr(tf.raw_ops, op)(input_handle=list_of, **given)
        results = results if isinstance(results, (tuple, list)) else [results]
        outcome = "; ".join(tensor(unlisted(r).numpy()) for r in results)
    except (tf.errors.OpError, ValueError):
        outcome = "error"
    lines.append(f"{text(op, arguments, attributes)} -> {outcome}")


def lists():
    x, item = random(np.float32, 3, 2), random(np.float32, 2)
    number = lambda value: np.array(value, np.int32)
    for at in (0, 2, -1, 3):
        list_case("TensorListSetItem", x, index=number(at), item=item)
        list_case("TensorListGetItem", x, index=number(at), element_shape=number([2]))
    list_case("TensorListSetItem", x, index=number(0), item=random(np.float32, 3))
    list_case("TensorListSetItem", x, index=number(0), item=random(np.float64, 2))
    list_case("TensorListGetItem", x, index=number(1), element_shape=number(-1))
    list_case("TensorListGetItem", x, index=number(1), element_shape=number([-1]))
    list_case("TensorListGetItem", x, index=number(1), element_shape=number([3]))
    for indices in ([2, 0, 2], [], [3], [-1]):
        list_case("TensorListGather", x, indices=number(indices), element_shape=number([2]))
    for shape in (number(-1), number([2]), number([3])):
        list_case("TensorListStack", x, element_shape=shape)
        list_case("TensorListPopBack", x, element_shape=shape)
    for count in (3, 4):
        list_case("TensorListStack", x, element_shape=number([2]), num_elements=count)
    list_case("TensorListPopBack", x[:0], element_shape=number([2]))
    list_case("TensorListPushBack", x, tensor=item)
    list_case("TensorListPushBack", x[:0], tensor=item)
    list_case("TensorListPushBack", x, tensor=random(np.float32, 3))
    for size in (0, 2, 5, -1):
        list_case("TensorListResize", x, size=number(size))
    list_case("TensorListLength", x)
    list_case("TensorListLength", x[:0])
    for at in (1, 4):
        list_case("TensorListSetItem", x, index=number(at), item=item, resize_if_index_out_of_bounds=True)


def segments():
    ascending, anywhere = np.array([0, 0, 2, 2], np.int32), np.array([2, 0, 2, -1], np.int64)
    for dtype in NUMBERS + COMPLEX:
        data = random(dtype, 4, 2)
        ordered = () if np.dtype(dtype).kind == "c" else ("Max", "Min")
        for op in ("Sum", "Prod", *ordered):
            case(f"Segment{op}", data=data, segment_ids=ascending)
            if op != "Sum":
                case(f"UnsortedSegment{op}", data=data, segment_ids=anywhere, num_segments=np.array(4, np.int32))
    data = random(np.float32, 3, 2)
    for ids in ([0, 1, 1], [1, 0, 1], [0, 1], [-1, 0, 1], [[0, 1, 2]]):
        case("SegmentSum", data=data, segment_ids=np.array(ids, np.int64))
    case("SegmentMax", data=data[:0], segment_ids=np.array([], np.int32))
    case("SegmentMin", data=data[:, :0], segment_ids=np.array([0, 1, 1], np.int32))
    for dtype in NUMBERS:
        row = np.sort(random(dtype, 2, 5))
        for op in ("LowerBound", "UpperBound"):
            case(op, sorted_inputs=row, values=np.concatenate([row[:, 1:3], random(dtype, 2, 4)], 1))
    for op in ("LowerBound", "UpperBound"):
        case(op, sorted_inputs=np.array([[1, 2, 2, 3]], np.int32), values=np.array([[0, 2, 4]], np.int32), out_type=tf.int64)
        case(op, sorted_inputs=np.zeros((2, 0), np.float32), values=np.ones((2, 3), np.float32))
        case(op, sorted_inputs=np.zeros((2, 3), np.float32), values=np.ones((2, 0), np.float32))
        case(op, sorted_inputs=np.zeros((2, 3), np.float32), values=np.ones((1, 3), np.float32))
        case(op, sorted_inputs=np.zeros(3, np.float32), values=np.ones(3, np.float32))
    for dtype in (np.int32, np.int64):
        for a, b in (([2, 3], [3]), ([3], [2, 3]), ([], [2]), ([], []), ([1, 3], [2, 1]), ([2], [3]), ([0], [1]), ([5, 1, 2], [4, 1])):
            case("BroadcastArgs", s0=np.array(a, dtype), s1=np.array(b, dtype))
    case("BroadcastArgs", s0=np.array([2], np.int32), s1=np.array([[2]], np.int32))


def special_functions():
    positive = lambda dtype, *shape: np.abs(random(dtype, *shape)) + np.asarray(0.25, dtype)
    for dtype in (np.float32, np.float64):
        for op in ("BesselI0", "BesselI0e", "BesselI1", "BesselI1e", "BesselJ0", "BesselJ1", "Dawsn", "FresnelCos", "FresnelSin"):
            case(op, x=random(dtype, 8))
            case(op, x=np.array([0.0, -0.0, 0.1, 12.5, -9.0], dtype))
        for op in ("BesselK0", "BesselK0e", "BesselK1", "BesselK1e", "BesselY0", "BesselY1", "Expint", "Spence"):
            case(op, x=positive(dtype, 8))
        for op in ("Digamma",):
            case(op, x=np.concatenate([positive(dtype, 6), np.array([-0.5, -1.25, 20.0], dtype)]))
        case("Erfinv", x=np.array([0.0, 0.1, -0.5, 0.9, -0.99, 1.0, -1.0, 2.0], dtype))
        case("Ndtri", x=np.array([0.0, 0.001, 0.2, 0.5, 0.75, 0.999, 1.0], dtype))
        case("Igamma", a=positive(dtype, 3, 1), x=positive(dtype, 4))
        case("Igammac", a=positive(dtype, 3, 1), x=positive(dtype, 4))
        case("Zeta", x=positive(dtype, 5) + np.asarray(1.0, dtype), q=positive(dtype, 5))
        case("Polygamma", a=np.array([0.0, 1.0, 2.0, 3.0], dtype), x=positive(dtype, 4))
        case("Betainc", a=positive(dtype, 6), b=positive(dtype, 6), x=random(dtype, 6, low=0.05, high=0.95))
        case("NextAfter", x1=random(dtype, 4), x2=random(dtype, 2, 1))
        case("NextAfter", x1=np.array([0.0, 1.0, np.nan, 2.0], dtype), x2=np.array([1.0, 1.0, 0.0, -np.inf], dtype))
        for exclusive in (False, True):
            for reverse in (False, True):
                case("CumulativeLogsumexp", x=random(dtype, 2, 4), axis=np.array(-1), exclusive=exclusive, reverse=reverse)


def linear_algebra():
    def symmetric(dtype, *dims):
        x = random(dtype, *dims, low=-1.0, high=1.0)
        return np.matmul(x, np.swapaxes(x, -1, -2)) + 2 * np.eye(dims[-1], dtype=dtype)

    for dtype in (np.float32, np.float64):
        square = symmetric(dtype, 2, 3, 3)
        right = random(dtype, 2, 3, 2)
        case("Cholesky", input=square)
        for adjoint in (False, True):
            case("MatrixInverse", input=random(dtype, 3, 3) + 4 * np.eye(3, dtype=dtype), adjoint=adjoint)
            case("MatrixSolve", matrix=square, rhs=right, adjoint=adjoint)
            for lower in (False, True):
                case("MatrixTriangularSolve", matrix=square, rhs=right, lower=lower, adjoint=adjoint)
        case("MatrixInverse", input=np.zeros((2, 2), dtype))
        case("MatrixSolve", matrix=square[:, :2], rhs=right)
        case("MatrixSquareRoot", input=square)
        case("LogMatrixDeterminant", input=random(dtype, 2, 3, 3))
        case("Lu", input=random(dtype, 4, 4))
        case("Lu", input=random(dtype, 2, 3, 3), output_idx_type=tf.int64)
        case("Qr", input=random(dtype, 4, 3))
        case("Qr", input=random(dtype, 3, 4))
        case("TridiagonalSolve", diagonals=np.stack([np.array([1, 2, 9]), np.array([7, 8, 6]), np.array([9, 1, 2])]).astype(dtype), rhs=random(dtype, 3, 2))
    for dtype in COMPLEX:
        x, right = (random(dtype, 2, 3, 3) + 6 * np.eye(3)).astype(dtype), random(dtype, 2, 3, 2)
        square = (np.matmul(x, np.conj(np.swapaxes(x, -1, -2))) + 2 * np.eye(3)).astype(dtype)
        case("Cholesky", input=square)
        for adjoint in (False, True):
            case("MatrixInverse", input=x, adjoint=adjoint)
            case("MatrixSolve", matrix=x, rhs=right, adjoint=adjoint)
            for lower in (False, True):
                case("MatrixTriangularSolve", matrix=square, rhs=right, lower=lower, adjoint=adjoint)
        for op in ("MatrixSquareRoot", "MatrixLogarithm", "MatrixDeterminant", "LogMatrixDeterminant", "Lu"):
            case(op, input=square)
        case("Qr", input=random(dtype, 4, 3), full_matrices=True)
        case("TridiagonalSolve", diagonals=random(dtype, 3, 4), rhs=random(dtype, 4, 2))
    for dtype in (np.float32, np.float64, *COMPLEX):
        for rows, columns in ((4, 2), (2, 4), (3, 3)):
            matrix, right = (random(dtype, 2, rows, columns) + 6 * np.eye(rows, columns)).astype(dtype), random(dtype, 2, rows, 2)
            case("MatrixSolveLs", matrix=matrix, rhs=right, l2_regularizer=np.array(0.0), fast=False)
            # The normal equations lose half of the digits.
            if dtype in (np.float64, np.complex128):
                for l2 in (0.0, 0.5):
                    case("MatrixSolveLs", matrix=matrix, rhs=right, l2_regularizer=np.array(l2), fast=True)
        case("MatrixDeterminant", input=random(dtype, 2, 3, 3))
        case("MatrixDeterminant", input=np.zeros((2, 0, 0), dtype))
        # A pivot that is zero.
        case("TridiagonalSolve", diagonals=np.array([[1, 2, 0], [0, 1, 3], [0, 4, 5]], dtype), rhs=random(dtype, 3, 1))
        case("MatrixSolveLs", matrix=random(dtype, 3, 2), rhs=random(dtype, 2, 1), l2_regularizer=np.array(0.0))
    case("Cholesky", input=random(np.complex64, 3))
    case("MatrixDeterminant", input=random(np.float32, 2, 3))


def text_bytes():
    words = np.array(["Hello world", "", "a", "abcdefgh", "seventeen bytes!!", "x" * 33, "y" * 65, "z" * 200, b"\xff\x00\x80"], object)
    for buckets in (1, 97, 1 << 40):
        case("StringToHashBucketFast", input=words, num_buckets=buckets)
        case("StringToHashBucket", string_tensor=words, num_buckets=buckets)
        case("StringToHashBucketStrong", input=words, num_buckets=buckets, key=[133, -7])
    case("Fingerprint", data=random(np.float32, 3, 4), method=np.array("farmhash64", object))
    case("Fingerprint", data=words, method=np.array("farmhash64", object))
    text = np.array(["h\u00e9llo", "", "\u4f60\U0001f600", b"a\xffb", b"\xe2\x82"], object)
    for errors in ("replace", "ignore"):
        case("UnicodeDecode", input=text, input_encoding="UTF-8", errors=errors)
        case("UnicodeDecodeWithOffsets", input=text, input_encoding="UTF-8", errors=errors, replacement_char=63)
        for to in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
            case("UnicodeTranscode", input=text, input_encoding="UTF-8", output_encoding=to, errors=errors)
    case("UnicodeDecode", input=text, input_encoding="UTF-8", errors="strict")
    case("UnicodeDecode", input=np.array([b"\x00a\xd8\x3d\xde\x00"], object), input_encoding="UTF-16-BE", Tsplits=tf.int32)
    case("UnicodeTranscode", input=np.array(["a\tb\n"], object), input_encoding="UTF-8", output_encoding="UTF-8", replace_control_characters=True)
    for to in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
        case("UnicodeEncode", input_values=np.array([104, 233, 0x1f600, 65], np.int32), input_splits=np.array([0, 3, 3, 4], np.int64), output_encoding=to)
    case("UnicodeEncode", input_values=np.array([104], np.int32), input_splits=np.array([0, 2], np.int64), output_encoding="UTF-8")
    for delimiter in ("", " ", "lo", "o,"):
        for skip in (True, False):
            case("StringSplit", input=np.array(["hello, world", "", "oo"], object), delimiter=np.array(delimiter, object), skip_empty=skip)
    for pad in (False, True):
        case("EncodeBase64", input=words, pad=pad)
    case("DecodeBase64", input=np.array(["aGVsbG8", "aGVsbG8=", "", "_-8"], object))
    case("DecodeBase64", input=np.array(["a*"], object))
    for dtype in (tf.uint8, tf.int16, tf.float32, tf.int64):
        for little in (True, False):
            case("DecodeRaw", bytes=np.array(["abcdefgh", b"\x01\x02\x03\x04\x05\x06\x07\x40"], object), out_type=dtype, little_endian=little)
            case("DecodePaddedRaw", input_bytes=np.array(["abc", "abcdefghijkl"], object), fixed_length=np.array(8, np.int32), out_type=dtype, little_endian=little)
    case("DecodeRaw", bytes=np.array(["abc", "ab"], object), out_type=tf.uint8)
    case("DecodeRaw", bytes=np.array(["abc"], object), out_type=tf.int16)
    ids = np.array([0, 2, 0], np.int32)
    case("UnsortedSegmentJoin", inputs=np.array(["a", "b", "c"], object), segment_ids=ids, num_segments=np.array(3), separator="-")
    case("UnsortedSegmentJoin", inputs=np.array([["a", "d"], ["b", "e"], ["c", "f"]], object), segment_ids=ids, num_segments=np.array(4))
    data, splits = np.array(["a", "b", "c", "d", "e"], object), np.array([0, 3, 3, 4, 5], np.int64)
    for widths in ([1], [2], [2, 3], [4]):
        for pad in (0, 1, -1):
            for keep in (False, True):
                case("StringNGrams", data=data, data_splits=splits, separator="|", ngram_widths=widths, left_pad="<", right_pad=">", pad_width=pad, preserve_short_sequences=keep)
    for value in (random(np.float32, 2, 3), random(np.int64, 4), np.array([True, False]), np.array(["a", "bc"], object), np.zeros((0, 2), np.float32)):
        case("SerializeTensor", tensor=value)
        kind = tf.as_dtype(value.dtype) if value.dtype.kind != "O" else tf.string
        case("ParseTensor", serialized=np.array(tf.io.serialize_tensor(value).numpy(), object), out_type=kind)
    case("ParseTensor", serialized=np.array("abc", object), out_type=tf.float32)


def pictures():
    pixels = random(np.float32, 2, 5, 6, 3, low=0.0, high=1.0)
    for size in ([3, 4], [9, 7], [5, 6]):
        size = np.array(size, np.int32)
        for flags in ({}, {"half_pixel_centers": True}, {"align_corners": True}):
            case("ResizeBicubic", images=pixels, size=size, **flags)
        for corners in (False, True):
            case("ResizeArea", images=pixels, size=size, align_corners=corners)
        scale = (size / np.array([5, 6])).astype(np.float32)
        for kernel in ("lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic"):
            for antialias in (False, True):
                case("ScaleAndTranslate", images=pixels[:1], size=size, scale=scale, translation=np.zeros(2, np.float32), kernel_type=kernel, antialias=antialias)
    case("ResizeBicubic", images=random(np.uint8, 1, 3, 3, 1), size=np.array([5, 5], np.int32))
    case("ResizeArea", images=pixels, size=np.array([0, 5], np.int32))
    grey = np.array([[[0.5, 0.5, 0.5], [0, 0, 0], [1, 0, 0], [0, 1, 1]]], np.float32)
    for colours in (pixels, grey):
        case("RGBToHSV", images=colours)
        case("HSVToRGB", images=colours)
        for by in (0.0, 0.3, -0.4):
            case("AdjustHue", images=colours, delta=np.array(by, np.float32))
        for by in (0.0, 0.7, 1.8):
            case("AdjustSaturation", images=colours, scale=np.array(by, np.float32))
    case("RGBToHSV", images=pixels[..., :2])
    for padding in ("SAME", "VALID"):
        for size, strides, rates in (([2, 2], [1, 1], [1, 1]), ([3, 2], [2, 2], [1, 2])):
            case("ExtractImagePatches", images=pixels, ksizes=[1, *size, 1], strides=[1, *strides, 1], rates=[1, *rates, 1], padding=padding)
            case("Dilation2D", input=pixels, filter=random(np.float32, *size, 3, low=-0.2, high=0.2), strides=[1, *strides, 1], rates=[1, *rates, 1], padding=padding)
            for batch in (False, True):
                case("MaxPoolWithArgmax", input=pixels, ksize=[1, *size, 1], strides=[1, *strides, 1], padding=padding, include_batch_in_index=batch)
    for mode in ("CONSTANT", "REFLECT", "WRAP", "NEAREST"):
        for interpolation in ("NEAREST", "BILINEAR"):
            case("ImageProjectiveTransformV3", images=pixels, transforms=np.array([[1.0, 0.2, -0.6, -0.1, 0.9, 0.4, 0.01, 0.0]], np.float32), output_shape=np.array([4, 7], np.int32),
                 fill_value=np.array(0.5, np.float32), interpolation=interpolation, fill_mode=mode)
    for dtype in INTEGERS:
        case("LeftShift", x=random(dtype, 6), y=np.array([0, 1, 2, 3, 4, 5], dtype))
        case("RightShift", x=random(dtype, 6, low=-60, high=60), y=np.array([0, 1, 2, 3, 4, 5], dtype))
        case("PopulationCount", x=special(dtype))
    for dtype in (np.int32, np.float32):
        case("ListDiff", x=np.array([3, 1, 2, 3, 5], dtype), y=np.array([1, 5, 9], dtype))
    case("ListDiff", x=np.array(["a", "b", "c"], object), y=np.array(["b"], object), out_idx=tf.int64)
    case("RaggedRange", starts=np.array([0, 5, 8], np.int32), limits=np.array([3, 5, 2], np.int32), deltas=np.array([1, 1, -2], np.int32))
    case("RaggedRange", starts=np.array(0.0, np.float32), limits=np.array([1.0, 2.5], np.float32), deltas=np.array(0.5, np.float32), Tsplits=tf.int32)
    case("RaggedRange", starts=np.array([0], np.int32), limits=np.array([3], np.int32), deltas=np.array([0], np.int32))
    indices, shape = np.array([[0, 1], [1, 2], [2, 0]], np.int64), np.array([3, 4], np.int64)
    for to in ([4, 3], [2, -1], [12], [-1, 1, 6], [5, 2], [-1, -1]):
        case("SparseReshape", input_indices=indices, input_shape=shape, new_shape=np.array(to, np.int64))


def draws():
    seed, key, counter = np.array([3, 7], np.int32), np.array([9], np.uint64), np.array([1, 2], np.uint64)
    for dtype in (tf.int32, tf.int64, tf.uint32, tf.uint64):
        for shape in ([5], [2, 3], [0]):
            case("StatelessRandomUniformFullInt", shape=np.array(shape, np.int32), seed=seed, dtype=dtype)
            case("StatelessRandomUniformFullIntV2", shape=np.array(shape, np.int32), key=key, counter=counter, alg=np.array(1, np.int32), dtype=dtype)
    for dtype in (np.float32, np.float64):
        logits = random(dtype, 2, 4)
        logits[0, 1] = -np.inf
        for samples in (0, 1, 7):
            for to in (tf.int32, tf.int64):
                case("StatelessMultinomial", logits=logits, num_samples=np.array(samples, np.int32), seed=seed, output_dtype=to)
    case("StatelessMultinomial", logits=logits[0], num_samples=np.array(3, np.int32), seed=seed)
    case("StatelessMultinomial", logits=logits, num_samples=np.array(-1, np.int32), seed=seed)
    shape = lambda *dims: np.array(dims, np.int32)
    for dtype in (np.float32, np.float64):
        alphas = np.array([0.3, 1.0, 7.5], dtype)
        case("StatelessRandomGammaV2", shape=shape(6, 3), seed=seed, alpha=alphas)
        case("StatelessRandomGammaV3", shape=shape(2, 2, 3), key=key, counter=counter, alg=np.array(1, np.int32), alpha=alphas)
        case("StatelessRandomGammaV2", shape=shape(0, 3), seed=seed, alpha=alphas)
        for to in (tf.float32, tf.float64, tf.int32, tf.int64):
            case("StatelessRandomPoisson", shape=shape(6, 3), seed=seed, lam=np.array([0.5, 9.0, 40.0], dtype), dtype=to)
    case("StatelessRandomPoisson", shape=shape(3), seed=seed, lam=np.array([1.0, 2.0], np.float32), dtype=tf.int64)
    case("StatelessRandomGammaV2", shape=shape(2), seed=seed, alpha=np.array([1.0, 2.0, 3.0], np.float32))


def encoded_images():
    text = lambda value: np.array(value, object)
    for channels in (1, 2, 3, 4):
        pixels = rng.integers(0, 256, [3, 2, channels])
        for dtype in (np.uint8, np.uint16):
            data = text(tf.io.encode_png(tf.constant(pixels * (1 if dtype is np.uint8 else 257), dtype)).numpy())
            for wanted in (0, 1, 2, 3, 4):
                for to in (tf.uint8, tf.uint16):
                    case("DecodePng", contents=data, channels=wanted, dtype=to)
            case("DecodeImage", contents=data, dtype=tf.float32, expand_animations=False)
    case("DecodeImage", contents=data, channels=3, expand_animations=False)
    rows = bytes([1, 2, 3, 4, 5, 6, 0, 0, 7, 8, 9, 10, 11, 12, 0, 0])
    header = lambda height: b"BM" + struct.pack("<IHHI", 70, 0, 0, 54) + struct.pack("<IiiHHIIiiII", 40, 2, height, 1, 24, 0, 16, 0, 0, 0, 0)
    for height in (2, -2):
        case("DecodeBmp", contents=text(header(height) + rows))
        case("DecodeBmp", contents=text(header(height) + rows), channels=3)
    case("DecodeBmp", contents=text(header(2) + rows[:9]))
    case("DecodeBmp", contents=text(header(2) + rows), channels=4)
    jpeg = text(tf.io.encode_jpeg(np.full([5, 4, 3], 128, np.uint8)).numpy())
    case("DecodeJpeg", contents=jpeg)
    case("DecodeJpeg", contents=jpeg, channels=1)
    case("DecodeAndCropJpeg", contents=jpeg, crop_window=np.array([1, 0, 2, 3], np.int32))
    case("DecodeAndCropJpeg", contents=jpeg, crop_window=np.array([1, 0, 5, 3], np.int32))
    for to in (tf.int32, tf.int64):
        case("ExtractJpegShape", contents=jpeg, output_type=to)
    for bad in (b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"no image"):
        case("DecodeImage", contents=text(bad))
    for bits in (8, 16, 32):
        row = bytes(range(bits // 4)).ljust(-(-bits // 16) * 4, b"\0")
        file = b"BM" + struct.pack("<IHHI", 70, 0, 0, 54) + struct.pack("<IiiHHIIiiII", 40, 2, 2, 1, bits, 0, 16, 0, 0, 0, 0) + row * 2
        for channels in (0, 1, 3, 4):
            case("DecodeBmp", contents=text(file), channels=channels)
        case("DecodeImage", contents=text(file), channels=3, dtype=tf.float32, expand_animations=False)
    for op in ("DecodePng", "DecodeJpeg"):
        case(op, contents=text(file))


# Beyond seq_len_max, TensorFlow leaves all results but the states as they were in memory; see tests/tensorflow.
def recurrent():
    for steps, batch, depth, hidden in ((3, 2, 4, 3), (1, 1, 1, 1), (2, 0, 3, 2), (0, 2, 3, 2)):
        sizes = dict(x=(steps, batch, depth), cs_prev=(batch, hidden), h_prev=(batch, hidden), w=(depth + hidden, 4 * hidden), wci=(hidden,), wcf=(hidden,), wco=(hidden,), b=(4 * hidden,))
        inputs = {name: random(np.float32, *size) for name, size in sizes.items()}
        for peepholes in (False, True):
            for clip in (0.3, -1.0):
                case("BlockLSTM", seq_len_max=np.array(steps, np.int64), **inputs, forget_bias=0.5, cell_clip=clip, use_peephole=peepholes)
                case("BlockLSTMV2", seq_len_max=np.array(steps, np.int64), **inputs, cell_clip=clip, use_peephole=peepholes)
    inputs["b"] = inputs["b"][1:]
    case("BlockLSTM", seq_len_max=np.array(0, np.int64), **inputs)


def audio():
    def wav(data, kind=1, channels=2, bits=16, more=b"", size=None):
        form = struct.pack("<HHIIHH", kind, channels, 8000, 8000 * channels * bits // 8, channels * bits // 8, bits) + more
        body = b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(data) if size is None else size) + data
        return np.array(b"RIFF" + struct.pack("<I", len(body)) + body, object)

    data = struct.pack("<8h", 0, 1, -1, 32767, -32768, 100, 200, 300)
    for channels in (1, 2):
        for wanted in (-1, 0, 1, 2, 3):
            case("DecodeWav", contents=wav(data, channels=channels), desired_channels=wanted)
        for wanted in (0, 2, 6, 9):
            case("DecodeWav", contents=wav(data, channels=channels), desired_samples=wanted)
    for file in (wav(b""), wav(data, more=b"\0\0"), wav(data, size=8), wav(data, size=100), wav(data, kind=3), wav(data, bits=8), wav(data, bits=24), np.array(b"RIFF", object)):
        case("DecodeWav", contents=file)
    signal = random(np.float32, 17, 2)
    for size, stride in ((2, 1), (3, 2), (5, 3), (8, 4), (16, 1), (18, 1), (1, 1), (4, 0)):
        for squared in (False, True):
            case("AudioSpectrogram", input=signal, window_size=size, stride=stride, magnitude_squared=squared)
    case("AudioSpectrogram", input=signal[:, 0], window_size=4, stride=2)
    powers, rate = np.abs(random(np.float32, 2, 3, 33)), np.array(16000, np.int32)
    powers[0, 0] = 0
    for options in ({}, {"upper_frequency_limit": 7900.0}, {"lower_frequency_limit": 0.0}, {"lower_frequency_limit": 1000.0}, {"lower_frequency_limit": -1.0}, {"lower_frequency_limit": 4000.0},
                    {"filterbank_channel_count": 20}, {"dct_coefficient_count": 40}, {"dct_coefficient_count": 41}, {"filterbank_channel_count": 0}, {"dct_coefficient_count": 0}):
        case("Mfcc", spectrogram=powers, sample_rate=rate, **options)
    case("Mfcc", spectrogram=powers[:, :0], sample_rate=rate)
    case("Mfcc", spectrogram=powers[0], sample_rate=rate)


def sequences():
    number = lambda *values: np.array(values, np.int32)
    # In double precision, TensorFlow is as exact as in single precision.
    for scores in (random(np.float32, 6, 3, 5), random(np.float32, 6, 3, 5) * np.float32(0.3)):

        def loss(labels, lengths=(6, 4, 3), **options):
            places = np.array([[row, column] for row, labels in enumerate(labels) for column in range(len(labels))], np.int64).reshape(-1, 2)
            values = number(*[label for row in labels for label in row])
            case("CTCLoss", inputs=scores, labels_indices=places, labels_values=values, sequence_length=number(*lengths), **options)

        for labels in ([1, 1, 0], [3, 2], [2]), ([0], [2, 2], [1, 2, 3]), ([0, 0, 0, 4], [1, 4], [0, 2]):
            for merged in (False, True):
                for collapsed in (False, True):
                    loss(labels, ctc_merge_repeated=merged, preprocess_collapse_repeated=collapsed)
        for ignored in (False, True):
            loss(([1, 2, 3, 1], [1, 1, 2, 2], [0, 1, 2, 3]), ignore_longer_outputs_than_inputs=ignored)
            loss(([1], [1], [1]), (6, 4, 0), ignore_longer_outputs_than_inputs=ignored)
            loss(([1], [1], []), ignore_longer_outputs_than_inputs=ignored)
        loss(([1], [1, 4, 1], [1]))
        loss(([1], [1, -1], [1]))
        loss(([1], [1], [1]), (6, 7, 0))


def overlaps():
    scores = random(np.float32, 7)
    scores[2] = scores[5]
    among = rng.uniform(0, 1, [7, 7]).astype(np.float32)
    real, number = lambda value: np.array(value, np.float32), lambda value: np.array(value, np.int32)
    for most in (0, 3, 9):
        for limit in (0.0, 0.5, 1.0):
            for least in (-9.0, float(scores[2])):
                case("NonMaxSuppressionWithOverlaps", overlaps=among, scores=scores, max_output_size=number(most), overlap_threshold=real(limit), score_threshold=real(least))
    case("NonMaxSuppressionWithOverlaps", overlaps=among[:0, :0], scores=scores[:0], max_output_size=number(3), overlap_threshold=real(0.5), score_threshold=real(0))
    case("NonMaxSuppressionWithOverlaps", overlaps=among[:6], scores=scores, max_output_size=number(3), overlap_threshold=real(0.5), score_threshold=real(0))
    case("NonMaxSuppressionWithOverlaps", overlaps=among, scores=scores[:6], max_output_size=number(3), overlap_threshold=real(0.5), score_threshold=real(0))
    case("NonMaxSuppressionWithOverlaps", overlaps=among, scores=scores, max_output_size=number(-1), overlap_threshold=real(0.5), score_threshold=real(0))
    boxes = np.array([[0.1, 0.2, 0.8, 0.9], [-0.3, 0.1, 1.2, 0.6], [0.9, 0.9, 0.1, 0.2], [2.0, 2.0, 3.0, 3.0]], np.float32)
    for dtype, method in ((tf.float32, "bilinear"), (tf.float32, "nearest"), (tf.float64, "nearest")):
        for height, width in ((3, 4), (1, 1)):
            case("CropAndResizeGradImage", grads=random(np.float32, 4, height, width, 2), boxes=boxes, box_ind=number([1, 0, 1, 0]), image_size=number([2, 5, 6, 2]), T=dtype, method=method)
    grads = random(np.float32, 4, 3, 4, 2)
    case("CropAndResizeGradImage", grads=grads, boxes=boxes, box_ind=number([1, 0, 2, 0]), image_size=number([2, 5, 6, 2]), T=tf.float32)
    case("CropAndResizeGradImage", grads=grads, boxes=boxes, box_ind=number([1, 0, 1]), image_size=number([2, 5, 6, 2]), T=tf.float32)
    case("CropAndResizeGradImage", grads=grads, boxes=boxes, box_ind=number([1, 0, 1, 0]), image_size=number([2, 5, 6, 3]), T=tf.float32)


FAMILIES = [arithmetic, complex_numbers, compare, unary, activation, constant, shape, gradients, concat, slice, gather, layout, cast, reduce, order, matmul,
            softmax, random_numbers, training, convolution, pooling, batch_norm, nchw, image, strings,
            integers, lists, segments, special_functions, linear_algebra, text_bytes, pictures, draws, encoded_images, recurrent, audio, sequences, overlaps]


def main(names):
    global rng
    folder = os.path.dirname(os.path.abspath(__file__))
    for family in FAMILIES:
        if names and family.__name__ not in names:
            continue
        lines.clear()
        rng = np.random.default_rng(zlib.crc32(family.__name__.encode()))
        family()
        with open(os.path.join(folder, family.__name__ + ".txt"), "w") as out:
            out.write("\n".join(lines) + "\n")
        print(f"{family.__name__}: {len(lines)} cases, {sum(l.endswith('error') for l in lines)} of them errors")


if __name__ == "__main__":
    main(sys.argv[1:])
