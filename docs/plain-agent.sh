#!/bin/sh
# A complete PRSM agent in one shell script: curl, gzip and the tools that every Unix has.
#
# It speaks the five messages of docs/protocol.md: it joins, asks whether to restart, takes its
# list, fetches the pages of each unit to a small depth, reports the hosts it found and the log of
# what it fetched, and begins again. It obeys robots.txt (RFC 9309) and Crawl-delay, sends one
# request at a time and waits PRSM_INTERVAL seconds after each. It shows the protocol; it keeps no
# pages and parses HTML as a script can. A site that lends a machine for good installs `prs`.
#
#   PRSM_MANAGER=https://prsm.example.ac.jp PRSM_NAME=$(hostname -f) PRSM_CONTACT=you@example.ac.jp
#   export PRSM_MANAGER PRSM_NAME PRSM_CONTACT
#   sh plain-agent.sh join             # once; asks for the token that the administrator made
#   sh plain-agent.sh run              # until it is stopped
#   sh plain-agent.sh leave
#
# `join` reads the token from PRSM_TOKEN or a line of standard input, never from an argument:
# every user of a machine can read command lines.
#
# Exit codes: 0 done, 1 refused by the manager (the reason is printed), 2 used wrongly.
set -eu
LC_ALL=C
export LC_ALL

manager=${PRSM_MANAGER:-}
name=${PRSM_NAME:-}
contact=${PRSM_CONTACT:-}
state=${PRSM_STATE:-./prsm-agent}  # what it remembers
interval=${PRSM_INTERVAL:-20}      # seconds after each request, to whichever host
depth=${PRSM_DEPTH:-3}             # links from the top page
most=${PRSM_PAGES:-100}            # pages of a unit at most, where the list does not say less
pause=${PRSM_PAUSE:-3600}          # seconds until the next question when there is nothing to do
turns=${PRSM_TURNS:-0}             # lists to ask for before it ends; 0: no end

tab=$(printf '\t')
key_file=$state/key.conf
manager=${manager%/}
me="prsm-plain/1 (+$contact)"

say() { printf '%s\n' "$*" >&2; }

usage() {
    say "plain-agent.sh: $1"
    sed -n '3,21s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

# --- the manager ---------------------------------------------------------------------------------

# ask PATH [curl options]: the answer is in $state/answer. 0: done; 1: not now, try later;
# 2: this will never be taken. Ends the script where the agent itself is refused.
ask() {
    path=$1
    shift
    : >"$state/answer"
    code=$(curl -sS --max-time 3600 -K "$key_file" -D "$state/answer.head" \
        -o "$state/answer" -w '%{http_code}' "$@" "$manager$path") || code=000
    case $code in
    200) return 0 ;;
    401 | 403 | 404 | 426)
        say "$path: $(head -n 1 "$state/answer")"
        exit 1
        ;;
    400 | 409 | 413)
        say "$path: $(head -n 1 "$state/answer")"
        return 2
        ;;
    429 | 503)
        wait_s=$(sed -n 's/^[Rr]etry-[Aa]fter: *\([0-9][0-9]*\).*/\1/p' "$state/answer.head")
        say "$path: $(head -n 1 "$state/answer") Waiting ${wait_s:-60} s."
        sleep "${wait_s:-60}"
        return 1
        ;;
    *)
        say "$path: no answer ($code)"
        return 1
        ;;
    esac
}

join() {
    token=${PRSM_TOKEN:-}
    unset PRSM_TOKEN
    if [ -z "$token" ]; then
        [ ! -t 0 ] || say "Join token:"
        read -r token || usage "join needs the token: PRSM_TOKEN, or a line of standard input"
    fi
    # The key is new until the manager has it; the same token may be sent with it again.
    umask 077
    key_file=$state/key.conf.new
    [ -s "$key_file" ] || od -An -N32 -tx1 /dev/urandom | tr -d ' \n' |
        sed 's/.*/header = "Authorization: Bearer &"/' >"$key_file"
    hash=$(sed 's/.*Bearer \(.*\)"/\1/' "$key_file" | tr -d '\n' | sha256sum | cut -d ' ' -f 1)
    # The token does not stay on the disk, whatever the answer is.
    trap 'rm -f "$state/enrol"' EXIT
    printf '{"agent": "%s", "token": "%s", "key_hash": "%s", "kind": "plain"}' \
        "$name" "$token" "$hash" >"$state/enrol"
    ask /api/v1/enrol -H 'Content-Type: application/json' --data-binary "@$state/enrol" || exit 1
    mv "$key_file" "$state/key.conf"
    say "$name has joined"
}

