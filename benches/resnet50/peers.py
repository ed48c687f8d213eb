"""Runs our ResNet-50, ONNX Runtime's and tract's by turns, on the same images and weights; see `run`. Ours and ONNX Runtime's
have two threads; tract has one, by design."""
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "reference"))
import resnet50  # noqa: E402

try:
    import tract
except ImportError:
    tract = None

ROUNDS = {1: 30, 8: 8}
SEED, EXTENT, THREADS = 1, 224, 2
# ONNX Runtime's threads spin for a while after a run, which would take the processors from whoever is next.
PAUSE_SECONDS = 0.1


class Program:
    """Our program, which reads numbers of images, writes seconds, and leaves scores in a file."""

    def __init__(self, path, form, scores):
        self.scores = scores
        self.process = subprocess.Popen([path, scores, form], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def infer(self, images):
        self.process.stdin.write(f"{len(images)}\n")
        self.process.stdin.flush()
        seconds = float(self.process.stdout.readline())
        return seconds, np.fromfile(self.scores, np.float32).reshape(len(images), -1)

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Tract:
    """tract in this process."""

    def __init__(self, model):
        self.model, self.plans = model, {}

    def infer(self, images):
        plan = self.plans.get(len(images))
        if plan is None:
            model = tract.onnx().load(self.model)
            model.set_input_fact(0, f"{len(images)},3,{EXTENT},{EXTENT},f32")
            plan = self.plans[len(images)] = model.into_model().into_runnable()
        start = time.perf_counter()
        scores = plan.run([images])[0].to_numpy()
        return time.perf_counter() - start, scores

    def end(self):
        pass


class OnnxRuntime:
    """ONNX Runtime in this process."""

    def __init__(self):
        self.session = resnet50.session(SEED, THREADS)

    def infer(self, images):
        start = time.perf_counter()
        scores = self.session.run(None, {"images": images})[0]
        return time.perf_counter() - start, scores

    def end(self):
        pass


def compare(batch, rounds, images, runners):
    """Runs all of them by turns, and prints times, and how each form of ours compares with each of the others."""
    times, scores = {name: [] for name in runners}, {}
    for turn in range(rounds + 2):
        for name, runner in runners.items():
            seconds, scores[name] = runner.infer(images)
            time.sleep(PAUSE_SECONDS)
            if turn >= 2:  # the first ones warm up
                times[name].append(seconds)
    best = {name: min(seconds) for name, seconds in times.items()}
    median = {name: statistics.median(seconds) for name, seconds in times.items()}
    for name in runners:
        print(f"batch {batch}, {name}: best {best[name] * 1e3:.1f} ms, {batch / best[name]:.1f} images/s; "
              f"median {median[name] * 1e3:.1f} ms")
    is_ours = {name: isinstance(runner, Program) for name, runner in runners.items()}
    for ours, name in ((ours, name) for ours in runners for name in runners if is_ours[ours] and not is_ours[name]):
        off = np.abs(scores[ours] - scores[name]).max() / np.abs(scores[name]).max()
        print(f"batch {batch}: throughput of {ours} / {name}: best {best[name] / best[ours]:.2f}, "
              f"median {median[name] / median[ours]:.2f}; scores differ by {off:.1e} of the largest")
    print(f"load {os.getloadavg()[0]:.1f}", flush=True)


def main(ours, *forms):
    images = np.ascontiguousarray(resnet50.images(max(ROUNDS), EXTENT, SEED))
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "model.onnx")
        with open(model, "wb") as file:
            file.write(resnet50.model(SEED).SerializeToString())
        runners = {
            f"ours ({form})": Program(ours, form, os.path.join(folder, form)) for form in forms or ("host",)
        }
        runners["ONNX Runtime"] = OnnxRuntime()
        if tract:
            runners["tract"] = Tract(model)
        for batch, rounds in ROUNDS.items():
            compare(batch, rounds, images[:batch], runners)
        for runner in runners.values():
            runner.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
