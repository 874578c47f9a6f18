"""Compiles JAX's shape-polymorphism harnesses as they are exported, without
refinement, runs them and compares with XLA:CPU.

  run_poly.py --from DIR --out FILE.jsonl [--match RE] [--shard I/N] [--jobs N]
  run_poly.py --out FILE.jsonl --reasons

DIR is an extracted tree of jax at the tag of the installed version. A second run
adds what is missing in FILE. Each harness ends as one of
  agree      the results of XLA:CPU within JAX's tolerance, or, where sums round in another
             order, those of our program that knows the sizes
  wrong      others
  refused    our compiler says why
  unexported JAX can't export it, or says that it can't be
--reasons lists those that don't agree by reason. Where results are not unique (eigenvectors), what counts is
what our program gives that knows the sizes, as in JAX's own test."""

import argparse
import collections
import json
import multiprocessing
import os
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="tree", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--match", default="")
    parser.add_argument("--shard", default="0/1")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--reasons", action="store_true")
    return parser.parse_args()


def load_harnesses(tree):
    """All of them by name, in JAX's order."""
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    sys.path[:0] = [
        str(tree),
        str(tree / "tests"),
        str(ROOT / "tests/native"),
        str(ROOT / "python"),
    ]
    sys.argv = sys.argv[:1]
    import shape_poly_test

    listed = shape_poly_test._flatten_harnesses(shape_poly_test._POLY_SHAPE_TEST_HARNESSES)
    return {harness.fullname: harness for harness in listed}


class Runner:
    def __init__(self):
        import alula_library
        from jax._src import xla_bridge
        from jax_plugins.alula import lowering

        # Without the plugin JAX knows no such platform.
        xla_bridge._nonexperimental_plugins.add("alula")
        lowering.register()
        build = ROOT / os.environ.get("ALULA_BUILD", "build")
        self.tools = alula_library.Compiler(build), alula_library.Runtime(build, thread_count=1)

    def run(self, harness):
        """How it ends, and why."""
        import jax
        from jax._src import test_util

        with test_util.thread_local_config_context(**harness.override_jax_config_flags):
            try:
                arguments, exported, function = self.export(harness)
            except Exception as error:  # noqa: BLE001, JAX raises anything
                return "unexported", f"{type(error).__name__}: {error}"
            kept = [jax.tree.leaves(arguments)[i] for i in exported.module_kept_var_idx]
            try:
                got = self.compute(exported, kept)
            except Exception as error:  # noqa: BLE001
                return "refused", str(error)
            return self.judge(harness, arguments, function, exported, got)

    def export(self, harness):
        import jax
        import numpy as np
        from jax import export

        function = jax.jit(harness.dyn_fun)
        arguments = jax.tree.map(jax.numpy.array, harness.dyn_args_maker(np.random.RandomState(0)))
        specs = export.symbolic_args_specs(
            arguments, harness.polymorphic_shapes, constraints=harness.symbolic_constraints
        )
        exported = export.export(function, platforms=["alula"])(*specs)
        return arguments, exported, function

    def compute(self, exported, arguments):
        import jax_functions
        import numpy as np

        # Scalars stay scalars.
        arrays = [np.asarray(a, order="C") for a in arguments]
        text = exported.mlir_module().encode()
        return [
            np.array(a) for a in jax_functions.run_program(self.tools, text, arrays, "cpu:host")
        ]

    def judge(self, harness, arguments, function, exported, got):
        import jax
        import numpy as np
        from jax._src import test_util

        exact = [np.asarray(leaf) for leaf in jax.tree.leaves(function(*arguments))]
        if not harness.check_result:
            return "agree", ""
        case = test_util.JaxTestCase()
        own = [limit for limit in harness.limitations if limit.custom_assert is not None]
        tolerance = harness.tol
        if tolerance is None and harness.limitations:
            limit = harness.limitations[0].get_max_tolerance_limitation(harness.limitations)
            tolerance = limit.tol if limit is not None else None
        try:
            got = [a.astype(e.dtype).reshape(e.shape) for a, e in zip(got, exact, strict=True)]
            if own:
                tree = jax.tree.structure(function(*arguments))
                own[0].custom_assert(
                    case, jax.tree.unflatten(tree, exact), jax.tree.unflatten(tree, got),
                    args=arguments, tol=tolerance, err_msg=None,
                )  # fmt: skip
            else:
                case.assertAllClose(exact, got, atol=tolerance, rtol=tolerance)
        except Exception as error:  # noqa: BLE001
            return self.judge_by_static(harness, arguments, function, exact, got, str(error))
        return "agree", ""

    def judge_by_static(self, harness, arguments, function, exact, got, why):
        """As JAX's own test does, which runs both on one platform."""
        import jax
        import numpy as np
        from jax import export

        # Eigenvectors are not unique, nor is the order of equal values of approx_top_k
        # and of sorts that need not be stable; pivots are drawn that are none.
        open_to = "eig|svd|schur|qr|hessenberg|tridiagonal|lu_pivots|approx_top_k"
        if not re.search(open_to, harness.group_name) and "isstable_False" not in harness.fullname:
            # Sums in another order than XLA:CPU's, not another function.
            for ours, theirs in zip(got, exact, strict=True):
                scale = np.abs(theirs[np.isfinite(theirs)]).max(initial=1)
                if not np.allclose(ours, theirs, rtol=1e-5, atol=1e-5 * scale, equal_nan=True):
                    return "wrong", why
        static = export.export(function, platforms=["alula"])(*arguments)
        kept = [jax.tree.leaves(arguments)[i] for i in static.module_kept_var_idx]
        try:
            for ours, theirs in zip(got, self.compute(static, kept), strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)
        except AssertionError as error:
            return "wrong", f"{why}; to the static program: {error}"
        return "agree", "with our static program"


