"""Drawings that the server makes as SVG: bars, trees, lines over time, the map.

The page around a drawing is left to `manager.console.pages`.
"""
