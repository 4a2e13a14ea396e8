# SPDX-License-Identifier: GPL-2.0-or-later
"""Our packages on whole Debian systems, fresh from the archive: installed, booted, upgraded,
removed, purged. Packages are installed in the system's folder, which is booted then: DKMS
compiles on the host's processor, the kernel and the card are those of a VM.

Tests build upon each other.
"""
import contextlib
import os
import re
import shutil
import subprocess

import pytest

from erdma import distro, kernels, local, release
from erdma.paths import BUILD, TOP
from erdma.vm import VmSpec, run_pair, start_server
from vm.lib.pairs import rping

pytestmark = [
    pytest.mark.group('long'),
    pytest.mark.limit(7200),
    pytest.mark.needs('driver', 'model', 'intree-6.1'),
]

DRIVER = 'erdma-dkms eadm'.split()
OURS = [*DRIVER, 'erdma-dev']
#: Programs of a load, in units of systemd that get a twentieth of a CPU.
LOAD = 'load-server', 'load-client'
LITTLE_TIME = 'systemd-run --scope --quiet --property=CPUQuota=5% --unit='
#: A version after ours.
NEXT = '999.0.0'
#: Folder of the modules of the version before, until newer ones are compiled.
OLDER = 'erdma-dkms'
#: The kernel whose stock driver fits the kernel of a system.
OWN_DRIVER = {'bookworm': '6.1'}


@pytest.fixture(scope='module', name='debs')
def _debs():
    """Package name -> file."""
    where = release.deb(BUILD / 'distro/deb')
    return {x.name.split('_')[0]: x for x in sorted(where.glob('*.deb'))}


@pytest.fixture(scope='module', name='next_debs')
def _next_debs():
    """The packages of a version that follows ours, made from a copy of the last commit: their
    folder below the checkout.
    """
    tree = BUILD / 'distro/next'
    shutil.rmtree(tree, ignore_errors=True)
    subprocess.run(['git', 'clone', '-q', '--depth=1', f'file://{TOP}', tree], check=True)
    (tree / 'VERSION').write_text(f'{NEXT}\n', encoding='ascii')
    log = tree / 'CHANGELOG.md'
    text = log.read_text(encoding='utf-8')
    newest = f'\n## {NEXT} (unreleased)\n\nFixed\n\n- Nothing.\n\n## '
    log.write_text(text.replace('\n## ', newest, 1), encoding='utf-8')
    subprocess.run(['git', '-c', 'user.name=test', '-c', 'user.email=test@erdma.invalid', 'commit',
                    '-qam', NEXT], cwd=tree, check=True)
    subprocess.run(['tools/release', 'deb'], cwd=tree, check=True, stdout=subprocess.DEVNULL)
    return (tree / 'build/deb').relative_to(TOP)


@pytest.fixture(scope='module', params=distro.FOR_PACKAGES, name='system')
def _system(request, debs):
    """A copy of a fresh system."""
    system = distro.System(request.param, request.param)
    if request.param in OWN_DRIVER:
        add_own_driver(system, OWN_DRIVER[request.param])
    system.before, system.fresh_versions = system.files(), system.versions()
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
    """A VM of the system as it is now. It starts all that a system starts, and one of the tests
    compiles the module in it: its limits are three times those of the small guest.
    """
    spec = VmSpec(mem=2048, slow=3, **system.boot_files(kernel), **more)
    return local.hosts(f'packages-{system.suite}', spec)


def check_device(vm, name='erdma_0'):
    """The card has a device without a command of anybody's, and of this name, '': of any. Its
    network interface gets the address here: nothing in the system does that.
    """
    vm.wait_until('the device of the card', lambda: vm.driver.rdma('link'), 120)
    if name:                                # the rule of our package gives it back
        vm.wait_until(f'the name {name}', lambda: vm.driver.devices() == [name], 60)

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


def modules_of_dkms(system):
    """Lines of all kernels' lists of modules that name ours."""
    return [line for x in (system.root / 'lib/modules').glob('*/modules.dep')
            for line in x.read_text(encoding='ascii').splitlines() if 'updates/dkms/erdma' in line]


