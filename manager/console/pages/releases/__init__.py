"""Console pages of releases and rollouts."""
