"""Pictures of a report as SVG, without scripts. All text is escaped here."""

import math
from html import escape

from alula.report import show

# Commands of a function that are drawn; more are in the list alone.
MOST_DRAWN = 600
_BOX = (230, 46)
_GAP = (18, 34)
_BULGE = 70


def _svg(width, height, parts, label):
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" '
        f'role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )


def _text(x, y, text, extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" {extra}>{escape(str(text))}</text>'


def _cut(text, length=32):
    return text if len(text) <= length else text[: length - 1] + "…"


def draw_graph(report, function):
    """Commands from top to bottom, with lines from who writes to who reads; what
    takes longer is darker."""
    shown = [c for c in function.commands if c.reads or c.writes or c.kind == "call"]
    shown = [c for c in shown if c.kind not in ("view", "swap", "free")][:MOST_DRAWN]
    if not shown:
        return ""
    rank, rows, place = {}, {}, {}
    for command in shown:
        rank[command.number] = 1 + max((rank[s] for s in command.sources if s in rank), default=-1)
        row = rows.setdefault(rank[command.number], [])
        place[command.number] = (
            10 + len(row) * (_BOX[0] + _GAP[0]),
            10 + rank[command.number] * (_BOX[1] + _GAP[1]),
        )
        row.append(command.number)
    longest = max((k.seconds or 0 for k in report.kernels), default=0)
    lines, boxes = [], []
    for command in shown:
        x, y = place[command.number]
        for source in command.sources:
            if source in place:
                lines.append(_draw_edge(*place[source], x, y))
        kernel = report.kernel(command.name) if command.kind == "dispatch" else None
        heat = (kernel.seconds or 0) / longest if kernel and longest else 0
        fused = " ".join(kernel.operations) if kernel else ""
        lower = fused or (command.grid and f"grid {command.grid}") or ""
        upper = f"{command.number}: {command.name or command.kind}"
        if kernel and kernel.seconds is not None:
            upper = f"{_cut(upper, 24)}, {show.seconds(kernel.seconds)}"
        boxes.append(
            f"<g><title>{escape(command.text)}\n{escape(fused)}</title>"
            f'<rect x="{x}" y="{y}" width="{_BOX[0]}" height="{_BOX[1]}" rx="5" '
            f'fill="rgb(255,{250 - 90 * heat:.0f},{240 - 150 * heat:.0f})" class="box"/>'
            + _text(x + 8, y + 19, _cut(upper), 'class="name"')
            + _text(x + 8, y + 36, _cut(lower))
            + "</g>"
        )
    width = max(x for x, _ in place.values()) + _BOX[0] + _BULGE
    height = max(y for _, y in place.values()) + _BOX[1] + 10
    return _svg(width, height, lines + boxes, f"commands of {function.name}")


def _draw_edge(from_x, from_y, x, y):
    """From below one box to above another one; beside those between them."""
    rows = (y - from_y) // (_BOX[1] + _GAP[1])
    if from_x == x and rows > 1:
        side, bulge = x + _BOX[0], min(10 + 6 * rows, _BULGE)
        a, b = from_y + _BOX[1] / 2, y + _BOX[1] / 2
        points = (side, a), (side + bulge, a), (side + bulge, b), (side, b)
    else:
        a, b = from_x + _BOX[0] / 2, from_y + _BOX[1]
        c = x + _BOX[0] / 2
        points = (a, b), (a, b + 17), (c, y - 17), (c, y)
    start, *rest = (f"{px:.0f} {py:.0f}" for px, py in points)
    return f'<path d="M{start} C{" ".join(rest)}" class="edge"/>'


def draw_arena(function, sets):
    """Bytes of the arena in use, at each command."""
    if not function.arena_bytes or not sets:
        return ""
    width, height, left, bottom = 900, 180, 90, 25
    step = (width - left) / len(sets)
    scale = (height - bottom - 10) / function.arena_bytes
    base = height - bottom
    points = [f"{left},{base}"]
    bars = []
    for number, (total, _) in enumerate(sets):
        x, y = left + number * step, base - total * scale
        points += [f"{x:.1f},{y:.1f}", f"{x + step:.1f},{y:.1f}"]
        bars.append(
            f'<rect x="{x:.1f}" y="10" width="{step:.1f}" height="{base - 10}" fill="none" '
            f'pointer-events="all"><title>command {number}: {total:,} bytes</title></rect>'
        )
    points.append(f"{width},{base}")
    parts = [f'<polygon points="{" ".join(points)}" class="area"/>', *bars]
    parts.append(f'<path d="M{left} 10 V{base} H{width}" class="axis"/>')
    parts.append(_text(left - 6, 18, show.scaled(function.arena_bytes, "B"), 'class="end"'))
    parts.append(_text(left - 6, base, "0", 'class="end"'))
    parts.append(_text(left, height - 6, "command 0"))
    parts.append(_text(width, height - 6, len(sets) - 1, 'class="end"'))
    return _svg(width, height, parts, f"arena of {function.name} over time")


def draw_roofline(report):
    """Kernels by operations for each byte and operations in a second, as large as
    their share of the time."""
    machine = report.machine
    points = [
        (k, k.flops / k.bytes, k.flops / k.seconds)
        for k in report.kernels
        if machine and k.flops and k.bytes and k.seconds
    ]
    if not points:
        return ""
    width, height, left, bottom, right = 760, 380, 70, 40, 40
    whole = sum(k.seconds * (k.runs or 1) for k, _, _ in points)
    ridge = machine.flops / machine.bandwidth
    xs = [math.log10(v) for v in [ridge, *(p[1] for p in points)]]
    ys = [math.log10(v) for v in [machine.flops, *(p[2] for p in points)]]
    x0, x1 = math.floor(min(xs)), math.ceil(max(xs) + 0.01)
    y0, y1 = math.floor(min(ys)), math.ceil(max(ys) + 0.01)

    def x(value):
        return left + (math.log10(value) - x0) / (x1 - x0) * (width - left - right)

    def y(value):
        return 10 + (y1 - math.log10(value)) / (y1 - y0) * (height - bottom - 10)

    parts = []
    for power in range(x0, x1 + 1):
        at = x(10.0**power)
        parts.append(f'<path d="M{at:.1f} 10 V{height - bottom}" class="grid"/>')
        parts.append(_text(at, height - 22, f"{10.0**power:g}", 'class="middle"'))
    for power in range(y0, y1 + 1):
        at = y(10.0**power)
        parts.append(f'<path d="M{left} {at:.1f} H{width - right}" class="grid"/>')
        parts.append(_text(left - 6, at + 4, show.scaled(10.0**power, ""), 'class="end"'))
    # The slope begins where it enters the picture.
    begin = max(10.0**x0, 10.0**y0 / machine.bandwidth)
    parts.append(
        f'<path d="M{x(begin):.1f} {y(begin * machine.bandwidth):.1f} L{x(ridge):.1f} '
        f'{y(machine.flops):.1f} H{width - right}" class="roof"/>'
    )
    # The small ones on top.
    for kernel, intensity, rate in sorted(points, key=lambda p: -p[0].seconds * (p[0].runs or 1)):
        share = kernel.seconds * (kernel.runs or 1) / whole
        parts.append(
            f'<circle cx="{x(intensity):.1f}" cy="{y(rate):.1f}" r="{3 + 15 * share**0.5:.1f}" '
            f'class="point"><title>{escape(kernel.name)}: {show.scaled(rate, "flop/s")}, '
            f"{intensity:.3g} flop/byte, {show.percent(share, 1)} of the kernels' time"
            "</title></circle>"
        )
    parts.append(
        _text(
            left,
            height - 4,
            "flops for each byte →; ↑ flops in a second; areas: shares of the time",
        )
    )
    return _svg(width, height, parts, "roofline")
