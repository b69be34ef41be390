#!/bin/sh
# Runs pytest in the environment of this checkout; what tests write lies in one folder, which is removed at the end.
# The folder is in memory (/dev/shm) where that has room and runs programs, else below /tmp: a thousand databases are
# made and removed, and a disk would take a tenth of the time. `make test-all` writes files of gigabytes: below /tmp.
# It stays where a test failed: its path is printed. Nothing else outside of the checkout is written.
#   tools/run_tests.sh ARGUMENTS-OF-PYTEST
set -u
cd "$(dirname "$0")/.."
NEEDED_KIB=6291456

# Returns whether a folder in memory may be filled, and programs in it be run.
in_memory() {
    free=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')
    memory=$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo 2>/dev/null)
    [ "${free:-0}" -ge "$NEEDED_KIB" ] && [ "${memory:-0}" -ge $((2 * NEEDED_KIB)) ] || return 1
    tried=$(mktemp /dev/shm/prsm.XXXXXX 2>/dev/null) || return 1
    printf '#!/bin/sh\n' >"$tried" && chmod 700 "$tried" && "$tried" 2>/dev/null
    code=$?
    rm -f "$tried"
    return $code
}

place=/tmp
[ "${PRSM_TESTS:-}" != all ] && in_memory && place=/dev/shm
scratch=$(mktemp -d "$place/prsm.XXXXXX")
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
