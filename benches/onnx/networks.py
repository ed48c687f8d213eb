#!/usr/bin/env python3
"""Writes the networks of the table "ONNX models on the host" of benches/RESULTS.md:

    python3 benches/onnx/networks.py FOLDER

The nine networks of the `onnx` package's `light` suite come without weights: each parameter is one number repeated. The
script puts seeded random weights in their place, of the size that keeps activations of order one. It also exports a
transformer encoder of BERT's shape (base: 12 layers of 768 features, 128 tokens). Needs numpy and onnx; the encoder, torch.
"""
import os
import sys

import numpy as np
import onnx
from onnx import numpy_helper

SEED = 23


def parameter(rng, shape, uses):
    """Random numbers for a parameter that is used as inputs `uses`: pairs of an operator and the input's number."""
    if any(op == "BatchNormalization" and place in (1, 4) for op, place in uses):
        return rng.uniform(0.5, 1.5, shape).astype(np.float32)
    if len(shape) < 2:
        return (0.1 * rng.standard_normal(shape)).astype(np.float32)
    fan_in = np.prod(shape[1:])
    return (np.sqrt(2 / fan_in) * rng.standard_normal(shape)).astype(np.float32)


def with_weights(model):
    """The model with random initializers in the place of its repeated numbers."""
    graph, rng = model.graph, np.random.default_rng(SEED)
    shapes = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    uses = {}
    for node in graph.node:
        for place, name in enumerate(node.input):
            uses.setdefault(name, []).append((node.op_type, place))
    filled, kept = [], []
    for node in graph.node:
        shape = shapes.get(node.input[0]) if node.op_type == "ConstantOfShape" else None
        if shape is None:
            kept.append(node)
            continue
        values = parameter(rng, tuple(int(extent) for extent in shape), uses.get(node.output[0], []))
        filled.append(numpy_helper.from_array(values, node.output[0]))
    used = {name for node in kept for name in node.input}
    initializers = [tensor for tensor in graph.initializer if tensor.name in used] + filled
    names = {tensor.name for tensor in initializers}
    inputs = [value for value in graph.input if value.name in used and value.name not in names]
    del graph.node[:], graph.initializer[:], graph.input[:]
    graph.node.extend(kept)
    graph.initializer.extend(initializers)
    graph.input.extend(inputs)
    return model


def export_encoder(path):
    import torch

    torch.manual_seed(SEED)
    torch.backends.mha.set_fastpath_enabled(False)
    layer = torch.nn.TransformerEncoderLayer(768, 12, 3072, activation="gelu", batch_first=True)

    class Encoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.words = torch.nn.Embedding(30522, 768)
            self.places = torch.nn.Parameter(torch.randn(1, 128, 768))
            self.normalize = torch.nn.LayerNorm(768)
            self.layers = torch.nn.TransformerEncoder(layer, 12)

        def forward(self, tokens):
            return self.layers(self.normalize(self.words(tokens) + self.places))

    # The layers are copies of one another.
    encoder = Encoder().eval()
    for weights in encoder.layers.parameters():
        if weights.dim() > 1:
            torch.nn.init.xavier_uniform_(weights)
    tokens = torch.randint(0, 30522, (1, 128))
    with torch.no_grad():
        torch.onnx.export(
            encoder,
            (tokens,),
            path,
            opset_version=17,
            dynamo=False,
            input_names=["tokens"],
            output_names=["y"],
        )


def main(folder):
    os.makedirs(folder, exist_ok=True)
    suite = os.path.join(os.path.dirname(onnx.__file__), "backend/test/data/light")
    for file in sorted(os.listdir(suite)):
        if file.endswith(".onnx"):
            onnx.save(with_weights(onnx.load(os.path.join(suite, file))), os.path.join(folder, file))
            print("wrote", file, flush=True)
    export_encoder(os.path.join(folder, "encoder.onnx"))
    print("wrote encoder.onnx", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
