"""Agents push segments through a proxy that cuts every connection and alters what it carries."""
