# SPDX-License-Identifier: GPL-2.0-or-later
"""Whole Debian systems, to install our packages on: with systemd, udev, a kernel with its
headers, DKMS and the RDMA programs, all of the suite's archive; and the packages of a newer
kernel for them.
"""
import dataclasses
import hashlib
import os
import re
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path

from . import apt, cache, image
from .paths import BUILD
from .step import Failure, Step, run_step

#: Revision of the recipe: count it up when another system comes out.
RECIPE = 2
PACKAGES = '''
    systemd-sysv udev kmod dkms openssl linux-image-amd64 linux-headers-amd64 initramfs-tools zstd
    rdma-core ibverbs-providers ibverbs-utils perftest rdmacm-utils iproute2 iputils-ping
    libnl-3-200 libjson-c5 libreadline8 passwd util-linux
'''.split()
#: What runs programs for the host, as a service.
AGENT = '''\
[Unit]
Description=Runs programs for the host
After=systemd-udev-settle.service

[Service]
ExecStart=/erdma/tools/guest/start-agent

[Install]
WantedBy=multi-user.target
'''
#: Where programs in a system find the folder of the host.
INSIDE = '/mnt'
#: sh -c ENTER sh ROOT FOLDER PROGRAM...: in ROOT, FOLDER at its INSIDE.
ENTER = ('mount -t proc proc "$1/proc" && mount -t tmpfs tmpfs "$1/tmp" && '
         'mount --bind /dev "$1/dev" && mount --bind "$2" "$1/mnt" && root=$1 && shift 2 && '
         'exec chroot "$root" "$@"')


@dataclasses.dataclass(frozen=True)
class Suite:
    """A release of Debian. newer: (suite, package that depends on a newer kernel's image), if one
    is to be had."""
    own: str
    newer: tuple = ()


SUITES = {
    'bullseye': Suite('bullseye'),
    'bookworm': Suite('', ('', 'linux-image-6.12-amd64')),
    'trixie': Suite('trixie', ('trixie-backports', 'linux-image-amd64')),
}
#: Those that our packages are for: Debian 11's DKMS is older than they want.
FOR_PACKAGES = ('bookworm', 'trixie')


def environment(*suites) -> dict:
    """The environment in which apt-get knows the packages of suites ('': this machine's)."""
    return apt.private(*suites) if any(suites) else {}


def kernel_debs(step: Step, suite, root, folder) -> None:
    """The packages of the newer kernel and its headers, and what they need beyond ROOT, into
    FOLDER."""
    where, package = SUITES[suite].newer
    release = apt.kernel_release(package, environment(where))
    if not release:
        return
    # What a kernel of backports needs is of the suite itself, unless that is too old.
    env = environment(SUITES[suite].own, where)
    target = ['-o', f'APT::Default-Release={where}'] if where else []
    simulated = step.output('apt-get', '-s', '-o', f'Dir::State::status={root}/var/lib/dpkg/status',
                            *target, 'install',
                            '--no-install-recommends', f'linux-image-{release}',
                            f'linux-headers-{release}', env=env)
    # The packages that only depend on the newest kernel stay what they are.
    names = {line.split()[1] for line in simulated.splitlines() if line.startswith('Inst ')} - \
        {f'linux-{x}-amd64' for x in ('image', 'headers', 'modules', 'base')}
    step.run('apt-get', '-o', 'APT::Sandbox::User=root', *target, 'download', *sorted(names),
             cwd=folder, env=env)


def build(step: Step, suite, out) -> None:
    """The system of SUITE: OUT/root, and OUT/newer with the packages of a newer kernel."""
    root = out / 'root'
    with tempfile.TemporaryDirectory() as work:
        image.bootstrap(step, Path(work), root, suite, PACKAGES, '--variant=minbase')
    # Everything that packages bring is installed from here on.
    (root / 'etc/dpkg/dpkg.cfg.d/99mmdebstrap').unlink(missing_ok=True)
    (root / 'etc/hostname').write_text('erdma-guest\n', encoding='ascii')
    (root / 'etc/hosts').write_text('127.0.0.1 localhost erdma-guest\n', encoding='ascii')
    (root / 'etc/fstab').write_text('', encoding='ascii')
    for name in ('erdma', 'results'):
        (root / name).mkdir()
    unit = root / 'etc/systemd/system/erdma-agent.service'
    unit.write_text(AGENT, encoding='ascii')
    (unit.parent / 'multi-user.target.wants').mkdir(exist_ok=True)
    (unit.parent / 'multi-user.target.wants/erdma-agent.service').symlink_to(unit.name)
    (out / 'newer').mkdir()
    if SUITES[suite].newer:
        kernel_debs(step, suite, root, out / 'newer')


