"""Tensors with a sparse encoding: the arrays of their levels go in and come out.
Judged by NumPy, by code here that stores and reads what MLIR's levels mean."""

import itertools
import subprocess

import jax_functions
import numpy as np
import pytest
from test_packed_types import run

pytestmark = jax_functions.needs_build
tools = jax_functions.tools

# Of each level: the dimension or an expression of dimensions, and how it is stored.
ENCODINGS = {
    "SV": "(i) -> (i : compressed)",
    "CSR": "(i, j) -> (i : dense, j : compressed)",
    "CSC": "(i, j) -> (j : dense, i : compressed)",
    "DCSR": "(i, j) -> (i : compressed, j : compressed)",
    "DCSC": "(i, j) -> (j : compressed, i : compressed)",
    "COO": "(i, j) -> (i : compressed(nonunique), j : singleton)",
    "SOA": "(i, j) -> (i : compressed(nonunique), j : singleton(soa))",
    "ROWS": "(i, j) -> (i : compressed, j : dense)",
    "WHOLE": "(i, j) -> (j : dense, i : dense)",
    "BSR": "(i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense)",
    "CSF": "(i, j, k) -> (i : compressed, j : compressed, k : compressed)",
    "CSF_KIJ": "(i, j, k) -> (k : compressed, i : dense, j : compressed)",
    "COO3": "(i, j, k) -> (i : compressed(nonunique), j : singleton(nonunique), k : singleton)",
    "DCOO": "(i, j, k) -> (i : dense, j : compressed(nonunique), k : singleton)",
}
KINDS = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64}
WIDTHS = {0: np.int64, 8: np.uint8, 16: np.uint16, 32: np.int32, 64: np.int64}


def definition(name, widths=(0, 0)):
    return (
        f"#{name} = #sparse_tensor.encoding<{{ map = {ENCODINGS[name]}, "
        f"posWidth = {widths[0]}, crdWidth = {widths[1]} }}>\n"
    )


