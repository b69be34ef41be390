"""`make show-site`: a partner's site on this machine, from the archive on, with nothing played.

`story` is what happens, in order; `releases` makes the archives, good and bad; `centre` is manager,
signing process and the keys of people; `partner` is the user at the site and his shell; `room`
gives him a machine of his own: users, home, crontabs and cron, not visible outside.
"""
