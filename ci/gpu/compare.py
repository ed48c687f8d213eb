#!/usr/bin/env python3
"""ResNet-50 with ours, with PyTorch and, where it is installed, with JAX, by turns, with the same weights and images.

    compare.py --device cuda --inputs FOLDER --output FOLDER --seconds 200 [--short] [--extent 224]
               [--systems ours,torch,jax] [--only f16:256]

Each configuration is a precision and a batch. All systems are opened and warmed up first. Then each is measured in turn, and
that is repeated; the figures are medians over the rounds, with the lowest and the highest. The scores of each system are
compared with those that PyTorch computes in f64, or with the shipped ones. FOLDER/compare.json is written after each
configuration.
"""

import argparse
import array
import json
import os
import statistics
import sys

import network
from sides import Clock, Side, SideError

HERE = os.path.dirname(os.path.abspath(__file__))
# The most telling first.
CONFIGURATIONS = [
    ("f16", 256), ("f16", 1), ("tf32", 256), ("tf32", 1), ("f32", 256), ("f32", 1), ("f16", 32), ("f16", 8), ("tf32", 32),
    ("f16", 128), ("bf16", 256), ("bf16", 1), ("f32", 32), ("tf32", 8), ("tf32", 128), ("f32", 8), ("f32", 128),
]
# The other systems: name, script, and variants.
PEERS = {
    "torch": ("PyTorch", "torch_side.py", ["eager", "channels_last", "benchmark", "graph"]),
    "jax": ("JAX", "jax_side.py", ["jit"]),
}
ALL = ["call", "calls", "resident", "residents"]
OURS = {"device": ALL, "eager": ["call", "calls"], "onnx": ["call", "calls"], "planned": ALL}
# The batches for which the network's ONNX file is compiled: into ops, and into a planned device program.
MODELS = {"onnx": (1, 32), "planned": (1, 32, 256)}
# What scores may be off, relative to the largest.
TOLERANCES = {"f32": 1e-4, "tf32": 1e-2, "f16": 2e-2, "bf16": 1e-1}
# Images whose scores are compared.
COMPARED = 32
OPEN_LIMIT_S = {"compile": 240}


