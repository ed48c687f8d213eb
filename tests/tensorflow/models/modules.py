"""Modules and loops: signatures, tables, assets, calls of functions, and arrays of tensors."""

from .support import *


@case
def loops_of_functions(folder):
    @tf.function
    def f(x, n):
        total, rows = tf.scan(lambda a, row: (a[0] + row, a[1] * row), x, (tf.zeros([3]), tf.ones([3])))
        left = tf.foldl(lambda a, row: a * 0.5 + row, x)
        right = tf.foldr(lambda a, row: a * 0.5 + row, x)
        both = tf.map_fn(lambda t: (t[0] + t[1], tf.reduce_sum(t[0])), (x, x * 2.0), fn_output_signature=(tf.float32, tf.float32))
        i, y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * 1.1), [0, x], maximum_iterations=3)
        chosen = tf.switch_case(n % 3, [lambda: x, lambda: x * 2.0, lambda: -x], lambda: x + 1.0)
        cases = tf.case([(n > 9, lambda: x), (n > 3, lambda: x * 3.0)], lambda: x * 5.0)
        nested = tf.cond(n > 2, lambda: tf.cond(x[0, 0] > 0.0, lambda: x, lambda: x - 1.0), lambda: x * 0.0)
        return total, rows, left, right, both, i, y, chosen, cases, nested

    # TensorFlow writes the choice among three as nodes of its first version, which have no functional form.
    frozen_case(folder, f, {"x": numbers(4, 3), "n": np.int32(5)}, direct="always")


@case
def arrays_of_tensors(folder):
    @tf.function
    def f(x):
        array = tf.TensorArray(tf.float32, 4, element_shape=[None, 3], infer_shape=False).unstack(tf.reshape(x, [4, 1, 3]))
        parts = tf.TensorArray(tf.float32, 2).split(x, [2, 2])
        written = tf.TensorArray(tf.int32, 0, dynamic_size=True, clear_after_read=False)
        for i in tf.range(5):
            if i % 2 == 0:
                written = written.write(written.size(), i * i)
        scattered = tf.TensorArray(tf.float32, 4).scatter([3, 1, 0, 2], x)
        return {"concat": array.concat(), "part": parts.read(1), "gathered": scattered.gather([0, 3]), "written": written.stack(), "size": written.size(), "stack": scattered.stack()}

    frozen_case(folder, f, {"x": numbers(4, 3)})


@case
def break_and_continue(folder):
    @tf.function
    def f(x, n):
        total, count = 0.0, 0
        for i in tf.range(n):
            if x[i] < -0.5:
                continue
            if total > 1.5:
                break
            total += tf.abs(x[i])
            count += 1
        while tf.constant(True):
            count += 3
            if count > 20:
                break
        if count > 21:
            return total, count
        return total * 2.0, count - 1

    frozen_case(folder, f, {"x": numbers(12), "n": np.int32(12)})


@case
def many_signatures(folder):
    class Net(tf.Module):
        def __init__(self):
            self.w = tf.Variable(numbers(3, 4))
            self.steps = tf.Variable(0, dtype=tf.int64)
            self.names = tf.constant(["a", "b", "c", "d"])

        @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, "x")])
        def predict(self, x):
            y = tf.nn.softmax(tf.matmul(x, self.w))
            return {"scores": y, "label": tf.gather(self.names, tf.argmax(y, 1))}

        @tf.function(input_signature=[tf.TensorSpec([], tf.int64, "by"), tf.TensorSpec([4], tf.float32, "row")])
        def update(self, by, row):
            self.steps.assign_add(by)
            self.w[1].assign(row)
            self.w.scatter_nd_update([[2, 0], [0, 3]], [9.0, 8.0])
            self.w.scatter_max(tf.IndexedSlices(tf.zeros([1, 4]), [0]))
            return {"steps": self.steps.read_value(), "w": self.w.read_value()}

    module = Net()
    path = os.path.join(folder, "saved_model")
    tf.saved_model.save(module, path, signatures={"serving_default": module.predict, "update": module.update})
    loaded = tf.saved_model.load(path)
    inputs = {"by": np.int64(3), "row": numbers(4, seed=4)}
    results = loaded.signatures["update"](**{name: tf.constant(value) for name, value in inputs.items()})
    describe(folder, "saved_model", inputs, {name: value.numpy() for name, value in results.items()}, signature="update")


