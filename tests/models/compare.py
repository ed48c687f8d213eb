#!/usr/bin/env python3
"""Compares what tfrt computes for whole models with ONNX Runtime's results. `ci/models` calls it:

    python3 tests/models/compare.py TFRT FOLDER [NAME...]

TFRT is the tool, FOLDER holds the models. Each model runs on the host, by ops on the CPU device and, if its shapes are
static, as a device program there, with pictures, speech-like sound, music or text as input. Device programs run in f16,
too, with as many nodes in f32 as `--max-error 0.01` keeps there, and on eight inputs at once, if the model leaves its
batch size open. A result may differ by 1e-4 of the largest number, of 16-bit numbers by 2e-2. Where ONNX Runtime's own
results differ by more with and without its optimizations, as behind a logarithm of tiny numbers, twice that difference
is the measure.
"""

import glob
import json
import os
import subprocess
import sys
import tempfile

import numpy
import onnxruntime
from PIL import Image, ImageDraw, ImageFont

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MEAN = numpy.array([0.485, 0.456, 0.406], numpy.float32)
STD = numpy.array([0.229, 0.224, 0.225], numpy.float32)
RATE = 16000


def photo(width, height):
    """The picture of shapes, as pixels from 0 to 1."""
    image = Image.open(os.path.join(ROOT, "tests/images/shapes.jpg")).convert("RGB").resize((width, height))
    return numpy.asarray(image, numpy.float32) / 255


