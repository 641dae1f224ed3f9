"""A client of a running match, over its API (``docs/api.md``)."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from http.client import HTTPException, HTTPResponse
from typing import Any, Final, TypeVar
from urllib.error import HTTPError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import Request, urlopen

import msgspec

from app.api.answers import Events, Frontier, Health, MatchRow, Portion, PositionHistory, Positions, StandingEvent
from app.cameras.calibrations import CalibrationState
from app.cameras.group import CameraInfo
from app.cameras.journal import Entry
from football.errors import UserError
from football.match_sheet import MatchSheet
from football.untrusted import UntrustedError, decode_json
from football.update_stream import UpdateRecord

T = TypeVar("T")

#: Limit of an answer's size.
_ANSWER_BYTES_MAX: Final = 64_000_000
#: Updates that are remembered, to undo those of a stage that was replaced: more than a window ever has.
_UNDONE_MAX: Final = 100_000
#: Pause before a lost stream is opened again.
_AGAIN_S: Final = 1.0


class ClientError(UserError):
    """The run does not answer, or refuses; the message has its reason."""


class Client:
    """Reads a running match, and steers its cameras.

    Where ``match`` is empty, the run must have one match.

    Args:
        url: of any page of the run, such as ``http://127.0.0.1:8050``.
        token: of a viewer or an operator; empty where none is needed.
        timeout_s: limit of the wait for an answer.
    """

    def __init__(self, url: str, token: str = "", timeout_s: float = 10.0) -> None:
        if urlsplit(url).scheme not in ("http", "https"):
            raise ClientError(f"{url} is no address of a run: it begins with http:// or https://")
        self._base, self._timeout_s = f"{url.rstrip('/')}/api/v1", timeout_s
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def matches(self) -> list[MatchRow]:
        """Return the matches of the run."""
        return self._get("/matches", list[MatchRow])

    def sheet(self, match: str = "") -> MatchSheet:
        """Return the match sheet."""
        return self._get(f"/matches/{self._match(match)}", MatchSheet)

    def frontier(self, match: str = "") -> Frontier:
        """Return the watermark."""
        return self._get(f"/matches/{self._match(match)}/frontier", Frontier)

    def health(self, match: str = "") -> Health:
        """Return whether the match is live, with the reasons if it is not."""
        return self._get(f"/matches/{self._match(match)}/health", Health)

    def positions(self, match: str = "") -> Positions:
        """Return the newest positions."""
        return self._get(f"/matches/{self._match(match)}/positions", Positions)

    def position_history(self, begin: str, seconds: float = 1.0, every_ms: int = 0, match: str = "") -> list[Positions]:
        """Return the committed positions from ``begin`` on, in order of time; ``every_ms`` takes fewer frames."""
        query = {"from": begin, "seconds": str(seconds), "every_ms": str(every_ms)}
        return self._get(f"/matches/{self._match(match)}/positions/history", PositionHistory, query).frames

    def events(
        self, kind: str | Iterable[str] = (), *, team: str = "", player: str | int = "", begin: str = "",
        end: str = "", limit: int = 1_000, match: str = "",
    ) -> list[StandingEvent]:  # fmt: skip
        """Return the events that stand, in order of time. The choice is that of ``Match.events``."""
        query = _choice(kind, team, player, begin, end) | {"limit": str(limit)}
        return self._get(f"/matches/{self._match(match)}/events", Events, query).events

    def updates(
        self, kind: str | Iterable[str] = (), *, team: str = "", player: str | int = "", begin: str = "",
        end: str = "", since: int = 0, match: str = "",
    ) -> Iterator[UpdateRecord]:  # fmt: skip
        """Yield the updates from a number on, as they arrive, until the match is over.

        A lost connection is opened again, and nothing is missed. What a replaced stage had asserted is withdrawn by
        updates of the opposite ``diff``.
        """
        path, query = f"/matches/{self._match(match)}/updates", _choice(kind, team, player, begin, end)
        epoch: int | None = None
        known: deque[UpdateRecord] = deque(maxlen=_UNDONE_MAX)
        while True:
            at = query | {"since": str(since)} | ({} if epoch is None else {"epoch": str(epoch)})
            try:
                for portion in self._stream(f"{path}/stream", Portion, at):
                    while known and known[-1].seq >= portion.continues_from:
                        last = known.pop()
                        yield UpdateRecord(last.seq, -last.diff, portion.now_us, last.event)
                    known.extend(portion.updates)
                    since, epoch = portion.next, portion.epoch
                    yield from portion.updates
                    if portion.ended:
                        return
            except OSError:  # the connection is lost; a run that does not come back fails below
                pass
            time.sleep(_AGAIN_S)
            self.frontier(match)

    def cameras(self) -> list[CameraInfo]:
        """Return all cameras of the run."""
        return self._get("/cameras", list[CameraInfo])

    def camera(self, name: str) -> CameraInfo:
        """Return one camera."""
        return self._get(f"/cameras/{quote(name, safe='')}", CameraInfo)

    def camera_figures(self) -> dict[str, dict[str, float | str]]:
        """Return by camera the figures of its steering so far."""
        return self._get("/cameras/figures", dict[str, dict[str, float | str]])

    def journal(self, camera: str = "", limit: int = 100) -> list[Entry]:
        """Return the newest orders, moves by rules and failures, oldest first."""
        return self._get("/cameras/journal", list[Entry], {"camera": camera, "limit": str(limit)})

    def hold(self, camera: str) -> CameraInfo:
        """Let a camera brake and stand still."""
        return self._order(camera, "hold")

    def release(self, camera: str, *, force: bool = False) -> CameraInfo:
        """Hand a camera back to rules and planner; ``force`` does so on air, too."""
        return self._order(camera, "release", {"force": str(force).lower()})

    def drive(self, camera: str, pan: float = 0.0, tilt: float = 0.0, zoom: float = 0.0) -> CameraInfo:
        """Turn and zoom at shares (-1 to 1) of the greatest speeds; repeat it at least every half second."""
        return self._order(camera, "drive", body={"pan": pan, "tilt": tilt, "zoom": zoom})

    def preset(self, camera: str, preset: str, *, force: bool = False) -> CameraInfo:
        """Send a camera to a preset; ``force`` does so on air, too."""
        return self._order(camera, f"preset/{quote(preset, safe='')}", {"force": str(force).lower()})

    def track(self, camera: str, player: str, *, force: bool = False) -> CameraInfo:
        """Let a camera follow a player, by object id."""
        return self._order(camera, f"player/{quote(player, safe='')}", {"force": str(force).lower()})

    def point(self, camera: str, x_m: float, y_m: float, width_m: float = 30.0, *, force: bool = False) -> CameraInfo:
        """Let a camera show a point of the pitch."""
        query = {"x_m": str(x_m), "y_m": str(y_m), "width_m": str(width_m), "force": str(force).lower()}
        return self._order(camera, "point", query)

    def style(self, camera: str, style: str) -> CameraInfo:
        """Let a camera move in a style: calm, normal or sport."""
        return self._order(camera, f"style/{quote(style, safe='')}")

    def on_air(self, camera: str, *, on_air: bool) -> CameraInfo:
        """Set the tally of a camera."""
        return self._order(camera, "on-air" if on_air else "off-air")

    def calibration(self, camera: str) -> CalibrationState:
        """Return the marks of a camera that is being calibrated, and the mount that they give."""
        return self._get(f"/cameras/{quote(camera, safe='')}/calibration", CalibrationState)

    def start_calibration(self, camera: str) -> CalibrationState:
        """Hold a camera, and begin to calibrate its mount."""
        return self._ask("POST", f"/cameras/{quote(camera, safe='')}/calibration", CalibrationState)

    def centre_mark(self, camera: str, mark: str) -> CalibrationState:
        """Record that a mark of the pitch is in the middle of the camera's picture now."""
        path = f"/cameras/{quote(camera, safe='')}/calibration/marks/{quote(mark, safe='')}"
        return self._ask("POST", path, CalibrationState)

    def finish_calibration(self, camera: str) -> CalibrationState:
        """Let a camera steer with the mount that its marks give, and write it into the file of the cameras."""
        return self._ask("POST", f"/cameras/{quote(camera, safe='')}/calibration/finish", CalibrationState)

    def cancel_calibration(self, camera: str) -> CalibrationState:
        """Forget the marks of a camera."""
        return self._ask("DELETE", f"/cameras/{quote(camera, safe='')}/calibration", CalibrationState)

    def _match(self, name: str) -> str:
        if name:
            return quote(name, safe="")
        matches = self.matches()
        if len(matches) != 1:
            raise ClientError(f"the run has {len(matches)} matches: name one of {', '.join(m.match for m in matches)}")
        return quote(matches[0].match, safe="")

    def _order(self, camera: str, path: str, query: Mapping[str, str] | None = None, body: object = None) -> CameraInfo:
        return self._ask("POST", f"/cameras/{quote(camera, safe='')}/{path}", CameraInfo, query, body)

    def _get(self, path: str, kind: type[T], query: Mapping[str, str] | None = None) -> T:
        return self._ask("GET", path, kind, query)

    def _ask(
        self, method: str, path: str, kind: type[T], query: Mapping[str, str] | None = None, body: object = None
    ) -> T:
        try:
            with self._opened(method, path, query, body) as response:
                return decode_json(response.read(_ANSWER_BYTES_MAX), kind, _ANSWER_BYTES_MAX)
        except (OSError, HTTPException) as error:
            raise ClientError(f"{self._base}{path}: no answer: {error}") from error
        except UntrustedError as error:
            raise ClientError(f"{self._base}{path}: no answer of a run: {error}") from error

    def _stream(self, path: str, kind: type[T], query: Mapping[str, str]) -> Iterator[T]:
        """Yield the messages of server-sent events until the server ends the stream. Raises OSError if it is lost."""
        with self._opened("GET", path, query, None) as response:
            for line in response:
                if line.startswith(b"data: "):
                    yield decode_json(line[6:], kind, _ANSWER_BYTES_MAX)

    def _opened(self, method: str, path: str, query: Mapping[str, str] | None, body: object) -> HTTPResponse:
        url = f"{self._base}{path}" + (f"?{urlencode(query)}" if query else "")
        headers = self._headers | ({"Content-Type": "application/json"} if body is not None else {})
        data = msgspec.json.encode(body) if body is not None else None
        try:
            response: HTTPResponse = urlopen(Request(url, data, headers, method=method), timeout=self._timeout_s)
            return response
        except HTTPError as error:
            raise ClientError(f"{self._base}{path}: {_reason(error)}") from error


def connect(url: str, token: str = "", timeout_s: float = 10.0) -> Client:
    """Connect to a run by the address of its page.

    Args:
        url: such as ``http://127.0.0.1:8050``.
        token: of a viewer or an operator; empty where none is needed.
        timeout_s: limit of the wait for an answer.

    Raises:
        TouchlineError: no run answers there, or the token is not valid.
    """
    client = Client(url, token, timeout_s)
    client.matches()
    return client


def _choice(kind: str | Iterable[str], team: str, player: str | int, begin: str, end: str) -> dict[str, str]:
    kinds = kind if isinstance(kind, str) else ",".join(kind)
    chosen = {"kind": kinds, "team": team, "player": str(player), "from": begin, "to": end}
    return {name: value for name, value in chosen.items() if value}


def _reason(error: HTTPError) -> str:
    content = error.read(4_000)
    try:
        detail: Any = decode_json(content, dict[str, Any]).get("detail", "")
        return f"{error.code}: {detail}"
    except UntrustedError:
        return f"{error.code}: {content.decode(errors='replace').strip()}"
