# SPDX-License-Identifier: GPL-2.0-or-later
# The card in plain C. Whoever builds it compiles these with these flags.

CORE_NAMES := erdma_core regs doorbell cmdq cmd cmd_query eq cq mr qp wqe \
	exec copy resp local net wire remote remote_req \
	remote_resp remote_data queue table dma log \
	fault fault_parse fault_strike fault_delay fault_flood gate \
	show show_ring
CORE_SRCS := $(CORE_NAMES:%=core/%.c)
CORE_HDRS := $(wildcard core/*.h ../include/erdma/*.h)
CORE_CFLAGS := -std=gnu11 -Icore -I../include
CORE_WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wvla -Werror
