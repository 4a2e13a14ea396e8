# SPDX-License-Identifier: GPL-2.0-or-later
# The card in plain C. Whoever builds it compiles these with these flags.

# From the bottom up; file names are unique, so that QEMU's build may be flat.
CORE_DIRS := base queue qp wire fault card
CORE_SRCS := $(sort $(wildcard core/*/*.c))
CORE_NAMES := $(CORE_SRCS:core/%.c=%)
CORE_HDRS := $(wildcard core/*/*.h ../include/erdma/*.h)
CORE_INC := $(CORE_DIRS:%=-Icore/%) -I../include
CORE_CFLAGS := -std=gnu11 $(CORE_INC)
CORE_WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wvla -Werror
