"""`alula report`: what a program became and what it takes, as one page or as a
graph for Model Explorer."""

import argparse
import json
import pathlib
import sys

from alula import errors
from alula.report import collect, model_explorer, page
from alula.report.measure import Problem


def _parse(arguments):
    parser = argparse.ArgumentParser(
        prog="alula report",
        allow_abbrev=False,
        description="Makes one HTML page of a program, which it compiles for this machine, or of "
        "an artifact: kernels and what was fused into them, cost, bytes, times against the "
        "roofline, memory over time. Functions are called with random inputs.",
        epilog="Exit status: 0 all is well, 1 the program or a value is wrong, 2 the command line "
        "is wrong, 3 a file can't be read or written.",
    )
    parser.add_argument("file", metavar="FILE", help="MLIR, a portable artifact or a .alula file")
    parser.add_argument("-o", metavar="OUT.html", help="the page; default: FILE's name with .html")
    parser.add_argument(
        "--model-explorer",
        metavar="OUT.json",
        help="write a graph for Model Explorer instead, and times of its nodes in OUT.times.json",
    )
    parser.add_argument("--function", metavar="NAME", help="default: the only one, or main")
    parser.add_argument("--program", metavar="NAME", help="of a file for several kinds of machines")
    parser.add_argument(
        "--target", metavar="KIND:MACHINE", action="append", help="default: cpu:host"
    )
    parser.add_argument(
        "--custom-call", metavar="NAME=LIBRARY.so", action="append", default=[],
        help="a function that the program calls; NAME alone: it is not run",
    )  # fmt: skip
    parser.add_argument(
        "--input", metavar="VALUE", action="append", default=[],
        help="as of alula-run, one for each argument; those that are not given are random",
    )  # fmt: skip
    parser.add_argument("--repeat", metavar="N", type=int, default=10, help="calls; default: 10")
    parser.add_argument("--no-run", action="store_true", help="leave times out")
    options = parser.parse_args(arguments)
    if options.repeat < 1:
        parser.error("--repeat is at least 1")
    if options.o and options.model_explorer:
        parser.error("-o is of a page, --model-explorer writes none")
    return options


def _write(path, text):
    try:
        pathlib.Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        print(f"alula report: error: {path}: {error.strerror}", file=sys.stderr)
        raise SystemExit(3) from None
    print(path)


def main(arguments):
    options = _parse(arguments)
    if not pathlib.Path(options.file).is_file():
        print(f"alula report: error: {options.file}: there is no such file", file=sys.stderr)
        return 3
    try:
        report = collect.collect(
            options.file,
            function=options.function,
            program=options.program,
            targets=tuple(options.target or ("cpu:host",)),
            custom_calls=options.custom_call,
            inputs=options.input,
            calls=options.repeat,
            run=not options.no_run,
        )
    except (Problem, errors.AlulaError) as error:
        print(f"alula report: error: {options.file}: {error}", file=sys.stderr)
        return 1
    if options.model_explorer:
        out = pathlib.Path(options.model_explorer)
        _write(out, json.dumps(model_explorer.make_graphs(report), indent=1))
        times = model_explorer.make_node_data(report)
        if times is not None:
            _write(out.with_suffix(".times.json"), json.dumps(times, indent=1))
    else:
        _write(options.o or pathlib.Path(options.file).stem + ".html", page.make(report))
    for note in report.notes:
        print(f"not known: {note}", file=sys.stderr)
    return 0
