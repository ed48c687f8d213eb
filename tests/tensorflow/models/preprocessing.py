"""Preprocessing that Keras exports: counts, crosses, sets, images in files, and tables that change."""

from .layers import layers_case
from .support import *


def strings_case(folder, make, *values):
    """A SavedModel of layers on strings and integers."""
    inputs = [tf.keras.Input(value.shape[1:], dtype="string" if value.dtype == object else value.dtype, name=f"in{index}") for index, value in enumerate(values)]
    model = tf.keras.Model(inputs, make(tf.keras.layers, *inputs))
    path = os.path.join(folder, "saved_model")
    model.export(path, verbose=False)
    signature = tf.saved_model.load(path).signatures["serving_default"]
    given = {f"in{index}": value for index, value in enumerate(values)}
    results = signature(**{name: tf.constant(value) for name, value in given.items()})
    describe(folder, "saved_model", given, {name: value.numpy() for name, value in results.items()})


@case
def layers_lookups(folder):
    def make(layers, words, numbers):
        known = ["a", "b", "c", "d"]
        return [
            layers.StringLookup(vocabulary=known)(words), layers.StringLookup(vocabulary=known, num_oov_indices=3)(words),
            layers.StringLookup(vocabulary=known, output_mode="count")(words), layers.StringLookup(vocabulary=known, output_mode="multi_hot")(words),
            layers.StringLookup(vocabulary=known, idf_weights=[0.1, 0.2, 0.3, 0.4], output_mode="tf_idf")(words), layers.StringLookup(vocabulary=known, invert=True)(numbers),
            layers.IntegerLookup(vocabulary=[5, 6, 7], output_mode="multi_hot")(numbers), layers.CategoryEncoding(9, "count")(numbers),
        ]

    strings_case(folder, make, np.array([["a", "z", ""], ["d", "d", "b"]], object), np.array([[0, 2], [3, 1]], np.int64))


@case
def layers_hashes(folder):
    def make(layers, words, numbers):
        return [
            layers.Hashing(7)(words), layers.Hashing(11, salt=[133, 137])(words), layers.Hashing(5)(numbers), layers.HashedCrossing(13)((words, numbers)),
            layers.HashedCrossing(9, output_mode="one_hot")((words, numbers)), layers.Hashing(6, output_mode="one_hot")(words),
        ]

    strings_case(folder, make, np.array([["x"], ["yy"], [""]], object), np.array([[1], [22], [-3]], np.int32))


@case
def layers_counts(folder):
    def make(layers, x):
        return [layers.CategoryEncoding(6, "multi_hot")(x), layers.CategoryEncoding(6, "count")(x), layers.Discretization([1.0, 3.0])(x)]

    layers_case(folder, make, np.array([[1, 2, 2], [0, 5, 1]], np.int32))


@case
def counted_numbers(folder):
    @tf.function
    def f(x, weights):
        sparse = tf.sparse.from_dense(x)
        ragged = tf.RaggedTensor.from_row_lengths(tf.reshape(x, [-1]), [4, 0, 2])
        counts = {
            "dense": tf.sparse.bincount(x), "binary": tf.sparse.bincount(x, binary_output=True), "weighted": tf.sparse.bincount(x, weights=weights),
            "bounded": tf.sparse.bincount(x, minlength=9), "cut": tf.sparse.bincount(x, maxlength=3), "vector": tf.sparse.bincount(x[0]),
            "sparse": tf.sparse.bincount(sparse), "ragged": tf.sparse.bincount(ragged),
        }
        made = {name: tf.sparse.to_dense(value) for name, value in counts.items()}
        return made | {
            "rows": tf.math.bincount(x, axis=-1), "all": tf.math.bincount(x), "rows_weighted": tf.math.bincount(x, weights=weights, axis=-1),
            "rows_cut": tf.math.bincount(x, axis=-1, maxlength=3), "rows_binary": tf.math.bincount(x, axis=-1, binary_output=True),
        }

    frozen_case(folder, f, {"x": np.array([[1, 2, 2], [0, 5, 1]], np.int32), "weights": numbers(2, 3)})


