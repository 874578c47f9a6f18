"""Lists the error texts of the language's rooms that no test quotes.

A text is the longest string literal of a statement that reports an error; a
test quotes it if it stands in a test file, whatever values surround it.

  error_texts.py [ROOM...]      default: dialect compiler/input
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REPORT = re.compile(
    r"\b(opError|inferError|emitError|emitOpError|fail|declineOp|emitOptionalError)\s*\("
)
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
# Shorter ones are names and separators.
SHORTEST = 12


def statements(text):
    """Each statement that begins with a report, up to its semicolon."""
    text = re.sub(r"//[^\n]*", "", text)
    for match in REPORT.finditer(text):
        end = match.end()
        in_string = False
        while end < len(text):
            char = text[end]
            if in_string:
                if char == "\\":
                    end += 1
                elif char == '"':
                    in_string = False
            elif char == '"':
                in_string = True
            elif char == ";":
                break
            end += 1
        yield text[match.start() : end], text.count("\n", 0, match.start()) + 1


def literals(statement):
    """The texts of the literals; those with only space between are one."""
    end = None
    text = ""
    for match in LITERAL.finditer(statement):
        if end is not None and statement[end : match.start()].strip():
            yield text
            text = ""
        text += match.group(1)
        end = match.end()
    yield text


def longest_literal(statement):
    # The end of a quoted name may come first; the name is a value.
    text = max(literals(statement), key=len).replace('\\"', '"')
    return text.strip().removeprefix("': ")


def files(rooms, *patterns):
    found = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", *rooms],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split("\n")
    return [name for name in found if any(re.search(p, name) for p in patterns)]


def unquoted(rooms):
    tests = files(rooms + ["tests"], r"/test/.*\.(mlir|test)$", r"_test\.cpp$", r"test_.*\.py$")
    # A literal may be broken over lines in a C++ test.
    corpus = "\n".join(
        re.sub(r'"\s*\n\s*"', "", (ROOT / test).read_text(errors="replace")) for test in tests
    ).replace('\\"', '"')
    sources = [name for name in files(rooms, r"\.(cpp|h)$") if not name.endswith("_test.cpp")]
    for name in sources:
        for statement, line in statements((ROOT / name).read_text()):
            text = longest_literal(statement)
            if len(text) >= SHORTEST and text not in corpus:
                yield name, line, text


def main():
    rooms = sys.argv[1:] or ["dialect", "compiler/input"]
    missing = list(unquoted(rooms))
    for name, line, text in missing:
        print(f"{name}:{line}: {text}")
    print(f"{len(missing)} error texts are not quoted by a test")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
