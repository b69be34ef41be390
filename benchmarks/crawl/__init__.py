"""`make bench-crawl`: this agent beside Scrapy and crawlee, on the same pages.

web.py       the pages, as files: the simulated web, and real documentation
nginx.py     serves them, and its access log is the judge of the fetched pages
measure.py   CPU time and memory of a command with everything it starts
ours.py      `prsm serve` and `prs run`, as an administrator and a partner would start them
others.py    Scrapy and crawlee, in a separate environment
peers/       what they run, with their settings
runs.py      ours before and after each peer, and the ratios
limit.py     what `wrk` gets from the same server: the most that any crawler could
"""
