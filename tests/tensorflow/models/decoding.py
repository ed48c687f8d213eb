"""Decoding of sequences, random draws, ragged rows, gradients of volumes, and rarer optimizers."""

from .support import *


@case
def greedy_paths(folder):
    @tf.function
    def f(scores):
        made = {}
        for merged in (False, True):
            (labels,), probability = tf.nn.ctc_greedy_decoder(scores, [6, 4, 0], merge_repeated=merged)
            made |= {f"labels{merged}": tf.sparse.to_dense(labels, -1), f"probability{merged}": probability}
        (labels,), _ = tf.nn.ctc_greedy_decoder(scores, [6, 4, 5], blank_index=0)
        return made | {"blank": labels.values, "shape": labels.dense_shape}

    frozen_case(folder, f, {"scores": numbers(6, 3, 5, low=-2.0, high=2.0)})


@case
def likeliest_paths(folder):
    @tf.function
    def f(scores, long):
        made = {}
        for width, merged in ((1, False), (4, True), (30, False)):
            paths = min(width, 3)
            r = tf.raw_ops.CTCBeamSearchDecoder(inputs=scores, sequence_length=[6, 4, 5], beam_width=width, top_paths=paths, merge_repeated=merged)
            for index in range(paths):
                labels = tf.SparseTensor(r.decoded_indices[index], r.decoded_values[index], r.decoded_shape[index])
                made |= {f"labels{width}_{index}": tf.sparse.to_dense(labels, -1), f"shape{width}_{index}": labels.dense_shape}
            made[f"probability{width}"] = r.log_probability
        (labels,), probability = tf.nn.ctc_beam_search_decoder(long, [40, 31], beam_width=20)
        return made | {"long": tf.sparse.to_dense(labels, -1), "long_probability": probability}

    frozen_case(folder, f, {"scores": numbers(6, 3, 5, low=-2.0, high=2.0), "long": numbers(40, 2, 9, seed=1, low=-3.0, high=3.0)})


@case
def drawn_numbers(folder):
    @tf.function
    def f(seed):
        r, e = tf.random, tf.random.experimental
        logits = tf.math.log([[0.2, 0.3, 0.5], [0.6, 0.2, 0.2]])
        return {
            "split": e.stateless_split(seed, 3), "folded": e.stateless_fold_in(seed, 7), "classes": r.stateless_categorical(logits, 6, seed),
            "classes32": r.stateless_categorical(logits, 3, seed, tf.int32), "shuffled": e.stateless_shuffle(tf.range(9), seed),
            "rows": e.stateless_shuffle(tf.reshape(tf.range(12), [6, 2]), seed), "all": r.stateless_uniform([3], seed, None, None, tf.int32),
            "wide": r.stateless_uniform([3], seed, None, None, tf.uint64), "seeded": r.shuffle(tf.range(7), seed=5),
        }

    frozen_case(folder, f, {"seed": np.array([3, 7], np.int32)})


@case
def kept_generator(folder):
    class Generator(tf.Module):
        def __init__(self):
            self.generator = tf.random.Generator.from_seed(42)

        @tf.function(input_signature=[tf.TensorSpec([2], tf.float32, "x")])
        def draw(self, x):
            g = self.generator
            return {"normal": g.normal([3]) + x[0], "uniform": g.uniform([2]), "integers": g.uniform([4], 0, 9, tf.int32), "truncated": g.truncated_normal([2])}

    module = Generator()
    path = os.path.join(folder, "saved_model")
    tf.saved_model.save(module, path, signatures=module.draw)
    x = numbers(2)
    # The loaded generator begins with the state that was saved.
    results = tf.saved_model.load(path).signatures["serving_default"](x=tf.constant(x))
    describe(folder, "saved_model", {"x": x}, {name: value.numpy() for name, value in results.items()})


@case
def nested_rows(folder):
    @tf.function
    def f(x):
        r = tf.RaggedTensor.from_nested_row_splits(x, [[0, 2, 3], [0, 2, 2, 5]])
        e = tf.RaggedTensor.from_row_lengths(tf.reshape(x, [5, 1]) * [1.0, 2.0], [3, 0, 2])
        return {
            "dense": r.to_tensor(), "default": r.to_tensor(-1.0, shape=[None, None, 4]), "fewer": r.to_tensor(-1.0, shape=[1, 2, 2]), "more": r.to_tensor(7.0, shape=[3, 2, 1]),
            "inner": e.to_tensor(), "filled": e.to_tensor(-2.0, shape=[4, 2, 2]), "sums": tf.reduce_sum(r, 2).to_tensor(), "merged": r.merge_dims(0, 1).to_tensor(),
            "taken": tf.gather(r, [1, 0]).to_tensor(),
        }

    frozen_case(folder, f, {"x": numbers(5)})


