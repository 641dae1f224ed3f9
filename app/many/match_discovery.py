"""Which matches there shall be now: those of the list, and those that come in its topics.

A source that is a topic stands for every match in it, also for those that begin later; with ``?match=NAME`` for that
one. Once a match was there it stays, with the name that it got then, whatever becomes of the list.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import msgspec

from app.kafka.address import Address, is_kafka, parse
from app.many.match_list import with_names

if TYPE_CHECKING:
    from app.many.topics import Scout

#: Gives the matches that there shall be now, as options.
Wishes = Callable[[], Sequence[Mapping[str, Any]]]


class Wished:
    """The matches of a run, each with a name of its own and, out of a topic, its ``place`` there.

    Args:
        wishes: of the list.
        beside: keeps who looks into topics, until the run ends.
    """

    def __init__(self, wishes: Wishes, beside: ExitStack) -> None:
        self._wishes, self._beside = wishes, beside
        self._known: dict[tuple[bytes, int], Mapping[str, Any]] = {}
        self._waiting: dict[str, Scout] = {}
        #: Who looks into topics, by address.
        self.scouts: dict[str, Scout] = {}

    def now(self) -> list[dict[str, Any]]:
        """All matches that there have been up to now; new ones at the end.

        Raises:
            ValueError, KafkaError: the list cannot be used.
        """
        times: Counter[bytes] = Counter()
        for wish in self._wishes():
            for one in self._of(wish):
                key = msgspec.json.encode(
                    {name: value for name, value in one.items() if name != "place"}, order="sorted"
                )
                self._known.setdefault((key, times[key]), one)
                times[key] += 1
        return with_names(self._known.values())

    def wait_first(self, stop: threading.Event) -> None:
        """Returns when a topic has shown a match, or none does for too long."""
        waiting = [threading.Thread(target=scout.wait_first, args=(stop,)) for scout in self.scouts.values()]
        for thread in waiting:
            thread.start()
        for thread in waiting:
            thread.join()

    def missing(self) -> dict[str, str]:
        """Topics that have shown no match that was wished for, and why not."""
        return {url: scout.trouble or "no match sheet came" for url, scout in self._waiting.items()}

    def _of(self, wish: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        source = str(wish["source"])
        if not is_kafka(source):
            return [wish]
        address = parse(source)
        scout = self._scout(msgspec.structs.replace(address, match=""))
        places = [place for place in scout.places().values() if address.match in ("", place.match)]
        if places:
            self._waiting.pop(source, None)
        else:
            self._waiting[source] = scout
        return [
            {
                **wish, "source": msgspec.structs.replace(address, match=place.match).url,
                "name": wish.get("name") or place.match, "place": place,
            }
            for place in places
        ]  # fmt: skip

    def _scout(self, address: Address) -> Scout:
        if address.url not in self.scouts:
            from app.many.topics import Scout  # brings a client of Kafka

            self.scouts[address.url] = self._beside.enter_context(Scout(address))
        return self.scouts[address.url]
