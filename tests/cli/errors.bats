#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Failures: the message, the hint, the exit status; nothing that was known is lost.

load helper

# fails STATUS SCENARIO "ARGS" MESSAGE: on stderr, nothing on stdout; and in JSON
fails()
{
	local args
	read -r -a args <<< "$3"
	expect "$1" "$2" "${args[@]}"
	[ -z "$output" ]
	[[ "$stderr" == "eadm: "*"$4"* ]]
	run --separate-stderr fake "$2" "${args[@]}" -j
	show
	[ "$status" -eq "$1" ]
	jq -e --argjson exit "$1" '.schema == "eadm.error/2" and .ok == false and
		.exit == $exit and (.error.code | test("^E[A-Z0-9]+$")) and
		(.error.text | length > 0)' <<< "$output"
}

# --- 2: usage

@test "unknown command: nearest word" {
	fails 2 basic "lsit qp" "unknown command 'lsit' [EINVAL]"
	[[ "$stderr" == *"did you mean 'list'?"* ]]
}
@test "unknown object: nearest word" {
	fails 2 basic "dump qq" "unknown object 'qq' of command 'dump'"
	[[ "$stderr" == *"did you mean 'qp'?"* || "$stderr" == *"did you mean 'cq'?"* ]]
}
@test "help of a command that does not exist" {
	fails 2 basic "lsit --help" "unknown command 'lsit'"
	fails 2 basic "lsit qp -h" "unknown command 'lsit'"
	expect 0 basic list --help
	[[ "$output" == "Usage: eadm list dev"* ]]
	expect 0 basic list qq --help
	[[ "$output" == "Usage: eadm list dev"* ]]
}
@test "words are not abbreviated" { fails 2 basic "lis qp" "unknown command 'lis'"; }
@test "object is missing" { fails 2 basic "list" "needs an object"; }
@test "unknown option" {
	fails 2 basic "dump qp 17 --rnage 1-2" "unknown option '--rnage'"
	[[ "$stderr" == *"did you mean '--range'?"* ]]
}
@test "unknown short option" {
	fails 2 basic "list qp -x" "unknown option '-x'"
	fails 2 basic "list qp -vx" "unknown option '-vx'"
}
@test "long options are not abbreviated" {
	fails 2 basic "list qp --verb" "unknown option '--verb'"
	[[ "$stderr" == *"did you mean '--verbose'?"* ]]
	fails 2 basic "list qp --stat=RTS" "unknown option '--stat'"
	fails 2 basic "--js list qp" "unknown option '--js'"
	fails 2 basic "list --colu qpn qp" "unknown option '--colu'"
	# The value of an option is none
	expect 0 basic list qp --comm --stat
}
@test "option of a command in front of its name" {
	fails 2 basic "--state RTS list qp" "unknown option '--state'"
	[[ "$stderr" == *"options of a command stand behind its name"* ]]
}
@test "numbers that are none" {
	fails 2 basic "dump cq abc" "bad CQ number 'abc'"
	fails 2 basic "snapshot --write $BATS_TEST_TMPDIR/file --cq abc" "bad CQ number 'abc'"
	fails 2 basic "stat -i 1 -n 0" "bad number '0' of option --count"
	[ ! -e "$BATS_TEST_TMPDIR/file" ]
}
@test "a file has no more than one moment" {
	fake basic snapshot --write "$BATS_TEST_TMPDIR/file" > /dev/null 2>&1
	fails 2 basic "--from $BATS_TEST_TMPDIR/file log --follow" "--follow needs a kernel"
	fails 2 basic "--from $BATS_TEST_TMPDIR/file stat -l" "--interval needs a kernel"
}
@test "batch: a directory has no lines" {
	expect 1 basic batch "$BATS_TEST_TMPDIR"
	[[ "$stderr" == "eadm: cannot read $BATS_TEST_TMPDIR [EIO]"* ]]
}
@test "part of the manual that is none" {
	expect 2 basic __man synopsis lsit
	[[ "$stderr" == *"no part 'synopsis lsit'"* ]]
}
@test "options without effect are refused" {
	fails 2 basic "ver -d erdma_0" "option --device has no effect on 'eadm ver'"
	fails 2 basic "explain 2 --no-hw" "option --no-hw has no effect on 'eadm explain'"
	fails 2 basic "stat --no-hw" "option --no-hw has no effect on 'eadm stat'"
	fails 2 basic "version --timeout 5" "option --timeout has no effect on 'eadm version'"
	fails 2 basic "info dev --columns dev" "option --columns has no effect on 'eadm info dev'"
	fails 2 basic "info cmdq --no-header" "option --no-header has no effect on 'eadm info cmdq'"
	fails 2 basic "explain -v" "option --verbose has no effect on 'eadm explain'"
	fails 2 basic "stat -l -i 5" "only one of --interval and --live"
	fails 2 basic "debug-level none --for 5m" "option --for has no effect on 'default'"
	local o
	for o in "--columns qpn" --no-header --exact "--color never"; do
		# shellcheck disable=SC2086
		expect 2 basic -j list qp $o
		[[ "$stderr" == *"option ${o% *} has no effect on JSON"* ]]
	done
	for o in -p "--u64 string"; do
		# shellcheck disable=SC2086
		expect 2 basic list qp $o
		[[ "$stderr" == *"has no effect on text"*"Hint: add -j."* ]]
	done
	expect 2 basic -o jsonl -p list qp
	expect 2 basic dump qp 17 --raw --exact
	expect 2 basic stat --style vendor --columns name
	expect 2 none help -j
	expect 0 basic -j -v list qp
}
@test "-v adds wherever it is taken" {
	local cmd args
	for cmd in "list dev" "list qp" "list cq" "list eq" "info dev" "info cmdq" stat; do
		read -r -a args <<< "$cmd"
		[ "$(fake basic "${args[@]}")" != "$(fake basic "${args[@]}" -v)" ]
	done
}
@test "option of another command" { fails 2 basic "list eq --pid 5" "unknown option '--pid'"; }
@test "option without its value" { fails 2 basic "list qp --pid" "option '--pid' needs a value: PID"; }
@test "option with a value it does not take" { fails 2 basic "list qp --exact=1" "takes no value"; }
@test "value that is none of the words" { fails 2 basic "list qp --color red" "bad value 'red' of option --color"; }
@test "operand is missing" { fails 2 basic "info qp" "'info qp' needs QPN..."; }
@test "one operand too many" { fails 2 basic "info eq 1 2" "'2' is one operand too many"; }
@test "number that is none" { fails 2 basic "info qp 17x" "bad QP number '17x'"; }
@test "range upside down" { fails 2 basic "info qp 9-5" "bad QP number '9-5'"; }
@test "EQ that is none" { fails 2 basic "dump eq ceq1" "bad EQ 'ceq1'"; }
@test "selectors exclude each other" { fails 2 basic "dump qp 17 --last 3 --inflight" "only one of"; }
@test "bad selector" { fails 2 basic "dump qp 17 --range 5-3" "bad range '5-3'"; }
@test "--last 0" { fails 2 basic "dump qp 17 --last 0" "bad number '0'"; }
@test "--hex and --raw" { fails 2 basic "dump qp 17 --hex --raw" "only one of --hex and --raw"; }
@test "unknown state" { fails 2 basic "list qp --state ready" "no QP state 'ready'"; }
@test "bad peer" { fails 2 basic "list qp --peer localhost" "bad peer 'localhost'"; }
@test "unknown column" { fails 2 basic "list qp --columns qpn,size" "no column 'size'"; }
@test "unknown column of a dump" { fails 2 basic "dump qp 17 --columns nonsense" "no column 'nonsense'"; }
@test "sorted by nothing" { fails 2 basic "list qp --sort size" "cannot sort by 'size'"; }
@test "bad interval" { fails 2 basic "stat -i 0" "bad interval '0'"; }
@test "count without interval" { fails 2 basic "stat -n 3" "--count needs --interval"; }
@test "bad timeout" { fails 2 basic "list qp --timeout never" "bad value 'never' of option --timeout"; }
@test "unknown debug category" {
	fails 2 basic "debug-level cmqd=dbg" "no category 'cmqd'"
	[[ "$stderr" == *"did you mean 'cmdq'?"* ]]
}
@test "debug categories are shown or set" { fails 2 basic "debug-level cm=dbg,qp" "either show categories or set them"; }
@test "unknown debug level" { fails 2 basic "debug-level cm=loud" "no level 'loud'"; }
@test "duration without category" { fails 2 basic "debug-level --for 5m" "nothing to set"; }
@test "duration too long" { fails 2 basic "debug-level cm --for 25h" "bad duration '25h'"; }
@test "several devices, none chosen" {
	fails 2 two "info qp 17" "there are several ERDMA devices: erdma_0, erdma_1"
	[[ "$stderr" == *"choose one with -d"* ]]
}
@test "completion of another shell" {
	expect 2 none completion fish
	[[ "$stderr" == *"no completion for 'fish'"* ]]
}

