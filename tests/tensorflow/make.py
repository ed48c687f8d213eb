#!/usr/bin/env python3
"""Makes TensorFlow models with inputs and TensorFlow's results, for the runner beside this file.

    make.py FOLDER [NAME...]    all cases, or those whose name contains a NAME

Each case is a folder with a model (graph.pb, graph.pbtxt or saved_model), tensors as .npy files, and case.json, which
names them. Weights and inputs are seeded. `small` cases are the ones that are committed.
"""

import json
import os
import shutil
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

v1 = tf.compat.v1
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def numbers(*shape, seed=0, low=-1.0, high=1.0):
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)


def write_tensor(folder, name, value):
    value = np.asarray(value)
    if value.dtype.kind in "OSU":
        strings = [x.decode() if isinstance(x, bytes) else x for x in value.reshape(-1).tolist()]
        return {"name": name, "shape": list(value.shape), "strings": strings}
    file = name.replace(":", "_").replace("/", "_") + ".npy"
    np.save(os.path.join(folder, file), value)
    return {"name": name, "file": file}


def describe(folder, model, inputs, outputs, **more):
    description = {
        "model": model,
        "inputs": [write_tensor(folder, name, value) for name, value in inputs.items()],
        "outputs": [write_tensor(folder, "out_" + name, value) | {"name": name} for name, value in outputs.items()],
    }
    with open(os.path.join(folder, "case.json"), "w") as file:
        json.dump(description | more, file, indent=1)
        file.write("\n")


def graph_case(folder, build, inputs, text=False, **more):
    """A GraphDef with v1 placeholders: `build` gets them by name and gives outputs by name."""
    with tf.Graph().as_default() as graph:
        v1.set_random_seed(1)
        holders = {}
        for name, value in inputs.items():
            value = np.asarray(value)
            kind = tf.string if value.dtype.kind in "OSU" else value.dtype
            holders[name] = v1.placeholder(kind, value.shape, name)
        outputs = build(**holders)
        named = [tf.identity(value, name) for name, value in outputs.items()]
        # TensorFlow adds a number to a name that is taken.
        named = {value.op.name: value for value in named}
        with v1.Session() as session:
            values = session.run(named, {holders[name]: value for name, value in inputs.items()})
    name = "graph.pbtxt" if text else "graph.pb"
    tf.io.write_graph(graph.as_graph_def(), folder, name, as_text=text)
    describe(folder, name, inputs, values, **more)


def first_case(folder, build, inputs, text=False, direct="too"):
    """A GraphDef with control flow of the first version, which the direct executor runs "too" or "always"."""
    v1.disable_control_flow_v2()
    try:
        graph_case(folder, build, inputs, text, direct=direct)
    finally:
        v1.enable_control_flow_v2()


def frozen_case(folder, function, inputs, text=False, lower=False, **more):
    """A tf.function or Keras model, frozen into a GraphDef."""
    specs = [tf.TensorSpec(value.shape, value.dtype, name) for name, value in inputs.items()]
    concrete = tf.function(lambda *args: function(*args)).get_concrete_function(*specs)
    expected = concrete(*[tf.constant(value) for value in inputs.values()])
    frozen = convert_variables_to_constants_v2(concrete, lower_control_flow=lower)
    name = "graph.pbtxt" if text else "graph.pb"
    tf.io.write_graph(frozen.graph.as_graph_def(), folder, name, as_text=text)
    flat = tf.nest.flatten(expected)
    outputs = {tensor.name: value.numpy() for tensor, value in zip(frozen.outputs, flat)}
    assert len(outputs) == len(flat)
    describe(folder, name, inputs, outputs, **more)


def saved_case(folder, module, function, inputs, call=None, signature="serving_default"):
    """A SavedModel of a tf.function with dictionaries of outputs. The expected results are those of the loaded model."""
    path = os.path.join(folder, "saved_model")
    tf.saved_model.save(module, path, signatures={signature: function})
    loaded = tf.saved_model.load(path)
    results = loaded.signatures[signature](**{name: tf.constant(value) for name, value in inputs.items()})
    more = {} if signature == "serving_default" else {"signature": signature}
    describe(folder, "saved_model", inputs, {name: value.numpy() for name, value in results.items()}, **more)


def keras_saved_case(folder, model, x):
    path = os.path.join(folder, "saved_model")
    model.export(path, verbose=False)
    loaded = tf.saved_model.load(path)
    signature = loaded.signatures["serving_default"]
    name = list(signature.structured_input_signature[1])[0]
    results = signature(**{name: tf.constant(x)})
    describe(folder, "saved_model", {name: x}, {name: value.numpy() for name, value in results.items()})


def seeded(seed=7):
    tf.keras.utils.set_random_seed(seed)
    return tf.keras.layers


# Graphs of TensorFlow's first version.


@case
def arithmetic(folder):
    def build(x, y):
        return {"sum": x + y * 2.0, "quotient": x / (y + 3.0), "least": tf.minimum(x, y), "norm": tf.norm(x, axis=1)}

    graph_case(folder, build, {"x": numbers(3, 4), "y": numbers(3, 4, seed=1)})


@case
def arithmetic_text(folder):
    def build(x, y):
        return {"product": tf.matmul(x, y, transpose_b=True), "tall": tf.reduce_sum(x, 0, keepdims=True)}

    graph_case(folder, build, {"x": numbers(3, 4), "y": numbers(5, 4, seed=1)}, text=True)


