"""Routes of `/api/v1` for the archive and third parties."""
