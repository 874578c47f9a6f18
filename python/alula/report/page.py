"""The page: one file, without scripts, which loads nothing. All text goes through
_cell, _facts or charts, which escape it."""

import operator
from html import escape

from alula import environment
from alula.report import accuracy, charts, show
from alula.report.commands import type_text

_STYLE = """
body{font:14px/1.45 system-ui,sans-serif;margin:2em auto;max-width:1240px;padding:0 1em;color:#222}
h1,h2,h3{line-height:1.2}h2{margin-top:2em;border-bottom:1px solid #ddd}
table{border-collapse:collapse;margin:.8em 0;font-size:13px}
th,td{border-bottom:1px solid #e4e4e4;padding:3px 9px;text-align:left;vertical-align:top}
th{background:#f4f4f2}td.n,th.n{text-align:right;white-space:nowrap}
tfoot td{font-weight:600;border-top:2px solid #bbb}
code,td.c{font-family:ui-monospace,monospace;font-size:12px;overflow-wrap:break-word}
td.c{min-width:6em;max-width:34em}
.wide{overflow-x:auto}.note{color:#555}svg text{font:11px ui-monospace,monospace;fill:#222}
svg .name{font-weight:600}svg .end{text-anchor:end}svg .middle{text-anchor:middle}
.edge{fill:none;stroke:#999}.box{stroke:#b98}.area{fill:#8fb8de;stroke:#36c}
.axis,.grid{fill:none;stroke:#888}.grid{stroke:#e4e4e4}.roof{fill:none;stroke:#c33;stroke-width:2}
.point{fill:#36c;fill-opacity:.75}
"""
# Nothing is loaded and nothing runs, whatever stands in the page.
_HEAD = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">"""
_NUMBER = "n"


def _cell(text, kind="", tag="td"):
    chosen = f' class="{kind}"' if kind else ""
    return f"<{tag}{chosen}>{escape(str(text))}</{tag}>"


def _table(head, rows, foot=None, name=""):
    """`head` are pairs of a title and the kind of its column; a column that knows
    nothing is left out."""
    used = [i for i in range(len(head)) if any(str(row[i]) != "" for row in rows)]

    def line(cells, tag="td"):
        return "<tr>" + "".join(_cell(cells[i], head[i][1], tag) for i in used) + "</tr>"

    text = f'<div class="wide"><table id="{escape(name)}"><thead>'
    text += line([title for title, _ in head], "th") + "</thead><tbody>"
    text += "".join(map(line, rows)) + "</tbody>"
    if foot:
        text += f"<tfoot>{line(foot)}</tfoot>"
    return text + "</table></div>"


def _facts(pairs):
    return "".join(f"<tr>{_cell(k, '', 'th')}{_cell(v)}</tr>" for k, v in pairs if v != "")


def _summary(report):
    artifact, first = report.artifact, report.functions[0]
    facts = dict(artifact["facts"])
    arguments = ", ".join(
        f"{v['name']}: {type_text(v)}".removeprefix(": ") for v in first.arguments
    )
    results = ", ".join(f"{v['name']}: {type_text(v)}".removeprefix(": ") for v in first.results)
    times, machine = report.times, report.machine
    variants = ", ".join(v["name"] for v in artifact["variants"])
    rows = [
        ("file", report.path),
        ("function", f"{first.name}({arguments}) → ({results})"),
        ("compiler", facts.get("compiler", "")),
        ("artifact", f"{artifact['bytes']:,} bytes, hash {artifact['hash']}, for {variants}"),
        ("constants", f"{sum(c['bytes'] for c in artifact['constants']):,} bytes"),
        ("kernels", len(report.kernels)),
        ("flops of a call", show.number(report.cost.get("flops"))),
        (
            "bytes of a call, by the compiler's count",
            show.number(report.cost.get("bytes accessed")),
        ),
        ("bytes of a call, read and written by kernels", show.number(_given_bytes(report))),
    ]
    if times:
        rows += [
            ("time of a call", show.seconds(times.call)),
            ("ran", f"{times.variant}, median of {times.calls} calls after one"),
        ]
    if machine:
        info = environment.get_environment_info()
        rows += [
            ("machine", f"{info['processor']}, {info['CPUs']} CPUs, load {machine.load:.1f}"),
            ("its copies", f"{show.scaled(machine.bandwidth, 'B/s')} read and written"),
            ("its products of f32 by NumPy", show.scaled(machine.flops, "flop/s")),
        ]
    return f"<table>{_facts(rows)}</table>"