@case
def constants(folder):
    def build(x):
        half = tf.constant([1.5, -2.25], tf.float16)
        return {
            "splat": x + tf.constant(2.5, shape=[3, 2]),
            "half": tf.cast(half, tf.float32) + x[0, 0],
            "bool": tf.where(tf.constant([[True, False], [False, True], [True, True]]), x, -x),
            "int": tf.cast(tf.constant(np.arange(6).reshape(3, 2), tf.int64), tf.float32) * x,
            "byte": tf.cast(tf.constant([[1, 2]], tf.uint8), tf.float32) * x,
            "bfloat": tf.cast(tf.constant([3.0, 0.5], tf.bfloat16), tf.float32) * x,
            "double": tf.cast(tf.constant([0.1, 0.2], tf.float64), tf.float32) * x,
        }

    graph_case(folder, build, {"x": numbers(3, 2)})


@case
def slices(folder):
    def build(x):
        return {
            "plain": x[1:3, ::2],
            "negative": x[::-1, -3:-1],
            "new": x[:, tf.newaxis, 1],
            "ellipsis": x[..., 2],
            "shrunk": x[2],
            "dynamic": x[: tf.shape(x)[0] - 1],
            "slice": tf.slice(x, [1, 0], [2, -1]),
        }

    graph_case(folder, build, {"x": numbers(4, 6)})


@case
def shapes(folder):
    def build(x):
        n = tf.shape(x)[0]
        return {
            "reshaped": tf.reshape(x, tf.stack([n, -1])),
            "tiled": tf.tile(x, [1, 2, 1]),
            "padded": tf.pad(x, [[0, 0], [1, 2], [0, 1]]),
            "mirrored": tf.pad(x, [[1, 1], [1, 1], [0, 0]], "REFLECT"),
            "symmetric": tf.pad(x, [[1, 1], [0, 0], [1, 1]], "SYMMETRIC"),
            "moved": tf.transpose(x, [2, 0, 1]),
            "parts": tf.concat(tf.split(x, [1, 2], axis=1), axis=2, name=None) if False else tf.split(x, [1, 2], 1)[1],
            "unstacked": tf.unstack(x, axis=1)[2],
            "squeezed": tf.squeeze(x[:, :1], [1]),
            "filled": tf.fill([n, 2], 3.0),
            "range": tf.range(0, n * 2),
            "reversed": tf.reverse(x, [1]),
            "rolled": tf.roll(x, 1, 2),
        }

    graph_case(folder, build, {"x": numbers(2, 3, 4)})


@case
def gathers(folder):
    def build(x, i):
        return {
            "rows": tf.gather(x, i),
            "columns": tf.gather(x, [1, 0], axis=1),
            "points": tf.gather_nd(x, tf.stack([i, i], 1)),
            "hot": tf.one_hot(i, 5),
            "scattered": tf.scatter_nd(i[:, None], x[:3], [6, 4]),
            "updated": tf.tensor_scatter_nd_update(x, [[1], [3]], x[:2]),
            "best": tf.math.top_k(x, 2)[0],
            "places": tf.math.top_k(x, 2)[1],
            "cumulated": tf.cumsum(x, 1, exclusive=True),
            "unique": tf.math.unsorted_segment_sum(x, [0, 1, 0, 2], 3),
        }

    graph_case(folder, build, {"x": numbers(4, 4), "i": np.array([2, 0, 3], np.int32)})


@case
def reductions(folder):
    def build(x):
        return {
            "mean": tf.reduce_mean(x, [0, 2]),
            "max": tf.reduce_max(x, 1, keepdims=True),
            "all": tf.reduce_all(x > -2.0, 1),
            "lse": tf.reduce_logsumexp(x, 2),
            "arg": tf.argmax(x, 1),
            "std": tf.math.reduce_std(x, 0),
            "prod": tf.reduce_prod(x),
        }

    graph_case(folder, build, {"x": numbers(2, 3, 4)})


@case
def elementwise(folder):
    def build(x):
        positive = tf.abs(x) + 0.1
        return {
            name: f(x)
            for name, f in {
                "erf": tf.math.erf, "erfc": tf.math.erfc, "sinh": tf.sinh, "softsign": tf.nn.softsign,
                "elu": tf.nn.elu, "selu": tf.nn.selu, "relu6": tf.nn.relu6, "leaky": tf.nn.leaky_relu,
                "gelu": tf.nn.gelu, "swish": tf.nn.swish, "softplus": tf.nn.softplus, "floor": tf.floor,
                "round": tf.round, "sign": tf.sign, "expm1": tf.math.expm1, "atan": tf.atan,
            }.items()
        } | {
            "rsqrt": tf.math.rsqrt(positive), "log1p": tf.math.log1p(positive), "pow": tf.pow(positive, 1.5),
            "xlogy": tf.math.xlogy(tf.nn.relu(x), positive), "clip": tf.clip_by_value(x, -0.3, 0.4),
            "floormod": tf.math.floormod(x * 7, 3.0), "div": tf.math.divide_no_nan(x, tf.nn.relu(x)),
            "lgamma": tf.math.lgamma(positive), "atan2": tf.atan2(x, positive),
        }

    graph_case(folder, build, {"x": numbers(3, 5)})


@case
def images(folder):
    def build(x, k, d):
        return {
            "conv": tf.nn.conv2d(x, k, [1, 2], "SAME"),
            "valid": tf.nn.conv2d(x, k, 1, "VALID", dilations=2),
            "explicit": tf.nn.conv2d(x, k, 1, [[0, 0], [1, 2], [0, 1], [0, 0]]),
            "depthwise": tf.nn.depthwise_conv2d(x, d, [1, 1, 1, 1], "SAME"),
            "max": tf.nn.max_pool2d(x, 3, 2, "SAME"),
            "average": tf.nn.avg_pool2d(x, 2, 2, "VALID"),
            "transposed": tf.nn.conv2d_transpose(x, tf.transpose(k, [0, 1, 3, 2]), [1, 16, 16, 5], 2, "SAME"),
            "bilinear": tf.image.resize(x, [5, 11]),
            "nearest": tf.image.resize(x, [13, 4], "nearest"),
            "depth": tf.nn.space_to_depth(x, 2),
            "norm": tf.nn.local_response_normalization(x),
        }

    graph_case(folder, build, {"x": numbers(1, 8, 8, 3), "k": numbers(3, 3, 3, 5, seed=1), "d": numbers(3, 3, 3, 2, seed=2)})


