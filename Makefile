# SPDX-License-Identifier: GPL-2.0-or-later
#
# erdma: driver, diagnostics tool and model of the Elastic RDMA Adapter.
# This file only delegates. "make help" lists what it can do.

SHELL := /bin/bash
VERSION := $(shell cat VERSION)

PREFIX ?= /usr/local
DESTDIR ?=
# The kernel that the driver is built for.
KDIR ?= $(shell find /usr/src -maxdepth 1 -name 'linux-headers-6.1.0-*-amd64' | sort -V | tail -1)
KVER = $(patsubst linux-headers-%,%,$(notdir $(KDIR)))
MODULE_DIR = $(DESTDIR)/lib/modules/$(KVER)/updates
# Only suites whose name or group matches: make check T='vm-*'
T ?=

all: driver eadm model

help:
	@echo 'make                driver/erdma.ko, eadm/eadm and the device model'
	@echo 'make demo           builds everything, boots a VM with the card, shows it at work'
	@echo 'make shell          the same VM, with a shell on this terminal'
	@echo 'make check          all tests; T=PATTERN selects, check-list names them'
	@echo '                    also: check-static check-unit check-kunit check-eadm'
	@echo '                    check-model check-vm'
	@echo 'make check-debug    KUnit and the VM suites on kernels with KASAN, lockdep, kmemleak'
	@echo '                    and KCSAN, which are built the first time (10 to 20 minutes)'
	@echo 'make check-qemu10   the device in QEMU 10.0 (10 minutes of building the first time)'
	@echo 'make generic-fuzz   fuzzes it for FUZZ_TIME seconds; mutate-qemu: breaks it on purpose'
	@echo 'make check-hosts    two and four VMs, NVMe and NFS over RDMA, the in-tree driver, faults'
	@echo 'make check-long     what takes hours: a VM killed 50 times under traffic, long traffic, QEMU 10.0'
	@echo 'make bench          compares with Soft-RoCE in the same VM (build/bench.json)'
	@echo 'make bench-model    two VMs: beside Soft-RoCE, Soft-iWARP and memcpy, with a profile'
	@echo 'make setup          installs what the demo needs (apt, as root)'
	@echo 'make install        DESTDIR=, PREFIX= (now $(PREFIX)), KDIR= (now $(KDIR))'
	@echo 'make uninstall      takes the same variables'
	@echo 'make dist           build/erdma-$(VERSION).tar.xz'
	@echo 'make clean          removes what builds left; cache-clean: also the cache'

# ---- build --------------------------------------------------------------

have-build:
	@tests/setup/setup.sh --have build

driver: have-build
	$(MAKE) -C driver KDIR=$(KDIR)

eadm: have-build
	$(MAKE) -C eadm

model: have-build
	@src=$$(tests/setup/qemu-src.sh) && $(MAKE) -C qemu-model preload QEMU_SRC=$$src

progs:
	@$(MAKE) -s -C tests/vm/progs

clean:
	rm -rf build
	for d in driver eadm qemu-model; do \
		if [ -e $$d/Makefile ]; then $(MAKE) -C $$d clean || exit; fi; done

# ---- run ----------------------------------------------------------------

setup:
	@tests/setup/setup.sh demo

demo:
	@tests/vm/demo.sh

shell:
	@tests/vm/shell.sh

bench:
	@tests/vm/bench.sh

bench-model:
	@tests/vm/bench-model.sh

# ---- check --------------------------------------------------------------

check:
	@tests/check.sh $(SUITES:%=--suites %) --match '$(T)'

check-static check-unit check-kunit check-eadm check-model check-vm:
	@tests/check.sh --group $(@:check-%=%) --match '$(T)'

check-hosts:
	@tests/check.sh --suites tests/suites-hosts.txt --group hosts --match '$(T)'

check-long:
	@tests/check.sh --suites tests/suites-long.txt --group long --match '$(T)'

check-debug:
	@tests/kernel/check-debug.sh --match '$(T)'

check-list:
	@tests/lib/check.py --list

# The device in Debian 13's QEMU 10.0, which is built for it
check-qemu10:
	@tests/qemu10.sh

# QEMU's generic fuzzer on the card, for FUZZ_TIME seconds
FUZZ_TIME ?= 600
generic-fuzz:
	@tests/fuzz/generic.py $(FUZZ_TIME)

# Do the tests of the device notice when a check is taken out?
mutate-qemu:
	@tests/setup/setup.sh check && eval "$$(tests/setup/qemu-asan.sh --base)" && export QEMU_SRC BASE && \
		tests/qemu/mutate.py pci '$(T)'

cache-clean:
	@. tests/lib/common.sh && dir=$$(cache_root) && echo "removing $$dir" && rm -rf "$$dir"

# ---- install ------------------------------------------------------------

MAN_PAGES = $(wildcard man/*.[0-9])
UDEV_RULES = $(wildcard packaging/udev/*.rules)

install:
	@[ -x eadm/eadm ] || { echo 'eadm/eadm is not built: run "make" first' >&2; exit 1; }
	$(MAKE) -C eadm install DESTDIR=$(DESTDIR) PREFIX=$(PREFIX)
	for m in $(MAN_PAGES); do \
		install -D -m 644 $$m $(DESTDIR)$(PREFIX)/share/man/man$${m##*.}/$${m##*/} || exit; done
	install -D -m 644 include/uapi/erdma_diag.h $(DESTDIR)$(PREFIX)/include/rdma/erdma_diag.h
	for r in $(UDEV_RULES); do \
		install -D -m 644 $$r $(DESTDIR)/usr/lib/udev/rules.d/$${r##*/} || exit; done
	if [ -e driver/erdma.ko ]; then \
		install -D -m 644 driver/erdma.ko $(MODULE_DIR)/erdma.ko && \
		if [ -z '$(DESTDIR)' ]; then depmod $(KVER); fi; \
	else echo 'driver/erdma.ko is not built: not installed'; fi

uninstall:
	$(MAKE) -C eadm uninstall DESTDIR=$(DESTDIR) PREFIX=$(PREFIX)
	for m in $(MAN_PAGES); do rm -f $(DESTDIR)$(PREFIX)/share/man/man$${m##*.}/$${m##*/}; done
	rm -f $(DESTDIR)$(PREFIX)/include/rdma/erdma_diag.h
	for r in $(UDEV_RULES); do rm -f $(DESTDIR)/usr/lib/udev/rules.d/$${r##*/}; done
	if [ -e $(MODULE_DIR)/erdma.ko ]; then \
		rm -f $(MODULE_DIR)/erdma.ko && \
		if [ -z '$(DESTDIR)' ]; then depmod $(KVER); fi; fi

# Only what git knows, with names and times that do not depend on this machine.
dist:
	@mkdir -p build
	git -c safe.directory='*' archive --format=tar --prefix=erdma-$(VERSION)/ HEAD | xz -9 >build/erdma-$(VERSION).tar.xz
	@echo build/erdma-$(VERSION).tar.xz

.PHONY: all help have-build driver eadm model progs clean setup demo shell bench bench-model check check-static \
	check-unit check-kunit check-eadm check-model check-vm check-hosts check-long check-debug check-list check-qemu10 \
	generic-fuzz mutate-qemu cache-clean install \
	uninstall dist
