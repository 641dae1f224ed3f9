"""Teams of a tracking table that stand there under their names or numbers, and not as home and away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from football.input_quality import InputFinding
from football.match_sheet import TEAMS, Team

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
