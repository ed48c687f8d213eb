"""Training steps and their optimizers."""

from .support import *


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
def train_layer(folder):
    """The graph restores copies of Keras variables; only the checkpoint has those that the step uses."""
    class Layer(tf.Module):
        def __init__(self):
            self.layer = tf.keras.layers.Dense(3, kernel_initializer=tf.keras.initializers.GlorotUniform(4))
            self.layer.build([8, 4])
            self.optimizer = tf.keras.optimizers.SGD(0.1)
            self.optimizer.build(self.layer.trainable_variables)

        @tf.function(input_signature=[tf.TensorSpec([8, 4], tf.float32, "x")])
        def step(self, x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(self.layer(x)))
            variables = self.layer.trainable_variables
            self.optimizer.apply(tape.gradient(loss, variables), variables)
            return {"loss": loss, "y": self.layer(x)}

    module = Layer()
    saved_case(folder, module, module.step, {"x": numbers(8, 4)})


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


@case
def rarer_gradients(folder):
    def gradient(function, *values):
        with tf.GradientTape() as tape:
            tape.watch(values)
            results = function(*values)
            loss = tf.add_n([tf.reduce_sum(tf.square(result)) for result in tf.nest.flatten(results)])
        return tape.gradient(loss, values)

    @tf.function
    def f(x, image, p):
        q, s = tf.quantization, tf.sparse
        ids, segments = tf.constant([2, 0, 3, 2]), tf.constant([0, 0, 1, 3])
        made = {name: gradient(lambda x: op(x, ids, segments), x)[0] for name, op in (("sum", s.segment_sum), ("mean", s.segment_mean), ("root", s.segment_sqrt_n))}
        compact = tf.raw_ops.SparseSegmentMeanGradV2(grad=x, indices=ids, segment_ids=segments, dense_output_dim0=4)
        made |= {"compact": compact.output, "compact_rows": compact.sorted_unique_indices}
        made["args"] = gradient(lambda x: q.fake_quant_with_min_max_args(x, -0.5, 0.7), x)[0]
        ends = gradient(lambda x, low, high: q.fake_quant_with_min_max_vars(x, low, high, 4, True), x, tf.constant(-0.4), tf.constant(0.6))
        channels = gradient(q.fake_quant_with_min_max_vars_per_channel, x, tf.constant([-0.4, -0.9, -0.2]), tf.constant([0.6, 0.1, 0.4]))
        made |= {f"vars{index}": value for index, value in enumerate(ends)} | {f"channels{index}": value for index, value in enumerate(channels)}
        made["both"] = gradient(lambda x: q.quantize_and_dequantize_v2(x, -0.5, 0.7, range_given=True), x)[0]
        made["places"] = gradient(lambda x: tf.nn.max_pool_with_argmax(x, 3, 2, "SAME")[0], image)[0]
        made["places_in_batch"] = gradient(lambda x: tf.nn.max_pool_with_argmax(x, 2, 1, "VALID", include_batch_in_index=True)[0], image)[0]
        made["second"] = gradient(lambda x: gradient(lambda x: tf.nn.max_pool2d(x, 2, 2, "SAME"), x)[0], image)[0]
        made["gamma"] = tf.raw_ops.IgammaGradA(a=p * 9.0, x=p[::-1] * 12.0)
        made["samples"] = tf.raw_ops.RandomGammaGrad(alpha=p, sample=p[::-1])
        return made

    frozen_case(folder, f, {"x": numbers(4, 3), "image": numbers(2, 5, 6, 3, seed=1), "p": numbers(3, 4, seed=2, low=0.1, high=3.0)})


@case
def sparse_gradients(folder):
    @tf.function
    def f(values, more):
        a = tf.SparseTensor([[0, 1], [0, 3], [2, 2], [3, 0]], values, [4, 4])
        b = tf.SparseTensor([[0, 1], [1, 0], [2, 2]], more, [4, 4])
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([values, more])
            sums = tf.reduce_sum(tf.sparse.add(a, b).values ** 2)
            part = tf.reduce_sum(tf.sparse.slice(a, [0, 1], [3, 2]).values ** 2)
            filled = tf.reduce_sum(tf.sparse.fill_empty_rows(a, values[0])[0].values ** 2)
        rows = tf.sparse.reduce_sum(a, 1, output_is_sparse=True)
        best = tf.sparse.reduce_max(b, 0, keepdims=True, output_is_sparse=True)
        return tape.gradient(sums, [values, more]), tape.gradient(part, values), tape.gradient(filled, values), rows.indices, rows.values, rows.dense_shape, best.indices, best.values, best.dense_shape

    frozen_case(folder, f, {"values": numbers(4), "more": numbers(3, seed=1)})