def work(tree, names, connection):
    harnesses = load_harnesses(tree)
    runner = Runner()
    for name in names:
        connection.send((name, "died", ""))
        end, why = runner.run(harnesses[name])
        connection.send((name, end, why))


def run_all(options):
    """Harnesses one after the other in processes that may die."""
    done = {row["name"] for row in read(options.out)}
    index, count = map(int, options.shard.split("/"))
    names = [
        name
        for i, name in enumerate(load_harnesses(options.tree))
        if i % count == index and name not in done and re.search(options.match, name)
    ]
    context = multiprocessing.get_context("spawn")
    with options.out.open("a") as out:
        while names:
            receiver, sender = context.Pipe(duplex=False)
            process = context.Process(target=work, args=(options.tree, names, sender))
            process.start()
            sender.close()
            row = None
            try:
                while True:
                    name, end, why = receiver.recv()
                    row = {"name": name, "end": end, "why": why[:2000]}
                    if end != "died":
                        out.write(json.dumps(row) + "\n")
                        out.flush()
                        names.remove(name)
            except EOFError:
                process.join()
            if row is None:
                raise RuntimeError("a process ended before its first harness")
            if row["end"] == "died":
                out.write(json.dumps(row | {"why": f"exit {process.exitcode}"}) + "\n")
                names.remove(row["name"])


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def tell(rows):
    counts = collections.Counter(row["end"] for row in rows)
    print(f"{len(rows)} harnesses: " + ", ".join(f"{n} {end}" for end, n in counts.most_common()))


def group_reasons(rows):
    """(end, reason) -> names; numbers and names of values say no more."""
    reasons = collections.defaultdict(list)
    for row in rows:
        if row["end"] != "agree":
            first = row["why"].strip().splitlines()[0] if row["why"].strip() else ""
            reasons[row["end"], re.sub(r"\b\d+\b|0x\w+", "#", first)[:200]].append(row["name"])
    return sorted(reasons.items(), key=lambda item: (item[0][0], -len(item[1])))


def main():
    options = parse_arguments()
    if not options.reasons:
        run_all(options)
    rows = read(options.out)
    tell(rows)
    if options.reasons:
        for (end, reason), names in group_reasons(rows):
            print(f"\n- {end}, {len(names)}: {reason}\n  " + " ".join(sorted(names)))
    return any(row["end"] in ("wrong", "died") for row in rows)


if __name__ == "__main__":
    sys.exit(main())
