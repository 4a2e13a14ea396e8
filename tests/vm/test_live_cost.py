# SPDX-License-Identifier: GPL-2.0-or-later
"""What eadm top costs beside a thousand queue pairs, in instructions of the guest: the clocks of
a VM without KVM show more of the host than of the program."""
import pytest

from erdma import bench_control_cli
from vm.test_control_cost import EADM, INSNS_PER_MS, counted_vm

pytestmark = [
    pytest.mark.group('long'),
    pytest.mark.limit(400),
    pytest.mark.kernel('stock'),
    pytest.mark.needs('driver', 'eadm', 'model', 'progs'),
]

QPS = 1000
SHARE = 0.01            # of a processor that executes an instruction per ns
FEW, MANY = 2, 12       # intervals of a second


def run(vm, tag, name, *command):
    """A command between marks, once more than it is counted."""
    return vm.out([f'{bench_control_cli.PROGS}/mark_run', tag, name, 1, *command], 120)


@pytest.mark.parametrize('by', ['qp', 'pid'])
def test_top_takes_less_than_a_hundredth_of_a_core(by):
    """Beginning and end are the same for few intervals and for many; so is what the VM does anyway,
    which is subtracted. All that the CPU executed counts: also the interrupts of the questions.
    """
    with counted_vm('top-cost') as (vm, counted):
        with bench_control_cli.many_qps(vm, QPS):
            top = [EADM, 'top', '-b', '-i', '1', '--by', by, '-n']
            assert vm.out([*top, 1]).count('contexts asked for') == 1
            text = run(vm, 1, 'few', *top, FEW) + '\n' + run(vm, 2, 'many', *top, MANY) + '\n' + \
                run(vm, 3, 'rest', 'sleep', MANY - FEW)
        cost = counted(text)
    per_interval = (cost['many'].best - cost['few'].best - cost['rest'].best) / (MANY - FEW)
    print(f'{per_interval:,.0f} instructions a second')
    assert 0 < per_interval < SHARE * 1000 * INSNS_PER_MS
