#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# RDMA devices of other drivers, beside adapters and alone.

load helper

# --- what is shown

@test "list dev: adapters first, then the others" { golden beside-list-dev.txt beside list dev; }
@test "list qp, beside an adapter's" { golden beside-list-qp.txt beside list qp; }
@test "list cq, beside an adapter's" { golden beside-list-cq.txt beside list cq; }
@test "list mr, beside an adapter's" { golden beside-list-mr.txt beside list mr; }
@test "stat: an adapter, two ports, one, a driver without counters" { golden beside-stat.txt beside stat; }
@test "stat -l: the second port is named" { TZ=UTC golden beside-stat-l.txt beside stat -l -n 1; }
@test "top --by dev: bits of both ports, packets, nothing" { golden beside-top.txt beside top --by dev -n 1; }
@test "metrics: those of adapters are as before, others begin with rdma_" { golden beside-metrics.txt beside metrics; }
@test "JSON: list dev" { golden_json beside-list-dev.json beside list dev; }
@test "JSON: list qp of one" { golden_json beside-list-qp.json beside list qp -d rxe0; }
@test "JSON: list mr of one: keys that the kernel does not show are withheld" {
	golden_json beside-list-mr.json beside list mr -d mlx5_0
}

@test "what adapters have is the same without the others" {
	local cmd args
	for cmd in "list dev" "list qp" "list cq" "list mr" stat; do
		read -r -a args <<< "$cmd"
		diff <(fake basic "${args[@]}" -j | jq -c '.data[]') \
		     <(fake beside "${args[@]}" -j | jq -c '.data[] | select(.dev == "erdma_0")')
	done
	diff <(fake basic metrics) <(fake beside metrics | grep -v '^\(# [A-Z]* \)\?rdma_')
	for cmd in doctor why summary "list eq" "list pd" "list ctx" "list cm" "info dev" log debug-level; do
		read -r -a args <<< "$cmd"
		diff <(fake basic "${args[@]}" 2>&1) <(fake beside "${args[@]}" 2>&1)
	done
}
@test "a document has 'driver' only of devices of other drivers" {
	local cmd args
	for cmd in "list qp" "list cq" "list mr" stat; do
		read -r -a args <<< "$cmd"
		[ "$(fake beside "${args[@]}" -j | jq -c '[.data[] | select(.dev == "erdma_0") | has("driver")] | any')" = false ]
		[ "$(fake beside "${args[@]}" -j | jq -c '[.data[] | select(.dev == "mlx5_0") | .driver] | unique')" = '["mlx5_core"]' ]
	done
	fake beside list dev -d siw0 -j | jq -e '.data[0] | .unknown | index("driver")'
	fake beside top --by dev -n 1 -j | jq -e '.data[0].rows | map({(.dev): .driver}) | add
		== {"mlx5_0": "mlx5_core", "rxe0": "rdma_rxe", "erdma_0": null, "siw0": null}'
}
@test "a QP without a peer has no unknown peer" {
	fake beside list qp -d rxe0 -j | jq -e '.data | map({(.type): (.unknown | index("peer.addr") != null)}) | add
		== {"GSI": false, "RC": true, "UD": false}'
}
@test "list qp --state, --pid, --comm" {
	[ "$(fake beside list qp --state init -j | jq -c '[.data[] | .dev, .qpn]')" = '["rxe0",17]' ]
	[ "$(fake beside list qp --state SQE -j | jq -c '[.data[].qpn]')" = '[18]' ]
	[ "$(fake beside list qp --state rts -j | jq -c '[.data[].qpn]')" = '[17,18,1,1132,1]' ]
	[ "$(fake beside list qp --pid 812 -j | jq -c '[.data[].qpn]')" = '[1132]' ]
	[ "$(fake beside list cq --comm 'ib_*' -j | jq -c '[.data[] | .dev, .cqn]')" = '["erdma_0",5,"mlx5_0",3,"rxe0",4]' ]
	expect 2 beside list qp --state ready
}

# --- which device

