"""Console pages of rounds and schedules."""
