"""Keras networks."""

from .support import *


@case
def keras_mlp(folder):
    layers = seeded()
    model = tf.keras.Sequential([layers.Input([8]), layers.Dense(16, "relu"), layers.Dropout(0.5), layers.Dense(4, "softmax")])
    frozen_case(folder, model, {"x": numbers(3, 8)})


@case
def keras_mlp_saved(folder):
    layers = seeded()
    model = tf.keras.Sequential([layers.Input([8]), layers.Dense(16, "relu"), layers.Dense(4, "softmax")])
    keras_saved_case(folder, model, numbers(3, 8))


@case
def keras_cnn(folder):
    layers = seeded()
    model = tf.keras.Sequential([
        layers.Input([16, 16, 3]), layers.Conv2D(8, 3, padding="same", activation="relu"), layers.BatchNormalization(),
        layers.MaxPooling2D(), layers.DepthwiseConv2D(3), layers.ReLU(6.0), layers.SeparableConv2D(8, 3),
        layers.GlobalAveragePooling2D(), layers.Dense(5),
    ])
    frozen_case(folder, model, {"x": numbers(2, 16, 16, 3)})


@case
def keras_conv1d(folder):
    layers = seeded()
    model = tf.keras.Sequential([
        layers.Input([20, 4]), layers.Conv1D(8, 3, padding="causal", activation="tanh"), layers.MaxPooling1D(2),
        layers.Conv1DTranspose(4, 3, strides=2), layers.UpSampling1D(2), layers.GlobalMaxPooling1D(),
    ])
    keras_saved_case(folder, model, numbers(2, 20, 4))


@case
def keras_upsampling(folder):
    layers = seeded()
    model = tf.keras.Sequential([
        layers.Input([6, 6, 3]), layers.Conv2DTranspose(4, 3, strides=2, padding="same"), layers.UpSampling2D(2, interpolation="bilinear"),
        layers.ZeroPadding2D(1), layers.Cropping2D(2), layers.AveragePooling2D(2), layers.LayerNormalization(), layers.PReLU(),
    ])
    frozen_case(folder, model, {"x": numbers(1, 6, 6, 3)})


@case
def keras_lstm(folder):
    layers = seeded()
    model = tf.keras.Sequential([layers.Input([7, 5]), layers.LSTM(6, return_sequences=True), layers.LSTM(4), layers.Dense(2)])
    frozen_case(folder, model, {"x": numbers(3, 7, 5)})


@case
def keras_lstm_saved(folder):
    layers = seeded()
    model = tf.keras.Sequential([layers.Input([None, 5]), layers.Bidirectional(layers.LSTM(6)), layers.Dense(2)])
    keras_saved_case(folder, model, numbers(3, 7, 5))


@case
def keras_gru(folder):
    layers = seeded()
    model = tf.keras.Sequential([layers.Input([7, 5]), layers.GRU(6, return_sequences=True), layers.SimpleRNN(3)])
    keras_saved_case(folder, model, numbers(3, 7, 5))


@case
def keras_embedding(folder):
    layers = seeded()
    model = tf.keras.Sequential([
        layers.Input([6], dtype="int32"), layers.Embedding(20, 8, mask_zero=True), layers.LSTM(5), layers.Dense(1, "sigmoid"),
    ])
    x = np.random.default_rng(0).integers(0, 20, [4, 6]).astype(np.int32)
    x[:, 4:] = 0
    frozen_case(folder, model, {"x": x})


def transformer(layers):
    x = tokens = layers.Input([12], dtype="int32")
    x = layers.Embedding(50, 16)(x)
    for _ in range(2):
        y = layers.MultiHeadAttention(4, 4)(x, x, use_causal_mask=True)
        x = layers.LayerNormalization()(x + y)
        y = layers.Dense(16)(layers.Dense(32, "gelu")(x))
        x = layers.LayerNormalization()(x + y)
    return tf.keras.Model(tokens, layers.Dense(50)(x))


@case
def keras_transformer(folder):
    model = transformer(seeded())
    frozen_case(folder, model, {"x": np.random.default_rng(0).integers(0, 50, [2, 12]).astype(np.int32)})


