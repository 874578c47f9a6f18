"""What the pages of docs/program show, runs."""

import re
import subprocess

import pytest
from program_tools import BUILD, ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "program").glob("*.md"))]


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.S | re.M)


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")], ids=lambda p: p.stem)
def test_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = "\n".join(blocks(page, "python"))
    exec(compile(source, str(page), "exec"), {"__name__": page.stem})
    for text in blocks(page, "c"):
        (tmp_path / "main.c").write_text(text)
        subprocess.run(
            [
                "cc",
                "-std=c11",
                "-Wno-unused-function",
                f"-I{ROOT / 'include'}",
                "main.c",
                "-o",
                "main",
            ]
            + [f"-L{BUILD / 'lib'}", "-lalula_runtime", f"-Wl,-rpath,{BUILD / 'lib'}"],
            check=True,
        )
        subprocess.run(["./main"], check=True)


def test_links():
    for page in PAGES:
        for link in re.findall(r"\]\(([\w.-]+)\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