@case
def mapped_rows(folder):
    @tf.function
    def f(x):
        r = tf.RaggedTensor.from_row_lengths(x, [2, 3, 1])
        words = tf.strings.split(["a bb", "ccc"])
        return {"greatest": tf.map_fn(tf.reduce_max, r, fn_output_signature=tf.float32), "sum": tf.map_fn(lambda row: tf.reduce_sum(row * row), r, fn_output_signature=tf.float32),
                "joined": tf.map_fn(lambda row: tf.strings.reduce_join(row, separator="+"), words, fn_output_signature=tf.string)}

    frozen_case(folder, f, {"x": numbers(6)})


@case
def arrays_of_strings(folder):
    @tf.function
    def f(words, n):
        array = tf.TensorArray(tf.string, size=n)
        grown = tf.TensorArray(tf.string, size=0, dynamic_size=True, element_shape=[2])
        for i in tf.range(n):
            array = array.write(i, words[i % tf.size(words)])
            grown = grown.write(i, tf.stack([words[0], tf.strings.as_string(i)]))
        return {"joined": tf.strings.reduce_join(array.stack()), "stacked": grown.stack(), "taken": grown.gather([2, 0]), "again": tf.TensorArray(tf.string, size=2).unstack(words[:2]).read(1)}

    frozen_case(folder, f, {"words": np.array(["a", "bc", ""], object), "n": np.int32(5)})


@case
def volume_gradients(folder):
    @tf.function
    def f(v, w):
        n, made = tf.nn, {"transposed": tf.nn.conv3d_transpose(v, w, [1, 7, 8, 4, 3], [1, 2, 2, 1, 1], "SAME"),
                          "valid": tf.nn.conv3d_transpose(v, w, [1, 11, 5, 5, 3], [1, 3, 1, 1, 1], "VALID")}
        k = tf.transpose(w, [0, 1, 2, 4, 3])
        for padding in ("SAME", "VALID"):
            with tf.GradientTape(persistent=True) as tape:
                tape.watch([v, k])
                y = tf.reduce_sum(n.conv3d(v, k, [1, 2, 1, 2, 1], padding) ** 2)
                pooled = tf.reduce_sum(n.max_pool3d(v, 2, [1, 2, 1, 2, 1], padding) ** 2)
                mean = tf.reduce_sum(n.avg_pool3d(v, 3, 2, padding) ** 2)
            made |= {f"input{padding}": tape.gradient(y, v), f"filter{padding}": tape.gradient(y, k), f"max{padding}": tape.gradient(pooled, v), f"mean{padding}": tape.gradient(mean, v)}
        return made

    frozen_case(folder, f, {"v": numbers(1, 4, 4, 4, 2), "w": numbers(2, 2, 2, 3, 2, seed=1)})


@case
def mirrored_gradients(folder):
    @tf.function
    def f(x):
        made = []
        for mode in ("REFLECT", "SYMMETRIC"):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(tf.pad(x, [[1, 2], [2, 1]], mode) ** 3)
            made.append(tape.gradient(y, x))
        return made

    frozen_case(folder, f, {"x": numbers(3, 4)})


@case
def renamed_ops(folder):
    @tf.function
    def f(x, n):
        r = tf.raw_ops
        c = tf.complex(x, x[:, ::-1])
        return {
            "least": r.NthElement(input=x, n=1), "greatest": r.NthElement(input=x, n=n, reverse=True), "columns": r.UniqueV2(x=tf.stack([n, n, n + 1])[None], axis=[1])[0],
            "counts": r.UniqueWithCountsV2(x=tf.stack([n, n, n + 1]), axis=tf.zeros([0], tf.int32))[2], "words": tf.unique_with_counts(["b", "a", "b"])[0],
            "adjoint": tf.math.real(tf.linalg.adjoint(c)), "adjoint_imaginary": tf.math.imag(tf.linalg.adjoint(c)), "sum": tf.math.accumulate_n([x, x]), "near": r.ApproximateEqual(x=x, y=x + 1e-4, tolerance=1e-3),
            "updated": r.InplaceUpdate(x=x + 0.0, i=[2, 0], v=x[:2]),
            "slice": r.TensorStridedSliceUpdate(input=x, begin=[0, 1], end=[2, 3], strides=[1, 1], value=tf.ones([2, 2])), "rows": r.BatchToSpace(input=tf.reshape(x[:2], [8, 1, 1, 1])[:4], crops=[[0, 0], [0, 0]], block_size=2),
            "format": r.DataFormatVecPermute(x=[1, 2, 3, 4]), "dimension": r.DataFormatDimMap(x=[0, 1, -1]), "tridiagonal": tf.linalg.tridiagonal_matmul(tf.stack([x[0, :3], x[1, :3], x[2, :3]]), x[:, :2]),
            "spectrum": tf.math.abs(tf.signal.rfft3d(tf.reshape(x, [2, 3, 2]))), "back": tf.signal.irfft3d(tf.signal.rfft3d(tf.reshape(x, [2, 3, 2]))),
        }

    frozen_case(folder, f, {"x": numbers(3, 4), "n": np.int32(0)})


