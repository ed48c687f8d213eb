#!/usr/bin/env python3
"""ResNet-50 with PyTorch, measured on command: the other side of `measure` (benches/measure).

    torch_side.py --device cuda --inputs FOLDER --extent 224

FOLDER is what `measure prepare` wrote. The script reads lines of JSON and answers each with one line:

    {"open": "graph", "precision": "f16", "batch": 32}         the seconds until the first result
    {"run": "resident", "seconds": 1.0, "of": "graph"}         calls, percentiles of latencies
    {"scores": "FILE", "of": "graph"}                          writes the scores as raw f32
    {"profile": 10, "of": "graph"}                             the time of each kernel in so many calls
    {"close": true}                                            forgets all networks
    {"reference": "FILE", "count": 32}                         writes the scores of the first images, computed in f64
    {"ceilings": 8192}                                         what the card reaches with products of that size, and attention

Modes are those of `measure`: `call` and `calls` from host memory to host memory, `resident` and `residents` with images and
scores that stay on the device. A batch normalization with mean 0 and variance 1 follows each convolution, so that the
network has PyTorch's usual layers and computes what ours does.
"""

import argparse
import json
import struct
import sys
import time

try:
    import torch
except ImportError:
    sys.exit("torch_side.py: PyTorch is not installed")
from torch import nn

from sides import QUEUED, serve, timed

EPSILON = 1e-5
DTYPES = {"f32": torch.float32, "tf32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64}
# The shapes of benches/device/attention.rs: batch, heads, heads of keys, rows, keys, elements, whether rows see their past.
ATTENTION = {
    "attention, ViT-B, 64 images, f32": ("f32", 64, 12, 12, 197, 197, 64, False),
    "attention, ViT-B, 64 images, f16": ("f16", 64, 12, 12, 197, 197, 64, False),
    "attention, prompt of 4096, f16": ("f16", 1, 32, 8, 4096, 4096, 128, True),
    "attention, a token after 4096, f16": ("f16", 1, 32, 8, 1, 4096, 128, False),
    "attention, 32 tokens after 4096, f16": ("f16", 32, 32, 8, 1, 4096, 128, False),
}
VARIANTS = {
    # Name: channels last, cudnn.benchmark.
    "eager": (False, False),
    "channels_last": (True, False),
    "benchmark": (True, True),
    "graph": (True, True),
    "compile": (True, True),
}


def convolution(inputs, outputs, window, stride):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, window, stride, window // 2, bias=False), nn.BatchNorm2d(outputs, eps=EPSILON)
    )


class Block(nn.Module):
    def __init__(self, inputs, inside, stride):
        super().__init__()
        outside = inside * 4
        self.conv1 = convolution(inputs, inside, 1, 1)
        self.conv2 = convolution(inside, inside, 3, stride)
        self.conv3 = convolution(inside, outside, 1, 1)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut = None
        if stride != 1 or inputs != outside:
            self.shortcut = convolution(inputs, outside, 1, stride)

    def forward(self, x):
        y = self.relu(self.conv1(x))
        y = self.relu(self.conv2(y))
        y = self.conv3(y)
        y += x if self.shortcut is None else self.shortcut(x)
        return self.relu(y)


class ResNet50(nn.Module):
    """Version 1.5, as torchvision has it."""

    def __init__(self):
        super().__init__()
        self.conv1 = convolution(3, 64, 7, 2)
        self.relu = nn.ReLU(inplace=True)
        self.pool = nn.MaxPool2d(3, 2, 1)
        inputs = 64
        for stage, (blocks, inside) in enumerate([(3, 64), (4, 128), (6, 256), (3, 512)], 1):
            layers = []
            for block in range(blocks):
                layers.append(Block(inputs, inside, 2 if stage > 1 and block == 0 else 1))
                inputs = inside * 4
            setattr(self, f"layer{stage}", nn.Sequential(*layers))
        self.mean = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(inputs, 1000)

    def forward(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.mean(x), 1))


