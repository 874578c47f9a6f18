"""Draws docs/images/speed.svg from the table of docs/benchmarks.md.

.venv/bin/python docs/figures.py [--check]
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from bench import plots  # noqa: E402

FIGURE = HERE / "images" / "speed.svg"
STYLE = """text { font: 10px system-ui, sans-serif; fill: #333; } .row { text-anchor: end; font-size: 12px; }
.tick { text-anchor: middle; fill: #777; } .grid { stroke: #ddd; }
.mark { stroke: #222; stroke-dasharray: 4 3; } rect.page { fill: #fff; }"""


def read_rows(text):
    """(program, how many times as fast as the best peer) of the usual sizes."""
    part = text[text.index("## Time, 2 threads, usual sizes") :]
    table = part[: part.index("\nAt least")]
    header, _, *lines = [
        [cell.strip() for cell in line.strip("| ").split(" | ")]
        for line in table.splitlines()
        if line.startswith("|")
    ]
    column = header.index("best / Alula")
    return [(line[0], {"alula": float(line[column])}) for line in lines]


def draw(text):
    rows = read_rows(text)
    picture = plots.bars(rows, {"alula": "Alula"}, log=True, text=lambda v: f"{v:.2f}×", line=1.0)
    size = re.search(r'viewBox="0 0 (\d+) (\d+)"', picture)
    page = f'<rect class="page" width="{size[1]}" height="{size[2]}"/>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[1]}" height="{size[2]}"'
    return picture.replace("<svg", head, 1).replace(">", f"><style>{STYLE}</style>{page}", 1)


def main():
    picture = draw((HERE / "benchmarks.md").read_text()) + "\n"
    if "--check" not in sys.argv:
        FIGURE.write_text(picture)
    elif FIGURE.read_text() != picture:
        sys.exit("docs/images/speed.svg is old: run docs/figures.py")


if __name__ == "__main__":
    main()