@case
def written_pictures(folder):
    @tf.function
    def f(x):
        io, bright = tf.io, tf.cast(x, tf.uint16) * 200
        batch = io.encode_png(tf.stack([x, 255 - x]))
        back = {"colors": io.decode_png(io.encode_png(x, compression=9)), "grey": io.decode_png(io.encode_png(x[..., :1], compression=0)), "clear": io.decode_png(io.encode_png(tf.concat([x, x[..., :1]], 2))),
                "deep": io.decode_png(io.encode_png(bright), dtype=tf.uint16), "second": io.decode_png(batch[1])}
        return back | {"count": tf.shape(batch)}

    frozen_case(folder, f, {"x": numbers(5, 7, 3, low=0, high=255).astype(np.uint8)})


@case
def ops_of_versions(folder):
    def build(x, boxes, scores):
        r = tf.raw_ops
        rows = tf.reshape(x, [4, 4])
        array = v1.TensorArray(tf.float32, 2, element_shape=[3, 2]).write(0, tf.reshape(x[0, :3, 0], [3, 1]) * [[1.0, 2.0]]).write(1, tf.ones([3, 2]))
        listed = r.TensorListScatter(tensor=rows, indices=[2, 0, 3, 1], element_shape=[4])
        return {
            "pooled": r.MaxPoolV2(input=tf.reshape(x, [1, 4, 4, 1]), ksize=[1, 2, 3, 1], strides=[1, 1, 2, 1], padding="SAME"), "boxes": r.NonMaxSuppression(boxes=boxes, scores=scores, max_output_size=4, iou_threshold=0.3),
            "added": r.ScatterNdNonAliasingAdd(input=rows, indices=[[1], [1], [3]], updates=rows[:3]), "product": r.SparseMatMul(a=rows, b=rows, transpose_a=True, a_is_sparse=True),
            "joined": array.concat(), "listed": r.TensorListStack(input_handle=listed, element_shape=[4], element_dtype=tf.float32),
        }

    low = numbers(6, 2, low=0.0)
    # Without control flow of the second version, arrays are those of the first one.
    v1.disable_control_flow_v2()
    try:
        graph_case(folder, build, {"x": numbers(1, 4, 4), "boxes": np.concatenate([low, low + 0.5], 1), "scores": numbers(6, seed=3, low=0.0)})
    finally:
        v1.enable_control_flow_v2()


@case
def removed_ops(folder):
    """Ops of old graphs, which this version of TensorFlow does not run. What took their place gives the results."""
    x, scale = numbers(2, 1, 3, 4), abs(numbers(4, seed=1)) + 0.1

    def build(x, scale):
        return {"normalized": tf.nn.batch_normalization(x, scale * 2.0, scale, scale * 3.0, scale, 1e-3), "top": tf.nn.top_k(x, 2)[0],
                "reversed": tf.reverse(x, [1, 3])}

    graph_case(folder, build, {"x": x, "scale": scale})
    path = os.path.join(folder, "graph.pb")
    old = v1.GraphDef()
    with tf.Graph().as_default() as graph:
        x, scale = v1.placeholder(tf.float32, [2, 1, 3, 4], "x"), v1.placeholder(tf.float32, [4], "scale")
        tf.identity(scale * 2.0, "mean"), tf.identity(scale * 3.0, "beta"), tf.constant([False, True, False, True], name="dims")
    old.CopyFrom(graph.as_graph_def())
    kind = v1.AttrValue(type=tf.float32.as_datatype_enum)
    add = lambda name, op, inputs, **attr: old.node.add(name=name, op=op, input=inputs, attr=attr)
    add("normalized", "BatchNormWithGlobalNormalization", ["x", "mean", "scale", "beta", "scale"], T=kind, variance_epsilon=v1.AttrValue(f=1e-3), scale_after_normalization=v1.AttrValue(b=True))
    add("top", "TopK", ["x"], T=kind, k=v1.AttrValue(i=2), sorted=v1.AttrValue(b=True))
    add("reversed", "Reverse", ["x", "dims"], T=kind)
    with open(path, "wb") as file:
        file.write(old.SerializeToString())


