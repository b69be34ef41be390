"""Debian's Chromium, driven through playwright-core, and axe and the Nu checker beside it.

`bridge.mjs` is the other end of the pipe. The packages come by npm from `package-lock.json`, with
digests (`make test-packages ARGS=all`); nothing of them is part of PRSM.
"""
