"""The web server: HTTP/1.1, connections, status codes, shutdown, health and metrics.

Routes are left to `manager.api`, `manager.console`, `manager.agent_api` and
`manager.distribution`.
"""
