"""Keras layers, several in each network."""

from .support import *


def layers_case(folder, make, *values):
    """A SavedModel of a network with an input for each value and the outputs that `make` gives of them."""
    seeded()
    inputs = [tf.keras.Input(value.shape[1:], dtype=value.dtype, name=f"in{index}") for index, value in enumerate(values)]
    outputs = make(tf.keras.layers, *inputs)
    model = tf.keras.Model(inputs, outputs)
    path = os.path.join(folder, "saved_model")

    @tf.function(input_signature=[tf.TensorSpec([None, *value.shape[1:]], value.dtype, f"in{index}") for index, value in enumerate(values)])
    def serve(*args):
        results = model(list(args), training=False)
        results = results if isinstance(results, (list, tuple)) else [results]
        return {f"out{index}": tf.identity(result) for index, result in enumerate(results)}

    archive = tf.Module()
    archive.model = model
    archive.variables_of = [variable.value for variable in model.variables]
    archive.serve = serve
    tf.saved_model.save(archive, path, signatures=serve)
    loaded = tf.saved_model.load(path).signatures["serving_default"]
    inputs = {f"in{index}": value for index, value in enumerate(values)}
    results = loaded(**{name: tf.constant(value) for name, value in inputs.items()})
    describe(folder, "saved_model", inputs, {name: value.numpy() for name, value in results.items()})


@case
def layers_convolutions_1d(folder):
    def make(layers, x):
        y = layers.SeparableConv1D(6, 3, padding="same")(x)
        y = layers.DepthwiseConv1D(3, depth_multiplier=2)(y)
        z = layers.Conv1D(5, 3, dilation_rate=2, padding="causal")(x)
        return [layers.AveragePooling1D(2)(y), layers.GlobalAveragePooling1D()(z), layers.Cropping1D(1)(layers.ZeroPadding1D(2)(z)),
                layers.Conv1DTranspose(3, 4, strides=3, padding="same")(x)]

    layers_case(folder, make, numbers(2, 12, 4))


@case
def layers_convolutions_2d(folder):
    def make(layers, x):
        return [layers.Conv2D(8, (3, 2), strides=(2, 1), padding="same")(x), layers.Conv2D(4, 3, dilation_rate=2)(x),
                layers.Conv2D(8, 3, groups=2)(x), layers.DepthwiseConv2D(3, depth_multiplier=2, strides=2, padding="same")(x),
                layers.SeparableConv2D(5, 3, depth_multiplier=2)(x), layers.Conv2DTranspose(3, 3, strides=2, output_padding=1)(x),
                layers.MaxPooling2D(3, 2, "same")(x), layers.AveragePooling2D(3, 2, "same")(x)]

    layers_case(folder, make, numbers(2, 9, 10, 4))


@case
def layers_convolutions_3d(folder):
    def make(layers, x):
        y = layers.Conv3D(4, 3, padding="same", activation="relu")(x)
        return [layers.MaxPooling3D(2)(y), layers.AveragePooling3D(2, padding="same")(y),
                layers.UpSampling3D(2)(x), layers.ZeroPadding3D(1)(x), layers.Cropping3D(1)(x), layers.GlobalMaxPooling3D()(y),
                layers.GlobalAveragePooling3D()(y)]

    layers_case(folder, make, numbers(2, 4, 5, 6, 3))


@case
def layers_recurrent(folder):
    def make(layers, x):
        state = layers.LSTM(4, return_state=True, return_sequences=True, go_backwards=True)(x)
        return [*state, layers.GRU(3, reset_after=False)(x), layers.GRU(3, return_sequences=True, activation="relu")(x),
                layers.LSTM(3, unroll=True)(x), layers.TimeDistributed(layers.Dense(2))(x),
                layers.RNN(layers.StackedRNNCells([layers.LSTMCell(3), layers.GRUCell(2)]))(x),
                layers.Bidirectional(layers.SimpleRNN(3), merge_mode="ave")(x)]

    layers_case(folder, make, numbers(2, 6, 3))


@case
def layers_recurrent_masks(folder):
    def make(layers, x):
        y = layers.Embedding(12, 5, mask_zero=True)(x)
        z = layers.Bidirectional(layers.LSTM(4, return_sequences=True))(y)
        return [layers.Bidirectional(layers.GRU(3))(z), layers.LSTM(3, return_sequences=True)(y), layers.GRU(2, go_backwards=True)(y),
                layers.GlobalAveragePooling1D()(y), layers.Attention()([z, z])]

    tokens = np.array([[3, 4, 0, 0, 0], [1, 2, 3, 4, 5], [7, 0, 0, 0, 0]], np.int32)
    layers_case(folder, make, tokens)


@case
def layers_masking(folder):
    def make(layers, x):
        y = layers.Masking(0.0)(x)
        return [layers.LSTM(3)(y), layers.GRU(3, return_sequences=True)(y), layers.SimpleRNN(2)(y)]

    x = numbers(2, 5, 3)
    x[0, 3:] = 0
    layers_case(folder, make, x)


@case
def layers_recurrent_images(folder):
    def make(layers, x):
        return [layers.ConvLSTM2D(3, 3, padding="same", return_sequences=True)(x), layers.TimeDistributed(layers.Conv2D(2, 3))(x)]

    layers_case(folder, make, numbers(1, 4, 6, 5, 2))