def read_safetensors(path):
    """All tensors of a file of f32."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = bytearray(file.read())
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            tensors[name] = torch.frombuffer(data, dtype=torch.float32, count=(end - begin) // 4, offset=begin).reshape(entry["shape"])
    return tensors


def load(model, path):
    """Gives the network the weights of a file that `measure prepare` wrote."""
    tensors = read_safetensors(path)

    def set_layer(module, name):
        conv, norm = module
        conv.weight.copy_(tensors[f"{name}.filter"].permute(3, 2, 0, 1))
        norm.weight.fill_(1.0)
        norm.bias.copy_(tensors[f"{name}.bias"])
        norm.running_mean.zero_()
        norm.running_var.fill_(1.0 - EPSILON)

    with torch.no_grad():
        set_layer(model.conv1, "conv1")
        for stage in range(1, 5):
            for number, block in enumerate(getattr(model, f"layer{stage}")):
                for part in ("conv1", "conv2", "conv3"):
                    set_layer(getattr(block, part), f"layer{stage}.{number}.{part}")
                if block.shortcut is not None:
                    set_layer(block.shortcut, f"layer{stage}.{number}.downsample.0")
        model.fc.weight.copy_(tensors["fc.filter"].reshape(-1, 1000).t())
        model.fc.bias.copy_(tensors["fc.bias"])


class Side:
    def __init__(self, arguments):
        self.device, self.folder, self.extent = arguments.device, arguments.inputs, arguments.extent
        self.networks = {}

    def synchronize(self):
        if self.device == "cuda":
            torch.cuda.synchronize()

    def images(self, count):
        with open(f"{self.folder}/images.f32", "rb") as file:
            data = bytearray(file.read(count * self.extent * self.extent * 3 * 4))
        return torch.frombuffer(data, dtype=torch.float32).reshape(count, self.extent, self.extent, 3)

    def model(self, dtype, channels_last):
        model = ResNet50().to(torch.float64 if dtype == torch.float64 else torch.float32)
        load(model, f"{self.folder}/weights.safetensors")
        model = model.eval().to(self.device, dtype)
        return model.to(memory_format=torch.channels_last) if channels_last else model

    def open(self, variant, precision, batch):
        start = time.perf_counter()
        network = Network(self, variant, precision, batch)
        self.networks[variant] = network
        return {"first_result_s": time.perf_counter() - start}

    def close(self):
        self.networks.clear()
        if self.device == "cuda":
            torch.cuda.empty_cache()
        torch.compiler.reset()
        return {}


class Network:
    """One variant of the network for one precision and batch."""

    def __init__(self, side, variant, precision, batch):
        self.side, self.device, self.precision = side, side.device, precision
        self.channels_last, self.benchmark = VARIANTS[variant]
        self.choose()
        self.dtype = DTYPES[precision]
        self.host, self.pinned = side.images(batch), None
        self.model = side.model(self.dtype, self.channels_last)
        self.forward = torch.compile(self.model, mode="max-autotune") if variant == "compile" else self.model
        self.resident = self.upload(self.host)
        with torch.no_grad():
            if variant == "graph":
                self.capture()
            for _ in range(3):
                self.forward(self.resident)
        side.synchronize()

    def choose(self):
        """Sets what belongs to the process, and not to a network."""
        torch.backends.cudnn.benchmark = self.benchmark
        torch.backends.cudnn.allow_tf32 = self.precision == "tf32"
        torch.backends.cuda.matmul.allow_tf32 = self.precision == "tf32"

    def capture(self):
        """The network as one CUDA graph that reads `self.resident`."""
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.model(self.resident)
        torch.cuda.current_stream().wait_stream(stream)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            output = self.model(self.resident)

        def forward(x):
            if x is not self.resident:
                self.resident.copy_(x)
            self.graph.replay()
            return output

        self.forward = forward

    def upload(self, host, pinned=False):
        """The images on the device, in the network's type and layout."""
        x = host.to(self.device, non_blocking=pinned).permute(0, 3, 1, 2)
        layout = torch.channels_last if self.channels_last else torch.contiguous_format
        return x.to(self.dtype, memory_format=layout)

    def call(self):
        return self.forward(self.upload(self.host)).float().cpu()

    def calls(self):
        if self.pinned is None:
            # One result for each call in flight, so that no copy waits for the reader of another.
            results = [torch.empty(len(self.host), 1000, pin_memory=True) for _ in range(QUEUED)]
            self.pinned = self.host.pin_memory(), results
        images, results = self.pinned
        for result in results:
            result.copy_(self.forward(self.upload(images, True)).float(), non_blocking=True)
        self.side.synchronize()

    def compute(self, count):
        for _ in range(count):
            self.forward(self.resident)
        self.side.synchronize()

    def run(self, mode, seconds):
        queued = QUEUED if self.device == "cuda" else 1
        works = {
            "call": (self.call, 1),
            "calls": (self.calls if self.device == "cuda" else self.call, queued),
            "resident": (lambda: self.compute(1), 1),
            "residents": (lambda: self.compute(queued), queued),
        }
        work, calls = works[mode]
        self.choose()
        with torch.no_grad():
            return timed(work, calls, seconds)

    def scores(self):
        self.choose()
        with torch.no_grad():
            return self.call()

    def profile(self, count):
        """Microseconds of device time of each kernel in one call with resident images, and how often it runs."""
        from torch.profiler import ProfilerActivity, profile

        is_cuda = self.device == "cuda"
        self.choose()
        with torch.no_grad():
            self.compute(3)
            with profile(activities=[ProfilerActivity.CUDA if is_cuda else ProfilerActivity.CPU]) as profiler:
                self.compute(count)
        kernels = {}
        for event in profiler.key_averages():
            us = event.self_device_time_total if is_cuda else event.self_cpu_time_total
            if us > 0:
                kernels[event.key] = [us / count, event.count / count]
        return {"kernels": kernels}


