"""Archive of the classes that Spark's Java loads, which halves the time until it is ready.

Java can write the classes that a process has loaded and linked to a file when the process ends, and map that file at
its next start: dynamic class data sharing (JEP 350) from Java 13, the ahead-of-time cache (JEP 483, 514) from Java 25.
The first run that finds no archive has its Java write one. It takes Java some seconds after the run has ended. Java
checks an archive before it uses it, and starts without one that is damaged or incomplete.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from app.base.java import Java
from app.base.private import is_private, private_folder

#: First version of Java with a cache that needs no archive of the runtime's own; trimmed runtimes have none.
_AHEAD_OF_TIME = 25

#: Archives that are kept, one for each Java and each set of jars; one has 150 MB.
_ARCHIVES = 3


def archive_option(java: Java, jars: Iterable[Path], folder: Path) -> str:
    """Java's option to use the archive of its classes, or to write it; empty if another process is to write it.

    Args:
        java: runtime of Spark.
        jars: of Spark, in the order of the class path.
        folder: of the archives.
    """
    digest = hashlib.sha256(f"{java.home} {java.build}".encode())
    for jar in jars:
        status = jar.stat()
        digest.update(f"{jar} {status.st_size} {status.st_mtime_ns}".encode())
    use, write = ("AOTCache", "AOTCacheOutput") if java.version >= _AHEAD_OF_TIME else (
        "SharedArchiveFile", "ArchiveClassesAtExit"
    )  # fmt: skip
    folder = private_folder(folder)
    archive = folder / f"{digest.hexdigest()[:16]}.classes"
    if is_private(archive):  # Java runs what is in it
        with suppress(OSError):  # archives that are used are kept
            os.utime(archive)
        return f"-XX:{use}={archive}"
    if not _is_our_turn(archive.with_suffix(".writer")):
        return ""
    for old in sorted(folder.glob("*.classes"), key=lambda path: path.stat().st_mtime)[: -_ARCHIVES + 1]:
        old.unlink(missing_ok=True)
    archive.unlink(missing_ok=True)
    return f"-XX:{write}={archive}"


def _is_our_turn(claim: Path) -> bool:
    """True if no living process has claimed to write the archive; this process then has."""
    with suppress(OSError, ValueError):
        os.kill(int(claim.read_text()), 0)
        return False
    claim.write_text(str(os.getpid()))
    return True
