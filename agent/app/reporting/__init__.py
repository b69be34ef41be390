"""Reports of the running agent: crawl logs for the manager, status for people.

Delivery is left to `agent.link.report_delivery`.
"""
