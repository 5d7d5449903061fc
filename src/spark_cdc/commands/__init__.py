"""The commands that load, look, correct and maintain; no one imports another."""
