#!/bin/sh
# A small Debian of any processor in a folder, for a site that is not this machine: `make show-site-arm64` installs an agent in one.
#   tools/debian_root.sh arm64 bookworm build/debian-arm64-bookworm
# Needs root, and Debian's debootstrap; of another processor also qemu-user-static, whom the kernel asks to run its programs (binfmt_misc).
# What it has beside the smallest Debian: Python, cron, procps. A folder that is complete is left alone; half of one is made again.
set -eu
[ $# -eq 3 ] || { echo "usage: $0 ARCHITECTURE SUITE FOLDER, as: $0 arm64 bookworm build/debian-arm64-bookworm" >&2; exit 2; }
architecture=$1 suite=$2 folder=$3
[ "$(id -u)" -eq 0 ] || { echo "$0: needs root, to make a system in a folder" >&2; exit 1; }
type apt-get >/dev/null 2>&1 || { echo "$0: needs a Debian system, for debootstrap" >&2; exit 1; }
here=$(dpkg --print-architecture)

wanted=debootstrap
[ "$architecture" = "$here" ] || wanted="$wanted qemu-user-static"
missing=""
for name in $wanted; do dpkg -s "$name" >/dev/null 2>&1 || missing="$missing $name"; done
if [ -n "$missing" ]; then
    echo "installing Debian's$missing ..."
    # shellcheck disable=SC2086 # a list of package names
    { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends $missing; } >/dev/null
fi

# Debian's packages register all emulators when a machine starts; here only the one that is needed, where nobody did.
emulated=$(case "$architecture" in arm64) echo aarch64 ;; *) echo "$architecture" ;; esac)
registry=/proc/sys/fs/binfmt_misc
if [ "$architecture" != "$here" ] && [ ! -e "$registry/qemu-$emulated" ]; then
    [ -e "$registry/register" ] || mount -t binfmt_misc none "$registry" \
        || { echo "$0: this kernel runs no programs of other processors (binfmt_misc)" >&2; exit 1; }
    cat "/usr/lib/binfmt.d/qemu-$emulated.conf" > "$registry/register"
fi

[ ! -e "$folder/.complete" ] || exit 0
rm -rf "$folder"
mkdir -p "$folder"
echo "making a Debian $suite of $architecture in $folder ..."
said="$folder.log"
policy="$folder/usr/sbin/policy-rc.d" # nothing is started by being installed
{
    debootstrap --arch="$architecture" --variant=minbase "$suite" "$folder" \
        && printf '#!/bin/sh\nexit 101\n' > "$policy" && chmod 755 "$policy" \
        && DEBIAN_FRONTEND=noninteractive chroot "$folder" apt-get -qq install --yes --no-install-recommends python3 cron procps
} > "$said" 2>&1 || { tail -n 5 "$said" >&2; echo "$0: no system was made; all that was said is in $said" >&2; exit 1; }
touch "$folder/.complete"
