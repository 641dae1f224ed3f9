"""One match over several simulated nodes: figures before machines are bought or moved."""
