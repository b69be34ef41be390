"""How long an agent's loop stands still while it takes a list."""
