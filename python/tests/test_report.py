"""`alula report`: everything that is known of a small model is on the page, and in the
graph for Model Explorer."""

import html.parser
import json
import os
import re
import subprocess
import sys

import pytest
from program_tools import BUILD, ROOT

from alula.report import accuracy, bounds, collect, main, measure, page
from alula.report.commands import Function

HOSTILE = "<script>alert(1)</script>\\22'&"
# Two layers: 64 rows of 784, 256 and 10 numbers.
MODEL = f"""
module @"<img src=x onerror=alert(2)>" {{
  func.func public @main(%x: tensor<64x784xf32> loc("{HOSTILE}"),
      %w1: tensor<784x256xf32> loc("w1"), %b1: tensor<256xf32> loc("b1"),
      %w2: tensor<256x10xf32> loc("w2"), %b2: tensor<10xf32> loc("b2")) -> tensor<64x10xf32> {{
    %0 = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0]
      : (tensor<64x784xf32>, tensor<784x256xf32>) -> tensor<64x256xf32>
    %1 = stablehlo.broadcast_in_dim %b1, dims = [1] : (tensor<256xf32>) -> tensor<64x256xf32>
    %2 = stablehlo.add %0, %1 : tensor<64x256xf32>
    %3 = stablehlo.tanh %2 : tensor<64x256xf32> loc("jit(f)/first/tanh"("model.py":4:4))
    %4 = stablehlo.dot_general %3, %w2, contracting_dims = [1] x [0]
      : (tensor<64x256xf32>, tensor<256x10xf32>) -> tensor<64x10xf32>
    %5 = stablehlo.broadcast_in_dim %b2, dims = [1] : (tensor<10xf32>) -> tensor<64x10xf32>
    %6 = stablehlo.add %4, %5 : tensor<64x10xf32> loc("jit(f)/{HOSTILE}/add"("model.py":5:4))
    return %6 : tensor<64x10xf32>
  }}
}}
"""
# What each layer reads and writes, by hand.
GIVEN = {
    "main_0": (4 * (64 * 784 + 784 * 256 + 256), 4 * 64 * 256),
    "main_1": (4 * (64 * 256 + 256 * 10 + 10), 4 * 64 * 10),
}
# A product with itself, seven times.
LOOP = """
func.func @main(%x: tensor<96x96xf32>) -> tensor<96x96xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<96x96xf32>
   cond {
    %n = stablehlo.constant dense<7> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %p = stablehlo.dot_general %a, %x, contracting_dims = [1] x [0]
      : (tensor<96x96xf32>, tensor<96x96xf32>) -> tensor<96x96xf32>
    stablehlo.return %next, %p : tensor<i32>, tensor<96x96xf32>
  }
  return %r#1 : tensor<96x96xf32>
}
"""


