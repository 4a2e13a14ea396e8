# SPDX-License-Identifier: GPL-2.0-or-later
"""Our packages on whole Debian systems, fresh from the archive: installed, booted, upgraded,
removed, purged. Packages are installed in the system's folder, which is booted then: DKMS
compiles on the host's processor, the kernel and the card are those of a VM.

Tests build upon each other.
"""
import os
import re
import shutil

import pytest

from erdma import distro, kernels, local, release
from erdma.paths import BUILD
from erdma.vm import VmSpec, run_pair
from vm.lib.pairs import rping

pytestmark = [
    pytest.mark.group('long'),
    pytest.mark.limit(2400),
    pytest.mark.needs('driver', 'model', 'intree-6.1'),
]

#: What the tools of the distribution write by themselves, whatever is installed.
NOISE = re.compile(r'/var/(log|cache|lib/(apt|dpkg|systemd|initramfs-tools))/|/(mnt|tmp|proc|dev|run)(/|$)|'
                   r'/boot/(initrd|config)|/etc/(group|gshadow|passwd|shadow)-?$|'
                   r'/lib/modules/[^/]+/modules\.|/etc/ld\.so\.cache|\.pyc$|__pycache__')
DRIVER = 'erdma-dkms eadm'.split()
#: The kernel whose stock driver fits the kernel of a system.
OWN_DRIVER = {'bookworm': '6.1'}


@pytest.fixture(scope='module', name='debs')
def _debs():
    """Package name -> file."""
    where = release.deb(BUILD / 'distro/deb')
    return {x.name.split('_')[0]: x for x in sorted(where.glob('*.deb'))}


@pytest.fixture(scope='module', params=list(distro.SUITES), name='system')
def _system(request, debs):
    """A copy of a fresh system."""
    system = distro.System(request.param, request.param)
    if request.param in OWN_DRIVER:
        add_own_driver(system, OWN_DRIVER[request.param])
    system.before = system.files()
    system.upgraded = []                # packages of the suite, by a newer kernel
    system.debs = [debs[x] for x in DRIVER]
    yield system
    system.remove()


def add_own_driver(system, kind):
    """Debian's kernels are made without their driver for the card: add it where it would be."""
    kernel = system.releases()[-1]
    place = system.root / f'lib/modules/{kernel}/kernel/drivers/infiniband/hw/erdma'
    place.mkdir()
    shutil.copy(kernels.stock_drivers(kind)[0] / 'erdma.ko', place)
    system.must('depmod', kernel)


def boot(system, kernel, **more):
    """A VM of the system as it is now."""
    return local.hosts(f'packages-{system.suite}', VmSpec(mem=2048, **system.boot_files(kernel), **more))


def check_device(vm):
    """The card has a device without a command of anybody's. Its network interface gets the address
    here: nothing in the system does that.
    """
    vm.wait_until('the device of the card', lambda: vm.driver.rdma('link'), 120)

    def has_address():
        netdev = vm.driver.rdma('link')[0]['netdev']    # until udev has given it another name
        return vm.ok(f'ip addr replace {vm.address()}/24 dev {netdev} && ip link set {netdev} up')
    vm.wait_until('the address of its interface', has_address, 60)
    vm.wait_until('its port', lambda: vm.driver.rdma('link')[0]['state'] == 'ACTIVE', 30)


def check_traffic(vm):
    """Data moves."""
    server, client = rping('-C 50 -S 4096 -v -V')
    run_pair(vm, server, vm, client)


def module_file(system, kernel):
    """The erdma.ko that modprobe takes; '' if there is none."""
    done = system.run('modinfo', '-k', kernel, '-F', 'filename', 'erdma')
    return done.stdout.strip() if done.returncode == 0 else ''


def test_installation_builds_the_module_for_the_kernel(system):
    kernel = system.releases()[-1]
    assert '/updates/' not in module_file(system, kernel)
    system.install(system.debs)
    assert '/updates/dkms/erdma.ko' in module_file(system, kernel)