class Storage:
    """What an encoding says, for one shape."""

    def __init__(self, name, shape):
        left, right = ENCODINGS[name].split("->")
        variables = left.strip(" ()").replace(" ", "").split(",")
        inside = right.strip()[1:-1]
        # Not the commas inside of `compressed(nonunique, soa)`.
        parts, depth = [""], 0
        for letter in inside:
            depth += {"(": 1, ")": -1}.get(letter, 0)
            parts = (
                [*parts, ""] if letter == "," and not depth else [*parts[:-1], parts[-1] + letter]
            )
        self.levels = []
        for part in parts:
            expression, kind = part.split(" : ")
            code = expression.replace("floordiv", "//").replace("mod", "%")
            self.levels.append((self.evaluator(variables, code), kind.strip()))
        self.shape = shape
        grid = np.indices(shape).reshape(len(shape), -1)
        self.coordinates = [f(grid) for f, _ in self.levels]
        self.sizes = [int(c.max()) + 1 for c in self.coordinates]
        kinds = [kind for _, kind in self.levels]
        # Coordinates of tuples lie side by side, unless they are `soa`.
        self.tuples = next(
            (
                i
                for i, kind in enumerate(kinds)
                if kind == "compressed(nonunique)"
                and i + 1 < len(kinds)
                and all(k.startswith("singleton") and "soa" not in k for k in kinds[i + 1 :])
            ),
            len(kinds),
        )

    @staticmethod
    def evaluator(variables, code):
        return lambda grid: eval(code, dict(zip(variables, grid)))

    def pack(self, dense, widths=(0, 0)):
        """The arrays, as a loop over what is not zero."""
        flat = dense.reshape(-1)
        where = np.nonzero(flat)[0]
        entries = sorted((tuple(int(c[e]) for c in self.coordinates), e) for e in where)
        places, arrays = [()], []
        tuples = []
        groups = {(): [path for path, _ in entries]}
        for number, (_, kind) in enumerate(self.levels):
            following, positions, own = [], [0], []
            grouped = {}
            for at, place in enumerate(places):
                inside = groups.get(place, [])
                if kind == "dense":
                    children = range(self.sizes[number])
                    keys = [(*place, c) for c in children]
                    for key in keys:
                        grouped[key] = []
                    for path in inside:
                        grouped[(*place, path[number])].append(path)
                elif kind.startswith("compressed(nonunique"):
                    keys = [(*place, path[number], n) for n, path in enumerate(inside)]
                    for key, path in zip(keys, inside):
                        grouped[key] = [path]
                    own += [path[number] for path in inside]
                    positions.append(len(own))
                elif kind.startswith("compressed"):
                    keys = []
                    for path in inside:
                        key = (*place, path[number])
                        if key not in grouped:
                            keys.append(key)
                            own.append(path[number])
                        grouped.setdefault(key, []).append(path)
                    positions.append(len(own))
                else:
                    (path,) = inside
                    keys = [(*place, path[number])]
                    grouped[keys[0]] = [path]
                    own.append(path[number])
                following += keys
            places, groups = following, grouped
            if kind.startswith("compressed"):
                arrays.append(np.array(positions, WIDTHS[widths[0]]))
            if kind == "dense":
                continue
            column = np.array(own, WIDTHS[widths[1]])
            if number < self.tuples:
                arrays.append(column)
            else:
                tuples.append(column)
        if tuples:
            arrays.append(np.ascontiguousarray(np.stack(tuples, 1)))
        values = dict(entries)
        at = [groups[place] for place in places]
        arrays.append(
            np.array([flat[values[paths[0]]] if paths else 0 for paths in at], dense.dtype)
        )
        return arrays

    def unpack(self, arrays, kind):
        """The tensor, and how many coordinates its last level has."""
        arrays = list(arrays)
        places = [()]
        table = None
        for number, (_, level) in enumerate(self.levels):
            if level == "dense":
                places = [(*p, c) for p in places for c in range(self.sizes[number])]
                continue
            if level.startswith("compressed"):
                positions = arrays.pop(0).astype(int)
                assert len(positions) >= len(places) + 1 and positions[0] == 0
                spans = list(itertools.pairwise(positions[: len(places) + 1]))
            else:
                spans = [(e, e + 1) for e in range(len(places))]
            if number >= self.tuples:
                table = arrays.pop(0).astype(int) if table is None else table
                own = table[:, number - self.tuples]
            else:
                own = arrays.pop(0).astype(int)
            places = [(*p, int(own[e])) for p, (a, b) in zip(places, spans) for e in range(a, b)]
        (values,) = arrays
        assert not values[len(places) :].any()
        by_path = {tuple(int(c[e]) for c in self.coordinates): e for e in range(len(self.coordinates[0]))}  # fmt: skip
        flat = np.zeros(int(np.prod(self.shape)), kind)
        seen = set()
        for place, value in zip(places, values):
            assert place not in seen, "a place that is there twice"
            seen.add(place)
            # Blocks go beyond the sizes.
            if place not in by_path:
                assert value == 0
                continue
            flat[by_path[place]] = value
        return flat.reshape(self.shape)

    def count(self, dense):
        """Of arrays that a result has."""
        return len(self.pack(dense))


def draw(shape, kind, seed, density=0.3):
    random = np.random.default_rng(seed)
    numbers = random.integers(-9, 10, shape) + (0.5 if kind[0] == "f" else 0)
    return np.where(random.random(shape) < density, numbers, 0).astype(KINDS[kind])


def type_text(shape, kind, encoding=None):
    sizes = "".join(f"{s}x" for s in shape)
    return f"tensor<{sizes}{kind}{', #' + encoding if encoding else ''}>"


def call_each(tools, names, body, calls, results, widths=(0, 0), target="cpu:host"):
    """Compiles once. calls: lists of (dense, encoding or None), one for each argument;
    results: (shape, kind, encoding or None)."""
    compiler, runtime = tools
    parameters = [
        f"%a{number}: {type_text(dense.shape, jax_functions.kind_of(dense), encoding)}"
        for number, (dense, encoding) in enumerate(calls[0])
    ]
    outs = ", ".join(type_text(*result) for result in results)
    text = "".join(definition(name, widths) for name in names)
    text += f"func.func @main({', '.join(parameters)}) -> ({outs}) {{\n{body}\n}}"
    executable = runtime.load(compiler.compile(text.encode(), [target]))
    for call in calls:
        arrays = []
        for dense, encoding in call:
            arrays += Storage(encoding, dense.shape).pack(dense, widths) if encoding else [dense]
        given = [runtime.new_buffer(a, jax_functions.kind_of(a)) for a in arrays]
        buffers = executable.call(executable.find("main"), given)
        got = [buffer.array().copy() for buffer in buffers]
        for buffer in (*given, *buffers):
            buffer.release()
        tensors = []
        for shape, kind, encoding in results:
            if not encoding:
                tensors.append(got.pop(0))
                continue
            storage = Storage(encoding, shape)
            count = storage.count(np.zeros(shape))
            tensors.append(storage.unpack(got[:count], KINDS[kind]))
            got = got[count:]
        assert not got
        yield tensors
    executable.destroy()


