"""Start of an agent: checks, composition of its parts, page workers, settings.

`agent_run` decides whether this process may work in a home, `composition` builds the agent. The
crawl itself is left to `agent.app.session`.
"""
