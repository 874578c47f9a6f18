"""Results as Markdown."""

import math

from bench.peers import ALL, EVERY, FROM_C, FROM_PYTHON, OTHERS, ROUNDED

NAMES = {
    "alula": "Alula",
    "iree": "IREE",
    "onnxruntime": "onnxruntime",
    "openvino": "OpenVINO",
    "alula-jax": "Alula in JAX",
    "xla": "XLA:CPU",
    "torch": "torch",
    "numpy": "NumPy",
    "alula-bf16": "Alula bf16",
    "openvino-bf16": "OpenVINO bf16",
    "alula-i8": "Alula i8",
    "ggml": "ggml",
}
# Who is held against whom: what C calls, what Python calls.
SIDES = {"alula": FROM_C, "alula-jax": FROM_PYTHON}


def figure(value: float) -> str:
    """Three digits, no more."""
    if value >= 100:
        return f"{value:.0f}"
    if value >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}"


def size_text(count: float) -> str:
    for unit in ("B", "KB", "MB"):
        if count < 1000:
            return f"{figure(count) if unit != 'B' else int(count)} {unit}"
        count /= 1000
    return f"{figure(count)} GB"


def minimum(cell: dict, name: str) -> float | None:
    """Only of right results."""
    entry = cell["peers"].get(name, {})
    return entry["minimum"] if entry.get("right") and "minimum" in entry else None


def best_other(cell: dict, names=OTHERS):
    """(time, name) of the fastest peer, or None."""
    times = [(minimum(cell, name), name) for name in names]
    return min(((t, name) for t, name in times if t), default=None)


def speed(cell: dict, ours: str) -> float | None:
    """Above 1 Alula is ahead of the best peer that is called from the same language."""
    best, mine = best_other(cell, SIDES[ours]), minimum(cell, ours)
    return best[0] / mine if best and mine else None


def geometric_mean(values) -> float | None:
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def markdown(header, rows) -> str:
    lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def cells_of(data: dict, threads: int, size: str) -> list:
    return [c for c in data["cells"] if c["threads"] == threads and c["size"] == size]


def groups(data: dict):
    """(threads, size) of all tables, most threads first."""
    found = {(c["threads"], c["size"]) for c in data["cells"]}
    return sorted(found, key=lambda group: (-group[0], group[1] != "usual"))


def time_text(cell: dict, name: str) -> str:
    entry = cell["peers"].get(name, {})
    if "minimum" not in entry:
        return "failed" if "failed" in entry else "–"
    if not entry["right"]:
        return f"wrong ({entry['error']:.0e})"
    text = figure(entry["minimum"])
    best = best_other(cell)
    return f"**{text}**" if best and best[1] == name else text


def ratio_text(ratio: float | None) -> str:
    return f"{ratio:.2f}" if ratio else "–"


def time_table(cells: list) -> str:
    peers = [name for name in ALL if any(name in c["peers"] for c in cells)]
    ratios = ["best C / Alula", "best Python / in JAX"]
    header = ["row", *[NAMES[name] for name in peers], *ratios, "% of limit", "noise"]
    rows = []
    for cell in cells:
        mine = minimum(cell, "alula")
        share = f"{100 * cell['limit'] / mine:.0f}" if cell["limit"] and mine else "–"
        noises = [e["noise"] for e in cell["peers"].values() if "noise" in e]
        noise = f"{100 * sorted(noises)[len(noises) // 2]:.0f} %" if noises else "–"
        times = [time_text(cell, name) for name in peers]
        ahead = [ratio_text(speed(cell, ours)) for ours in SIDES]
        rows.append([cell["title"], *times, *ahead, share, noise])
    return markdown(header, rows)


def rounded_table(cells: list) -> str | None:
    """What rounds, beside who rounds alike; None without such rows."""
    pairs = [*ROUNDED.items()]
    header = ["row"]
    for ours, theirs in pairs:
        header += [NAMES[ours], NAMES[theirs], "ratio"]
    rows = []
    for cell in cells:
        texts = [cell["title"]]
        for ours, theirs in pairs:
            mine, other = minimum(cell, ours), minimum(cell, theirs)
            texts += [time_text(cell, ours), time_text(cell, theirs)]
            texts.append(ratio_text(other / mine if mine and other else None))
        if set(texts[1:]) != {"–"}:
            rows.append(texts)
    return markdown(header, rows) if rows else None