@case
def normalizations(folder):
    def build(x):
        ones = tf.constant([1.0, 0.5, 2.0])
        y, _, _ = v1.nn.fused_batch_norm(x, ones, -ones, ones * 0.1, ones, is_training=False, epsilon=1e-3)
        z, mean, variance = v1.nn.fused_batch_norm(x, ones, -ones, epsilon=1e-3, is_training=True)
        return {"inference": y, "training": z, "mean": mean, "variance": variance}

    graph_case(folder, build, {"x": numbers(2, 4, 4, 3)})


@case
def linear_algebra(folder):
    def build(x, y):
        return {
            "batch": tf.matmul(x, y),
            "adjoint": tf.matmul(x, x, adjoint_b=True),
            "einsum": tf.einsum("bij,bjk->bik", x, y),
            "attention": tf.einsum("bij,bkj->bik", x, x),
            "band": tf.linalg.band_part(x, 0, 1),
            "diagonal": tf.linalg.diag_part(x),
            "diag": tf.linalg.diag(x[:, 0]),
            "cross": tf.linalg.cross(x[:, :, :3], x[:, :, 1:4]),
        }

    graph_case(folder, build, {"x": numbers(2, 3, 4), "y": numbers(2, 4, 5, seed=1)})


@case
def complex_numbers(folder):
    def build(x, y):
        z = tf.complex(x, y)
        spectrum = tf.signal.fft(z)
        half = tf.signal.rfft(x)
        back = tf.signal.ifft2d(tf.signal.fft2d(z))
        return {
            "real": tf.math.real(z * z), "imaginary": tf.math.imag(tf.math.conj(z)), "magnitude": tf.abs(z),
            "angle": tf.math.angle(z), "spectrum": tf.abs(spectrum), "phase": tf.math.imag(spectrum),
            "half": tf.math.real(half), "half_imaginary": tf.math.imag(half), "back": tf.math.real(back),
        }

    graph_case(folder, build, {"x": numbers(3, 8), "y": numbers(3, 8, seed=1)})


@case
def volumes(folder):
    def build(x, k):
        return {
            "same": tf.nn.conv3d(x, k, [1, 1, 2, 1, 1], "SAME"),
            "valid": tf.nn.conv3d(x, k, [1, 1, 1, 1, 1], "VALID"),
            "max": tf.nn.max_pool3d(x, 2, 2, "SAME"),
            "average": tf.nn.avg_pool3d(x, 3, 2, "SAME"),
        }

    graph_case(folder, build, {"x": numbers(1, 5, 6, 7, 2), "k": numbers(2, 3, 3, 2, 4, seed=1)})


@case
def selections(folder):
    def build(boxes, scores, n):
        corners = tf.concat([boxes[:, :2], boxes[:, :2] + tf.abs(boxes[:, 2:])], 1)
        y, places = tf.unique(n)
        return {
            "kept": tf.image.non_max_suppression(corners, scores, 5, 0.3),
            "above": tf.image.non_max_suppression(corners, scores, 5, 0.3, 0.5),
            "unique": y, "places": places,
            "counts": tf.raw_ops.DenseBincount(input=n, size=6, weights=tf.constant([], tf.float32)),
            "sums": tf.raw_ops.DenseBincount(input=n, size=6, weights=scores[:7]),
            "buckets": tf.raw_ops.Bucketize(input=boxes, boundaries=[-0.5, 0.0, 0.25]),
            "determinant": tf.linalg.det(boxes[:4]),
        }

    n = np.array([3, 1, 3, 5, 1, 1, 0], np.int32)
    graph_case(folder, build, {"boxes": numbers(12, 4), "scores": numbers(12, seed=1, low=0.0), "n": n})


@case
def transforms(folder):
    def build(x, z):
        c = tf.complex(z[..., 0], z[..., 1])
        return {
            "irfft": tf.signal.irfft(c),
            "irfft_odd": tf.signal.irfft(c, [7]),
            "rfft2d": tf.math.abs(tf.signal.rfft2d(x)),
            "irfft2d": tf.signal.irfft2d(tf.signal.rfft2d(x)),
            "fft3d": tf.math.real(tf.signal.ifft3d(tf.signal.fft3d(tf.cast(x[None], tf.complex64)) * 2.0)),
        }

    graph_case(folder, build, {"x": numbers(3, 4, 6), "z": numbers(3, 5, 2, seed=1)})


@case
def detection(folder):
    rng = np.random.default_rng(5)
    low = rng.uniform(0, 0.6, (12, 2))
    boxes = np.concatenate([low, low + rng.uniform(0.1, 0.5, (12, 2))], 1).astype(np.float32)

    def build(image, boxes, scores):
        best = tf.raw_ops.NonMaxSuppressionV5(
            boxes=boxes, scores=scores[:, 0], max_output_size=5, iou_threshold=0.3, score_threshold=0.1,
            soft_nms_sigma=0.0, pad_to_max_output_size=True)
        v4 = tf.raw_ops.NonMaxSuppressionV4(
            boxes=boxes, scores=scores[:, 1], max_output_size=4, iou_threshold=0.5, score_threshold=0.2)
        combined = tf.image.combined_non_max_suppression(
            boxes[None, :, None], scores[None], 4, 9, iou_threshold=0.4, score_threshold=0.3)
        padded = tf.image.combined_non_max_suppression(
            tf.stack([boxes[:, None]] * 2) * 1.3, tf.stack([scores, scores[::-1]]), 2, 20, pad_per_class=True,
            clip_boxes=False)
        return {
            "places": best[0], "scores": best[1], "count": best[2], "v4": v4[0], "v4_count": v4[1],
            "boxes": combined[0], "best": combined[1], "classes": combined[2], "valid": combined[3],
            "more_boxes": padded[0], "more_scores": padded[1], "more_classes": padded[2], "more_valid": padded[3],
            "crops": tf.image.crop_and_resize(image, boxes * 1.2 - 0.1, tf.constant([0, 1] * 6), [3, 4], extrapolation_value=-1.0),
            "nearest": tf.image.crop_and_resize(image, boxes, tf.constant([1] * 12), [1, 5], method="nearest"),
        }

    scores = rng.uniform(0, 1, (12, 3)).astype(np.float32)
    graph_case(folder, build, {"image": numbers(2, 6, 7, 3), "boxes": boxes, "scores": scores})


