"""Messages between the modules: plain data that pickles and comes back equal.

    hosts.py       addresses of hosts: found, moved, lost
    robots.py      robots.txt of hosts: turns, redirects, rules
    requests.py    the time, turns of URLs, requests and their answers
    pages.py       fetched and processed pages; links, candidates, URLs that others own
    jobs.py        jobs, changes of the list, ends of jobs

The attributes `host`, `url` and `address` are partition keys: `host` is a host key with its port
(`http://www.example.jp:80/`), `url` a canonical URL, `address` an IP address as text, or a name as
`//name` where a proxy resolves for us. Times: `*_s` are seconds of the monotonic clock, `*_ms`
epoch milliseconds unless the name says a duration.

A **job** is one order of the manager: a unit to crawl or to probe in one round, or some of its
pages to fetch again. Seen-sets, page counts and finishing belong to a job, so that a probe does not
hide pages from the crawl after it.

Life of a URL: in `Links` (seed, parse, redirect) -> filter -> `Candidate` -> dedup, which enters a
new one in its job's queue on disk -> `Candidate` -> resolve -> `Placed` (the job's host answers
there, and its queue holds something) -> frontier -> `Due` -> robots -> `Due` -> fetch ->
`Fetched` -> parse -> `Processed` -> store -> `Processed` -> frontier forgets it. The end of its
request (`FetchAnswer`) goes from fetch to the frontier, and to report, which writes its log line.
So between dedup and frontier a URL is never in memory only.
"""