@case
def padded_convolutions(folder):
    def build(x):
        r, k = tf.raw_ops, tf.constant(numbers(3, 3, 2, 4, seed=1))
        pads = [[0, 0], [1, 1], [2, 1], [0, 0]]
        return {"padded": r.FusedPadConv2D(input=x, paddings=pads, filter=k, mode="REFLECT", strides=[1, 1, 1, 1], padding="VALID"),
                "resized": r.FusedResizeAndPadConv2D(input=x, size=[7, 8], paddings=pads, filter=k, mode="SYMMETRIC", strides=[1, 2, 2, 1], padding="VALID")}

    graph_case(folder, build, {"x": numbers(1, 5, 6, 2)})


@case
def recurrent_cells(folder):
    @tf.function
    def f(x, c, h, w, p, b):
        r, peepholes = tf.raw_ops, {"wci": p[0], "wcf": p[1], "wco": p[2], "use_peephole": True}
        step = r.LSTMBlockCell(x=x[0], cs_prev=c, h_prev=h, w=w, b=b, **peepholes)
        half = lambda value: tf.cast(value, tf.float16)
        both = r.BlockLSTM(seq_len_max=3, x=half(x), cs_prev=half(c), h_prev=half(h), w=half(w), b=half(b), wci=half(p[0]), wcf=half(p[1]), wco=half(p[2]))
        return {"cell": step.cs, "state": step.h, "gate": step.f, "half": tf.round(tf.cast(both.h, tf.float32) * 50.0), "all": r.BlockLSTM(seq_len_max=2, x=x, cs_prev=c, h_prev=h, w=w, b=b, **peepholes).h,
                "gru": r.GRUBlockCell(x=x[0], h_prev=h, w_ru=w[:, :6], w_c=w[:, 6:9], b_ru=b[:6], b_c=b[:3]).h}

    frozen_case(folder, f, {"x": numbers(3, 2, 4), "c": numbers(2, 3, seed=1), "h": numbers(2, 3, seed=2), "w": numbers(7, 12, seed=3), "p": numbers(3, 3, seed=4), "b": numbers(12, seed=5)})


@case
def spoken_words(folder):
    """The features of TensorFlow's example of speech commands."""
    sound = (numbers(8000) * np.sin(np.arange(8000) / 9.0) * 20000).astype(np.int16)
    file = tf.audio.encode_wav(sound[:, None] / np.float32(32768.0), 16000).numpy()

    @tf.function
    def f(file):
        r, (audio, rate) = tf.raw_ops, tf.audio.decode_wav(file, desired_channels=1, desired_samples=9600)
        powers = r.AudioSpectrogram(input=audio, window_size=480, stride=160, magnitude_squared=True)
        features = r.Mfcc(spectrogram=powers, sample_rate=rate, dct_coefficient_count=40)
        stft = tf.signal.stft(tf.squeeze(audio, 1), 255, 128)
        return {"features": features, "powers": powers, "rate": rate, "magnitudes": tf.abs(stft)}

    frozen_case(folder, f, {"file": np.array(file, object)})


