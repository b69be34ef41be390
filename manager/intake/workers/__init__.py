"""Worker processes and threads that do slow work in turns by sender.

What they run is handed to them; limits come from the settings.
"""
