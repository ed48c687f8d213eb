#!/usr/bin/env python3
"""ResNet-50 with seeded weights in ONNX, and what ONNX Runtime makes of it: `tests/reference/resnet50.txt` holds its scores
for two images of 64 x 64 pixels, with which `tests/resnet50` compares ours.

    env/bin/pip install onnx==1.23.2 onnxruntime==1.31.1
    env/bin/python tests/reference/resnet50.py

The layers and the random numbers are those of `models/src/resnet50`.
"""
import os

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

STAGES = [(3, 64), (4, 128), (6, 256), (3, 512)]
MASK = (1 << 64) - 1
GAMMA = 0x9E3779B97F4A7C15


def mix(z):
    """The output function of SplitMix64, for arrays of states."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


class Random:
    """Numbers of one stream of a seed."""

    def __init__(self, seed, stream):
        first = int(mix(np.array([(seed + GAMMA) & MASK], np.uint64))[0])
        self.state = first ^ (stream * 0xD1B54A32D192ED03 & MASK)

    def uniform(self, count, bound):
        """Numbers between two bounds, in the arithmetic of f32."""
        steps = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(GAMMA) + np.uint64(self.state)
        self.state = (self.state + count * GAMMA) & MASK
        unit = (mix(steps) >> np.uint64(40)).astype(np.float32) / np.float32(1 << 24)
        return (unit * np.float32(2) - np.float32(1)) * np.float32(bound)


def images(batch, extent, seed):
    """Images, NCHW."""
    return Random(seed, MASK).uniform(batch * extent * extent * 3, 1).reshape(batch, extent, extent, 3).transpose(0, 3, 1, 2)


class Builder:
    """The network in the making."""

    def __init__(self, seed):
        self.seed, self.nodes, self.weights, self.layers = seed, [], [], 0

    def node(self, op, inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def weight(self, values):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def convolution(self, x, window, inputs, outputs, stride, residual=None, relu=False):
        random = Random(self.seed, self.layers)
        self.layers += 1
        depth = window * window * inputs
        bound = np.sqrt(np.float32(3) * np.float32(0.5 if residual else 2.0) / np.float32(depth))
        filter = random.uniform(depth * outputs, bound).reshape(window, window, inputs, outputs)
        bias = random.uniform(outputs, 0.1)
        pad = window // 2
        y = self.node("Conv", [x, self.weight(filter.transpose(3, 2, 0, 1)), self.weight(bias)],
                      kernel_shape=[window] * 2, strides=[stride] * 2, pads=[pad] * 4)
        if residual:
            y = self.node("Add", [y, residual])
        return self.node("Relu", [y]) if relu else y


def model(seed):
    """The network, for images of any number."""
    b = Builder(seed)
    x = b.convolution("images", 7, 3, 64, 2, relu=True)
    x = b.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for stage, (blocks, inside) in enumerate(STAGES):
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            shortcut = b.convolution(x, 1, channels, 4 * inside, stride) if block == 0 else x
            y = b.convolution(x, 1, channels, inside, 1, relu=True)
            y = b.convolution(y, 3, inside, inside, stride, relu=True)
            x = b.convolution(y, 1, inside, 4 * inside, 1, residual=shortcut, relu=True)
            channels = 4 * inside
    x = b.node("GlobalAveragePool", [x])
    x = b.node("Flatten", [b.convolution(x, 1, channels, 1000, 1)])
    graph = helper.make_graph(
        b.nodes, "resnet50",
        [helper.make_tensor_value_info("images", TensorProto.FLOAT, ["n", 3, "h", "w"])],
        [helper.make_tensor_value_info(x, TensorProto.FLOAT, ["n", 1000])], b.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def session(seed, threads):
    """The network, ready to run."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(model(seed).SerializeToString(), options, providers=["CPUExecutionProvider"])


def main():
    scores = session(1, 1).run(None, {"images": images(2, 64, 1)})[0]
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "resnet50.txt")
    with open(path, "w") as out:
        for row in scores:
            out.write(" ".join(f"{score:.7g}" for score in row) + "\n")
    print(f"scores from {scores.min():.3f} to {scores.max():.3f}")


if __name__ == "__main__":
    main()
