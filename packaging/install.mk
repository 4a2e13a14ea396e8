# SPDX-License-Identifier: GPL-2.0-or-later
#
# Which file goes where. make install takes what is built; each package takes a part:
#   install-eadm install-dev install-dkms install-model, install-module
# DESTDIR=, PREFIX=, KVER= (of the module); uninstall takes the same. Of install-dkms: uninstall-dkms.

LIBDIR ?= $(PREFIX)/lib
# For programs that read the diagnostics node or a snapshot file
HEADERS = uapi/erdma_diag.h erdma/erdma_snapshot.h erdma/erdma_size.h
SCHEMAS = $(wildcard eadm/schema/*.json)
EADM_PAGES = $(wildcard man/eadm.8 man/eadm-*.[5-8])
UDEV_RULES = $(wildcard packaging/udev/*.rules)
UDEV_RULE = /usr/lib/udev/rules.d/60-erdma-diag.rules
PROMETHEUS = packaging/prometheus/erdma.rules.yml packaging/prometheus/erdma-dashboard.json
RUNBOOKS = $(wildcard docs/runbooks/*.md)
UNITS = eadm-metrics.service eadm-metrics.timer
UNIT_DIR = $(DESTDIR)/usr/lib/systemd/system
EADM_SHARE = $(DESTDIR)$(PREFIX)/share/eadm
EADM_EXAMPLES = $(DESTDIR)$(PREFIX)/share/doc/eadm/examples
SOS = $(DESTDIR)$(PYTHON_DIR)/sos
# Where the system's python looks for modules: Debian's
PYTHON_DIR ?= /usr/lib/python3/dist-packages
MODEL_SO = qemu-model/build/erdma-qemu.so
# What erdma-vm consists of: its modules, and what it makes a guest from
MODEL_DIR = $(DESTDIR)$(PREFIX)/share/erdma-qemu-model
VM_FILES = $(addprefix erdma/,__init__.py apt.py cache.py erdma_vm_cli.py guest.py headers.py image.py \
	initrd-init.sh kvm.py step.py terminal.py vm_client.py vm_server.py vm_state.py) \
	$(patsubst tools/%,%,$(wildcard tools/erdma/vm/*.py)) guest/agent.c guest/init \
	guest/start-agent guest/Makefile
COMPLETIONS = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
# What DKMS builds the module from
DKMS_DIR = $(DESTDIR)/usr/src/erdma-$(VERSION)
DKMS_FILES = VERSION $(shell find driver include \( -name '*.[ch]' -o -name '*.sh' -o -name Kbuild \
	-o -name Makefile \) ! -name '*.mod.c')

define install_man
	for m in $(1); do \
		install -D -m 644 $$m $(DESTDIR)$(PREFIX)/share/man/man$${m##*.}/$${m##*/} || exit; done
endef

# The same file under two owners: who goes first takes it from the other. OF_PACKAGES: a file of each
# package that has what is installed or removed. Of modules there can be one.
OF_PACKAGES = $(UDEV_RULE) $(PREFIX)/include/rdma/erdma_diag.h
install: OF_PACKAGES += $(if $(wildcard driver/erdma.ko),/usr/src/erdma-*/dkms.conf) \
	$(if $(wildcard $(MODEL_SO)),$(PREFIX)/bin/erdma-vm)
uninstall: OF_PACKAGES += $(PREFIX)/share/man/man4/erdma.4* $(PREFIX)/bin/erdma-vm
uninstall-dkms: OF_PACKAGES = /usr/src/erdma-$(VERSION)/dkms.conf
not-packaged:
	@[ -z '$(DESTDIR)' ] || exit 0; for f in $(OF_PACKAGES); do \
		p=$$(dpkg-query -S "$$f" 2>/dev/null || rpm -qf "$$f" 2>/dev/null) || continue; \
		echo "$$f belongs to a package ($${p%%:*}): remove that first" >&2; exit 1; done

install: not-packaged install-built
	if [ -e driver/erdma.ko ]; then $(MAKE) install-module; \
	else echo 'driver/erdma.ko is not built: not installed'; fi
	if [ -e $(MODEL_SO) ]; then $(MAKE) install-model; \
	else echo '$(MODEL_SO) is not built: not installed'; fi

install-built:
	@[ -x eadm/eadm ] || { echo 'eadm/eadm is not built: run "make" first' >&2; exit 1; }
	$(MAKE) install-eadm install-dev

