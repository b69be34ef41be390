"""Console pages of plans and probes."""
