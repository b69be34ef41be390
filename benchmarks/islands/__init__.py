"""Pages that only other hosts link to: all of them are fetched after two rounds."""