@test "-d: a name, an index, an address, an interface; an adapter comes first" {
	local d
	for d in mlx5_0 '#1' 0000:81:00.0 ens1f0; do
		[ "$(fake beside list dev -d "$d" -j | jq -c '[.data[].dev]')" = '["mlx5_0"]' ]
	done
	[ "$(fake beside list dev -d eth0 -j | jq -c '[.data[].dev]')" = '["erdma_0"]' ]
	[ "$(fake only-others list dev -d eth0 -j | jq -c '[.data[].dev]')" = '["rxe0","siw0"]' ]
	[ "$(fake beside list qp -d all -j | jq -c '[.data[].dev] | unique')" = '["erdma_0","mlx5_0","rxe0"]' ]
	expect 3 beside list qp -d mlx5_9
	[[ "$stderr" == *"no ERDMA device 'mlx5_9'"* ]]
	[ "$(EADM_DEVICE=rxe0 fake beside list qp -j | jq -c '[.data[].dev] | unique')" = '["rxe0"]' ]
}
@test "what needs the node says so: exit status 6, a hint" {
	local cmd args
	for cmd in "list eq" "list pd" "list ctx" "list cm" "info dev" "info qp 17" "info cmdq" "dump qp 17" \
		   "dump cq 4" "dump eq 1" "dump cmdq" why "why 17" doctor summary log debug-level "debug-level cm=dbg" \
		   "recover dev --dry-run" "recover dev --yes" "snapshot --write $BATS_TEST_TMPDIR/snap" \
		   "top -n 1" "top -n 1 --by pid"; do
		read -r -a args <<< "$cmd"
		expect 6 beside "${args[@]}" -d rxe0
		[[ "$stderr" == *"rxe0: a device of the driver rdma_rxe: this command needs the diagnostic node of the erdma driver [EOPNOTSUPP]"*"Hint: "*"'list qp'"* ]]
		[ -z "$output" ]
	done
	[ ! -e "$BATS_TEST_TMPDIR/snap" ]
	expect 6 beside dump qp 17 -d siw0
	[[ "$stderr" == *"siw0: a device of another driver: this command needs"* ]]
	fake beside info -d rxe0 -j | jq -e '.exit == 6 and .error.code == "EOPNOTSUPP" and .error.object == "rxe0"'
}
@test "commands for adapters choose among adapters only" {
	expect 0 beside info cmdq
	expect 0 beside dump qp 17
	expect 7 idle-beside list qp
	[ "$(fake idle-beside list qp -j | jq -c '[.data[].dev] | unique')" = '["mlx5_0","rxe0"]' ]
}
@test "-d completes to all of them" {
	[ "$(fake beside __complete dev | tr '\n' ' ')" = "erdma_0 mlx5_0 rxe0 siw0 " ]
	[[ "$(fake beside __complete counter -d mlx5_0)" == *port_xmit_data* ]]
}

# --- no adapter

@test "no adapter: the others are listed, with a note" {
	expect 0 only-others list dev
	[ "${#lines[@]}" -eq 4 ]
	[[ "$stderr" == "eadm: note: no ERDMA adapter in this machine" ]]
	expect 0 only-others list qp
	[ -z "$stderr" ]
	expect 0 only-others stat
	[ "$(fake only-others metrics | grep -v '^#' | head -2 | tr '\n' ' ')" = "erdma_adapters 0 rdma_devices 3 " ]
	[ "$(fake only-others list qp -j | jq -c '[.ok, .source.kind]')" = '[true,"fake"]' ]
}
@test "no adapter: eadm alone says how many others there are" {
	expect 0 only-others
	[ -z "$output" ]
	[ "$stderr" = "eadm: note: no ERDMA adapter in this machine; RDMA devices of other drivers: 3, see 'eadm list dev'" ]
}
@test "no adapter: what needs one names the others" {
	local cmd args
	for cmd in "list eq" info doctor why "top -n 1" debug-level; do
		read -r -a args <<< "$cmd"
		expect 3 only-others "${args[@]}"
		[[ "$stderr" == *"no ERDMA adapter in this machine [ENODEV]"*"Hint: "*"mlx5_0, rxe0, siw0"*"'stat'"* ]]
	done
}
@test "adapters without a driver are rows beside the others" {
	expect 0 idle-beside list dev
	[ "$(fake idle-beside list dev -j | jq -c '[.data[].state]')" = '["no-driver","no-driver","other","other","other"]' ]
}

