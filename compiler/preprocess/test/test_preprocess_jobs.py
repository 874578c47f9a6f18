"""H12 to H15: several at once, and what they do with their pipes."""

from preprocess_runs import step, succeed, write_logger, write_program


def test_h12_jobs(tmp_path):
    program = write_program(tmp_path, 40)
    succeed(program, step(write_logger(tmp_path)), "--preprocess-jobs=3")
    alive, seen = 0, []
    for line in (tmp_path / "log").read_text().split():
        alive += 1 if line == "+" else -1
        seen.append(alive)
    assert max(seen) == 3 and seen[-1] == 0


def test_h13_same_bytes(tmp_path):
    program = write_program(tmp_path, 12)
    results = set()
    for flags in (
        ["--preprocess-jobs=1"],
        ["--preprocess-jobs=4"],
        ["--preprocess-jobs=16"],
    ):
        output = tmp_path / "out"
        run_flags = [step(write_logger(tmp_path)), *flags, "-o", output]
        succeed(program, *run_flags, until=None)
        results.add(output.read_bytes())
    assert len(results) == 1


def test_h14_input_is_ignored(m2, tmp_path):
    keep = tmp_path / "kept"
    succeed(m2, step("cat"), f"--preprocess-keep={keep}", "--preprocess-only=main_0")
    reply = tmp_path / "reply"
    reply.write_text((keep / "1-main_0/stdin").read_text().replace("subtract", "add"))
    text = succeed(m2, step(f"cat {reply}"), "--preprocess-only=main_0")
    assert text.count("subtract") == 1


def test_h15_errors_first(m2):
    command = "sh -c 'head -c 1048576 /dev/zero >&2; cat'"
    assert succeed(m2, step(command)) == succeed(m2)


# A name, a change of what the tool gets, and what is said of it.
