# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts about the host around a device, each from its real cause, which is then cured."""
import re

import pytest

from lib.programs import eadm, eadm_data
from vm.lib.replay import cure
from vm.lib.verdicts import (Cause, doctor_has, doctor_has_not, has_not, is_verdict, stays,
                             wait_doctor_has_not)

pytestmark = [
    pytest.mark.group('long'),
    pytest.mark.limit(200),
    pytest.mark.needs('driver', 'eadm', 'model', 'progs'),
    pytest.mark.vms(smp=2),
]
everyday = pytest.mark.group('vm')

MODULES = '/lib/modules/$(uname -r)'
UPDATES = f'{MODULES}/updates/dkms'
OPTIONS = '/etc/modprobe.d/erdma.conf'
RECORDERS = '/sys/module/erdma/parameters/recorders'


@everyday
def test_no_driver(bare_vm):
    vm = bare_vm
    doctor_has(vm, 'no-driver', 'admin')
    vm.driver.load()
    doctor_has_not(vm, 'no-driver')


def test_driver_that_made_no_device(vm):
    """A driver for pass-through has the adapter."""
    bdf = vm.card.bdf
    vm.card.unbind()
    vm.run(f'modprobe -a pci-stub && echo pci-stub >/sys/bus/pci/devices/{bdf}/driver_override && '
           f'echo {bdf} >/sys/bus/pci/drivers_probe')
    _, found = doctor_has(vm, 'no-rdma', 'admin')
    assert "'pci-stub'" in found['text'], found
    vm.run(f'echo {bdf} >/sys/bus/pci/drivers/pci-stub/unbind; '
           f'echo >/sys/bus/pci/devices/{bdf}/driver_override')
    vm.card.bind()
    doctor_has_not(vm, 'no-rdma')


def test_device_in_another_namespace(vm):
    """Namespaces are exclusive only if there were none before."""
    name = vm.driver.device()
    vm.run(f'rdma system set netns exclusive && ip netns add apart && '
           f'rdma dev set {name} netns apart')
    doctor_has(vm, 'netns-hidden', 'admin')
    cure(vm, 'namespaces', dev=name, NAME='apart')
    assert vm.driver.device() == name
    doctor_has_not(vm, 'netns-hidden')
    vm.run('ip netns del apart')
    vm.wait_until('the namespace to be gone',
                  lambda: not vm.run('rdma system set netns shared', check=False).status)
    doctor_has_not(vm, 'netns-hidden')


# ---- module, libraries -------------------------------------------------------------------

def test_file_of_the_module_is_newer(vm):
    """An update without a reboot: other sources have another checksum."""
    vm.run(f'mkdir -p {UPDATES} && sed "s/srcversion=[0-9A-F]*/srcversion=0123456789ABCDEF0123456/" '
           f'/erdma/driver/erdma.ko >{UPDATES}/erdma.ko && depmod')
    doctor_has(vm, 'module-old', 'admin')
    vm.run(f'cp /erdma/driver/erdma.ko {UPDATES}')
    doctor_has_not(vm, 'module-old')
    vm.run(f'rm -r {MODULES}/updates && depmod')


def test_headers_are_missing(vm):
    """DKMS has the sources, and nothing to build them with."""
    vm.run('mkdir -p /usr/src/erdma-1 && touch /usr/src/erdma-1/dkms.conf')
    _, found = doctor_has(vm, 'headers-missing', 'admin')
    assert vm.out('uname -r') in found['text'], found
    vm.run(f'mkdir {MODULES}/build')
    doctor_has_not(vm, 'headers-missing')
    vm.run(f'rmdir {MODULES}/build; rm -r /usr/src/erdma-1')


@everyday
def test_provider_is_missing(vm):
    vm.run('mv /etc/libibverbs.d/erdma.driver /tmp')
    doctor_has(vm, 'provider-missing', 'admin')
    vm.run('mv /tmp/erdma.driver /etc/libibverbs.d')
    doctor_has_not(vm, 'provider-missing')


