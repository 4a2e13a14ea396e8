#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# With -j stdout is one valid document, whatever happens; its fields are known.

load helper

ALL=("list dev" "list qp" "list cq" "list eq" "list mr" "list pd" "list ctx" "list cm"
     "info" "info dev" "info qp 17,18" "info cq 5" "info eq 1" "info cmdq" "dump qp" "dump qp 17" "dump cq 5,6" "dump eq aeq" "dump eq cmdq"
     "dump cmdq" "stat" "stat --style vendor" "debug-level" "explain" "version" "ver" "schema")

# One document, with a schema; data, or an error and the exit status in it
valid()
{
	jq -s -e --argjson exit "$1" 'length == 1 and (.[0] |
		(.schema | test("^eadm\\.[a-z.-]+/1$")) and .exit == $exit and
		if .ok then (.data | type == "array") and (.warnings | type == "array")
		       else (.error.code | type == "string") and (.error.text | type == "string")
		       end)' <<< "$output" > /dev/null
}

every_command()
{
	local args cmd
	for cmd in "${ALL[@]}"; do
		read -r -a args <<< "$cmd"
		run --separate-stderr fake "$1" -j --timeout 100ms "${args[@]}"
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
	for cmd in "" "nonsense" "list" "list nonsense" "list qp --nonsense" "info qp x" "info qp" \
		   "dump qp --range" "stat -i nonsense" "list qp --columns x"; do
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
	eadm.dev.list/1 list dev
	eadm.qp.list/1 list qp
	eadm.cq.list/1 list cq
	eadm.eq.list/1 list eq
	eadm.mr.list/1 list mr
	eadm.pd.list/1 list pd
	eadm.ctx.list/1 list ctx
	eadm.cm.list/1 list cm
	eadm.dev.info/1 info
	eadm.qp.info/1 info qp 17
	eadm.cq.info/1 info cq 5
	eadm.eq.info/1 info eq 1
	eadm.cmdq.info/1 info cmdq
	eadm.qp.dump/1 dump qp 17
	eadm.cq.dump/1 dump cq 5
	eadm.eq.dump/1 dump eq 1
	eadm.cmdq.dump/1 dump cmdq
	eadm.stat/1 stat
	eadm.debug-level/1 debug-level
	eadm.version/1 version
	eadm.explain/1 explain 2
	eadm.ver/1 ver
	eadm.schema/1 schema
	EOF2
}

@test "the document names source, driver and time" {
	fake basic -j list qp | jq -e '.source == {"kind":"fake","driver":"erdma 0.1.0","abi":1,
		"time_ns":1795222108123456789}'
}
