"""The time of each kernel in one call of ResNet-50: ours by Nsight Compute, PyTorch's by its own profiler."""

import csv
import os
import shutil

from sides import Clock, SideError

METRICS = "gpu__time_duration.sum,dram__bytes.sum"


def profile(run, limit_s):
    clock, facts = Clock(limit_s), {"ours": [], "torch": []}
    ncu = shutil.which("ncu") or next((p for p in ("/usr/local/cuda/bin/ncu",) if os.path.exists(p)), None)
    batches = [1] if run.short else [256, 1]
    problems = []
    if ncu is None:
        facts["missing"] = "ncu is not installed"
    for batch in batches if ncu else []:
        try:
            facts["ours"].append({"precision": "f16", "batch": batch, "launches": ours(run, ncu, batch, clock.left() / 2)})
        except (OSError, ValueError, KeyError, TimeoutError) as error:
            problems.append(f"ours, batch {batch}: {type(error).__name__}: {error}")
    for batch in batches:
        try:
            facts["torch"].append({"precision": "f16", "batch": batch, "kernels": of_torch(run, batch, clock.left())})
        except (SideError, KeyError) as error:
            problems.append(f"PyTorch, batch {batch}: {error}")
    facts["notes"] = problems
    if ncu and not facts["ours"]:
        facts["failed"] = "; ".join(problems)
    if facts["ours"] and clock.left() > 15:
        facts["details"] = details(run, ncu, facts["ours"][0], clock)
    return facts


def command_of(run, batch):
    command = [run.tool("measure"), "--device", run.device, "--network", f"device:f16:{batch}:{run.extent}"]
    return command + ["--weights", f"{run.work}/weights.safetensors", "--images", f"{run.work}/images.f32"]


def ours(run, ncu, batch, limit_s):
    """The launches of one call: name, microseconds, bytes of device memory."""
    # Clocks as they are, and a warm cache: the figures are to fit those of the comparison.
    options = ["--csv", "--print-units", "base", "--metrics", METRICS, "--clock-control", "none", "--cache-control", "none"]
    text = question(run, f"ncu-{batch}", [ncu, *options, *command_of(run, batch)], limit_s)
    return last_call(launches(text))


def question(run, name, command, limit_s):
    """The output of a program that is asked for one call with resident images."""
    import subprocess

    with open(run.log(f"{name}.log"), "wb") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT, env=run.environment, start_new_session=True
        )
        try:
            process.communicate(b"resident 0\n", timeout=limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            raise TimeoutError(f"no end within {limit_s:.0f} s") from None
    with open(run.log(f"{name}.log"), encoding="utf-8", errors="replace") as log:
        return log.read()


def launches(text):
    """The launches of a program from the output of ncu, in order."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        raise ValueError(lines[-1] if lines else "ncu wrote nothing")
    found = {}
    for row in csv.DictReader(lines[start:]):
        if not (row.get("ID") or "").isdigit():
            continue
        launch = found.setdefault(int(row["ID"]), [row["Kernel Name"].split("(")[0], 0.0, 0.0])
        value = float(row["Metric Value"].replace(",", ""))
        if row["Metric Name"].startswith("gpu__time"):
            launch[1] = value / 1e3
        else:
            launch[2] = value
    return [found[key] for key in sorted(found)]


def last_call(found):
    """The launches of the last call: what the end of the list repeats."""
    names = [name for name, _, _ in found]
    for length in range(20, len(names) // 2 + 1):
        if names[-length:] == names[-2 * length : -length]:
            return found[-length:]
    raise ValueError(f"no call repeats in {len(found)} launches")


def of_torch(run, batch, limit_s):
    side = run.torch_side("profile-torch")
    try:
        side.read(60)
        side.ask({"open": "benchmark", "precision": "f16", "batch": batch}, limit_s)
        return side.ask({"profile": 2 if run.short else 10, "of": "benchmark"}, limit_s)["kernels"]
    finally:
        side.close()


def details(run, ncu, measured, clock):
    """What ncu says of the three most expensive kernels. The file for its viewer lies beside the report."""
    totals = {}
    for name, us, _ in measured["launches"]:
        totals[name] = totals.get(name, 0) + us
    texts = []
    for name in sorted(totals, key=totals.get, reverse=True)[:3]:
        if clock.left() < 5:
            break
        file = os.path.join(run.output, f"kernel-{len(texts) + 1}")
        options = ["--set", "detailed", "-k", name, "-c", "1", "-f", "-o", file, "--clock-control", "none"]
        try:
            question(run, f"ncu-details-{len(texts) + 1}", [ncu, *options, *command_of(run, measured["batch"])], clock.left())
        except TimeoutError as error:
            texts.append({"kernel": name, "failed": str(error)})
            continue
        _, text = run.command(f"ncu-page-{len(texts) + 1}", [ncu, "-i", f"{file}.ncu-rep", "--page", "details"], 20)
        texts.append({"kernel": name, "text": text[:6000]})
    return texts
