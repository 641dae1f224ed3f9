"""Teams of a tracking table: under names of their own, and players who have one shirt number in both.

The column ``team`` says home or away. Many tables have the names of the teams there, or numbers, and the number of the
shirt as the id of a player, which is the same for a player of either team.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from football.input_quality import InputFinding
from football.match_sheet import TEAMS, Team
from football.packets import raw_kind

Codes = npt.NDArray[np.int64]

#: An id stands for a player of each team if so many of its rows have the time of a row of another team. One who is
#: given to the wrong team for a while has no second row then.
_SHARED_MIN = 0.3

#: No match is played with fewer players of a team (IFAB Law 3, 2025/26): fewer objects are officials, or a mistake.
_PLAYERS_MIN = 7


def sides_of(teams: Sequence[str]) -> tuple[dict[str, Team], tuple[InputFinding, ...]]:
    """The side of each team of a table by how the table calls it, and a finding if it says neither home nor away.

    Then the team of the first object is the home team, if there are two teams. Otherwise nobody has a side.

    Args:
        teams: of each object but balls its team as the table has it, in the order of the file; empty if it has none.
    """
    known: dict[str, Team] = {team: side for team in teams for side in TEAMS if team.strip().lower() == side}
    counts = Counter(team for team in teams if team.strip())
    full = [team for team, count in counts.items() if count >= _PLAYERS_MIN]
    if known or len(full) != len(TEAMS):
        return known, ()
    found = f"The teams are {full[0]!r} and {full[1]!r}; {full[0]!r} is taken for the home team"
    mend = "Write home and away in the column team, or give a match sheet"
    return dict(zip(full, TEAMS, strict=True)), (InputFinding("teams", "note", found, "", mend),)


def apart(
    objects: list[str], codes: Codes, teams: list[str], team_codes: Codes, times_us: npt.NDArray[np.float64]
) -> tuple[list[str], Codes, tuple[InputFinding, ...]]:
    """The objects of a table and the object of each row, each id that stands for a player of either team as two.

    Args:
        objects, teams: ids and teams, as the table has them.
        codes, team_codes: of each row the index of its object and of its team; -1 where there is none.
        times_us: of each row.

    Returns:
        Ids, the new ones (``home_7``) last; codes; and a finding if any id was shared.
    """
    known = np.flatnonzero((codes >= 0) & (team_codes >= 0))
    counts = rows_by_team(objects, codes, teams, team_codes)
    by_object = known[np.argsort(codes[known], kind="stable")]
    ends = np.cumsum(counts.sum(axis=1))
    taken = set(objects)
    shared: list[str] = []
    for code in np.flatnonzero((counts > 0).sum(axis=1) > 1).tolist():
        rows = by_object[ends[code] - counts[code].sum() : ends[code]]
        by_team = {f"{teams[team].strip()}_{objects[code]}": team for team in np.flatnonzero(counts[code]).tolist()}
        if raw_kind(objects[code]) == "raw.ball" or not by_team.keys().isdisjoint(taken):
            continue
        once = sum(len(np.unique(times_us[rows[team_codes[rows] == team]])) for team in by_team.values())
        if once - len(np.unique(times_us[rows])) < _SHARED_MIN * len(rows):
            continue
        codes = codes.copy() if not shared else codes
        shared.append(objects[code])
        for name, team in by_team.items():
            codes[rows[team_codes[rows] == team]] = len(objects)
            objects = [*objects, name]
    if not shared:
        return objects, codes, ()
    which = ", ".join(shared[:3]) + (" and so on" if len(shared) > 3 else "")
    found = f"The ids {which} are of a player of each team, as shirt numbers are; the column team tells them apart"
    return objects, codes, (InputFinding("shared ids", "note", found),)


def rows_by_team(objects: Sequence[str], codes: Codes, teams: Sequence[str], team_codes: Codes) -> Codes:
    """How many rows of each object have which team, shape (objects, teams); arguments as for :func:`apart`."""
    known = (codes >= 0) & (team_codes >= 0)
    pairs = codes[known] * len(teams) + team_codes[known]
    return np.bincount(pairs, minlength=len(objects) * len(teams)).reshape(len(objects), len(teams))
