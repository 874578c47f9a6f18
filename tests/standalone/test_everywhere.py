"""One model in every form: the page of `./dev everywhere`."""

import re

from everywhere import WAYS, measure, write_page


def test_numbers_sizes_and_times(tmp_path):
    rows = {row["way"]: row for row in measure(tmp_path)}
    table = write_page(tmp_path, list(rows.values()))
    page = (tmp_path / "index.html").read_text()
    assert list(rows) == list(WAYS)
    for way, row in rows.items():
        assert f"| {way} |" in table
        assert f"<th>{way}" in page.replace("&gt;", ">")
        if "missing" in row:
            assert row["missing"] in page
            continue
        # Sums are in another order where there are vectors of another size.
        assert row["difference"] <= 2e-6, way
        assert row["file"] > 0 and row["time"]
        if "weights" in row:
            # Those of three layers, and little else.
            weights = 4 * (64 * 128 + 128 + 128 * 64 + 64 + 64 * 10 + 10)
            assert weights - 256 <= row["weights"] <= weights + 3000, way
    here = rows["artifact, this machine"]
    assert re.fullmatch(r"[\d.]+ µs", here["time"])
    board = rows["Cortex-M4, board under qemu"]
    if "missing" not in board:
        # One picture of four takes 17 thousand products.
        assert 4 * 17000 < int(board["time"].split()[0].replace(",", "")) < 10 * 4 * 17000
        assert board["code"] < 5 * 1024