def call(tools, names, body, arguments, results, **options):
    (tensors,) = call_each(tools, names, body, [arguments], results, **options)
    return tensors


# The five examples of StableHLO's sparsity RFC.


def test_rfc_add_csr_dcsr(tools):
    a, b = draw((10, 20), "f32", 0), draw((10, 20), "f32", 1)
    body = """%0 = stablehlo.add %a0, %a1 : (tensor<10x20xf32, #CSR>, tensor<10x20xf32, #DCSR>) -> tensor<10x20xf32, #CSR>
      return %0 : tensor<10x20xf32, #CSR>"""  # fmt: skip
    (got,) = call(tools, ["CSR", "DCSR"], body, [(a, "CSR"), (b, "DCSR")], [((10, 20), "f32", "CSR")])  # fmt: skip
    np.testing.assert_array_equal(got, a + b)


def test_rfc_add_csc_csr(tools):
    a, b = draw((10, 20), "f32", 2), draw((10, 20), "f32", 3)
    body = """%0 = stablehlo.add %a0, %a1 : (tensor<10x20xf32, #CSC>, tensor<10x20xf32, #CSR>) -> tensor<10x20xf32, #CSR>
      return %0 : tensor<10x20xf32, #CSR>"""  # fmt: skip
    (got,) = call(tools, ["CSC", "CSR"], body, [(a, "CSC"), (b, "CSR")], [((10, 20), "f32", "CSR")])  # fmt: skip
    np.testing.assert_array_equal(got, a + b)


@pytest.mark.parametrize("shape", [(3, 4, 5), (1, 1, 1), (2, 7, 3)])
def test_rfc_convert_dense_to_fibers(tools, shape):
    """All three sizes are the call's."""
    dense = draw(shape, "f64", 4)
    text = definition("CSF") + """func.func @main(%dt: tensor<?x?x?xf64>) -> tensor<?x?x?xf64, #CSF> {
      %st = stablehlo.convert %dt : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64, #CSF>
      return %st : tensor<?x?x?xf64, #CSF> }"""  # fmt: skip
    got, _ = run(tools, text, [dense], ["f64"])
    arrays = [array for array, _ in got]
    np.testing.assert_array_equal(Storage("CSF", shape).unpack(arrays, np.float64), dense)
    assert arrays[4][arrays[2][arrays[0][-1]]] == np.count_nonzero(dense)


def test_rfc_convert_vector_to_dense(tools):
    sv = draw((100,), "i32", 5)
    body = """%dv = stablehlo.convert %a0 : (tensor<100xi32, #SV>) -> tensor<100xi32>
      return %dv : tensor<100xi32>"""
    (got,) = call(tools, ["SV"], body, [(sv, "SV")], [((100,), "i32", None)])
    np.testing.assert_array_equal(got, sv)


def test_rfc_convert_csr_to_csc(tools):
    y = draw((10, 10), "f64", 6)
    body = """%x = stablehlo.convert %a0 : (tensor<10x10xf64, #CSR>) -> tensor<10x10xf64, #CSC>
      return %x : tensor<10x10xf64, #CSC>"""
    (got,) = call(tools, ["CSR", "CSC"], body, [(y, "CSR")], [((10, 10), "f64", "CSC")])
    np.testing.assert_array_equal(got, y)


# Every encoding, in and out.


