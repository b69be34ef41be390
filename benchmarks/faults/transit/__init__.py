"""Networks and messages between the parts of the system: lines that are cut, ways that alter."""
