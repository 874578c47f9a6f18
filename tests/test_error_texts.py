"""Every error text is quoted by a test, and the check itself can fail."""

import error_texts


def longest(source):
    return [error_texts.longest_literal(text) for text, _ in error_texts.statements(source)]


def test_every_error_is_quoted():
    assert list(error_texts.unquoted(["dialect", "compiler/input"])) == []


def test_the_longest_part_between_values_is_the_text():
    source = """
      return emitError() << "teapot \\"" << name << "\\": tea must be "
                            "hotter than its pot: " << tea;
      return fail("teapot is empty");  // emitError("in a comment is no text");
    """
    assert longest(source) == ['": tea must be hotter than its pot:', "teapot is empty"]


def test_the_name_of_the_op_is_no_text():
    assert longest("""return emitError() << "'" << op << "': teapot has " << spouts;""") == ["teapot has"]


def test_an_unquoted_text_is_found(monkeypatch, tmp_path):
    (tmp_path / "a.cpp").write_text('return emitError() << "no test says this: " << x;\n')
    (tmp_path / "a_test.cpp").write_text('EXPECT_EQ(error, "something else");\n')
    names = ["a.cpp", "a_test.cpp"]
    monkeypatch.setattr(error_texts, "ROOT", tmp_path)
    monkeypatch.setattr(
        error_texts, "files",
        lambda rooms, *patterns: [n for n in names if any(error_texts.re.search(p, n) for p in patterns)],
    )
    assert list(error_texts.unquoted(["dialect"])) == [("a.cpp", 1, "no test says this:")]
