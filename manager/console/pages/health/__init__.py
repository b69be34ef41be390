"""Console pages of alerts and the overview."""
