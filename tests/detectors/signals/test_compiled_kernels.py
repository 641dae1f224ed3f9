"""Kernels count as compiled as long as their sources are as they were."""

from __future__ import annotations

import os
from pathlib import Path

from detectors.signals.kernels.break_solver import are_compiled


def test_kernels_count_as_compiled_until_a_source_of_theirs_changes(tmp_path: Path):
    sources, cache = tmp_path / "kernels", tmp_path / "cache"
    sources.mkdir()
    cache.mkdir()
    for name in ("first", "second"):
        (sources / f"{name}.py").write_text("@njit(cache=True)\ndef kernel(): ...\n")
        os.utime(sources / f"{name}.py", (100, 100))
    (sources / "plain.py").write_text("no kernel here\n")
    assert not are_compiled(sources, cache)
    for index in ("first.kernel-1.py311.nbi", "second.kernel-1.py311.nbi"):
        (cache / index).write_bytes(b"")
        os.utime(cache / index, (200, 200))
    assert are_compiled(sources, cache)
    os.utime(sources / "second.py", (300, 300))
    assert not are_compiled(sources, cache)
