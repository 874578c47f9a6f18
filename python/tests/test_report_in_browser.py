"""Pages of `alula report` as a browser shows them: nothing is loaded, nothing is cut
off, no text of a picture lies outside of it or over another one."""

import browser
import pytest
from alula.report import collect, page

HOSTILE = "<script>alert(1)</script>"
# A block of a network: enough kernels for each picture.
MODEL = f"""
func.func public @main(%x: tensor<64x256xf32>, %w: tensor<256x256xf32>) -> tensor<64x256xf32> {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<64x256xf32>, tensor<256x256xf32>) -> tensor<64x256xf32>
  %1 = stablehlo.tanh %0 : tensor<64x256xf32> loc("jit(f)/{HOSTILE}"("model.py":4:4))
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0]
    : (tensor<64x256xf32>, tensor<256x256xf32>) -> tensor<64x256xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<64x256xf32>, tensor<f32>) -> tensor<64xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<64xf32>) -> tensor<64x256xf32>
  %5 = stablehlo.divide %1, %4 : tensor<64x256xf32>
  %6 = stablehlo.dot_general %5, %w, contracting_dims = [1] x [0]
    : (tensor<64x256xf32>, tensor<256x256xf32>) -> tensor<64x256xf32>
  return %6 : tensor<64x256xf32>
}}
"""
# Texts of pictures that are outside of their picture, or over another text.
WRONG_TEXTS = """
(() => {
  const wrong = [];
  for (const svg of document.querySelectorAll('svg')) {
    const whole = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
    for (const [text, box] of texts) {
      if (box.left < whole.left - 1 || box.right > whole.right + 1 ||
          box.top < whole.top - 1 || box.bottom > whole.bottom + 1)
        wrong.push('outside: ' + text);
      for (const [other, at] of texts)
        if (other !== text && box.left < at.right - 2 && at.left < box.right - 2 &&
            box.top < at.bottom - 3 && at.top < box.bottom - 3)
          wrong.push('over: ' + text + ' and ' + other);
    }
  }
  return wrong;
})()
"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    browser.find_browser()
    folder = tmp_path_factory.mktemp("page")
    (folder / "model.mlir").write_text(MODEL)
    report = collect.collect(folder / "model.mlir", calls=2)
    (folder / "model.html").write_text(page.make(report), encoding="utf-8")
    with browser.open_browser() as tab:
        tab.open(folder / "model.html")
        yield tab, folder


def test_nothing_is_loaded_and_nothing_runs(shown):
    tab, _ = shown
    assert tab.problems == []
    assert tab.evaluate("performance.getEntriesByType('resource').length") == 0
    assert tab.evaluate("document.scripts.length") == 0
    assert HOSTILE in tab.evaluate("document.body.innerText")


def test_all_parts_are_there(shown):
    tab, _ = shown
    titles = tab.evaluate("[...document.querySelectorAll('h2, h3')].map(h => h.textContent)")
    for title in ("Kernels", "Roofline", "Graph", "Arena over time", "Largest live sets"):
        assert title in titles
    labels = tab.evaluate("[...document.querySelectorAll('svg')].map(s => s.ariaLabel)")
    assert labels == ["roofline", "commands of main", "arena of main over time"]
    visible = "getComputedStyle(document.querySelector('svg .edge')).stroke"
    assert tab.evaluate(visible) == "rgb(153, 153, 153)"


@pytest.mark.parametrize("width", [1280, 600])
def test_nothing_is_cut_off(shown, width):
    tab, folder = shown
    tab.open(folder / "model.html", width=width)
    # What is wider than the page scrolls in its place.
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.evaluate(WRONG_TEXTS) == []


def test_pictures_of_it(shown):
    tab, folder = shown
    tab.open(folder / "model.html")
    tab.save_picture(folder / "page.png")
    assert (folder / "page.png").read_bytes().startswith(b"\x89PNG")
