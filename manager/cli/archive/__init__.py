"""`prsm` commands for the archive and third parties."""
