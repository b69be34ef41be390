"""Routes of `/api/v1` for rounds and schedules."""
