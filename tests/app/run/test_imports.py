"""Checks what the processes of a run import: each import delays a start."""

from __future__ import annotations

import subprocess
import sys

import pytest

PAGE = {"dash", "plotly", "fastapi", "camera.controller", "simulator.play"}


@pytest.mark.parametrize(
    ("module", "unneeded"),
    [
        ("app.run.live", PAGE | {"pandas", "scipy.optimize", "scipy.linalg"}),
        ("dashboard.page", {"pandas", "scipy"}),
        ("camera.pictures", {"scipy"}),
        ("app.spark.source", {"numba", "detectors.catalogue", "pandas"}),
    ],
)
def test_a_process_imports_nothing_that_it_may_not_need(module: str, unneeded: set[str]):
    code = f"import sys, {module}; print(*sorted({unneeded!r} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "\n"
