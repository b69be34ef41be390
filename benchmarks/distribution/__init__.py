"""What third parties get in a second: segments through the web server in front, and selections."""
