"""Retraction: how a unit takes back what it should not have said (paper 000, section 4.3)."""

from __future__ import annotations

from typing import Literal

#: ``full`` withdraws everything from the misplaced input on and says it anew; ``on-demand`` only what differs.
Retraction = Literal["full", "on-demand"]