def test_provider_is_old(vm):
    """The library says of which rdma-core it is by its name alone."""
    link = vm.out('ls /usr/lib/*-linux-gnu/libibverbs.so.1')
    file = vm.out(['readlink', '-f', link])
    old = re.sub(r'\.\d+\.(\d+)$', r'.39.\1', file)
    vm.run(f'cp {file} {old} && ln -sf {old} {link}')
    _, found = doctor_has(vm, 'provider-old', 'admin')
    assert ' 39' in found['text'], found
    vm.run(f'ln -sf {file} {link}; rm {old}')
    doctor_has_not(vm, 'provider-old')


def test_parameter_of_the_vendors_driver(vm):
    vm.driver.unload()
    vm.write(OPTIONS, 'options erdma compat_mode=Y\n')
    vm.driver.load('compat_mode=Y')
    doctor_has(vm, 'compat-mode', 'admin')
    vm.driver.unload()
    vm.run(['rm', OPTIONS])
    vm.driver.load()
    doctor_has_not(vm, 'compat-mode')


@everyday
def test_recorders_are_off(vm):
    vm.write(RECORDERS, 'N')
    doctor_has(vm, 'recorders-off', 'admin')
    cure(vm, 'recorders-off')
    doctor_has_not(vm, 'recorders-off')


# ---- interrupts, processes ---------------------------------------------------------------

def test_interrupts_go_to_one_cpu(vm):
    eqs = [x for x in eadm_data(vm, 'list', 'eq') if x.get('comp_vector') is not None]
    assert len(eqs) > 1, eqs
    masks = {x['irq']: vm.read(f'/proc/irq/{x["irq"]}/smp_affinity_list').strip() for x in eqs}
    for irq in masks:
        vm.write(f'/proc/irq/{irq}/smp_affinity_list', '0')
    _, found = doctor_has(vm, 'irqs-one-cpu', 'admin')
    assert 'CPU 0' in found['text'], found
    for irq, mask in masks.items():
        vm.write(f'/proc/irq/{irq}/smp_affinity_list', mask)
    wait_doctor_has_not(vm, 'irqs-one-cpu')


def test_process_near_its_limit_of_locked_memory(vm):
    """Without CAP_IPC_LOCK there is one: first as much as it has, then twice that."""
    def limited(kib):
        return ['setpriv', '--bounding-set', '-ipc_lock', '--', 'prlimit', f'--memlock={kib << 10}']

    with Cause(vm, 'idle') as c:
        pid = vm.out('pgrep -x verbs_cause')
        pinned = int(re.search(r'VmPin:\s*(\d+)', vm.read(f'/proc/{pid}/status'))[1])
        assert c.qpn and pinned
    with Cause(vm, 'idle', prefix=limited(pinned + 4)):
        _, found = doctor_has(vm, 'pinned-near', 'admin')
        assert 'verbs_cause[' in found['text'], found
    with Cause(vm, 'idle', prefix=limited(2 * pinned)):
        doctor_has_not(vm, 'pinned-near')


def test_nothing_is_wrong(vm):
    doctor_has(vm, 'healthy', 'admin')
    vm.run('ip link set eth0 down')
    doctor_has_not(vm, 'healthy')
    cure(vm, 'interface', 'ip link')


# ---- other cards -------------------------------------------------------------------------

@pytest.mark.vms(smp=2, props='flags=0xa8')         # without QUERY_QC
def test_card_without_contexts_of_queue_pairs(vm):
    """Where it is in a queue nobody knows: that is said, and nothing else."""
    with Cause(vm, 'no-receive') as c:
        _, found = is_verdict(vm, 'unknown', 'card', c.qpn)
        assert 'this card does not show its contexts of queue pairs' in found['text'], found
        done = eadm(vm, 'info', 'dev')
        assert 'query-qc' not in done.out, done
    stays(vm, 'unknown')


def test_card_that_has_them(vm):
    with Cause(vm, 'no-receive') as c:
        is_verdict(vm, 'no-receive', 'application', c.qpn)
        has_not(vm, 'unknown', c.qpn)
