"""The work on pages: what it costs here, what it costs in worker processes, and what must be spent.

__main__.py    the command
samples.py     the pages: simulated ones, and documentation
echo.py        a worker that does nothing: the price of crossing
forms.py       other ways for a page to cross, for comparison
"""
