"""Time of each console page, of a manager with a large crawl."""
