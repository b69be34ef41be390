"""What a crawl is: the graph of modules, what travels in it, and what it may ask of the world."""