@case
def layers_attention(folder):
    def make(layers, x, y):
        return [layers.Attention(use_scale=True)([x, y]), layers.AdditiveAttention()([x, y]),
                layers.MultiHeadAttention(2, 3, value_dim=4)(x, y), layers.MultiHeadAttention(2, 3)(x, x, use_causal_mask=True),
                layers.GroupQueryAttention(4, 4, 2)(x, y), layers.MultiHeadAttention(2, 3)(x, y, return_attention_scores=True)[1]]

    layers_case(folder, make, numbers(2, 5, 6), numbers(2, 7, 6, seed=1))


@case
def layers_normalizations(folder):
    def make(layers, x):
        return [layers.LayerNormalization(axis=[1, 2])(x), layers.GroupNormalization(3)(x), layers.UnitNormalization()(x),
                layers.BatchNormalization()(x), layers.LayerNormalization(epsilon=1e-6, center=False)(x),
                layers.RMSNormalization()(x), layers.BatchNormalization(axis=1)(x), layers.SpectralNormalization(layers.Conv2D(3, 2))(x)]

    layers_case(folder, make, numbers(2, 4, 5, 6))


@case
def layers_activations(folder):
    def make(layers, x):
        names = ["celu", "elu", "exponential", "gelu", "glu", "hard_shrink", "hard_sigmoid", "hard_silu", "hard_tanh", "leaky_relu",
                 "linear", "log_sigmoid", "log_softmax", "mish", "relu", "relu6", "selu", "sigmoid", "silu", "soft_shrink", "softmax",
                 "softplus", "softsign", "sparse_plus", "sparse_sigmoid", "sparsemax", "squareplus", "tanh", "tanh_shrink", "threshold"]
        made = [layers.Activation(name if name != "threshold" else lambda x: tf.keras.activations.threshold(x, 0.2, -1.0))(x)
                for name in names]
        return made + [layers.PReLU()(x), layers.ReLU(2.0, 0.1, 0.3)(x), layers.Softmax(1)(x)]

    layers_case(folder, make, numbers(2, 6, 4, low=-3.0, high=3.0))


@case
def layers_merging(folder):
    def make(layers, x, y):
        return [layers.Add()([x, y]), layers.Subtract()([x, y]), layers.Multiply()([x, y]), layers.Average()([x, y]), layers.Maximum()([x, y]),
                layers.Minimum()([x, y]), layers.Concatenate(1)([x, y]), layers.Dot(2, normalize=True)([x, y]), layers.RepeatVector(3)(layers.Flatten()(x)),
                layers.Permute((2, 1))(x), layers.Reshape((-1, 2))(x), layers.EinsumDense("abc,cd->abd", (None, 3))(x)]

    layers_case(folder, make, numbers(2, 3, 4), numbers(2, 3, 4, seed=1))


@case
def layers_images(folder):
    def make(layers, x):
        return [layers.Rescaling(1 / 127.5, -1.0)(x), layers.CenterCrop(4, 3)(x), layers.RandomFlip()(x), layers.RandomRotation(0.1)(x),
                layers.RandomContrast(0.1)(x), layers.UpSampling2D((2, 3))(x), layers.Resizing(5, 4)(x),
                layers.Resizing(11, 4, "nearest")(x), layers.Resizing(4, 9, "bicubic")(x), layers.Resizing(5, 5, crop_to_aspect_ratio=True)(x),
                layers.Resizing(6, 7, "lanczos3")(x), layers.Normalization(mean=[1.0, 2.0, 3.0], variance=[2.0, 3.0, 4.0])(x)]

    layers_case(folder, make, numbers(2, 8, 6, 3, low=0.0, high=255.0))


WORDS = np.array(["the lazy Fox", "a dog, a cat!", ""], object)


def text_case(folder, make, words):
    """A SavedModel of layers that take texts: `make` gives what it must keep, and its function."""
    kept, function = make(tf.keras.layers)
    module = tf.Module()
    module.kept = kept
    serve = tf.function(lambda text: dict(function(text)), input_signature=[tf.TensorSpec(words.shape, tf.string, "text")])
    saved_case(folder, module, serve, {"text": words})


@case
def text_vectors(folder):
    def make(layers):
        made = {}
        for name, options in {
            "integers": {"output_sequence_length": 5}, "grams": {"ngrams": 2, "output_sequence_length": 6},
            "hot": {"output_mode": "multi_hot"}, "counts": {"output_mode": "count"}, "weights": {"output_mode": "tf_idf"},
            "characters": {"split": "character", "output_sequence_length": 9}, "open": {"max_tokens": 20},
            "raw": {"standardize": None, "output_sequence_length": 4}, "lower": {"standardize": "lower", "output_sequence_length": 4},
        }.items():
            layer = layers.TextVectorization(**options)
            layer.adapt(["the quick brown fox", "jumps over the lazy dog", "a dog and a fox"])
            made[name] = layer
        return list(made.values()), lambda text: {name: layer(text) for name, layer in made.items()}

    text_case(folder, make, WORDS)


@case
def text_classifier(folder):
    def make(layers):
        seeded()
        text = layers.TextVectorization(max_tokens=40, output_sequence_length=8)
        text.adapt(["the quick brown fox", "jumps over the lazy dog", "a dog and a fox"])
        net = tf.keras.Sequential([layers.Input([8], dtype="int64"), layers.Embedding(40, 6, mask_zero=True), layers.Bidirectional(layers.LSTM(5)), layers.Dense(3, "softmax")])
        return [text, [variable.value for variable in net.variables]], lambda text_: {"scores": net(text(text_))}

    text_case(folder, make, WORDS)
