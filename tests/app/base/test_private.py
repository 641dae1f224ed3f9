"""Folders that other users of the machine can neither read nor change."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from app.base import private
from app.base.java import Java
from app.base.private import NotPrivateError, check_store, is_private, private_files, private_folder, temporary_folder
from app.pipeline.folder import locked
from app.spark import session
from app.spark.class_archive import archive_option
from football.match_sheet import MatchSheet
from replay.match_store import MatchStore

NOBODY = 65_534
as_another = pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files to another user")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_created_is_for_this_user_only_whatever_the_umask(tmp_path: Path):
    before = os.umask(0)
    try:
        folder = private_folder(tmp_path / "cache" / "touchline")
        with private_files():
            (folder / "inside").write_text("secret")
        (folder / "outside").write_text("open")
    finally:
        os.umask(before)
    assert (mode(folder), mode(folder / "inside"), mode(folder / "outside")) == (0o700, 0o600, 0o666)


def test_a_folder_that_others_could_change_is_refused_and_one_that_they_could_read_is_closed(tmp_path: Path):
    (tmp_path / "open").mkdir(0o777)
    (tmp_path / "open").chmod(0o775)
    with pytest.raises(NotPrivateError, match="other users can write to it; remove it"):
        private_folder(tmp_path / "open")
    (tmp_path / "open").chmod(0o755)
    assert mode(private_folder(tmp_path / "open")) == 0o700
    (tmp_path / "above").mkdir()
    (tmp_path / "above").chmod(0o777)
    with pytest.raises(NotPrivateError, match=r"other users can write to .*above"):
        private_folder(tmp_path / "above" / "cache")
    (tmp_path / "above").chmod(0o1777)
    private_folder(tmp_path / "above" / "cache")


@as_another
def test_the_folder_of_another_user_is_refused_behind_a_link_too(tmp_path: Path):
    (tmp_path / "theirs").mkdir()
    os.chown(tmp_path / "theirs", NOBODY, NOBODY)
    (tmp_path / "link").symlink_to(tmp_path / "theirs")
    for folder in (tmp_path / "theirs", tmp_path / "link", tmp_path / "theirs" / "below"):
        with pytest.raises(NotPrivateError, match="belongs to another user"):
            private_folder(folder)


@pytest.mark.parametrize("fault", ["a link", "writable"])
def test_java_maps_no_archive_that_another_user_could_have_written(tmp_path: Path, fault: str):
    java, folder = Java(Path("/java"), 17, "a test", "17"), tmp_path / "cache"
    archive = Path(archive_option(java, [], folder).partition("=")[2])
    (tmp_path / "elsewhere").write_bytes(b"classes")
    if fault == "a link":
        archive.symlink_to(tmp_path / "elsewhere")
    else:
        archive.write_bytes(b"classes")
        archive.chmod(0o666)
    archive.with_suffix(".writer").unlink()
    assert archive_option(java, [], folder) == f"-XX:ArchiveClassesAtExit={archive}"
    assert not archive.exists(), "Java would write through the link"
    folder.chmod(0o777)
    with pytest.raises(NotPrivateError):
        archive_option(java, [], folder)


def test_sparks_home_is_built_again_if_others_can_write_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    home = session._home()
    home.chmod(0o777)
    (home / "conf").mkdir()
    (home / "conf" / "spark-env.sh").write_text("touch /tmp/code-has-run\n")
    assert session._home() == home
    assert not (home / "conf").exists()
    assert is_private(home)
    private_folder(tmp_path / "touchline").chmod(0o777)
    with pytest.raises(NotPrivateError):
        session._home()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return MatchStore.create(tmp_path / "store", MatchSheet(), {}).path


@pytest.mark.parametrize("link", ["spark", "spark/log4j2.properties", "logs", "logs/d.jsonl", "states", "updates/x"])
def test_a_store_with_a_link_is_refused_before_anything_is_written(store: Path, tmp_path: Path, link: str):
    (tmp_path / "target").mkdir()
    (store / link).parent.mkdir(exist_ok=True)
    (store / link).symlink_to(tmp_path / "target")
    with pytest.raises(NotPrivateError, match=f"{link}: a store has files and folders only"), locked(store):
        pass
    assert not list((tmp_path / "target").iterdir())


def test_a_store_may_link_to_the_folder_of_its_capture(store: Path, tmp_path: Path):
    (store / "capture").symlink_to(tmp_path, target_is_directory=True)
    check_store(store)
    (store / "capture").unlink()
    (store / "capture").symlink_to(tmp_path / "a file that a run would create")
    with pytest.raises(NotPrivateError):
        check_store(store)


def test_the_home_of_spark_that_an_earlier_version_left_in_a_store_is_removed(store: Path, tmp_path: Path):
    (tmp_path / "target").mkdir()
    (store / "spark" / "home").mkdir(parents=True)
    (store / "spark" / "home" / "conf").symlink_to(tmp_path / "target")
    check_store(store)
    assert not (store / "spark" / "home").exists()
    assert (tmp_path / "target").exists()
    (store / "spark" / "home").symlink_to(tmp_path / "target")
    with pytest.raises(NotPrivateError):
        check_store(store)


def test_a_pipe_in_a_store_is_refused(store: Path):
    os.mkfifo(store / "spark.log")
    with pytest.raises(NotPrivateError):
        check_store(store)


def test_a_store_is_for_its_user_only_and_stays_readable_if_the_user_opens_it(store: Path):
    assert mode(store) == 0o700
    store.chmod(0o775)
    check_store(store)
    assert mode(store) == 0o755


@as_another
def test_a_store_of_another_user_is_read_and_not_played(store: Path):
    os.chown(store, NOBODY, NOBODY)
    with pytest.raises(NotPrivateError, match="belongs to another user"), locked(store):
        pass


def test_a_temporary_folder_that_others_could_replace_is_refused(monkeypatch: pytest.MonkeyPatch):
    base = Path(tempfile.mkdtemp(dir="/tmp"))
    base.chmod(0o777)
    monkeypatch.setattr("tempfile.tempdir", str(base))
    with pytest.raises(NotPrivateError, match=r"other users can write to .*; set TMPDIR to another"):
        temporary_folder.__wrapped__()
    base.rmdir()  # nothing is left in it


def test_the_temporary_folder_is_private_and_goes_with_its_process():
    code = "import os; os.umask(0); from app.base.private import temporary_folder as t; print(t(), flush=True); {}"

    def run(ending: str = "") -> Path:
        environment = {**os.environ, "TMPDIR": "/tmp", "PYTHONPATH": str(Path(private.__file__).parents[2])}
        command = [sys.executable, "-c", code.format(ending)]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
        return Path(done.stdout.strip())

    mine = temporary_folder()
    assert mode(mine) == 0o700
    assert not run().exists()
    left = run("os.kill(os.getpid(), 9)")
    assert not run().exists()
    assert not left.exists(), "the next process deletes what a killed one has left"
    assert mine.exists(), "it deletes no folder of a living process"


def test_a_folder_of_the_user_whose_name_begins_alike_is_no_left_over():
    own = Path(tempfile.mkdtemp(prefix="touchline-0.2.0-", dir="/tmp"))  # where somebody unpacks the program
    (own / "app").mkdir()
    code = "from app.base.private import temporary_folder as t; t()"
    environment = {**os.environ, "TMPDIR": "/tmp", "PYTHONPATH": str(Path(private.__file__).parents[2])}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert (own / "app").is_dir()
    shutil.rmtree(own)