# --- counters

@test "stat: a driver without counters is an error only if it was named" {
	expect 0 beside stat
	[ "$stderr" = "eadm: siw0: note: its driver offers no counters" ]
	expect 6 beside stat -d siw0
	[[ "$stderr" == *"siw0: its driver offers no counters [EOPNOTSUPP]"* ]]
	expect 0 beside stat -i 1 -n 2
	[ "$(grep -c 'its driver offers no counters' <<< "$stderr")" -eq 1 ]
	expect 0 beside top --by dev -n 1 -d siw0
	[ -z "$stderr" ]
}
@test "stat COUNTER: what another driver does not have is missed only if its device was named" {
	expect 0 beside stat tx_bytes
	[[ "$output" == *tx_bytes* && "$output" != *mlx5_0* ]]
	[ "$(fake beside stat tx_bytes -i 1 -n 1 -j | jq -c '[.data[].dev]')" = '["erdma_0"]' ]
	expect 0 beside stat -d mlx5_0 out_of_sequence
	[ "$(fake beside stat -d mlx5_0 port_xmit_data -j | jq -c '[.data[] | .port, .counters[0].value]')" = '[1,25000000000,2,40]' ]
	expect 3 beside stat -d mlx5_0 tx_bytes
	[[ "$stderr" == *"no counter 'tx_bytes'"* ]]
	expect 3 only-others stat nonsense
}
@test "stat: groups and errors of counters that are known" {
	[ "$(fake beside stat --errors -d mlx5_0 -j | jq -c '[.data[0].counters[].name]')" = '["port_xmit_discards","out_of_sequence","link_downed"]' ]
	[ "$(fake beside stat --group other -d rxe0 -j | jq -c '[.data[0].counters[].name]')" = '["rdma_sends"]' ]
	# One that is there twice is one; the units of 4 bytes are said
	[ "$(fake beside stat -d mlx5_0 link_downed -j | jq -c '[.data[].counters[].value]')" = '[1,0]' ]
	[[ "$(fake beside stat -v -d mlx5_0)" == *"port_xmit_data"*"in units of 4"* ]]
}
@test "stat --style vendor has lines of adapters only" {
	diff <(fake basic stat --style vendor) <(fake beside stat --style vendor)
	[ "$(fake beside stat --style vendor -d rxe0 | head -1)" = "sent_pkts : 5000" ]
}
@test "metrics: bytes, of each port; a series is there once" {
	fake beside metrics > "$BATS_TEST_TMPDIR/m"
	grep -qx 'rdma_port_data_transmitted_bytes_total{device="mlx5_0",port="1"} 100000000000' "$BATS_TEST_TMPDIR/m"
	grep -qx 'rdma_port_data_transmitted_bytes_total{device="mlx5_0",port="2"} 160' "$BATS_TEST_TMPDIR/m"
	grep -qx 'rdma_hw_statistic_total{device="rxe0",port="1",counter="sent_pkts"} 5000' "$BATS_TEST_TMPDIR/m"
	[ -z "$(grep -v '^#' "$BATS_TEST_TMPDIR/m" | sed 's/ [^ ]*$//' | sort | uniq -d)" ]
	expect 0 beside metrics -d rxe0
	[[ "$output" != *'device="erdma_0"'* && "$output" == *'rdma_info{device="rxe0"'* ]]
}
@test "snapshot has adapters only" {
	expect 0 beside snapshot --write "$BATS_TEST_TMPDIR/snap"
	[ "$(EADM_SCENARIO='' "$FAKE" --from "$BATS_TEST_TMPDIR/snap" list dev -j | jq -c '[.data[].dev]')" = '["erdma_0"]' ]
}

# --- the unmodified program