@case
def mutable_tables(folder):
    class Tables(tf.Module):
        def __init__(self):
            self.table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
            self.table.insert(["a", "b"], tf.constant([1, 2], tf.int64))
            self.dense = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, -1.0, empty_key=-1, deleted_key=-2)
            self.dense.insert(tf.constant([3, 4], tf.int64), tf.constant([0.5, 1.5]))
            self.words = tf.lookup.StaticVocabularyTable(
                tf.lookup.KeyValueTensorInitializer(["x", "y"], tf.constant([0, 1], tf.int64)), 5)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "text")])
        def f(self, text):
            ids = self.table.lookup(text)
            return {"ids": ids, "numbers": self.dense.lookup(ids + 2), "words": self.words.lookup(text), "size": self.table.size()}

    module = Tables()
    saved_case(folder, module, module.f, {"text": np.array(["a", "b", "zz", "x"], object)})


@case
def vocabulary_files(folder):
    file = os.path.join(folder, "vocabulary.txt")
    with open(file, "w") as out:
        out.write("alpha\t0.5\nbeta\t1.5\ngamma\t-2\n")

    class Tables(tf.Module):
        def __init__(self):
            of = lambda key, key_at, kind, value_at: tf.lookup.TextFileInitializer(file, key, key_at, kind, value_at, delimiter="\t")
            self.numbers = tf.lookup.StaticHashTable(of(tf.string, 0, tf.float32, 1), 0.0)
            self.lines = tf.lookup.StaticVocabularyTable(of(tf.string, 0, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), 2)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "text")])
        def f(self, text):
            return {"numbers": self.numbers.lookup(text), "lines": self.lines.lookup(text)}

    module = Tables()
    saved_case(folder, module, module.f, {"text": np.array(["beta", "gamma", "delta", "other"], object)})
    os.remove(file)


@case
def recomputed(folder):
    @tf.custom_gradient
    def clipped(x):
        return tf.identity(x), lambda upstream: tf.clip_by_value(upstream, -0.1, 0.1)

    @tf.function(jit_compile=False)
    def f(x):
        g = tf.recompute_grad(lambda x: tf.sin(x) * x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(g(clipped(x * 3.0)))
        tf.print("sum", y)
        tf.debugging.assert_less(x, 100.0)
        tf.debugging.assert_shapes([(x, ("n",))])
        return y, tape.gradient(y, x), tf.grad_pass_through(tf.round)(x), tf.stop_gradient(x), tf.ensure_shape(x, [4]), tf.guarantee_const(x)

    frozen_case(folder, f, {"x": numbers(4)})


@case
def shapes_and_places(folder):
    @tf.function
    def f(x, i):
        return {
            "batch": tf.gather(x, i, axis=2, batch_dims=1), "nd": tf.gather_nd(x, i[..., None], batch_dims=1), "mask": tf.boolean_mask(x, x[:, :, 0] > 0.0), "where": tf.where(x > 0.5), "sequence": tf.reverse_sequence(x, [2, 3], 1), "batches": tf.space_to_batch(x[..., None], [2, 1], [[0, 1], [0, 0]]),
            "back": tf.batch_to_space(tf.reshape(x, [4, 3, 2, 1])[:, :, :1], [2, 2], [[0, 1], [0, 0]]), "stack": tf.parallel_stack([x[0], x[1]]), "broadcast": tf.broadcast_to(x[:, :1], [2, 3, 4]), "dynamic": tf.broadcast_dynamic_shape(tf.shape(x), [3, 1]), "eye": tf.eye(3, batch_shape=[2]),
            "line": tf.linspace(0.0, x[0, 0, 0], 5), "repeat": tf.repeat(x, [1, 2], 0), "required": tf.required_space_to_batch_paddings([5, 7], [2, 3])[0], "added": tf.tensor_scatter_nd_add(x, [[0, 1], [1, 2]], x[0, :2]), "least": tf.tensor_scatter_nd_min(x, [[0, 1]], x[1, :1]), "quantile": tf.nn.top_k(x, 3, sorted=True).indices,
            "dot": tf.tensordot(x, x, [[1, 2], [1, 2]]), "kron": tf.linalg.LinearOperatorKronecker([tf.linalg.LinearOperatorFullMatrix(x[0, :2, :2]), tf.linalg.LinearOperatorFullMatrix(x[1, :2, :2])]).to_dense(), "depth": tf.nn.depth_to_space(x[None], 2), "moments": tf.nn.moments(x, [0, 1])[1], "unstack": tf.unstack(x, axis=2)[1],
            "approx": tf.math.approx_max_k(x, 2)[0], "size": tf.size(x, tf.int64), "nonzero": tf.math.count_nonzero(x > 0.0, 1), "clip": tf.clip_by_norm(x, 1.0, 2), "global": tf.clip_by_global_norm([x, x], 1.0)[0][0], "roll": tf.roll(x, [1, -1], [0, 2]), "crop": tf.strided_slice(x, [0, 0, 1], [2, 3, 4], [1, 2, 2]),
        }

    frozen_case(folder, f, {"x": numbers(2, 3, 4), "i": np.array([[1, 0], [2, 1]], np.int32)})
