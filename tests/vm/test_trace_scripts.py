# SPDX-License-Identifier: GPL-2.0-or-later
"""The scripts of tools/trace, by Debian's bpftrace in a guest."""
import os
import re
import signal

import pytest

from lib import products
from lib.paths import TOP
from vm.lib.faults import clear, run_ops

pytestmark = [
    pytest.mark.group('long'),
    pytest.mark.limit(300),
    pytest.mark.allow_log('erdma.*refused, syndrome'),
    pytest.mark.not_on('debug', 'kcsan', 'gcov'),
    pytest.mark.needs('driver', 'model', 'progs'),
    pytest.mark.vms(),
]

TRACEFS = '/sys/kernel/tracing'
REFUSED = 'corrupt command status=22 opcode=create_qp count=1'


@pytest.mark.parametrize('script, ops, fault, wanted', (
    pytest.param('commands', 'send', REFUSED,
                 r'CREATE_QP of \d+: errno 5, status 22 of the card; verbs_fault',
                 marks=pytest.mark.group('vm'), id='commands'),
    pytest.param('connections', 'send', None,
                 r'endpoint \d+ connects qp \d+ [\d.]+:\d+ to [\d.]+:\d+ established '
                 r'\+\d+ ms over, errno 0', id='connections'),
    pytest.param('errors', 'refused async', None, r'event QP_\w+/\d+ of \d+, data 0x',
                 id='errors')))
def test_scripts_of_bpftrace(vm, script, ops, fault, wanted):
    where = '/erdma/' + os.path.relpath(products.build('bpftrace'), TOP)
    libraries = f'{where}/usr/lib/x86_64-linux-gnu:{where}/lib/x86_64-linux-gnu'
    vm.run(f'mountpoint -q {TRACEFS} || mount -t tracefs none {TRACEFS}')
    p = vm.popen(f'LD_LIBRARY_PATH={libraries} exec {where}/usr/bin/bpftrace -B line '
                 f'/erdma/tools/trace/erdma-{script}.bt')
    p.expect('Attaching', 200)

    def shown():
        """After Attaching it takes a while until it has attached."""
        if fault:
            vm.card.fault(fault)
        run_ops(vm, ops)
        if fault:
            clear(vm.card)
        return re.search(wanted, p.out)
    vm.wait_until(wanted, shown, 120, pause=2)
    p.signal(signal.SIGINT)
    assert '@' in p.wait(60).out or script == 'errors'
