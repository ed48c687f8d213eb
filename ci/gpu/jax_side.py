#!/usr/bin/env python3
"""ResNet-50 with JAX, measured on command, as torch_side.py does with PyTorch:

    jax_side.py --device cuda --inputs FOLDER --extent 224

It answers the commands `open` (of the only variant, `jit`), `run`, `scores` and `close`.
"""

import argparse
import json
import os
import struct
import sys
import time

# The other systems need memory, too.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
try:
    import jax
    import numpy
    from jax import lax
    from jax import numpy as jnp
except ImportError:
    sys.exit("jax_side.py: JAX is not installed")

from network import layers
from sides import QUEUED, serve, timed

DTYPES = {"f32": jnp.float32, "tf32": jnp.float32, "f16": jnp.float16, "bf16": jnp.bfloat16}
PRECISIONS = {"f32": "highest", "tf32": "tensorfloat32", "f16": "default", "bf16": "default"}


def read_safetensors(path):
    """All tensors of a file of f32."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = file.read()
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            tensors[name] = numpy.frombuffer(data[begin:end], numpy.float32).reshape(entry["shape"])
    return tensors


def forward(weights, images):
    """The scores of images with the channels last, in the type of the weights."""

    def convolution(x, name, stride=1, padding=0):
        filter, bias = weights[f"{name}.filter"], weights[f"{name}.bias"]
        pads = [(padding, padding)] * 2
        layout = ("NHWC", "HWIO", "NHWC")
        return lax.conv_general_dilated(x, filter, (stride, stride), pads, dimension_numbers=layout) + bias

    x = jax.nn.relu(convolution(images.astype(weights["conv1.bias"].dtype), "conv1", 2, 3))
    pads = ((0, 0), (1, 1), (1, 1), (0, 0))
    x = lax.reduce_window(x, jnp.array(-jnp.inf, x.dtype), lax.max, (1, 3, 3, 1), (1, 2, 2, 1), pads)
    for name, stride, has_downsample in layers():
        y = jax.nn.relu(convolution(x, f"{name}.conv1"))
        y = jax.nn.relu(convolution(y, f"{name}.conv2", stride, 1))
        y = convolution(y, f"{name}.conv3")
        x = jax.nn.relu(y + (convolution(x, f"{name}.downsample.0", stride) if has_downsample else x))
    mean = x.mean(axis=(1, 2))
    return (mean @ weights["fc.filter"].reshape(-1, 1000) + weights["fc.bias"]).astype(jnp.float32)


class Network:
    """The network for one precision and batch."""

    def __init__(self, arguments, precision, batch):
        self.device, self.is_cuda = jax.devices(arguments.device)[0], arguments.device == "cuda"
        extent = arguments.extent
        with open(f"{arguments.inputs}/images.f32", "rb") as file:
            self.host = numpy.frombuffer(file.read(batch * extent * extent * 3 * 4), numpy.float32)
        self.host = self.host.reshape(batch, extent, extent, 3)
        dtype = DTYPES[precision]
        tensors = read_safetensors(f"{arguments.inputs}/weights.safetensors")
        self.weights = {name: jax.device_put(tensor.astype(dtype), self.device) for name, tensor in tensors.items()}
        with jax.default_matmul_precision(PRECISIONS[precision]):
            lowered = jax.jit(forward).lower(self.weights, self.upload())
        self.compiled = lowered.compile()
        # In the network's type, as the other systems keep them.
        self.resident = jax.device_put(self.host.astype(dtype), self.device)
        with jax.default_matmul_precision(PRECISIONS[precision]):
            self.of_resident = jax.jit(forward).lower(self.weights, self.resident).compile()
        for _ in range(3):
            self.scores()
            self.compute(1)

    def upload(self):
        return jax.device_put(self.host, self.device)

    def scores(self):
        return numpy.asarray(self.compiled(self.weights, self.upload()))

    def calls(self, count):
        results = [self.compiled(self.weights, self.upload()) for _ in range(count)]
        for result in results:
            result.copy_to_host_async()
        for result in results:
            numpy.asarray(result)

    def compute(self, count):
        results = [self.of_resident(self.weights, self.resident) for _ in range(count)]
        results[-1].block_until_ready()

    def run(self, mode, seconds):
        queued = QUEUED if self.is_cuda else 1
        works = {
            "call": (self.scores, 1),
            "calls": (lambda: self.calls(queued), queued),
            "resident": (lambda: self.compute(1), 1),
            "residents": (lambda: self.compute(queued), queued),
        }
        return timed(*works[mode], seconds)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", required=True, choices=["cpu", "cuda"])
    parser.add_argument("--inputs", required=True)
    parser.add_argument("--extent", type=int, default=224)
    arguments = parser.parse_args()
    networks = {}

    def answer(command):
        if "open" in command:
            start = time.perf_counter()
            networks["jit"] = Network(arguments, command["precision"], command["batch"])
            return {"first_result_s": time.perf_counter() - start}
        if "close" in command:
            networks.clear()
            return {}
        network = networks[command["of"]]
        if "run" in command:
            return network.run(command["run"], command["seconds"])
        network.scores().astype(numpy.float32).tofile(command["scores"])
        return {"scores": len(network.host) * 1000}

    device = jax.devices(arguments.device)[0]
    serve({"jax": jax.__version__, "device": device.device_kind}, answer)


if __name__ == "__main__":
    main()
