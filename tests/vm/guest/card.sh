# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# The card as a PCI function, and what is left of it. Part of lib.sh.
#
#   card_bdf               address of the (first) card, also without a driver
#   bind_card, unbind_card give it to the driver, take it away
#   device_gone            has the kernel no RDMA device any more? (wait_until)
#   rebind                 take the card from the driver and give it back
#   no_objects             no queue pair and no memory region is left, soon
#   card_get PROPERTY, card_set PROPERTY JSON-VALUE
#                          of the model, as in docs/qemu-model-faults.md

bus=/sys/bus/pci
CARD_PATH=${CARD_PATH:-/machine/peripheral/card1}

card_bdf()
{
	local dev vendor device
	for dev in "$bus"/devices/*; do
		# No process for each: on a debug kernel that took 20 s.
		read -r vendor <"$dev/vendor" && read -r device <"$dev/device" || continue
		if [ "$vendor $device" = "0x1ded 0x107f" ]; then
			echo "${dev##*/}"
			return 0
		fi
	done
	return 1
}

device_gone()
{
	[ -z "$(ls /sys/class/infiniband)" ]
}

bind_card()
{
	local bdf
	bdf=$(card_bdf) && echo "$bdf" >"$bus/drivers/erdma/bind"
}

unbind_card()
{
	local bdf
	bdf=$(card_bdf) && echo "$bdf" >"$bus/drivers/erdma/unbind"
}

rebind()
{
	unbind_card && wait_until 30 "the device to go" device_gone &&
		bind_card && wait_until 30 "the device after bind" rdma_device
}

none_left()
{
	! rdma resource show qp | grep -v 'type GSI' | grep -q . && ! rdma resource show mr | grep -q .
}

no_objects()
{
	wait_until 20 "the last objects to go" none_left || { rdma resource show; return 1; }
}

card_get()
{
	qmp qom-get "{\"path\": \"$CARD_PATH\", \"property\": \"$1\"}"
}

card_set()
{
	qmp qom-set "{\"path\": \"$CARD_PATH\", \"property\": \"$1\", \"value\": $2}" >/dev/null
}
