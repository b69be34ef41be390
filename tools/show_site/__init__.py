"""`make show-site`: a partner's site on this machine, from the archive on, with nothing played.

`installation` and `update` are the story, in order; `releases` makes the archives, good and bad;
`centre` is manager, signing process and the keys of people; `partner` is the user at the site and
the shell; `room` provides a separate machine: users, home, crontabs and cron, not visible outside.
With `--from CHECKOUT`, `version_change` updates the agent of an older tree to this one, and back.
"""
