"""Runs our ResNet-50 and ONNX Runtime's by turns, on the same images and weights, with two threads each; see `run`."""
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "reference"))
import resnet50  # noqa: E402

ROUNDS = {1: 30, 8: 8}
# ONNX Runtime's threads spin for a while after a run, which would take the processors from whoever is next.
PAUSE_SECONDS = 0.1


def main(program):
    peer = resnet50.session(1, 2)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "scores")
        ours = subprocess.Popen([program, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for batch, rounds in ROUNDS.items():
            images = np.ascontiguousarray(resnet50.images(batch, 224, 1))
            times = {"ours": [], "ONNX Runtime": []}
            for turn in range(rounds + 2):
                ours.stdin.write(f"{batch}\n")
                ours.stdin.flush()
                mine = float(ours.stdout.readline())
                time.sleep(PAUSE_SECONDS)
                start = time.perf_counter()
                scores = peer.run(None, {"images": images})[0]
                theirs = time.perf_counter() - start
                time.sleep(PAUSE_SECONDS)
                if turn >= 2:  # the first ones warm up
                    times["ours"].append(mine)
                    times["ONNX Runtime"].append(theirs)
            found = np.fromfile(path, np.float32).reshape(scores.shape)
            off = np.abs(found - scores).max() / np.abs(scores).max()
            for name, seconds in times.items():
                best, median = min(seconds), statistics.median(seconds)
                print(f"batch {batch}, {name}: best {best * 1e3:.1f} ms, {batch / best:.1f} images/s; median {median * 1e3:.1f} ms")
            ratios = [min(times["ONNX Runtime"]) / min(times["ours"])]
            ratios.append(statistics.median(times["ONNX Runtime"]) / statistics.median(times["ours"]))
            print(f"batch {batch}: throughput of ours / ONNX Runtime: best {ratios[0]:.2f}, median {ratios[1]:.2f}; "
                  f"scores differ by {off:.1e} of the largest; load {os.getloadavg()[0]:.1f}")
        ours.stdin.close()
        ours.wait()


if __name__ == "__main__":
    main(sys.argv[1])
