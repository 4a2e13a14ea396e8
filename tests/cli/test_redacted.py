# SPDX-License-Identifier: GPL-2.0-or-later
"""Files with pseudonyms, or without names and addresses: what they do not have is no fault."""
import json

import mkwhy as m
import pytest
from test_match import eadm, snapshot

pytestmark = [pytest.mark.group('eadm'), pytest.mark.needs('unit-eadm')]

HOW = ('none', 'ids', 'full')


def faults(tmp_path, how, netdev):
    """Rule -> text, by doctor, of a file of a host whose adapter has this interface."""
    adapter = m.with_info(m.base(netdev=netdev, host={'irq_cpu': {'41': 0}}), netdev=netdev)
    path = snapshot(tmp_path / 'a.eadm', adapter=adapter, redact=how)
    rows = json.loads(eadm('--from', path, 'doctor', '-j').stdout)['data']
    return {f['rule']: f['text'] for row in rows for f in (row['verdict'], *row['also'])}


@pytest.mark.parametrize('how', HOW)
def test_an_address_that_is_hidden_is_there(tmp_path, how):
    """The interface lo of this machine has one."""
    assert 'no-address' not in faults(tmp_path, how, 'lo')


@pytest.mark.parametrize('how', HOW)
def test_an_interface_without_an_address(tmp_path, how):
    """There is no such interface."""
    text = faults(tmp_path, how, 'none0')['no-address']
    name = {'none': 'none0', 'full': 'INTERFACE'}.get(how, 'name-')
    assert text.startswith(name) and text.endswith(' of erdma_0 has no IPv4 address: nothing can connect')