def test_installation_builds_the_module_for_the_kernel(system, debs):
    """By apt-get, from files, as the guide says."""
    kernel = system.releases()[-1]
    assert '/updates/' not in module_file(system, kernel)
    system.apt_install(*(debs[x] for x in OURS))
    assert '/updates/dkms/erdma.ko' in module_file(system, kernel) and modules_of_dkms(system)
    assert set(OURS) <= system.packages()


def test_module_is_signed_by_the_key_of_the_machine(system):
    """By DKMS, with the key that mokutil enrols: who has Secure Boot needs no other step."""
    signer = system.must('modinfo', '-k', system.releases()[-1], '-F', 'signer', 'erdma').strip()
    key = system.must('openssl', 'x509', '-inform', 'DER', '-in', '/var/lib/dkms/mok.pub', '-noout',
                      '-subject')
    assert signer and signer in key


def test_card_is_recognized_at_boot(system):
    kernel = system.releases()[-1]
    with boot(system, kernel) as (vm,):
        check_device(vm)
        assert vm.out('readlink -f /usr/bin/eadm') == '/usr/bin/eadm'
        check_traffic(vm)
        assert 'erdma' in vm.out('eadm list dev')
        check_metrics(vm)
        check_what_the_controller_calls(vm)
        check_device(vm)
        vm.run('useradd -G erdma-diag member && useradd stranger')
        assert vm.run('runuser -u member -- eadm list qp', check=False).status == 0
        assert vm.run('runuser -u stranger -- eadm list qp', check=False).status != 0
        # Installed on a running system: nodes that exist get the group.
        vm.run('chgrp root /dev/erdma/diag*; dpkg -i /erdma/build/distro/deb/eadm_*.deb', 120)
        vm.wait_until('the group of the node', '[ $(stat -c %G /dev/erdma/diag0) = erdma-diag ]', 20)
        assert not vm.complaints()


def check_metrics(vm):
    """The timer is off; the service, hardened as it is, writes what root sees."""
    assert vm.run('systemctl is-enabled eadm-metrics.timer', check=False).out.strip() == 'disabled'
    file = '/var/lib/prometheus/node-exporter/erdma.prom'
    vm.run(f'mkdir -p $(dirname {file}) && chown -R daemon $(dirname {file})')
    vm.run('systemctl start eadm-metrics.service', 60)
    text = vm.read(file)
    assert re.search(r'(?m)^erdma_up\{device="erdma_0",.*\} 1$', text), text
    assert not re.search(r'(?m)^erdma_part_up\{.*\} 0$', text), text
    assert vm.out(f'stat -c %a {file}') == '644'
    vm.run('systemctl enable --now eadm-metrics.timer && rm ' + file)
    vm.wait_until('the timer', f'test -s {file}', 60)
    # systemd disables nothing in a system that has the link of the test's agent.
    vm.run('systemctl stop eadm-metrics.timer eadm-metrics.service && rm -r /var/lib/prometheus '
           '/etc/systemd/system/timers.target.wants/eadm-metrics.timer')


def check_what_the_controller_calls(vm):
    """Kubernetes' device controller and exporter for the vendor's driver (test_vendor_stack.py)."""
    vm.run(['bash', '-c', 'stat /bin/eadm && modinfo erdma'])
    ver = re.search(r'Query kernel driver version:\s+(\S+)', vm.out('eadm ver'))
    assert ver and ver[1] == release.version()
    lines = vm.out('EADM_STYLE=vendor eadm stat -d erdma_0').splitlines()
    counters = {k.strip(): int(v) for k, v in (x.split(':') for x in lines if x.count(':') == 1)}
    assert len(counters) == 55 and counters['hw_tx_bytes_cnt'] > 0
    vm.run('rmmod erdma && modprobe erdma compat_mode=Y', 60)
    assert vm.read('/sys/module/erdma/parameters/compat_mode') == 'Y\n'
    assert 'compat_mode=Y has no effect' in vm.out('dmesg')
    vm.run('rmmod erdma && modprobe erdma', 60)


