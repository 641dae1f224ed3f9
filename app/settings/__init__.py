"""Settings: the model, its layers, and parameters of detectors."""