class Answers(Side):
    """What the commands do."""

    def write(self, path, scores):
        with open(path, "wb") as file:
            file.write(bytes(scores.contiguous().view(torch.uint8).flatten().tolist()))
        return {"scores": scores.numel()}

    def reference(self, path, count):
        torch.backends.cudnn.benchmark = False
        model = self.model(torch.float64, False)
        results = []
        with torch.no_grad():
            for batch in self.images(count).split(8):
                results.append(model(batch.to(self.device, torch.float64).permute(0, 3, 1, 2)).cpu())
        return self.write(path, torch.cat(results))

    def ceilings(self, size):
        """TFLOP/s of large products and of attention, and GB/s of copies, of random data."""
        figures = {}

        def best(work, repetitions=20):
            work()
            self.synchronize()
            seconds = float("inf")
            for _ in range(5):
                start = time.perf_counter()
                for _ in range(repetitions):
                    work()
                self.synchronize()
                seconds = min(seconds, (time.perf_counter() - start) / repetitions)
            return seconds

        for name in ("f16", "bf16", "tf32", "f32"):
            torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
            a, b = (torch.randn(size, size, device=self.device, dtype=DTYPES[name]) for _ in range(2))
            figures[f"{name}_tflops"] = 2 * size**3 / best(lambda: torch.mm(a, b)) / 1e12
        torch.backends.cuda.matmul.allow_tf32 = False
        for name, (dtype, batch, heads, key_heads, rows, keys, length, is_causal) in ATTENTION.items():
            # A rehearsal is small.
            batch, rows, keys = (batch, rows, keys) if size >= 1024 else (1, min(rows, 20), 20)

            def heads_of(rows, heads):
                return torch.randn(batch, rows, heads, length, device=self.device, dtype=DTYPES[dtype]).transpose(1, 2)

            q, k, v = heads_of(rows, heads), heads_of(keys, key_heads), heads_of(keys, key_heads)
            attend = torch.nn.functional.scaled_dot_product_attention
            seconds = best(lambda: attend(q, k, v, is_causal=is_causal, enable_gqa=heads != key_heads))
            operations = 4 * batch * heads * rows * keys * length
            figures[name] = (operations / 2 if is_causal else operations) / seconds / 1e12
        count = (size * size) * 4
        a = torch.randn(count, device=self.device)
        b = torch.empty_like(a)
        figures["copy_gbs"] = 2 * count * 4 / best(lambda: b.copy_(a)) / 1e9
        if self.device == "cuda":
            host = torch.randn(64 << 20).pin_memory()
            on_device = torch.empty(64 << 20, device=self.device)
            figures["upload_gbs"] = host.numel() * 4 / best(lambda: on_device.copy_(host, non_blocking=True), 5) / 1e9
            tiny = torch.zeros(1, device=self.device)
            figures["launch_us"] = best(lambda: tiny.add_(1.0), 1000) * 1e6
            event = torch.cuda.Event()

            def round_trip():
                tiny.add_(1.0)
                event.record()
                event.synchronize()

            figures["event_round_trip_us"] = best(round_trip, 200) * 1e6
        return {"ceilings": figures}

    def answer(self, command):
        if "open" in command:
            return self.open(command["open"], command["precision"], command["batch"])
        if "close" in command:
            return self.close()
        if "reference" in command:
            return self.reference(command["reference"], command["count"])
        if "ceilings" in command:
            return self.ceilings(command["ceilings"])
        network = self.networks[command["of"]]
        if "run" in command:
            return network.run(command["run"], command["seconds"])
        if "scores" in command:
            return self.write(command["scores"], network.scores())
        return network.profile(command["profile"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", required=True, choices=["cpu", "cuda"])
    parser.add_argument("--inputs", required=True)
    parser.add_argument("--extent", type=int, default=224)
    side = Answers(parser.parse_args())
    ready = {"torch": torch.__version__, "threads": torch.get_num_threads()}
    if side.device == "cuda":
        ready |= {"device": torch.cuda.get_device_name(), "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version()}
    serve(ready, side.answer)


if __name__ == "__main__":
    main()
