# SPDX-License-Identifier: GPL-2.0-or-later
"""VMs of this checkout: it is /erdma of the guests, build/vm/NAME is the folder of VMs.

    with local.hosts('try', VmSpec(), count=2) as (a, b):
        a.driver.load(), b.driver.load()
"""
import subprocess

from . import image, kvm
from .paths import BUILD, MODEL, TOOLS, TOP
from .step import Failure
from .vm import Hosts, Site, VmError


def prepare() -> tuple:
    """Make the agent and the guest image. Returns (image, checkout)."""
    subprocess.run(['make', '-s', '-C', TOOLS / 'guest'], check=True)
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
