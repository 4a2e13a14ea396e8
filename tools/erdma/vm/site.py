# SPDX-License-Identifier: GPL-2.0-or-later
"""Where VMs come from: a checkout (erdma.local) or an installation (erdma.guest)."""
import dataclasses
from typing import Callable


@dataclasses.dataclass(frozen=True)
class Site:
    """What VMs need of the host, and where their folders are.

    runs: the folder of the VMs' folders.
    preload: the model of the card, for the distribution's QEMU.
    prepare: a function that makes what is missing. Returns (folder of the guest image, folder
        that is /erdma of the guests, read-only: tools/guest/init, build/guest/agent,
        driver/erdma.ko).
    accelerator: a function of the image's folder: 'kvm' or 'tcg'.
    private: nobody but the user may reach `runs`: sockets can be there. If not they are in a
        folder of their own in the system's temporary folder.
    """
    runs: str
    preload: str
    prepare: Callable
    accelerator: Callable = lambda image: 'tcg'
    private: bool = False
