# SPDX-License-Identifier: GPL-2.0-or-later
"""The card behind an IOMMU: a page that the driver did not map for it is not to be reached.

Physical addresses are no bus addresses then, and each access to another page is reported.
"""
import pytest

from erdma.vm import run_pair
from vm.lib.recovery import reset, wait_recovered

pytestmark = [
    pytest.mark.group('vm'),
    pytest.mark.needs('driver', 'model', 'progs', 'kverbs'),
    pytest.mark.vms(qemu_args=('-device', 'intel-iommu'), append='intel_iommu=on iommu=nopt'),
]
KVERBS = '/sys/kernel/debug/kverbs'


@pytest.fixture
def translated(vm):
    """The VM whose card is in an IOMMU domain of its own; it caused no fault of the IOMMU."""
    group = vm.out(['readlink', '-f', f'/sys/bus/pci/devices/{vm.card.bdf}/iommu_group'])
    assert vm.read(f'{group.strip()}/type').startswith('DMA')
    yield vm
    assert 'fault' not in vm.out('dmesg | grep DMAR'), vm.out('dmesg | grep DMAR')


def test_application_behind_an_iommu(translated):
    run_pair(translated, 'rping -s -a {addr} -p {port} -C 20 -v -V -S 4096',
             translated, 'rping -c -a {addr} -p {port} -C 20 -v -V -S 4096')


@pytest.mark.parametrize('group', ['sends', 'memory', 'wrap', pytest.param(
    'mr-limits', marks=pytest.mark.expects_verdict('verb-failed'))])
def test_kernel_consumer_behind_an_iommu(translated, tap, group):
    translated.run(f'insmod /erdma/build/kverbs/kverbs.ko address={translated.address()}')
    tap.guest(translated, ['cat', f'{KVERBS}/{group}'], name=group)
    translated.run('rmmod kverbs')


@pytest.mark.parametrize('size', ['64', '1048576'])
def test_write_behind_an_iommu(translated, size):
    run_pair(translated, f'ib_write_bw -R -F -n 100 -s {size} -p {{port}}',
             translated, f'ib_write_bw -R -F -n 100 -s {size} -p {{port}} {{addr}}')


@pytest.mark.expects_verdict('card-reset')
def test_reset_behind_an_iommu(translated):
    wait_recovered(translated, reset(translated))
    test_application_behind_an_iommu(translated)