# --- 3: does not exist

@test "queue pair that does not exist" {
	fails 3 basic "info qp 99" "erdma_0: no queue pair 99 [ENOENT]"
	[[ "$stderr" == *"Hint: 'eadm -d erdma_0 list qp' shows the live numbers."* ]]
}
@test "completion queue that does not exist" { fails 3 basic "dump cq 99" "no completion queue 99 [ENOENT]"; }
@test "event queue that does not exist" { fails 3 basic "info eq 31" "no event queue 31 [ENOENT]"; }
@test "range with nothing in it" { fails 3 basic "info qp 30-40" "nothing in the range 30-40"; }
@test "device that does not exist" { fails 3 basic "list qp -d erdma_9" "no ERDMA device 'erdma_9'"; }
@test "device of another kind" { fails 3 basic "list dev -d mlx5_0" "no ERDMA device 'mlx5_0'"; }
@test "counter that does not exist" { fails 3 basic "stat nonsense" "no counter 'nonsense'"; }
@test "no adapter" { fails 3 none "list qp" "no ERDMA adapter in this machine [ENODEV]"; }
@test "device removed meanwhile" { fails 3 removed "list qp" "the device was removed [ENODEV]"; }
@test "word nobody explains" { fails 3 none "explain nonsense" "nothing is called 'nonsense'"; }

