#!/bin/sh
# Adds one OpenLineage run event to the spool of this node: `record.sh began` or `record.sh ended`, with the variables
# that slurmd gives to its prolog and epilog (slurm.schedmd.com/prolog_epilog.html). `trainbill import spool` reads it.
#
# The run is the job's execution: all nodes and both scripts come to the same id, and a requeue to another. The first node
# of the job tells its start and its end; each node tells what was held of it.
set -eu

# shellcheck source=/dev/null
[ -n "${TRAINBILL_SPOOL:-}" ] || [ ! -r /etc/default/trainbill ] || . /etc/default/trainbill
spool=${TRAINBILL_SPOOL:-/var/spool/trainbill}
now=$(date -u +%Y-%m-%dT%H:%M:%SZ)

case ${SLURM_JOB_ID:-} in '' | *[!0-9]*) exit 1 ;; esac
cluster=${SLURM_CLUSTER_NAME:-}
node=${SLURMD_NODENAME:-$(uname -n)}
restarts=${SLURM_JOB_RESTART_COUNT:-0}

# Text as JSON. What users write into comments is told as it is, as far as it is text.
json() {
    text=$(printf '%s' "$1" | tr '\000-\037\177' '[ *]')
    printf '%s' "$text" | iconv -f UTF-8 -t UTF-8 >/dev/null 2>&1 ||
        text=$(printf '%s' "$text" | LC_ALL=C tr -cd '\040-\176')
    printf '"%s"' "$(printf '%s' "$text" | sed 's/[\\"]/\\&/g')"
}

# `,"name":"text"`, or nothing where there is no text.
field() {
    [ -z "$2" ] || printf ',"%s":%s' "$1" "$(json "$2")"
}

# `,"name":1`, or nothing where that is no number.
count() {
    case $2 in '' | *[!0-9]*) ;; *) printf ',"%s":%d' "$1" "$2" ;; esac
}

# The id of this execution: a UUID of version 5 (RFC 9562, section 5.5). `trainbill exec` comes to the same.
uuid() {
    hash=$(printf '\075\017\136\301\173\206\112\037\236\122\304\247\010\326\023\271%s' "$1" | sha1sum)
    # shellcheck disable=SC2020 # each of the sixteen digits has its own
    variant=$(printf '%s' "$hash" | cut -c17 | tr '0123456789abcdef' '89ab89ab89ab89ab')
    printf '%s-%s-5%s-%s%s-%s' "$(cut_of 1-8)" "$(cut_of 9-12)" "$(cut_of 14-16)" "$variant" "$(cut_of 18-20)" "$(cut_of 21-32)"
}
cut_of() { printf '%s' "$hash" | cut -c"$1"; }

# The first name of a host list, such as `gpu07` of `gpu[07-09,12],cpu1`.
first_host() {
    rest=$1 name=
    while :; do
        plain=${rest%%[\[,]*}
        name=$name$plain
        rest=${rest#"$plain"}
        case $rest in
        \[*)
            group=${rest#\[}
            rest=${group#*\]}
            group=${group%%\]*}
            name=$name${group%%[,-]*}
            ;;
        *) break ;;
        esac
    done
    printf '%s' "$name"
}

# The value of `experiment` among `key=value` parted by `;`.
experiment() {
    printf '%s' "$1" | tr ';' '\n' | sed -n 's/^[[:space:]]*experiment\(_id\)\{0,1\}[[:space:]]*=[[:space:]]*//p' | sed -n '1s/[[:space:]]*$//p'
}

# Accelerators of this node that the job has; a list that is not of plain numbers is not counted.
gpus() {
    case ${SLURM_JOB_GPUS:-} in
    '' | *[!0-9,]*) ;;
    *) printf ',"gpus":%d' "$(printf '%s\n' "$SLURM_JOB_GPUS" | tr ',' '\n' | grep -c .)" ;;
    esac
}

start=
case ${SLURM_JOB_START_TIME:-} in
'' | *[!0-9]*) ;;
*) start=$(date -u -d "@$SLURM_JOB_START_TIME" +%Y-%m-%dT%H:%M:%SZ) ;;
esac

leads=yes
[ -z "${SLURM_JOB_NODELIST:-}" ] || [ "$(first_host "$SLURM_JOB_NODELIST")" = "$node" ] || leads=

attempt='"scheduler":"slurm"'$(
    field cluster "$cluster"
    field queue "${SLURM_JOB_PARTITION:-}"
    field user "${SLURM_JOB_USER:-}"
    field team "${SLURM_JOB_ACCOUNT:-}"
    count nodeCount "${SLURM_JOB_NUM_NODES:-}"
)
case $restarts in *[!0-9]*) ;; *) attempt=$attempt$(printf ',"ordinal":%d' "$((restarts + 1))") ;; esac
[ -z "$cluster" ] || attempt=$attempt',"aliases":['$(json "slurm:$cluster:$SLURM_JOB_ID")']'

kind=OTHER at=$now held=
case $1 in
began)
    at=${start:-$now}
    [ -z "$leads" ] || kind=START
    held='"start":"'$at'"'
    ;;
ended)
    # Without its start the holding is closed by the end of the run.
    [ -z "$start" ] || held='"start":"'$start'","end":"'$now'"'
    code=${SLURM_JOB_EXIT_CODE2:-}
    signal=${code#*:} code=${code%%:*}
    if [ -n "$leads" ]; then
        attempt=$attempt$(count exitCode "$code")
        case $signal in
        '' | 0 | *[!0-9]*)
            # Code 0 is also that of a job that was cancelled or ran out of time; any other is of the job itself.
            case $code in '' | 0 | *[!0-9]*) ;; *) kind=FAIL ;; esac
            ;;
        *) attempt=$attempt$(field signal "SIG$(kill -l "$signal")") ;;
        esac
        [ "$kind" = FAIL ] || attempt=$attempt',"endedAt":"'$now'"'
    fi
    ;;
*) exit 2 ;;
esac

facets='"gpuRun_attempt":{'$attempt'}'
[ -z "$held" ] ||
    facets=$facets',"gpuRun_resources":{"bindings":[{"nodeName":'$(json "$node")',"kind":"node",'$held$(gpus)'}]}'
experiment=$(experiment "${SLURM_JOB_EXTRA:-}")
[ -n "$experiment" ] || experiment=$(experiment "${SLURM_JOB_COMMENT:-}")
[ -z "$experiment" ] ||
    facets=$facets',"tags":{"tags":[{"key":"experiment","value":'$(json "$experiment")'}]}'
run=$(uuid "slurm:$cluster:$SLURM_JOB_ID:$restarts")
event='{"eventType":"'$kind'","eventTime":"'$at'","producer":"https://github.com/trainbill/trainbill/slurm"'
event=$event',"run":{"runId":"'$run'","facets":{'$facets'}}'
event=$event',"job":{"namespace":'$(json "slurm:$cluster")',"name":"'$SLURM_JOB_ID'"}}'

umask 022
file=$(printf '%s' "$node" | tr -c 'A-Za-z0-9-' '_')
mkdir -p "$spool"
# One write of one line: what else writes to this file does not mix with it.
printf '%s\n' "$event" >>"$spool/slurm.$SLURM_JOB_ID.$file.ndjson"
