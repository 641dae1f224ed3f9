"""The simulator's rooms: play, physics, truth. ``replay.simulator`` is the door."""
