"""What one manager takes from ten thousand agents in a second, and what two do behind a proxy."""
