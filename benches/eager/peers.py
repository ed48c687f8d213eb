"""Calls eager ops on tiny tensors by turns: ours, TensorFlow's and PyTorch's; see `run`.

Each of them is a process that answers every line of its standard input with one line of JSON: nanoseconds a call by what was
called and how. As the only argument `tensorflow` or `torch`, this file is such a process itself.

`queued` is a call until it returns, on tensors that are there: the work is queued or, where the library computes such work at
once, done. `result` goes on until the elements are outside of the library.
"""
import json
import os
import statistics
import subprocess
import sys
import time

TURNS = 15
CALLS = 2000
OPS = ("add", "matmul", "relu")


def nanoseconds(call):
    """What a call takes, of many."""
    start = time.perf_counter_ns()
    for _ in range(CALLS):
        call()
    return (time.perf_counter_ns() - start) / CALLS


def tensorflow():
    """TensorFlow's calls. Those until the work is queued are made in its asynchronous mode, which is not the default."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
    import tensorflow as tf

    x, y = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[0.5, 1.0], [-1.0, 2.0]])
    raw = tf.raw_ops
    ops = {
        "add": lambda: raw.AddV2(x=x, y=y),
        "matmul": lambda: raw.MatMul(a=x, b=y),
        "relu": lambda: raw.Relu(features=x),
    }

    def answer():
        times = {}
        for name, op in ops.items():
            tf.config.experimental.set_synchronous_execution(True)
            times[f"{name}, result"] = nanoseconds(lambda op=op: op().numpy())
            times[f"{name}, returned"] = nanoseconds(op)
            tf.config.experimental.set_synchronous_execution(False)
            times[f"{name}, queued"] = nanoseconds(op)
        tf.config.experimental.set_synchronous_execution(True)
        return times

    return f"TensorFlow {tf.__version__}", answer


def torch():
    """PyTorch's calls, without gradients."""
    import torch

    torch.set_grad_enabled(False)
    x, y = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[0.5, 1.0], [-1.0, 2.0]])
    ops = {"add": lambda: torch.add(x, y), "matmul": lambda: torch.mm(x, y), "relu": lambda: torch.relu(x)}

    def answer():
        times = {}
        for name, op in ops.items():
            times[f"{name}, queued"] = nanoseconds(op)
            times[f"{name}, result"] = nanoseconds(lambda op=op: op().tolist())
        return times

    return f"PyTorch {torch.__version__}", answer


def serve(peer):
    name, answer = peer()
    print(json.dumps(name), flush=True)
    for _ in sys.stdin:
        print(json.dumps(answer()), flush=True)


class Process:
    """A process that measures when asked to."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.name = json.loads(line) if line else None

    def measure(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def main(ours):
    peers = [(sys.executable, "tensorflow"), (os.environ.get("TORCH_PYTHON", sys.executable), "torch")]
    processes = [Process(ours)] + [Process(python, os.path.abspath(__file__), peer) for python, peer in peers]
    processes = [process for process in processes if process.name]
    times = {process.name: {} for process in processes}
    for turn in range(TURNS + 1):
        for process in processes:
            for what, nanoseconds in process.measure().items():
                if turn > 0:  # the first one warms up
                    times[process.name].setdefault(what, []).append(nanoseconds)
    for process in processes:
        process.end()
    for name, measured in times.items():
        for what, values in measured.items():
            print(f"{name}: {what}: best {min(values):.0f} ns, median {statistics.median(values):.0f} ns")
    ours, *others = times
    for op in OPS:
        for other in others:
            for end in ("queued", "result"):
                what = f"{op}, {end}"
                best, median = (f(times[ours][what]) / f(times[other][what]) for f in (min, statistics.median))
                print(f"{what}: ours / {other}: best {best:.3f}, median {median:.3f}")
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    {"tensorflow": lambda: serve(tensorflow), "torch": lambda: serve(torch)}.get(sys.argv[1], lambda: main(sys.argv[1]))()
