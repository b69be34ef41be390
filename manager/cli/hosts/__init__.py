"""`prsm` commands for hosts."""
