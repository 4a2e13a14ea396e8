# SPDX-License-Identifier: GPL-2.0-or-later
"""The example of tests/README.md."""
import pytest
from erdma.vm import Traffic

pytestmark = [pytest.mark.group('hosts'), pytest.mark.vms(2),
              pytest.mark.needs('driver', 'model')]


def test_delayed_payload_arrives(two_vms):
    a, b = two_vms
    before = b.counters()['rx_bytes']
    with Traffic(b, size=4096, client_vm=a):
        a.card.fault('delay payload ms=20 count=3')
        a.wait_until('the fault to strike', lambda: a.card.hits() == 3)
    assert b.counters()['rx_bytes'] > before
