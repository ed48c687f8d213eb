"""Control flow and variables of TensorFlow's first version."""

from .support import *


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


def loop_gradients(result, tensors):
    return {f"gradient_{index}": value for index, value in enumerate(v1.gradients(result, tensors))}


@case
def first_gradients(folder):
    """Gradients of a loop, of a loop in it and of a conditional, which keep values on stacks."""

    def build(x):
        w = tf.constant(numbers(3, 3, seed=1))

        def outer(i, y):
            _, y = v1.while_loop(lambda j, y: j <= i, lambda j, y: (j + 1, tf.tanh(tf.matmul(y, w))), [0, y])
            return i + 1, v1.cond(tf.equal(i % 2, 0), lambda: tf.sin(y) * x, lambda: y * y)

        _, y = v1.while_loop(lambda i, y: i < 4, outer, [0, x])
        return {"y": y} | loop_gradients(y, [x, w])

    first_case(folder, build, {"x": numbers(2, 3)})


@case
def first_array_gradients(folder):
    """Gradients of arrays that are filled, read more than once, joined and split into unequal parts."""

    def build(x):
        array = tf.TensorArray(tf.float32, 4, element_shape=[3], clear_after_read=False).unstack(x)
        output = tf.TensorArray(tf.float32, 4)
        _, output = v1.while_loop(
            lambda i, o: i < 4, lambda i, o: (i + 1, o.write(i, tf.sin(array.read(i)) * array.read(3 - i))), [0, output])
        y = output.stack()
        parts = tf.TensorArray(tf.float32, 2, infer_shape=False, clear_after_read=False).split(y, [1, 3])
        return {"y": y} | loop_gradients([y * y, parts.read(1), parts.concat()], [x])

    first_case(folder, build, {"x": numbers(4, 3)})


@case
def first_gradients_in_cond(folder):
    """Gradients of a loop in a conditional: the condition decides in the loop's gradient, too."""

    def build(x):
        def loop():
            return v1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.sin(y)), [0, x])[1]

        y = v1.cond(tf.reduce_sum(x) > -100.0, loop, lambda: x * 2.0)
        return {"y": y} | loop_gradients(y, [x])

    first_case(folder, build, {"x": numbers(2, 3)}, direct="always")


@case
def first_uneven_array(folder):
    """Elements of different lengths, which are split off, changed and joined."""

    def build(x):
        array = tf.TensorArray(tf.float32, 3, infer_shape=False, clear_after_read=False).split(x, [1, 3, 2])
        output = tf.TensorArray(tf.float32, 3, infer_shape=False)
        _, output = v1.while_loop(
            lambda i, o: i < 3, lambda i, o: (i + 1, o.write(i, tf.cumsum(array.read(i), 0))), [0, output])
        return {"y": output.concat(), "first": array.read(0)}

    first_case(folder, build, {"x": numbers(6, 3)})