class Comparison:
    def __init__(self, arguments):
        self.arguments, self.clock = arguments, Clock(arguments.seconds)
        self.rounds, self.run_s = (1, 0.01) if arguments.short else (3, 0.15)
        # The peers that run, and what is known of those that were started.
        self.peers = {}
        self.report = {"configurations": [], "notes": [], **dict.fromkeys(PEERS)}
        self.references = {}

    def path(self, name):
        return os.path.join(self.arguments.output, name)

    def save(self):
        with open(self.path("compare.json.new"), "w", encoding="utf-8") as file:
            json.dump(self.report, file, indent=1)
        os.replace(self.path("compare.json.new"), self.path("compare.json"))

    # ---- Opening --------------------------------------------------------------------------------------------------------

    def open_ours(self, form, precision, batch):
        a = self.arguments
        command = [os.path.join(HERE, "bin", "measure"), "--device", a.device, "--images", f"{a.inputs}/images.f32"]
        if precision == "tf32":
            command.append("--tf32")
        if a.short:
            command.append("--short")
        if form in MODELS:
            model = os.path.join(a.inputs, f"resnet50-{batch}.onnx")
            with open(model, "wb") as file:
                file.write(network.onnx_model(f"{a.inputs}/weights.safetensors", batch, a.extent))
            command += ["--model", model, "--shape", f"{batch}x{a.extent}x{a.extent}x3"]
            command += ["--planned"] if form == "planned" else []
        else:
            stored = "f32" if precision == "tf32" else precision
            command += ["--network", f"{form}:{stored}:{batch}:{a.extent}", "--weights", f"{a.inputs}/weights.safetensors"]
        side = Side(f"ours, {form}", command, self.path("measure.log"))
        try:
            return side, side.read(min(120, self.clock.left()))
        except SideError:
            side.close()
            raise

    def start(self, peer):
        """Starts a peer, unless it runs or could not be started. Returns it, or `None`."""
        if self.report[peer] is None:
            a, (name, script, _) = self.arguments, PEERS[peer]
            command = [sys.executable, os.path.join(HERE, script), "--device", a.device, "--inputs", a.inputs]
            side = Side(name, command + ["--extent", str(a.extent)], self.path(f"{peer}.log"))
            try:
                self.report[peer] = side.read(min(90, self.clock.left()))
                self.peers[peer] = side
            except SideError as error:
                side.close()
                self.report[peer] = {"missing": str(error)}
                self.note(f"{name} was not measured: {error}")
        return self.peers.get(peer)

    def forget(self, peer):
        """Forgets a peer that has ended, so that it can be started again."""
        self.peers.pop(peer, None)
        self.report[peer] = None

    def note(self, text):
        print(f"compare: {text}", flush=True)
        self.report["notes"].append(text)

    # ---- Scores ---------------------------------------------------------------------------------------------------------

    def reference(self, count):
        """Scores in f64 of the first images, or `None`."""
        a = self.arguments
        if not self.references:
            file, source = self.path("reference.f64"), "PyTorch in f64"
            try:
                if "torch" not in self.peers:
                    raise SideError("there is no PyTorch")
                most = 2 if a.short else COMPARED
                self.peers["torch"].ask({"reference": file, "count": most}, min(60, self.clock.left()))
            except SideError as error:
                file, source = os.path.join(HERE, f"reference-{a.extent}.f64"), "shipped scores"
                if not os.path.exists(file):
                    self.note(f"scores were not compared: {error}")
                    file = None
            scores = array.array("d")
            if file:
                with open(file, "rb") as opened:
                    scores.frombytes(opened.read())
                self.report["reference"] = f"{source}, {len(scores) // 1000} images"
                self.check_reference(scores)
            self.references["scores"] = scores
        scores = self.references["scores"]
        return scores[: count * 1000] or None

    def check_reference(self, scores):
        """Compares what was computed here with what was computed elsewhere."""
        shipped = os.path.join(HERE, f"reference-{self.arguments.extent}.f64")
        if os.path.exists(shipped):
            known = array.array("d")
            with open(shipped, "rb") as file:
                known.frombytes(file.read())
            self.report["reference_off"] = off(scores[: len(known)], known)

    def scores_off(self, file, count):
        expected = self.reference(count)
        if not expected:
            return None
        found = array.array("f")
        with open(file, "rb") as opened:
            found.frombytes(opened.read())
        return off(found[: len(expected)], expected[: len(found)])

    # ---- Measuring ------------------------------------------------------------------------------------------------------

    def systems(self, precision, batch):
        """Opens what can compute a configuration: name, modes, how to run a mode, how to get scores, facts."""
        wanted, opened = self.arguments.systems.split(","), []

        def failed(name, error, variant=None):
            self.note(f"{precision}, batch {batch}, {name}: {error}")
            opened.append({"name": name, "error": str(error)})

        if "ours" in wanted and precision != "bf16":
            for form, modes in OURS.items():
                # Models are compiled as they are, in f32.
                if form in MODELS and (precision == "f16" or batch not in MODELS[form]):
                    continue
                # Compiling a model, and ops on the CPU device, take too long for a rehearsal.
                if self.arguments.short and form != "device":
                    continue
                name = f"ours, {form}"
                try:
                    side, facts = self.open_ours(form, precision, batch)
                except SideError as error:
                    failed(name, error)
                    continue
                if facts["backend"] != self.arguments.device:
                    raise SystemExit(f"compare: ours runs on '{facts['backend']}' instead of '{self.arguments.device}'")
                opened.append({"name": name, "modes": modes, "side": side, "ask": ours_ask(side), "facts": facts})
        for peer, (peer_name, _, variants) in PEERS.items():
            if peer == "torch" and "compile" in wanted:
                variants = ["compile"]
            elif peer not in wanted:
                continue
            for variant in variants:
                if self.arguments.device == "cpu" and variant in ("benchmark", "graph"):
                    continue
                side = self.start(peer)
                if side is None:
                    break
                name = f"{peer_name}, {variant}"
                question = {"open": variant, "precision": precision, "batch": batch}
                try:
                    facts = side.ask(question, min(OPEN_LIMIT_S.get(variant, 60), self.clock.left()))
                except SideError as error:
                    failed(name, error)
                    if side.process.poll() is not None:
                        self.forget(peer)
                    continue
                opened.append({"name": name, "modes": ALL, "ask": peer_ask(side, variant), "facts": facts})
        return opened

    def configuration(self, precision, batch):
        systems = self.systems(precision, batch)
        for system in systems:
            system["rounds"] = {mode: [] for mode in system.get("modes", [])}
        for _ in range(self.rounds):
            for system in systems:
                self.turn(system)
        results = []
        for system in systems:
            result = {"name": system["name"], **{key: system[key] for key in ("facts", "error") if key in system}}
            result["modes"] = {mode: summary(rounds, batch) for mode, rounds in system["rounds"].items() if rounds}
            if "ask" in system and "error" not in system:
                result |= self.scores(system, precision, batch)
            results.append(result)
        for system in systems:
            if "side" in system:
                system["side"].close()
        for peer, side in list(self.peers.items()):
            try:
                side.ask({"close": True}, 30)
            except SideError:
                self.forget(peer)
        self.report["configurations"].append({"precision": precision, "batch": batch, "systems": results})
        self.save()
        best = {r["name"]: max((m["images_per_s"] for m in r["modes"].values()), default=0) for r in results}
        print(f"{precision}, batch {batch}: " + ", ".join(f"{name} {value:,.0f}" for name, value in best.items()), flush=True)

    def turn(self, system):
        for mode in system["rounds"] if "error" not in system else []:
            try:
                limit = min(60, self.clock.left() + 5)
                system["rounds"][mode].append(system["ask"](mode, self.run_s, limit))
            except SideError as error:
                self.note(f"{system['name']}, {mode}: {error}")
                system["rounds"].pop(mode)
                return

    def scores(self, system, precision, batch):
        """How far scores are off, for calls and for images that stay on the device."""
        found = {}
        kinds = ["scores", "resident-scores"] if "side" in system and "resident" in system["modes"] else ["scores"]
        for kind in kinds:
            file = self.path("scores.f32")
            try:
                system["ask"](kind, file, 60)
            except SideError as error:
                found["error"] = f"{kind}: {error}"
                continue
            value = self.scores_off(file, min(batch, COMPARED))
            if value is not None:
                found["off" if kind == "scores" else "resident_off"] = value
                # NaN, too.
                if not value <= TOLERANCES[precision]:
                    found["error"] = f"{kind} are off by {value:.2e} of the largest score"
                    self.note(f"{system['name']}, {precision}, batch {batch}: {found['error']}")
        return found

    def run(self):
        only = self.arguments.only.split(",") if self.arguments.only else None
        left_out = []
        # First, so that their start takes no time of a configuration.
        for peer in PEERS:
            if peer in self.arguments.systems or (peer == "torch" and "compile" in self.arguments.systems):
                self.start(peer)
        for precision, batch in [("f32", 1)] if self.arguments.short else CONFIGURATIONS:
            name = f"{precision}:{batch}"
            if only and name not in only:
                continue
            if self.clock.left() < (2 if self.arguments.short else 25):
                left_out.append(name)
                continue
            self.configuration(precision, batch)
        if left_out:
            self.note(f"not measured, as there was no time: {', '.join(left_out)}")
        for side in self.peers.values():
            side.close()
        self.save()
        errors = [s for c in self.report["configurations"] for s in c["systems"] if s["name"].startswith("ours") and "error" in s]
        return bool(errors) or not self.report["configurations"]