@pytest.mark.parametrize("number,name", enumerate(ENCODINGS))
def test_storage(tools, number, name):
    shape = {1: (11,), 2: (7, 8), 3: (4, 5, 3)}[ENCODINGS[name].split(")")[0].count(",") + 1]
    widths = [(0, 0), (32, 32), (16, 8)][number % 3]
    sparse, whole = type_text(shape, "f32", name), type_text(shape, "f32")
    body = f"""%0 = stablehlo.negate %a0 : {sparse}
      %1 = stablehlo.convert %a0 : ({sparse}) -> {whole}
      return %0, %1 : {sparse}, {whole}"""
    tensors = [draw(shape, "f32", seed, d) for seed, d in enumerate([0.0, 0.05, 0.4, 1.0])]
    calls = [[(dense, name)] for dense in tensors]
    results = [(shape, "f32", name), (shape, "f32", None)]
    for dense, (negated, same) in zip(
        tensors, call_each(tools, [name], body, calls, results, widths=widths), strict=True
    ):
        np.testing.assert_array_equal(same, dense)
        np.testing.assert_array_equal(negated, -dense)


PAIRS = [
    ("CSR", "CSR"),
    ("CSC", "COO"),
    ("DCSR", "BSR"),
    ("COO", None),
    (None, "BSR"),
    ("BSR", "CSC"),
]


