"""The console as people see it: a living system to look at, its pages, and pictures of them."""
