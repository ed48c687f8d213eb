"""Functional control flow and calls."""

from .support import *


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
