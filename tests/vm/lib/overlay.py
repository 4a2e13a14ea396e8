# SPDX-License-Identifier: GPL-2.0-or-later
"""This system with packages of ours installed, and without a trace of them in it: dpkg writes to
layers above its folders, in a mount namespace that goes with the object.
"""
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from lib.paths import TOP

#: What packages write to.
FOLDERS = '/usr', '/etc', '/var/lib', '/var/cache'
#: sh -c: the namespace, held by a process that ends when nobody has the other end of its input.
HOLD = '''
    set -e
    layers=$1
    shift
    for folder; do
        mkdir -p "$layers/upper$folder" "$layers/work$folder"
        mount -t overlay overlay "$folder" \
            -o "lowerdir=$folder,upperdir=$layers/upper$folder,workdir=$layers/work$folder"
    done
    # Services of packages are not started on this machine.
    printf '#!/bin/sh\\nexit 101\\n' >/usr/sbin/policy-rc.d
    chmod 755 /usr/sbin/policy-rc.d
    echo ready
    exec cat
'''


def is_possible():
    """Can root mount layers here?"""
    with open('/proc/filesystems', encoding='ascii') as f:
        return os.geteuid() == 0 and 'overlay' in f.read().split()


class Overlay:
    """A context manager; words() is what it is for."""

    def __enter__(self):
        # The layers are not below a folder that has layers itself.
        self._layers = Path(tempfile.mkdtemp(prefix='erdma-layers-', dir='/var/tmp'))
        self._holder = subprocess.Popen(
            ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', HOLD, 'sh', self._layers,
             *FOLDERS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self._holder.stdout.readline() != 'ready\n':
            self.__exit__()
            raise OSError('the layers cannot be mounted')
        return self

    def __exit__(self, *_):
        self._holder.stdin.close()
        self._holder.wait(60)
        self._holder.stdout.close()
        shutil.rmtree(self._layers)

    def words(self, *words):
        """argv of a program that sees what is installed."""
        # -r: its root, which is not that of the namespace where this is a chroot.
        return ['nsenter', '-t', str(self._holder.pid), '-m', '-r', *words]

    def run(self, *words, timeout=300):
        """Run it as root; what it printed."""
        done = subprocess.run(self.words(*words), text=True, check=False, timeout=timeout,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        assert done.returncode == 0, f'{words}: {done.returncode}\n{done.stdout}'
        return done.stdout

    def not_brought(self, trace, names):
        """packages.not_brought() as it is there."""
        text = self.run('env', '-C', f'{TOP}/tests', '/usr/bin/python3', '-B', '-m',
                        'vm.lib.packages', trace, *sorted(names), timeout=120)
        return json.loads(text)