@case
def ragged(folder):
    def build(values, rows):
        r = tf.RaggedTensor.from_row_splits(values, [0, 3, 3, 7])
        by_row = tf.RaggedTensor.from_value_rowids(values, rows, nrows=5, validate=False)
        return {
            "dense": r.to_tensor(-1.0),
            "cut": r.to_tensor(0.0, shape=[None, 2]),
            "wide": r.to_tensor(0.0, shape=[3, 6]),
            "rows": by_row.to_tensor(9.0),
        }

    graph_case(folder, build, {"values": numbers(7), "rows": np.array([0, 0, 1, 3, 3, 3, 4], np.int64)})


@case
def control_edges(folder):
    def build(x):
        check = v1.assert_less(x, 10.0, data=["x is too large"])
        with tf.control_dependencies([check, tf.no_op()]):
            y = tf.identity(x) * 2.0
        return {"checked": y}

    graph_case(folder, build, {"x": numbers(3)})


@case
def strings(folder):
    def build(text):
        return {
            "lower": tf.strings.lower(text),
            "joined": tf.strings.join([text, tf.constant("!")], "-"),
            "replaced": tf.strings.regex_replace(text, "[aeiou]+", "<\\0>"),
            "matched": tf.strings.regex_full_match(text, ".*o.*"),
            "length": tf.strings.length(text),
            "stripped": tf.strings.strip(text),
            "part": tf.strings.substr(text, 0, 2),
        }

    graph_case(folder, build, {"text": np.array(["Hello world ", " Good day", "ab"], object)})


# Functional control flow.


@case
def conditional(folder):
    @tf.function
    def f(x):
        if tf.reduce_sum(x) > 0.0:
            y = x * 2.0
            if x[0] > 0.5:
                y += 1.0
        else:
            y = x - 1.0
        return y

    frozen_case(folder, f, {"x": numbers(4, low=0.0)})


@case
def loop(folder):
    @tf.function
    def f(x, n):
        i, total = tf.constant(0), tf.zeros_like(x)
        while i < n:
            total = total * 0.9 + x * tf.cast(i, tf.float32)
            i += 1
        return total

    frozen_case(folder, f, {"x": numbers(3), "n": np.array(17, np.int32)})


@case
def nested_loops(folder):
    @tf.function
    def f(x, n):
        for i in tf.range(n):
            j = 0
            while j < i:
                if tf.reduce_max(tf.abs(x)) > 4.0:
                    x = x / 2.0
                else:
                    x = x * 1.5 + tf.cast(j, tf.float32)
                j += 1
        return x

    frozen_case(folder, f, {"x": numbers(3), "n": np.array(6, np.int32)})


@case
def growing_loop(folder):
    @tf.function
    def f(x, n):
        y = x
        i = tf.constant(0)
        y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, tf.concat([y, x * 2.0], 0)), (i, y),
                          shape_invariants=(i.shape, tf.TensorShape([None, 2])))[1]
        return y

    frozen_case(folder, f, {"x": numbers(1, 2), "n": np.array(4, np.int32)})


@case
def tensor_lists(folder):
    @tf.function
    def f(x):
        array = tf.TensorArray(tf.float32, tf.shape(x)[0])
        for i in tf.range(tf.shape(x)[0]):
            array = array.write(i, tf.reduce_sum(x[i]) * x[i])
        other = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[])
        for i in tf.range(3):
            other = other.write(i, tf.cast(i, tf.float32) ** 2.0)
        return array.stack(), other.stack(), tf.map_fn(lambda row: tf.sort(row)[0], x)

    frozen_case(folder, f, {"x": numbers(5, 3)})


@case
def calls(folder):
    @tf.function
    def inner(x, y):
        return x * y, x - y

    @tf.function
    def f(x):
        a, b = inner(x, x + 1.0)
        c, d = inner(a, b)
        return c + d

    @tf.function
    def g(x):
        return f(x), f(x * 2.0)

    frozen_case(folder, g, {"x": numbers(3)})


# SavedModels.


class Counter(tf.Module):
    def __init__(self):
        self.count = tf.Variable(3.0)
        self.scale = tf.Variable([1.0, 2.0, 3.0])

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, "x")])
    def step(self, x):
        before = self.count.read_value()
        self.count.assign_add(tf.reduce_sum(x))
        if self.count > 3.0:
            self.scale.assign(self.scale * 2.0)
        for _ in tf.range(3):
            self.count.assign_add(1.0)
        return {"before": before, "after": self.count.read_value(), "scaled": x * self.scale}


@case
def saved_state(folder):
    module = Counter()
    saved_case(folder, module, module.step, {"x": numbers(2, 3, low=0.0)})


@case
def saved_signature(folder):
    module = Counter()
    saved_case(folder, module, module.step, {"x": numbers(2, 3, high=0.0)}, signature="step")


