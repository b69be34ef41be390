"""Balancers: pure functions from costs to plans in which all agents end at the same time.

`cost` turns volumes and distances into costs, of which `problem` makes a `Problem`; `make_plan` of
`balancers` answers with a `Plan` that can be shown before anything moves. The methods stand side by
side in `BALANCERS`: the source's equalisation along the spanning tree (`tree`), cuts between two
agents (`exchange`), prices near the optimum (`prices`), the rounded linear program (`lp`), the
yardsticks `random` and `keep`, and `default`, the method without a person's choice. Each plan
carries a lower bound for all methods.
`pieces` divides a host that is too big for one agent. `forecast` says when a crawl ends.
"""
