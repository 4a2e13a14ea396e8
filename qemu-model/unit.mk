# SPDX-License-Identifier: GPL-2.0-or-later
# Unit tests of the core, its benchmark and its fuzzer.

CORE_BUILD := build/core
TEST_DIR := ../tests/unit/core
FUZZ_SRC := ../tests/fuzz
TEST_LIB := cases options fakehost fakewire guest guest_obj guest_wr two_hosts peer_fixture
TEST_NAMES := $(patsubst $(TEST_DIR)/%.c,%,$(sort $(wildcard $(TEST_DIR)/test_*.c)))
TEST_SAN := -fsanitize=address,undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer
TEST_CFLAGS := $(CORE_CFLAGS) $(CORE_WARN) -I$(TEST_DIR) -O1 -g $(TEST_SAN)
TEST_OBJS := $(TEST_LIB:%=$(CORE_BUILD)/tests/%.o) \
	$(TEST_NAMES:%=$(CORE_BUILD)/tests/%.o) \
	$(CORE_NAMES:%=$(CORE_BUILD)/san/%.o)
TEST_HDRS := $(wildcard $(TEST_DIR)/*.h) ../tests/unit/tap.h

.PHONY: check check-core unit core-bench fuzz fuzz-run fuzz-long fuzz-corpus mutate

check: check-core

# Only build
unit: $(CORE_BUILD)/core-tests

# All cases, with three ways in which the host may map guest memory; then with
# each card in a process of its own
check-core: $(CORE_BUILD)/core-tests
	$< --map=direct --seeds=3000
	$< --map=bounce
	$< --map=short
	$< --wire=shared
	$< --wire=bytes --map=bounce
	$< --wire=shared --map=short

$(CORE_BUILD)/core-tests: $(TEST_OBJS)
	$(CC) $(TEST_SAN) -Wl,--wrap=calloc -o $@ $^

$(CORE_BUILD)/san/%.o: core/%.c $(CORE_HDRS)
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -c -o $@ $<

$(CORE_BUILD)/tests/%.o: $(TEST_DIR)/%.c $(TEST_HDRS) $(CORE_HDRS)
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -c -o $@ $<

# Speed without sanitizers: make core-bench
core-bench: $(CORE_BUILD)/core-bench
	$<

$(CORE_BUILD)/core-bench: $(TEST_DIR)/bench.c $(CORE_SRCS) $(CORE_HDRS)
	@mkdir -p $(@D)
	$(CC) $(CORE_CFLAGS) $(CORE_WARN) -O2 -g -o $@ $(TEST_DIR)/bench.c \
		$(CORE_SRCS)

# libFuzzer: make fuzz && build/core/core-fuzz CORPUS
FUZZ_CC ?= clang
FUZZ_TIME ?= 60
FUZZ_SAN := -fsanitize=address,undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer
FUZZ_CFLAGS := $(CORE_CFLAGS) -Wall -Wextra -Wno-unused-parameter -I$(TEST_DIR) -DRAM_SIZE=0x80000u \
	-O2 -g $(FUZZ_SAN)
FUZZ_OBJS := $(CORE_BUILD)/fuzz/core_fuzz.o $(CORE_BUILD)/fuzz/monitor_input.o \
	$(CORE_BUILD)/fuzz/fakehost.o \
	$(CORE_BUILD)/fuzz/fakewire.o \
	$(CORE_NAMES:%=$(CORE_BUILD)/fuzz/core/%.o)

fuzz: $(CORE_BUILD)/core-fuzz

$(CORE_BUILD)/core-fuzz: $(FUZZ_OBJS)
	$(FUZZ_CC) $(FUZZ_SAN) -fsanitize=fuzzer -o $@ $^

# Coverage guides the fuzzer through the core, not through its surroundings
$(CORE_BUILD)/fuzz/core/%.o: core/%.c $(CORE_HDRS)
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link -c -o $@ $<

$(CORE_BUILD)/fuzz/%.o: $(FUZZ_SRC)/%.c $(FUZZ_SRC)/input.h $(CORE_HDRS) $(TEST_HDRS)
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_CFLAGS) -c -o $@ $<

$(CORE_BUILD)/fuzz/%.o: $(TEST_DIR)/%.c $(CORE_HDRS) $(TEST_HDRS)
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_CFLAGS) -c -o $@ $<

fuzz-run: $(CORE_BUILD)/core-fuzz
	@mkdir -p $(CORE_BUILD)/corpus
	tar -C $(CORE_BUILD)/corpus -xJf $(FUZZ_SRC)/corpus.tar.xz
	$< -max_total_time=$(FUZZ_TIME) -max_len=4096 $(CORE_BUILD)/corpus \
		$(FUZZ_SRC)/seeds

# Ten minutes at a time, at the lowest priority, until GOAL inputs were tried
FUZZ_DIR ?= $(CORE_BUILD)/fuzz-long
GOAL ?= 50000000
fuzz-long: $(CORE_BUILD)/core-fuzz
	$(FUZZ_SRC)/long.py $< $(FUZZ_DIR) $(GOAL)

# tests/fuzz/corpus.tar.xz: the smallest set of inputs with the same coverage
fuzz-corpus: $(CORE_BUILD)/core-fuzz
	@mkdir -p $(FUZZ_DIR)/corpus
	$(FUZZ_SRC)/pack_corpus.py $(FUZZ_SRC)/corpus.tar.xz $< $(FUZZ_DIR)/corpus $(FUZZ_SRC)/seeds

# Break the model in many small ways; each must turn a test red
mutate:
	../tests/mutate.py core '$(T)'
	../tests/mutate.py mesh '$(T)'
