"""HTTP service of a run: its ASGI application and its web servers."""
