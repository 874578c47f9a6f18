"""Gathers the pages of the site and has MkDocs make it.

    docs/make_site.py --sources FOLDER         pages and mkdocs.yml alone
    docs/make_site.py --check FOLDER           every link of a site that was made

Pages lie where they belong: in docs/, as README.md of a room, as text of a
header. Here they get a place in one tree; links between them are changed to
fit, and a link to any other file of the repository leads to a page that shows
it. `./dev docs` does all of it.
"""

import argparse
import html.parser
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse

import c_reference
import python_reference

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / os.environ.get("ALULA_BUILD", "build")
HEADERS = "runtime compiler status dtype plugin import kernel_abi artifact".split()
TOOLS = "compile run bench inspect opt interpret compile-reduce".split()
FENCE = re.compile(r"^( *)(```+).*?^\1\2 *$", re.MULTILINE | re.DOTALL)
# Code, in which nothing is a link, or a link: its text and its target.
TOKEN = re.compile(
    FENCE.pattern + r"|(\[(?:[^\[\]`]|`[^`\n]*`)*\])\(([^)\s]+)\)|`[^`\n]+`", FENCE.flags
)
LANGUAGES = {
    ".h": "c", ".c": "c", ".hpp": "cpp", ".cpp": "cpp", ".py": "python", ".sh": "sh",
    ".cmake": "cmake", ".td": "text", ".mlir": "text", ".txt": "text",
}  # fmt: skip

# Title of a part -> pages; a page is a path in the tree of the site.
NAVIGATION = {
    "Tutorials": [
        "tutorials/jax.md",
        "tutorials/python.md",
        "tutorials/c.md",
        "tutorials/compiler.md",
        "tutorials/iree.md",
    ],
    "Programs in Python": [
        "program/first-program.md",
        "program/state.md",
        "program/deploying.md",
        "program/dynamic-shapes.md",
        "program/metadata.md",
    ],
    "Guides": [
        "embedding.md",
        "standalone.md",
        "frontends.md",
        "stages.md",
        "preprocessing.md",
        "plugins.md",
        "compatibility.md",
    ],
    "Reference": [
        "environment.md",
        "tools.md",
        "python.md",
        *(f"c/{name}.md" for name in HEADERS),
        "c/runtime_hpp.md",
        "op_support.md",
        "accuracy.md",
        "quantized.md",
        "benchmarks.md",
        "artifact-format.md",
    ],
    "How it works": ["map.md", "walkthrough.md", "rooms/", "adr/"],
    "Project": ["status.md", "changelog.md", "contributing.md", "security.md", "log.md"],
}
PLACES = {
    "README.md": "repository.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "artifact/SPEC.md": "artifact-format.md",
    "include/alula/runtime.hpp": "c/runtime_hpp.md",
    **{f"include/alula/{name}.h": f"c/{name}.md" for name in HEADERS},
}


def get_tracked():
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split("\n") if name and (ROOT / name).is_file()]


def get_place(name):
    """Where a file of the repository is in the site; None: it has no page."""
    if name in PLACES:
        return PLACES[name]
    if name.endswith(".in.md"):
        return None
    if name.startswith("docs/") and name.endswith((".md", ".svg", ".png")):
        return name.removeprefix("docs/")
    if name.endswith("/README.md"):
        return f"rooms/{name.removesuffix('/README.md').replace('/', '-')}.md"
    return None


def get_title(text):
    return re.search(r"^# (.*)$", text, re.MULTILINE)[1]


