"""The system under test: PostgreSQL, managers behind nginx, agents, a site, and their disks."""
