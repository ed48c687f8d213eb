"""Programs that are loaded once and answer lines of commands with lines of JSON: ours (`measure`), PyTorch's and JAX's."""

import json
import queue
import subprocess
import sys
import threading
import time

# Calls in flight at once, where a mode has several.
QUEUED = 16


class SideError(Exception):
    """A program that ended, did not answer in time, or answered with an error."""


class Side:
    """One program. It is ended when a question takes longer than its limit."""

    def __init__(self, name, command, log, environment=None):
        self.name, self.answers = name, queue.Queue()
        self.log = open(log, "ab")
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, env=environment
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.answers.put(line)
        self.answers.put(None)

    def read(self, limit_s):
        """The next answer."""
        try:
            line = self.answers.get(timeout=max(limit_s, 0.1))
        except queue.Empty:
            self.close()
            raise SideError(f"no answer within {limit_s:.0f} s") from None
        if line is None:
            code = self.process.wait()
            self.answers.put(None)
            raise SideError(f"it ended with exit code {code}: {self.last_words()}")
        try:
            answer = json.loads(line)
        except ValueError:
            raise SideError(f"it answered {line[:200]!r}") from None
        if "error" in answer:
            raise SideError(answer["error"])
        return answer

    def last_words(self):
        self.log.flush()
        with open(self.log.name, "rb") as file:
            lines = file.read().decode(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else "it said nothing"

    def ask(self, question, limit_s):
        text = question if isinstance(question, str) else json.dumps(question)
        try:
            self.process.stdin.write(text.encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            return self.read(1)
        return self.read(limit_s)

    def close(self):
        """Ends the program: at the end of its input, or by force."""
        try:
            self.process.stdin.close()
        except OSError:
            pass
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


def percentiles(latencies, calls, total):
    latencies = sorted(latencies)

    def at(percent):
        rank = max(-(-len(latencies) * percent // 100), 1)
        return latencies[rank - 1]

    names = [("min_us", 0), ("p50_us", 50), ("p90_us", 90), ("p99_us", 99), ("max_us", 100)]
    return {"calls": len(latencies) * calls, "seconds": total, **{name: at(percent) for name, percent in names}}


def timed(work, calls, seconds):
    """Repeats `work`, which makes `calls` calls, for some time after the first: percentiles of a call's latency."""
    work()
    latencies, start = [], time.perf_counter()
    while True:
        before = time.perf_counter()
        work()
        now = time.perf_counter()
        latencies.append((now - before) * 1e6 / calls)
        if now - start >= seconds:
            return percentiles(latencies, calls, now - start)


def serve(ready, answer):
    """Says that this program is ready, and answers commands until its input ends."""
    # Libraries may print: the answers have the standard output to themselves.
    answers, sys.stdout = sys.stdout, sys.stderr
    print(json.dumps(ready), file=answers, flush=True)
    for line in sys.stdin:
        try:
            found = answer(json.loads(line))
        except Exception as error:  # Whatever the library raises: other variants are still of interest.
            text = str(error).strip().splitlines()
            found = {"error": f"{type(error).__name__}: {text[0] if text else ''}"}
        print(json.dumps(found), file=answers, flush=True)


class Clock:
    """The time that is left of a limit."""

    def __init__(self, limit_s):
        self.start, self.limit_s = time.monotonic(), limit_s

    def elapsed(self):
        return time.monotonic() - self.start

    def left(self):
        return self.limit_s - self.elapsed()
