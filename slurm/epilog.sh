#!/bin/sh
# Epilog of slurmd: a record that a job ended on this node. See docs/slurm.md.
#
# An epilog that fails drains its node, so this one never does, and it takes five seconds at most.
PATH=/usr/sbin:/usr/bin:/sbin:/bin
export PATH
timeout -k 1 5 sh "${0%/*}/record.sh" ended </dev/null >/dev/null 2>&1
exit 0
