# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether KVM works on this machine."""
import os
import subprocess
import time
from pathlib import Path

from . import cache

#: Seconds after which a try that failed is made again.
RETRY = 3600


def boots(accel, image, limit=15) -> bool:
    """Does the guest's kernel reach a program with this accelerator in time?"""
    argv = ['qemu-system-x86_64', '-machine', f'q35,accel={accel}', '-m', '256', '-nodefaults',
            '-display', 'none', '-no-reboot', '-serial', 'stdio',
            '-kernel', f'{image}/vmlinux', '-initrd', f'{image}/initrd.img',
            '-append', 'console=ttyS0 quiet panic=-1 rdinit=/bin/busybox -- '
                       'sh -c "echo erdma-program-runs; poweroff -f"']
    try:
        out = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, timeout=limit, check=False).stdout
    except (subprocess.TimeoutExpired, OSError):
        return False
    return b'\nerdma-program-runs' in b'\n' + out


def retained(answer):
    """What the last try said: did a guest boot? None without one, or if it failed long ago."""
    try:
        good = answer.read_text(encoding='ascii').strip() == 'kvm'
        age = time.time() - answer.stat().st_mtime
    except OSError:
        return None
    return good if good or age < RETRY else None


def works(image) -> bool:
    """Does a guest really boot with KVM on this machine, within seconds?

    A usable-looking /dev/kvm is no proof: inside some virtual machines the guest
    hangs. What a try said is retained until the next boot of this machine, that it failed for
    RETRY seconds: a busy machine may have been too slow. Who may use /dev/kvm is asked each time.
    """
    if not os.access('/dev/kvm', os.R_OK | os.W_OK):
        return False
    boot = Path('/proc/sys/kernel/random/boot_id').read_text(encoding='ascii').strip()
    answer = cache.make_root() / f'kvm-{boot}'
    before = retained(answer)
    if before is not None:
        return before
    for old in cache.root().glob('kvm-*'):
        old.unlink(missing_ok=True)
    good = boots('kvm', image)
    answer.write_text('kvm\n' if good else 'tcg\n', encoding='ascii')
    return good


def accelerator(image, default='kvm') -> str:
    """'kvm' or 'tcg', as ERDMA_ACCEL asks: tcg; kvm, if a guest boots with it; kvm! without
    a try."""
    want = os.environ.get('ERDMA_ACCEL', default)
    if want in ('tcg', 'kvm!'):
        return want[:3]
    return 'kvm' if works(image) else 'tcg'
