#!/bin/sh
# Installs Debian's packages that tests need and Python cannot bring: `make test-packages`.
#   tools/test_packages.sh          what `make test` needs
#   tools/test_packages.sh all      what `make test-all`, `make faults` and `make screenshots` need too
#   tools/test_packages.sh check    installs nothing; prints what is missing and the command that installs it;
#                                   `check all` for all targets
# Ends with 1 where a package could not be installed.
set -eu
missing=""
tool() { type "$1" >/dev/null 2>&1 || [ -x "/usr/sbin/$1" ] || missing="$missing $2"; }
folder() { [ -e "$1" ] || missing="$missing $2"; }
check=no
[ "${1:-}" != check ] || { check=yes; shift; }
what="${1:-}"

tool curl curl
tool git git
tool openssl openssl
tool nginx nginx-light
tool crontab cron
tool caddy caddy
tool unzip unzip
tool systemd-analyze systemd
if [ "$what" = all ]; then
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
command="apt-get install --no-install-recommends$missing"
if [ "$check" = yes ]; then
    [ -z "$missing" ] || echo "Not installed:$missing. Tests that need them are skipped; to run them: sudo $command"
    exit 0
fi
# By lock files with digests, into folders that git does not see; no package's own script is run.
node_packages() {
    type npm >/dev/null 2>&1 || return 0
    for here in "$(dirname "$0")/../tests/e2e/tus_js" "$(dirname "$0")/browser"; do
        [ "$here/node_modules/.package-lock.json" -nt "$here/package-lock.json" ] && continue
        (cd "$here" && npm ci --silent --ignore-scripts && touch node_modules/.package-lock.json) \
            || { echo "npm could not install what $here needs"; return 1; }
    done
}
# pywb replays segments in a test: an environment of its own, by its lock file with digests.
replay_packages() {
    top="$(dirname "$0")/.."
    lock="$top/tests/e2e/pywb.lock" here="$top/build/pywb"
    [ "$here/installed" -nt "$lock" ] && return 0
    { "${PYTHON:-python3}" -m venv "$here" \
        && "$here/bin/pip" install --quiet --require-hashes -r "$lock" \
        && touch "$here/installed"; } \
        || { echo "pip could not install what $lock lists"; return 1; }
}
if [ -n "$missing" ]; then
    if ! type apt-get >/dev/null 2>&1; then
        echo "Not a Debian system: install$missing with this system's own tool"
        exit 1
    fi
    if [ "$(id -u)" -ne 0 ]; then
        echo "Only root may install packages. Run: sudo $command"
        exit 1
    fi
    echo "Installing Debian's$missing ..."
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2086 # a list of package names
    { apt-get -qq update && apt-get -qq install --yes --no-install-recommends $missing; } >/dev/null
fi
[ "$what" != all ] || { node_packages && replay_packages; }
