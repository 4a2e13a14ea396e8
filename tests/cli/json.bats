#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# With -j stdout is one valid document, whatever happens; its fields are known.

load helper

ALL=("list dev" "list qp" "list cq" "list eq" "list mr" "list pd" "list ctx" "list cm"
     "info" "info dev" "info qp 17,18" "info cq 5" "info eq 1" "info cmdq" "dump qp" "dump qp 17" "dump cq 5,6" "dump eq aeq" "dump eq cmdq"
     "dump cmdq" "stat" "stat -l -n 1" "top -n 1" "top -n 1 --by dev" "stat --style vendor" "debug-level" "why" "why 17" "doctor" "doctor --list" "summary" "recover dev --dry-run" "recover eq 1 --yes" "recover cq 5 --yes" "explain" "version" "ver" "schema")

# documents SCENARIO COMMAND...: what each of them prints is one document; its status goes to
# $LIST, which onedoc.py reads
documents()
{
	local scenario=$1 cmd status n=0
	local -a args
	shift
	LIST=$BATS_TEST_TMPDIR/list
	: > "$LIST"
	for cmd in "$@"; do
		read -r -a args <<< "$cmd"
		n=$((n + 1)) status=0
		fake "$scenario" "${args[@]}" > "$BATS_TEST_TMPDIR/$n" 2> "$BATS_TEST_TMPDIR/err" || status=$?
		[ "$status" -lt 100 ] || { echo "$cmd"; cat "$BATS_TEST_TMPDIR/err"; return 1; }
		echo "$status $BATS_TEST_TMPDIR/$n $cmd" >> "$LIST"
	done
	"$BATS_TEST_DIRNAME/onedoc.py" "$LIST"
}

every_command()
{
	local cmd calls=()
	for cmd in "${ALL[@]}"; do
		# No effect on what makes no calls
		case $cmd in explain*|version*|ver*|schema*) ;; *) cmd+=" --timeout 100ms" ;; esac
		calls+=("-j $cmd")
	done
	documents "$1" "${calls[@]}"
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
	documents basic "-v -j" "nonsense -j" "list -j" "list nonsense -j" "list qp --nonsense -j" \
		  "info qp x -j" "info qp -j" "dump qp --range -j" "stat -i nonsense -j" \
		  "list qp --sort x -j"
	[ "$(cut -d ' ' -f 1 "$LIST" | sort -u)" = 2 ]
}
@test "an output that is no document is found" {
	local text
	for text in '' 'x' '{}' '{"schema":"eadm.qp.list/2","ok":true,"exit":1,"data":[],"warnings":[]}' \
		    '{"schema":"eadm.qp.list/2","ok":true,"exit":0,"data":{},"warnings":[]}' \
		    '{"schema":"eadm.error/2","ok":false,"exit":0,"error":{"code":"E","text":2}}'; do
		echo "$text" > "$BATS_TEST_TMPDIR/text"
		echo "0 $BATS_TEST_TMPDIR/text none" > "$BATS_TEST_TMPDIR/list"
		run ! "$BATS_TEST_DIRNAME/onedoc.py" "$BATS_TEST_TMPDIR/list"
	done
	echo '{"schema":"eadm.qp.list/2","ok":true,"exit":0,"data":[],"warnings":[]}' > "$BATS_TEST_TMPDIR/text"
	"$BATS_TEST_DIRNAME/onedoc.py" "$BATS_TEST_TMPDIR/list"
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