def system(suite) -> Path:
    """The folder of a fresh system: root, newer. Nobody changes it: see copy()."""
    newer = ''
    if SUITES[suite].newer:
        where, package = SUITES[suite].newer
        newer = apt.candidates(package, env=environment(where))
    key = cache.key(RECIPE, AGENT, *PACKAGES,
                    apt.candidates('libc6', *PACKAGES, env=environment(SUITES[suite].own)), newer)
    return cache.product(f'distro-{suite}', key, 1800, f'a Debian system ({suite})',
                         lambda step, out: build(step, suite, out))


def what(path, st, inside):
    """The target of a link; of a file below /etc a hash, of others how long they are."""
    if stat.S_ISLNK(st.st_mode):
        return os.readlink(path)
    if not stat.S_ISREG(st.st_mode):
        return 0
    if inside.startswith('/etc/'):
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    return st.st_size


#: What the tools of the distribution write by themselves, whatever is installed; the machine's key,
#: which DKMS keeps.
NOISE = re.compile(r'^/var/(log|cache|lib/(apt|dpkg|systemd|initramfs-tools))/|'
                   r'^/(mnt|tmp|proc|dev|run)(/|$)|^/var/lib/dkms/mok\.(key|pub)$|'
                   r'^/boot/(initrd|config)|^/etc/(group|gshadow|passwd|shadow)-$|'
                   r'/lib/modules/[^/]+/modules\.|^/etc/ld\.so\.cache|\.pyc$|__pycache__')
#: In the names of what our packages bring and make.
OURS = re.compile('erdma|eadm')


def is_noise(path) -> bool:
    """May it come and go, whatever packages of ours do?"""
    return bool(NOISE.search(path)) and not OURS.search(path)


