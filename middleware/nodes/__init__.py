"""One hierarchy over several nodes: parts, channels, moves, links, commits, and their simulation in virtual time."""
