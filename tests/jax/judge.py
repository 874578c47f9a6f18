"""Says whether the results of a program of the corpus are right.

They are compared with XLA:CPU's; where those differ by more than the type's
tolerance, the same program in f64 or mpmath tells whose are nearer to the truth.
"""

import json
import pathlib
import re

import compare
import numpy as np
import tensor_file
import wider

KNOWN = pathlib.Path(__file__).parent / "known_differences.json"
# A result this many epsilons from the truth is as good as the type allows.
SLACK_EPSILONS = 4


class Judge:
    def __init__(self, corpus: pathlib.Path):
        self.corpus = corpus
        self.known = json.loads(KNOWN.read_text())
        self._wide: tuple[int, list] = (-1, [])

    def inputs(self, entry: dict) -> list[np.ndarray]:
        return [tensor_file.read(self.corpus / i["file"], i["type"]) for i in entry["inputs"]]

    def expected(self, entry: dict) -> list[np.ndarray]:
        return [tensor_file.read(self.corpus / o["file"], o["type"]) for o in entry["outputs"]]

    def judge_files(self, entry: dict, prefix: pathlib.Path) -> tuple[str, str]:
        """The same for results in PREFIX.0.bin and so on."""
        ours = []
        for number, output in enumerate(entry["outputs"]):
            try:
                ours.append(tensor_file.read(f"{prefix}.{number}.bin", output["type"]))
            except (OSError, ValueError) as error:
                return "differs", f"result {number}: {error}"
        return self.judge(entry, ours)

    def judge(
        self, entry: dict, ours: list[np.ndarray], theirs: list[np.ndarray] | None = None
    ) -> tuple[str, str]:
        """One of agrees, flushed, nearer, known, differs; and why.

        `theirs` are XLA:CPU's results unless given.
        """
        accumulates = not compare.ACCUMULATING.isdisjoint(entry["ops"])
        verdicts = {}
        if theirs is None:
            theirs = self.expected(entry)
        for number, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
            difference = compare.compare(mine, other, accumulates)
            if not difference:
                continue
            if compare.flushed(mine, other, difference.where):
                verdicts["flushed"] = "XLA:CPU flushes denormals"
                continue
            if compare.is_float(mine.dtype) and mine.shape == other.shape:
                wide = self.widened(entry)
                truth = wide[number] if wide else self.exact(entry, difference.where)
                slack = SLACK_EPSILONS * compare.epsilon(mine.dtype)
                if truth is not None and (
                    wider.nearer(mine, other, truth, difference.where, slack)
                    or (accumulates and wider.nearer_as_a_whole(mine, other, truth))
                ):
                    verdicts["nearer"] = "ours is as near to the truth as XLA:CPU's or nearer"
                    continue
            for known in self.known:
                matches = re.search(known["match"], entry["name"])
                if matches and compare.within(mine, other, known.get("epsilons")):
                    verdicts["known"] = known["reason"]
                    break
            else:
                return "differs", f"result {number}: {difference.text}"
        for verdict in ("known", "nearer", "flushed"):
            if verdict in verdicts:
                return verdict, verdicts[verdict]
        return "agrees", ""

    def exact(self, entry: dict, where: np.ndarray):
        import exact

        return exact.truth(entry["group"], entry["name"], self.inputs(entry), where)

    def widened(self, entry: dict):
        """What XLA:CPU says in f64; nothing if that can't be asked."""
        if self._wide[0] != entry["id"]:
            self._wide = (entry["id"], self._widen(entry))
        return self._wide[1]

    def _widen(self, entry: dict):
        import xla_cpu

        text = wider.widen_text((self.corpus / entry["mlir"]).read_text())
        if text is None:
            return None
        try:
            return xla_cpu.run(text, [wider.widen_array(array) for array in self.inputs(entry)])
        except Exception:  # noqa: BLE001, not every program can be widened
            return None