def _given_bytes(report):
    return report.total(
        lambda k: None if k.read_bytes is None or k.written_bytes is None
        else k.read_bytes + k.written_bytes
    )  # fmt: skip


def _place(source):
    """Without the folders: "model.py:12"."""
    return source.rsplit("/", 1)[-1]


def _kernels(report):
    """What kernels are, and what they take."""
    head = [
        ("kernel", "c"), ("fused", "c"), ("source name", "c"), ("source", "c"), ("grid", _NUMBER),
        ("errors at most", "c"),
    ]  # fmt: skip
    rows = [
        [
            k.name, " ".join(k.operations), k.source_name, _place(k.source), k.grid,
            accuracy.describe(k.typed),
        ]
        for k in report.kernels
    ]  # fmt: skip
    return _table(head, rows, name="kernels") + _costs(report)


def _costs(report):
    head = [
        ("kernel", "c"), ("runs", _NUMBER), ("flops", _NUMBER), ("transcendentals", _NUMBER),
        ("read", _NUMBER), ("written", _NUMBER), ("bytes by cost", _NUMBER), ("time", _NUMBER),
        ("of all", _NUMBER), ("flop/s", _NUMBER), ("B/s", _NUMBER), ("of the roofline", _NUMBER),
        ("bound by", ""),
    ]  # fmt: skip
    whole = report.total(lambda k: k.seconds)
    rows = []
    for k in report.kernels:
        bound = k.bound(report.machine) if k.seconds else None
        rows.append(
            [
                k.name, show.number(k.runs), show.number(k.flops), show.number(k.transcendentals),
                show.number(k.read_bytes), show.number(k.written_bytes),
                show.number(k.cost_bytes), show.seconds(k.seconds),
                show.percent(k.seconds * k.runs, whole) if k.seconds and whole else "",
                show.scaled(k.flops / k.seconds, "") if k.seconds and k.flops else "",
                show.scaled(k.bytes / k.seconds, "") if k.seconds and k.bytes else "",
                show.percent(bound[0], k.seconds) if bound else "",
                bound[1] if bound else "",
            ]
        )  # fmt: skip
    totals = [
        show.number(report.total(operator.attrgetter(field)))
        for field in ("flops", "transcendentals", "read_bytes", "written_bytes", "cost_bytes")
    ]
    foot = ["in a call", "", *totals, show.seconds(whole), *[""] * 5]
    return _table(head, rows, foot, "costs")


_EXPLAINED = """<p class="note">All but the last line is of one run. <b>read</b> and <b>written</b> are
the memory that a kernel is given, of which it may touch a part. <b>bytes by cost</b>, as flops, is what
the compiler counts on its operations: of memory that is given what they touch. The roofline takes the
smaller of both. <b>errors at most</b>: of functions in units in the last place of their results, of
products and convolutions with E the sum of |a b| of the k numbers that meet; what is exact or rounded
once is left out, and each operation's error is its own, for exact operands.</p>"""
_ROOFLINE = """<p class="note">The least time is bytes by the speed of copies or flops by the speed of
products of f32, whichever is longer, both as measured here with all CPUs. More than 100 % is possible
where data stays in caches, or where numbers are smaller than f32.</p>"""


def _others(report):
    known = {k.name for k in report.kernels}
    rows = [
        [name, show.number(runs), show.seconds(seconds), show.seconds(runs * seconds)]
        for name, (runs, seconds) in (report.times.commands if report.times else {}).items()
        if name not in known
    ]
    if not rows:
        return ""
    head = [("not kernels", "c"), ("runs", _NUMBER), ("time", _NUMBER), ("in a call", _NUMBER)]
    return _table(head, rows, name="others")


