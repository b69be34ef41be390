"""Process control at a site: lock, hours, pause and stop, disk, status."""
