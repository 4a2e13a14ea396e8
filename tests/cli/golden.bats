#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Output, byte for byte. UPDATE_GOLDEN=1 bats golden.bats writes it anew: read the
# difference before committing it.

load helper

@test "text: list dev" { golden list-dev.txt basic list dev; }
@test "text: list dev -v" { golden list-dev-v.txt two list dev -v; }
@test "text: list dev, one without driver" { golden list-dev-mixed.txt mixed list dev; }
@test "text: list qp" { golden list-qp.txt basic list qp; }
@test "text: list qp -vv" { golden list-qp-vv.txt basic list qp -vv; }
@test "text: list qp, both ends on this host" { golden list-qp-pair.txt pair list qp; }
@test "text: list cq -v" { golden list-cq.txt basic list cq -v; }
@test "text: list eq -v" { golden list-eq.txt basic list eq -v; }
@test "text: list mr" { golden list-mr.txt basic list mr; }
@test "text: list mr -vv" { golden list-mr-vv.txt basic list mr -vv; }
@test "text: list pd" { golden list-pd.txt basic list pd; }
@test "text: list ctx -v" { golden list-ctx.txt basic list ctx -v; }
@test "text: list cm -v" { golden list-cm.txt basic list cm -v; }
@test "text: info dev -v" { golden info-dev.txt basic info dev -v; }
@test "text: info qp of an application" { golden info-qp-17.txt basic info qp 17; }
@test "text: info qp -v" { golden info-qp-17-v.txt basic info qp 17 -v; }
@test "text: info qp, both ends on this host" { golden info-qp-pair.txt pair info qp 19; }
@test "text: info qp marks disagreement" { golden info-qp-18.txt basic info qp 18; }
@test "text: info qp without device" { golden info-qp-no-hw.txt basic info qp 17 --no-hw; }
@test "text: info cq" { golden info-cq.txt basic info cq 5,6; }
@test "text: info eq" { golden info-eq.txt basic info eq 1; }
@test "text: info eq aeq" { golden info-eq-aeq.txt basic info eq aeq; }
@test "text: info cmdq -v" { golden info-cmdq.txt basic info cmdq -v; }
@test "text: dump qp, every kind of request" { golden dump-qp-17.txt basic dump qp 17 --sq --last 99; }
@test "text: dump qp -v" { golden dump-qp-17-v.txt basic dump qp 17 -v --last 99; }
@test "text: dump qp, default" { golden dump-qp-default.txt basic dump qp 17; }
@test "text: dump qp of the kernel" { golden dump-qp-18.txt basic dump qp 18 --last 99; }
@test "text: dump qp --hex" { golden dump-qp-hex.txt basic dump qp 17 --sq --range 4-6 --hex; }
@test "text: dump qp with rubbish in the ring" { golden dump-qp-broken.txt broken-rings dump qp 17 18; }
@test "text: dump qp with keys withheld" { golden dump-qp-hidden.txt hidden dump qp 17 --sq --last 9; }
@test "text: dump qp with all but headers withheld" { golden dump-qp-masked.txt masked dump qp 17 18 --sq --last 99; }
@test "text: dump cmdq with all but headers withheld" { golden dump-cmdq-masked.txt masked dump cmdq --sq --last 99; }
@test "text: dump cq of an application" { golden dump-cq-5.txt basic dump cq 5; }
@test "text: dump cq, what failed" { golden dump-cq-failed.txt failed dump cq 5; }
@test "JSON: dump cq, what failed" { golden_json dump-cq-failed.json failed dump cq 5; }
@test "text: dump cq of the kernel" { golden dump-cq-6.txt basic dump cq 6 --range 0-3; }
@test "text: dump eq" { golden dump-eq-1.txt basic dump eq 1 --last 99; }
@test "text: dump eq aeq" { golden dump-eq-aeq.txt basic dump eq aeq --last 99; }
@test "text: dump cmdq, every command" { golden dump-cmdq.txt basic dump cmdq --last 99; }
@test "text: dump cmdq -v, results, completions and events" { golden dump-cmdq-v.txt basic dump cmdq -v --last 3; }
@test "text: dump cmdq, completions and events" { golden dump-cmdq-cq.txt basic dump cmdq --cq --eq --last 99; }
@test "text: stat" { golden stat.txt basic stat; }
@test "text: stat, vendor's style" { golden stat-vendor.txt all-counters stat -d erdma_0 --style vendor; }
@test "text: ver" { golden ver.txt all-counters ver; }
@test "text: list dev in a container" { golden list-dev-pod.txt pod list dev; }
@test "text: list qp in a container" { golden list-qp-pod.txt pod list qp; }
@test "text: list cq in a container" { golden list-cq-pod.txt pod list cq; }
@test "text: info dev in a container" { golden info-dev-pod.txt pod info dev; }
@test "text: metrics" { golden metrics.txt basic metrics; }
@test "text: metrics of two devices, one of them sick" { golden metrics-two.txt two metrics; }
@test "text: metrics, one without driver" { golden metrics-mixed.txt mixed metrics; }
@test "text: metrics in a container" { golden metrics-pod.txt pod metrics; }
@test "text: debug-level" { golden debug-level.txt basic debug-level; }
@test "text: log" { golden log.txt basic log; }
@test "text: log of some kinds" { golden log-kinds.txt basic log --kind cmd-first,cmd-time -v; }
@test "text: explain" { golden explain.txt none explain; }
@test "text: explain 12" { golden explain-12.txt none explain 12; }
@test "text: help" { golden help.txt none help; }
@test "text: help dump" { golden help-dump.txt none help dump; }

