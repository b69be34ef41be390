"""Identity of the installation, its managers and its agents.

The installation id binds database, files and agents; join tokens and keys prove who an agent is.
What an agent does once it has joined is left to `fleet`, kept files to `segments`.
"""
