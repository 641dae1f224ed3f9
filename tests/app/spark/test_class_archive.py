"""The archive of Spark's classes: who writes it, who uses it, and when it is another one."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from app.base.java import Java
from app.spark.class_archive import archive_option

JAVA = Java(Path("/java"), 17, "a test", 'openjdk version "17.0.1"')


@pytest.fixture
def jars(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / name for name in ("b.jar", "a.jar")]
    for path in paths:
        path.write_bytes(b"classes")
    return paths


def test_the_first_run_writes_the_archive_and_later_ones_use_it(tmp_path: Path, jars):
    option, _, path = archive_option(JAVA, jars, tmp_path / "cache").partition("=")
    assert option == "-XX:ArchiveClassesAtExit"
    Path(path).write_bytes(b"archive")
    assert archive_option(JAVA, jars, tmp_path / "cache") == f"-XX:SharedArchiveFile={path}"


def test_a_java_with_a_cache_of_its_own_gets_that_one(tmp_path: Path, jars):
    java = replace(JAVA, version=25)
    option, _, path = archive_option(java, jars, tmp_path / "cache").partition("=")
    assert option == "-XX:AOTCacheOutput"
    Path(path).write_bytes(b"archive")
    assert archive_option(java, jars, tmp_path / "cache") == f"-XX:AOTCache={path}"


def test_only_one_of_several_runs_writes_the_archive(tmp_path: Path, jars):
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        path = archive_option(JAVA, jars, tmp_path / "cache").partition("=")[2]
        Path(path).with_suffix(".writer").write_text(str(other.pid))
        assert archive_option(JAVA, jars, tmp_path / "cache") == ""
    finally:
        other.communicate()
    assert archive_option(JAVA, jars, tmp_path / "cache").endswith(path), "the writer has died without an archive"
    assert Path(path).with_suffix(".writer").read_text() == str(os.getpid())


@pytest.mark.parametrize("change", ["another Java", "a changed jar", "another order"])
def test_another_class_path_has_another_archive(tmp_path: Path, jars, change: str):
    before = archive_option(JAVA, jars, tmp_path / "cache")
    if change == "another Java":
        after = archive_option(replace(JAVA, build='openjdk version "17.0.2"'), jars, tmp_path / "cache")
    elif change == "a changed jar":
        jars[0].write_bytes(b"other classes")
        after = archive_option(JAVA, jars, tmp_path / "cache")
    else:
        after = archive_option(JAVA, reversed(jars), tmp_path / "cache")
    assert before != after


def test_archives_that_nobody_has_used_for_long_make_place(tmp_path: Path, jars):
    folder = tmp_path / "cache"
    folder.mkdir()
    for number in range(5):
        (folder / f"{number}.classes").write_bytes(b"archive")
        os.utime(folder / f"{number}.classes", (number, number))
    archive_option(JAVA, jars, folder)
    assert sorted(path.stem for path in folder.glob("*.classes")) == ["3", "4"]
