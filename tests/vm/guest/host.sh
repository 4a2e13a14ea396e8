# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What the host does for a test, and several VMs together. Part of lib.sh.
#
#   qmp CMD [ARGS]         one QMP command for the QEMU of this VM; ARGS is a JSON
#                          object; prints what it returns, as JSON
#   qmp_vm N CMD [ARGS]    ... for that of VM N
#   qmp_event [N] NAME     the oldest QMP event of this name, as JSON; status 1:
#                          there is none (wait_until asks again)
#   vm_kill N              SIGKILL to the QEMU of VM N
#   vm_start N             boot it again: it runs the same script, VM_LIFE is one
#                          more
#   vm_state N             running, booting, killed, or its exit status
#   barrier NAME [COUNT]   until COUNT (all) VMs are there; a name is used once
#   tell KEY VALUE         for other VMs
#   told KEY [SECONDS]     what another VM told
#
# VM 1 leads, the others do as they are told: a test for several VMs begins with
# "followers_serve", where all but VM 1 stay until VM 1 ends.
#
#   on_vm N COMMAND...     run a shell command (it has lib.sh) in VM N (also 1);
#                          its output and status are ours
#   start_on N COMMAND...  the same in the background; sets job
#   wait_job JOB [SECONDS] its exit status; 124: not finished
#   job_log N JOB          its output so far
#   address_of N [CARD]    its address
#   two_vms NAME SERVER -- CLIENT   one test: the server in VM $SERVER_VM (2), the
#                          client in VM $CLIENT_VM (1); %a is the server's
#                          address, %c the client's, %p a port
#   both_ways NAME SERVER -- CLIENT   two tests: from VM 1 to 2, from VM 2 to 1
#   vms_see_each_other     the network to VM 2 works
#
# Every wait has a limit.

host_port()
{
	local dir name
	for dir in /sys/class/virtio-ports/*; do
		read -r name <"$dir/name"
		if [ "$name" = "$1" ]; then
			echo "/dev/${dir##*/}"
			return 0
		fi
	done
	return 1
}

# ask_host REQUEST: prints the answer; status 1 and a message: an error. A port
# can be open once, hence the lock.
ask_host()
{
	local seq=$((RANDOM * 32768 + RANDOM)) got word rest
	(
		flock -w 60 9 || { echo "the host's port is in use" >&2; exit 1; }
		exec 8<>"$(host_port erdma.host)" || exit 1
		printf '%s %s\n' "$seq" "$*" >&8
		while read -r -t 30 -u 8 got word rest; do
			if [ "$got" != "$seq" ]; then continue; fi
			if [ "$word" = ok ]; then
				printf '%s\n' "$rest"
				exit 0
			fi
			printf 'host: %s: %s\n' "$*" "$rest" >&2
			exit 1
		done
		echo "waited 30 s for the host: $*" >&2
		exit 1
	) 9>/run/host.lock
}

qmp_vm()
{
	local n=$1 cmd=$2 args=${3:-}
	ask_host "qmp $n {\"execute\": \"$cmd\"${args:+, \"arguments\": ${args//$'\n'/ }}}"
}

qmp()
{
	qmp_vm 0 "$@"
}