@case
def saved_types(folder):
    class Types(tf.Module):
        def __init__(self):
            self.values = [tf.Variable(np.array([3, 1, 2], kind)) for kind in ("i4", "i8", "f8", "u1", "f2", "?")]
            self.text = tf.Variable(["ä", "b"])

        @tf.function(input_signature=[tf.TensorSpec([3], tf.float32, "x")])
        def f(self, x):
            sums = [tf.cast(value, tf.float32) * x for value in self.values]
            return {"sums": tf.stack(sums), "text": tf.strings.join([self.text, self.text])}

    module = Types()
    saved_case(folder, module, module.f, {"x": numbers(3)})


@case
def saved_table(folder):
    class Tables(tf.Module):
        def __init__(self, file):
            self.words = tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer(["a", "b", "c"], tf.constant([10, 20, 30], tf.int64)), -1)
            self.names = tf.lookup.StaticHashTable(
                tf.lookup.TextFileInitializer(file, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER,
                                              tf.string, tf.lookup.TextFileIndex.WHOLE_LINE), "?")

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "text")])
        def f(self, text):
            ids = self.words.lookup(tf.strings.lower(text))
            return {"ids": ids, "names": self.names.lookup(ids // 10)}

    file = os.path.join(folder, "names.txt")
    with open(file, "w") as out:
        out.write("zero\none\ntwo\n")
    module = Tables(file)
    saved_case(folder, module, module.f, {"text": np.array(["A", "b", "C", "d"], object)})
    os.remove(file)


@case
def saved_preprocessing(folder):
    class Words(tf.Module):
        def __init__(self):
            vocabulary = ["the", "quick", "brown", "fox", "dog"]
            self.table = tf.lookup.StaticVocabularyTable(
                tf.lookup.KeyValueTensorInitializer(vocabulary, tf.range(5, dtype=tf.int64)), 1) if False else \
                tf.lookup.StaticHashTable(
                    tf.lookup.KeyValueTensorInitializer(vocabulary, tf.range(5, dtype=tf.int64)), 5)
            self.embedding = tf.Variable(numbers(6, 4))

        @tf.function(input_signature=[tf.TensorSpec([], tf.string, "text")])
        def f(self, text):
            clean = tf.strings.regex_replace(tf.strings.lower(text), r"[^a-z ]", "")
            words = tf.strings.split(clean[tf.newaxis]).values
            ids = self.table.lookup(words)
            return {"words": words, "ids": ids, "mean": tf.reduce_mean(tf.gather(self.embedding, ids), 0)}

    module = Words()
    saved_case(folder, module, module.f, {"text": np.array("The quick, brown FOX jumps!", object)})


@case
def saved_first_version(folder):
    path = os.path.join(folder, "saved_model")
    x_value = numbers(2, 3)
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None, 3], "x")
        w = v1.get_variable("w", initializer=numbers(3, 4, seed=1), use_resource=False)
        b = v1.get_variable("b", initializer=numbers(4, seed=2), use_resource=True)
        y = tf.nn.softmax(tf.matmul(x, w) + b)
        table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(tf.range(4, dtype=tf.int64), ["a", "b", "c", "d"]), "?")
        names = table.lookup(tf.argmax(y, 1))
        with v1.Session() as session:
            session.run([v1.global_variables_initializer(), v1.tables_initializer()])
            values = session.run({"scores": y, "names": names}, {x: x_value})
            v1.saved_model.simple_save(session, path, {"x": x}, {"scores": y, "names": names},
                                       legacy_init_op=v1.tables_initializer())
    describe(folder, "saved_model", {"x": x_value}, values)


# Control flow of the first version.


@case
def first_cond(folder):
    def build(x, y):
        total = tf.reduce_sum(x)
        w = tf.constant(numbers(3, 2, seed=9))
        return {
            "scaled": v1.cond(total > 0.0, lambda: tf.matmul(x, w), lambda: tf.matmul(x, w) * y),
            "constant": v1.cond(total > 100.0, lambda: tf.constant(1.0), lambda: tf.constant(2.0)),
            "mixed": v1.cond(total < 0.0, lambda: x, lambda: tf.zeros_like(x)),
            "pair": v1.cond(tf.reduce_sum(y) > 0.0, lambda: (y, tf.constant(1)), lambda: (-y, tf.constant(2)))[1],
        }

    first_case(folder, build, {"x": numbers(2, 3), "y": numbers(1, seed=1)}, text=True)


@case
def first_nested_cond(folder):
    def build(x):
        def inner():
            return v1.cond(x[1] > 0.0, lambda: x * 2.0, lambda: x - 3.0)

        y = v1.cond(x[0] > 0.0, inner, lambda: v1.cond(x[2] > 0.0, lambda: -x, lambda: tf.abs(x)))
        return {"y": y + 1.0, "case": v1.case([(x[0] > 5.0, lambda: x), (x[1] > -5.0, lambda: x * 3.0)], lambda: x * 5.0)}

    first_case(folder, build, {"x": numbers(4, seed=2)})


@case
def first_while(folder):
    def build(x, n):
        w = tf.constant(numbers(3, 3, seed=4))
        i, y, _ = v1.while_loop(
            lambda i, y, k: i < n, lambda i, y, k: (i + 1, tf.tanh(tf.matmul(y, w)) + k, k), [0, x, tf.constant(0.5)],
            parallel_iterations=1)
        return {"i": i, "y": y}

    first_case(folder, build, {"x": numbers(2, 3), "n": np.int32(7)}, text=True)


@case
def first_nested_loops(folder):
    def build(n):
        def inner(i, total):
            _, total = v1.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + i * j), [0, total])
            return i + 1, total

        return {"total": v1.while_loop(lambda i, t: i < n, inner, [0, 0])[1]}

    first_case(folder, build, {"n": np.int32(9)})


