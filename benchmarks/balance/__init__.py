"""How even balancers leave the source's experiment, a large fleet, and fifty rounds of change."""
