"""How long a silent source is waited for is learned, where final follows the sources (decision 061)."""

from __future__ import annotations

import pickle

import pytest

from middleware.sources.final_limit import FinalHold
from middleware.sources.idle import LEARNED_US, SILENCE_US
from middleware.sources.progress import ProgressSettings, SourceProgress, Verdict
from tests.middleware.sources.test_progress import Receiver, packet

S = 1_000_000
BEAT_US = S // 10
PATIENCE_US = 3 * S
FOLLOWS = ProgressSettings(patience_us=PATIENCE_US, discovery_us=0, final_follows_sources=True)
#: Beats after which what was learned counts.
LEARNED = LEARNED_US // BEAT_US


def play(
    beats: int,
    silences: dict[int, int],
    held_up: bool,
    settings: ProgressSettings = FOLLOWS,
    both: bool = False,
) -> tuple[list[tuple[int, int, int]], list[Verdict]]:
    """Play sources ``p`` and ``q``; during some beats ``q`` (or both) sends nothing.

    Args:
        beats: how many, of 0.1 s.
        silences: first beat of each, and its length in beats.
        held_up: True if the packets of a silence arrive at its end, all at once; else they do not exist.
        settings: of progress.
        both: True if ``p`` is silent, too.

    Returns:
        For each beat how far progress and final trail it, and the length of the silence so far; and all verdicts.
    """
    receiver = Receiver(settings, PATIENCE_US)
    behind: list[tuple[int, int, int]] = []
    verdicts: list[Verdict] = []
    numbers = dict.fromkeys("pq", 0)
    waiting: list[tuple[str, int]] = []
    silent = 0
    for beat in range(beats):
        silent = silences.get(beat, max(0, silent - 1))
        now_us = beat * BEAT_US + 1_000
        due = []
        for source in "pq":
            if silent and (both or source == "q"):
                if held_up:
                    waiting.append((source, beat))
            else:
                due.append((source, beat))
        if not silent:
            due, waiting = waiting + due, []
        arrivals = []
        for source, at in due:
            arrivals.append(packet(source, numbers[source], at * BEAT_US))
            numbers[source] += 1
        for source in "pq":  # q's arrive a little later, in a push of their own
            now_us += BEAT_US // 2
            if mine := [one for one in arrivals if one.event.source == source]:
                verdicts += receiver.push(now_us, *mine)
        behind.append((now_us - receiver.progress_us(), now_us - receiver.progress.final_us, silent))
    return behind, verdicts


def test_once_pauses_are_known_a_silent_source_holds_neither_progress_nor_final_for_the_whole_patience():
    behind, verdicts = play(LEARNED + 100, {100: 25, LEARNED + 50: 25}, held_up=False)
    assert set(verdicts) == {Verdict.NEW}
    first, second = behind[100:125], behind[LEARNED + 50 : LEARNED + 75]
    assert max(progress_us for progress_us, _, _ in first) > 2 * S, "nothing is learned yet"
    assert max(final_us for _, final_us, _ in first) > 2 * S
    for progress_us, final_us, _ in second:
        assert progress_us <= SILENCE_US + 2 * BEAT_US
        assert final_us <= SILENCE_US + 3 * BEAT_US
    assert second[-1][0] <= BEAT_US, "it is left out, and the other one counts"


@pytest.mark.parametrize("both", [False, True])
def test_where_packets_were_held_up_they_are_waited_for_and_none_is_lost(both: bool):
    """While the silences are watched one of them is waited out whole, and what it shows holds from then on."""
    behind, verdicts = play(LEARNED + 100, {100: 18, LEARNED + 50: 22}, held_up=True, both=both)
    assert set(verdicts) == {Verdict.NEW}
    assert len(verdicts) == 2 * (LEARNED + 100)
    assert both or max(final_us for _, final_us, _ in behind[LEARNED + 50 : LEARNED + 72]) > 2 * S


def test_packets_that_are_held_up_for_the_first_time_may_be_lost_and_are_waited_for_afterwards():
    begin = LEARNED + 50
    _, verdicts = play(begin + 200, {begin: 18, begin + 100: 22}, held_up=True)
    lost = [at for at, verdict in enumerate(verdicts) if verdict is not Verdict.NEW]
    assert {verdicts[at] for at in lost} == {Verdict.BELOW_REPORTED}
    assert 0 < len(lost) <= 18
    assert max(lost) < 2 * (begin + 20), "those of the second silence are waited for"


def test_a_silence_of_all_sources_is_no_pause_of_one():
    """An outage of the network: what arrives first afterwards tells how long the others may be held up."""
    _, verdicts = play(LEARNED + 100, {LEARNED + 50: 22}, held_up=True, both=True)
    assert set(verdicts) == {Verdict.NEW}
    assert len(verdicts) == 2 * (LEARNED + 100)


def test_without_known_sources_the_patience_counts():
    plain = ProgressSettings(patience_us=PATIENCE_US, discovery_us=0)
    behind, _ = play(LEARNED + 100, {LEARNED + 50: 25}, held_up=False, settings=plain)
    assert max(progress_us for progress_us, _, _ in behind[LEARNED:]) > 2 * S


def test_the_hold_is_named_with_the_time_that_is_learned_and_a_pickle_knows_it():
    receiver = Receiver(FOLLOWS, PATIENCE_US)
    for beat in range(LEARNED + 20):
        receiver.push(beat * BEAT_US, *(packet(source, beat, beat * BEAT_US) for source in "pq"))
    last_us = (LEARNED + 19) * BEAT_US
    again: SourceProgress = pickle.loads(pickle.dumps(receiver.progress))
    for progress in (receiver.progress, again):
        for beat in range(LEARNED + 20, LEARNED + 25):
            now_us = beat * BEAT_US
            progress.offer(packet("p", beat, now_us), now_us)
            progress.update_progress(now_us)
        hold = progress.final_hold(last_us + 5 * BEAT_US)
        assert hold == FinalHold("source", "q", 5 * BEAT_US, SILENCE_US + BEAT_US)
