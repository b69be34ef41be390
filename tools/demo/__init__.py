"""The demonstration: a whole PRSM on one machine, made of shipped commands only."""
