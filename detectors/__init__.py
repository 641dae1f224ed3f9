"""Football detectors, levels 1 to 15: pure folds over events. Knows nothing of Spark, engines or clocks."""