# --- 4: permission

@test "node may not be opened" {
	fails 4 no-access "list qp" "cannot open /dev/erdma/diag0: Permission denied [EACCES]"
	[[ "$stderr" == *"Hint: run as root, or as a member of the group"* ]]
}
@test "list denied" {
	fails 4 denied-list "list qp" "permission denied [EPERM]"
	[[ "$stderr" == *"CAP_NET_ADMIN"* ]]
}
@test "ring of somebody else" {
	fails 4 denied-ring "dump qp 17 --sq" "queue pair 17 belongs to pid 4711; its ring is not readable [EPERM]"
	[[ "$stderr" == *"CAP_SYS_PTRACE"* ]]
}
@test "ring of the kernel denied" { fails 4 denied-ring "dump qp 18 --sq" "queue pair 18: its ring is not readable [EPERM]"; }
@test "levels denied" { fails 4 denied-set "debug-level cm=dbg" "debug levels: permission denied [EPERM]"; }
@test "lockdown is named" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	EADM_FAKE_LOCKDOWN=1 expect 4 denied-list list qp
	[[ "$stderr" == *"locked down"* ]]
}

# --- 5: no driver

@test "adapter without driver" {
	fails 5 no-driver "list dev" "1 ERDMA adapter at 0000:00:05.0, no driver bound [ENODEV]"
	[[ "$stderr" == *"Hint: modprobe erdma"* ]]
	fails 5 no-driver "dump qp 1" "no driver bound [ENODEV]"
}
@test "adapter without driver: lockdown takes only signed modules" {
	EADM_FAKE_LOCKDOWN=1 expect 5 no-driver list dev
	[[ "$stderr" == *"Hint: modprobe erdma; "*"only signed modules. "*"mokutil --import"* ]]
	EADM_FAKE_LOCKDOWN=1 expect 5 no-driver-2 list qp
	[[ "$stderr" == *"only signed modules"* ]]
}
@test "adapter without driver: no module for the kernel that runs" {
	local EADM_FAKE_NO_MODULE=6.1.0-1-amd64
	export EADM_FAKE_NO_MODULE
	fails 5 no-driver "list dev" "1 ERDMA adapter at 0000:00:05.0, no driver bound [ENODEV]"
	EADM_FAKE_LOCKDOWN=1 expect 5 no-driver-2 list qp
	[[ "$stderr" == *"Hint: there is no module erdma for Linux 6.1.0-1-amd64: 'dkms status erdma'."* ]]
	[[ "$stderr" == *"'apt install linux-headers-6.1.0-1-amd64'"* ]]
	[[ "$stderr" == *"A kernel without CONFIG_INFINIBAND gets none."* ]]
}
@test "two adapters without driver" {
	fails 5 no-driver-2 "list qp" "2 ERDMA adapters at 0000:00:05.0, 0000:00:06.0, no driver bound"
}
@test "adapter with a driver for something else" { fails 5 vfio "list qp" "bound to driver 'vfio-pci', which made no RDMA device"; }
@test "driver without node" { fails 5 no-node "list qp" "the driver 'erdma' has no diagnostic node"; }
@test "the kernel's own driver, with and without an RDMA device of the adapter" {
	fails 5 stock "list qp" "the driver 'erdma' (the kernel's own) has no diagnostic node [ENODEV]"
	[[ "$stderr" == *"Hint: load the erdma driver that comes with eadm: 'modinfo erdma' shows"* ]]
	fails 5 stock "list dev" "the driver 'erdma' (the kernel's own) has no diagnostic node [ENODEV]"
	fails 5 stock-device "list qp" "the driver 'erdma' (the kernel's own) has no diagnostic node [ENODEV]"
	expect 0 stock-device list dev
	[[ "$output" == *"no-node"*"the driver 'erdma' (the kernel's own) has no diagnostic node"* ]]
	fails 5 probe-failed "list qp" "bound to driver 'erdma', which made no RDMA device"
}
@test "no adapter: every command that looks for one, and the empty list" {
	local cmd args
	for cmd in "list dev" "list dev -d all"; do
		read -r -a args <<< "$cmd"
		expect 0 none "${args[@]}"
		[[ "$stderr" == *"note: no ERDMA adapter in this machine"* ]]
	done
	for cmd in "list dev -d erdma_0" "list qp" "list cq" "list eq" info "info qp 1" "info cmdq" "dump qp" \
		   "dump cq 1" "dump cmdq" stat debug-level; do
		fails 3 none "$cmd" "no ERDMA adapter in this machine [ENODEV]"
		fails 5 no-driver "$cmd" "no driver bound [ENODEV]" || [ "$cmd" = "list dev -d erdma_0" ]
	done
}
@test "node that is not there" {
	fails 5 no-file "list qp" "the driver's node /dev/erdma/diag0 is not there"
}

