"""A compiled program as a file."""

import os
import pathlib


class Artifact:
    """The bytes of an artifact; `external` those of its file of weights."""

    def __init__(self, name, data, external=b"", external_file=None):
        self.name, self.data = name, data
        self.external, self.external_file = external, external_file

    def save(self, path):
        """Writes it, and its weights beside it if they are a file of their own."""
        path = pathlib.Path(path)
        _write(path, self.data)
        if self.external:
            _write(path.parent / self.external_file, self.external)
        return path

    def __bytes__(self):
        return self.data

    def __len__(self):
        return len(self.data)

    def load(self):
        """The program, ready to run: as `alula.load` of the file."""
        from alula.loaded import LoadedProgram

        return LoadedProgram(self.data)

    def __repr__(self):
        return f"<alula artifact {self.name}: {len(self.data)} bytes>"


def _write(path, data):
    """All or nothing: a reader never sees half a file."""
    partial = path.with_name(path.name + ".partial")
    partial.write_bytes(data)
    os.replace(partial, path)