# --- one request ---------------------------------------------------------------------------------

# fetch URL: its status is in $status, its type in $type, the body in $state/body; one line more
# in the log. Redirects are not followed: where they lead is a link like any other.
fetch() {
    : >"$state/head"
    : >"$state/body"
    # Names in the braces are curl's; a request that fails prints them too, with status 000.
    told=$(curl -s --max-time 60 --max-filesize 20000000 --proto '=http,https' -A "$me" \
        -D "$state/head" -o "$state/body" \
        -w '%{http_code} %{size_request} %{size_header} %{size_download} %{time_total} %{content_type}' \
        "$1") || :
    # shellcheck disable=SC2086  # the words are numbers and a type
    set -- "$1" $told
    status=$2
    type=${7:-}
    ms=$(awk -v s="$6" 'BEGIN { printf "%d", s * 1000 + 0.5 }')
    # Escaped: backslash, quote, CR, LF and tab; other bytes outside ASCII are replaced.
    headers=$(tr -c '\11\12\15\40-\176' '?' <"$state/head" |
        sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e "s/$tab/\\\\t/g" -e 's/\r$/\\r\\n/' | tr -d '\r\n')
    printf '"%s",%d,%d,%d,"%s"\n' "$1" "$3" "$(($4 + $5))" "$ms" "$headers" >>"$state/log"
    sleep "$wait_s"
    case $status in
    429 | 503)
        asked_s=$(sed -n 's/^[Rr]etry-[Aa]fter: *\([0-9]\{1,4\}\)[^0-9].*/\1/p' "$state/head")
        sleep "${asked_s:-0}"
        ;;
    esac
}

# --- robots.txt ----------------------------------------------------------------------------------