@case
def rare_optimizers(folder):
    class Rare(tf.Module):
        def __init__(self):
            self.v = [tf.Variable(abs(numbers(6, 2, seed=seed)) + 0.1) for seed in range(30)]

        @tf.function(input_signature=[tf.TensorSpec([6, 2], tf.float32, "g"), tf.TensorSpec([2], tf.int32, "i")])
        def step(self, g, i):
            raw, v = tf.raw_ops, [v.handle for v in self.v]
            raw.ResourceApplyProximalGradientDescent(var=v[0], alpha=0.1, l1=0.05, l2=0.1, delta=g)
            raw.ResourceApplyProximalAdagrad(var=v[1], accum=v[2], lr=0.1, l1=0.05, l2=0.1, grad=g)
            raw.ResourceApplyCenteredRMSProp(var=v[3], mg=v[4], ms=v[5], mom=v[6], lr=0.01, rho=0.9, momentum=0.5, epsilon=1.0, grad=g)
            raw.ResourceApplyAdaMax(var=v[7], m=v[8], v=v[9], beta1_power=0.9, lr=0.01, beta1=0.9, beta2=0.99, epsilon=1e-7, grad=g)
            raw.ResourceApplyAdamWithAmsgrad(var=v[10], m=v[11], v=v[12], vhat=v[13], beta1_power=0.9, beta2_power=0.99, lr=0.01, beta1=0.9, beta2=0.99, epsilon=1e-7, grad=g)
            raw.ResourceApplyAddSign(var=v[14], m=v[15], lr=0.1, alpha=1.0, sign_decay=0.9, beta=0.9, grad=g)
            raw.ResourceApplyPowerSign(var=v[16], m=v[17], lr=0.1, logbase=2.0, sign_decay=0.9, beta=0.9, grad=g)
            rows = g[:2]
            raw.ResourceSparseApplyMomentum(var=v[18], accum=v[19], lr=0.1, grad=rows, indices=i, momentum=0.9, use_nesterov=True)
            raw.ResourceSparseApplyKerasMomentum(var=v[18], accum=v[20], lr=0.1, grad=rows, indices=i, momentum=0.9)
            raw.ResourceSparseApplyAdagrad(var=v[21], accum=v[22], lr=0.1, grad=rows, indices=i)
            raw.ResourceSparseApplyAdagradV2(var=v[21], accum=v[23], lr=0.1, epsilon=1e-7, grad=rows, indices=i)
            raw.ResourceSparseApplyFtrl(var=v[24], accum=v[25], linear=v[26], grad=rows, indices=i, lr=0.1, l1=0.01, l2=0.1, lr_power=-0.5)
            raw.ResourceSparseApplyRMSProp(var=v[27], ms=v[28], mom=v[29], lr=0.01, rho=0.9, momentum=0.5, epsilon=1e-7, grad=rows, indices=i)
            return {f"v{index}": variable.read_value() for index, variable in enumerate(self.v)}

    module = Rare()
    saved_case(folder, module, module.step, {"g": numbers(6, 2, seed=40), "i": np.array([4, 1], np.int32)})


@case
def first_sparse_steps(folder):
    from .first_models import session_case

    def build(i, t):
        made = {}
        for name, optimizer in {"adagrad": v1.train.AdagradOptimizer(0.1), "momentum": v1.train.MomentumOptimizer(0.1, 0.9), "adam": v1.train.AdamOptimizer(0.1), "ftrl": v1.train.FtrlOptimizer(0.1), "rms": v1.train.RMSPropOptimizer(0.1)}.items():
            w = v1.get_variable(name, initializer=numbers(10, 3), use_resource=name != "adagrad")
            step = optimizer.minimize(tf.reduce_mean((tf.nn.embedding_lookup(w, i) - t) ** 2))
            with tf.control_dependencies([step]):
                made[name] = w.read_value() + 0.0
        w = v1.get_variable("sliced", initializer=numbers(4, 3), use_resource=False)
        with tf.control_dependencies([w[1:3].assign(t[:2])]):
            made["sliced"] = w.read_value() + 0.0
        return made

    session_case(folder, build, {"i": np.array([3, 3, 7], np.int32), "t": numbers(3, 3, seed=1)})


@case
def first_assets(folder):
    vocabulary = os.path.join(folder, "words.txt")
    with open(vocabulary, "w") as file:
        file.write("apple\nbanana\ncherry\n")
    from .first_models import session_case

    def build(words):
        name = tf.constant(vocabulary)
        v1.add_to_collection(v1.GraphKeys.ASSET_FILEPATHS, name)
        table = tf.lookup.StaticVocabularyTable(tf.lookup.TextFileInitializer(name, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), 2)
        return {"numbers": table.lookup(words)}

    session_case(folder, build, {"words": np.array(["banana", "kiwi", "apple"], object)})
    os.remove(vocabulary)


@case
def files_of_a_model(folder):
    path = os.path.join(folder, "raw.bin")
    with open(path, "wb") as file:
        file.write(bytes([2, 0, 255, 7]))

    class Module(tf.Module):
        def __init__(self):
            super().__init__()
            self.path = tf.saved_model.Asset(path)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
        def f(self, x):
            return {"y": x + tf.cast(tf.io.decode_raw(tf.io.read_file(self.path.asset_path), tf.uint8), tf.int32)[:2]}

    module = Module()
    saved_case(folder, module, module.f, {"x": np.array([1, 2], np.int32)})
    os.remove(path)
