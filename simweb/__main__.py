"""`python -m simweb`."""

from simweb.cli import main

main()
