"""Mathematics: linear algebra, special functions, signals, segments, and gradients of them."""

from .support import *


@case
def matrices(folder):
    @tf.function
    def f(x, b):
        s = tf.matmul(x, x, transpose_b=True) + 3.0 * tf.eye(4)
        lu, p = tf.linalg.lu(s)
        sign, log = tf.linalg.slogdet(s)
        return {
            "inverse": tf.linalg.inv(s), "determinant": tf.linalg.det(s), "sign": sign, "log": log, "cholesky": tf.linalg.cholesky(s),
            "solved": tf.linalg.solve(s, b), "adjoint": tf.linalg.solve(s, b, adjoint=True), "triangular": tf.linalg.triangular_solve(tf.linalg.cholesky(s), b),
            "by_cholesky": tf.linalg.cholesky_solve(tf.linalg.cholesky(s), b), "values": tf.linalg.eigvalsh(s), "singular": tf.linalg.svd(x, compute_uv=False),
            "least": tf.linalg.lstsq(s, b), "exponential": tf.linalg.expm(x * 0.3), "lu": lu, "p": p, "trace": tf.linalg.trace(s), "pinv": tf.linalg.pinv(s),
            "rank": tf.linalg.matrix_rank(s), "norm": tf.norm(x, "fro", [-2, -1]), "power": tf.linalg.matmul(s, s, adjoint_a=True), "logdet": tf.linalg.logdet(s),
            "diag": tf.linalg.tensor_diag(b[0, :, 0]), "diag_part": tf.linalg.tensor_diag_part(s[0]), "tridiagonal": tf.linalg.tridiagonal_solve(tf.stack([s[0, 0], s[0, 1] + 9.0, s[0, 2]]), b[0]),
        }

    frozen_case(folder, f, {"x": numbers(2, 4, 4), "b": numbers(2, 4, 2, seed=1)})


@case
def decompositions(folder):
    @tf.function
    def f(x):
        q, r = tf.linalg.qr(x)
        s, u, v = tf.linalg.svd(x)
        w, z = tf.linalg.eigh(tf.matmul(x, x, transpose_a=True))
        eye = tf.matmul(q, q, transpose_a=True)
        return {
            "again": tf.matmul(q, r), "eye": eye, "upper": tf.linalg.band_part(r, -1, 0) - tf.linalg.band_part(r, 0, 0), "s": s,
            "from": tf.matmul(u * s[..., None, :], v, transpose_b=True), "w": w, "vectors": tf.matmul(z * w[..., None, :], z, transpose_b=True),
            "square": tf.linalg.sqrtm(tf.matmul(x, x, transpose_a=True) + 2.0 * tf.eye(3)),
        }

    frozen_case(folder, f, {"x": numbers(2, 5, 3)})


@case
def special_functions(folder):
    @tf.function
    def f(x):
        p = tf.abs(x) + 0.3
        u = tf.clip_by_value(p / 3.0, 0.05, 0.95)
        m, s = tf.math, tf.math.special
        return {
            "digamma": m.digamma(p), "polygamma": m.polygamma(2.0, p), "zeta": m.zeta(p + 2.0, p), "igamma": m.igamma(p, p * 0.7), "igammac": m.igammac(p, p * 0.7),
            "betainc": m.betainc(p, p + 1.0, u), "erfinv": m.erfinv(x / 4.0), "ndtri": m.ndtri(u), "erfcinv": m.erfcinv(u), "lbeta": m.lbeta(p),
            "i0": m.bessel_i0(x), "i1": m.bessel_i1(x), "i0e": m.bessel_i0e(x), "i1e": m.bessel_i1e(x), "k0": s.bessel_k0(p), "k1e": s.bessel_k1e(p),
            "j0": s.bessel_j0(x), "j1": s.bessel_j1(x), "y0": s.bessel_y0(p), "y1": s.bessel_y1(p), "dawsn": s.dawsn(x), "expint": s.expint(p), "cosine": s.fresnel_cos(x),
            "sine": s.fresnel_sin(x), "spence": s.spence(p), "logs": m.cumulative_logsumexp(x, 1), "next": m.nextafter(x, p), "euclid": m.reduce_euclidean_norm(x, 0),
            "sobel": m.xlog1py(x, p), "divide": m.divide_no_nan(x, x * 0.0), "poly": m.polyval([1.0, x, 3.0], x), "variance": m.reduce_variance(x, 1), "zero": m.zero_fraction(x),
            "top": m.in_top_k([1, 0], tf.reshape(x, [2, 6]), 2), "soft": m.softplus(x), "sigmoid": m.log_sigmoid(x), "l2": m.l2_normalize(x, 1), "cumprod": m.cumprod(x, 0, reverse=True),
        }

    frozen_case(folder, f, {"x": numbers(3, 4, low=-2.0, high=2.0)})


