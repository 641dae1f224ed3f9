"""How a run is set up and watched: layers of settings, logs, metrics, health."""
