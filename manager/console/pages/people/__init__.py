"""Console pages of users, sessions, tokens and the audit log."""
