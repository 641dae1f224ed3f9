"""What a run serves over HTTP: its ASGI application and the servers that listen."""
