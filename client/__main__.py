"""`python -m client` is `prs-get`."""

from client.cli import main

main()