def version_of(vm, running):
    """Of the module that is loaded, or of the file that modprobe takes."""
    return vm.out('cat /sys/module/erdma/version' if running else 'modinfo -F version erdma')


@contextlib.contextmanager
def load(vm):
    """Data moves between two programs, all the time, in little of it: both would use up a CPU.
    Yields them. Interfaces have udev's names here, so erdma.vm.Traffic finds no device.
    """
    port = vm.next_port()
    server, client = (f'{LITTLE_TIME}{x} ib_write_bw -R -F --run_infinitely -s 4096 -p {port}'.split()
                      for x in LOAD)
    server = start_server(vm, server, port)
    client = vm.popen([*client, vm.address()])
    try:
        check_data_moves(vm)
        yield client, server
    finally:
        client.stop()
        server.stop()


def check_data_moves(vm):
    """More than connecting takes."""
    def sent():
        return vm.driver.rdma('statistic', 'show', 'link')[0]['tx_bytes']
    before = sent()
    vm.wait_until('data to move', lambda: sent() > before + 100000, 60)


@contextlib.contextmanager
def follow(vm):
    """A running eadm that prints the commands of the driver."""
    events = vm.popen('eadm log --follow --kind cmd'.split())
    try:
        check_follows(vm, events)
        yield events
    finally:
        events.stop()


def check_follows(vm, events):
    """Objects are made, and their commands printed."""
    before = len(events.out)
    check_traffic(vm)
    vm.wait_until('their commands', lambda: len(events.out) > before, 30)
    assert events.running


def test_upgrade_under_load_leaves_the_running_driver(system, next_debs):
    """DKMS compiles the newer version in the VM while data moves: the driver that runs serves on,
    and so does an eadm that runs while its package is replaced; the next one reads this driver.
    It can be unloaded under the programs, which end then, and the newer one is loaded.
    """
    with boot(system, system.releases()[-1]) as (vm,):
        check_device(vm)
        with load(vm) as programs:
            with follow(vm) as events:
                vm.run(f'dpkg -i /erdma/{next_debs}/eadm_*.deb', 120)
                assert NEXT in vm.out('eadm --version')
                vm.run('eadm list qp && eadm stat', 60)
                vm.run(f'dpkg -i /erdma/{next_debs}/erdma-dkms_*.deb', 2000)
                assert [version_of(vm, x) for x in (True, False)] == [release.version(), NEXT]
                assert not vm.ok(f'ls -d /lib/modules/*/updates/{OLDER}')
                check_follows(vm, events)
            check_data_moves(vm)
            assert all(x.running for x in programs)
            # A server that had a twentieth of a CPU then went on to poll for its last completion.
            for unit in LOAD:
                vm.run(f'systemctl set-property --runtime {unit}.scope CPUQuota=')
            vm.run('rmmod erdma', 60)
            vm.wait_until('the programs to end', lambda: not any(x.running for x in programs), 60)
        vm.run('modprobe erdma', 60)
        assert version_of(vm, True) == NEXT
        check_device(vm)
        check_traffic(vm)
        assert not vm.complaints()


def test_purge_on_a_running_system_leaves_nothing(system):
    """With the timer of the metrics and the driver at work. The system in its folder stays as it is."""
    with boot(system, system.releases()[-1]) as (vm,):
        check_device(vm)
        vm.wait_until('the group of the node', '[ $(stat -c %G /dev/erdma/diag0) = erdma-diag ]', 20)
        folder = '/var/lib/prometheus/node-exporter'
        vm.run(f'mkdir -p {folder} && systemctl enable --now eadm-metrics.timer')
        vm.wait_until('the timer', f'test -s {folder}/erdma.prom', 60)
        vm.run(f'DEBIAN_FRONTEND=noninteractive apt-get -y purge {" ".join(OURS)}', 600)
        assert vm.run('systemctl is-active eadm-metrics.timer', check=False).out.strip() == 'inactive'
        # failed: it ran just then.
        said = vm.run('systemctl is-active eadm-metrics.service', check=False).out.strip()
        assert said in ('inactive', 'failed')
        assert not vm.ok('getent group erdma-diag')
        # The driver that is loaded serves on.
        assert vm.out('stat -c "%U:%G %a" /dev/erdma/diag0') == 'root:root 600'
        assert left_behind(vm) == []
        assert not vm.complaints()