@case
def keras_transformer_saved(folder):
    model = transformer(seeded())
    keras_saved_case(folder, model, np.random.default_rng(0).integers(0, 50, [2, 12]).astype(np.int32))


def picture(side):
    """The picture of the tests as Keras's ResNet-50 takes it."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../images/shapes.jpg")
    pixels = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    pixels = tf.image.resize(tf.cast(pixels[tf.newaxis], tf.float32), [side, side])
    return tf.keras.applications.resnet50.preprocess_input(pixels.numpy()).astype(np.float32)


def application(folder, make, side, saved, x=None):
    seeded()
    model = make(weights=None, input_shape=(side, side, 3), classes=100)
    # Statistics of a real network differ from those of a new one.
    generator = np.random.default_rng(5)
    for layer in model.layers:
        if isinstance(layer, tf.keras.layers.BatchNormalization):
            ranges = [(layer.gamma, 0.5, 1.0), (layer.beta, -0.1, 0.1), (layer.moving_mean, -0.1, 0.1), (layer.moving_variance, 0.5, 1.5)]
            # Some have no scale.
            layer.set_weights([generator.uniform(low, high, weight.shape) for weight, low, high in ranges if weight is not None])
    x = numbers(1, side, side, 3) if x is None else x
    if saved:
        keras_saved_case(folder, model, x)
    else:
        frozen_case(folder, model, {"x": x})


@case
def keras_resnet50_saved(folder):
    application(folder, tf.keras.applications.ResNet50, 224, True, picture(224))


@case
def keras_mobilenet_v2(folder):
    application(folder, tf.keras.applications.MobileNetV2, 96, False)


@case
def keras_mobilenet_v3_saved(folder):
    application(folder, tf.keras.applications.MobileNetV3Small, 96, True)


@case
def keras_efficientnet(folder):
    application(folder, tf.keras.applications.EfficientNetB0, 64, False)


@case
def keras_densenet(folder):
    application(folder, tf.keras.applications.DenseNet121, 64, False)


@case
def keras_efficientnet_v2(folder):
    application(folder, tf.keras.applications.EfficientNetV2B0, 64, True)


@case
def keras_convnext(folder):
    application(folder, tf.keras.applications.ConvNeXtTiny, 64, True)


@case
def keras_bidirectional(folder):
    layers = seeded()
    inputs = tf.keras.Input((9, 3))
    x = layers.Bidirectional(layers.LSTM(5, return_sequences=True))(inputs)
    x = layers.Bidirectional(layers.GRU(4), merge_mode="sum")(x)
    keras_saved_case(folder, tf.keras.Model(inputs, layers.Dense(2)(x)), numbers(2, 9, 3))


@case
def keras_masked(folder):
    """Tokens of which some are filling: a mask that embeddings, recurrent layers and attention take."""
    layers = seeded()
    inputs = tf.keras.Input((8,), dtype="int32")
    x = layers.Embedding(20, 6, mask_zero=True)(inputs)
    y = layers.MultiHeadAttention(2, 4)(x, x)
    x = layers.LayerNormalization()(layers.Add()([x, y]))
    x = layers.LSTM(4)(x)
    tokens = np.array([[3, 5, 7, 9, 0, 0, 0, 0], [1, 2, 3, 4, 5, 6, 7, 8]], np.int32)
    keras_saved_case(folder, tf.keras.Model(inputs, layers.Dense(3, activation="softmax")(x)), tokens)


@case
def keras_text(folder):
    layers = seeded()
    text = layers.TextVectorization(max_tokens=50, output_sequence_length=6)
    text.adapt(["the quick brown fox", "jumps over the lazy dog", "a dog and a fox"])

    class Model(tf.Module):
        def __init__(self):
            self.text = text
            self.embedding = tf.Variable(numbers(50, 4))

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "text")])
        def serve(self, text):
            tokens = self.text(text)
            return {"tokens": tokens, "mean": tf.reduce_mean(tf.gather(self.embedding, tokens), 1)}

    module = Model()
    words = np.array(["The quick, brown dog!", "", "unknown words and a fox over the lazy moon"], object)
    saved_case(folder, module, module.serve, {"text": words})