class System:
    """A copy of a fresh system, in the folder NAME of build/distro, to be changed."""

    def __init__(self, suite, name):
        self.suite = suite
        self.fresh = system(suite)
        self.dir = BUILD / 'distro' / name
        self.root = self.dir / 'root'
        self.log = self.dir / 'log'
        shutil.rmtree(self.dir, ignore_errors=True)
        self.dir.mkdir(parents=True)
        run_step(300, f'a copy of a Debian system ({suite})', self.log,
                 ['cp', '-a', self.fresh / 'root', self.root])

    def remove(self) -> None:
        """The folder goes."""
        shutil.rmtree(self.dir)

    def run(self, *argv, folder=None, limit=1200) -> subprocess.CompletedProcess:
        """A program in it, without booting; FOLDER of the host is its /mnt. stdout has both."""
        env = {'PATH': '/usr/sbin:/usr/bin:/sbin:/bin', 'HOME': '/root', 'LC_ALL': 'C.UTF-8',
               'DEBIAN_FRONTEND': 'noninteractive'}
        done = subprocess.run(
            ['unshare', '-m', '-n', 'sh', '-c', ENTER, 'sh', self.root, folder or self.dir, *argv],
            env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, timeout=limit, check=False)
        with open(self.log, 'a', encoding='utf-8') as log:
            log.write(f'$ {" ".join(map(str, argv))}\n{done.stdout}(status {done.returncode})\n')
        return done

    def must(self, *argv, **more) -> str:
        """run(); Failure if it fails. Returns what it printed."""
        done = self.run(*argv, **more)
        if done.returncode:
            raise Failure(f'{" ".join(map(str, argv))}: status {done.returncode}',
                          '\n'.join(done.stdout.splitlines()[-15:]))
        return done.stdout

    def install(self, debs) -> str:
        """These package files; what they need must be there. Returns what dpkg printed."""
        debs = [Path(x) for x in debs]
        return self.must('dpkg', '-i', *(f'{INSIDE}/{x.name}' for x in debs), folder=debs[0].parent)

    def apt_install(self, *wanted) -> str:
        """Package files (Path) and names of packages, with what they need of the suite's archive,
        by the system's own apt-get. Returns what it printed."""
        return self.apt_get('install', *wanted)

    def apt_build_dep(self, dsc) -> str:
        """What this source package (.dsc) needs to be built, in the same way."""
        return self.apt_get('build-dep', dsc)

    def apt_get(self, verb, *wanted) -> str:
        """apt-get VERB with package files (Path) and names, of the suite's archive: what it printed."""
        work = self.dir / 'apt'
        shutil.rmtree(work, ignore_errors=True)
        (work / 'archives/partial').mkdir(parents=True)
        env = apt.private(SUITES[self.suite].own)
        lists = Path(env['APT_CONFIG']).parent
        shutil.copytree(lists / 'lists', work / 'lists', ignore=shutil.ignore_patterns('*Sources*'))
        shutil.copy(lists / 'sources.list', work)
        for deb in wanted:
            if isinstance(deb, Path):
                shutil.copy(deb, work)
        words = ['apt-get', '-y', '--no-install-recommends', '-o', 'APT::Sandbox::User=root']
        # The archive is fetched from outside; inside there is no network.
        with Step(1200, f'packages for {self.dir.name}', self.dir / 'apt.log') as step:
            step.run(*words, '-o', f'Dir::State::status={self.root}/var/lib/dpkg/status',
                     '-o', f'Dir::State::extended_states={work}/extended_states',
                     '-o', f'Dir::Cache::archives={work}/archives', '-o', 'Debug::NoLocking=true',
                     '--download-only', verb, *wanted, env=env)
        return self.must(*words, '-o', f'Dir::Etc::sourcelist={INSIDE}/sources.list',
                         '-o', 'Dir::Etc::sourceparts=-', '-o', f'Dir::State::lists={INSIDE}/lists',
                         '-o', f'Dir::Cache::archives={INSIDE}/archives',
                         '-o', 'Acquire::Languages=none', '-o', 'Dpkg::Use-Pty=false', verb,
                         *(f'{INSIDE}/{x.name}' if isinstance(x, Path) else x for x in wanted), folder=work)

    def versions(self) -> dict:
        """The packages that are installed: name -> version."""
        lines = self.must('dpkg-query', '-W', '-f', '${Package} ${Version}\n').splitlines()
        return dict(x.split(' ') for x in lines)

    def packages(self) -> set:
        """Names of the packages that are installed."""
        return set(self.versions())

    def releases(self) -> list:
        """Releases of the kernels that are installed, oldest first."""
        names = [x.name.removeprefix('vmlinuz-') for x in (self.root / 'boot').glob('vmlinuz-*')]
        return sorted(names, key=lambda x: [int(n) for n in x.split('-')[0].split('+')[0].split('.')])

    def files(self) -> dict:
        """What is on its disk: path -> (mode, uid, gid, what()), see there."""
        found = {}
        for folder, folders, files in os.walk(self.root):
            for name in folders + files:
                path = os.path.join(folder, name)
                st = os.lstat(path)
                inside = path.removeprefix(str(self.root))
                found[inside] = (st.st_mode, st.st_uid, st.st_gid, what(path, st, inside))
        return found

    def boot_files(self, release) -> dict:
        """Fields of a VmSpec that boot it with the kernel RELEASE, as it is now."""
        out = self.dir / f'boot-{release}'
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        with Step(600, f'boot files of {self.dir.name}', self.dir / 'boot.log') as step:
            image.unpack_kernel(self.root / f'boot/vmlinuz-{release}', out / 'vmlinux')
            image.initrd(step, out / 'initrd.img', self.root, release, image.INITRD_MODULES)
            image.squash(step, self.root, out)
        return {'kernel': str(out), 'root': str(out / 'root.squashfs'), 'systemd': True}
