"""`python -m agent.cli` is `prs`."""

from agent.cli import main

main()
