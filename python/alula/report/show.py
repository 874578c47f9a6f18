"""Numbers as people read them; nothing for what is not known."""


def number(value):
    if value is None:
        return ""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def scaled(value, unit, step=1000):
    if value is None:
        return ""
    for prefix in ("", "k", "M", "G"):
        if abs(value) < step:
            return f"{value:.3g} {prefix}{unit}"
        value /= step
    return f"{value:.4g} T{unit}"


def seconds(value):
    if value is None:
        return ""
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def percent(part, whole):
    return f"{100 * part / whole:.0f} %" if part is not None and whole else ""