# --- 6: not supported

@test "call the driver does not know" { fails 6 old-driver "info qp 17" "not supported by this driver [ENOTTY]"; }
@test "structure too new for the driver" { fails 6 older-driver "list qp" "not supported by this driver [E2BIG]"; }

# --- 8: no answer

@test "call that hangs" {
	SECONDS=0
	fails 8 hangs "list qp --timeout 200ms" "no answer in time [ETIMEDOUT]"
	[ "$SECONDS" -lt 10 ]
}
@test "call that hangs: why does not say that the queue pair does not exist" {
	fails 8 hangs "why 17 --timeout 200ms" "no answer in time [ETIMEDOUT]"
}
@test "call that hangs: the first look of watch fails, and frees nothing that the call may write to" {
	expect 8 hangs watch --until link-down --for 1s --timeout 200ms
	[[ "$stderr" != *Sanitizer* ]]
}
@test "command queue down" {
	fails 8 cmdq-dead "info qp 17" "[EHOSTDOWN]"
	expect 0 cmdq-dead info qp 17 --no-hw
}

# --- 1: the rest

@test "driver busy" { fails 1 busy "info qp 17" "busy with other diagnostics [EBUSY]"; }
@test "device reports an error" { fails 1 io-error "info qp 17" "[EIO]"; }
@test "reply longer than its buffer" { fails 1 list-too-long "list qp" "malformed reply: more bytes than there was room for [EPROTO]"; }
@test "record of length 0" { fails 1 rec-len-0 "list qp" "a record has an impossible length [EPROTO]"; }
@test "record of odd length" { fails 1 rec-len-odd "list qp" "a record has an impossible length"; }
@test "record longer than the reply" { fails 1 rec-len-huge "list qp" "the reply ends inside a record"; }
@test "reply without the record" { fails 1 no-record "info qp 17" "record is missing [EPROTO]"; }
@test "context longer than its buffer" { fails 1 context-too-long "info qp 17" "malformed reply"; }
@test "rings with impossible numbers" {
	fails 1 ring-depth-0 "dump qp 17 --sq" "impossible depth [EPROTO]"
	fails 1 ring-depth-odd "dump qp 17 --sq" "impossible depth"
	fails 1 ring-depth-huge "dump cq 5" "impossible depth"
	fails 1 ring-entry-size "dump eq 1" "entries of an unknown size"
	fails 1 ring-count "dump cmdq" "not read as far as asked for"
}
@test "too many debug categories" { fails 1 debug-count "debug-level" "more debug categories"; }

