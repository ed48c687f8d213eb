"""Strings, bytes, ragged and sparse tensors, and messages."""

from .support import *

TEXT = np.array(["Hello world", " Good  day ", "äöü ß", "", "tab\tand 12.5e1"], object)
BYTES = np.array([b"\xff\xfe\x00abc", b"plain", b"\xc3\x28", b""], object)


@case
def text_codes(folder):
    @tf.function
    def f(text):
        codes = tf.strings.unicode_decode(text, "UTF-8")
        _, offsets = tf.strings.unicode_decode_with_offsets(text, "UTF-8")
        return {
            "codes": codes.to_tensor(-1), "offsets": offsets.values, "again": tf.strings.unicode_encode(codes, "UTF-8"),
            "utf16": tf.strings.unicode_transcode(text, "UTF-8", "UTF-16-BE"),
            "base64": tf.io.encode_base64(text), "padded": tf.io.encode_base64(text, pad=True), "back": tf.io.decode_base64(tf.io.encode_base64(text)),
            "upper": tf.strings.upper(text, "utf-8"), "lower": tf.strings.lower(text), "length": tf.strings.length(text, "UTF8_CHAR"),
        }

    frozen_case(folder, f, {"text": TEXT})


@case
def byte_strings(folder):
    @tf.function
    def f(data):
        return {
            "same": tf.identity(data), "length": tf.strings.length(data), "joined": tf.strings.join([data, data], "\xff"),
            "part": tf.strings.substr(data, 0, 0), "hash": tf.strings.to_hash_bucket_fast(data, 97), "equal": tf.equal(data, b"\xff\xfe\x00abc"),
            "base64": tf.io.encode_base64(data), "valid": tf.strings.unicode_decode(data, "UTF-8", errors="replace").to_tensor(),
            "raw": tf.io.decode_raw(tf.strings.join([data, "12345678"])[:1], tf.int16), "taken": tf.gather(data, [2, 0]),
            "split": tf.strings.bytes_split(data).values, "constant": tf.strings.join([tf.constant(b"\x80\x81"), data]),
        }

    frozen_case(folder, f, {"data": BYTES})


@case
def raw_bytes(folder):
    @tf.function
    def f(data):
        return {
            "u8": tf.io.decode_raw(data, tf.uint8), "i16": tf.io.decode_raw(data, tf.int16), "big": tf.io.decode_raw(data, tf.int32, little_endian=False),
            "f32": tf.io.decode_raw(data, tf.float32), "fixed": tf.raw_ops.DecodePaddedRaw(input_bytes=data, fixed_length=12, out_type=tf.uint8),
        }

    frozen_case(folder, f, {"data": np.array([b"abcdefgh", b"\x01\xff\x80\x00\x00\x00\x80\x3f"], object)})


def examples():
    def feature(value):
        if isinstance(value[0], (str, bytes)):
            value = [x.encode() if isinstance(x, str) else x for x in value]
            return tf.train.Feature(bytes_list=tf.train.BytesList(value=value))
        if isinstance(value[0], float):
            return tf.train.Feature(float_list=tf.train.FloatList(value=value))
        return tf.train.Feature(int64_list=tf.train.Int64List(value=value))

    rows = [
        {"age": [3], "scores": [0.5, 1.5], "name": ["ann"], "tags": ["x", "y"], "data": [b"\xff\x00"], "rows": [1.0, 2.0], "counts": [5]},
        {"age": [40], "scores": [2.5, -1.0], "name": ["bob"], "tags": ["z"], "data": [b"\x80"], "counts": [1, 2]},
        {"scores": [0.0, 9.0], "name": ["cy"], "data": [b""]},
    ]
    return [
        tf.train.Example(features=tf.train.Features(feature={k: feature(v) for k, v in row.items()})).SerializeToString()
        for row in rows
    ]


@case
def example_message(folder):
    class Parser(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([], tf.string, "example")])
        def f(self, example):
            parsed = tf.io.parse_single_example(example, {
                "age": tf.io.FixedLenFeature([], tf.int64), "scores": tf.io.FixedLenFeature([2], tf.float32), "tags": tf.io.VarLenFeature(tf.string)})
            return {"age": parsed["age"], "scores": parsed["scores"], "tags": parsed["tags"].values}

    module = Parser()
    saved_case(folder, module, module.f, {"example": np.array(examples()[0], object)})


