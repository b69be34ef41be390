"""Console pages of segments, their collection and the trash."""
