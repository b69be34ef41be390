"""What third parties run."""
