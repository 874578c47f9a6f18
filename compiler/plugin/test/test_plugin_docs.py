"""The pass plugin of docs/plugins.md, built and run from the page's own text."""

import os
import re
import subprocess

import pytest
from plugin_runs import run, succeed
from support.tool_runs import BIN, ROOT

PAGE = (ROOT / "docs/plugins.md").read_text()
PROGRAM = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %two = stablehlo.constant dense<2.0> : tensor<4xf32>
  %0 = stablehlo.divide %x, %two : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


def get_blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("halve")
    (folder / "CMakeLists.txt").write_text(get_blocks("cmake")[0])
    (folder / "halve.cpp").write_text(get_blocks("cpp")[0])
    (folder / "program.mlir").write_text(PROGRAM)
    return folder


def test_the_plugin_is_short():
    assert get_blocks("cpp")[0].count("\n") < 60


def test_the_commands_work(project, package):
    environment = dict(os.environ, PACKAGE=str(package), PATH=f"{package}/bin:{os.environ['PATH']}")
    result = subprocess.run(
        ["sh", "-e"],
        input=get_blocks("sh")[0],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    assert "stablehlo.multiply" in result.stdout and "dense<5.000000e-01>" in result.stdout
    assert "stablehlo.divide" not in result.stdout
    # The option was 0.25.
    artifact = project / "program.alula"
    assert succeed(artifact, "--input=4xf32=8", tool="alula-run") == "4xf32=2,2,2,2\n"


def test_every_stage_and_tag_is_there():
    listed = run("--load-plugin=/dev/null").stderr
    assert "[plug-open]" in listed
    sources = (ROOT / "compiler/plugin").glob("*.cpp")
    text = "".join(source.read_text() for source in sources)
    tags = set(re.findall(r'"(plug-[a-z-]+)"', text))
    assert len(tags) > 10
    assert not [tag for tag in tags if f"`{tag}`" not in PAGE]
    names = re.search(r"StringLiteral names\[\] = \{([^}]*)\}", text)[1]
    for stage in re.findall(r'"([^"]+)"', names):
        assert f"`{stage}`" in PAGE, stage


def test_every_flag_is_there():
    text = subprocess.run([BIN / "alula-compile", "--help"], capture_output=True, text=True).stdout
    for flag in re.findall(r"--([a-z-]*plugins?[a-z-]*)", text):
        assert f"--{flag}" in PAGE, flag