def left_behind(vm):
    """Files with our names that no package has, nor the test: its agent, the kernel's own driver."""
    found = vm.out("find /etc /usr /var/lib -name '*erdma*' -o -name '*eadm*'").splitlines()
    found = [x for x in found if not re.search(r'/erdma-agent\.service$|/modules/[^/]+/kernel/', x)]
    # Of a merged /usr, packages have files of /lib.
    return [x for x in found if not vm.ok(['dpkg-query', '-S', x]) and
            not vm.ok(['dpkg-query', '-S', x.removeprefix('/usr')])]


def test_kernel_that_is_locked_down_is_named(system):
    """DKMS signs with a key that the kernel gets by MOK only: eadm says what is to be done."""
    with boot(system, system.releases()[-1], append='lockdown=integrity') as (vm,):
        assert '[integrity]' in vm.read('/sys/kernel/security/lockdown')
        vm.run('udevadm settle', 120)
        loaded = vm.run('modprobe erdma', 60, check=False)
        assert loaded.status and 'Operation not permitted' in loaded.err
        # So it says of a key that is not enrolled as well as of no signature.
        assert 'unsigned module loading is restricted' in vm.out('dmesg')
        said = vm.run('eadm list qp', check=False)
        assert said.status == 5, said.err
        assert 'no driver bound' in said.err and 'the kernel is locked down' in said.err
        key = re.search(r'mokutil --import (/\S+),', said.err)[1]
        assert vm.ok(['test', '-s', key])


def test_newer_kernel_gets_the_module(system):
    """As its package is installed, without a command."""
    debs = sorted((system.fresh / 'newer').glob('*.deb'))
    # Where the archive is to have one, its absence is no reason to pass without this test.
    assert debs or not distro.SUITES[system.suite].newer, 'the archive gave no newer kernel'
    if not debs:
        pytest.skip('no newer kernel is at hand for this system')
    old, packages = system.releases()[-1], system.packages()
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
    system.must('dpkg', '--remove', *OURS)
    if system.suite not in OWN_DRIVER:
        assert not module_file(system, kernel)
        pytest.skip('the kernel of this system has no driver for the card')
    assert '/kernel/drivers/' in module_file(system, kernel)
    with boot(system, kernel) as (vm,):
        check_device(vm, '')
        check_traffic(vm)


def differences(system, before, after):
    """Paths that are new, gone or different."""
    new = {x for x in after if x not in before}
    gone = {x for x in before if x not in after}
    changed = {x for x in after if before.get(x, after[x]) != after[x] and
               not os.path.isdir(str(system.root) + x)}
    return {x for x in new | gone | changed if not distro.is_noise(x)}


def files_of(root, packages):
    """Paths that packages brought to the system in the folder ROOT."""
    info = root / 'var/lib/dpkg/info'
    lists = [y for x in packages for y in (info / f'{x}.list', *info.glob(f'{x}:*.list')) if y.exists()]
    return {line for x in lists for line in x.read_text().splitlines()}


def files_of_upgrades(system):
    """Paths of the suite's packages that have another version than in the fresh system: a newer kernel
    needs some, and the archive may have had others when apt-get installed what ours need.
    """
    fresh = system.fresh_versions
    upgraded = {x for x, version in system.versions().items() if fresh.get(x, version) != version}
    return files_of(system.root, upgraded) | files_of(system.fresh / 'root', upgraded)


def test_purge_leaves_nothing(system):
    # What apt-get brought along for ours goes, too.
    system.must('dpkg', '--purge', *OURS, *(system.packages() - set(system.fresh_versions) - set(OURS)))
    assert not differences(system, system.before, system.files()) - files_of_upgrades(system)
    assert not modules_of_dkms(system)


