# SPDX-License-Identifier: GPL-2.0-or-later
# Processes that find each other, without QEMU: MESH_SRCS, and their tests.

MESH_SRCS := $(wildcard fabric/*.c)
MESH_BUILD := build/mesh
MESH_TEST_DIR := ../tests/unit/fabric
MESH_TEST_SRCS := $(wildcard $(MESH_TEST_DIR)/*.c)
MESH_CFLAGS := $(CORE_CFLAGS) $(CORE_WARN) -D_GNU_SOURCE -Ifabric -I$(MESH_TEST_DIR) \
	-I$(TEST_DIR) -O1 -g
MESH_SAN := -fsanitize=address,undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer
MESH_HDRS := $(wildcard fabric/*.h $(MESH_TEST_DIR)/*.h) $(TEST_HDRS)
MESH_OBJS := $(MESH_SRCS:fabric/%.c=$(MESH_BUILD)/fabric/%.o) \
	$(MESH_TEST_SRCS:$(MESH_TEST_DIR)/%.c=$(MESH_BUILD)/tests/%.o) $(MESH_BUILD)/cases.o

.PHONY: check-mesh

check: check-mesh
unit: $(MESH_BUILD)/mesh-tests

check-mesh: $(MESH_BUILD)/mesh-tests
	$<

$(MESH_BUILD)/mesh-tests: $(MESH_OBJS)
	$(CC) $(MESH_SAN) -o $@ $^

$(MESH_BUILD)/fabric/%.o: fabric/%.c $(MESH_HDRS)
	@mkdir -p $(@D)
	$(CC) $(MESH_CFLAGS) $(MESH_SAN) -c -o $@ $<

$(MESH_BUILD)/tests/%.o: $(MESH_TEST_DIR)/%.c $(MESH_HDRS)
	@mkdir -p $(@D)
	$(CC) $(MESH_CFLAGS) $(MESH_SAN) -c -o $@ $<

$(MESH_BUILD)/cases.o: $(TEST_DIR)/cases.c $(MESH_HDRS)
	@mkdir -p $(@D)
	$(CC) $(MESH_CFLAGS) $(MESH_SAN) -c -o $@ $<
