#!/usr/bin/env python3
"""The network of the device bench (benches/device/mlp.rs) with PyTorch: eager, compiled, and as a CUDA graph.

    pytorch.py [--device auto|cpu|cuda] [--short] [--json FILE] [--markdown FILE]

784 - 128 - 10 in f32 without TF32, batches of 128, gradient descent. A step's time is that of many queued one after the
other, the best of several runs, as in the bench. A variant that PyTorch cannot run here is left out, with the reason.
"""

import argparse
import json
import sys
import time

try:
    import torch
except ImportError:
    sys.exit("pytorch.py: PyTorch is not installed here")

BATCH, INPUTS, HIDDEN, CLASSES, RATE = 128, 784, 128, 10, 0.1


class Network:
    """Parameters, one batch, and the two works that are measured."""

    def __init__(self, device):
        generator = torch.Generator().manual_seed(1)

        def matrix(rows, columns, scale):
            return ((torch.rand(rows, columns, generator=generator) - 0.5) * scale).to(device)

        self.x = matrix(BATCH, INPUTS, 2.0)
        self.labels = (torch.arange(BATCH) * 7 % CLASSES).to(device)
        self.parameters = [
            matrix(INPUTS, HIDDEN, 0.1).requires_grad_(),
            torch.zeros(HIDDEN, device=device, requires_grad=True),
            matrix(HIDDEN, CLASSES, 0.3).requires_grad_(),
            torch.zeros(CLASSES, device=device, requires_grad=True),
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
    best = float("inf")
    for _ in range(runs + 1):
        start = time.perf_counter()
        for _ in range(steps):
            work()
        if device == "cuda":
            torch.cuda.synchronize()
        best = min(best, (time.perf_counter() - start) / steps)
    return best


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


def variants(device):
    """Name and maker of each variant's works: inference, training step."""

    def eager():
        network = Network(device)
        return lambda: network.inference(network.forward), lambda: network.step(network.loss)

    def compiled():
        network = Network(device)
        forward, loss = torch.compile(network.forward), torch.compile(network.loss)
        return lambda: network.inference(forward), lambda: network.step(loss)

    def graph():
        network = Network(device)
        inference = graphed(lambda: network.inference(network.forward))
        return inference, graphed(lambda: network.step(network.loss))

    def compiled_graph():
        network = Network(device)
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
    parser.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"])
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--markdown")
    arguments = parser.parse_args()
    device = arguments.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.backends.cuda.matmul.allow_tf32 = False

    figures, absent = [], []
    for name, make in variants(device):
        try:
            for work, call in zip(("inference", "training step"), make()):
                value = seconds(call, device, arguments.short) * 1e6
                figures.append({"name": f"{work}, {name}", "value": value, "unit": "µs"})
        except Exception as error:  # Whatever PyTorch raises: the other variants are still of interest.
            absent.append(f"{name}: {str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__}")
    where = torch.cuda.get_device_name() if device == "cuda" else "the CPU"
    lines = [f"## PyTorch {torch.__version__}, on {where}", "", "| | | |", "|---|---:|---|"]
    lines += [f"| MNIST network, {f['name']} | {f['value']:.1f} | {f['unit']} |" for f in figures]
    lines += [""] + [f"Not measured: {reason}" for reason in absent]
    text = "\n".join(lines).rstrip() + "\n"
    print(text, end="")
    if arguments.markdown:
        with open(arguments.markdown, "w", encoding="utf-8") as file:
            file.write(text)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"version": torch.__version__, "device": where, "figures": figures, "absent": absent}, file)
    sys.exit(0 if figures else 1)


if __name__ == "__main__":
    main()
