"""Values that are no tensors: lists of tensors of different shapes, ragged tensors in loops, optional values, maps."""

from .support import *


@case
def uneven_lists(folder):
    @tf.function
    def f(x, lengths):
        parts = tf.TensorArray(tf.float32, 3, infer_shape=False).split(x, lengths)
        grown = tf.TensorArray(tf.float32, 0, dynamic_size=True, infer_shape=False, element_shape=[None, 2])
        for i in tf.range(3):
            grown = grown.write(i, parts.read(2 - i) * 2.0)
        return {"joined": grown.concat(), "last": grown.read(2), "count": grown.size()}

    frozen_case(folder, f, {"x": numbers(4, 2), "lengths": np.array([1, 0, 3], np.int32)})


@case
def uneven_list_gradients(folder):
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            array = tf.TensorArray(tf.float32, 2, infer_shape=False, element_shape=[None, 3])
            array = array.write(0, x[:1] * x[1:2]).write(1, x[1:])
            loss = tf.reduce_sum(tf.square(array.concat()))
        return tape.gradient(loss, x)

    frozen_case(folder, f, {"x": numbers(3, 3)})


@case
def ragged_maps(folder):
    rows = tf.RaggedTensorSpec([None], tf.float32)

    @tf.function
    def f(values, lengths):
        ragged = tf.RaggedTensor.from_row_lengths(values, lengths)
        nested = tf.RaggedTensor.from_row_lengths(ragged, [1, 2, 1])
        return [
            tf.map_fn(tf.reduce_sum, ragged, fn_output_signature=tf.float32), tf.map_fn(lambda row: row * 2.0, ragged).to_tensor(),
            tf.map_fn(lambda row: row[:1], ragged, fn_output_signature=rows).to_tensor(), tf.map_fn(tf.range, lengths, fn_output_signature=tf.RaggedTensorSpec([None], tf.int64)).flat_values,
            tf.map_fn(lambda rows: tf.reduce_max(rows, -1), nested, fn_output_signature=rows).to_tensor(),
        ]

    frozen_case(folder, f, {"values": numbers(10), "lengths": np.array([3, 1, 5, 1], np.int64)})


@case
def optional_values(folder):
    @tf.function
    def f(x):
        spec = tf.TensorSpec([3], tf.float32)
        optional = tf.experimental.Optional
        some = tf.cond(tf.reduce_sum(x) > 0.0, lambda: optional.from_value(x * 2.0), lambda: optional.empty(spec))
        none = tf.cond(tf.reduce_sum(x) < 0.0, lambda: optional.from_value(x * 2.0), lambda: optional.empty(spec))
        return {"some": some.get_value(), "is_some": some.has_value(), "is_none": none.has_value()}

    frozen_case(folder, f, {"x": numbers(3, low=0.0)})


@case
def tensor_maps(folder):
    def build(x):
        ops = tf.raw_ops
        one, two = tf.constant(1), tf.constant(2)
        table = ops.TensorMapInsert(input_handle=ops.EmptyTensorMap(), key=one, value=x)
        table = ops.TensorMapInsert(input_handle=table, key=two, value=x * 2.0)
        table = ops.TensorMapInsert(input_handle=table, key=one, value=x * 3.0)
        rest = ops.TensorMapErase(input_handle=table, key=two, value_dtype=tf.float32)
        return {
            "one": ops.TensorMapLookup(input_handle=table, key=one, value_dtype=tf.float32), "size": ops.TensorMapSize(input_handle=table), "has": ops.TensorMapHasKey(input_handle=rest, key=two),
            "keys": ops.TensorMapStackKeys(input_handle=rest, key_dtype=tf.int32),
        }

    graph_case(folder, build, {"x": numbers(3)})


@case
def ragged_crosses(folder):
    @tf.function
    def f(x):
        texts, numbers = tf.ragged.constant([["a"], ["b", "c"], []]), tf.ragged.constant([[1, 2], [3], [4]])
        sparse = tf.sparse.from_dense([["x", "y"], ["z", ""], ["", "w"]])
        plain, hashed = tf.ragged.cross([x, texts, sparse]), tf.ragged.cross_hashed([numbers, sparse], 50, hash_key=7)
        return [plain.flat_values, plain.row_splits, hashed.flat_values, hashed.row_splits]

    frozen_case(folder, f, {"x": np.array([["q"], ["w"], ["e"]], object)})


@case
def ragged_empty_rows(folder):
    @tf.function
    def f(values):
        ids = tf.RaggedTensor.from_row_lengths(values, [3, 0, 2])
        return tf.nn.safe_embedding_lookup_sparse(tf.reshape(tf.range(12.0), [4, 3]), ids, combiner="mean")

    frozen_case(folder, f, {"values": np.array([0, 3, 1, 2, 2], np.int64)})


@case
def decompressed(folder):
    import gzip, zlib

    @tf.function
    def f(x):
        files = [zlib.compress(b"some text some text"), zlib.compress(b"")]
        return [x, tf.io.decode_compressed(files, "ZLIB"), tf.io.decode_compressed(gzip.compress(b"text"), "GZIP"), tf.io.decode_compressed(x)]

    frozen_case(folder, f, {"x": np.array(["plain"], object)})
