#!/usr/bin/env bash
# Print the first Python 3.11 or newer with the venv module, or say what to install.
set -u
for name in "${PYTHON:-python3}" python3 python3.14 python3.13 python3.12 python3.11 python; do
    if "$name" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        command -v "$name"
        exit 0
    fi
done
echo "Prefero needs Python 3.11 or newer with its venv module, and none was found:" \
    "install one (Debian: apt-get install python3 python3-venv) or run make with PYTHON=/path/to/python." >&2
exit 1
