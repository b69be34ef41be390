"""`prsm` commands for plans and probes."""