def text(words, width, height):
    """A picture of words, as pixels from 0 to 1."""
    image = Image.new("RGB", (width, height), "white")
    font = ImageFont.load_default(size=height * 0.6)
    ImageDraw.Draw(image).text((height // 8, height // 6), words, fill="black", font=font)
    return numpy.asarray(image, numpy.float32) / 255


def planes(pixels, mean=MEAN, std=STD):
    return ((pixels - mean) / std).astype(numpy.float32).transpose(2, 0, 1)[None]


def speech(sample_count):
    """Sound like a vowel: harmonics of a voice whose pitch falls, louder near three formants, with breath."""
    time = numpy.arange(sample_count) / RATE
    pitch = 2 * numpy.pi * numpy.cumsum(140 - 20 * time) / RATE
    sound = numpy.random.default_rng(1).normal(0, 0.003, sample_count)
    for harmonic in range(1, 30):
        frequency = harmonic * 130
        loudness = sum(numpy.exp(-(((frequency - formant) / 150) ** 2)) for formant in (700, 1200, 2600))
        sound += (0.02 + loudness) / harmonic * numpy.sin(harmonic * pitch)
    return (0.5 * sound / numpy.abs(sound).max()).astype(numpy.float32)


def chord(sample_count, rate):
    """Three notes that fade, with the noise of a recording."""
    time = numpy.arange(sample_count) / rate
    notes = [220.0, 277.18, 329.63]
    sound = sum(numpy.sin(2 * numpy.pi * note * time) / (4 * (1 + time)) for note in notes)
    return (sound + numpy.random.default_rng(3).normal(0, 1e-3, sample_count)).astype(numpy.float32)


def network_inputs(dtype=numpy.float32):
    return lambda: [{"x": planes(photo(224, 224)).astype(dtype)}]


def silero(names):
    """Three pieces of sound, each with the state after the one before, as ONNX Runtime computes it."""

    def inputs(session):
        calls, state = [], numpy.zeros((2, 1, 128), numpy.float32)
        sound = speech(64 + 3 * 512)
        for piece in range(3):
            given = {"input": sound[None, piece * 512 : piece * 512 + 576], "state": state}
            if "sr" in names:
                given["sr"] = numpy.array(RATE, numpy.int64)
            calls.append(given)
            state = session.run(["stateN"], given)[0]
        return calls

    return inputs


def silero_sequence():
    sound = speech(64 + 5 * 512)
    pieces = numpy.stack([sound[start : start + 576] for start in range(0, 5 * 512, 512)])
    zeros = numpy.zeros((1, 1, 128), numpy.float32)
    return [{"input": pieces, "h": zeros, "c": zeros}]


def source_file():
    """What magika sees of a file: its first and last bytes, with 256 in the place of those that are not there."""
    with open(os.path.join(ROOT, "ci/models"), "rb") as file:
        content = file.read()
    row = numpy.full(2048, 256, numpy.int32)
    begin, end = content[:1024].strip(), content[-1024:].strip()
    row[: len(begin)] = list(begin)
    row[2048 - len(end) :] = list(end)
    return [{"bytes": row[None]}]


def grey(words, width):
    pixels = text(words, width, 64).mean(axis=2)
    return [{"input1": ((pixels - 0.5) / 0.5).astype(numpy.float32)[None, None]}]


HALF_PIXELS = (numpy.float32(0.5), numpy.float32(0.5))
CASES = {
    "resnet18": network_inputs(),
    "resnet50": network_inputs(),
    "mobilenet_v3_large": network_inputs(),
    "efficientnet_b0": network_inputs(),
    "vit_b_16": network_inputs(),
    "resnet18_f16": network_inputs(numpy.float16),
    "resnet50_f16": network_inputs(numpy.float16),
    "silero_vad": silero(["sr"]),
    "silero_vad_16k_op15": silero(["sr"]),
    "silero_vad_half": silero([]),
    "silero_vad_op18_ifless": silero(["sr"]),
    "silero_vad_openvino_16k": silero([]),
    "silero_vad_16k_sequence": silero_sequence,
    "ch_PP-OCRv4_det_infer": lambda: [{"x": planes(text("Hello, world 2026", 480, 96))}],
    "ch_PP-OCRv4_rec_infer": lambda: [
        {"x": planes(text("Hello, world", 320, 48), *HALF_PIXELS)},
        {"x": planes(text("42", 100, 48), *HALF_PIXELS)},
    ],
    "ch_ppocr_mobile_v2.0_cls_infer": lambda: [{"x": planes(text("Hello, world", 192, 48), *HALF_PIXELS)}],
    "common": lambda: grey("8xKm", 160),
    "common_old": lambda: grey("8xKm", 160),
    "common_det": lambda: [{"images": (photo(416, 416) * 255).transpose(2, 0, 1)[None].copy()}],
    "model": source_file,
    "nmp": lambda: [{"serving_default_input_2:0": chord(43844, 22050)[None, :, None]}],
}
# Networks of 8-bit integers. A number that rounds the other way is a step apart.
QUANTIZED = {"common_old"}
PROGRAM = "device program"
PLACES = {"host": [], "cpu device": ["--device", "cpu"], PROGRAM: ["--device", "cpu", "--graph"]}


def stated(session, given):
    """The options that state the open extents of inputs."""
    is_open = [value.name for value in session.get_inputs() if not all(isinstance(dim, int) for dim in value.shape)]
    shapes = {name: "x".join(map(str, given[name].shape)) for name in is_open if name in given}
    return [word for name, shape in shapes.items() if shape for word in ("--input-shape", f"{name}={shape}")]


def batched(session, given):
    """Eight times the inputs of a call at once; None if a first extent is fixed."""
    first = {value.name: value.shape[0] if value.shape else 1 for value in [*session.get_inputs(), *session.get_outputs()]}
    if any(isinstance(extent, int) for extent in first.values()):
        return None
    return {name: numpy.concatenate([value] * 8) for name, value in given.items()}


def input_options(given, folder):
    """The options that give our tool its inputs."""
    options = []
    for number, (name, value) in enumerate(given.items()):
        path = os.path.join(folder, f"in{number}.npy")
        numpy.save(path, value)
        options += ["-i", f"{name}=@{path}"]
    return options


def checked(command):
    """What a command prints."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip()[:1000])
    return done.stdout


def run_compiled(tool, model, session, given, precision, folder):
    """The results of a device program in this precision: "f32", "f16", or "bounded f16"."""
    program = os.path.join(folder, "program.mlir")
    command = [tool, "compile", model, "--target", "cuda", "--precision", precision.split()[-1], "-o", program]
    if precision.startswith("bounded"):
        command += ["--max-error", "0.01", *input_options(given, folder)]
    checked(command + stated(session, given))
    return run(tool, program, given, session.get_outputs(), ["--device", "cpu"], folder)


def run(tool, model, given, outputs, options, folder):
    """The results of our tool. Texts have no file format: those are taken from what it prints."""
    command = [tool, "run", model, *options, *input_options(given, folder)]
    paths = {}
    for number, output in enumerate(outputs):
        if output.type != "tensor(string)":
            paths[number] = os.path.join(folder, f"out{number}.npy")
            command += ["-o", f"{output.name}={paths[number]}"]
    has_texts = len(paths) < len(outputs)
    printed = checked(command + ["--json"] * has_texts)
    printed = json.loads(printed)["results"] if has_texts else []
    return [numpy.load(paths[number]) if number in paths else texts(printed[number]) for number in range(len(outputs))]


def texts(printed):
    """A tensor of texts as the tool prints it."""
    return numpy.array(printed["values"]).reshape(printed["shape"])


def difference(ours, theirs):
    """The largest difference, as a part of the largest number."""
    if ours.shape != theirs.shape:
        raise RuntimeError(f"the shape is {ours.shape}, and ONNX Runtime's {theirs.shape}")
    if theirs.dtype.kind in "OU":
        return float(numpy.any(ours.astype(str) != theirs.astype(str)))
    ours, theirs = ours.astype(numpy.float64), theirs.astype(numpy.float64)
    if not theirs.size:
        return 0.0
    if not numpy.isfinite(theirs).all():
        raise RuntimeError("ONNX Runtime's results are not finite")
    largest = numpy.abs(theirs).max()
    return float(numpy.abs(ours - theirs).max() / largest) if largest else float(numpy.abs(ours).max())


def open_session(model, level):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = level
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def recorded(path):
    """The inputs beside a model, if there are any."""
    inputs = os.path.splitext(path)[0] + ".npz"
    return [dict(numpy.load(inputs).items())] if os.path.exists(inputs) else None


def compare(tool, name, model):
    session = open_session(model, onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL)
    plain = open_session(model, onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)
    outputs = session.get_outputs()
    names = [output.name for output in outputs]
    calls = recorded(model)
    if calls is None:
        make = CASES[name]
        calls = make(session) if make.__code__.co_argcount else make()
    tolerance = 2e-2 if name.endswith("_f16") or name in QUANTIZED else 1e-4
    worst = {}
    for given in calls:
        spread = map(difference, plain.run(names, given), session.run(names, given))
        tolerance = max(tolerance, 2 * max(spread))
    for place, options in PLACES.items():
        with tempfile.TemporaryDirectory() as folder:
            worst[place] = 0.0
            for given in calls:
                more = stated(session, given) if place == PROGRAM else []
                try:
                    ours = run(tool, model, given, outputs, options + more, folder)
                except RuntimeError as error:
                    if place != PROGRAM or "needs static shapes" not in str(error):
                        raise
                    del worst[place]
                    break
                theirs = session.run(names, given)
                worst[place] = max([worst[place], *map(difference, ours, theirs)])
    is_fine = max(worst.values()) <= tolerance
    figures = [f"{place} {part:.1e}" for place, part in worst.items()]
    figures.append(f"of {tolerance:.1e}")
    if PROGRAM in worst and name not in QUANTIZED:
        narrow = compare_programs(tool, model, (session, calls), tolerance)
        figures += [f"{what} {part:.1e}" + f" of {allowed:.1e}" for what, (part, allowed) in narrow.items()]
        is_fine &= all(part <= allowed for part, allowed in narrow.values())
    print(f"{'fine' if is_fine else 'FAILED'}  {name}: {', '.join(figures)}", flush=True)
    return is_fine


def compare_programs(tool, model, about, tolerance):
    """The largest differences of device programs in f16, and on eight inputs at once, with what is allowed."""
    session, calls = about
    names = [output.name for output in session.get_outputs()]
    worst = {}
    for given in calls:
        for count, inputs in ((1, given), (8, batched(session, given))):
            for precision in ("f32", "f16"):
                if inputs is None or (count, precision) == (1, "f32"):
                    continue
                try:
                    theirs = session.run(names, inputs)
                except Exception:  # Not every model whose first extents are open takes batches.
                    continue
                with tempfile.TemporaryDirectory() as folder:
                    # Results that vary by themselves, as behind a dropout, cannot be held to a bound.
                    is_bounded = precision == "f16" and tolerance <= 2e-2
                    chosen = "bounded f16" if is_bounded else precision
                    ours = run_compiled(tool, model, session, inputs, chosen, folder)
                allowed = tolerance if precision == "f32" else max(tolerance, 2e-2)
                place = f"{precision} x {count}"
                part = max(map(difference, ours, theirs))
                worst[place] = (max(part, worst.get(place, (0.0, 0.0))[0]), allowed)
    return worst


def main(tool, folder, chosen):
    # The virtual environment in the same folder has models, too.
    paths = [path for part in ("packages", "networks", "exports") for path in glob.glob(f"{folder}/{part}/**/*.onnx", recursive=True)]
    models = {os.path.splitext(os.path.basename(path))[0]: path for path in paths}
    failed = []
    exported = sorted(name for name, path in models.items() if recorded(path) is not None)
    for name in chosen or [*CASES, *exported]:
        if name not in models:
            print(f"FAILED  {name}: no such model in {folder}")
            failed.append(name)
            continue
        try:
            is_fine = compare(tool, name, models[name])
        except RuntimeError as error:
            print(f"FAILED  {name}: {error}", flush=True)
            is_fine = False
        failed += [] if is_fine else [name]
    if failed:
        sys.exit(f"{len(failed)} models fail: {', '.join(failed)}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
