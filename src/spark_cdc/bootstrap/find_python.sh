#!/bin/sh
# Print a Python >= 3.10: the one in $PYTHON if set, else the first that fits.
# Fails with what was found and what to do.
fits='import sys; sys.exit(sys.version_info < (3, 10))'
found=""
for name in ${PYTHON:-python3 python3.13 python3.12 python3.11 python3.10 python}; do
    path=$(command -v "$name") || continue
    if "$path" -c "$fits" 2>/dev/null; then
        echo "$path"
        exit 0
    fi
    found="$found
  $path: $("$path" --version 2>&1 | head -n 1)"
done
{
    if [ -n "$PYTHON" ] && [ -z "$found" ]; then
        echo "error: PYTHON=$PYTHON is not a program."
    else
        echo "error: spark_cdc needs Python 3.10 or newer. Found:${found:- none}"
    fi
    echo "next: install one (Debian, Ubuntu: apt install python3 python3-venv), or say where it is:"
    echo "      make demo PYTHON=/path/to/python3.12"
} >&2
exit 1
