"""`prsm` commands for rounds and schedules."""
