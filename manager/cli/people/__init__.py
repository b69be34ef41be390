"""`prsm` commands for users, sessions, tokens and the audit log."""
