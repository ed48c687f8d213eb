"""Programs that are loaded once and answer lines of commands with lines of JSON: ours (`measure`) and PyTorch's."""

import json
import queue
import subprocess
import threading
import time


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


class Clock:
    """The time that is left of a limit."""

    def __init__(self, limit_s):
        self.start, self.limit_s = time.monotonic(), limit_s

    def elapsed(self):
        return time.monotonic() - self.start

    def left(self):
        return self.limit_s - self.elapsed()
