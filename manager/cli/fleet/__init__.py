"""`prsm` commands for agents."""