@case
def crossed_features(folder):
    @tf.function
    def f(words, numbers):
        first = tf.sparse.from_dense(numbers)
        ragged = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["p", "q", "r"], [2, 2])
        hashed = tf.sparse.cross_hashed([ragged, words, first], num_buckets=1000, hash_key=77)
        joined, dashed = tf.sparse.cross([ragged, words, numbers]), tf.sparse.cross([ragged, words], separator="-")
        plain = tf.raw_ops.SparseCross(indices=[ragged.indices], values=[ragged.values], shapes=[ragged.dense_shape], dense_inputs=[words],
                                       hashed_output=False, num_buckets=0, hash_key=1, out_type=tf.string, internal_type=tf.string)
        return {
            "hashed": tf.sparse.to_dense(hashed), "joined": tf.sparse.to_dense(joined, "?"), "dashed": dashed.values, "plain": plain.output_values,
            "open": tf.sparse.cross_hashed([words, ragged]).values,
        }

    frozen_case(folder, f, {"words": np.array([["x", "y"], ["z", ""]], object), "numbers": np.array([[1, 2], [3, 4]], np.int64)})


@case
def sets_of_rows(folder):
    @tf.function
    def f(a, b, words):
        s, sparse = tf.sets, tf.sparse.from_dense(b)
        made = {"both": s.intersection(a, b), "either": s.union(a, b), "first": s.difference(a, b), "second": s.difference(a, b, aminusb=False),
                "mixed": s.union(a, sparse), "sparse": s.intersection(tf.sparse.from_dense(a), sparse)}
        texts = s.union(words, words[:, ::-1])
        return {name: tf.sparse.to_dense(value) for name, value in made.items()} | {
            "size": s.size(s.union(a, b)), "texts": tf.sparse.to_dense(texts, "-"), "shape": made["both"].dense_shape}

    frozen_case(folder, f, {"a": np.array([[1, 2, 3], [4, 5, 6]], np.int32), "b": np.array([[2, 3, 9], [6, 6, 0]], np.int32),
                            "words": np.array([["b", "a"], ["d", "d"]], object)})


@case
def more_sparse_tensors(folder):
    @tf.function
    def f(values, words):
        s = tf.SparseTensor([[0, 1], [1, 0], [1, 3], [2, 2]], values, [3, 4])
        t = tf.SparseTensor([[0, 0], [1, 3]], values[:2], [3, 4])
        parts = tf.sparse.split(s, 3, 1)
        return {
            "greatest": tf.sparse.to_dense(tf.sparse.maximum(s, t)), "least": tf.sparse.to_dense(tf.sparse.minimum(s, t)), "part": tf.sparse.to_dense(parts[0]),
            "last": tf.sparse.to_dense(parts[2]), "words": tf.sparse.to_dense(tf.SparseTensor([[0, 1], [1, 0]], words, [2, 3]), "none"),
        }

    frozen_case(folder, f, {"values": numbers(4), "words": np.array(["a", "b"], object)})


@case
def changing_tables(folder):
    class Tables(tf.Module):
        def __init__(self):
            lookup = tf.lookup.experimental
            self.dense = lookup.DenseHashTable(tf.int64, tf.float32, default_value=-1.0, empty_key=-1, deleted_key=-2)
            self.dense.insert(tf.constant([1, 5], tf.int64), [1.5, 5.5])
            self.texts = lookup.MutableHashTable(tf.string, tf.int64, -1)
            self.texts.insert(["a", "b"], tf.constant([1, 2], tf.int64))

        @tf.function(input_signature=[tf.TensorSpec([None], tf.int64, "numbers"), tf.TensorSpec([None], tf.string, "words")])
        def serve(self, numbers, words):
            self.dense.insert(numbers + 100, tf.cast(numbers, tf.float32))
            self.dense.erase(tf.constant([5], tf.int64))
            before = self.texts.lookup(words)
            for i in tf.range(tf.size(words)):
                if self.texts.lookup(words[i]) < 0:
                    self.texts.insert(words[i : i + 1], self.texts.size()[None])
            return {"dense": self.dense.lookup(numbers), "new": self.dense.lookup(numbers + 100), "before": before, "after": self.texts.lookup(words),
                    "size": self.texts.size(), "dense_size": self.dense.size(), "sum": tf.reduce_sum(self.texts.export()[1])}

    module = Tables()
    saved_case(folder, module, module.serve, {"numbers": np.array([1, 7, 5], np.int64), "words": np.array(["b", "x", "y", "x"], object)})