qmp_event()
{
	local n=0 answer
	if [ $# -gt 1 ]; then
		n=$1
		shift
	fi
	answer=$(ask_host "event $n $1") || return 1
	[ "$answer" != none ] && echo "$answer"
}

vm_kill()
{
	ask_host "kill $1" >/dev/null
}

vm_start()
{
	ask_host "start $1" >/dev/null
}

vm_state()
{
	ask_host "state $1"
}

barrier()
{
	wait_until "${BARRIER_LIMIT:-120}" "barrier $1" barrier_open "$1" "${2:-$VM_COUNT}"
}

barrier_open()
{
	[ "$(ask_host "barrier $1 $2")" = go ]
}

tell()
{
	ask_host "set $1 $2" >/dev/null
}

told()
{
	wait_until "${2:-60}" "somebody to tell $1" ask_host "get $1" >&2 && ask_host "get $1"
}

# ---- several VMs ----------------------------------------------------------

# Commands for this VM, each in a process of its own, until told to leave.
serve_commands()
{
	local id command
	exec 7<>"$(host_port erdma.agent)" || return 1
	tell "agent$VM_INDEX" "$VM_LIFE"
	while read -r -u 7 id command; do
		if [ "$command" = leave ]; then break; fi
		{
			printf '. %s/tests/vm/guest/lib.sh\n%s\n' "$TREE" "$command" >"/run/job$id"
			setsid bash "/run/job$id" >"/results/job$id.log" 2>&1 </dev/null 7<&-
			printf '%s %s\n' "$id" $? >&7
		} 2>/dev/null &
	done
	printf '%s 0\n' "$id" >&7
}

followers_serve()
{
	if [ "$VM_INDEX" -eq 1 ]; then
		serve_commands </dev/null >/dev/null 2>&1 &
	else
		serve_commands
		exit
	fi
}

dismiss_followers()
{
	local n
	if [ "${VM_INDEX:-1}" -ne 1 ]; then return 0; fi
	for n in $(seq 2 "${VM_COUNT:-1}"); do
		if agent_ready "$n"; then ask_host "run $n leave" >/dev/null; fi
	done
}

# Until the agent of VM N is there, in its present life.
agent_ready()
{
	[ "$(vm_state "$1")" = running ] && [ -n "$(ask_host "get agent$1" 2>/dev/null)" ]
}

start_on()
{
	local n=$1
	shift
	wait_until 120 "the agent of VM $n" agent_ready "$n" || return 1
	local command=$*
	if [[ $command = *$'\n'* ]]; then command="eval ${command@Q}"; fi
	job=$(ask_host "run $n $command")
}

wait_job()
{
	local status end=$((SECONDS + ${2:-$LIMIT} * SLOW)) pause=5
	# Asking costs the guest some 20 ms: less often, the longer it takes.
	while status=$(ask_host "status $1") && [ "$status" = running ]; do
		if [ "$SECONDS" -ge "$end" ]; then return 124; fi
		sleep "0.$(printf %02d $pause)"
		pause=$((pause < 50 ? pause + 5 : 50))
	done
	return "${status:-1}"
}

job_log()
{
	local dir=/all/vm$1
	if [ "$1" = "$VM_INDEX" ]; then dir=/results; fi	# /all: only with others
	cat "$dir/job$2.log"
}

on_vm()
{
	local job rc=0
	start_on "$@" || return 1
	wait_job "$job" || rc=$?
	job_log "$1" "$job"
	return $rc
}

address_of()
{
	echo "10.77.$((${2:-1} - 1)).$1"
}

# A port that no test had before, also those that run in a subshell
next_port()
{
	port=$(($(cat /run/port 2>/dev/null || echo 24000) + 1))
	echo $port >/run/port
}

try_two_vms()
{
	local log=$1 to=${SERVER_VM:-2} from=${CLIENT_VM:-1} words seen=0 server=() client=() rc=0 job
	shift
	next_port
	for words; do
		words=${words//%p/$port}
		words=${words//%a/$(address_of "$to")}
		words=${words//%c/$(address_of "$from")}
		if [ "$words" = -- ]; then seen=1; continue; fi
		if [ $seen = 0 ]; then server+=("$words"); else client+=("$words"); fi
	done
	printf 'server in VM %s: %s\nclient in VM %s: %s\n' "$to" "${server[*]}" "$from" "${client[*]}" >"$log"
	start_on "$to" "timeout --kill-after=5 $((LIMIT * SLOW)) ${server[*]@Q}" || return 1
	on_vm "$to" wait_until 30 listener listening $port >>"$log" &&
		on_vm "$from" "timeout --kill-after=5 $((LIMIT * SLOW)) ${client[*]@Q}" >>"$log" 2>&1 || rc=$?
	if [ $rc -eq 0 ]; then
		wait_job "$job" || rc=$?
		if [ $rc -ne 0 ]; then echo "the server ended with status $rc" >>"$log"; fi
	else
		on_vm "$to" "pkill -KILL -f -- ' $port'" >/dev/null
	fi
	job_log "$to" "$job" | tail -n 8 | sed 's/^/server: /' >>"$log"
	return $rc
}

# run_two_vms LOG SERVER... -- CLIENT...: see two_vms. perftest can lose its own race:
# again, then.
run_two_vms()
{
	local rc try
	for try in $(seq "$RACES"); do
		rc=0
		try_two_vms "$@" || rc=$?
		if [ $rc -eq 0 ] || ! lost_own_race "$1"; then break; fi
		say "try $try: the client was faster than the server ($*)" >>/results/races.log
	done
	return $rc
}

two_vms()
{
	local name=$1 log rc=0
	shift
	wanted "$name" || return 0
	log=$(logfile "$name")
	run_two_vms "$log" "$@" || rc=$?
	result "$name" "$rc" "$log"
}

# perf_value FIELD PROGRAM OPTION...: perftest between the two VMs; prints a field of
# the client's last table line. It measures its clock first and prints zeros if
# another process disturbed that: if it was disturbed each time nothing is printed.
perf_value()
{
	local field=$1 log=/results/perf.log
	shift
	for _ in $(seq "$RACES"); do
		if ! run_two_vms $log "$@" -R -F -p %p -- "$@" -R -F -p %p %a >&2; then
			tail -n 12 $log >&2
			return 1
		fi
		if grep -aE '^ *[0-9]+ +[0-9]+ +[0-9.]+' $log | grep -v server: | tail -1 |
			awk -v f="$field" '$f > 0 { print $f; n = 1 } END { exit !n }'; then return 0; fi
	done
	echo "$*: no steady clock in $RACES tries" >&2
}

both_ways()
{
	local name=$1
	shift
	SERVER_VM=2 CLIENT_VM=1 two_vms "$name, 1 to 2" "$@"
	SERVER_VM=1 CLIENT_VM=2 two_vms "$name, 2 to 1" "$@"
}

vms_see_each_other()
{
	wait_until 30 "the network" ping -c 1 -W 1 "$(address_of 2)"
}
