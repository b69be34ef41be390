"""What was ever said on the wire is understood for ever."""
