"""Routes of `/api/v1` for users, sessions, tokens and the audit log."""
