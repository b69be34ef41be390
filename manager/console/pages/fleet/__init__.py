"""Console pages of agents."""
