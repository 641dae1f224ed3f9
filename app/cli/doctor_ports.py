"""Ports of running matches: each address on which a process of a run listens, from Linux's ``/proc``.

The process that has locked a store is the run that plays it; its descendants belong to it. Of processes of other users
``/proc`` shows no sockets.
"""

from __future__ import annotations

import ipaddress
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from app.cli.finding import Finding
from dashboard.access import is_loopback

_PROC = Path("/proc")
_LISTENS = "0A"


class Listener(NamedTuple):
    """A socket that accepts TCP connections, and the program that holds it."""

    program: str
    address: str
    port: int

    def __str__(self) -> str:
        return f"{self.program} on {self.address} port {self.port}"


def examine_ports(stores: Sequence[Path]) -> Iterator[Finding]:
    """Examines the ports of the runs that play some stores."""
    what = "ports"
    if not (_PROC / "locks").exists():
        yield Finding(what, "note", "this system has no /proc, so they are not examined", "look at them by lsof -i")
        return
    running = [(store, pid) for store in stores if (pid := pid_of_run(store)) is not None]
    for store, pid in running:
        listeners = sorted(listeners_of(pid))
        shown = ", ".join(map(str, listeners)) or "none"
        beyond = [one for one in listeners if not is_loopback(one.address)]
        if any(one.program == "java" for one in beyond):
            yield Finding(what, "bad", f"{store.name}: {shown}", "stop the run: Spark must listen on loopback only")
        elif beyond:
            yield Finding(what, "note", f"{store.name}: {shown}", "leave --host at 127.0.0.1, behind a TLS proxy")
        else:
            yield Finding(what, "ok", f"{store.name}: {shown}")
    if not running:
        yield Finding(what, "ok", "no match is running in these stores")


def pid_of_run(store: Path) -> int | None:
    """The process that has locked a store; None if there is none."""
    inode = str(store.stat().st_ino)
    for line in (_PROC / "locks").read_text().splitlines():
        # 7: FLOCK  ADVISORY  WRITE 4711 08:01:1234 0 EOF
        _, kind, _, mode, pid, file, *_ = line.replace("->", " ").split()
        if (kind, mode, file.rpartition(":")[2]) == ("FLOCK", "WRITE", inode) and int(pid) > 0:
            return int(pid)
    return None


def listeners_of(pid: int) -> set[Listener]:
    """The listening sockets of a process and its descendants."""
    addresses = dict(_listening())
    found = set()
    for one in _family(pid):
        with suppress(OSError):  # it has ended, or belongs to another user
            program = (_PROC / str(one) / "comm").read_text().strip()
            for link in (_PROC / str(one) / "fd").iterdir():
                with suppress(OSError):  # the descriptor is closed
                    if (name := str(link.readlink())) in addresses:
                        found.add(Listener(program, *addresses[name]))
    return found


def _family(pid: int) -> Iterator[int]:
    """Yields a process and its descendants."""
    children = defaultdict(list)
    for folder in _PROC.glob("[0-9]*"):
        try:
            # The name of the program, in brackets, may have spaces and brackets.
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
        except OSError:  # it has ended
            continue
        children[int(parent)].append(int(folder.name))
    left = [pid]
    while left:
        one = left.pop()
        yield one
        left += children[one]


def _listening() -> Iterator[tuple[str, tuple[str, int]]]:
    """Yields each listening socket as ``/proc/PID/fd`` names it, with its address and port."""
    for table in ("tcp", "tcp6"):
        try:
            lines = (_PROC / "net" / table).read_text().splitlines()[1:]
        except OSError:  # a system without IPv6
            continue
        for line in lines:
            _, local, _, state, *rest = line.split()
            if state == _LISTENS:
                address, _, port = local.partition(":")
                yield f"socket:[{rest[5]}]", (_address(address), int(port, 16))


def _address(digits: str) -> str:
    """The address of a socket: the kernel shows its words of 32 bits in the byte order of the machine."""
    raw = bytes.fromhex(digits)
    if sys.byteorder == "little":
        raw = b"".join(raw[at : at + 4][::-1] for at in range(0, len(raw), 4))
    address = ipaddress.ip_address(raw)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)
