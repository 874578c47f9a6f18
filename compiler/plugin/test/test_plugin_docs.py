"""docs/plugins.md names all that there is; docs/test_documents.py runs its code."""

import re
import subprocess

from plugin_runs import run
from support.tool_runs import BIN, ROOT

PAGE = (ROOT / "docs/plugins.md").read_text()


def get_blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_plugin_is_short():
    assert get_blocks("cpp")[0].count("\n") < 60


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
