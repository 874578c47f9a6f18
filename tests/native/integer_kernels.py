"""Which programs on quantized tensors are integers where that counts: in memory, and in
what is multiplied and summed. Elementwise ops compute in floats by definition, in
registers."""

import re

FLOAT = r"(?:bf16|f16|f32|f64)"
TENSOR = re.compile(r"tensor<(?:[0-9?]+x)*([a-z0-9]+)[,>]")
PRODUCT = re.compile(r"\bstablehlo\.(dot_general|convolution)\b.*")
LAUNCH = re.compile(r"\bdispatch\.launch\b.*")


def strip_places(text):
    return re.sub(r" loc\(.*", "", text)


def find_floats(text: str) -> list[str]:
    """What of a program after the stage `dispatch` is floats: products, and what kernels
    leave in memory that the program's own arguments and results are not."""
    found = []
    own = set()
    for line in text.splitlines():
        if match := re.match(r"  func\.func @main\((.*)", line):
            own = {kind for kind in TENSOR.findall(match[1]) if re.fullmatch(FLOAT, kind)}
    for line in text.splitlines():
        line = strip_places(line)
        if match := PRODUCT.search(line):
            kinds = TENSOR.findall(match[0].rpartition(" : ")[2])
            if any(re.fullmatch(FLOAT, kind) for kind in kinds):
                found.append(f"{match[1]} of {kinds[0]}")
        elif match := LAUNCH.search(line):
            kinds = set(TENSOR.findall(match[0].rpartition(" : ")[2])) - own
            found += [f"{kind} in memory" for kind in sorted(kinds) if re.fullmatch(FLOAT, kind)]
    return sorted(set(found))