@case
def pictures_in_files(folder):
    blocks = np.kron(numbers(3, 3, 3, low=0, high=255).astype(np.uint8), np.ones([4, 4, 1], np.uint8))
    png, grey = tf.io.encode_png(blocks).numpy(), tf.io.encode_png(blocks[..., :1]).numpy()
    wide = tf.io.encode_png(blocks.astype(np.uint16) * 200).numpy()
    clear = tf.io.encode_png(np.concatenate([blocks, blocks[..., :1]], 2)).numpy()
    jpeg = tf.io.encode_jpeg(np.full([9, 7, 3], 128, np.uint8)).numpy()

    @tf.function
    def f(scale):
        io = tf.io
        return {
            "png": io.decode_png(png), "one": io.decode_png(png, channels=1), "four": io.decode_png(png, channels=4), "grey": io.decode_png(grey),
            "three": io.decode_image(grey, channels=3), "numbers": io.decode_image(png, dtype=tf.float32) * scale, "wide": io.decode_png(png, dtype=tf.uint16),
            "words": io.decode_png(wide, dtype=tf.uint16), "bytes": io.decode_png(wide), "clear": io.decode_png(clear), "opaque": io.decode_png(clear, channels=3),
            "jpeg": io.decode_jpeg(jpeg), "any": io.decode_image(jpeg, expand_animations=False), "shape": io.extract_jpeg_shape(jpeg),
            "part": io.decode_and_crop_jpeg(jpeg, [1, 2, 3, 4]),
        }

    frozen_case(folder, f, {"scale": np.float32(2.0)})


@case
def sequence_examples(folder):
    t = tf.train

    def message(steps):
        numbers_of = lambda step: t.Feature(float_list=t.FloatList(value=[step + 0.5, step * 2.0]))
        counts = lambda step: t.Feature(int64_list=t.Int64List(value=range(step)))
        words = lambda step: t.Feature(bytes_list=t.BytesList(value=[b"w%d" % step]))
        lists = {"n": [numbers_of(s) for s in range(steps)], "c": [counts(s) for s in range(steps)], "w": [words(s) for s in range(2)]}
        lists = t.FeatureLists(feature_list={name: t.FeatureList(feature=steps) for name, steps in lists.items()})
        context = {"id": t.Feature(int64_list=t.Int64List(value=[steps])), "tags": t.Feature(bytes_list=t.BytesList(value=[b"q"] * steps))}
        return t.SequenceExample(context=t.Features(feature=context), feature_lists=lists).SerializeToString()

    @tf.function
    def f(x):
        i = tf.io
        context = {"id": i.FixedLenFeature([], tf.int64), "tags": i.VarLenFeature(tf.string), "none": i.FixedLenFeature([1], tf.float32, [7.0])}
        lists = {"n": i.FixedLenSequenceFeature([2], tf.float32), "c": i.VarLenFeature(tf.int64), "w": i.FixedLenSequenceFeature([], tf.string), "none": i.FixedLenSequenceFeature([3], tf.int64, True)}
        all_of = lambda parts: {f"{name}{index}": value for name, part in parts.items() for index, value in enumerate(tf.nest.flatten(part, expand_composites=True))}
        many, some, lengths = i.parse_sequence_example(x, context, lists)
        ragged = i.parse_sequence_example(x, {"tags": i.RaggedFeature(tf.string)}, {"c": i.RaggedFeature(tf.int64), "w": i.RaggedFeature(tf.string, row_splits_dtype=tf.int64)})
        one, few = i.parse_single_sequence_example(x[1], context, lists)
        made = {}
        for name, parts in (("context_", many), ("lists_", some), ("lengths_", lengths), ("ragged_context_", ragged[0]), ("ragged_", ragged[1]), ("one_", one), ("few_", few)):
            made |= {name + key: value for key, value in all_of(parts).items()}
        return made

    # NumPy's own strings lose zeros at their ends.
    frozen_case(folder, f, {"x": np.array([message(steps) for steps in (2, 4, 0)], object)})
