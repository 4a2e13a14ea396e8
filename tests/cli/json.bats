#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# With -j stdout is one valid document, whatever happens; its fields are known.

load helper

ALL=("list dev" "list qp" "list cq" "list eq" "list mr" "list pd" "list ctx" "list cm"
     "info" "info dev" "info qp 17,18" "info cq 5" "info eq 1" "info cmdq" "dump qp" "dump qp 17" "dump cq 5,6" "dump eq aeq" "dump eq cmdq"
     "dump cmdq" "stat" "stat -l -n 1" "top -n 1" "top -n 1 --by dev" "stat --style vendor" "debug-level" "why" "why 17" "doctor" "doctor --list" "summary" "recover dev --dry-run" "recover eq 1 --yes" "recover cq 5 --yes" "explain" "version" "ver" "schema")

# One document, with a schema; data, or an error and the exit status in it
valid()
{
	jq -s -e --argjson exit "$1" 'length == 1 and (.[0] |
		(.schema | test("^eadm\\.[a-z.-]+/2$")) and .exit == $exit and
		if .ok then (.data | type == "array") and (.warnings | type == "array")
		       else (.error.code | type == "string") and (.error.text | type == "string")
		       end)' <<< "$output" > /dev/null
}

every_command()
{
	local args cmd
	for cmd in "${ALL[@]}"; do
		read -r -a args <<< "$cmd"
		# No effect on what makes no calls
		case ${args[0]} in explain|version|ver|schema) ;; *) args+=(--timeout 100ms) ;; esac
		run --separate-stderr fake "$1" -j "${args[@]}"
		if ! valid "$status"; then
			echo "$1: $cmd"
			show
			return 1
		fi
	done
}

@test "every command: a valid document" { every_command basic; }
@test "every command, two devices" { every_command two; }
@test "every command, no adapter" { every_command none; }
@test "every command, no driver" { every_command no-driver; }
@test "every command, no node" { every_command no-node; }
@test "every command, in a container" { every_command pod; }
@test "every command, devices of other drivers beside an adapter" { every_command beside; }
@test "every command, only devices of other drivers" { every_command only-others; }
@test "every command, no permission" { every_command no-access; }
@test "every command, rings denied" { every_command denied-ring; }
@test "every command, driver that hangs" { every_command hangs; }
@test "every command, device that is silent" { every_command device-silent; }
@test "every command, driver without contexts" { every_command old-driver; }
@test "every command, replies cut short" { every_command list-cut; }
@test "every command, rings with rubbish" { every_command broken-rings; }
@test "every command, hostile names" { every_command nasty-comm; }

@test "wrong calls: a valid document" {
	local args cmd
	for cmd in "-v" "nonsense" "list" "list nonsense" "list qp --nonsense" "info qp x" "info qp" \
		   "dump qp --range" "stat -i nonsense" "list qp --sort x"; do
		read -r -a args <<< "$cmd"
		run --separate-stderr fake basic "${args[@]}" -j
		[ "$status" -eq 2 ]
		valid 2
	done
}

@test "schema names belong to commands" {
	local cmd args want
	while read -r want cmd; do
		read -r -a args <<< "$cmd"
		[ "$(fake basic -j "${args[@]}" 2>/dev/null | jq -r .schema)" = "$want" ]
	done <<-EOF2
	eadm.summary/2
	eadm.dev.list/2 list dev
	eadm.qp.list/2 list qp
	eadm.cq.list/2 list cq
	eadm.eq.list/2 list eq
	eadm.mr.list/2 list mr
	eadm.pd.list/2 list pd
	eadm.ctx.list/2 list ctx
	eadm.cm.list/2 list cm
	eadm.dev.info/2 info
	eadm.qp.info/2 info qp 17
	eadm.cq.info/2 info cq 5
	eadm.eq.info/2 info eq 1
	eadm.cmdq.info/2 info cmdq
	eadm.qp.dump/2 dump qp 17
	eadm.cq.dump/2 dump cq 5
	eadm.eq.dump/2 dump eq 1
	eadm.cmdq.dump/2 dump cmdq
	eadm.stat/2 stat
	eadm.recover/2 recover dev --dry-run
	eadm.recover.queue/2 recover eq 1 --yes
	eadm.debug-level/2 debug-level
	eadm.why/2 why
	eadm.doctor/2 doctor
	eadm.version/2 version
	eadm.explain/2 explain 2
	eadm.ver/2 ver
	eadm.schema/2 schema
	EOF2
}

@test "the document names source, driver and time" {
	fake basic -j list qp | grep -qF '"source":{"kind":"fake","driver":"erdma 0.1.0","abi":1,"time_ns":1795222108123456789,"time":"2026-11-21T00:48:28.123456789Z"}'
}

@test "times are there as RFC 3339, too, and fit the numbers" {
	fake basic -j list qp > "$BATS_TEST_TMPDIR/qp"
	fake basic -j debug-level > "$BATS_TEST_TMPDIR/debug"
	fake basic -j dump cq 6 > "$BATS_TEST_TMPDIR/cq"
	python3 - "$BATS_TEST_TMPDIR" <<-'EOF2'
		import datetime, json, sys
		def ns(text):
		    assert text.endswith('Z') and len(text) == 30, text
		    whole = datetime.datetime.fromisoformat(text[:19] + '+00:00').timestamp()
		    return int(whole) * 10**9 + int(text[20:29])
		qp, debug, cq = (json.load(open(f'{sys.argv[1]}/{x}')) for x in ('qp', 'debug', 'cq'))
		now = qp['source']['time_ns']
		assert ns(qp['source']['time']) == now
		for row in qp['data']:
		    assert ns(row['created']) == now - row['age_ns'] > 0
		    assert ns(row['state_since']) == now - row['state_age_ns']
		until = [x for x in debug['data'] if 'until' in x]
		assert len(until) == 1 and ns(until[0]['until']) == now + until[0]['left_ns']
		assert ns(cq['data'][0]['time']) == cq['data'][0]['time_ns']
	EOF2
}
