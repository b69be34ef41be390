"""One hostile sender beside honest ones, and the end of a manager in the middle of it."""
