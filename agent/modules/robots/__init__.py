"""robots.txt: fetch, parse, keep and apply the rules of each host (RFC 9309).

What rules mean for the turns of a host is left to `agent.modules.frontier.robots_effects`.
"""
