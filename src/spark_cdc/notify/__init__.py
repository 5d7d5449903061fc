"""Notifications of what a command loaded: a command, a URL, a file, metrics, OpenLineage."""
