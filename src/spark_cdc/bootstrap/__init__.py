"""From a bare Python to a working `.venv`; run by the Makefile, standard library only."""
