"""Pages about the C headers, made from the headers: each declaration with the
comment above it, under the titles (`/* ---- Title ---- */`) that they have."""

import dataclasses
import re

TITLE = re.compile(r"/\* -+ (.*?) -+ \*/")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
NAME = re.compile(r"\(\*(alula_\w+)\)\(|\b(alula_\w+)\s*\(|\b(?:struct|enum) (alula_\w+) \{")


@dataclasses.dataclass
class Item:
    """A title, or a declaration with its comment, or a comment alone."""

    title: str = ""
    comment: str = ""
    code: str = ""

    @property
    def name(self):
        if self.code.startswith("#define"):
            return re.match(r"#define (\w+)", self.code)[1]
        if self.code.startswith("typedef") and not self.code.rstrip().endswith(");"):
            return re.search(r"(\w+);\s*$", self.code)[1]
        found = NAME.search(self.code)
        if found:
            return next(name for name in found.groups() if name)
        constants = re.findall(r"\bALULA_\w+", COMMENT.sub("", self.code))
        return constants[0] if constants else ""


def strip_comment(text):
    lines = text.strip()[2:-2].splitlines()
    return "\n".join(re.sub(r"^ \* ?", "", line).rstrip() for line in lines).strip()


def read_code(lines, start):
    """The end of the declaration or definition that begins in a line."""
    end, depth = start, 0
    while True:
        line = COMMENT.sub("", lines[end])
        end += 1
        if lines[start].startswith("#define"):
            if not line.endswith("\\"):
                return end
            continue
        depth += line.count("{") - line.count("}") + line.count("(") - line.count(")")
        ended = line.rstrip().endswith(";") or (depth == 0 and line.startswith("}"))
        if (depth == 0 and ended) or end == len(lines):
            return end


def read_items(text):
    text = re.sub(r'extern "C" \{|\} /\* extern "C" \*/', "", text)
    # What only a compiler reads.
    text = re.sub(r"^#(?!define ALULA_(?!API)).*(?:\\\n.*)*\n", "", text, flags=re.MULTILINE)
    lines, items, comment, i = text.splitlines(), [], "", 0
    while i < len(lines):
        line = lines[i]
        if not line.strip():
            if comment:
                items.append(Item(comment=comment))
            comment = ""
            i += 1
        elif title := TITLE.match(line):
            items.append(Item(title=title[1]))
            i += 1
        elif line.startswith("/*"):
            end = i
            while "*/" not in lines[end]:
                end += 1
            comment = strip_comment("\n".join(lines[i : end + 1]))
            i = end + 1
        else:
            end = read_code(lines, i)
            items.append(Item(comment=comment, code="\n".join(lines[i:end])))
            comment, i = "", end
    return items


def to_markdown(comment):
    """Paragraphs of a comment; indented lines are code."""
    out, code = [], []
    for line in [*comment.splitlines(), ""]:
        if line.startswith("  "):
            code.append(line[2:])
            continue
        if code:
            out += ["", "```c", *code, "```", ""]
            code = []
        out.append(line.replace("*", r"\*").replace("<", "&lt;"))
    return "\n".join(out).strip()


def read_compile_options(text):
    """(field of alula_compile_options, flag, what it is) of each row of the table
    in alula/compiler.h."""
    table = re.search(
        r"#define ALULA_FOR_EACH_COMPILE_OPTION\(X\)(.*?[^\\])\n(?!.*\\$)", text, re.DOTALL
    )
    rows, comment = [], ""
    lines = re.sub(r"[ \t]*\\$", "", table[1], flags=re.MULTILINE)
    for part in re.finditer(r"/\*(.*?)\*/|X\(\w+, (.*?), (\w+),\s*\"(.*?)\"\)", lines, re.DOTALL):
        if part[1] is not None:
            comment = " ".join(re.sub(r"^\s*\*", "", part[1], flags=re.MULTILINE).split())
            continue
        rows.append((part[3], part[4], comment))
        comment = ""
    return rows


def make_page(path, include):
    items = read_items(path.read_text())
    out = [f"# {include}", ""]
    for item in items:
        if item.title:
            out += [f"## {item.title}", ""]
            continue
        if (
            item.code
            and item.name
            and not re.fullmatch(r"(?:typedef )?struct \w+( \w+)?;", item.code)
        ):
            out += [f"### `{item.name}`", ""]
        if item.code:
            out += ["```c", item.code, "```", ""]
        if item.comment:
            out += [to_markdown(item.comment), ""]
    return "\n".join(out)
