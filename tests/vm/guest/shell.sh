#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guest: an interactive shell with the driver loaded.
# shellcheck source=tests/vm/guest/lib.sh
. /erdma/tests/vm/guest/lib.sh
load_driver || echo "the driver did not load; dmesg tells why"
export PATH=$TREE/eadm:$TREE/build/progs:$PATH
cat <<TEXT

This is the guest: Debian 12, Linux $(uname -r), root. Things to try:

  eadm list dev                       the card; eadm help for all commands
  rdma link; ibv_devinfo              the same, as generic tools see it
  ib_write_bw -R --run_infinitely >/tmp/server &
  ib_write_bw -R --run_infinitely $(card_address) >/tmp/client &
  eadm list qp; eadm dump qp          what is inside
  kill %1 %2

The checkout is /erdma (read-only), /results is build/vm/shell on the host.

TEXT
cd /root || exit
exec bash --rcfile <(echo "PS1='erdma:\w# '; . $TREE/packaging/bash-completion/eadm") -i
