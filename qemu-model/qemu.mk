# SPDX-License-Identifier: GPL-2.0-or-later
#
# The card inside QEMU. See README.md.
#
#   make preload QEMU_SRC=DIR                 build/erdma-qemu.so; MODEL_CFLAGS= of a package
#   make overlay-base QEMU_SRC=DIR BASE=DIR   QEMU without the card, for overlay
#   make overlay QEMU_SRC=DIR BASE=DIR OUT=DIR    OUT/qemu-system-x86_64, with ASan
#   make qtest OUT=DIR                        tests against it (pytest)

QEMU_BUILD := build
QEMU_GEN = $(QEMU_BUILD)/preload
BASE ?= $(QEMU_BUILD)/qemu-base
OUT ?= $(QEMU_BUILD)/qemu

need_qemu_src = $(if $(wildcard $(QEMU_SRC)/include/qemu/osdep.h),,$(error \
	QEMU_SRC must be QEMU's source tree; tools/setup qemu-src prints one))

# ---- preload: for the distribution's own binary --------------------------

QEMU_CORE_SRCS := $(CORE_SRCS)
QEMU_GLUE_SRCS := qemu/erdma_pci.c qemu/erdma_host.c qemu/erdma_qom.c \
	qemu/erdma_unplug.c qemu/fabric.c qemu/wire_thread.c qemu/preload.c
QEMU_OBJS := $(patsubst %.c,$(QEMU_GEN)/%.o,$(QEMU_CORE_SRCS) $(MESH_SRCS) $(QEMU_GLUE_SRCS)) \
	$(QEMU_GEN)/trace/trace-hw_erdma.o

QEMU_VERSION = $(file <$(QEMU_SRC)/VERSION)
# "qemu (1:7.2+dfsg-7+deb12u18) bookworm; ..." -> "1:7.2+dfsg-7+deb12u18"
QEMU_PACKAGE = $(shell sed -n '1s/.*(\(.*\)).*/Debian \1/p' $(QEMU_SRC)/debian/changelog 2>/dev/null)

QEMU_WARN := -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare \
	-Wno-missing-field-initializers -Wmissing-prototypes -Wshadow=local
QEMU_CFLAGS := -std=gnu11 -O2 -g -fPIC -fno-strict-aliasing -fno-common -fwrapv \
	-fvisibility=hidden -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DERDMA_PRELOAD -MMD -MP \
	$(MODEL_CFLAGS)
# What the core sees: no QEMU header.
QEMU_CORE_INC := $(CORE_INC)
QEMU_GLUE_INC = -isystem $(QEMU_SRC)/linux-headers -isystem $(QEMU_GEN)/linux-headers \
	-iquote $(QEMU_GEN) -I$(QEMU_GEN) -iquote $(QEMU_SRC) -iquote $(QEMU_SRC)/include \
	-iquote $(QEMU_SRC)/tcg/i386 -iquote qemu $(CORE_DIRS:%=-iquote core/%) -iquote fabric -iquote ../include \
	$(shell pkg-config --cflags glib-2.0) -DERDMA_QEMU_PACKAGE='"$(QEMU_PACKAGE)"'

.PHONY: preload
preload: $(QEMU_BUILD)/erdma-qemu.so

# The same tree again, or another one? Then the generated headers are stale.
$(QEMU_GEN)/source: FORCE
	$(need_qemu_src)
	@mkdir -p $(@D)
	@echo '$(realpath $(QEMU_SRC)) $(QEMU_VERSION) $(QEMU_PACKAGE)' | cmp -s - $@ || \
		echo '$(realpath $(QEMU_SRC)) $(QEMU_VERSION) $(QEMU_PACKAGE)' >$@

$(QEMU_GEN)/generated: $(QEMU_GEN)/source ../tools/qemu/preload_config.py
	../tools/qemu/preload_config.py $(QEMU_SRC) $(QEMU_GEN)
	@touch $@

$(QEMU_GEN)/trace/trace-hw_erdma.c: qemu/trace-events $(QEMU_GEN)/generated
	@mkdir -p $(@D)
	python3 $(QEMU_SRC)/scripts/tracetool.py --backend=log --group=hw_erdma --format=h \
		qemu/trace-events $(@:.c=.h)
	python3 $(QEMU_SRC)/scripts/tracetool.py --backend=log --group=hw_erdma --format=c \
		qemu/trace-events $@.tmp
	@# preload.c registers the events, after it looked around
	sed '/^trace_init(/d; s/^static void trace_hw_erdma_register/void trace_hw_erdma_register/' \
		$@.tmp >$@
	@rm -f $@.tmp

$(QEMU_GEN)/core/%.o: core/%.c $(QEMU_GEN)/generated
	@mkdir -p $(@D)
	$(CC) $(QEMU_CFLAGS) $(QEMU_WARN) $(QEMU_CORE_INC) -c -o $@ $<

$(QEMU_GEN)/fabric/%.o: fabric/%.c $(QEMU_GEN)/generated
	@mkdir -p $(@D)
	$(CC) $(QEMU_CFLAGS) $(QEMU_WARN) $(QEMU_CORE_INC) -Ifabric -c -o $@ $<

$(QEMU_GEN)/qemu/%.o: qemu/%.c $(QEMU_GEN)/generated $(QEMU_GEN)/trace/trace-hw_erdma.c
	@mkdir -p $(@D)
	$(CC) $(QEMU_CFLAGS) $(QEMU_WARN) $(QEMU_GLUE_INC) -c -o $@ $<

$(QEMU_GEN)/trace/%.o: $(QEMU_GEN)/trace/%.c
	$(CC) $(QEMU_CFLAGS) $(QEMU_GLUE_INC) -c -o $@ $<

# --weaken: a process that is not QEMU can load it all the same (preload.c).
$(QEMU_BUILD)/erdma-qemu.so: $(QEMU_OBJS)
	$(LD) -r -o $(QEMU_GEN)/all.o $^
	objcopy --weaken $(QEMU_GEN)/all.o
	$(CC) $(MODEL_CFLAGS) -shared -Wl,-z,now,-z,relro,--hash-style=sysv -o $@.tmp $(QEMU_GEN)/all.o
	@mv $@.tmp $@

-include $(QEMU_OBJS:.o=.d)

# ---- overlay: a QEMU of our own, with sanitizers -------------------------

.PHONY: overlay-base overlay
overlay-base:
	$(need_qemu_src)
	../tools/qemu/overlay.py base $(QEMU_SRC) $(BASE)

overlay:
	$(need_qemu_src)
	../tools/qemu/overlay.py build $(QEMU_SRC) $(BASE) $(OUT)

# ---- qtest ---------------------------------------------------------------

# The device in OUT/qemu-system-x86_64; its monitor on the installed QEMU, too
.PHONY: qtest
qtest:
	ERDMA_QEMU_ASAN=$(abspath $(OUT))/qemu-system-x86_64 \
		/usr/bin/python3 -m pytest -q ../tests/qemu

.PHONY: FORCE
FORCE:
