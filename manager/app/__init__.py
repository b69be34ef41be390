"""The only place where the manager is put together, and the process that serves it."""
