"""Stores a state from a forked child process, so that the engine continues while the state is being written.

Pickling a state and writing it to the disk takes 0.1 s, at the full rate 0.3 s. A forked child has a copy of the engine
as of the fork, which later changes in the parent do not affect. A window is committed only when its state is on the
disk; the driver waits for that, not the engine.

The child only pickles, seals and writes. It needs no threads and no locks, which a fork does not carry over safely.

If the state cannot be stored, the engine's process raises the error: in its next window, or at the end of its task. If
that process has died, too, Spark restarts the task, which plays the window again from the last committed state.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable

from app.base.logs import log_event
from app.pipeline.seal import Maker, StateError
from app.pipeline.state_store import StateStore

#: Exit code of a child that failed with something else than a system error; smaller codes are error numbers.
_OTHER = 255

#: Delay and priority of the child: the next window begins first.
_AFTER_S, _NICE = 0.25, 10

_log = logging.getLogger(__name__)


class StorerKilledError(RuntimeError):
    """A signal ended the process that stores a state. The windows since the last commit are played again."""


class StateChild:
    """A child process that stores one state; the construction starts it.

    Args:
        store: of the match.
        offset, epoch, maker: see :meth:`StateStore.write`.
        make: returns the state's bytes; called in the child.
        last: whether no window follows; the child then works at once.
    """

    def __init__(
        self,
        store: StateStore,
        offset: int,
        epoch: int,
        make: Callable[[], bytes],
        maker: Maker,
        *,
        last: bool = False,
    ) -> None:
        self._store, self._offset = store, offset
        self._failure: OSError | StateError | StorerKilledError | None = None
        pid = os.fork()
        if pid == 0:
            code = _OTHER
            try:
                if not last:
                    os.nice(_NICE)
                    time.sleep(_AFTER_S)
                began_s = time.monotonic()
                state = make()
                made_s = time.monotonic()
                store.write(offset, epoch, state, maker)
                log_event(
                    _log, logging.INFO, "state stored", store.match, offset=offset, epoch=epoch, state_bytes=len(state),
                    snapshot_ms=(made_s - began_s) * 1e3, write_ms=(time.monotonic() - made_s) * 1e3,
                )  # fmt: skip
                code = 0
            except OSError as error:
                code = min(error.errno or _OTHER, _OTHER)
            except BaseException as error:
                log_event(
                    _log, logging.ERROR, "state not stored", store.match, error=f"{type(error).__name__}: {error}"
                )
            finally:
                os._exit(code)
        self._watching = threading.Thread(target=self._watch, args=(pid,), name="state child", daemon=True)
        self._watching.start()

    def check(self) -> None:
        """Raises the child's error if it has failed; does not wait.

        Raises:
            OSError: the disk is full, or cannot be written to.
            StorerKilledError: a signal ended it.
            StateError: it failed otherwise; the log says how.
        """
        if self._failure is not None:
            raise self._failure

    def wait(self) -> None:
        """Waits until the state is on the disk. Raises as :meth:`check` does."""
        self._watching.join()
        self.check()

    def _watch(self, pid: int) -> None:
        _, status = os.waitpid(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        if code:
            self._failure = _failure(f"match {self._store.match}: the state at {self._offset}", code)


def _failure(subject: str, code: int) -> OSError | StateError | StorerKilledError:
    """Error for the exit code of a child: negative for a signal, else an error number or 255."""
    if code < 0:
        return StorerKilledError(f"{subject} was not stored: its process ended by signal {-code}")
    if code < _OTHER:
        return OSError(code, os.strerror(code), subject)
    return StateError(f"{subject} could not be stored (the log says why)")