install-eadm:
	$(MAKE) -C eadm install DESTDIR=$(abspath $(DESTDIR)) PREFIX=$(PREFIX)
	$(call install_man,$(EADM_PAGES))
	for r in $(UDEV_RULES); do \
		install -D -m 644 $$r $(DESTDIR)/usr/lib/udev/rules.d/$${r##*/} || exit; done
	install -D -m 644 packaging/sysusers/eadm.conf $(DESTDIR)/usr/lib/sysusers.d/eadm.conf
	install -D -m 644 packaging/sos/erdma.py $(SOS)/report/plugins/erdma.py
	for f in $(PROMETHEUS); do \
		install -D -m 644 $$f $(EADM_SHARE)/prometheus/$${f##*/} || exit; done
	for f in $(RUNBOOKS); do \
		install -D -m 644 $$f $(EADM_SHARE)/runbooks/$${f##*/} || exit; done
	install -d $(EADM_EXAMPLES)
	install -m 644 packaging/kubernetes/*.yaml $(EADM_EXAMPLES)
	install -m 755 tools/trace/*.bt $(EADM_EXAMPLES)
	install -D -m 644 packaging/prometheus/eadm-metrics.timer $(UNIT_DIR)/eadm-metrics.timer
	sed 's,@BINDIR@,$(PREFIX)/bin,' packaging/prometheus/eadm-metrics.service.in \
		>$(UNIT_DIR)/eadm-metrics.service
	chmod 644 $(UNIT_DIR)/eadm-metrics.service

install-dev:
	for h in $(HEADERS); do \
		install -D -m 644 include/$$h $(DESTDIR)$(PREFIX)/include/rdma/$${h##*/} || exit; done
	for s in $(SCHEMAS); do \
		install -D -m 644 $$s $(DESTDIR)$(PREFIX)/share/erdma/schema/$${s##*/} || exit; done

install-model:
	install -D -m 644 $(MODEL_SO) $(DESTDIR)$(LIBDIR)/erdma/erdma-qemu.so
	install -d $(DESTDIR)$(PREFIX)/bin
	sed 's,@LIBDIR@,$(LIBDIR),' packaging/qemu/qemu-system-x86_64-erdma.in \
		>$(DESTDIR)$(PREFIX)/bin/qemu-system-x86_64-erdma
	chmod 755 $(DESTDIR)$(PREFIX)/bin/qemu-system-x86_64-erdma
	for f in $(VM_FILES); do install -D -m 644 tools/$$f $(MODEL_DIR)/$$f || exit; done
	for f in $(DKMS_FILES); do install -D -m 644 $$f $(MODEL_DIR)/source/$$f || exit; done
	chmod 755 $(MODEL_DIR)/source/driver/compat/probe.sh $(MODEL_DIR)/guest/init \
		$(MODEL_DIR)/guest/start-agent $(MODEL_DIR)/erdma/initrd-init.sh
	sed 's,@LIBDIR@,$(patsubst $(PREFIX)/%,%,$(LIBDIR)),' packaging/qemu/erdma-vm.in \
		>$(DESTDIR)$(PREFIX)/bin/erdma-vm
	chmod 755 $(DESTDIR)$(PREFIX)/bin/erdma-vm
	install -D -m 644 packaging/bash-completion/erdma-vm $(COMPLETIONS)/erdma-vm
	$(call install_man,man/qemu-system-x86_64-erdma.1 man/erdma-vm.1)

install-dkms:
	for f in $(DKMS_FILES); do install -D -m 644 $$f $(DKMS_DIR)/$$f || exit; done
	chmod 755 $(DKMS_DIR)/driver/compat/probe.sh
	install -m 755 packaging/dkms/compiled.sh $(DKMS_DIR)/compiled.sh
	sed 's/#MODULE_VERSION#/$(VERSION)/' packaging/dkms/dkms.conf >$(DKMS_DIR)/dkms.conf
	chmod 644 $(DKMS_DIR)/dkms.conf
	$(call install_man,man/erdma.4 man/erdma_diag.4)

install-module:
	install -D -m 644 driver/erdma.ko $(MODULE_DIR)/erdma.ko
	if [ -z '$(DESTDIR)' ]; then depmod $(KVER); fi
	$(call install_man,man/erdma.4 man/erdma_diag.4)

uninstall: not-packaged
	$(MAKE) -C eadm uninstall DESTDIR=$(abspath $(DESTDIR)) PREFIX=$(PREFIX)
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/share/man/,\
		$(foreach p,$(EADM_PAGES),man$(patsubst .%,%,$(suffix $p))/$(notdir $p)) man4/erdma.4 man4/erdma_diag.4 man1/erdma-vm.1 \
		man1/qemu-system-x86_64-erdma.1) \
		$(DESTDIR)$(PREFIX)/bin/qemu-system-x86_64-erdma $(DESTDIR)$(PREFIX)/bin/erdma-vm \
		$(COMPLETIONS)/erdma-vm \
		$(addprefix $(DESTDIR)$(PREFIX)/include/rdma/,$(notdir $(HEADERS))) \
		$(DESTDIR)/usr/lib/sysusers.d/eadm.conf \
		$(SOS)/report/plugins/erdma.py $(SOS)/report/plugins/__pycache__/erdma.*.pyc \
		$(addprefix $(UNIT_DIR)/,$(UNITS))
	rm -rf $(EADM_SHARE) $(EADM_EXAMPLES)
	for r in $(UDEV_RULES); do rm -f $(DESTDIR)/usr/lib/udev/rules.d/$${r##*/}; done
	rm -rf $(DESTDIR)$(LIBDIR)/erdma $(DESTDIR)$(PREFIX)/share/erdma/schema $(MODEL_DIR)
	if [ -e $(MODULE_DIR)/erdma.ko ]; then \
		rm -f $(MODULE_DIR)/erdma.ko && \
		if [ -z '$(DESTDIR)' ]; then depmod $(KVER); fi; fi
# They may be others', too
	for d in $(addprefix $(DESTDIR)$(PREFIX)/,share/erdma share/doc/eadm include/rdma) \
		$(SOS)/report/plugins/__pycache__ $(SOS)/report/plugins $(SOS)/report $(SOS) $(MODULE_DIR); do \
		[ ! -d $$d ] || rmdir --ignore-fail-on-non-empty $$d || exit; done

uninstall-dkms: not-packaged
	rm -rf $(DKMS_DIR)
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/share/man/man4/,erdma.4 erdma_diag.4)

.PHONY: install install-built install-eadm install-dev install-model install-dkms install-module \
	uninstall uninstall-dkms not-packaged
