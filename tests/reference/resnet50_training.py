#!/usr/bin/env python3
"""Steps of training ResNet-50 in PyTorch: `tests/reference/resnet50_training.txt` holds the losses before each step, which
`tests/resnet50_training.rs` compares with ours.

    env/bin/pip install torch==1.13.1 onnx==1.23.2 onnxruntime==1.31.1
    env/bin/python tests/reference/resnet50_training.py

Layers, weights and images are those of `resnet50.py`, without the biases before batch normalizations. These begin with
offsets of 0 and scales of 1, but for those that end a residual block, whose scales begin with 0, as is usual: every block is
its shortcut at first. (With scales of 1 everywhere training is chaotic: rounding alone makes losses of twenty steps differ
by half.) Each step sees the same images. The settings are written down with the losses, and how far those in double
precision are from them, which is what rounding alone does.
"""
import os

import numpy as np
import torch
import torch.nn.functional as F

from resnet50 import STAGES, Random, images

BATCH, EXTENT, SEED, STEPS = 2, 64, 1, 20
LABELS = [17, 805]
RATE, MOMENTUM, EPSILON = 3e-4, 0.9, 1e-5


def tensor(values, dtype):
    """A tensor of these numbers; by way of bytes, as PyTorch and NumPy need not be of one age."""
    values = np.ascontiguousarray(values, np.float32)
    return torch.frombuffer(bytearray(values.tobytes()), dtype=torch.float32).reshape(values.shape).to(dtype)


class Network:
    """The network; its parameters are made by the first call."""

    def __init__(self, dtype):
        self.dtype, self.parameters, self.known, self.layers = dtype, [], False, 0

    def parameter(self, values):
        self.parameters.append(tensor(values(), self.dtype).requires_grad_())

    def weights(self, window, inputs, outputs, added):
        """Filter and bias of the next layer from the seed."""
        random = Random(SEED, self.layers)
        depth = window * window * inputs
        bound = np.sqrt(np.float32(3) * np.float32(0.5 if added else 2.0) / np.float32(depth))
        filter = random.uniform(depth * outputs, bound).reshape(window, window, inputs, outputs)
        return filter.transpose(3, 2, 0, 1), random.uniform(outputs, 0.1)

    def convolution(self, x, window, inputs, outputs, stride, residual=None, relu=False):
        if not self.known:
            self.parameter(lambda: self.weights(window, inputs, outputs, residual is not None)[0])
            self.parameter(lambda: np.full(outputs, 1.0 if residual is None else 0.0))
            self.parameter(lambda: np.zeros(outputs))
        filter, scale, offset = self.parameters[3 * self.layers:][:3]
        self.layers += 1
        x = F.conv2d(x, filter, stride=stride, padding=window // 2)
        x = F.batch_norm(x, None, None, scale, offset, training=True, eps=EPSILON)
        x = x if residual is None else x + residual
        return F.relu(x) if relu else x

    def scores(self, x):
        self.layers = 0
        x = self.convolution(x, 7, 3, 64, 2, relu=True)
        x = F.max_pool2d(x, 3, stride=2, padding=1)
        channels = 64
        for stage, (blocks, inside) in enumerate(STAGES):
            for block in range(blocks):
                stride = 2 if stage > 0 and block == 0 else 1
                shortcut = self.convolution(x, 1, channels, 4 * inside, stride) if block == 0 else x
                y = self.convolution(x, 1, channels, inside, 1, relu=True)
                y = self.convolution(y, 3, inside, inside, stride, relu=True)
                x = self.convolution(y, 1, inside, 4 * inside, 1, residual=shortcut, relu=True)
                channels = 4 * inside
        if not self.known:
            filter, bias = self.weights(1, channels, 1000, False)
            self.parameter(lambda: filter.reshape(1000, channels))
            self.parameter(lambda: bias)
            self.known = True
        return F.linear(x.mean((2, 3)), *self.parameters[-2:])


def losses(dtype):
    """The loss before each step."""
    network, labels = Network(dtype), torch.tensor(LABELS)
    x = tensor(images(BATCH, EXTENT, SEED), dtype)
    optimizer = None
    for _ in range(STEPS):
        loss = F.cross_entropy(network.scores(x), labels)
        optimizer = optimizer or torch.optim.SGD(network.parameters, lr=RATE, momentum=MOMENTUM)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


def main():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "resnet50_training.txt")
    found, double = list(losses(torch.float32)), list(losses(torch.float64))
    off = max(abs(x - y) / y for x, y in zip(found, double))
    with open(path, "w") as out:
        out.write(f"# PyTorch {torch.__version__}: batch {BATCH}, extent {EXTENT}, seed {SEED}, labels {LABELS}, ")
        out.write(f"SGD with rate {RATE} and momentum {MOMENTUM}, epsilon {EPSILON}\n")
        out.write(f"# Losses in double precision differ from these by at most {off:.1e} of themselves.\n")
        out.writelines(f"{loss:.7g}\n" for loss in found)
    print(open(path).read(), end="")


if __name__ == "__main__":
    main()
