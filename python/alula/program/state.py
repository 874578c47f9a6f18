"""The state of an instance as a whole: copied, reset, saved, restored."""

import copy

from alula import safetensors
from alula.bindings import runtime
from alula.program import types
from alula.program.slots import Slot


def _defined(info):
    for slot in info.table.slots:
        number = info.slot_number(slot)
        if info.state.is_defined(number):
            yield slot, number


def clone(info):
    with info.lock:
        state = info.state
        made = copy.copy(info)
        import threading

        made.lock = threading.RLock()
        made._state = runtime.State(state.executable)
        for slot, number in _defined(info):
            if slot.mutable:
                made._state.set(number, state.get(number))
        return made


def reset(info):
    with info.lock:
        info._state = runtime.State(info.state.executable)


def read_all(info):
    with info.lock:
        return {slot.path: info.read(slot) for slot, _ in _defined(info)}


def write_all(info, values, *, strict=True, rename=None):
    """Sets globals by path; all of them, or none if one does not fit."""
    by_path = {}
    for slot in info.table.slots:
        for path in (slot.path, slot.symbol, *slot.aliases):
            by_path[path] = slot
    chosen = {}
    for path, value in values.items():
        slot = by_path.get(rename(path) if rename else path)
        if slot is not None and slot.mutable:
            chosen[slot] = (value, path)
        elif slot is None and strict:
            raise KeyError(f"there is no global '{path}'; there are {', '.join(sorted(by_path))}")
    with info.lock:
        if strict:
            missing = [s.path for s, _ in _defined(info) if s.mutable and s not in chosen]
            if missing:
                raise KeyError(f"no values for the globals {', '.join(missing)}")
        # On a copy first, so that nothing is half done.
        made = clone(info)
        for slot, (value, path) in chosen.items():
            made.write(slot, value, path)
        info._state = made._state


def save(info, path):
    with info.lock:
        arrays = {slot.path: info.state.get(number) for slot, number in _defined(info)}
        undefined = [s.path for s in info.table.slots if s.path not in arrays]
    metadata = {"program": info.name, "undefined": ",".join(undefined)}
    safetensors.write(path, arrays, metadata)


def load(info, path, *, strict=True, rename=None):
    arrays = safetensors.read(path)
    by_path = {slot.path: slot for slot in info.table.slots}
    values = {}
    for name, array in arrays.items():
        slot = by_path.get(rename(name) if rename else name)
        is_key = isinstance(slot, Slot) and slot.type.key
        values[name] = types.from_raw([array], [slot.type])[0] if is_key else array
    write_all(info, values, strict=strict, rename=rename)
