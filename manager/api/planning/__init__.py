"""Routes of `/api/v1` for plans and probes."""
