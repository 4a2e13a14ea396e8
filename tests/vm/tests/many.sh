#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guest: several VMs, each connected with each other one, both ways, all at once.
# Every byte is checked (progs/verbs_traffic.c); then one VM is killed.
# shellcheck source=tests/vm/guest/lib.sh
. /erdma/tests/vm/guest/lib.sh
LIMIT=${LIMIT_MANY:-240}
progs=$TREE/build/progs
port=24100
# Limit of every wait of verbs_traffic, ms: all VMs share the host's cores
wait_ms=60000
last=$VM_COUNT

# Numbers of jobs are kept in files, as a check is a subshell
jobs=/run/jobs

serve_everywhere()
{
	local n
	for n in $(seq "$last"); do
		start_on "$n" "exec $progs/verbs_traffic serve $(address_of "$n") $port $wait_ms" || return 1
		echo "$job" >"$jobs/server.$n"
	done
	for n in $(seq "$last"); do
		on_vm "$n" "wait_until 60 'the server of VM $n' listening $port" || return 1
	done
}

# every_pair COMMAND ARG...: with FROM and TO behind, until one fails
every_pair()
{
	local from to
	for from in $(seq "$last"); do
		for to in $(seq "$last"); do
			if [ "$from" != "$to" ]; then "$@" "$from" "$to" || return 1; fi
		done
	done
}

# start_client ROUNDS CONNECTIONS FROM TO
start_client()
{
	start_on "$3" "exec $progs/verbs_traffic run $(address_of "$4") $port $wait_ms $1 $2" || return 1
	echo "$job" >"$jobs/client.$3.$4"
}

client_log()
{
	job_log "$1" "$(cat "$jobs/client.$1.$2")"
}

# Its connection has done its first round
moving()
{
	client_log "$1" "$2" | grep -q moving
}

# client_ends STATUS FROM TO
client_ends()
{
	local rc=0
	wait_job "$(cat "$jobs/client.$2.$3")" || rc=$?
	client_log "$2" "$3"
	echo "from VM $2 to VM $3: status $rc, expected $1"
	[ $rc = "$1" ]
}

stop_client()
{
	on_vm "$1" "pkill -TERM -f 'verbs_traffic run $(address_of "$2") '"
}

# The servers have checked what they got, and say so with their status.
server_ends()
{
	local rc=0 job
	job=$(cat "$jobs/server.$1")
	on_vm "$1" "pkill -TERM -f 'verbs_traffic serve'"
	wait_job "$job" || rc=$?
	job_log "$1" "$job"
	[ $rc = 0 ]
}

load_driver || exit 1
followers_serve
mkdir $jobs
pairs=$((last * (last - 1)))

check "a server in each of $last VMs" serve_everywhere
check "$pairs pairs connect, two connections each" every_pair start_client "${ROUNDS:-4}" 2
check "$pairs pairs: all data is right" every_pair client_ends 0

# One each: those that have started do not leave much of a host's two cores.
check "$pairs pairs connect again, without end" every_pair start_client 0 1
check "$pairs pairs: data moves on all at once" wait_until 120 "all to move" every_pair moving
check "VM $last is killed" vm_kill "$last"
for ((n = 1; n < last; n++)); do
	check "VM $n has lost VM $last, and was told" client_ends 3 $n "$last"
done
check "VM $last starts again" vm_start "$last"
# Those that lost nothing end as planned: status 0 also says that data was right.
last=$((last - 1))
check "the other pairs were not disturbed" every_pair stop_client
check "the other pairs: all data was right" every_pair client_ends 0
for ((n = 1; n <= last; n++)); do
	check "VM $n: the server's data was right" server_ends $n
	check "VM $n: nothing is left" on_vm $n no_objects
done
last=$VM_COUNT
check "a server in each VM again" serve_everywhere
check "VM $last is back: $pairs pairs connect" every_pair start_client 1 2
check "VM $last is back: all data is right" every_pair client_ends 0
finish
