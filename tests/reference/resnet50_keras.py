#!/usr/bin/env python3
"""What Keras's ResNet-50 makes of weights that `tests/resnet50/weights.rs` makes too, with Keras's names: its scores for two
images of 64 x 64 pixels go to `tests/reference/resnet50_keras.txt`.

    env/bin/pip install tensorflow-cpu==2.21.0
    env/bin/python tests/reference/resnet50_keras.py
"""
import os

import numpy as np
import tensorflow as tf

from resnet50 import Random, images

SEED = 1


def layers():
    """Name, and whether a shortcut is added, in the order of `models/src/resnet50`."""
    yield "conv1", False
    for stage, blocks in enumerate([3, 4, 6, 3]):
        for block in range(blocks):
            name = f"conv{stage + 2}_block{block + 1}"
            if block == 0:
                yield f"{name}_0", False
            for part in (1, 2, 3):
                yield f"{name}_{part}", part == 3


def seeded(at, shape, gain):
    """A filter and a bias, as `resnet50.py` makes them."""
    random = Random(SEED, at)
    depth = int(np.prod(shape[:-1]))
    bound = np.sqrt(np.float32(3) * np.float32(gain) / np.float32(depth))
    return random.uniform(depth * shape[-1], bound).reshape(shape), random.uniform(shape[-1], 0.1)


def normalization(at, count):
    """Scale, offset, mean and variance."""
    c = np.arange(count)
    scale = 0.75 + (c * 7 + at) % 11 / 20
    offset = ((c * 5 + at) % 13 - 6) / 50
    mean = ((c * 3 + at) % 7 - 3) / 20
    variance = 0.5 + (c * 11 + at) % 17 / 16
    return [values.astype(np.float32) for values in (scale, offset, mean, variance)]


def main():
    model = tf.keras.applications.ResNet50(weights=None, classifier_activation=None, input_shape=(64, 64, 3), pooling=None, classes=1000)
    count = 0
    for at, (name, added) in enumerate(layers()):
        layer = model.get_layer(f"{name}_conv")
        layer.set_weights(seeded(at, layer.kernel.shape, 0.5 if added else 2.0))
        norm = model.get_layer(f"{name}_bn")
        norm.set_weights(normalization(at, layer.kernel.shape[-1]))
        count += 1
    last = model.get_layer("predictions")
    last.set_weights(seeded(count, last.kernel.shape, 2.0))
    scores = model(images(2, 64, SEED).transpose(0, 2, 3, 1), training=False).numpy()
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "resnet50_keras.txt")
    with open(path, "w") as out:
        for row in scores:
            out.write(" ".join(f"{score:.7g}" for score in row) + "\n")
    print(f"scores from {scores.min():.3f} to {scores.max():.3f}")


if __name__ == "__main__":
    main()