def ours_ask(side):
    return lambda mode, argument, limit: side.ask(f"{mode} {argument}", limit)


def peer_ask(side, variant):
    def ask(mode, argument, limit):
        if mode == "scores":
            return side.ask({"scores": argument, "of": variant}, limit)
        return side.ask({"run": mode, "seconds": argument, "of": variant}, limit)

    return ask


def off(found, expected):
    """The largest difference relative to the largest expected number."""
    largest = max(abs(x) for x in expected)
    differences = [abs(x - y) for x, y in zip(found, expected)]
    if len(found) != len(expected) or any(x != x for x in differences):
        return float("inf")
    return max(differences) / largest


def summary(rounds, batch):
    """Medians over rounds, with the lowest and the highest."""
    rates = [batch * r["calls"] / r["seconds"] for r in rounds]
    figures = {"images_per_s": statistics.median(rates), "spread": [min(rates), max(rates)], "rounds": len(rounds)}
    for key in ("min_us", "p50_us", "p90_us", "p99_us", "max_us"):
        figures[key] = statistics.median(r[key] for r in rounds)
    return figures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", required=True)
    parser.add_argument("--inputs", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--seconds", type=float, default=200)
    parser.add_argument("--extent", type=int, default=224)
    parser.add_argument("--systems", default="ours,torch,jax")
    parser.add_argument("--only")
    parser.add_argument("--short", action="store_true")
    arguments = parser.parse_args()
    os.makedirs(arguments.output, exist_ok=True)
    sys.exit(Comparison(arguments).run())


if __name__ == "__main__":
    main()