@case
def example_messages_first(folder):
    def build(examples):
        parsed = v1.parse_example(examples, {
            "age": v1.FixedLenFeature([], tf.int64, -1), "scores": v1.FixedLenFeature([2], tf.float32), "tags": v1.VarLenFeature(tf.string)})
        return {"age": parsed["age"], "scores": parsed["scores"], "tags": parsed["tags"].values, "shape": parsed["tags"].dense_shape}

    graph_case(folder, build, {"examples": np.array(examples(), object)})


@case
def csv_lines(folder):
    @tf.function
    def f(lines):
        a, b, c = tf.io.decode_csv(lines, [[0], [1.5], ["none"]])
        return {"a": a, "b": b, "c": c}

    frozen_case(folder, f, {"lines": np.array(["1,2.5,x", '3,,"quoted, text"', ",4,"], object)})


@case
def serialized_tensors(folder):
    @tf.function
    def f(x):
        data = tf.io.serialize_tensor(x)
        return {"back": tf.ensure_shape(tf.io.parse_tensor(data, tf.float32), [2, 3]), "length": tf.strings.length(data)}

    frozen_case(folder, f, {"x": numbers(2, 3)})


@case
def sparse_tensors(folder):
    @tf.function
    def f(values, dense):
        s = tf.SparseTensor([[0, 1], [1, 0], [1, 3], [2, 2]], values, [3, 4])
        t = tf.SparseTensor([[0, 1], [2, 0]], values[:2], [3, 4])
        filled, empty = tf.sparse.fill_empty_rows(t, 9.0)
        sliced = tf.sparse.slice(s, [1, 0], [2, 3])
        added = tf.sparse.add(s, t)
        joined = tf.sparse.concat(1, [s, t])
        moved = tf.sparse.transpose(s)
        return {
            "dense": tf.sparse.to_dense(s), "product": tf.sparse.sparse_dense_matmul(s, dense), "adjoint": tf.sparse.sparse_dense_matmul(s, dense[:3], adjoint_a=True),
            "sum": tf.sparse.reduce_sum(s, 1), "max": tf.sparse.reduce_max(s, 1), "added": tf.sparse.to_dense(added), "joined": tf.sparse.to_dense(joined),
            "moved": tf.sparse.to_dense(moved), "filled": filled.values, "filled_indices": filled.indices, "empty": empty, "sliced": tf.sparse.to_dense(sliced),
            "soft": tf.sparse.softmax(s).values, "kept": tf.sparse.retain(s, values > 0.0).values, "reshaped": tf.sparse.to_dense(tf.sparse.reshape(s, [2, 6])),
            "back": tf.sparse.from_dense(dense).values, "scaled": (s * 3.0).values, "mask": tf.sparse.to_indicator(tf.SparseTensor([[0, 0], [1, 1]], tf.constant([2, 0], tf.int64), [2, 2]), 4),
            "by": (s * dense[:3, :1]).values, "plus": tf.sparse.add(s, tf.ones([3, 4])),
        }

    frozen_case(folder, f, {"values": numbers(4), "dense": numbers(4, 2, seed=1)})


@case
def sparse_embeddings(folder):
    @tf.function
    def f(table, ids):
        sparse = tf.SparseTensor([[0, 0], [0, 2], [2, 1], [3, 0]], ids, [4, 3])
        weights = tf.SparseTensor(sparse.indices, tf.cast(ids, tf.float32) + 0.5, [4, 3])
        return {
            "sum": tf.nn.safe_embedding_lookup_sparse(table, sparse, combiner="sum"), "mean": tf.nn.safe_embedding_lookup_sparse(table, sparse),
            "sqrtn": tf.nn.embedding_lookup_sparse(table, sparse, None, combiner="sqrtn"), "weighted": tf.nn.embedding_lookup_sparse(table, sparse, weights, combiner="mean"),
            "segments": tf.sparse.segment_sum(table, ids, [0, 0, 1, 3]), "means": tf.sparse.segment_mean(table, ids, [0, 0, 1, 3], num_segments=5),
            "plain": tf.nn.embedding_lookup(table, ids, max_norm=0.5),
        }

    frozen_case(folder, f, {"table": numbers(6, 3), "ids": np.array([1, 5, 0, 3], np.int64)})
