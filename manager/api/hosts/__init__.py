"""Routes of `/api/v1` for hosts."""
