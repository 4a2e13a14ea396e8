# SPDX-License-Identifier: GPL-2.0-or-later
"""VMs of this checkout: it is /erdma of the guests, build/vm/NAME is the folder of VMs.

    with local.hosts('try', VmSpec(), count=2) as (a, b):
        a.driver.load(), b.driver.load()
"""
import os
import subprocess
from pathlib import Path

from . import image, kvm
from .paths import BUILD, MODEL, TOOLS, TOP
from .step import Failure
from .vm import Hosts, Site, VmError


#: Modules that guests load, and the folder of what they get in their places (tools/guest/init).
MODULES = ('driver/erdma.ko', 'build/kverbs/kverbs.ko')
STRIPPED = Path('build/stripped')


def strip_modules(top=TOP) -> None:
    """The modules without debug data, of which the driver has 30 MB: a guest without hardware
    virtualisation needs seconds to load it. gdb reads those with it.
    """
    for name in MODULES:
        module, copy = top / name, top / STRIPPED / name
        if not module.exists():
            copy.unlink(missing_ok=True)
        elif not copy.exists() or copy.stat().st_mtime < module.stat().st_mtime:
            copy.parent.mkdir(parents=True, exist_ok=True)
            new = copy.with_name(f'{copy.name}.{os.getpid()}')
            subprocess.run(['strip', '--strip-debug', '-o', new, module], check=True)
            new.replace(copy)


def prepare() -> tuple:
    """Make the agent, the modules without debug data, the guest image. Returns (image, checkout)."""
    subprocess.run(['make', '-s', '-C', TOOLS / 'guest'], check=True)
    strip_modules()
    try:
        return str(image.guest_image()), str(TOP)
    except Failure as e:
        raise VmError(f'no guest image: {e.message}{"; " + e.hint if e.hint else ""}') from e


def accelerator(guest) -> str:
    """'tcg', or 'kvm' if ERDMA_ACCEL asks for it and a guest really boots with it."""
    return kvm.accelerator(guest, 'tcg')


SITE = Site(runs=str(BUILD / 'vm'), preload=str(MODEL / 'build/erdma-qemu.so'), prepare=prepare,
            accelerator=accelerator)


def hosts(name, specs, count=1) -> Hosts:
    """Hosts of the checkout."""
    return Hosts(SITE, name, specs, count)
