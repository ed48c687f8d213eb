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
