"""What third parties get."""
