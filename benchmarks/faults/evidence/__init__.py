"""Evidence of what happened: observations from outside, and the history in the database."""