# rules: from $state/body to lines `allow|disallow PATTERN` and `delay SECONDS`, ours or those of *.
rules() {
    tr -d '\r' <"$state/body" | awk '
        { sub(/#.*/, ""); at = index($0, ":"); if (!at) next
          field = tolower(substr($0, 1, at - 1)); value = substr($0, at + 1)
          gsub(/^[ \t]+|[ \t]+$/, "", field); gsub(/^[ \t]+|[ \t]+$/, "", value) }
        field == "user-agent" {
            if (!heads) { ours = all = 0 }
            heads = 1; token = tolower(value); sub(/[^a-z_-].*/, "", token)
            if (token == "prsm-plain") { ours = 1; named = 1 }
            if (value == "*") all = 1
            next }
        field == "allow" || field == "disallow" || field == "crawl-delay" {
            heads = 0
            if (value == "") next
            line = (field == "crawl-delay" ? "delay" : field) " " value
            if (ours) own = own line "\n"
            if (all) any = any line "\n" }
        END { printf "%s", named ? own : any }'
}

# allowed PATH: by the longest rule of $state/rules that matches; equal ones allow (RFC 9309).
allowed() {
    awk -v path="$1" '
        function expression(pattern,    i, c, made) {
            made = "^"
            for (i = 1; i <= length(pattern); i++) {
                c = substr(pattern, i, 1)
                if (c == "*") made = made ".*"
                else if (c == "$" && i == length(pattern)) made = made "$"
                else if (c ~ /[A-Za-z0-9\/_~%&=-]/) made = made c
                else made = made "[" c "]"
            }
            return made }
        $1 != "delay" && $2 !~ /[\[\]^\\]/ && path ~ expression($2) {
            size = length($2)
            if (size > best || (size == best && $1 == "allow")) { best = size; verdict = $1 } }
        END { exit verdict == "disallow" }' "$state/rules"
}

# --- links ---------------------------------------------------------------------------------------

# links URL: the absolute http(s) URLs that $state/body (or the Location in $state/head) names.
links() {
    {
        sed -n 's/^[Ll]ocation: *\(.*\)/<a href="\1">/p' "$state/head" | tr -d '\r'
        case $type in text/html* | application/xhtml*) cat "$state/body" ;; esac
    } | tr -d '\000' | awk -v RS='<' -v base="$1" '
        function plain(url,    scheme, rest, host, path) {
            scheme = substr(url, 1, index(url, ":") - 1)
            rest = substr(url, length(scheme) + 4)
            host = rest; sub(/[\/?].*/, "", host); path = substr(rest, length(host) + 1)
            if (host == "" || host ~ /@/) return ""
            host = tolower(host); scheme = tolower(scheme)
            if (scheme == "http") sub(/:80$/, "", host)
            if (scheme == "https") sub(/:443$/, "", host)
            if (path !~ /^\//) path = "/" path
            while (sub(/\/\.\//, "/", path)) continue
            while (sub(/\/[^\/?]+\/\.\.\//, "/", path)) continue
            while (sub(/^\/\.\.\//, "/", path)) continue
            return scheme "://" host path }
        function resolved(link,    origin, folder) {
            sub(/#.*/, "", link); gsub(/&amp;/, "\\&", link); gsub(/[ \t\r\n]/, "", link)
            if (link == "") return ""
            if (link ~ /^[Hh][Tt][Tt][Pp][Ss]?:\/\//) return plain(link)
            if (link ~ /^[A-Za-z][A-Za-z0-9+.-]*:/) return ""
            origin = base; sub(/:\/\/.*/, "", origin)
            if (link ~ /^\/\//) return plain(origin ":" link)
            match(base, /^[a-z]+:\/\/[^\/?]*/); origin = substr(base, 1, RLENGTH)
            folder = substr(base, RLENGTH + 1); sub(/\?.*/, "", folder)
            if (link ~ /^\?/) return plain(origin folder link)
            if (link ~ /^\//) return plain(origin link)
            sub(/[^\/]*$/, "", folder)
            return plain(origin folder link) }
        tolower($0) ~ /^(a|area|frame|iframe|img|link|script)[ \t\r\n]/ {
            text = $0
            while (match(tolower(text), /[ \t\r\n](href|src)[ \t]*=[ \t]*("[^"]*"|\047[^\047]*\047|[^ \t\r\n>"\047]+)/)) {
                value = substr(text, RSTART, RLENGTH); text = substr(text, RSTART + RLENGTH)
                sub(/^[^=]*=[ \t]*/, "", value)
                if (value ~ /^["\047]/) value = substr(value, 2, length(value) - 2)
                url = resolved(value)
                # What a log line would have to escape is left out.
                if (url ~ /^[!#-\[\]-~]+$/ && length(url) <= 2083) print url } }'
}

# plain_unit UNIT: as links are written, without the default port.
plain_unit() {
    printf '%s\n' "$1" | sed -e 's|^\(http://[^/]*\):80/|\1/|' -e 's|^\(https://[^/]*\):443/|\1/|'
}

# --- a unit, a list ------------------------------------------------------------------------------

# crawl UNIT LIMIT: fetch its pages, nearest first.
crawl() {
    unit=$(plain_unit "$1")
    limit=$2
    [ "$limit" -gt 0 ] && [ "$limit" -lt "$most" ] || limit=$most
    origin=$(printf '%s\n' "$unit" | sed 's|^\([a-z]*://[^/]*\)/.*|\1|')
    wait_s=$interval
    : >"$state/rules"
    target=$origin/robots.txt
    fetch "$target"
    hops=0
    while [ "$hops" -lt 5 ]; do
        case $status in 3*) target=$(links "$target" | head -n 1) ;; *) break ;; esac
        # Only this host is ours to visit; rules that lie elsewhere count as none (RFC 9309).
        case $target in "$origin/"*) fetch "$target" ;; *) break ;; esac
        hops=$((hops + 1))
    done
    case $status in
    2*) rules >"$state/rules" ;;
    000 | 5*)
        say "$unit: robots.txt cannot be read ($status), so nothing is fetched"
        finished "$1"
        return 0
        ;;
    esac
    wait_s=$(awk -v s="$interval" '$1 == "delay" && $2 + 0 > s { s = $2 + 0 } END { print s }' \
        "$state/rules")
    [ "$wait_s" = "$interval" ] || sleep "$wait_s"
    {
        printf '0 %s\n' "$unit"
        awk -v unit="$unit" 'index($1, unit) == 1 && $1 != unit { print 0, $1 }' "$state/starts"
    } >"$state/queue"
    cut -d ' ' -f 2 "$state/queue" >"$state/seen"
    fetched=0
    while [ "$fetched" -lt "$limit" ] && read -r level url <&3; do
        allowed "${url#"$origin"}" || continue
        fetch "$url"
        fetched=$((fetched + 1))
        links "$url" | sort -u >"$state/links"
        # Inside: to the queue, once. On another host: for the manager, once.
        if [ "$level" -lt "$depth" ]; then
            awk -v unit="$unit" 'FILENAME == ARGV[1] { seen[$0] = 1; next }
                index($0, unit) == 1 && !seen[$0]' "$state/seen" "$state/links" >"$state/new"
            cat "$state/new" >>"$state/seen"
            sed "s/^/$((level + 1)) /" "$state/new" >>"$state/queue"
        fi
        awk -v origin="$origin/" -v page="$url" 'FILENAME == ARGV[1] { known[$1] = 1; next }
            index($0, origin) != 1 {
                match($0, /^[a-z]+:\/\/[^\/]*\//); host = substr($0, 1, RLENGTH)
                if (!known[host]) { known[host] = 1; print host "\t" page } }' \
            "$state/known" "$state/links" >"$state/new"
        cat "$state/new" >>"$state/found"
        cut -f 1 "$state/new" >>"$state/known"
    done 3<"$state/queue"
    say "$unit: $fetched pages"
    finished "$1"
}

# finished UNIT: note in the log that nothing of a unit is left to fetch, as the list names it.
finished() { printf '#Finished=%s\n' "$1" >>"$state/log"; }

# work: crawl every unit of $state/list. A restart of the script begins the list anew.
work() {
    awk -F "$tab" '!/^#/ && $1 !~ /\/$/ { print $1 }' "$state/list" |
        while read -r page; do plain_unit "$page"; done >"$state/starts"
    limit_of_list=0
    sleep "$interval" # nobody knows when these hosts were last visited
    while read -r line <&4; do
        case $line in
        '#MaxTransfer='*) limit_of_list=${line#*=} ;;
        '#'*) ;;
        *)
            url=${line%%"$tab"*}
            case $url in */) crawl "$url" "$limit_of_list" ;; esac
            ;;
        esac
    done 4<"$state/list"
}

# close_log: give what was fetched a name and put it into the outbox, where it stays until taken.
close_log() {
    stamp=$(date -u +%Y%m%d%H%M)
    while [ "$stamp" = "$(cat "$state/stamp" 2>/dev/null)" ]; do
        sleep 10 # two logs of one agent must differ in their minute
        stamp=$(date -u +%Y%m%d%H%M)
    done
    printf '%s\n' "$stamp" >"$state/stamp"
    {
        printf '%s.%s\n' "$name" "$stamp"
        { echo '#Finished=' && cat "$state/log"; } | gzip -c
    } >"$state/part"
    mv "$state/part" "$state/outbox/$stamp"
    : >"$state/log"
}

# send_all: hosts that were found, then logs, oldest first; what is not taken now stays.
send_all() {
    if [ -s "$state/found" ]; then
        gzip -c "$state/found" >"$state/found.gz"
        if ask /servlets/record --data-binary "@$state/found.gz" || [ $? -eq 2 ]; then
            : >"$state/found"
        fi
    fi
    for report in "$state"/outbox/*; do
        [ -e "$report" ] || continue
        taken=0
        ask /servlets/submitlog --data-binary "@$report" || taken=$?
        case $taken in
        0) rm "$report" ;;
        2) mv "$report" "$state/refused/" ;;
        *) return 0 ;;
        esac
    done
}

run() {
    [ -s "$state/key.conf" ] || usage "$state/key.conf is missing: join first"
    while ! ask "/servlets/subscribe?host=$name"; do sleep "$pause"; done
    turn=0
    while [ "$turns" -eq 0 ] || [ "$turn" -lt "$turns" ]; do
        turn=$((turn + 1))
        if [ -s "$state/log" ]; then close_log; fi
        send_all
        if ask "/servlets/isrestart?host=$name" && [ "$(head -n 1 "$state/answer")" = RESTART ]; then
            say "restart"
            rm -f "$state/list" "$state/queue" "$state/seen"
            : >"$state/found"
            : >"$state/known"
        fi
        if ask "/servlets/list?host=$name" && gzip -dc "$state/answer" >"$state/list" &&
            grep -qv '^#' "$state/list"; then
            work
        else
            sleep "$pause"
        fi
    done
    if [ -s "$state/log" ]; then close_log; fi
    send_all
}

[ -n "$manager" ] || usage "PRSM_MANAGER is not set"
[ -n "$name" ] || usage "PRSM_NAME is not set"
[ -n "$contact" ] || usage "PRSM_CONTACT is not set: sites must be able to reach you"
mkdir -p "$state/outbox" "$state/refused"
touch "$state/log" "$state/found" "$state/known"
trap 'exit 0' INT TERM

case ${1:-} in
join) [ $# -eq 1 ] && join || usage "join takes no token: set PRSM_TOKEN, or give it a line of input" ;;
run) run ;;
leave) ask "/servlets/unsubscribe?host=$name" && cat "$state/answer" ;;
*) usage "say join, run or leave" ;;
esac
