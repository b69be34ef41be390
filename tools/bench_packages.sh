#!/bin/sh
# The Debian packages that `make bench-crawl` needs and Python cannot bring: nginx and wrk, and the
# documentation that is crawled. Installs what is missing as root; says what to do as anybody else.
set -eu
missing=""
for package in nginx-light wrk python3-doc postgresql-doc-15 git-doc apache2-doc openjdk-17-doc; do
    dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null |
        grep -qx installed || missing="$missing $package"
done
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] && missing=$(echo "$missing" | sed 's/ nginx-light//')
[ -n "$missing" ] || exit 0
if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
    echo "bench-crawl needs$missing, and may not install it:"
    echo "  sudo apt-get install --no-install-recommends$missing"
    exit 1
fi
echo "bench-crawl: installing Debian's$missing ..."
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # a list of package names
{ apt-get -qq update && apt-get -qq install --yes --no-install-recommends $missing; } >/dev/null
