"""Graphs of ops, as TensorFlow's first version writes them."""

from .support import *


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
def control_edges_of_inputs(folder):
    def build(x, y):
        with tf.control_dependencies([x, y]):
            factor = tf.constant(2.0)
        return {"scaled": x * factor}

    graph_case(folder, build, {"x": numbers(3), "y": numbers(2)}, text=True)


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


@case
def called_functions(folder):
    """Functions that others call by their names, and whose outputs they name."""
    from tensorflow.python.framework import function

    @function.Defun(tf.float32, tf.float32)
    def parts(a, b):
        return b * 2.0, a + b, a - 3.0

    @function.Defun(tf.float32, tf.float32)
    def whole(a, b):
        first, second, third = parts(a, b)
        return first - second, third

    def build(x, y):
        difference, rest = whole(x, y)
        return {"difference": difference, "rest": rest}

    graph_case(folder, build, {"x": numbers(3), "y": numbers(3, seed=1)}, text=True)


@case
def channels_first(folder):
    def build(x, bias):
        y = tf.nn.bias_add(x, bias, data_format="NCHW")
        rows = tf.nn.bias_add(x[:, :, 0], bias, data_format="NCHW")
        return {"y": y, "rows": rows, "gradient": tf.raw_ops.BiasAddGrad(out_backprop=y, data_format="NCHW")}

    graph_case(folder, build, {"x": numbers(2, 3, 4, 5), "bias": numbers(3, seed=1)}, text=True)