def stand(cells: list, ours: str) -> str | None:
    """How many rows are ahead, and by how much in the mean."""
    ratios = [ratio for ratio in (speed(cell, ours) for cell in cells) if ratio]
    if not ratios:
        return None
    ahead = sum(ratio >= 1 for ratio in ratios)
    near = sum(ratio >= 0.8 for ratio in ratios)
    return (
        f"at least 1.0 × the best on {ahead} of {len(ratios)}, at least 0.8 × on {near}; "
        f"geometric mean {geometric_mean(ratios):.2f} ×"
    )


def standing(cells: list) -> str:
    """From C and from Python."""
    said = {"From C": stand(cells, "alula"), "From Python": stand(cells, "alula-jax")}
    lines = [f"{where}: {text}." for where, text in said.items() if text]
    return " ".join(lines or ["No row to compare."]) + "\n"


def fact_table(cells: list, field: str, text) -> str:
    peers = [name for name in EVERY if any(field in c["peers"].get(name, {}) for c in cells)]
    rows = []
    for cell in cells:
        entries = [cell["peers"].get(name, {}) for name in peers]
        rows.append([cell["title"], *[text(e[field]) if field in e else "–" for e in entries]])
    return markdown(["row", *[NAMES[name] for name in peers]], rows)


def problems(data: dict) -> list[str]:
    """What failed or is wrong, a line each."""
    lines = []
    for cell in data["cells"]:
        where = f"{cell['row']} {cell['size']}, {cell['threads']} threads"
        for name, entry in cell["peers"].items():
            if "failed" in entry:
                lines.append(f"{where}: {name}: {entry['failed'].splitlines()[0][:160]}")
            elif entry.get("right") is False:
                lines.append(f"{where}: {name}: its error is {entry['error']:.1e}")
    return lines


def peak_table(data: dict) -> str:
    rows = []
    for threads, peaks in sorted(data["peaks"].items()):
        for kind, value in peaks["flops"].items():
            rows.append([threads, f"{kind}, G operations/s", f"{value:.0f}"])
        for kind in ("read", "copy"):
            speeds = [f"{int(size) >> 20} MB: {gb:.0f}" for size, gb in peaks[kind].items()]
            rows.append([threads, f"{kind}, GB/s", ", ".join(speeds)])
    return markdown(["threads", "what", "measured"], rows)


def report(data: dict) -> str:
    about = data["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    intro = (
        f"{about['date']}, {about['processor']}, {about['cpus']} CPUs, load {about['load']} "
        f"before; Alula {about['alula']}, {versions}. {data['rounds']} rounds in turns, "
        f"{data['seconds']} s of each peer; best in µs, less is faster. Bold is the best peer; onnxruntime and OpenVINO are called from C++ through Python; "
        "the limit is the measured peak of arithmetic or memory; noise is the median peer's "
        "median above its minimum.\n"
    )
    parts = ["# Benchmarks\n", intro]
    for threads, size in groups(data):
        cells = cells_of(data, threads, size)
        parts += [f"## Time, {threads} threads, {size} sizes\n", time_table(cells)]
        parts += [standing(cells)]
        rounded = rounded_table(cells)
        if rounded:
            parts += [f"## Rounded, {threads} threads, {size} sizes\n", rounded]
    if data["cells"]:
        threads, size = groups(data)[0]
        cells = cells_of(data, threads, size)
        note = "Tools: a process from start to end; in Python: in a process that has compiled.\n"
        parts += ["## Compile time, ms\n", note, fact_table(cells, "compile_ms", figure)]
        parts += ["## Artifact\n", fact_table(cells, "artifact_bytes", size_text)]
        kib = fact_table(cells, "peak_kib", lambda v: size_text(v * 1024))
        parts += ["## Peak memory of the process\n", kib]
    parts += ["## Peaks of this machine\n", peak_table(data)]
    wrong = problems(data)
    if wrong:
        parts += ["## Failed or wrong\n", "\n".join(f"- {line}" for line in wrong) + "\n"]
    return "\n".join(parts)