@case
def integers(folder):
    @tf.function
    def f(x, y):
        b = tf.bitwise
        unique, places, counts = tf.unique_with_counts(y)
        rest, where = tf.sets.difference, v1.setdiff1d(y, [1, 4])
        parts = tf.dynamic_partition(x, tf.cast(y % 3, tf.int32), 3)
        return {
            "and": b.bitwise_and(x, y), "left": b.left_shift(x, y % 5), "right": b.right_shift(x, y % 5), "count": tf.raw_ops.PopulationCount(x=x), "unique": unique, "places": places,
            "counts": counts, "rest": where.out, "at": where.idx, "bins": tf.math.bincount(y, minlength=4), "histogram": tf.histogram_fixed_width(tf.cast(x, tf.float32), [0.0, 50.0], 6),
            "confusion": tf.math.confusion_matrix(y, y[::-1]), "part0": parts[0], "part2": parts[2], "stitched": tf.dynamic_stitch([[0, 2], [1, 3]], [x[:2], x[2:4]]), "searched": tf.searchsorted([1, 5, 9], y),
            "inverse": tf.math.invert_permutation([2, 0, 1]), "unravel": tf.unravel_index(y, [4, 3]), "mask": tf.sequence_mask(y), "grid": tf.meshgrid(x[:2], y[:3])[1], "floordiv": x // (y + 1), "mod": -x % (y + 1),
            "power": tf.pow(y, 3), "sorted": tf.sort(x, direction="DESCENDING"), "order": tf.argsort(x, stable=True), "segments": tf.math.segment_sum(x, [0, 0, 1, 1, 3, 3]), "mean": tf.math.segment_mean(tf.cast(x, tf.float32), [0, 0, 1, 1, 3, 3]),
            "largest": tf.math.unsorted_segment_max(x, [2, 0, 2, 1, 1, 0], 3), "means": tf.math.unsorted_segment_mean(tf.cast(x, tf.float32), [2, 0, 2, 1, 1, 0], 3), "cast": tf.cast(x * 100, tf.int8), "bits": tf.bitcast(x, tf.float32),
        }

    frozen_case(folder, f, {"x": np.array([13, 7, 42, 3, 3, 28], np.int32), "y": np.array([3, 1, 4, 1, 5, 0], np.int32)})


@case
def signals(folder):
    @tf.function
    def f(x):
        s = tf.signal
        spectrum = s.stft(x, 32, 16, 32)
        magnitude = tf.abs(spectrum)
        mel = tf.tensordot(magnitude, s.linear_to_mel_weight_matrix(10, 17, 8000, 50.0, 3500.0), 1)
        logs = tf.math.log(mel + 1e-3)
        return {
            "magnitude": magnitude, "back": s.inverse_stft(spectrum, 32, 16, 32, window_fn=s.inverse_stft_window_fn(16)), "mfcc": s.mfccs_from_log_mel_spectrograms(logs),
            "frames": s.frame(x, 20, 7, pad_end=True), "overlap": s.overlap_and_add(s.frame(x, 20, 10), 10), "dct": s.dct(x, norm="ortho"), "dct3": s.dct(x, type=3), "idct": s.idct(x, norm="ortho"),
            "hann": s.hann_window(16) * x[0, :16], "hamming": s.hamming_window(15), "kaiser": s.kaiser_window(9), "vorbis": s.vorbis_window(8), "shift": s.fftshift(x), "mdct": s.mdct(x, 16),
            "rfft": tf.math.real(s.rfft(x, [40])), "irfft": s.irfft(s.rfft(x)), "fft": tf.math.imag(s.fft(tf.cast(x, tf.complex64))), "phase": tf.math.angle(spectrum),
        }

    frozen_case(folder, f, {"x": numbers(2, 96)})