class Reader(html.parser.HTMLParser):
    """Tags, their attributes, and the rows of each table by its name."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.open, self.tables = set(), [], [], {}
        self.rows = self.cell = None
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes += attributes
        if tag != "meta":
            self.open.append(tag)
        if tag == "table":
            self.rows = self.tables.setdefault(dict(attributes).get("id", ""), [])
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.cell = ""

    def handle_startendtag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes += attributes

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag in ("td", "th"):
            self.rows[-1].append(self.cell)
            self.cell = None

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "model.mlir"
    path.write_text(MODEL)
    return path


@pytest.fixture(scope="module")
def report(model):
    return collect.collect(model, calls=3)


def as_dicts(rows):
    return [dict(zip(rows[0], row)) for row in rows[1:]]


def test_all_kernels_and_their_numbers_are_in_the_page(report):
    reader = Reader(page.make(report))
    *rows, total = as_dicts(reader.tables["costs"])
    assert [row["kernel"] for row in rows] == ["main_0", "main_1"]
    for row, (read, written), flops in zip(
        rows, GIVEN.values(), (2 * 64 * 784 * 256, 2 * 64 * 256 * 10)
    ):
        assert row["read"] == f"{read:,}" and row["written"] == f"{written:,}"
        # What is added and tanh are a few more.
        assert 0 <= int(row["flops"].replace(",", "")) / flops - 1 < 0.01
        assert row["runs"] == "1" and re.fullmatch(r"[\d.e+]+ (µs|ms|ns|s)", row["time"]), row
        assert row["of the roofline"].endswith(" %")
        assert row["bound by"] in ("memory", "arithmetic")
    assert rows[0]["transcendentals"] == f"{64 * 256:,}" and rows[1]["transcendentals"] == "0"
    shares = [int(row["of all"].removesuffix(" %")) for row in rows]
    assert sum(shares) in (99, 100, 101)
    first, second = as_dicts(reader.tables["kernels"])
    assert first["fused"] == "dot_general broadcast_in_dim add tanh"
    assert second["fused"] == "dot_general broadcast_in_dim add"
    assert (first["source name"], first["source"]) == ("jit(f)/first/tanh", "model.py:4")
    assert second["source"] == "model.py:5"
    assert first["errors at most"] == "dot_general (k + 1) 2^-24 E, tanh 2 (f32)"
    assert total["read"] == f"{sum(read for read, _ in GIVEN.values()):,}"
    # The command list and memory say the same.
    commands = as_dicts(reader.tables["commands0"])
    assert [row["source"] for row in commands] == ["model.py:4", "model.py:5"]
    assert {row["arena in use"] for row in commands} == {f"{64 * 256 * 4:,}"}
    (live,) = as_dicts(reader.tables["live0"])
    assert live["bytes"] == f"{64 * 256 * 4:,}"
    assert live["what lives"] == "%3: 65,536 (main_0: jit(f)/first/tanh)"
    assert "svg" in reader.tags


def test_bytes_of_kernels_add_up_to_the_program_s(report):
    given = sum(kernel.read_bytes + kernel.written_bytes for kernel in report.kernels)
    assert given == sum(map(sum, GIVEN.values()))
    assert abs(given / report.cost["bytes accessed"] - 1) < 0.05
    assert report.total(lambda k: k.flops) == pytest.approx(report.cost["flops"], rel=0.01)


WRITE_ROW = """
import sys
import jax
from jax import export
from bench.workloads import ROWS
case = ROWS[sys.argv[1]].case("usual")
exported = export.export(jax.jit(case.closed()), platforms=["cpu"])(*case.inputs)
open(sys.argv[2], "wb").write(exported.mlir_module_serialized)
"""


@pytest.mark.parametrize("row", ["gpt2-block", "mlp-128", "resnet18"])
def test_bytes_of_kernels_add_up_in_networks(row, tmp_path):
    path = tmp_path / "row.mlirbc"
    subprocess.run(
        [sys.executable, "-c", WRITE_ROW, row, path],
        check=True,
        env=dict(os.environ, PYTHONPATH=str(ROOT), JAX_PLATFORMS="cpu"),
    )
    network = collect.collect(path, run=False)
    moved = network.total(lambda k: k.cost_bytes)
    # An attention is one kernel, but its scores count as written and read in the program.
    least = 0.85 if row == "gpt2-block" else 0.95
    assert least <= moved / network.cost["bytes accessed"] <= 1.05
    assert network.total(lambda k: k.flops) == pytest.approx(network.cost["flops"], rel=1e-6)
    # What they are given is no less than what they touch of it; short constants are in
    # their code.
    for kernel in network.kernels:
        assert kernel.cost_bytes <= kernel.read_bytes + kernel.written_bytes + 4096


def test_bounds_are_those_of_the_documents():
    run = {"__file__": str(ROOT / "tests/accuracy/run.py"), "__name__": "run"}
    exec((ROOT / "tests/accuracy/run.py").read_text(), run)
    assert (ROOT / "python/alula/report/bounds.py").read_text() == run["make_bounds"]()


def test_errors_of_kernels():
    describe = accuracy.describe
    assert describe(["tanh:f32", "add:f32", "sqrt:f32", "tanh:f64"]) == (
        f"tanh {bounds.BOUNDS['tanh:f32']:g} (f32), tanh {bounds.BOUNDS['tanh:f64']:g} (f64)"
    )
    assert describe(["dot_general:bf16", "convolution:f64"]) == (
        "dot_general (k + 1) 2^-24 E, convolution (k + 1) 2^-53 E"
    )
    # Exact ones.
    assert describe(["dot_general:i32", "abs:f32", "transpose:f32", "sort:i32"]) == ""


def test_nothing_in_a_page_is_loaded_or_runs(report):
    text = page.make(report)
    reader = Reader(text)
    # The names are there, as text.
    assert report.functions[0].arguments[0]["name"] == HOSTILE.replace("\\22", '"')
    assert "<script>alert(1)</script>\"'&" in "".join(row[1] for row in reader.tables[""])
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert reader.tags <= {
        "html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "p", "b", "div",
        "table", "thead", "tbody", "tfoot", "tr", "th", "td", "svg", "g", "path", "rect",
        "circle", "polygon", "text", "ul", "li",
    }  # fmt: skip
    names = {name for name, _ in reader.attributes}
    assert not [name for name in names if name.startswith("on")]
    assert not names & {"href", "src", "xlink:href", "srcset", "style"}
    assert "url(" not in text and "http:" not in text and "https:" not in text
    assert "default-src 'none'" in text


def test_model_explorer(model, tmp_path, capsys):
    out = tmp_path / "graph.json"
    assert main([str(model), "--model-explorer", str(out), "--repeat", "2"]) == 0
    assert capsys.readouterr().out.split() == [str(out), str(tmp_path / "graph.times.json")]
    collection = json.loads(out.read_text())
    assert set(collection) == {"label", "graphs"}
    (graph,) = collection["graphs"]
    assert graph["id"] == "main"
    nodes = {node["id"]: node for node in graph["nodes"]}
    assert len(nodes) == len(graph["nodes"]) == 5 + 2 + 1
    for node in nodes.values():
        assert isinstance(node["label"], str) and isinstance(node["namespace"], str)
        for attribute in node["attrs"]:
            assert set(attribute) == {"key", "value"}
            assert all(isinstance(text, str) for text in attribute.values())
        inputs = [edge["targetNodeInputId"] for edge in node["incomingEdges"]]
        assert inputs == [str(n) for n in range(len(inputs))]
        assert all(edge["sourceNodeId"] in nodes for edge in node["incomingEdges"])
        assert all(edge["sourceNodeOutputId"] == "0" for edge in node["incomingEdges"])

    def sources(id_):
        return {edge["sourceNodeId"] for edge in nodes[id_]["incomingEdges"]}

    assert sources("command 0") == {"argument 0", "argument 1", "argument 2"}
    assert sources("command 1") == {"command 0", "argument 3", "argument 4"}
    assert sources("result 0") == {"command 1"}
    attributes = {a["key"]: a["value"] for a in nodes["command 0"]["attrs"]}
    assert attributes["fused"] == nodes["command 0"]["label"]
    assert attributes["bytes read"] == f"{GIVEN['main_0'][0]:,}" and "time of a run" in attributes
    assert nodes["command 0"]["namespace"] == "jit(f)/first"
    # Times in microseconds, by graph and node.
    times = json.loads((tmp_path / "graph.times.json").read_text())
    assert set(times) == {"main"}
    results = times["main"]["results"]
    assert set(results) == {"command 0", "command 1"}
    assert all(0 < entry["value"] < 1e7 for entry in results.values())
    assert [g["stop"] for g in times["main"]["gradient"]] == [0, 1]


def test_an_artifact_says_what_it_doesn_t_know(model, tmp_path):
    artifact = tmp_path / "model.alula"
    subprocess.run([BUILD / "bin" / "alula-compile", model, "-o", artifact], check=True)
    report = collect.collect(artifact, calls=2)
    assert {k.name: (k.read_bytes, k.written_bytes) for k in report.kernels} == GIVEN
    assert all(k.seconds > 0 and k.flops is None for k in report.kernels)
    reader = Reader(page.make(report))
    assert set(reader.tables["kernels"][0]) == {"kernel", "grid"}
    assert {"kernel", "read", "time"} <= set(reader.tables["costs"][0])
    assert not {"flops", "flop/s"} & set(reader.tables["costs"][0])
    assert any("the artifact doesn't hold them" in note for note in report.notes)


def test_an_artifact_that_knows_its_kernels(model, tmp_path, report):
    artifact = tmp_path / "model.alula"
    compiler = BUILD / "bin" / "alula-compile"
    subprocess.run([compiler, model, "--debug=1", "-o", artifact], check=True)
    known = collect.collect(artifact, run=False)
    assert known.notes == ["Times: it was not run."]
    for ours, theirs in zip(known.kernels, report.kernels, strict=True):
        for field in ("name", "operations", "typed", "source", "flops", "cost_bytes"):
            assert getattr(ours, field) == getattr(theirs, field)
    # What is not fit for a line is not in it.
    assert known.kernels[1].source_name == report.kernels[1].source_name


def test_without_a_run_there_are_no_times(model):
    report = collect.collect(model, run=False)
    assert report.times is None and report.machine is None
    head = Reader(page.make(report)).tables["costs"][0]
    assert "time" not in head and "of the roofline" not in head and "read" in head
    assert "Times: it was not run." in report.notes


def test_what_runs_in_a_loop(tmp_path):
    path = tmp_path / "loop.mlir"
    path.write_text(LOOP)
    report = collect.collect(path, calls=2)
    (function,) = report.functions
    in_loop = [c for c in function.commands if c.kind == "dispatch" and c.scopes]
    assert in_loop, [c.text for c in function.commands]
    products = [k for k in report.kernels if "dot_general" in k.operations]
    assert [k.runs for k in products] == [7]
    assert report.total(lambda k: k.flops) == pytest.approx(7 * 2 * 96**3, rel=0.01)
    Reader(page.make(report))


def test_lives_in_the_arena():
    """A buffer that a loop only reads lives as long as the loop; one that it carries
    too; one within it does not."""
    blocks = [
        ["fill %0, 0, 64, 4, 0", "fill %1, 0, 64, 4, 0", "while ^1, r0, ^2", "copy %3, 0, %1, 0, 64"],
        ["r0 = load i32, %0, 0"],
        ["copy %2, 0, %0, 0, 64", "copy %1, 0, %2, 0, 64", "r1 = participant"],
    ]  # fmt: skip
    slots = ["arena [0, +64)", "arena [64, +64)", "arena [128, +64)", "result 0"]
    value = {"name": "", "dtype": "f32", "shape": [16]}
    function = Function(
        {"globals": [], "constants": []},
        {
            "name": "f", "arguments": [], "results": [value], "arena_bytes": 192,
            "slots": slots, "blocks": blocks,
        },
    )  # fmt: skip
    assert [c.kind for c in function.commands] == [
        "fill", "fill", "while", "load", "copy", "copy", "participant", "copy",
    ]  # fmt: skip
    assert function.lives() == {0: (0, 6), 1: (1, 7), 2: (4, 5)}
    assert [total for total, _ in function.live_sets()] == [64, 128, 128, 128, 192, 192, 128, 64]
    # The copy at the end reads what was there before the loop, or what the loop wrote.
    assert function.commands[7].sources == [1, 5]
    assert not function.is_straight


def test_buffers_that_a_loop_swaps():
    blocks = [
        ["fill %0, 0, 64, 4, 0", "while ^1, r0, ^2", "copy %2, 0, %0, 0, 64"],
        ["r0 = load i32, %0, 0"],
        ["copy %1, 0, %0, 0, 64", "swap %0, %1", "r1 = participant"],
    ]
    function = Function(
        {"globals": [], "constants": []},
        {
            "name": "f", "arguments": [], "arena_bytes": 128,
            "results": [{"name": "", "dtype": "f32", "shape": [16]}],
            "slots": ["arena [0, +64)", "arena [64, +64)", "result 0"], "blocks": blocks,
        },
    )  # fmt: skip
    assert function.lives() == {0: (0, 6), 1: (1, 5)}


def test_calls_that_differ_have_no_time_of_a_call():
    def event(name, begin):
        return {"name": name, "cat": "kernel", "ts": begin, "dur": 2.0}

    times = measure.read_trace([event("k", n) for n in range(5)], 1, "v")
    assert times.call is None and times.commands == {"k": (2.5, 2e-6)}
    times = measure.read_trace([event("k", n * 10) for n in range(4)], 1, "v")
    # The first call warms up.
    assert times.call == pytest.approx(12e-6) and times.commands["k"][0] == 2


def test_errors(model, tmp_path, capsys):
    def fail(*arguments):
        code = main([str(a) for a in arguments])
        return code, capsys.readouterr().err

    assert fail(tmp_path / "none.mlir") == (
        3, f"alula report: error: {tmp_path / 'none.mlir'}: there is no such file\n",
    )  # fmt: skip
    wrong = tmp_path / "wrong.mlir"
    wrong.write_text("func.func @main() { %0 = stablehlo.nothing }")
    code, said = fail(wrong)
    assert code == 1 and "wrong.mlir" in said and "nothing" in said
    code, said = fail(model, "--function=other")
    assert code == 1 and "there is no function 'other', but main" in said
    broken = tmp_path / "broken.alula"
    broken.write_bytes(b"\x89ALULA\r\n" + b"\0" * 100)
    code, said = fail(broken)
    assert code == 1 and "alula-inspect: error" in said
    with pytest.raises(SystemExit) as ended:
        main([str(model), "-o", str(tmp_path / "no" / "folder.html"), "--no-run"])
    assert ended.value.code == 3
    with pytest.raises(SystemExit) as ended:
        main([str(model), "-o", "a.html", "--model-explorer", "b.json"])
    assert ended.value.code == 2


def test_the_command(model, tmp_path):
    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "alula", *arguments],
            cwd=tmp_path, env={"PYTHONPATH": str(ROOT / "python"), "PATH": "/usr/bin:/bin"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    result = run("report", str(model), "--no-run")
    assert (result.returncode, result.stdout) == (0, "model.html\n"), result.stderr
    assert (tmp_path / "model.html").read_text().startswith("<!DOCTYPE html>")
    assert run("rapport").returncode == 2
    assert run("--help").returncode == 0
    assert "--model-explorer" in run("report", "--help").stdout
