"""Repairs a unit buffer after late and withdrawn inputs: restores the state before them and redoes what follows.

Theory of operation
-------------------
An input is *late* if it belongs before AEP: the detector has already been given later ones. The unit buffer has
inserted it and knows the first input that is to be redone. The *restore point* is the state before that input. From
there on :func:`repair` gives the detector the inputs again, and stores the new states and outputs in the buffer. What
differs leaves the unit: a -1 for each output that does not follow any more, a +1 for each that follows now (paper 000,
section 4.3).

    inputs    a10   b15   c20          b15 arrives after c20 was released
    states     A           C           restore A; step b15 -> B; step c20 -> C'
    outputs    -           x           if c20 now gives y: send -x, +y; if it gives x again: send nothing

How much is compared depends on the mode (:mod:`middleware.ordering.retraction`): ``full`` compares nothing and redoes
to the end; ``differences`` compares outputs; ``on-demand`` compares states too, and stops where they agree.

All late and withdrawn inputs of a push are repaired in one pass. Withdrawals are sent first, because an earlier input
may now give what a later one gave before; a unit above must not hold both.
"""

from __future__ import annotations

from middleware.consolidation import Emission, differences
from middleware.detector import NOTHING
from middleware.events import Event, Update
from middleware.isolation import IsolatedDetector, failed_step
from middleware.load_accounting import Counters
from middleware.ordering.retraction import TRIAL_EVERY, Mode
from middleware.ordering.unit_buffer import FRESH, UnitBuffer


def repair(
    buffer: UnitBuffer, detector: IsolatedDetector, counters: Counters, mode: Mode, k_less_clock_us: int, *, auto: bool
) -> list[Update]:
    """Step the detector again over what is fresh or stale in ``buffer``; return the updates that follow.

    Args:
        buffer: has ``needs_repair``.
        detector: is given the inputs again.
        counters: of the unit.
        mode: how to retract.
        k_less_clock_us: K less the unit's clock. An input's event time plus this is what is left of its slack.
        auto: True if the mode is chosen automatically. Then some repairs are trials: made in mode ``on-demand``, they
            count what the other modes would have cost.

    Returns:
        Withdrawals first, then assertions, each with its K+.
    """
    counters.repairs += 1
    withdrawn: list[Event] = buffer.orphaned
    asserted: list[Emission] = []
    trial = False
    if buffer.first_stale is not None and (buffer.fresh or buffer.stale):
        trial = auto and counters.repairs % TRIAL_EVERY[mode] == 0
        if trial:
            mode = "on-demand"
        first = buffer.index_of(buffer.first_stale)
        steps = counters.stepped + counters.redone
        if trial:
            counters.trial_sent_full += len(withdrawn) + buffer.outputs_from(first)
        if mode == "full":
            asserted = _redo_all(buffer, detector, counters, first, withdrawn)
        else:
            asserted = _redo_differences(buffer, detector, counters, first, withdrawn, stops=mode == "on-demand")
        if trial:  # the other modes would redo, and ``full`` would send, everything from here on
            counters.trials += 1
            counters.trial_steps += counters.stepped + counters.redone - steps
            counters.trial_steps_full += len(buffer.states) - first
            counters.trial_sent_full += buffer.outputs_from(first)
    buffer.repaired()
    if mode != "full":
        withdrawn, asserted = differences(withdrawn, asserted, detector.same)
    if trial:
        counters.trial_sent += len(withdrawn) + len(asserted)
    counters.retracted += len(withdrawn)
    counters.repaired += len(asserted)
    updates = [Update(event, -1) for event in withdrawn]
    updates += [Update(event, 1, max(0, ts_us + k_less_clock_us)) for ts_us, event in asserted]
    return updates


def _redo_differences(
    buffer: UnitBuffer, detector: IsolatedDetector, counters: Counters, at: int, withdrawn: list[Event], *, stops: bool
) -> list[Emission]:
    """Give the detector the inputs from index ``at`` on again, and find the outputs that differ.

    ``known`` is the stored state from which the detector stepped to the next input before. If the redone state equals
    it, the following inputs keep their states and outputs, up to the next fresh or stale input.

    Args:
        buffer, detector, counters: as for :func:`repair`.
        at: index of the first stale input.
        withdrawn: receives outputs that do not follow any more.
        stops: True to compare states, to skip inputs that keep theirs, and to stop where nothing can differ any more.

    Returns:
        Outputs that follow now.
    """
    keys, events, states, all_outputs, stale = buffer.keys, buffer.events, buffer.states, buffer.outputs, buffer.stale
    last, left = len(states), buffer.fresh + len(stale)
    fresh = redone = 0
    asserted: list[Emission] = []
    state = known = buffer.state_before(at)
    step, same = detector.step_from(state), detector.same
    while at < last:
        event = events[at]
        try:
            state, outputs = step(state, event)
            outputs = detector.permitted(event, outputs) if outputs else NOTHING
        except Exception as error:
            state, outputs, step = detector.fail(event, error), NOTHING, failed_step
        old_state, old_outputs = states[at], all_outputs[at]
        if old_state is FRESH:
            fresh += 1
            left -= 1
        else:
            redone += 1
            known = old_state
            if stale and keys[at] in stale:
                left -= 1
        states[at] = state
        if (old_outputs or outputs) and not same(old_outputs, outputs):
            withdrawn.extend(old_outputs)
            asserted.extend([(event.ts_us, out) for out in outputs])
            all_outputs[at] = outputs
        at += 1
        if stops and (state is known or same(state, known)):
            if not left:
                break
            while states[at] is not FRESH and keys[at] not in stale:  # these inputs keep their states
                at += 1
            state = known = states[at - 1]
            step = detector.step_from(state)
    counters.stepped += fresh
    counters.redone += redone
    counters.compared += fresh + redone if stops else 0
    return asserted


def _redo_all(
    buffer: UnitBuffer, detector: IsolatedDetector, counters: Counters, first: int, withdrawn: list[Event]
) -> list[Emission]:
    """Give the detector all inputs from index ``first`` on again; add all their old outputs to ``withdrawn``."""
    states, all_outputs = buffer.states, buffer.outputs
    fresh = sum(state is FRESH for state in states[first:])
    counters.stepped += fresh
    counters.redone += len(states) - first - fresh
    asserted: list[Emission] = []
    state = buffer.state_before(first)
    for at in range(first, len(states)):
        event = buffer.events[at]
        state, outputs = detector.step(state, event)
        withdrawn.extend(all_outputs[at])
        asserted.extend((event.ts_us, out) for out in outputs)
        states[at], all_outputs[at] = state, outputs
    return asserted