# A PCI device of another driver with all kinds of counters, and a device without a parent
sysfs()
{
	export EADM_SYSFS=$BATS_TEST_TMPDIR/sys EADM_DEVROOT=$BATS_TEST_TMPDIR/dev
	local pci=$EADM_SYSFS/bus/pci/devices/0000:81:00.0 dev=$EADM_SYSFS/class/infiniband/mlx5_0
	local soft=$EADM_SYSFS/class/infiniband/soft0
	[ ! -e /sys/class/infiniband ] || skip "this host has rdma netlink, which knows no device of a test"
	mkdir -p "$pci" "$dev/ports/1/counters" "$dev/ports/1/hw_counters" "$dev/hw_counters" \
		 "$EADM_SYSFS/bus/pci/drivers/mlx5_core" "$EADM_SYSFS/module/mlx5_core" "$soft"
	echo 0x15b3 > "$pci/vendor"; echo 0x1017 > "$pci/device"; echo 1 > "$pci/numa_node"
	ln -s ../../drivers/mlx5_core "$pci/driver"
	ln -s ../../../bus/pci/devices/0000:81:00.0 "$dev/device"
	echo 23.10 > "$EADM_SYSFS/module/mlx5_core/version"
	echo 26.38.1002 > "$dev/fw_ver"
	echo 1000 > "$dev/ports/1/counters/port_xmit_data"
	echo 'N/A (no PMA)' > "$dev/ports/1/counters/symbol_error"
	echo 7 > "$dev/ports/1/hw_counters/out_of_sequence"; echo 10 > "$dev/ports/1/hw_counters/lifespan"
	echo 3 > "$dev/hw_counters/dev_events"
}

@test "real: identity and counters from sysfs, where rdma netlink is of no use" {
	sysfs
	run --separate-stderr "$EADM" list dev -v -j
	show
	[ "$status" -eq 0 ]
	jq -e '.data | length == 2 and (.[0] | .dev == "mlx5_0" and .pci == "0000:81:00.0" and .numa_node == 1 and
		.driver == "mlx5_core" and .driver_version == "23.10" and .firmware == "26.38.1002" and
		.state == "other" and (.unknown | index("link")))' <<< "$output"
	jq -e '.data[1] | .dev == "soft0" and has("pci") == false and (.unknown | index("driver"))' <<< "$output"
	run --separate-stderr "$EADM" stat -d mlx5_0 -j
	jq -e '[.data[0].counters[] | {(.name): .value}] | add
		== {"out_of_sequence": 7, "port_xmit_data": 1000, "dev_events": 3}' <<< "$output"
	run --separate-stderr "$EADM" list qp -d mlx5_0
	[ "$status" -ne 0 ]
	[ -n "$stderr" ]
}

# A line for each counter that eadm knows of other drivers: group, error or not, metric and value
known_counters()
{
	local list
	list=$(grep -oP '\b(PORT|DRIVER)\("\K\w+' "$TOP/eadm/other_counters.c" | jq -R '[., 1]' | jq -cs .)
	jq --argjson all "$list" '.adapters = [] | .others = [.others[0] | .counters = $all | del(.counters2) |
		.ports = 1]' "$SCENARIOS/beside.json" > "$BATS_TEST_TMPDIR/s.json"
	local SCENARIOS=$BATS_TEST_TMPDIR
	fake s stat -j | jq -r '.data[0].counters[] | "\(.group) \(.name) \(.value)"'
	fake s stat --errors -j | jq -r '.data[0].counters[] | "error \(.name)"'
	fake s metrics | grep -E '^(# (HELP|TYPE) )?rdma_' | grep -vE 'rdma_(device|driver)_?info'
}
@test "every known counter: group, error, metric, unit and help" {
	known_counters > "$BATS_TEST_TMPDIR/got"
	[ "$(grep -c . "$BATS_TEST_TMPDIR/got")" -ge 120 ]
	if [ -n "${UPDATE_GOLDEN-}" ]; then
		cp "$BATS_TEST_TMPDIR/got" "$BATS_TEST_DIRNAME/golden/known-counters.txt"
	fi
	diff -u "$BATS_TEST_DIRNAME/golden/known-counters.txt" "$BATS_TEST_TMPDIR/got"
}
