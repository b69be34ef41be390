"""How the process behaves at a partner's site: lock, hours, holding and stopping, disk, status."""
