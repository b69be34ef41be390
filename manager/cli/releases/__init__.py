"""`prsm` commands for releases and rollouts."""
