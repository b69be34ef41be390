"""One crawl: ledger, adapters and modules put together, watched until it ends.

The conversation with the manager is left to `agent.app.manager_link`.
"""
