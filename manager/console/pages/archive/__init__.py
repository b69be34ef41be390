"""Console pages of the archive and third parties."""
