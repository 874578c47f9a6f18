"""The name of a program from that of its class."""


def program_name(class_name):
    """Strips one trailing "Program", puts `_` before upper-case ASCII letters
    but the first character, and lowers all: MySubclass is my_subclass."""
    stem = class_name.removesuffix("Program")
    text = "".join("_" + c if i and "A" <= c <= "Z" else c for i, c in enumerate(stem)).lower()
    if not text:
        raise TypeError(
            f"class {class_name!r} gives an empty program name: "
            f"pass export_name=, as in class {class_name}(Program, export_name='…')"
        )
    return text