def _function(report, number, function):
    parts = [f"<h2>Function {escape(function.name)}</h2>"]
    graph = charts.draw_graph(report, function)
    if graph:
        parts.append(f'<h3>Graph</h3><div class="wide">{graph}</div>')
        if len(function.commands) > charts.MOST_DRAWN:
            parts.append(f"<p>The first {charts.MOST_DRAWN} commands; the list has all.</p>")
    sets = function.live_sets()
    arena = charts.draw_arena(function, sets)
    if arena:
        parts.append(
            f"<h3>Arena over time</h3><div class='wide'>{arena}</div><p class='note'>{function.arena_bytes:,} bytes. In use "
            "is what lies between the first and the last command that names it.</p>"
        )
        parts.append(_live_sets(report, number, function, sets))
    rows = []
    for command in function.commands:
        kernel = report.kernel(command.name) if command.kind == "dispatch" else None
        rows.append(
            [
                command.number,
                "  " * len(command.scopes) + command.text,
                " ".join(kernel.operations) if kernel else "",
                _place(kernel.source) if kernel else "",
                show.seconds(kernel.seconds) if kernel else "",
                f"{sets[command.number][0]:,}" if function.arena_bytes else "",
            ]
        )
    head = [
        ("", _NUMBER), ("command", "c"), ("fused", "c"), ("source", "c"), ("time", _NUMBER),
        ("arena in use", _NUMBER),
    ]  # fmt: skip
    parts.append("<h3>Commands</h3>" + _table(head, rows, name=f"commands{number}"))
    slots = [[f"%{s.number}", s.text, s.name, show.number(s.bytes)] for s in function.slots]
    head = [("", "c"), ("what", "c"), ("name", "c"), ("bytes", _NUMBER)]
    return "".join(parts) + "<h3>Memory</h3>" + _table(head, slots, name=f"slots{number}")


def _live_sets(report, number, function, sets):
    """The largest ones, each at the first command that has it."""
    seen, rows = set(), []
    for at in sorted(range(len(sets)), key=lambda i: (-sets[i][0], i)):
        total, live = sets[at]
        if not live or tuple(live) in seen:
            continue
        seen.add(tuple(live))
        texts = [f"%{n}: {show.number(function.slots[n].bytes)}" for n in live[:12]]
        writers = [_writer(report, function, n) for n in live[:12]]
        texts = [f"{t} ({w})" if w else t for t, w in zip(texts, writers)]
        more = f", and {len(live) - 12} more" if len(live) > 12 else ""
        rows.append([f"{total:,}", at, ", ".join(texts) + more])
        if len(rows) == 5:
            break
    head = [("bytes", _NUMBER), ("at command", _NUMBER), ("what lives", "c")]
    return "<h3>Largest live sets</h3>" + _table(head, rows, name=f"live{number}")


def _writer(report, function, number):
    command = next((c for c in function.commands if number in c.writes), None)
    if command is None:
        return ""
    kernel = report.kernel(command.name) if command.kind == "dispatch" else None
    named = kernel and (kernel.source_name or kernel.source)
    return f"{command.name or command.kind}{': ' + named if named else ''}"


def make(report):
    parts = [
        _HEAD,
        f"<title>{escape(report.title)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{escape(report.title)}</h1>",
        _summary(report),
    ]
    if report.notes:
        notes = "".join(f"<li>{escape(note)}</li>" for note in report.notes)
        parts.append(f"<h2>Not known</h2><ul>{notes}</ul>")
    if report.kernels:
        parts.append(f"<h2>Kernels</h2>{_kernels(report)}{_EXPLAINED}")
    parts.append(_others(report))
    roofline = charts.draw_roofline(report)
    if roofline:
        parts.append(f"<h2>Roofline</h2><div class='wide'>{roofline}</div>")
    if report.machine:
        parts.append(_ROOFLINE)
    parts += [_function(report, n, f) for n, f in enumerate(report.functions)]
    return "".join(parts) + "</body></html>\n"
