"""The crawl as a pipeline: graph of modules, messages, and ports to the world."""