@case
def open_spectra(folder):
    @tf.function
    def f(x):
        s, half = tf.signal, tf.shape(x)[1] // 2
        return {
            "even": s.irfft(s.rfft(x)), "odd": s.irfft(s.rfft(x), [2 * half - 1]), "square": s.irfft2d(s.rfft2d(x)),
            "idct": s.idct(x), "dct": s.dct(x, norm="ortho"), "cut": s.irfft(s.rfft(x), [half]),
        }

    frozen_case(folder, f, {"x": numbers(2, 10)}, is_open=True)


@case
def gradients(folder):
    @tf.function
    def f(x, k, w):
        with tf.GradientTape() as tape:
            tape.watch([x, k, w])
            y = tf.nn.relu(tf.nn.conv2d(x, k, 1, "SAME"))
            y = tf.nn.max_pool2d(y, 2, 2, "SAME") + tf.nn.avg_pool2d(y, 2, 2, "SAME")
            y = tf.nn.elu(tf.matmul(tf.reshape(y, [2, -1]), w))
            y = tf.nn.softmax(y) * tf.nn.gelu(y) + tf.math.softplus(y) - tf.nn.selu(y) + tf.math.tanh(y) * tf.sigmoid(y)
            loss = tf.reduce_mean(tf.math.log1p(tf.abs(y))) + tf.reduce_sum(tf.gather(w, [0, 2])) + tf.nn.l2_loss(k) + tf.reduce_max(x) + tf.reduce_prod(y[0])
        return tape.gradient(loss, [x, k, w])

    frozen_case(folder, f, {"x": numbers(2, 4, 4, 2), "k": numbers(3, 3, 2, 3, seed=1), "w": numbers(12, 4, seed=2)})


@case
def more_gradients(folder):
    @tf.function
    def f(x, y):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, y])
            z = tf.linalg.matmul(x, y, transpose_b=True)
            a = tf.reduce_sum(tf.linalg.inv(z + 4.0 * tf.eye(3))) + tf.reduce_sum(tf.linalg.cholesky(tf.matmul(z, z, transpose_b=True) + tf.eye(3)))
            b = tf.reduce_sum(tf.math.erf(x) * tf.math.lgamma(tf.abs(y) + 1.0)) + tf.reduce_sum(tf.cumsum(x, 1) ** 2) + tf.reduce_sum(tf.sort(x, 1) * y)
            c = tf.reduce_sum(tf.concat([x, y], 0)[1:4] ** 3) + tf.reduce_sum(tf.where(x > 0.0, x * y, tf.exp(y))) + tf.reduce_sum(tf.einsum("ij,kj->ik", x, y) ** 2)
            d = tf.reduce_logsumexp(x) + tf.reduce_sum(tf.math.unsorted_segment_sum(x, [0, 1, 0], 2) ** 2) + tf.reduce_sum(tf.tile(x, [2, 1])[3] * tf.pad(y, [[1, 1], [0, 0]])[2])
        return [tape.gradient(v, [x, y]) for v in (a, b, c, d)]

    frozen_case(folder, f, {"x": numbers(3, 4), "y": numbers(3, 4, seed=1)})


