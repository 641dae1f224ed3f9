"""Play: players, officials and the laws, tick by tick."""