@test "JSON: list dev" { golden_json list-dev.json basic list dev; }
@test "JSON: list qp" { golden_json list-qp.json basic list qp; }
@test "JSON: list qp, both ends on this host" { golden_json list-qp-pair.json pair list qp; }
@test "JSON: list cq" { golden_json list-cq.json basic list cq; }
@test "JSON: list eq" { golden_json list-eq.json basic list eq; }
@test "JSON: list mr" { golden_json list-mr.json basic list mr; }
@test "JSON: list pd" { golden_json list-pd.json basic list pd; }
@test "JSON: list ctx" { golden_json list-ctx.json basic list ctx; }
@test "JSON: list cm" { golden_json list-cm.json basic list cm; }
@test "JSON: info dev" { golden_json info-dev.json basic info dev; }
@test "JSON: info qp" { golden_json info-qp.json basic info qp 17 18; }
@test "JSON: info cq" { golden_json info-cq.json basic info cq 5; }
@test "JSON: info eq" { golden_json info-eq.json basic info eq 1; }
@test "JSON: info cmdq" { golden_json info-cmdq.json basic info cmdq; }
@test "JSON: dump qp" { golden_json dump-qp.json basic dump qp 17 18 --last 99; }
@test "JSON: dump cq" { golden_json dump-cq.json basic dump cq 5 6; }
@test "JSON: dump eq" { golden_json dump-eq.json basic dump eq aeq; }
@test "JSON: dump cmdq" { golden_json dump-cmdq.json basic dump cmdq --last 99; }
@test "JSON: stat" { golden_json stat.json basic stat; }
@test "JSON: stat, vendor's style" { golden_json stat-vendor.json basic stat --style vendor; }
@test "JSON: metrics" { golden_json metrics.json basic metrics; }
@test "JSON: info dev in a container" { golden_json info-dev-pod.json pod info dev; }
@test "JSON: log" { golden_json log.json basic log; }
@test "JSON: debug-level" { golden_json debug-level.json basic debug-level; }
@test "JSON: explain" { golden_json explain.json none explain; }

@test "a wrong last digit of 64 bits is found" {
	mkdir "$BATS_TEST_TMPDIR/golden"
	sed 's/9007199254740993/9007199254740992/' "$BATS_TEST_DIRNAME/golden/stat.json" \
		> "$BATS_TEST_TMPDIR/golden/stat.json"
	run ! cmp -s "$BATS_TEST_DIRNAME/golden/stat.json" "$BATS_TEST_TMPDIR/golden/stat.json"
	cp "$BATS_TEST_DIRNAME/layout.py" "$BATS_TEST_TMPDIR"
	UPDATE_GOLDEN= BATS_TEST_DIRNAME=$BATS_TEST_TMPDIR run ! golden_json stat.json basic stat
	golden_json stat.json basic stat
}