@case
def first_while_in_cond(folder):
    def build(x, n):
        def loop():
            return v1.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * 1.5 + x), [0, x])[1]

        return {"y": v1.cond(x[0] > 0.0, loop, lambda: x), "z": v1.cond(x[0] < 0.0, loop, lambda: x)}

    first_case(folder, build, {"x": numbers(3, seed=3), "n": np.int32(4)})


@case
def first_cond_in_while(folder):
    def build(n):
        def body(i, x):
            y = v1.cond(tf.equal(x % 2, 0), lambda: x // 2, lambda: 3 * x + 1)
            return i + 1, y

        i, x = v1.while_loop(lambda i, x: x > 1, body, [0, n])
        return {"steps": i, "x": x}

    first_case(folder, build, {"n": np.int32(27)})


@case
def first_growing(folder):
    def build(x):
        y = v1.while_loop(
            lambda y: tf.shape(y)[0] < 10, lambda y: [tf.concat([y, y * 2.0], 0)], [x],
            shape_invariants=[tf.TensorShape([None, 2])])
        y = y[0] if isinstance(y, (list, tuple)) else y
        return {"y": y, "size": tf.shape(y)}

    first_case(folder, build, {"x": numbers(1, 2)})


@case
def first_arrays(folder):
    def build(x):
        squares = v1.map_fn(lambda row: tf.reduce_sum(row * row), x)
        sums = tf.compat.v1.scan(lambda total, row: total + row, x)
        array = tf.TensorArray(tf.float32, size=0, dynamic_size=True, clear_after_read=False)
        _, array = v1.while_loop(
            lambda i, a: i < 5, lambda i, a: (i + 1, a.write(i, tf.cast(i, tf.float32) * x[0])), [0, array])
        return {"squares": squares, "sums": sums, "stack": array.stack(), "size": array.size(), "third": array.read(3)}

    first_case(folder, build, {"x": numbers(4, 3)})


@case
def first_rnn(folder):
    def build(x):
        w, u = tf.constant(numbers(3, 5, seed=1)), tf.constant(numbers(5, 5, seed=2))
        steps = tf.transpose(x, [1, 0, 2])
        array = tf.TensorArray(tf.float32, size=tf.shape(steps)[0]).unstack(steps)
        output = tf.TensorArray(tf.float32, size=tf.shape(steps)[0])

        def step(t, state, output):
            state = tf.tanh(tf.matmul(array.read(t), w) + tf.matmul(state, u))
            return t + 1, state, output.write(t, state)

        state = tf.zeros([tf.shape(x)[0], 5])
        _, state, output = v1.while_loop(lambda t, s, o: t < tf.shape(steps)[0], step, [0, state, output])
        return {"state": state, "all": tf.transpose(output.stack(), [1, 0, 2])}

    first_case(folder, build, {"x": numbers(2, 6, 3)})


@case
def first_guard(folder):
    def build(x):
        with tf.control_dependencies([v1.assert_positive(tf.reduce_sum(x * x))]):
            y = x + 1.0
        switched = v1.cond(tf.equal(tf.size(x), 3), lambda: x * 3.0, lambda: y)
        return {"y": y, "switched": switched}

    first_case(folder, build, {"x": numbers(3)})


@case
def first_raw(folder):
    """Nodes as no library makes them: a Merge whose index is used, which has no functional form in a loop."""

    def build(x):
        false, true = tf.raw_ops.Switch(data=x, pred=tf.reduce_sum(x) > 0.0)
        merged, index = tf.raw_ops.Merge(inputs=[false * 2.0, true * 3.0])
        return {"merged": merged, "index": index}

    first_case(folder, build, {"x": numbers(3)})


@case
def first_variables(folder):
    path = os.path.join(folder, "saved_model")
    x_value, n_value = numbers(2, 3), np.int32(3)
    v1.disable_control_flow_v2()
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None, 3], "x")
        n = v1.placeholder(tf.int32, [], "n")
        w = v1.get_variable("w", initializer=numbers(3, 3, seed=1), use_resource=False)
        b = v1.get_variable("b", initializer=numbers(3, seed=2), use_resource=True)
        y = v1.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, tf.matmul(y, w) + b), [0, x])[1]
        y = v1.cond(n > 2, lambda: y + b, lambda: tf.matmul(y, w))
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            values = session.run({"y": y}, {x: x_value, n: n_value})
            v1.saved_model.simple_save(session, path, {"x": x, "n": n}, {"y": y})
    v1.enable_control_flow_v2()
    describe(folder, "saved_model", {"x": x_value, "n": n_value}, values, direct="too")


@case
def lowered_loop(folder):
    @tf.function
    def f(x, n):
        y = x
        for i in tf.range(n):
            if tf.reduce_sum(y) > 1.0:
                y = y * 0.5
            else:
                y = y + tf.cast(i, tf.float32)
        return y

    frozen_case(folder, f, {"x": numbers(3), "n": np.int32(6)}, lower=True, direct="too")


@case
def lowered_lstm(folder):
    layers = seeded()
    model = tf.keras.Sequential([layers.LSTM(6, return_sequences=True), layers.LSTM(4)])
    frozen_case(folder, model, {"x": numbers(2, 7, 3)}, lower=True, direct="too")


class Training(tf.Module):
    def __init__(self, optimizer):
        self.w = tf.Variable(numbers(4, 3))
        self.b = tf.Variable(tf.zeros([3]))
        optimizer.build([self.w, self.b])
        # The optimizer itself would be saved by copies of its variables, which the step does not use.
        self.optimizer = lambda: optimizer
        self.state = [variable._value for variable in optimizer.variables]

    @tf.function(input_signature=[tf.TensorSpec([8, 4], tf.float32, "x"), tf.TensorSpec([8], tf.int32, "labels")])
    def step(self, x, labels):
        for _ in range(3):
            with tf.GradientTape() as tape:
                logits = tf.nn.relu(tf.matmul(x, self.w)) + self.b
                loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
            variables = [self.w, self.b]
            self.optimizer().apply(tape.gradient(loss, variables), variables)
        return {"loss": loss, "w": self.w.read_value(), "b": self.b.read_value()}


