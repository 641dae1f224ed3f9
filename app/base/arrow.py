"""Keeps Arrow from importing pandas, which takes a third of a second of processor time."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder

import pyarrow as pa


def without_pandas() -> None:
    """Make this process's first arrays without pandas, unless it is imported.

    Arrow asks before the first array of Python values whether these might be pandas' own, and before the first array
    that NumPy gets how pandas holds strings. It therefore imports pandas if it is installed. It asks once. If there is
    none then, Arrow imports it when somebody wants a data frame.
    """
    if "pandas" in sys.modules:
        return
    absent = _Absent()
    sys.meta_path.insert(0, absent)
    try:
        pa.array((), pa.int32()).to_numpy()
    finally:
        sys.meta_path.remove(absent)


class _Absent(MetaPathFinder):
    """Finds no pandas."""

    def find_spec(self, name: str, path: object, target: object = None) -> None:
        """Raise for pandas; leave other modules to other finders."""
        if name == "pandas":
            raise ModuleNotFoundError(name)
