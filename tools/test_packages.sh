#!/bin/sh
# The packages that tests need and Python cannot bring: Debian's, and some in JavaScript. Installs what is missing where it
# may; says so and goes on where it may not: the tests that need it then skip, with the reason.
#   tools/test_packages.sh        what `make test` needs
#   tools/test_packages.sh all    what `make test-all`, `make faults` and `make screenshots` need too: wget, node, chromium, pages, ...
set -eu
missing=""
tool() { type "$1" >/dev/null 2>&1 || missing="$missing $2"; }
folder() { [ -e "$1" ] || missing="$missing $2"; }

ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="$missing postgresql"
tool curl curl
tool openssl openssl
tool nginx nginx-light
tool crontab cron
tool caddy caddy
if [ "${1:-}" = all ]; then
    tool wget wget
    tool strace strace
    tool node nodejs
    tool npm npm
    tool chromium chromium
    tool java default-jre-headless
    folder /usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc fonts-noto-cjk
    ls /usr/lib/*/faketime/libfaketimeMT.so.1 >/dev/null 2>&1 || missing="$missing faketime"
    tool ip iproute2
    tool nft nftables
    folder /usr/share/doc/python3-doc/html python3-doc
    folder /usr/share/doc/postgresql-doc-15/html postgresql-doc-15
    folder /usr/share/doc/git/html git-doc
    folder /usr/share/doc/apache2-doc/manual apache2-doc
fi
# By lock files with digests, into folders that git does not see; no package's own script is run.
node_packages() {
    [ "$1" = all ] && type npm >/dev/null 2>&1 || return 0
    for here in "$(dirname "$0")/../tests/e2e/tus_js" "$(dirname "$0")/browser"; do
        [ "$here/node_modules/.package-lock.json" -nt "$here/package-lock.json" ] && continue
        (cd "$here" && npm ci --silent --ignore-scripts && touch node_modules/.package-lock.json) \
            || echo "tests: npm could not install what $here needs: its tests are skipped"
    done
}
[ -n "$missing" ] || { node_packages "${1:-}"; exit 0; }
if ! type apt-get >/dev/null 2>&1; then
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
node_packages "${1:-}"
