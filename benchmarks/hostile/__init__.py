"""Hostile hosts among good ones: do they hold the good ones up, and does the crawl end?

__main__.py   the benchmark: the same good hosts without and with the hostile ones
server.py     one process that is all the hosts, each at a separate loopback address
traps.py      sites whose links never end, from what archivists met and listed
bodies.py     bodies and answers that are broken or built to stop their reader
sampling.py   texts that a regular expression matches
"""
