"""The review of a close call: figures out of a match store, their drawing, and a sheet as PDF (docs/replay.md)."""
