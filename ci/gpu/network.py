"""ResNet-50, version 1.5: its steps with their sizes, and the network as an ONNX file."""

import json
import struct
from dataclasses import dataclass

STAGES = [(3, 64), (4, 128), (6, 256), (3, 512)]
# Bytes of an activation or weight.
BYTES = {"f32": 4, "tf32": 4, "f16": 2, "bf16": 2}


@dataclass
class Step:
    """One kernel: its multiplications and additions for one image, and the elements that it moves."""

    name: str
    flops: int
    # For each image: elements read and written in the network's type, and elements that are always f32.
    activations: int
    # Once for each call.
    weights: int
    singles: int = 0
    kind: str = "convolution"


def steps(extent):
    """The steps of one call, in order, for images that lie on the device in the network's type."""
    found = []

    def convolution(name, size, inputs, outputs, window, stride, residual=False):
        after = -(-size // stride)
        pixels = after * after
        moved = size * size * inputs + pixels * outputs * (2 if residual else 1)
        found.append(Step(name, 2 * pixels * window * window * inputs * outputs, moved, window * window * inputs * outputs + outputs))
        return after

    size = convolution("conv1", extent, 3, 64, 7, 2)
    pooled = (size + 2 - 3) // 2 + 1
    found.append(Step("max pool", 9 * pooled * pooled * 64, size * size * 64 + pooled * pooled * 64, 0, kind="pooling"))
    size, inputs = pooled, 64
    for stage, (blocks, inside) in enumerate(STAGES, 1):
        for block in range(blocks):
            stride = 2 if stage > 1 and block == 0 else 1
            name = f"layer{stage}.{block}"
            if block == 0:
                convolution(f"{name}.downsample.0", size, inputs, inside * 4, 1, stride)
            convolution(f"{name}.conv1", size, inputs, inside, 1, 1)
            size = convolution(f"{name}.conv2", size, inside, inside, 3, stride)
            convolution(f"{name}.conv3", size, inside, inside * 4, 1, 1, residual=True)
            inputs = inside * 4
    found.append(Step("mean", size * size * inputs, size * size * inputs + inputs, 0, kind="pooling"))
    found.append(Step("fc", 2 * inputs * 1000, inputs, inputs * 1000, 1000, "product"))
    found.append(Step("fc bias", 1000, 0, 0, 2000, "bias"))
    return found


def bytes_of(step, precision, batch):
    size = BYTES[precision]
    return batch * (step.activations * size + step.singles * 4) + step.weights * size


def layers():
    """Each convolution: name, window, stride, and the layer whose result it reads or adds."""
    for stage, (blocks, _) in enumerate(STAGES, 1):
        for block in range(blocks):
            yield f"layer{stage}.{block}", 2 if stage > 1 and block == 0 else 1, block == 0


# ---- ONNX ---------------------------------------------------------------------------------------------------------------


def varint(number):
    number &= (1 << 64) - 1
    text = b""
    while number > 127:
        text += bytes([number & 127 | 128])
        number >>= 7
    return text + bytes([number])


def field(number, value):
    """A field of a protocol buffer: a number, or the bytes of a text or message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def ints(name, values):
    return field(1, name) + b"".join(field(8, value) for value in values) + field(20, 7)


def node(operator, inputs, output, attributes=()):
    text = b"".join(field(1, name) for name in inputs) + field(2, output) + field(3, output) + field(4, operator)
    return text + b"".join(field(5, attribute) for attribute in attributes)


def value_info(name, dims):
    shape = b"".join(field(1, field(1, dim)) for dim in dims)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))


def onnx_model(weights, batch, extent):
    """The network for images with the channels last, as in `images.f32`; the weights lie in `weights`, beside the file."""
    with open(weights, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
    nodes, tensors = [], []

    def tensor(name):
        begin, end = header[name]["data_offsets"]
        entries = [("location", "weights.safetensors"), ("offset", str(8 + length + begin)), ("length", str(end - begin))]
        data = b"".join(field(13, field(1, key) + field(2, value)) for key, value in entries)
        dims = b"".join(field(1, dim) for dim in header[name]["shape"])
        tensors.append(dims + field(2, 1) + field(8, name) + data + field(14, 1))
        return name

    def convolution(name, x, window, stride, relu=True):
        nodes.append(node("Transpose", [tensor(f"{name}.filter")], f"{name}.oihw", [ints("perm", [3, 2, 0, 1])]))
        pads = [window // 2] * 4
        attributes = [ints("kernel_shape", [window] * 2), ints("pads", pads), ints("strides", [stride] * 2)]
        nodes.append(node("Conv", [x, f"{name}.oihw", tensor(f"{name}.bias")], name, attributes))
        if not relu:
            return name
        nodes.append(node("Relu", [name], f"{name}.relu"))
        return f"{name}.relu"

    nodes.append(node("Transpose", ["images"], "nchw", [ints("perm", [0, 3, 1, 2])]))
    x = convolution("conv1", "nchw", 7, 2)
    pooling = [ints("kernel_shape", [3, 3]), ints("pads", [1] * 4), ints("strides", [2, 2])]
    nodes.append(node("MaxPool", [x], "pooled", pooling))
    x = "pooled"
    for name, stride, has_downsample in layers():
        y = convolution(f"{name}.conv1", x, 1, 1)
        y = convolution(f"{name}.conv2", y, 3, stride)
        y = convolution(f"{name}.conv3", y, 1, 1, relu=False)
        if has_downsample:
            x = convolution(f"{name}.downsample.0", x, 1, stride, relu=False)
        nodes.append(node("Add", [y, x], f"{name}.sum"))
        nodes.append(node("Relu", [f"{name}.sum"], f"{name}.out"))
        x = f"{name}.out"
    nodes.append(node("GlobalAveragePool", [x], "mean"))
    nodes.append(node("Flatten", ["mean"], "flat"))
    tensor("fc.filter")
    shape = [2048, 1000]
    tensors.append(field(1, 2) + field(2, 7) + field(8, "fc.shape") + field(9, struct.pack("<2q", *shape)))
    nodes.append(node("Reshape", ["fc.filter", "fc.shape"], "fc.matrix"))
    nodes.append(node("Gemm", ["flat", "fc.matrix", tensor("fc.bias")], "scores"))
    graph = b"".join(field(1, text) for text in nodes) + field(2, "resnet50")
    graph += b"".join(field(5, text) for text in tensors)
    graph += field(11, value_info("images", [batch, extent, extent, 3])) + field(12, value_info("scores", [batch, 1000]))
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17))
