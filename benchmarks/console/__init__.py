"""How long a page of the console takes, of a manager with a large crawl behind it."""