def does_not_compile(deb, folder):
    """The package of a next version, whose source has an error: its file."""
    tree, version = folder / 'broken', release.version()
    subprocess.run(['dpkg-deb', '-R', deb, tree], check=True)
    source = tree / f'usr/src/erdma-{NEXT}'
    source.with_name(f'erdma-{version}').rename(source)
    for file in (source / 'dkms.conf', *(tree / 'DEBIAN').iterdir()):
        file.write_text(file.read_text(encoding='utf-8').replace(version, NEXT), encoding='utf-8')
    (source / 'driver/erdma_main.c').write_text('#error this kernel\n', encoding='ascii')
    subprocess.run(['dpkg-deb', '--root-owner-group', '-b', tree, folder / 'broken.deb'], check=True,
                   stdout=subprocess.DEVNULL)
    return folder / 'broken.deb'


def test_version_that_does_not_compile_leaves_the_module_of_the_older_one(system, debs):
    """The failure is dpkg's, and names the log. modprobe takes the older module until its package is
    installed again, or one that compiles; a purge leaves none.
    """
    kernel, before, deb = system.releases()[-1], system.files(), debs['erdma-dkms']
    broken = does_not_compile(deb, system.dir)
    try:
        system.install([deb])
        for back in (True, False):
            done = system.run('dpkg', '-i', f'{distro.INSIDE}/{broken.name}')
            assert done.returncode == 1 and 'make.log' in done.stdout, done.stdout
            assert f'Linux {kernel} keeps the driver of the version before' in done.stdout
            state = system.must('dpkg-query', '-W', '-f', '${db:Status-Status} ${Version}', 'erdma-dkms')
            assert state == f'half-configured {NEXT}-1'
            assert f'/updates/{OLDER}/erdma.ko' in module_file(system, kernel)
            assert system.must('modinfo', '-k', kernel, '-F', 'version', 'erdma').strip() == release.version()
            if back:
                system.install([deb])
                assert '/updates/dkms/erdma.ko' in module_file(system, kernel)
                assert not list((system.root / 'lib/modules').glob(f'*/updates/{OLDER}'))
    finally:
        system.must('dpkg', '--purge', 'erdma-dkms')
    assert not differences(system, before, system.files())
    assert not modules_of_dkms(system)


def test_card_for_qemu_is_installed_and_purged(system, debs):
    """With QEMU of the suite, by apt-get; what QEMU's own packages leave is not ours."""
    if system.suite != 'bookworm':
        pytest.skip("the package is for Debian 12's QEMU")
    name = 'erdma-qemu-model'
    fresh = system.packages()
    system.apt_install(debs[name])
    assert 'name "erdma"' in system.must('qemu-system-x86_64-erdma', '-device', 'help')
    assert '"networks"' in system.must('erdma-vm', 'status', '--json')
    system.must('dpkg', '--purge', name)
    before = system.files()
    assert not [x for x in before if re.search('erdma-(vm|qemu)', x) and not distro.is_noise(x)]
    system.install([debs[name]])
    system.must('dpkg', '--purge', name)
    assert not differences(system, before, system.files())
    system.must('dpkg', '--purge', *(system.packages() - fresh))


@contextlib.contextmanager
def boot_without_module(system, kernel):
    """A VM without a module of ours: eadm says so, or, if the kernel has its own driver, what that one
    lacks.
    """
    with boot(system, kernel) as (vm,):
        if module_file(system, kernel):
            check_device(vm, '')
        said = vm.run('eadm list qp', check=False)
        assert said.status == 5, said
        if module_file(system, kernel):
            # Without a node, or even without a device that sysfs shows at the adapter.
            assert "driver 'erdma'" in said.err
        else:
            assert 'no driver bound' in said.err
            assert f'there is no module erdma for Linux {kernel}' in said.err
            assert f'apt install linux-headers-{kernel}' in said.err
            assert 'A kernel without CONFIG_INFINIBAND gets none' in said.err
        yield vm


