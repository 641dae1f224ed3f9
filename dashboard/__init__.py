"""The live page: pitch, timeline, score and health over a feed. Knows nothing of engines and Spark."""