def test_card_is_recognized_at_boot(system):
    kernel = system.releases()[-1]
    with boot(system, kernel) as (vm,):
        check_device(vm)
        assert vm.out('readlink -f /usr/bin/eadm') == '/usr/bin/eadm'
        check_traffic(vm)
        assert 'erdma' in vm.out('eadm list dev')
        vm.run('useradd -G erdma-diag member && useradd stranger')
        assert vm.run('runuser -u member -- eadm list qp', check=False).status == 0
        assert vm.run('runuser -u stranger -- eadm list qp', check=False).status != 0
        assert not vm.complaints()


def test_newer_kernel_gets_the_module(system):
    """As its package is installed, without a command."""
    debs = sorted((system.fresh / 'newer').glob('*.deb'))
    if not debs:
        pytest.skip('no newer kernel is at hand for this system')
    old, packages = system.releases()[-1], system.packages()
    system.upgraded = sorted(packages & {x.name.split('_')[0] for x in debs})
    # What another needs before it is unpacked: dpkg sorts nothing.
    first = [x for x in debs if x.name.startswith('linux-base_')]
    for some in filter(None, (first, [x for x in debs if x not in first])):
        system.install(some)
    kernel = system.releases()[-1]
    assert kernel != old
    assert '/updates/dkms/erdma.ko' in module_file(system, kernel)
    with boot(system, kernel) as (vm,):
        check_device(vm)
        check_traffic(vm)
    system.must('dpkg', '--purge', *(system.packages() - packages))


def test_removal_gives_the_card_to_the_kernels_own_driver(system):
    kernel = system.releases()[-1]
    system.must('dpkg', '--remove', *DRIVER)
    if system.suite not in OWN_DRIVER:
        assert not module_file(system, kernel)
        pytest.skip('the kernel of this system has no driver for the card')
    assert '/kernel/drivers/' in module_file(system, kernel)
    with boot(system, kernel) as (vm,):
        check_device(vm)
        check_traffic(vm)


def test_purge_leaves_nothing(system):
    system.must('dpkg', '--purge', *DRIVER)
    after = system.files()
    new = {x for x in after if x not in system.before and not NOISE.search(x)}
    gone = {x for x in system.before if x not in after and not NOISE.search(x)}
    changed = {x for x in after if system.before.get(x, after[x]) != after[x] and
               not os.path.isdir(str(system.root) + x) and not NOISE.search(x)}
    others = set()
    if system.upgraded:
        others = set(system.must('dpkg', '-L', *system.upgraded).splitlines())
    assert not (new | gone | changed) - others


def test_kernel_without_headers_is_named(system):
    """The package is installed, and says what it lacks."""
    kernel = system.releases()[-1]
    build = system.root / f'lib/modules/{kernel}/build'
    build.rename(build.with_name('build.off'))
    try:
        said = system.install(system.debs)
        assert '/updates/' not in module_file(system, kernel)
    finally:
        build.with_name('build.off').rename(build)
        system.must('dpkg', '--purge', *DRIVER)
    assert re.search(r'headers.*(missing|not found|cannot be found|not.*installed)|No kernel headers', said), said


def test_kernel_without_infiniband_is_named(system):
    kernel = system.releases()[-1]
    # Which one DKMS reads depends on its version. The link to the headers is absolute.
    headers = system.root / f'usr/src/linux-headers-{kernel}'
    configs = {x: x.read_text(encoding='ascii')
               for x in (headers / '.config', headers / 'include/config/auto.conf',
                         system.root / f'boot/config-{kernel}')}
    for config, text in configs.items():
        config.write_text(re.sub(r'^CONFIG_INFINIBAND(_.*)?=.*\n', '', text, flags=re.M),
                          encoding='ascii')
    try:
        said = system.install(system.debs)
        assert '/updates/' not in module_file(system, kernel)
    finally:
        for config, text in configs.items():
            config.write_text(text, encoding='ascii')
        system.must('dpkg', '--purge', *DRIVER)
    assert f'Linux {kernel} is made without InfiniBand (CONFIG_INFINIBAND)' in said, said
