"""The running agent's side of the conversation with the manager.

The protocol without I/O is `agent.link.poller`; what is fetched is left to `agent.app.session`.
"""
