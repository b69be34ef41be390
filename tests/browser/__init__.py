"""The console in a real browser, over a living system."""