def training_case(folder, optimizer):
    module = Training(optimizer)
    labels = np.random.default_rng(3).integers(0, 3, 8).astype(np.int32)
    saved_case(folder, module, module.step, {"x": numbers(8, 4, seed=5), "labels": labels})


@case
def train_sgd(folder):
    training_case(folder, tf.keras.optimizers.SGD(0.1))


@case
def train_momentum(folder):
    training_case(folder, tf.keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True))


@case
def train_adam(folder):
    training_case(folder, tf.keras.optimizers.Adam(0.01))


@case
def train_rms_prop(folder):
    training_case(folder, tf.keras.optimizers.RMSprop(0.01))


@case
def raw_optimizers(folder):
    class Raw(tf.Module):
        def __init__(self):
            self.v = [tf.Variable(numbers(5, seed=seed)) for seed in range(12)]
            for slot in (2, 4, 6, 8, 10, 11):
                self.v[slot].assign(tf.abs(self.v[slot]))

        @tf.function(input_signature=[tf.TensorSpec([5], tf.float32, "g")])
        def step(self, g):
            raw, v = tf.raw_ops, [v.handle for v in self.v]
            raw.ResourceApplyGradientDescent(var=v[0], alpha=0.1, delta=g)
            raw.ResourceApplyMomentum(var=v[1], accum=v[2], lr=0.1, grad=g, momentum=0.9, use_nesterov=True)
            raw.ResourceApplyKerasMomentum(var=v[3], accum=v[4], lr=0.1, grad=g, momentum=0.9, use_nesterov=True)
            raw.ResourceApplyAdam(var=v[5], m=v[7], v=v[6], beta1_power=0.9, beta2_power=0.999, lr=0.01, beta1=0.9,
                                  beta2=0.999, epsilon=1e-7, grad=g)
            raw.ResourceApplyRMSProp(var=v[9], ms=v[8], mom=v[10], lr=0.01, rho=0.9, momentum=0.5, epsilon=1e-7, grad=g)
            raw.ResourceApplyAdagradV2(var=v[0], accum=v[11], lr=0.1, epsilon=1e-7, grad=g)
            self.v[1].scatter_add(tf.IndexedSlices(g[:2], [4, 0]))
            return {f"v{index}": variable.read_value() for index, variable in enumerate(self.v)}

    module = Raw()
    saved_case(folder, module, module.step, {"g": numbers(5, seed=20)})


# Keras networks.


@case
def keras_mlp(folder):
    layers = seeded()
    model = tf.keras.Sequential([layers.Input([8]), layers.Dense(16, "relu"), layers.Dropout(0.5), layers.Dense(4, "softmax")])
    frozen_case(folder, model, {"x": numbers(3, 8)})


@case
def keras_mlp_saved(folder):
    layers = seeded()
    model = tf.keras.Sequential([layers.Input([8]), layers.Dense(16, "relu"), layers.Dense(4, "softmax")])
    keras_saved_case(folder, model, numbers(3, 8))


@case
def keras_cnn(folder):
    layers = seeded()
    model = tf.keras.Sequential([
        layers.Input([16, 16, 3]), layers.Conv2D(8, 3, padding="same", activation="relu"), layers.BatchNormalization(),
        layers.MaxPooling2D(), layers.DepthwiseConv2D(3), layers.ReLU(6.0), layers.SeparableConv2D(8, 3),
        layers.GlobalAveragePooling2D(), layers.Dense(5),
    ])
    frozen_case(folder, model, {"x": numbers(2, 16, 16, 3)})


@case
def keras_conv1d(folder):
    layers = seeded()
    model = tf.keras.Sequential([
        layers.Input([20, 4]), layers.Conv1D(8, 3, padding="causal", activation="tanh"), layers.MaxPooling1D(2),
        layers.Conv1DTranspose(4, 3, strides=2), layers.UpSampling1D(2), layers.GlobalMaxPooling1D(),
    ])
    keras_saved_case(folder, model, numbers(2, 20, 4))


@case
def keras_upsampling(folder):
    layers = seeded()
    model = tf.keras.Sequential([
        layers.Input([6, 6, 3]), layers.Conv2DTranspose(4, 3, strides=2, padding="same"), layers.UpSampling2D(2, interpolation="bilinear"),
        layers.ZeroPadding2D(1), layers.Cropping2D(2), layers.AveragePooling2D(2), layers.LayerNormalization(), layers.PReLU(),
    ])
    frozen_case(folder, model, {"x": numbers(1, 6, 6, 3)})


@case
def keras_lstm(folder):
    layers = seeded()
    model = tf.keras.Sequential([layers.Input([7, 5]), layers.LSTM(6, return_sequences=True), layers.LSTM(4), layers.Dense(2)])
    frozen_case(folder, model, {"x": numbers(3, 7, 5)})


@case
def keras_lstm_saved(folder):
    layers = seeded()
    model = tf.keras.Sequential([layers.Input([None, 5]), layers.Bidirectional(layers.LSTM(6)), layers.Dense(2)])
    keras_saved_case(folder, model, numbers(3, 7, 5))


@case
def keras_gru(folder):
    layers = seeded()
    model = tf.keras.Sequential([layers.Input([7, 5]), layers.GRU(6, return_sequences=True), layers.SimpleRNN(3)])
    keras_saved_case(folder, model, numbers(3, 7, 5))


