# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether KVM works on this machine."""
import os
import subprocess
from pathlib import Path

from . import cache


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


def works(image) -> bool:
    """Does a guest really boot with KVM on this machine, within seconds?

    A usable-looking /dev/kvm is no proof: inside some virtual machines the guest
    hangs. The answer is retained until the next boot of this machine.
    """
    boot = Path('/proc/sys/kernel/random/boot_id').read_text(encoding='ascii').strip()
    answer = cache.make_root() / f'kvm-{boot}'
    if not answer.exists():
        for old in cache.root().glob('kvm-*'):
            old.unlink(missing_ok=True)
        good = os.access('/dev/kvm', os.W_OK) and boots('kvm', image)
        answer.write_text('kvm\n' if good else 'tcg\n', encoding='ascii')
    return answer.read_text(encoding='ascii').strip() == 'kvm'


def accelerator(image, default='kvm') -> str:
    """'kvm' or 'tcg', as ERDMA_ACCEL asks: tcg; kvm, if a guest boots with it; kvm! without
    a try."""
    want = os.environ.get('ERDMA_ACCEL', default)
    if want in ('tcg', 'kvm!'):
        return want[:3]
    return 'kvm' if works(image) else 'tcg'
