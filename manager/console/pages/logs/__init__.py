"""Console pages of crawl logs."""
