"""Results as one HTML page that needs nothing else."""

from html import escape

from bench import tables
from bench.plots import bars, legend

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1000px; margin: 2em auto;
  padding: 0 1em; color: #222; background: #fff; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2em; }
svg { width: 100%; height: auto; }
svg text { font: 10px system-ui, sans-serif; fill: #333; }
svg .row { text-anchor: end; font-size: 12px; } svg .tick { text-anchor: middle; fill: #888; }
svg .value { paint-order: stroke; stroke: #fff; stroke-width: 3px; }
svg .grid { stroke: #e4e4e4; } svg .mark { stroke: #222; stroke-dasharray: 4 3; }
.legend span { margin-right: 1.2em; white-space: nowrap; }
.legend i { display: inline-block; width: .8em; height: .8em; margin-right: .35em; }
table { border-collapse: collapse; font-size: 13px; } .wide { overflow-x: auto; }
td, th { padding: .15em .6em; border-bottom: 1px solid #ddd; text-align: right; }
td:first-child, th:first-child { text-align: left; }
"""


def relative(cells: list) -> list:
    """Each peer's time by the best peer's that is not Alula."""
    rows = []
    for cell in cells:
        best = tables.best_other(cell)
        times = {name: tables.minimum(cell, name) for name in cell["peers"]}
        if best:
            rows.append((cell["title"], {n: t / best[0] for n, t in times.items() if t}))
    return rows


def shares(cells: list) -> list:
    """Percent of the machine's limit."""
    rows = []
    for cell in cells:
        if not cell["limit"]:
            continue
        times = {name: tables.minimum(cell, name) for name in cell["peers"]}
        rows.append((cell["title"], {n: 100 * cell["limit"] / t for n, t in times.items() if t}))
    return rows


def facts(cells: list, field: str, scale=1.0) -> list:
    rows = []
    for cell in cells:
        entries = cell["peers"].items()
        found = {n: e[field] * scale for n, e in entries if e.get(field)}
        if found:
            rows.append((cell["title"], found))
    return rows


def html_table(markdown: str) -> str:
    lines = [line.strip("| ").split(" | ") for line in markdown.strip().splitlines()]
    out = []
    for i, line in enumerate(lines):
        if i == 1:
            continue
        tag = "th" if i == 0 else "td"
        fields = []
        for field in map(escape, line):
            bold = field.startswith("**")
            fields.append(f"<{tag}>{f'<b>{field[2:-2]}</b>' if bold else field}</{tag}>")
        out.append(f"<tr>{''.join(fields)}</tr>")
    return f'<div class="wide"><table>{"".join(out)}</table></div>'


def section(title: str, note: str, body: str) -> str:
    return f"<h2>{escape(title)}</h2><p>{escape(note)}</p>{body}"


def page(data: dict) -> str:
    about, names = data["machine"], tables.NAMES
    parts = []
    for threads, size in tables.groups(data):
        cells = tables.cells_of(data, threads, size)
        where = f"{threads} threads, {size} sizes"
        chart = bars(relative(cells), names, log=True, text=lambda v: f"{v:.2f}", line=1.0)
        note = "By the time of the best peer: shorter is faster, left of the line is ahead. "
        table = html_table(tables.time_table(cells))
        parts.append(section(f"Time, {where}", note + tables.standing(cells), chart + table))
        rounded = tables.rounded_table(cells)
        if rounded:
            note = "Products of bf16, activations as bytes: beside who rounds alike."
            parts.append(section(f"Rounded, {where}", note, html_table(rounded)))
        chart = bars(shares(cells), names, text=lambda v: f"{v:.0f} %", line=100.0)
        note = "Of the measured peak of arithmetic or memory; longer is better."
        parts.append(section(f"Percent of the limit, {where}", note, chart))
    if data["cells"]:
        threads, size = tables.groups(data)[0]
        cells = tables.cells_of(data, threads, size)
        chart = bars(facts(cells, "compile_ms"), names, log=True, text=tables.figure)
        note = "Milliseconds. Tools: a process from start to end; others: in a warm process."
        parts.append(section("Compile time", note, chart))
        chart = bars(facts(cells, "artifact_bytes", 1e-3), names, log=True, text=tables.figure)
        parts.append(section("Size of the artifact", "KB, with its constants.", chart))
        chart = bars(facts(cells, "peak_kib", 1024e-6), names, log=True, text=tables.figure)
        note = "MB of the process that runs it; those in Python hold the compiler too."
        parts.append(section("Peak memory", note, chart))
    table = html_table(tables.peak_table(data))
    parts.append(section("This machine", "Measured before the run.", table))
    wrong = tables.problems(data)
    if wrong:
        items = "".join(f"<li>{escape(line)}</li>" for line in wrong)
        parts.append(section("Failed or wrong", "", f"<ul>{items}</ul>"))
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    intro = (
        f"{about['date']}, {about['processor']}, {about['cpus']} CPUs; Alula {about['alula']}, "
        f"{versions}. {data['rounds']} rounds in turns."
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Alula: benchmarks'
        f"</title><style>{STYLE}</style></head><body><h1>Benchmarks</h1><p>{escape(intro)}</p>"
        f"{legend(names)}{''.join(parts)}</body></html>\n"
    )
