#!/usr/bin/env python3
"""Makes pages of the results of a run: report.md and report.html.

    ci/gpu/report.py FOLDER...     merges the results of several runs, and writes the pages into the first folder
"""

import html
import importlib.machinery
import importlib.util
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
COLOURS = ["#1f6feb", "#1a7f37", "#bf8700", "#cf222e", "#8250df", "#57606a", "#bc4c00", "#0a7ea4"]
CSS = """body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1f2328}
table{border-collapse:collapse;margin:.6rem 0}td,th{border:1px solid #d0d7de;padding:.2rem .6rem;text-align:right}
td:first-child,th:first-child{text-align:left}th{background:#f6f8fa}.bad{color:#cf222e;font-weight:600}
pre{background:#f6f8fa;padding:.6rem;overflow:auto;font-size:13px}svg text{font:12px system-ui,sans-serif}"""


def load_model():
    """The roofline model, which is a script."""
    path = os.path.join(HERE, "model")
    spec = importlib.util.spec_from_loader("model", importlib.machinery.SourceFileLoader("model", path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def number(value):
    """Three digits that count."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if value != 0 and abs(value) < 0.01:
        return f"{value:.1e}"
    return f"{value:.3g}"


class Page:
    """A page as Markdown and as HTML."""

    def __init__(self):
        self.markdown, self.html = [], []

    def title(self, text, level=2):
        self.markdown.append(f"{'#' * level} {text}\n")
        self.html.append(f"<h{level}>{html.escape(text)}</h{level}>")

    def text(self, text, is_bad=False):
        self.markdown.append(f"**{text}**\n" if is_bad else f"{text}\n")
        self.html.append(f"<p{' class=bad' if is_bad else ''}>{html.escape(text)}</p>")

    def code(self, text):
        self.markdown.append(f"```text\n{text.strip()}\n```\n")
        self.html.append(f"<pre>{html.escape(text.strip())}</pre>")

    def table(self, header, rows):
        if not rows:
            return
        cells = [[number(cell) for cell in row] for row in rows]
        lines = ["| " + " | ".join(header) + " |", "|" + "---|" + "---:|" * (len(header) - 1)]
        lines += ["| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in cells]
        self.markdown.append("\n".join(lines) + "\n")
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in cells)
        self.html.append(f"<table><tr>{head}</tr>{body}</table>")

    def bars(self, title, rows, unit):
        """Horizontal bars: name, value, and the lowest and highest."""
        if not rows:
            return
        most = max(max(value, high) for _, value, _, high in rows) or 1
        height, width = 22, 520
        # A letter is about 7 pixels wide.
        left = 16 + 7 * max(len(name) for name, *_ in rows)
        parts = [f'<svg width="{left + width + 130}" height="{height * len(rows) + 28}" role="img"><text x="0" y="14" font-weight="600">{html.escape(title)}</text>']
        for index, (name, value, low, high) in enumerate(rows):
            y = 24 + index * height
            colour = COLOURS[0] if name.startswith("ours") else COLOURS[3] if name.startswith("roofline") else COLOURS[2] if name.startswith("JAX") else COLOURS[1]
            x = [left + width * v / most for v in (value, low, high)]
            parts.append(f'<text x="{left - 8}" y="{y + 14}" text-anchor="end">{html.escape(name)}</text>')
            parts.append(f'<rect x="{left}" y="{y + 3}" width="{max(x[0] - left, 1):.1f}" height="{height - 8}" fill="{colour}"/>')
            parts.append(f'<line x1="{x[1]:.1f}" x2="{x[2]:.1f}" y1="{y + 10}" y2="{y + 10}" stroke="#1f2328"/>')
            parts.append(f'<text x="{max(x[0], x[2]) + 6:.1f}" y="{y + 14}">{number(value)} {unit}</text>')
        self.html.append("".join(parts) + "</svg>")


# ---- Sections -----------------------------------------------------------------------------------------------------------


def summary(page, report):
    parts = report["parts"]
    machine = parts.get("machine", {})
    page.title(f"ResNet-50 and device tests, {machine.get('version', 'unknown version')}", 1)
    if report["short"]:
        page.text("A rehearsal: everything is small, and the figures mean nothing.")
    page.text(f"{machine.get('nvidia_smi') or 'no GPU'}; {machine.get('processor', '')}, {machine.get('processors', '?')} threads; {machine.get('date', '')}")
    versions = [f"{name} {machine[name]}" for name in ("python", "torch", "numpy", "jax") if machine.get(name)]
    page.text(", ".join(versions))
    rows = [(name, facts.get("failed", "done")[:160], facts.get("part_s")) for name, facts in parts.items()]
    page.table(["part", "outcome", "seconds"], rows)
    if report["left_out"]:
        page.text(f"Left out, as there was no time: {', '.join(report['left_out'])}", True)


def device(page, report):
    facts = report["parts"].get("devices")
    if facts:
        page.title("Device")
        page.code(facts.get("output", ""))
        if "failed" in facts:
            page.text(facts["failed"], True)


def correctness(page, report):
    rows, failures = [], []
    for name in ("conformance", "golden", "kernels", "ranks"):
        facts = report["parts"].get(name)
        if facts and "exit_code" in facts:
            rows.append((name, str(facts["exit_code"]), str(facts["passed"]), str(facts["failed_cases"]), str(facts["skipped"]), facts["suite_s"]))
            if facts.get("failures"):
                failures.append(f"{name}\n" + "\n".join(facts["failures"]))
    sanitizer = report["parts"].get("sanitizer", {}).get("rows", [])
    if not rows and not sanitizer:
        return
    page.title("Correctness")
    page.table(["suite", "exit code", "passed", "failed", "skipped", "seconds"], rows)
    for text in failures:
        page.code(text)
    rows = [(f"{row['tool']} on {row['on']}", str(row["result"]), str(row.get("errors", "–"))) for row in sanitizer]
    page.table(["compute-sanitizer", "exit code", "errors"], rows)


def starts(page, report):
    rows = report["parts"].get("start", {}).get("starts", [])
    if rows:
        page.title("Start, to the first result of batch 1")
        keys = ("load_s", "setup_s", "first_call_s", "first_result_s", "process_s")
        page.table(["", "load, s", "setup, s", "first call, s", "first result, s", "process, s"], [(row["name"], *(row[key] for key in keys)) for row in rows])


def ceilings(page, report, model):
    measured = report["parts"].get("ceilings", {}).get("ceilings")
    if measured:
        page.title("Ceilings of this card, by PyTorch on random data")
        page.table(["", "measured", "assumed by the model"], [(key, value, model.H200.get(key)) for key, value in measured.items()])
    figures = report["parts"].get("bench", {}).get("figures", [])
    if figures:
        page.title("Our calls and CUDA kernels")
        copy = (measured or {}).get("copy_gbs")
        rows = []
        for figure in figures:
            other = copy if figure["name"].startswith("kernel") else (measured or {}).get(figure["name"])
            share = figure["value"] / other if other else None
            rows.append((figure["name"], figure["value"], figure["unit"], f"{share:.0%}" if share else "–"))
        page.table(["", "value", "unit", "of the copy bandwidth, or of PyTorch's"], rows)


def comparison(page, report, model):
    configurations = [c for part in ("resnet50", "compiled") for c in report["parts"].get(part, {}).get("configurations", [])]
    if not configurations:
        return
    page.title("ResNet-50 beside PyTorch and JAX")
    page.text("Images per second; the best mode of each kind, the median of the rounds. Resident: images and scores stay on the device. End to end: from host memory to host memory.")
    limits, extent = model.ceilings_of(report), extent_of(report)
    rows = []
    for c in configurations:
        ours, torch = best(c, "ours", RESIDENT), best(c, "PyTorch", RESIDENT)
        ours_end, torch_end = best(c, "ours", END_TO_END), best(c, "PyTorch", END_TO_END)
        jax, jax_end = best(c, "JAX", RESIDENT), best(c, "JAX", END_TO_END)
        roof = model.totals(c["precision"], c["batch"], limits, extent)["images_per_s"]
        rows.append((f"{c['precision']}, batch {c['batch']}", *ours, *torch, ratio(ours[0], torch[0]), roof, ours_end[0], torch_end[0], ratio(ours_end[0], torch_end[0]), jax[0], jax_end[0]))
    page.table(["", "ours, resident", "by", "PyTorch, resident", "by", "ours ÷ PyTorch", "roofline", "ours, end to end", "PyTorch, end to end", "ours ÷ PyTorch", "JAX, resident", "JAX, end to end"], rows)
    for c in configurations:
        one_configuration(page, c, model, limits, report)
    for part in ("resnet50", "compiled"):
        facts = report["parts"].get(part, {})
        if facts.get("reference"):
            page.text(f"Scores are compared with {facts['reference']}" + (f"; these are off by {facts['reference_off']:.1e} from the shipped ones" if "reference_off" in facts else "") + ".")
        for note in facts.get("notes", []):
            page.text(note)


def extent_of(report):
    """Rows and columns of the images."""
    return report["parts"].get("inputs", {}).get("extent", 224)


RESIDENT, END_TO_END = ("resident", "residents"), ("call", "calls")


def best(configuration, side, modes):
    """The best rate of a side, and by what."""
    found = (None, "–")
    for system in configuration["systems"]:
        for mode, figures in system["modes"].items():
            if system["name"].startswith(side) and mode in modes and figures["images_per_s"] > (found[0] or 0):
                found = (figures["images_per_s"], f"{system['name'].split(', ')[1]}, {mode}")
    return found


def ratio(a, b):
    return f"{a / b:.2f}" if a and b else "–"


def one_configuration(page, c, model, limits, report):
    page.title(f"{c['precision']}, batch {c['batch']}", 3)
    rows, bars = [], []
    total = model.totals(c["precision"], c["batch"], limits, extent_of(report))
    for system in c["systems"]:
        for mode, f in system["modes"].items():
            rate = f["images_per_s"]
            tflops = total["flops"] / c["batch"] * rate / 1e12
            gbs = total["bytes"] / c["batch"] * rate / 1e9
            off = system.get("resident_off" if mode in RESIDENT and "resident_off" in system else "off")
            rows.append((f"{system['name']}, {mode}", rate, f"{f['spread'][0]:,.0f}–{f['spread'][1]:,.0f}", f["p50_us"], f["p90_us"], f["p99_us"], tflops, gbs, off))
            if mode in ("residents", "calls"):
                bars.append((f"{system['name']}, {mode}", rate, *f["spread"]))
    page.table(["", "images/s", "spread", "p50, µs", "p90, µs", "p99, µs", "TFLOP/s", "GB/s", "scores off by"], rows)
    if not report["short"]:
        bars.append(("roofline, graph", total["images_per_s"], total["images_per_s"], total["images_per_s"]))
    page.bars(f"{c['precision']}, batch {c['batch']}", bars, "images/s")
    for system in c["systems"]:
        if "error" in system:
            page.text(f"{system['name']}: {system['error']}", True)
    text = bound(c, total, report)
    if text:
        page.text(text)


def bound(c, total, report):
    """What bounds our device program: the shares of transfers and of kernels in a call."""
    ours = next((s for s in c["systems"] if s["name"] == "ours, device"), {}).get("modes", {})
    if not all(mode in ours for mode in ("call", "residents")):
        return None
    call, graph = ours["call"]["p50_us"], ours["residents"]["p50_us"]
    text = f"Of a call of {call:,.0f} µs, {max(call - graph, 0) / call:.0%} are transfers and waiting for one call at a time, "
    text += f"and {min(graph, call) / call:.0%} the launch of a graph and its kernels."
    for measured in report["parts"].get("profile", {}).get("ours", []):
        if (measured["precision"], measured["batch"]) == (c["precision"], c["batch"]):
            us = sum(row[1] for row in measured["launches"])
            text += f" By ncu, the kernels take {us:,.0f} µs, {us / graph:.0%} of a graph's time."
    text += f" The roofline gives {total['work_us']:,.0f} µs, {total['memory_bound']:.0%} of it bound by memory."
    return text


def kernels(page, report, model):
    facts = report["parts"].get("profile", {})
    if not facts.get("ours") and not facts.get("torch"):
        return
    page.title("Kernels of one call")
    limits = model.ceilings_of(report)
    for measured in facts.get("ours", []):
        page.title(f"Ours, {measured['precision']}, batch {measured['batch']}", 3)
        launches = measured["launches"]
        predicted = model.predict(measured["precision"], measured["batch"], limits, extent_of(report))
        if len(launches) == len(predicted):
            rows = [(step[0], name, us, step[1], f"{step[1] / us:.0%}", moved / us / 1e3, step[3] / us / 1e6) for (name, us, moved), step in zip(launches, predicted)]
            page.table(["step", "kernel", "µs", "roofline, µs", "of the roofline", "GB/s", "TFLOP/s"], rows)
        else:
            page.text(f"{len(launches)} launches for {len(predicted)} steps: they are not matched.")
            page.table(["kernel", "µs", "launches", "MB"], grouped(launches))
    for measured in facts.get("torch", []):
        page.title(f"PyTorch, benchmark, {measured['precision']}, batch {measured['batch']}", 3)
        rows = sorted(measured["kernels"].items(), key=lambda item: -item[1][0])[:15]
        page.table(["kernel", "µs", "launches"], [(name[:100], us, count) for name, (us, count) in rows])
    for note in facts.get("notes", []):
        page.text(note)
    for detail in facts.get("details", []):
        page.title(detail["kernel"][:100], 3)
        page.code(detail.get("text", detail.get("failed", "")))


def grouped(launches):
    totals = {}
    for name, us, moved in launches:
        total = totals.setdefault(name, [0.0, 0, 0.0])
        total[0], total[1], total[2] = total[0] + us, total[1] + 1, total[2] + moved / 1e6
    return sorted(((name, *total) for name, total in totals.items()), key=lambda row: -row[1])


def small(page, report):
    facts = report["parts"].get("small", {})
    rows = [(f"{side}, {name}", sorted(values)[len(values) // 2], f"{min(values):.1f}–{max(values):.1f}") for side in ("ours", "torch") for name, values in facts.get(f"{side}_us", {}).items()]
    if rows:
        page.title("MNIST network, 784 – 128 – 10, batch 128, f32")
        page.table(["", "µs a step", "spread"], rows)
        if "loss_off" in facts:
            page.text(f"The loss at first is off by {facts['loss_off']:.1e} from PyTorch's in f64.")
        for reason in facts.get("absent", []):
            page.text(f"Not measured: {reason}")


def programs(page, report):
    rows = report["parts"].get("mnist", {}).get("programs", [])
    if rows:
        page.title("MNIST programs")
        for row in rows:
            page.text(f"{row['name']}: exit code {row['exit_code']}, {row['seconds']:.1f} s", row["exit_code"] != 0)
            page.code(row["output"][-800:])


def write(report, folder):
    """Writes both pages."""
    model, page = load_model(), Page()
    summary(page, report)
    comparison(page, report, model)
    correctness(page, report)
    starts(page, report)
    kernels(page, report, model)
    ceilings(page, report, model)
    device(page, report)
    small(page, report)
    programs(page, report)
    with open(os.path.join(folder, "report.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(page.markdown))
    with open(os.path.join(folder, "report.html"), "w", encoding="utf-8") as file:
        file.write(f"<!doctype html><meta charset=utf-8><title>Report</title><style>{CSS}</style>{''.join(page.html)}\n")


def merge(folders):
    """The results of several runs of one bundle: configurations add up, other parts are those of the last run that has them."""
    whole = None
    for folder in folders:
        with open(os.path.join(folder, "report.json"), encoding="utf-8") as file:
            report = json.load(file)
        if whole is None:
            whole = report
            continue
        for name, facts in report["parts"].items():
            known = whole["parts"].get(name, {})
            if "configurations" in facts:
                new = {(c["precision"], c["batch"]) for c in facts["configurations"]}
                kept = [c for c in known.get("configurations", []) if (c["precision"], c["batch"]) not in new]
                facts = {**facts, "configurations": kept + facts["configurations"]}
            whole["parts"][name] = facts
        whole["left_out"] = [name for name in whole["left_out"] if name not in whole["parts"]]
    return whole


def main():
    if len(sys.argv) < 2:
        sys.exit("report.py: name the folders of the runs")
    report = merge(sys.argv[1:])
    with open(os.path.join(sys.argv[1], "report.json"), "w", encoding="utf-8") as file:
        json.dump(report, file, indent=1)
    write(report, sys.argv[1])


if __name__ == "__main__":
    main()
