"""What notebooks show: tables without styles or scripts of their own."""

import html

import numpy as np

# Rows and columns of an array that are shown; the ends of longer ones.
_MOST = 8


def _row(cells, tag="td"):
    return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"


def table(head, rows):
    """`rows` are lists of texts."""
    shown = [_row([html.escape(str(cell)) for cell in row]) for row in rows]
    head = _row([html.escape(str(cell)) for cell in head], "th")
    return f"<table><thead>{head}</thead><tbody>{''.join(shown)}</tbody></table>"


def _ends(count):
    if count <= _MOST:
        return list(range(count))
    return [*range(_MOST // 2), None, *range(count - _MOST // 2, count)]


def show_array(array):
    """Type and shape, and the elements at the ends of the last two dimensions."""
    array = np.asarray(array)
    from alula.bindings import dtypes

    title = f"<p><b>{html.escape(dtypes.describe(array.dtype.name, array.shape))}</b></p>"
    if array.ndim == 0 or array.size == 0:
        return title + f"<pre>{html.escape(str(array))}</pre>"
    # Of many dimensions, the first of each.
    plane = array[(0,) * (array.ndim - 2)] if array.ndim > 2 else np.atleast_2d(array)
    where = f"[{', '.join(['0'] * (array.ndim - 2))}, …]" if array.ndim > 2 else ""
    rows, columns = _ends(plane.shape[0]), _ends(plane.shape[1])
    lines = []
    for i in rows:
        if i is None:
            lines.append(["⋮"] * (len(columns) + 1))
        else:
            cells = ["…" if j is None else str(plane[i, j]) for j in columns]
            lines.append([i if array.ndim > 1 else "", *cells])
    return title + table([where, *["…" if j is None else j for j in columns]], lines)


def show_function(name, signature, doc, arguments, results):
    """`arguments` and `results` are pairs of name and type."""
    rows = [["argument", *pair] for pair in arguments] + [["result", *pair] for pair in results]
    text = f"<p><b>{html.escape(name)}</b>{html.escape(str(signature))}</p>"
    if doc:
        text += f"<p>{html.escape(doc.strip().splitlines()[0])}</p>"
    return text + table(["", "name", "type"], rows)


def show_program(name, functions, globals_):
    """`functions` are triples of name, signature and the first line of what it
    does; `globals_` triples of path, type and what is special."""
    text = f"<p><b>{html.escape(name or 'program')}</b></p>"
    if functions:
        text += table(["function", "signature", ""], functions)
    if globals_:
        text += table(["global", "type", ""], globals_)
    return text
