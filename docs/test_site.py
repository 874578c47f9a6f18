"""The site's pages: complete, with links that lead somewhere."""

import ast
import pathlib
import re
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import c_reference  # noqa: E402
import python_reference  # noqa: E402
import make_site as site  # noqa: E402


@pytest.mark.parametrize("name", site.HEADERS)
def test_every_function_has_an_entry(name):
    header = HERE.parent / f"include/alula/{name}.h"
    page = c_reference.make_page(header, f"alula/{name}.h")
    functions = re.findall(r"ALULA_API[^;]*?\b(alula_\w+)\(", header.read_text())
    assert [each for each in functions if f"### `{each}`" not in page] == []


def test_every_compile_option_is_read():
    text = (HERE.parent / "include/alula/compiler.h").read_text()
    rows = c_reference.read_compile_options(text)
    assert len(rows) == len(re.findall(r"^ +X\(", text, re.MULTILINE))
    flags = (HERE.parent / "compiler/driver/flags.h").read_text()
    assert [flag for _, flag, _ in rows if flag and f'"{flag}"' not in flags] == []
    assert ("verify_stages", "verify-stages", "Check the program after every pass.") in rows


def test_a_declaration_keeps_its_comment(tmp_path):
    header = tmp_path / "x.h"
    header.write_text(
        "/* About all.\n *\n *   f(1);\n */\n#pragma once\n\n/* ---- Parts ---- */\n\n"
        "/* Takes *x. */\nALULA_API int alula_f(int x,\n    int *y);\n\n"
        "typedef struct alula_s {\n  int a; /* inside */\n} alula_s;\n"
    )
    assert c_reference.make_page(header, "alula/x.h") == (
        "# alula/x.h\n\nAbout all.\n\n\n```c\nf(1);\n```\n\n## Parts\n\n### `alula_f`\n\n```c\n"
        "ALULA_API int alula_f(int x,\n    int *y);\n```\n\nTakes \\*x.\n\n### `alula_s`\n\n```c\n"
        "typedef struct alula_s {\n  int a; /* inside */\n} alula_s;\n```\n"
    )


def test_every_name_of_the_package_is_explained():
    page = python_reference.make_page()
    for name in python_reference.get_homes():
        assert re.search(rf"^###? `(alula\.)?{name}`$|^## .*`{name}`$", page, re.MULTILINE), name
    silent = re.findall(r"^### `(.*)`\n\n```text\n.*\n```\n\n\n", page, re.MULTILINE)
    assert silent == []
    assert page.count("### `Program.") > 15


def test_types_and_sources_of_the_package_agree():
    types = python_reference.read("__init__.pyi")
    for node in types.body:
        if isinstance(node, ast.FunctionDef):
            found = python_reference.find(python_reference.get_homes()[node.name], node.name)
            for kind in ("posonlyargs", "args", "kwonlyargs"):
                names = [[each.arg for each in getattr(f.args, kind)] for f in (node, found)]
                assert names[0] == names[1], node.name


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    if not (site.BUILD / "bin/alula-compile-reduce").exists():
        pytest.skip("not built")
    made = site.Site(tmp_path_factory.mktemp("site"))
    made.make()
    return made


def test_every_page_can_be_reached(sources):
    listed = (sources.folder / "mkdocs.yml").read_text()
    pages = {p for p in sources.titles if not p.startswith("files/")} - {"repository.md"}
    assert sorted(page for page in pages if f'"{page}"' not in listed) == []


def test_links_of_pages_lead_somewhere(sources):
    folder, dead, count = sources.folder / "docs", [], 0
    for page in folder.rglob("*.md"):
        for match in site.TOKEN.finditer(page.read_text()):
            path = (match[4] or "").partition("#")[0]
            if path and not re.match(r"[a-z]+:", path):
                count += 1
                if not (page.parent / path).is_file():
                    dead.append(f"{page.relative_to(folder)}: {path}")
    assert dead == []
    assert count > 200


def test_the_tools_are_there(sources):
    text = (sources.folder / "docs/tools.md").read_text()
    assert "--preprocess-executables-with" in text
    assert "--expected_output" in text


def test_lists_are_separated():
    text = "a\n- b\n  c\n- d\n\n```sh\nx\n- y\n```\n1. e\n| f |\n- g\n"
    assert site.separate_lists(text) == (
        "a\n\n- b\n  c\n- d\n\n```sh\nx\n- y\n```\n1. e\n| f |\n- g\n"
    )


def test_dead_links_of_a_site_are_found(tmp_path):
    (tmp_path / "a.html").write_text('<p id="x"><a href="b.html#y"></a><a href="b.html#z"></a>')
    (tmp_path / "b.html").write_text(
        '<p id="y"><a href="#w"></a><img src="c.png"><a href="https://d">'
    )
    assert list(site.find_dead_links(tmp_path)) == [
        "a.html: b.html#z",
        "b.html: #w",
        "b.html: c.png",
    ]


def test_the_plot_is_current():
    done = subprocess.run(
        [sys.executable, HERE / "figures.py", "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
