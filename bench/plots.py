"""Bar charts as SVG, made by hand: nothing is loaded from anywhere."""

import math
from html import escape

COLOURS = {
    "alula": "#d1495b",
    "alula-jax": "#edae49",
    "xla": "#00798c",
    "iree": "#66a182",
    "onnxruntime": "#5b6c9d",
    "numpy": "#9a9a9a",
    "openvino": "#8e6bbf",
    "torch": "#c77b3b",
    "alula-bf16": "#e58a96",
    "openvino-bf16": "#bda6df",
    "alula-i8": "#f0b7be",
    "ggml": "#3d5a40",
}
LEFT, WIDTH, RIGHT = 230, 640, 70
BAR, GAP, TOP = 11, 10, 26


def ticks(low: float, high: float, log: bool) -> list[float]:
    """Round numbers from low to high."""
    if log:
        first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
        steps = (1,) if last - first > 3 else (1, 2, 5)
        marks = [m * 10.0**e for e in range(first, last + 1) for m in steps]
        return [mark for mark in marks if low <= mark <= high]
    raw = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw)
    return [low + i * step for i in range(int((high - low) / step + 1e-9) + 1)]


def position(value: float, low: float, high: float, log: bool) -> float:
    """Where on the axis, 0 to WIDTH."""
    if log:
        part = math.log(max(value, low) / low) / math.log(high / low)
    else:
        part = (value - low) / (high - low)
    return WIDTH * min(max(part, 0.0), 1.0)


def mark_text(value: float) -> str:
    return f"{value:g}" if value < 1e6 else f"{value / 1e6:g}M"


def bars(rows, names: dict, log=False, text=mark_text, line: float | None = None) -> str:
    """rows: [(title, {peer: value})]; line: a value to mark across all."""
    values = [v for _, row in rows for v in row.values() if v and v > 0]
    if not values:
        return "<p>Nothing was measured.</p>"
    low, high = (min(values) / 1.3, max(values) * 1.3) if log else (0.0, max(values) * 1.05)
    if line:
        low, high = min(low, line / 1.3) if log else low, max(high, line * 1.05)
    used = [p for p in names if any(p in row for _, row in rows)]
    out, y = [], TOP
    for title, row in rows:
        shown = [p for p in used if row.get(p)]
        height = max(len(shown), 1) * BAR
        middle = y + height / 2 + 4
        out.append(f'<text x="{LEFT - 8}" y="{middle:.0f}" class="row">{escape(title)}</text>')
        for peer in shown:
            wide = max(position(row[peer], low, high, log), 1)
            label = text(row[peer])
            out.append(
                f'<rect x="{LEFT}" y="{y}" width="{wide:.1f}" height="{BAR - 1}" '
                f'fill="{COLOURS[peer]}"><title>{escape(f"{title}: {names[peer]} {label}")}'
                f'</title></rect><text x="{LEFT + wide + 4:.1f}" y="{y + 9}" class="value">'
                f"{escape(label)}</text>"
            )
            y += BAR
        y += GAP if shown else BAR + GAP
    grid = []
    for value in ticks(low, high, log):
        x = LEFT + position(value, low, high, log)
        grid.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 6}" y2="{y}" class="grid"/>'
            f'<text x="{x:.1f}" y="{TOP - 10}" class="tick">{mark_text(value)}</text>'
        )
    if line:
        x = LEFT + position(line, low, high, log)
        grid.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 6}" y2="{y}" class="mark"/>')
    size = f"{LEFT + WIDTH + RIGHT} {y + 6}"
    return f'<svg viewBox="0 0 {size}" role="img">{"".join(grid)}{"".join(out)}</svg>'


def legend(names: dict) -> str:
    parts = [
        f'<span><i style="background:{COLOURS[peer]}"></i>{escape(name)}</span>'
        for peer, name in names.items()
    ]
    return f'<p class="legend">{"".join(parts)}</p>'
