# SPDX-License-Identifier: GPL-2.0-or-later
#
# erdma: driver, diagnostics tool and model of the Elastic RDMA Adapter.
# This file only delegates. "make help" lists what it can do.

SHELL := /bin/bash
VERSION := $(shell cat VERSION)

PREFIX ?= /usr/local
DESTDIR ?=
# The kernel that "make driver" builds for and "make install" installs to.
KVER ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KVER)/build
MODULE_DIR = $(DESTDIR)/lib/modules/$(KVER)/updates
# Only tests whose names match: make check T='basic and not asan'
T ?=

all: driver eadm model

help:
	@echo 'Build'
	@echo '  make              driver/erdma.ko, eadm/eadm and the device model'
	@echo '  make driver       KDIR=$(KDIR)'
	@echo '  make clean        removes what builds left; cache-clean: also the cache'
	@echo 'Try'
	@echo '  make demo         builds everything, boots a VM with the card, shows it at work'
	@echo '  make shell        the same VM, with a shell on this terminal; GDB=1: gdb may attach to it'
	@echo 'Test'
	@echo '  make check        static,unit,eadm,kunit,model,vm,quick; T=WORDS selects by name, check-list names all'
	@echo '  make check-hosts  several VMs, NVMe and NFS over RDMA, the in-tree driver'
	@echo '  make check-debug  KUnit and VM tests on kernels with KASAN, lockdep, kmemleak and KCSAN'
	@echo '  make check-kernels  the basic tests on other kernels: 5.10, 6.12, Debian 13, the newest'
	@echo '  make check-doctor  VM tests with eadm doctor in each guest: it must not find what is not there'
	@echo '  make check-long   what takes hours'
	@echo '  make check-GROUP  static unit eadm kunit model vm quick'
	@echo '  make upstream-check  the device built into QEMU 10.0, and tested there'
	@echo '  make fuzz         QEMU'"'"'s generic fuzzer on the card for FUZZ_TIME seconds'
	@echo '  make mutate-qemu  takes checks out of the PCI function: a test must fail'
	@echo '  make mutate-driver  takes guards out of the driver: a KUnit case must fail'
	@echo '  make mutate-eadm  takes conditions out of the rules of eadm: a test must fail'
	@echo '  make mutate-packaging  takes out what packages do: a test must fail'
	@echo '  make coverage     which lines the tests run: a line per part, build/coverage/html'
	@echo '  make pre-commit   quick checks of what changed, within 20 seconds'
	@echo '  make compile_commands.json  for clangd and its like'
	@echo 'Measure'
	@echo '  make bench        beside Soft-RoCE in the same VM (build/bench.json)'
	@echo '  make bench-control  instructions of the control path, beside the stock driver'
	@echo '  make bench-model  two VMs: beside Soft-RoCE, Soft-iWARP and memcpy, with a profile'
	@echo 'Install'
	@echo '  make install      DESTDIR=, PREFIX= (now $(PREFIX)), KVER= (now $(KVER))'
	@echo '  make uninstall    takes the same variables'
	@echo '  make install-dkms  the sources of the module for DKMS; uninstall-dkms'
	@echo '  make dist         build/erdma-$(VERSION).tar.xz'
	@echo '  make deb          Debian packages from it, into build/deb; make rpm: build/rpm'
	@echo '  make release-check  do VERSION, changelog, manual pages and tag agree?'
	@echo '  make setup        installs what the demo and the tests need (apt, as root)'

# ---- build --------------------------------------------------------------

# What runs a program of tools/ or tests/: a small Debian has no Python, and they install the rest.
PYTHON ?= /usr/bin/python3
PROGRAMS := setup demo bench bench-model bench-control shell check check-static check-unit check-eadm \
	check-kunit check-model check-vm check-quick check-hosts check-long check-debug \
	check-kernels check-doctor check-list upstream-check fuzz mutate-qemu mutate-driver \
	mutate-eadm mutate-packaging coverage pre-commit have-build cache-clean dist deb rpm release-check

$(PROGRAMS): have-python

have-python:
	@[ -x $(PYTHON) ] || { apt-get update -q || echo 'going on with the package lists there are'; \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends python3 || \
		{ echo 'there is no python3, which tools/ needs: install it as root' >&2; exit 1; }; }

have-build:
	@tools/setup packages --have build

driver: have-build
	@[ -e $(KDIR)/Makefile ] || { echo 'no kernel headers in $(KDIR): install those of your' \
		'kernel, or name others with KDIR=' >&2; exit 1; }
	$(MAKE) -C driver KDIR=$(KDIR)

eadm: have-build
	$(MAKE) -C eadm

model: have-build
	@src=$$(tools/setup qemu-src) && $(MAKE) -C qemu-model preload QEMU_SRC=$$src

clean:
	rm -rf build
	for d in driver eadm qemu-model; do $(MAKE) -C $$d clean || exit; done

# ---- run ----------------------------------------------------------------

setup:
	@tools/setup packages check

demo bench bench-model bench-control:
	@tools/$@

shell:
	@tools/shell $(if $(GDB),--gdb)

# ---- check --------------------------------------------------------------


check:
	@tools/check $(addprefix --groups ,$(TEST_GROUPS)) -k '$(T)'

check-static check-unit check-eadm check-kunit check-model check-vm check-quick:
	@tools/check --groups $(@:check-%=%) -k '$(T)'

check-hosts:
	@tools/check --groups hosts -k '$(T)'

check-long:
	@tools/check --groups long -k '$(T)'

check-debug:
	@tools/check --debug -k '$(T)'

check-kernels:
	@tools/check --kernels -k '$(T)'

# again until doctor ran RUNS times; 10000, or once with T=
check-doctor:
	@tools/check --doctor --groups vm,hosts -k '$(T)' $(if $(RUNS),--runs $(RUNS))

check-list:
	@tools/check --groups all -k '$(T)' -- --collect-only -q -n 0

upstream-check:
	@tools/setup packages fuzz && qemu=$$(tools/setup qemu10) && \
		ERDMA_QEMU_ASAN=$$qemu tools/check --groups model && \
		tools/check --groups long -- -m upstream

# QEMU's generic fuzzer on the card, for FUZZ_TIME seconds
FUZZ_TIME ?= 600
fuzz:
	@tests/fuzz/generic.py $(FUZZ_TIME)

# Do the tests of the device notice when a check is taken out?
mutate-qemu:
	@tools/setup packages check && eval "$$(tools/setup qemu-asan --base)" && export QEMU_SRC BASE && \
		tests/mutate.py pci '$(T)'

# Do the KUnit suites notice when a guard of the driver is taken out?
mutate-driver:
	@tools/setup packages check && tests/mutate.py driver '$(T)'

# Do the tests on recorded devices notice when a rule of eadm lacks a condition?
mutate-eadm:
	@tools/setup packages check && tests/mutate.py eadm '$(T)'

# Do the unit tests notice when a package lacks a file, or a script of it a step?
mutate-packaging:
	@tools/setup packages check && tests/mutate.py packaging '$(T)'

# Which lines do the tests run? Fails below a target.
coverage:
	@tools/coverage

pre-commit:
	@tools/pre-commit

compile_commands.json: have-build
	@tools/compile-commands

cache-clean:
	@tools/setup cache-clean

# ---- install and packages -----------------------------------------------

include packaging/install.mk

# Only what git knows, with names and times that do not depend on this machine.
dist:
	@tools/release dist

deb rpm:
	@tools/release $@

release-check:
	@tools/release check

.PHONY: $(PROGRAMS) all help have-python driver eadm model clean compile_commands.json
