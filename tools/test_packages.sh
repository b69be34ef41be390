#!/bin/sh
# The Debian packages that tests need and Python cannot bring. Installs what is missing where it
# may; says so and goes on where it may not: the tests that need it then skip, with the reason.
set -eu
missing=""
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="$missing postgresql"
[ -n "$missing" ] || exit 0
if ! command -v apt-get >/dev/null; then
    echo "tests: without$missing (not a Debian system): the tests that need it are skipped"
elif [ "$(id -u)" -ne 0 ]; then
    echo "tests: without$missing: the tests that need it are skipped;"
    echo "       to run them: sudo apt-get install --no-install-recommends$missing"
else
    echo "tests: installing Debian's$missing ..."
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2086 # a list of package names
    { apt-get -qq update && apt-get -qq install --yes --no-install-recommends $missing; } \
        >/dev/null || echo "tests: apt-get could not install$missing: the tests that need it are skipped"
fi
