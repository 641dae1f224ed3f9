"""What each detector compared before it concluded: the numbers behind its events, room by room."""
