# SPDX-License-Identifier: GPL-2.0-or-later
# Processes that find each other, without QEMU: MESH_SRCS, and their tests.

MESH_SRCS := $(wildcard fabric/*.c)
MESH_BUILD := build/mesh
MESH_TEST_SRCS := $(MESH_SRCS) $(wildcard fabric/tests/*.c) tests/tap.c
MESH_CFLAGS := $(CORE_CFLAGS) $(CORE_WARN) -D_GNU_SOURCE -Ifabric -Ifabric/tests \
	-Itests -O1 -g
MESH_SAN := -fsanitize=address,undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer
MESH_OBJS := $(MESH_TEST_SRCS:%.c=$(MESH_BUILD)/%.o)

.PHONY: check-mesh

check: check-mesh

check-mesh: $(MESH_BUILD)/mesh-tests
	$<

$(MESH_BUILD)/mesh-tests: $(MESH_OBJS)
	$(CC) $(MESH_SAN) -o $@ $^

$(MESH_BUILD)/%.o: %.c $(wildcard fabric/*.h fabric/tests/*.h tests/*.h)
	@mkdir -p $(@D)
	$(CC) $(MESH_CFLAGS) $(MESH_SAN) -c -o $@ $<
