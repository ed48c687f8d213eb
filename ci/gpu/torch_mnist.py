#!/usr/bin/env python3
"""The network of the device bench (benches/device/mlp.rs) with PyTorch, measured on command.

    torch_mnist.py --device cuda --inputs FOLDER [--short]

784 - 128 - 10 in f32 without TF32, batches of 128, gradient descent, from the numbers that `measure prepare` wrote into FOLDER.
Each line of the input is answered with one line of JSON: the time of a step of each variant, the median of several runs of many
steps queued one after the other, as in the bench; the loss at first, in f64; and the variants that cannot run, with the reason.
"""

import argparse
import json
import statistics
import sys
import time

try:
    import torch
except ImportError:
    sys.exit("torch_mnist.py: PyTorch is not installed")

BATCH, INPUTS, HIDDEN, CLASSES, RATE = 128, 784, 128, 10, 0.1


class Network:
    """Parameters, one batch, and the two works that are measured."""

    def __init__(self, device, inputs, dtype=torch.float32):
        with open(f"{inputs}/mnist.f32", "rb") as file:
            numbers = torch.frombuffer(bytearray(file.read()), dtype=torch.float32).to(device, dtype)
        shapes = [(BATCH, INPUTS), (INPUTS, HIDDEN), (HIDDEN, CLASSES)]
        parts = numbers.split([rows * columns for rows, columns in shapes])
        self.x, first, second = (part.clone().reshape(shape) for part, shape in zip(parts, shapes))
        self.labels = (torch.arange(BATCH) * 7 % CLASSES).to(device)
        self.parameters = [
            first.requires_grad_(),
            torch.zeros(HIDDEN, device=device, dtype=dtype, requires_grad=True),
            second.requires_grad_(),
            torch.zeros(CLASSES, device=device, dtype=dtype, requires_grad=True),
        ]

    def forward(self, x):
        w1, b1, w2, b2 = self.parameters
        return torch.relu(x @ w1 + b1) @ w2 + b2

    def loss(self, x, labels):
        return torch.nn.functional.cross_entropy(self.forward(x), labels)

    def inference(self, forward):
        with torch.no_grad():
            return forward(self.x)

    def step(self, loss):
        gradients = torch.autograd.grad(loss(self.x, self.labels), self.parameters)
        with torch.no_grad():
            torch._foreach_add_(self.parameters, list(gradients), alpha=-RATE)


def seconds(work, device, short):
    """Seconds from one call to the next."""
    runs, steps = (1, 2) if short else (5, 200)
    times = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        for _ in range(steps):
            work()
        if device == "cuda":
            torch.cuda.synchronize()
        times.append((time.perf_counter() - start) / steps)
    # The first run warms up.
    return statistics.median(times[1:])


def graphed(work):
    """The work as one CUDA graph."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            work()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    return graph.replay


def variants(device, inputs):
    """Name and maker of each variant's works: inference, training step."""

    def eager():
        network = Network(device, inputs)
        return lambda: network.inference(network.forward), lambda: network.step(network.loss)

    def compiled():
        network = Network(device, inputs)
        forward, loss = torch.compile(network.forward), torch.compile(network.loss)
        return lambda: network.inference(forward), lambda: network.step(loss)

    def graph():
        network = Network(device, inputs)
        inference = graphed(lambda: network.inference(network.forward))
        return inference, graphed(lambda: network.step(network.loss))

    def compiled_graph():
        network = Network(device, inputs)
        forward = torch.compile(network.forward, mode="reduce-overhead")
        loss = torch.compile(network.loss, mode="reduce-overhead")
        return lambda: network.inference(forward), lambda: network.step(loss)

    yield "eager", eager
    yield "compiled", compiled
    if device == "cuda":
        yield "CUDA graph", graph
        yield "compiled, reduce-overhead", compiled_graph


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", required=True, choices=["cpu", "cuda"])
    parser.add_argument("--inputs", required=True)
    parser.add_argument("--short", action="store_true")
    arguments = parser.parse_args()
    device = arguments.device
    torch.backends.cuda.matmul.allow_tf32 = False
    # Libraries may print: the answers have the standard output to themselves.
    answers, sys.stdout = sys.stdout, sys.stderr
    exact = Network(device, arguments.inputs, torch.float64)
    loss = exact.loss(exact.x, exact.labels).item()
    works, absent = [], []
    for name, make in variants(device, arguments.inputs):
        if arguments.short and name != "eager":
            continue
        try:
            works += [(f"{work}, {name}", call) for work, call in zip(("inference", "training step"), make())]
        except Exception as error:  # Whatever PyTorch raises: the other variants are still of interest.
            absent.append(f"{name}: {(str(error).strip() or type(error).__name__).splitlines()[0]}")
    print(json.dumps({"torch": torch.__version__, "loss": loss}), file=answers, flush=True)
    for _ in sys.stdin:
        figures, failed = {}, list(absent)
        for name, call in works:
            try:
                figures[name] = seconds(call, device, arguments.short) * 1e6
            except Exception as error:  # As above.
                failed.append(f"{name}: {(str(error).strip() or type(error).__name__).splitlines()[0]}")
        print(json.dumps({"figures_us": figures, "absent": failed}), file=answers, flush=True)


if __name__ == "__main__":
    main()
