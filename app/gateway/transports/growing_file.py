"""A file that grows: what a vendor's recorder writes, followed like ``tail -F``."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import BinaryIO

from app.base.errors import one_line
from app.gateway.address import FeedAddress, FeedError, FeedSettings
from app.gateway.framing import Cutter, framed
from app.gateway.profile import Profile
from app.gateway.transports.interface import Backoff, Deliver, LinkFigures

#: Pause after the end of the file, and bytes that are read at a time.
_LOOK_S = 0.005
_AT_ONCE = 256 * 1024


class FileFollower:
    """Follows a file, waits for one that is not there yet, and begins anew with a file that replaces it.

    See :class:`app.gateway.transports.interface.Transport`.
    """

    def __init__(self, address: FeedAddress, profile: Profile, settings: FeedSettings) -> None:
        self._path, self._profile = Path(address.path), profile
        self._from_end = address.start == "end"
        self.figures, self.port = LinkFigures(), 0

    async def run(self, deliver: Deliver) -> None:
        """See :class:`app.gateway.transports.interface.Transport`."""
        backoff = Backoff()
        while True:
            try:
                with self._path.open("rb") as file:
                    if self._from_end:
                        file.seek(0, os.SEEK_END)
                    self.figures.opened()
                    backoff.reset()
                    await self._follow(file, deliver)
                self.figures.closed("the file was replaced")
            except OSError as error:
                self.figures.failures += 1
                self.figures.trouble = one_line(error)
                await backoff.wait()
            self._from_end = False

    async def _follow(self, file: BinaryIO, deliver: Deliver) -> None:
        """Hand on the file's messages until another file has its name, or it has become shorter."""
        cutter = Cutter(self._profile.framing)
        number = os.fstat(file.fileno()).st_ino
        while True:
            data = file.read(_AT_ONCE)
            before = cutter.overlong
            for message in cutter.feed(data):
                deliver(message, "")
            self.figures.overlong += cutter.overlong - before
            if data:
                await asyncio.sleep(0)
                continue
            await asyncio.sleep(_LOOK_S)
            try:
                status = self._path.stat()
            except FileNotFoundError:
                continue
            if status.st_ino != number or status.st_size < file.tell():
                return


class FileSender:
    """Appends messages to a file; see :class:`app.gateway.transports.interface.Sender`."""

    def __init__(self, address: FeedAddress, profile: Profile, settings: FeedSettings) -> None:
        self._path, self._profile = Path(address.path), profile
        self._file: BinaryIO | None = None
        self.port = 0

    async def __aenter__(self) -> FileSender:
        try:
            self._file = self._path.open("ab", buffering=0)
        except OSError as error:
            raise FeedError(f"{self._path}: {error.strerror}") from None
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._file is not None:
            self._file.close()

    async def ready(self) -> None:
        """See :class:`app.gateway.transports.interface.Sender`."""

    async def send(self, message: bytes, topic: str) -> None:
        """See :class:`app.gateway.transports.interface.Sender`."""
        assert self._file is not None
        self._file.write(framed(message, self._profile.framing))
