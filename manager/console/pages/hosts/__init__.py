"""Console pages of hosts."""