# --- 7: partial; what is known is shown

@test "one of two queue pairs does not exist" {
	expect 7 basic info qp 17 99
	[[ "$output" == *"erdma_0 qp 17"* ]]
	[[ "$stderr" == *"no queue pair 99 [ENOENT]"* ]]
	expect 7 basic -j info qp 17 99
	jq -e '.ok and .exit == 7 and (.data | length == 1) and
		.warnings[0].object == "erdma_0/qp/99"' <<< "$output"
}
@test "list cut short keeps what came before" {
	expect 7 list-cut list qp --no-header
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == "erdma_0  17 "* ]]
	[[ "$stderr" == *"the reply ends inside"* ]]
}
@test "list with a wrong count keeps its records" {
	expect 7 list-count list qp --no-header
	[ "${#lines[@]}" -eq 3 ]
	[[ "$stderr" == *"number of records"* ]]
}
@test "list that goes round in circles ends" {
	expect 7 list-loop list qp --no-header
	[ "${#lines[@]}" -eq 3 ]
	[[ "$stderr" == *"does not get on"* ]]
}
@test "device that does not answer: the driver's side is shown" {
	expect 7 basic info qp 21
	[[ "$output" == *"ERR"* ]]
	[[ "$stderr" == *"device context not read [ETIMEDOUT]"* ]]
	expect 0 basic info qp 21 --no-hw
}
@test "device that refuses: the status is shown" {
	expect 7 hw-refused info qp 17
	[[ "$stderr" == *"the device refused with status 22 [EIO]"* ]]
}
@test "device context that makes no sense" {
	expect 7 hw-len info qp 17
	[[ "$stderr" == *"makes no sense [EPROTO]"* ]]
	expect 7 hw-magic info qp 17
}
@test "ring that does not hold still" {
	expect 0 torn --timeout 20ms dump qp 18 --sq
	[[ "$output" == *"changed while read"* ]]
	[[ "$stderr" == *"note: the sq moved while it was read"* ]]
	expect 7 torn --timeout 20ms dump qp 18 --sq --strict
	[[ "$output" == *"changed while read"* ]]
	[[ "$stderr" == *"moved while it was read"*"[EAGAIN]"* ]]
	fake torn --timeout 20ms dump qp 18 --sq -j |
		jq -e '.exit == 0 and .data[0].torn and .warnings[0].code == "TORN"'
	expect 0 settles dump qp 18 --sq --strict
	[[ "$output" != *"changed while read"* ]]
}
@test "one of two devices unusable" {
	expect 7 mixed list qp
	[[ "$output" == *"erdma_0"* ]]
	[[ "$stderr" == *"0000:00:06.0"*"no driver bound"* ]]
}
@test "counters cut short: those that came are shown" {
	expect 7 counters-cut stat
	[[ "$output" == *"tx_bytes"* ]]
	[[ "$stderr" == *"counters: malformed reply: an attribute is missing [EPROTO]"* ]]
}
@test "one of two rings fails, the other is shown" {
	expect 7 rq-fails dump qp 17
	[[ "$output" == *"erdma_0 qp 17 sq"* ]]
	[[ "$stderr" == *"queue pair 17: "*"[EIO]"* ]]
}
@test "one of several rings denied" {
	expect 7 denied-ring-17 dump qp
	[[ "$output" == *"erdma_0 qp 18 sq"* ]]
	[[ "$stderr" == *"queue pair 17 belongs to pid 4711"* ]]
}