@case
def loop_gradients(folder):
    @tf.function
    def f(x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for i in tf.range(n):
                y = tf.tanh(y * 1.3 + tf.cast(i, tf.float32) * 0.1)
                if tf.reduce_sum(y) > 1.0:
                    y = y * y
            loss = tf.reduce_sum(y)
        return y, tape.gradient(loss, x)

    frozen_case(folder, f, {"x": numbers(4), "n": np.int32(5)})


@case
def jacobians(folder):
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sin(x) * tf.reduce_sum(x)
        return tape.jacobian(y, x), tf.vectorized_map(lambda row: tf.reduce_sum(row) * row, tf.reshape(x, [2, 2]))

    frozen_case(folder, f, {"x": numbers(4)})


@case
def quantization(folder):
    @tf.function
    def f(x):
        q = tf.quantization
        y, low, high = q.quantize(x, -1.0, 1.0, tf.quint8)
        return {
            "fake": q.fake_quant_with_min_max_args(x, -0.5, 0.7), "vars": q.fake_quant_with_min_max_vars(x, -0.4, 0.9, narrow_range=True),
            "channels": q.fake_quant_with_min_max_vars_per_channel(x, [-0.1, -0.5, -0.9, -1.0], [0.3, 0.5, 0.7, 1.0]), "both": q.quantize_and_dequantize_v2(x, -1.0, 1.0, range_given=True),
            "again": q.quantize_and_dequantize_v2(x, 0.0, 0.0), "dequantized": q.dequantize(y, low, high), "bits": tf.cast(tf.bitcast(y, tf.uint8), tf.int32),
        }

    frozen_case(folder, f, {"x": numbers(3, 4)})


@case
def losses(folder):
    @tf.function
    def f(x, y):
        k = tf.keras.losses
        p = tf.nn.softmax(y)
        return {
            "categorical": k.categorical_crossentropy(p, tf.nn.softmax(x)), "binary": k.binary_crossentropy(p, tf.sigmoid(x)), "huber": k.huber(y, x), "hinge": k.hinge(y, x), "cosine": k.cosine_similarity(y, x),
            "kl": k.kld(p, tf.nn.softmax(x)), "logcosh": k.logcosh(y, x), "poisson": k.poisson(p, tf.abs(x)), "sigmoid": tf.nn.sigmoid_cross_entropy_with_logits(p, x), "weighted": tf.nn.weighted_cross_entropy_with_logits(p, x, 2.0),
            "softmax": tf.nn.softmax_cross_entropy_with_logits(p, x), "sparse": tf.nn.sparse_softmax_cross_entropy_with_logits([1, 2, 0], x), "mse": k.mse(y, x), "mape": k.mape(y, x), "log_poisson": tf.nn.log_poisson_loss(p, x),
        }

    frozen_case(folder, f, {"x": numbers(3, 4), "y": numbers(3, 4, seed=1)})


@case
def bands_and_segments(folder):
    @tf.function
    def f(x, b, v, k):
        solve, raw = tf.linalg.banded_triangular_solve, tf.raw_ops
        bands = tf.abs(x[:, :3]) + 1.0
        made = {f"solved{lower}{adjoint}": solve(bands, b, lower, adjoint) for lower in (False, True) for adjoint in (False, True)}
        made["one_band"] = solve(bands[:, :1], b)
        hits = tf.nn.compute_accidental_hits(tf.constant([[1, 2], [5, 1]], tf.int64), tf.constant([1, 4, 3, 5], tf.int64), 2)
        made |= {f"hits{index}": value for index, value in enumerate(hits)}
        made["weights"] = tf.math.bincount(tf.cast(k, tf.int32), weights=tf.abs(k), minlength=5)
        made["volumes"] = tf.extract_volume_patches(v, [1, 2, 3, 2, 1], [1, 1, 2, 1, 1], "SAME")
        made["valid_volumes"] = tf.extract_volume_patches(v, [1, 2, 1, 2, 1], [1, 2, 1, 1, 1], "VALID")
        made["truth"] = tf.stack([raw.ToBool(input=x[0, 0, 0]), raw.ToBool(input=0), raw.ToBool(input=""), raw.ToBool(input="a"), raw.ToBool(input=x), raw.ToBool(input=tf.zeros([0]))])
        made["space"] = raw.SpaceToBatch(input=v[:, 0, :4, :2], paddings=[[0, 0], [1, 1]], block_size=2)
        made["bits"] = raw.QuantizeAndDequantizeV3(input=x, input_min=-0.8, input_max=0.9, num_bits=5)
        made["axis"] = raw.QuantizeAndDequantizeV3(input=x, input_min=-tf.range(1.0, 5.0) / 4.0, input_max=tf.range(1.0, 5.0) / 5.0, num_bits=8, axis=2)
        made["axis_found"] = raw.QuantizeAndDequantizeV2(input=x, input_min=tf.zeros([4]), input_max=tf.zeros([4]), axis=1)
        lists = raw.TensorListConcatLists(input_a=raw.TensorListFromTensor(tensor=b, element_shape=[4, 2]), input_b=raw.TensorListFromTensor(tensor=b * 2.0, element_shape=[4, 2]), element_dtype=tf.float32)
        made["lists"] = raw.TensorListStack(input_handle=lists, element_shape=[4, 2], element_dtype=tf.float32)
        return made

    values = {"x": numbers(2, 4, 4), "b": numbers(2, 4, 2, seed=1), "v": numbers(2, 3, 5, 4, 2, seed=2), "k": np.array([1, 3, 1, 0], np.float32)}
    frozen_case(folder, f, values)


# All in one case: TensorFlow gives the functions inside `ctc_loss` names that those of another graph have, too.
@case
def unaligned_losses(folder):
    @tf.function
    def f(scores):
        nn = tf.nn
        labels, lengths = tf.constant([[1, 2, 1], [3, 0, 0]]), tf.constant([3, 1])
        with tf.GradientTape() as tape:
            tape.watch(scores)
            loss = nn.ctc_loss(labels, scores, lengths, [6, 5], blank_index=0)
        blank = nn.ctc_loss(labels * 0, scores, [0, 0], [6, 5], blank_index=0)
        last = nn.ctc_loss(tf.constant([[1, 2, 2], [0, 3, 0]]), scores, [3, 2], [6, 4], blank_index=-1)
        return loss, tape.gradient(loss, scores), blank, last, nn.ctc_loss(labels, scores, lengths, [6, 5], blank_index=0, unique=nn.ctc_unique_labels(labels))

    frozen_case(folder, f, {"scores": numbers(6, 2, 5)})


@case
def complex_matrices(folder):
    @tf.function
    def f(re, im, b):
        x, right = tf.complex(re, im), tf.complex(b, -b)
        s = tf.matmul(x, x, adjoint_b=True) + tf.eye(4, dtype=tf.complex64)
        values, vectors = tf.linalg.eigh(s)
        u, v = tf.linalg.svd(x)[1:]
        q, r = tf.linalg.qr(x)
        return [
            tf.linalg.cholesky(s), tf.linalg.inv(s), tf.linalg.det(x), tf.linalg.solve(s, right), tf.linalg.triangular_solve(s, right, adjoint=True), values, tf.linalg.matmul(vectors * tf.cast(values, tf.complex64)[..., None, :], vectors, adjoint_b=True),
            tf.linalg.svd(x, compute_uv=False), tf.linalg.matmul(u, u, adjoint_a=True), tf.linalg.matmul(v, v, adjoint_b=True), tf.matmul(q, r), tf.abs(r), tf.linalg.sqrtm(s), tf.linalg.logm(s), tf.linalg.expm(x * 0.3),
            tf.linalg.lstsq(x[:, :, :2], right, fast=False), tf.norm(x, 2, [-2, -1]), *tf.linalg.slogdet(x), tf.math.reduce_euclidean_norm(x, -1),
        ]

    frozen_case(folder, f, {"re": numbers(2, 4, 4), "im": numbers(2, 4, 4, seed=1), "b": numbers(2, 4, 2, seed=2)})


@case
def general_eigenvalues(folder):
    @tf.function
    def f(x):
        values, vectors = tf.linalg.eig(x)
        again = tf.linalg.matmul(vectors * values[..., None, :], tf.linalg.inv(vectors))
        return tf.math.real(again), tf.sort(tf.abs(tf.linalg.eigvals(x))), tf.reduce_sum(tf.abs(vectors) ** 2, -2)

    frozen_case(folder, f, {"x": numbers(2, 5, 5)})


@case
def draws_by_rejection(folder):
    @tf.function
    def f(seed):
        gamma, poisson = tf.random.stateless_gamma, tf.random.stateless_poisson
        return gamma([20, 3], seed, [0.5, 1.0, 3.0], [1.0, 2.0, 3.0]), poisson([20, 3], seed, [0.5, 8.0, 30.0], tf.int64)

    frozen_case(folder, f, {"seed": np.array([3, 7], np.int32)})


@case
def added_dimensions(folder):
    """A volume of one picture, whose extents the gradient must know."""

    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.avg_pool3d(tf.nn.conv3d(x[:, tf.newaxis], tf.ones([1, 3, 3, 2, 2]), [1, 1, 2, 2, 1], "SAME"), [1, 2, 2], [1, 2, 2], "SAME")
            loss = tf.reduce_sum(tf.square(y))
        return tape.gradient(loss, x), x[..., -1, tf.newaxis, :1], x[0, ..., 1], y[..., tf.newaxis, 1]

    frozen_case(folder, f, {"x": numbers(2, 6, 6, 2)})
