"""Routes of `/api/v1` for agents."""