@pytest.mark.parametrize("a,b", PAIRS)
def test_elementwise(tools, a, b):
    """Results as the left operand is stored; whole too."""
    shape = (6, 9)
    x, y = draw(shape, "f32", 1), draw(shape, "f32", 2)
    ta, tb = (type_text(shape, "f32", n) for n in (a, b))
    lines, outs, results = [], [], []
    for number, name in enumerate(["add", "subtract", "multiply"]):
        for out in (a, None):
            result = f"%r{number}{out or ''}"
            if result in outs:
                continue
            lines.append(f"{result} = stablehlo.{name} %a0, %a1 : ({ta}, {tb}) -> {type_text(shape, 'f32', out)}")  # fmt: skip
            outs.append(result)
            results.append((shape, "f32", out))
    lines.append(f"return {', '.join(outs)} : {', '.join(type_text(*r) for r in results)}")
    got = call(tools, sorted({n for n in (a, b) if n}), "\n".join(lines), [(x, a), (y, b)], results)
    exact = [x + y, x - y, x * y]
    each = len(got) // 3
    for number, array in enumerate(got):
        np.testing.assert_array_equal(array, exact[number // each])


@pytest.mark.parametrize(
    "name,kind",
    [
        ("CSR", "f32"),
        ("CSR", "i32"),
        ("CSC", "f64"),
        ("COO", "f32"),
        ("DCSR", "f64"),
        ("BSR", "f32"),
    ],
)
def test_products(tools, name, kind):
    """On the left and the right, of a matrix and a vector; S S too."""
    s, x = draw((6, 9), kind, 1), draw((9, 4), kind, 2, 1.0)
    left, v, t = draw((3, 6), kind, 3, 1.0), draw((9,), kind, 4, 1.0), draw((9, 6), kind, 5)
    ts, tt = type_text((6, 9), kind, name), type_text((9, 6), kind, name)
    body = f"""%0 = stablehlo.dot_general %a0, %a1, contracting_dims = [1] x [0] : ({ts}, tensor<9x4x{kind}>) -> tensor<6x4x{kind}>
      %1 = stablehlo.dot_general %a2, %a0, contracting_dims = [1] x [0] : (tensor<3x6x{kind}>, {ts}) -> tensor<3x9x{kind}>
      %2 = stablehlo.dot %a0, %a3 : ({ts}, tensor<9x{kind}>) -> tensor<6x{kind}>
      %3 = stablehlo.dot_general %a0, %a4, contracting_dims = [1] x [0] : ({ts}, {tt}) -> tensor<6x6x{kind}, #{name}>
      %4 = stablehlo.dot_general %a0, %a0, contracting_dims = [0, 1] x [0, 1] : ({ts}, {ts}) -> tensor<{kind}>
      return %0, %1, %2, %3, %4 : tensor<6x4x{kind}>, tensor<3x9x{kind}>, tensor<6x{kind}>, tensor<6x6x{kind}, #{name}>, tensor<{kind}>"""  # fmt: skip
    got = call(
        tools, [name], body, [(s, name), (x, None), (left, None), (v, None), (t, name)],
        [((6, 4), kind, None), ((3, 9), kind, None), ((6,), kind, None), ((6, 6), kind, name), ((), kind, None)],
    )  # fmt: skip
    for array, exact in zip(got, [s @ x, left @ s, s @ v, s @ t, (s * s).sum()], strict=True):
        np.testing.assert_allclose(array, exact, rtol=1e-5, atol=1e-5)


def test_batch(tools):
    """StableHLO's example with two batching dimensions."""
    s, x = draw((2, 3, 4), "f32", 1), draw((5, 4, 3), "f32", 2, 1.0)
    body = """%0 = stablehlo.dot_general %a0, %a1, batching_dims = [1] x [2], contracting_dims = [2] x [1] : (tensor<2x3x4xf32, #CSF>, tensor<5x4x3xf32>) -> tensor<3x2x5xf32>
      %1 = stablehlo.dot_general %a1, %a0, batching_dims = [2] x [1], contracting_dims = [1] x [2] : (tensor<5x4x3xf32>, tensor<2x3x4xf32, #CSF>) -> tensor<3x5x2xf32>
      return %0, %1 : tensor<3x2x5xf32>, tensor<3x5x2xf32>"""  # fmt: skip
    got, turned = call(
        tools, ["CSF"], body, [(s, "CSF"), (x, None)],
        [((3, 2, 5), "f32", None), ((3, 5, 2), "f32", None)],
    )  # fmt: skip
    exact = np.einsum("abk,nkb->ban", s, x)
    np.testing.assert_allclose(got, exact, rtol=1e-5)
    np.testing.assert_allclose(turned, exact.transpose(0, 2, 1), rtol=1e-5)


def test_shapes_and_sums(tools):
    s, more = draw((4, 6), "f32", 1), draw((4, 2), "f32", 2)
    reduce = "stablehlo.reduce(%a0 init: %c) applies stablehlo.{} across dimensions = {} : (tensor<4x6xf32, #CSR>, tensor<f32>) -> {}"  # fmt: skip
    body = f"""%c = stablehlo.constant dense<2.0> : tensor<f32>
      %0 = stablehlo.transpose %a0, dims = [1, 0] : (tensor<4x6xf32, #CSR>) -> tensor<6x4xf32, #DCSR>
      %1 = stablehlo.reshape %a0 : (tensor<4x6xf32, #CSR>) -> tensor<2x2x6xf32, #CSF>
      %2 = stablehlo.concatenate %a0, %a1, dim = 1 : (tensor<4x6xf32, #CSR>, tensor<4x2xf32, #CSR>) -> tensor<4x8xf32, #CSC>
      %3 = stablehlo.broadcast_in_dim %a0, dims = [0, 2] : (tensor<4x6xf32, #CSR>) -> tensor<4x3x6xf32>
      %4 = {reduce.format("add", "[1]", "tensor<4xf32>")}
      %5 = {reduce.format("maximum", "[0]", "tensor<6xf32, #SV>")}
      %6 = {reduce.format("add", "[0, 1]", "tensor<f32>")}
      return %0, %1, %2, %3, %4, %5, %6 : tensor<6x4xf32, #DCSR>, tensor<2x2x6xf32, #CSF>, tensor<4x8xf32, #CSC>, tensor<4x3x6xf32>, tensor<4xf32>, tensor<6xf32, #SV>, tensor<f32>"""  # fmt: skip
    results = [
        ((6, 4), "f32", "DCSR"), ((2, 2, 6), "f32", "CSF"), ((4, 8), "f32", "CSC"), ((4, 3, 6), "f32", None),
        ((4,), "f32", None), ((6,), "f32", "SV"), ((), "f32", None),
    ]  # fmt: skip
    got = call(tools, ["CSR", "DCSR", "CSF", "CSC", "SV"], body, [(s, "CSR"), (more, "CSR")], results)  # fmt: skip
    exact = [
        s.T, s.reshape(2, 2, 6), np.concatenate([s, more], 1), np.repeat(s[:, None], 3, 1),
        s.sum(1) + 2, np.maximum(s.max(0), 2), s.sum() + 2,
    ]  # fmt: skip
    for array, wanted in zip(got, exact, strict=True):
        np.testing.assert_array_equal(array, wanted)


def test_functions(tools):
    """What is zero stays so; what a buffer has beyond its last position is nothing."""
    dense = np.abs(draw((64,), "f64", 1))
    names = ["abs", "exponential_minus_one", "log_plus_one", "negate", "sign", "sine", "tan", "tanh", "ceil", "floor"]  # fmt: skip
    lines, last = [], "%a0"
    for number, name in enumerate(names):
        lines.append(f"%{number} = stablehlo.{name} {last} : (tensor<64xf64, #SV>) -> tensor<64xf64, #SV>")  # fmt: skip
        last = f"%{number}"
    body = "\n".join([*lines, f"return {last} : tensor<64xf64, #SV>"])
    (got,) = call(tools, ["SV"], body, [(dense, "SV")], [((64,), "f64", "SV")])
    exact = np.floor(np.ceil(np.tanh(np.tan(np.sin(np.sign(-np.log1p(np.expm1(dense))))))))
    np.testing.assert_array_equal(got, exact)


def test_room_at_the_end(tools):
    """Arrays longer than what the last position says."""
    text = definition("CSR") + """func.func @main(%a: tensor<2x3xf32, #CSR>, %b: tensor<3x1xf32>) -> (tensor<2x1xf32>, tensor<2x3xf32>) {
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x3xf32, #CSR>, tensor<3x1xf32>) -> tensor<2x1xf32>
      %1 = stablehlo.convert %a : (tensor<2x3xf32, #CSR>) -> tensor<2x3xf32>
      return %0, %1 : tensor<2x1xf32>, tensor<2x3xf32> }"""  # fmt: skip
    arrays = [
        np.array([0, 1, 2]),
        np.array([2, 0, 1, 7]),
        np.array([4, 5, np.nan, 9], np.float32),
        np.array([[1], [2], [3]], np.float32),
    ]
    (product, _), (whole, _) = run(tools, text, arrays, ["i64", "i64", "f32", "f32"])[0]
    np.testing.assert_array_equal(whole, [[0, 0, 4], [5, 0, 0]])
    np.testing.assert_array_equal(product, [[12], [5]])


def test_lengths_that_do_not_fit(tools):
    text = definition("SV") + """func.func @main(%a: tensor<9xf32, #SV>) -> tensor<9xf32> {
      %0 = stablehlo.convert %a : (tensor<9xf32, #SV>) -> tensor<9xf32>
      return %0 : tensor<9xf32> }"""  # fmt: skip
    arrays = [np.array([0, 2]), np.array([1, 2]), np.ones(3, np.float32)]
    with pytest.raises(Exception, match=r"argument 0, tensor<9xf32, .*>: values must have 2 elements, has 3"):  # fmt: skip
        run(tools, text, arrays, ["i64", "i64", "f32"])


@pytest.mark.parametrize("name", ["CSR", "COO", "DCSC"])
def test_interpreter(tools, tmp_path, name):
    """The reference gives the numbers of the native program."""
    s, x = draw((6, 9), "f32", 1), draw((9, 4), "f32", 2, 1.0)
    ts = type_text((6, 9), "f32", name)
    text = definition(name) + f"""func.func @main(%a0: {ts}, %a1: tensor<9x4xf32>) -> (tensor<6x4xf32>, {ts}) {{
      %0 = stablehlo.dot_general %a0, %a1, contracting_dims = [1] x [0] : ({ts}, tensor<9x4xf32>) -> tensor<6x4xf32>
      %1 = stablehlo.add %a0, %a0 : {ts}
      return %0, %1 : tensor<6x4xf32>, {ts} }}"""  # fmt: skip
    (tmp_path / "p.mlir").write_text(text)
    storage = Storage(name, s.shape)
    arrays = [*storage.pack(s), x]
    flags = []
    for number, array in enumerate(arrays):
        np.save(tmp_path / f"i{number}.npy", array)
        flags.append(f"--input=@{tmp_path}/i{number}.npy")
    outs = [tmp_path / f"o{n}.npy" for n in range(len(arrays))]
    flags += [f"--output={out}" for out in outs]
    subprocess.run(
        [jax_functions.BUILD / "bin/alula-interpret", tmp_path / "p.mlir", *flags], check=True
    )
    product, *rest = map(np.load, outs)
    np.testing.assert_allclose(product, s @ x, rtol=1e-5)
    np.testing.assert_array_equal(storage.unpack(rest, np.float32), 2 * s)
