"""The analyst's tables: passes, shots, carries, duels, possessions, goals, sprints and running, as typed columns."""
