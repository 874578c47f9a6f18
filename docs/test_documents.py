"""The documents: every code block runs, every link leads somewhere."""

import os
import re
import subprocess
import sys

import pytest
from support import documents

ROOT = documents.ROOT
BUILD = ROOT / os.environ.get("ALULA_BUILD", "build")
PAGES = documents.find_pages()
BLOCKS = [
    block
    for page in PAGES
    if not documents.get_checker(page)
    for block in documents.read_blocks(page)
]
RUNNABLE = [
    page
    for page in PAGES
    if not documents.get_checker(page) and any(b.kind == "run" for b in documents.read_blocks(page))
]


def get_name(page):
    return str(page.relative_to(ROOT))


@pytest.mark.skipif(not (BUILD / "bin/alula-compile").exists(), reason="not built")
@pytest.mark.parametrize("page", RUNNABLE, ids=get_name)
def test_page_runs(page, tmp_path):
    done = subprocess.run(
        [sys.executable, documents.__file__, page],
        cwd=tmp_path,
        env=documents.get_environment(BUILD),
        capture_output=True,
        text=True,
        timeout=2000,
    )
    assert done.returncode == 0, done.stderr[-6000:]


@pytest.mark.parametrize("page", PAGES, ids=get_name)
def test_blocks_say_what_they_are(page):
    assert documents.find_problems(page) == []


def test_few_blocks_are_not_run():
    left_out = [f"{b.place}: {b.detail}" for b in BLOCKS if b.kind == "not run"]
    assert len(left_out) <= 10, "\n".join(left_out)
    assert sum(b.kind == "run" for b in BLOCKS) > 5 * len(left_out)


def test_checkers_exist():
    for page in PAGES:
        checker = documents.get_checker(page)
        assert checker is None or (ROOT / checker).exists(), get_name(page)


# ---- Links ----


def strip_code(text):
    return re.sub(r"`[^`\n]*`", "", documents.FENCE.sub("", text))


def get_anchors(page):
    """Of headings, as GitHub and the site make them."""
    anchors, seen = set(), {}
    for heading in re.findall(
        r"^#+ +(.*?) *#*$", documents.FENCE.sub("", page.read_text()), re.MULTILINE
    ):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        count = seen[slug] = seen.get(slug, -1) + 1
        anchors.add(f"{slug}-{count}" if count else slug)
    return anchors


def find_links(page):
    """Those inside the repository: (path, anchor)."""
    for target in re.findall(r"\]\(([^)\s]+)(?: \"[^\"]*\")?\)", strip_code(page.read_text())):
        if not re.match(r"[a-z]+:", target):
            path, _, anchor = target.partition("#")
            yield path, anchor


def find_dead_links(page):
    for path, anchor in find_links(page):
        target = (page.parent / path).resolve() if path else page
        if not target.exists():
            yield f"{page.name}: {path}"
        elif anchor and anchor not in get_anchors(target):
            yield f"{page.name}: {path}#{anchor}"


def get_all_pages():
    tracked = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [ROOT / name for name in tracked.stdout.split() if (ROOT / name).exists()]


def test_no_dead_links():
    assert [link for page in get_all_pages() for link in find_dead_links(page)] == []


# ---- Tables ----


def test_every_variable_of_the_environment_is_named():
    page = (ROOT / "docs/environment.md").read_text()
    listed = subprocess.run(
        ["git", "ls-files", "compiler", "runtime", "pjrt", "tools", "python"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    sources = [
        name
        for name in listed
        if (name.endswith((".cpp", ".h")) or name.startswith("python/"))
        and "test" not in name
        and "stress" not in name
        # Drivers for tests.
        and "/fake/" not in name
    ]
    text = "".join((ROOT / name).read_text() for name in sources if (ROOT / name).is_file())
    read = set(re.findall(r'getenv\("(\w+)"\)', text))
    read |= set(re.findall(r'environ(?:\.get\(|\[)"(\w+)"', text))
    read |= set(re.findall(r'"(ALULA_\w+_LIBRARY)"', text))
    assert len(read) > 6
    assert sorted(name for name in read if f"`{name}`" not in page) == []
    named = set(re.findall(r"^\| .*?(?= \| )", page, re.MULTILINE))
    ours = set(re.findall(r"`(ALULA_\w+)`", " ".join(named)))
    assert sorted(name for name in ours if f'"{name}"' not in text) == []


# ---- The tests themselves can fail ----


def write(folder, text):
    page = folder / "page.md"
    page.write_text(text)
    return page


def run(page):
    return subprocess.run(
        [sys.executable, documents.__file__, page],
        cwd=page.parent, env=documents.get_environment(BUILD), capture_output=True, text=True,
    )  # fmt: skip


def test_a_wrong_block_is_named(tmp_path):
    page = write(tmp_path, "x\n\n```python\ny = 1\n```\n\n```python\nassert y == 2\n```\n")
    assert 'page.md", line 8' in run(page).stderr
    page = write(tmp_path, "```sh\ntrue\nfalse | cat\necho on\n```\n")
    assert "page.md:2: status 1" in run(page).stderr


def test_output_is_compared(tmp_path):
    text = "```sh\necho a 17 b\n```\n\n<!-- output -->\n```text\n%s\n```\n"
    assert run(write(tmp_path, text % "a … b")).returncode == 0
    assert "it printed\na 17 b" in run(write(tmp_path, text % "a 18 b")).stderr


def test_files_are_written(tmp_path):
    text = "<!-- file: in/a.txt -->\n```text\nhello\n```\n\n```sh\ngrep hello in/a.txt\n```\n"
    assert run(write(tmp_path, text)).returncode == 0


def test_unmarked_blocks_are_found(tmp_path):
    page = write(tmp_path, "```c\nint x;\n```\n\n<!-- not run -->\n```sh\n```\n\n    code\n")
    assert [problem.split(": ", 1)[1] for problem in documents.find_problems(page)] == [
        "nobody can run 'c': say what it is",
        "'not run' without a name or a reason",
        "code without a fence",
    ]


def test_dead_links_are_found(tmp_path):
    page = write(tmp_path, "# A b\n[x](#a-b) [y](#c) [z](page.md#a-b) [u](none.md) `[v](w)`\n")
    assert list(find_dead_links(page)) == ["page.md: #c", "page.md: none.md"]
