"""Synthetic sources: rows (`rows`), and a table's change events with its true state (`events`)."""