def install_on(vm):
    """The driver's package where the kernel that DKMS asks for runs, which a system in its folder does
    not have: what dpkg printed.
    """
    said = vm.run('dpkg -i /erdma/build/distro/deb/erdma-dkms_*.deb 2>&1', 600).out
    assert "chroot's host" not in said
    assert vm.out(['dpkg-query', '-W', '-f', '${db:Status-Status}', 'erdma-dkms']) == 'installed'
    assert not vm.ok('ls -d /lib/modules/*/updates')
    return said


def test_kernel_without_headers_is_named(system):
    """The package is installed, and says what it lacks. As headers come, the kernel gets the module."""
    kernel = system.releases()[-1]
    missing = f'no headers for Linux {kernel}: it gets no driver; apt install linux-headers-{kernel}'
    build = system.root / f'lib/modules/{kernel}/build'
    build.rename(build.with_name('build.off'))
    try:
        said = system.install(system.debs)
        assert '/updates/' not in module_file(system, kernel)
        with boot_without_module(system, kernel) as vm:
            assert missing in install_on(vm)
            # What the package of the headers does.
            vm.run(f'mv /lib/modules/{kernel}/build.off /lib/modules/{kernel}/build')
            vm.run(f'run-parts --arg={kernel} /etc/kernel/header_postinst.d', 2000)
            assert '/updates/dkms/erdma.ko' in vm.out('modinfo -F filename erdma')
            vm.run('modprobe -r erdma && modprobe erdma', 60)
            assert version_of(vm, True) == release.version()
            check_device(vm, '')
    finally:
        build.with_name('build.off').rename(build)
        system.must('dpkg', '--purge', *DRIVER)
    assert missing in said, said


def test_kernel_without_infiniband_is_named(system):
    kernel = system.releases()[-1]
    missing = f'Linux {kernel} is made without InfiniBand (CONFIG_INFINIBAND): it gets no driver'
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
        with boot_without_module(system, kernel) as vm:
            assert missing in install_on(vm)
    finally:
        for config, text in configs.items():
            config.write_text(text, encoding='ascii')
        system.must('dpkg', '--purge', *DRIVER)
    assert missing in said, said


def test_debian_11_builds_the_module_from_the_sources():
    """Its DKMS is older than the package wants, and its rdma-core has no provider for the card: the
    module is built for Linux 5.10 from what "make install-dkms" installs, and taken at boot.
    """
    system = distro.System('bullseye', 'bullseye')
    version, kernel, before = release.version(), system.releases()[-1], system.files()
    try:
        made = ['make', '-s', f'DESTDIR={system.root}', 'PREFIX=/usr']
        subprocess.run([*made, 'install-dkms'], cwd=TOP, check=True)
        system.must('dkms', 'install', f'erdma/{version}', '-k', kernel)
        assert '/updates/dkms/erdma.ko' in module_file(system, kernel)
        with boot(system, kernel) as (vm,):
            check_device(vm, name='')       # our package with the rule for names is not there
            assert version_of(vm, True) == version
            assert not vm.complaints()
        system.must('dkms', 'remove', f'erdma/{version}', '--all')
        assert not module_file(system, kernel) and not modules_of_dkms(system)
        subprocess.run([*made, 'uninstall-dkms'], cwd=TOP, check=True)
        assert not [x for x in system.files() if re.match('/usr/.*erdma', x) and x not in before]
    finally:
        system.remove()


def test_source_package_builds_with_its_build_depends(debs):
    """On a fresh Debian 12, from its archive and without network: what the packages are made with
    here has more.
    """
    made = debs['eadm'].parent
    system = distro.System('bookworm', 'build')
    try:
        dsc = next(made.glob('*.dsc'))
        system.apt_build_dep(dsc)
        work = system.dir / 'source'
        work.mkdir()
        for file in (dsc, *made.glob('*.tar.xz')):
            shutil.copy(file, work)
        system.must('sh', '-ec', f'cd {distro.INSIDE} && dpkg-source -x {dsc.name} tree && cd tree && '
                    'dpkg-buildpackage -b -us -uc', folder=work)
        assert {x.name for x in work.glob('*.deb')} == {x.name for x in debs.values()}
    finally:
        system.remove()
