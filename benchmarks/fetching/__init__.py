"""Cost of a page in the fetching process, without network: `make bench-fetching`.

All of that process is real: modules, runner, loop, ledger, memory of earlier captures, the fetcher
around libcurl, and the pool's side of the page workers. Answers and the workers' results are made
beforehand. So a run does the same at each start, and where valgrind is installed it is counted in
instructions: a busy machine changes nothing about them.

    web.py    pages, their answers, and what the workers make of them
    stage.py  one process: crawl so many pages of them
"""
