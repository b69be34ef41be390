#!/bin/sh
# Runs pytest in the environment of this checkout; what tests write lies in one folder below /tmp, which is removed.
# It stays where a test failed: its path is printed. Nothing else outside of the checkout is written.
#   tools/run_tests.sh ARGUMENTS-OF-PYTEST
set -u
cd "$(dirname "$0")/.."
scratch=$(mktemp -d /tmp/prsm.XXXXXX)
chmod 755 "$scratch"
trap 'rm -rf "$scratch"; exit 130' INT TERM HUP
# Byte code is kept: else each worker would compile all tests, each time.
PYTHONDONTWRITEBYTECODE= TMPDIR="$scratch" .venv/bin/python -m pytest --basetemp="$scratch/t" "$@"
code=$?
if [ "$code" -eq 1 ]; then
    echo "What the failed tests wrote: $scratch"
else
    rm -rf "$scratch"
fi
exit "$code"
