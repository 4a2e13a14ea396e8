# SPDX-License-Identifier: GPL-2.0-or-later
"""VMs with the card, driven from the host.

    from erdma import local
    from erdma.vm import VmSpec, run_pair

    with local.hosts('try', VmSpec(), count=2) as (a, b):
        a.driver.load()
        b.driver.load()
        run_pair(b, 'rping -s -a {addr} -p {port} -C 10 -v',
                 a, 'rping -c -a {addr} -p {port} -C 10 -v')
        b.card.fault('drop payload count=1')
        print(a.counters()['tx_bytes'])

A VM boots Debian's own kernel in QEMU with the model of the card; the checkout is /erdma of
the guest (read-only), build/vm/NAME on the host is its /results. Nothing here knows of a checkout:
a Site says where everything is (erdma.guest has that of an installation). Everything that waits has a
limit; what goes wrong raises a VmError whose text says what, where and what was printed last.
No VM outlives the program that started it.
"""
from .agent import Process, Result
from .card import Card
from .driver import Driver
from .errors import BootPanic, CommandFailed, QmpError, Timeout, VmError, VmLost
from .hosts import Hosts
from .machine import Vm
from .perftest import Pair, Perf, Traffic, perf, run_pair, start_server
from .site import Site
from .spec import VmSpec
from .usage import Profile, Usage, usage

__all__ = ['BootPanic', 'Card', 'CommandFailed', 'Driver', 'Hosts', 'Pair', 'Perf', 'Process',
           'Profile', 'QmpError', 'Result', 'Site', 'Timeout', 'Traffic', 'Usage', 'Vm', 'VmError',
           'VmLost', 'VmSpec', 'perf', 'run_pair', 'start_server', 'usage']
