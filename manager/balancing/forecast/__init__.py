"""Forecasts of a crawl: how long agents work, when it ends, and what a split or a rest changes."""