@case
def keras_embedding(folder):
    layers = seeded()
    model = tf.keras.Sequential([
        layers.Input([6], dtype="int32"), layers.Embedding(20, 8, mask_zero=True), layers.LSTM(5), layers.Dense(1, "sigmoid"),
    ])
    x = np.random.default_rng(0).integers(0, 20, [4, 6]).astype(np.int32)
    x[:, 4:] = 0
    frozen_case(folder, model, {"x": x})


def transformer(layers):
    x = tokens = layers.Input([12], dtype="int32")
    x = layers.Embedding(50, 16)(x)
    for _ in range(2):
        y = layers.MultiHeadAttention(4, 4)(x, x, use_causal_mask=True)
        x = layers.LayerNormalization()(x + y)
        y = layers.Dense(16)(layers.Dense(32, "gelu")(x))
        x = layers.LayerNormalization()(x + y)
    return tf.keras.Model(tokens, layers.Dense(50)(x))


@case
def keras_transformer(folder):
    model = transformer(seeded())
    frozen_case(folder, model, {"x": np.random.default_rng(0).integers(0, 50, [2, 12]).astype(np.int32)})


@case
def keras_transformer_saved(folder):
    model = transformer(seeded())
    keras_saved_case(folder, model, np.random.default_rng(0).integers(0, 50, [2, 12]).astype(np.int32))


def picture(side):
    """The picture of the tests as Keras's ResNet-50 takes it."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../images/shapes.jpg")
    pixels = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    pixels = tf.image.resize(tf.cast(pixels[tf.newaxis], tf.float32), [side, side])
    return tf.keras.applications.resnet50.preprocess_input(pixels.numpy()).astype(np.float32)


def application(folder, make, side, saved, x=None):
    seeded()
    model = make(weights=None, input_shape=(side, side, 3), classes=100)
    # Statistics of a real network differ from those of a new one.
    generator = np.random.default_rng(5)
    for layer in model.layers:
        if isinstance(layer, tf.keras.layers.BatchNormalization):
            gamma, beta, mean, variance = layer.get_weights()
            layer.set_weights([
                generator.uniform(0.5, 1.0, gamma.shape), generator.uniform(-0.1, 0.1, beta.shape),
                generator.uniform(-0.1, 0.1, mean.shape), generator.uniform(0.5, 1.5, variance.shape),
            ])
    x = numbers(1, side, side, 3) if x is None else x
    if saved:
        keras_saved_case(folder, model, x)
    else:
        frozen_case(folder, model, {"x": x})


@case
def keras_resnet50_saved(folder):
    application(folder, tf.keras.applications.ResNet50, 224, True, picture(224))


@case
def keras_mobilenet_v2(folder):
    application(folder, tf.keras.applications.MobileNetV2, 96, False)


@case
def keras_mobilenet_v3_saved(folder):
    application(folder, tf.keras.applications.MobileNetV3Small, 96, True)


@case
def keras_efficientnet(folder):
    application(folder, tf.keras.applications.EfficientNetB0, 64, False)


@case
def keras_densenet(folder):
    application(folder, tf.keras.applications.DenseNet121, 64, False)


@case
def keras_efficientnet_v2(folder):
    application(folder, tf.keras.applications.EfficientNetV2B0, 64, True)


@case
def keras_convnext(folder):
    application(folder, tf.keras.applications.ConvNeXtTiny, 64, True)


@case
def keras_bidirectional(folder):
    layers = seeded()
    inputs = tf.keras.Input((9, 3))
    x = layers.Bidirectional(layers.LSTM(5, return_sequences=True))(inputs)
    x = layers.Bidirectional(layers.GRU(4), merge_mode="sum")(x)
    keras_saved_case(folder, tf.keras.Model(inputs, layers.Dense(2)(x)), numbers(2, 9, 3))


@case
def keras_masked(folder):
    """Tokens of which some are filling: a mask that embeddings, recurrent layers and attention take."""
    layers = seeded()
    inputs = tf.keras.Input((8,), dtype="int32")
    x = layers.Embedding(20, 6, mask_zero=True)(inputs)
    y = layers.MultiHeadAttention(2, 4)(x, x)
    x = layers.LayerNormalization()(layers.Add()([x, y]))
    x = layers.LSTM(4)(x)
    tokens = np.array([[3, 5, 7, 9, 0, 0, 0, 0], [1, 2, 3, 4, 5, 6, 7, 8]], np.int32)
    keras_saved_case(folder, tf.keras.Model(inputs, layers.Dense(3, activation="softmax")(x)), tokens)


@case
def keras_text(folder):
    layers = seeded()
    text = layers.TextVectorization(max_tokens=50, output_sequence_length=6)
    text.adapt(["the quick brown fox", "jumps over the lazy dog", "a dog and a fox"])

    class Model(tf.Module):
        def __init__(self):
            self.text = text
            self.embedding = tf.Variable(numbers(50, 4))

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "text")])
        def serve(self, text):
            tokens = self.text(text)
            return {"tokens": tokens, "mean": tf.reduce_mean(tf.gather(self.embedding, tokens), 1)}

    module = Model()
    words = np.array(["The quick, brown dog!", "", "unknown words and a fox over the lazy moon"], object)
    saved_case(folder, module, module.serve, {"text": words})


def main():
    root, names = sys.argv[1], sys.argv[2:]
    wanted = [name for name in CASES if not names or any(part in name for part in names)]
    failed = []
    for name in wanted:
        folder = os.path.join(root, name)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        try:
            CASES[name](folder)
        except Exception as error:  # One case that TensorFlow refuses should not hide the others.
            failed.append(f"{name}: {type(error).__name__}: {error}")
            shutil.rmtree(folder, ignore_errors=True)
        tf.keras.backend.clear_session()
    print(f"made {len(wanted) - len(failed)} of {len(wanted)} cases in {root}")
    for line in failed:
        print(line, file=sys.stderr)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
