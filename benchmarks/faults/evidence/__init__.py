"""Evidence of each fault: observations from outside, and the history in the database."""
