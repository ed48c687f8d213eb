"""Runs ONNX models with tfrt and with ONNX Runtime on the same inputs, and prints how far their results differ.

    cargo build --release --bin tfrt
    python3 benches/onnx/compare.py --tfrt target/release/tfrt model.onnx other.onnx

Needs numpy, onnx and onnxruntime. For each model the script prints one line per output: the largest difference, divided by
the largest value that ONNX Runtime computes. With --time SECONDS it also runs the two by turns and prints the median
latency of each. Ours and ONNX Runtime have two threads on two cores; tract, which is measured where its package is
installed and takes the model, has one, by design.

Inputs are random numbers unless --input NAME=FILE.npy gives them. Named extents are 1 unless --dim NAME=NUMBER says more.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime

try:
    import tract
except ImportError:
    tract = None

ROUNDS = 5
# Threads of ONNX Runtime spin for a while after a call, which would slow down the other side.
PAUSE_SECONDS = 0.1


def pairs(items):
    return dict(item.split("=", 1) for item in items)


def extents(value, dims):
    """The shape of an input, with the named extents replaced."""
    found = []
    for dim in value.type.tensor_type.shape.dim:
        named = dims.get(dim.dim_param, dims.get("*", 1))
        found.append(dim.dim_value if dim.HasField("dim_value") and dim.dim_value > 0 else int(named))
    return found


def random_input(value, dims, rng, high):
    dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
    shape = extents(value, dims)
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(dtype)
    if np.issubdtype(dtype, np.integer):
        return rng.integers(0, high, shape).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


def make_inputs(model, arguments):
    files, dims, rng = pairs(arguments.input), pairs(arguments.dim), np.random.default_rng(arguments.seed)
    constants = {tensor.name for tensor in model.graph.initializer}
    inputs = {}
    for value in model.graph.input:
        if value.name in constants:
            continue
        given = files.get(value.name)
        inputs[value.name] = np.load(given) if given else random_input(value, dims, rng, arguments.high)
    return inputs


class Tfrt:
    """Calls of the tool, on files of a folder."""

    def __init__(self, tool, path, inputs, folder):
        self.tool, self.path, self.folder = tool, path, folder
        self.options = []
        for number, (name, array) in enumerate(inputs.items()):
            file = os.path.join(folder, f"input{number}.npy")
            np.save(file, array)
            self.options += ["-i", f"{name}=@{file}", "--input-shape", f"{name}={'x'.join(map(str, array.shape))}"]
            if not array.shape:
                del self.options[-2:]

    def call(self, verb, *options):
        command = [self.tool, verb, self.path, *self.options, *options]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip() or done.stdout.strip())
        return done.stdout

    def results(self, count):
        files = [os.path.join(self.folder, f"output{number}.npy") for number in range(count)]
        self.call("run", *[option for number, file in enumerate(files) for option in ("-o", f"{number}={file}")])
        return [np.load(file) for file in files]

    def seconds(self, calls):
        """The median latency."""
        figures = json.loads(self.call("bench", "--json", "--calls", str(calls)))
        return figures["latency_us"]["p50"] / 1e6


class Tract:
    """A model in tract, with the shapes of these inputs. Raises an error for a model that tract does not take."""

    def __init__(self, path, inputs):
        model = tract.onnx().load(path)
        for number, array in enumerate(inputs.values()):
            model.set_input_fact(number, ",".join([*map(str, array.shape), TRACT_TYPES[array.dtype.name]]))
        self.model, self.inputs = model.into_model().into_runnable(), list(inputs.values())
        self.run()

    def run(self):
        self.model.run(self.inputs)


TRACT_TYPES = {"float32": "f32", "float64": "f64", "float16": "f16", "int32": "i32", "int64": "i64", "bool": "bool"}


def open_tract(path, inputs):
    if tract is None:
        return None
    try:
        return Tract(path, inputs)
    except Exception:  # The package raises errors of several kinds.
        return None


def largest_difference(ours, theirs):
    """The largest difference relative to the largest value; infinite for results that cannot be compared."""
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return np.inf
    if theirs.size == 0 or not np.issubdtype(theirs.dtype, np.number):
        return 0.0 if np.array_equal(ours, theirs) else np.inf
    ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
    if not np.array_equal(np.isnan(ours), np.isnan(theirs)):
        return np.inf
    scale = np.nanmax(np.abs(theirs))
    difference = np.nanmax(np.abs(ours - theirs))
    return difference / scale if scale > 0 else difference


def compare(path, arguments):
    model = onnx.load(path)
    inputs = make_inputs(model, arguments)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    theirs = session.run(None, inputs)
    name = os.path.basename(path)
    with tempfile.TemporaryDirectory() as folder:
        tfrt = Tfrt(arguments.tfrt, path, inputs, folder)
        ours = tfrt.results(len(theirs))
        is_near = True
        for output, mine, other in zip(session.get_outputs(), ours, theirs):
            other = np.asarray(other)
            difference = largest_difference(mine, other)
            is_near &= bool(difference <= arguments.tolerance)
            shape = "x".join(map(str, other.shape))
            print(f"{name}: {output.name} {shape}: {difference:.2e}", flush=True)
            if mine.shape != other.shape or mine.dtype != other.dtype:
                print(f"  got {mine.dtype} {mine.shape}, expected {other.dtype} {other.shape}")
        if arguments.time:
            print_times(name, tfrt, session, path, inputs, arguments.time)
    return is_near


def time_calls(call, count, times):
    for _ in range(count):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)


def print_times(name, tfrt, session, path, inputs, budget):
    start = time.perf_counter()
    session.run(None, inputs)
    calls = max(1, int(budget / ROUNDS / max(time.perf_counter() - start, 1e-6)))
    calls = min(calls, 1000)
    other = open_tract(path, inputs)
    ours, theirs, others = [], [], []
    for _ in range(ROUNDS):
        time_calls(lambda: session.run(None, inputs), calls, theirs)
        time.sleep(PAUSE_SECONDS)
        ours.append(tfrt.seconds(calls))
        if other:
            time_calls(other.run, max(1, calls // 4), others)
    ours, theirs = statistics.median(ours) * 1e3, statistics.median(theirs) * 1e3
    beside = f"{statistics.median(others) * 1e3:.3f} ms" if others else "no"
    ratio = f"ratio {theirs / ours:.2f}"
    print(f"{name}: tfrt {ours:.3f} ms, onnxruntime {theirs:.3f} ms, tract {beside}, {ratio}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--tfrt", default="target/release/tfrt", help="the tool [default: %(default)s]")
    parser.add_argument("--input", action="append", default=[], metavar="NAME=FILE.npy")
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=NUMBER", help="NAME may be *")
    parser.add_argument("--high", type=int, default=2, help="random integers lie below this [default: %(default)s]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--time", type=float, default=0, metavar="SECONDS")
    parser.add_argument("--tolerance", type=float, default=1e-3, help="the largest relative difference")
    arguments = parser.parse_args()
    failures = 0
    for path in arguments.models:
        try:
            failures += not compare(path, arguments)
        except Exception as error:  # Each model is tried, whatever is wrong with another.
            failures += 1
            print(f"{os.path.basename(path)}: failed: {str(error)[:2000]}", flush=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