class Site:
    def __init__(self, folder):
        self.folder = folder
        self.tracked = get_tracked()
        self.places = {name: place for name in self.tracked if (place := get_place(name))}
        self.titles = {}

    def write(self, place, text):
        path = self.folder / "docs" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if place.endswith(".md"):
            self.titles[place] = re.sub(r"[`*]", "", get_title(text))

    def find(self, name):
        """The place of any file or folder; shows it if nothing else does."""
        if name in self.places:
            return self.places[name]
        if f"{name}/README.md" in self.places:
            return self.places[f"{name}/README.md"]
        inside = [other for other in self.tracked if other.startswith(f"{name}/")]
        place = self.places[name] = f"files/{name}.md"
        if inside:
            links = "".join(f"- [{each}]({ROOT / each})\n" for each in inside)
            self.write(place, self.relink(f"# {name}\n\n{links}", ROOT / name, place))
        else:
            text = (ROOT / name).read_text()
            language = LANGUAGES.get(pathlib.Path(name).suffix, "text")
            self.write(place, f"# {name}\n\n`````{language}\n{text.rstrip()}\n`````\n")
        return place

    def relink(self, text, source, place):
        """`text` with the links of the file `source`, for its place here."""

        def change(match):
            words, link = match[3], match[4]
            path, mark, anchor = (link or "").partition("#")
            if not path or re.match(r"[a-z]+:", path):
                return match[0]
            target = (source.parent / path).resolve()
            to = self.find(str(target.relative_to(ROOT)))
            return f"{words}({os.path.relpath(to, pathlib.Path(place).parent)}{mark}{anchor})"

        return TOKEN.sub(change, text)

    def add_pages(self):
        for name, place in sorted(self.places.items()):
            path = ROOT / name
            if place.startswith("c/"):
                continue
            if not place.endswith(".md"):
                target = self.folder / "docs" / place
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(path.read_bytes())
                continue
            text = separate_lists(path.read_text())
            self.write(place, self.relink(text, path, place))

    def add_reference(self):
        for name in HEADERS:
            header = ROOT / f"include/alula/{name}.h"
            self.write(f"c/{name}.md", c_reference.make_page(header, f"alula/{name}.h"))
        text = (ROOT / "include/alula/runtime.hpp").read_text()
        self.write("python.md", python_reference.make_page())
        self.write("c/runtime_hpp.md", f"# alula/runtime.hpp\n\n```cpp\n{text}```\n")

    def add_tools(self):
        out = [
            "# Tools and their options",
            "",
            "What `--help` of each says, `--help-all` of those that have it.",
            "",
        ]
        for tool in TOOLS:
            path = BUILD / "bin" / f"alula-{tool}"
            if not path.exists():
                sys.exit(f"{path} is not built")
            for flag in ("--help-all", "--help"):
                done = subprocess.run(
                    [path, flag], capture_output=True, text=True, env={"COLUMNS": "100"}
                )
                if done.returncode == 0:
                    break
            out += [f"## alula-{tool}", "", "```text", done.stdout.rstrip(), "```", ""]
        out += [
            "## In C and Python",
            "",
            "Fields of `alula_compile_options`, which are keyword arguments of `alula.compile` too.",
            "",
            "| field | flag | |",
            "|---|---|---|",
        ]
        header = (ROOT / "include/alula/compiler.h").read_text()
        for field, flag, text in c_reference.read_compile_options(header):
            out.append(f"| `{field}` | {flag and f'`--{flag}`'} | {text} |")
        self.write("tools.md", "\n".join([*out, ""]))

    def add_index(self, place, title, text):
        folder = place.rpartition("/")[0] + "/"
        links = "".join(
            f"- [{self.titles[each]}]({each.removeprefix(folder)})\n"
            for each in sorted(self.titles)
            if each.startswith(folder) and each != place
        )
        self.write(place, f"# {title}\n\n{text}\n\n{links}")

    def list_pages(self, entry):
        if not entry.endswith("/"):
            return [entry]
        found = [each for each in sorted(self.titles) if each.startswith(entry)]
        return [f"{entry}index.md", *(each for each in found if each != f"{entry}index.md")]

    def write_configuration(self):
        import json

        navigation = [{"Alula": "index.md"}]
        for title, entries in NAVIGATION.items():
            pages = [page for entry in entries for page in self.list_pages(entry)]
            navigation.append({title: [{self.titles[page]: page} for page in pages]})
        slugs = "!!python/object/apply:pymdownx.slugs.slugify {kwds: {case: lower}}"
        text = f"""site_name: Alula
docs_dir: docs
use_directory_urls: false
theme:
  name: material
  font: false
  features: [navigation.tabs, navigation.indexes, navigation.top, search.highlight, content.code.copy]
  palette:
    - {{media: "(prefers-color-scheme: light)", scheme: default, primary: blue grey}}
    - {{media: "(prefers-color-scheme: dark)", scheme: slate, primary: blue grey}}
plugins: [search, offline]
markdown_extensions:
  - tables
  - attr_list
  - md_in_html
  - pymdownx.superfences
  - pymdownx.highlight
  - toc: {{permalink: true, slugify: {slugs}}}
extra: {{generator: false}}
validation: {{omitted_files: ignore}}
nav: {json.dumps(navigation, ensure_ascii=False)}
"""
        (self.folder / "mkdocs.yml").write_text(text)

    def make(self):
        self.add_pages()
        self.add_reference()
        self.add_tools()
        text = "Each folder of the source tree, with what goes in and what comes out."
        self.add_index("rooms/index.md", "Rooms", text)
        text = "Decisions, why they were taken, and what else there was."
        self.add_index("adr/index.md", "Decisions", text)
        self.write_configuration()


def separate_lists(text):
    """Markdown of Python wants an empty line before a list; GitHub's doesn't."""

    def change(part):
        lines = part.split("\n")
        out = []
        for before, line in zip(["", *lines], lines):
            starts = re.match(r"(?:- |\d+\. )", line)
            inside = re.match(r"(?:- |\d+\. |\s|$|\|)", before)
            if starts and not inside and not out_is_list(out):
                out.append("")
            out.append(line)
        return "\n".join(out)

    def out_is_list(out):
        """Whether the paragraph above is itself an item of a list."""
        for line in reversed(out):
            if not line.strip():
                return False
            if re.match(r"(?:- |\d+\. )", line):
                return True
        return False

    parts, end = [], 0
    for fence in FENCE.finditer(text):
        parts += [change(text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, change(text[end:])])


# ---- The check of what was made ----


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.targets, self.anchors = [], set()

    def handle_starttag(self, tag, attributes):
        for key, value in attributes:
            if key in ("href", "src") and value is not None:
                self.targets.append(value)
            if key in ("id", "name") and value:
                self.anchors.add(value)


def read_links(page):
    links = Links()
    links.feed(page.read_text())
    return links


def find_dead_links(site):
    pages = {page: read_links(page) for page in sorted(site.rglob("*.html"))}
    for page, links in pages.items():
        if page.name == "404.html":  # Its links are relative to wherever it is shown.
            continue
        for target in links.targets:
            parts = urllib.parse.urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            path = urllib.parse.unquote(parts.path)
            goal = (page.parent / path).resolve() if path else page
            if goal.is_dir():
                goal /= "index.html"
            if not goal.exists():
                yield f"{page.relative_to(site)}: {target}"
            elif parts.fragment and goal in pages:
                if urllib.parse.unquote(parts.fragment) not in pages[goal].anchors:
                    yield f"{page.relative_to(site)}: {target}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sources", type=pathlib.Path)
    parser.add_argument("--check", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.sources:
        Site(arguments.sources).make()
    if arguments.check:
        dead = list(find_dead_links(arguments.check.resolve()))
        count = len(list(arguments.check.rglob("*.html")))
        print(*dead, f"{count} pages, {len(dead)} dead links", sep="\n")
        sys.exit(1 if dead else 0)


if __name__ == "__main__":
    main()
