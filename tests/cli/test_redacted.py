# SPDX-License-Identifier: GPL-2.0-or-later
"""Files with pseudonyms, without names and addresses, or without rings: what they do not have is no
fault, and nobody's.
"""
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


WITHOUT = ('nothing', 'the completions of sends', 'the completions of receives', 'rings')


@pytest.mark.parametrize('without', WITHOUT)
def test_why_a_queue_pair_stopped_is_likely_while_a_completion_is_not_read(tmp_path, without):
    """Two CQs, none of whose completions has an error."""
    adapter = m.base(cq=[m.cq(7, m.CLIENT), m.cq(8, m.SERVER), m.cq(9, m.CLIENT)])
    adapter['qp'][0] = m.client(flush=(1, 0), recv_cqn=9)
    adapter['rings'].append(m.ring(3, 9, 128, []))
    gone = {WITHOUT[0]: (), WITHOUT[1]: (7,), WITHOUT[2]: (9,), WITHOUT[3]: (7, 9)}[without]
    adapter['rings'] = [r for r in adapter['rings'] if r['ring'] != 3 or r['id'] not in gone]
    path = snapshot(tmp_path / 'a.eadm', adapter=adapter)
    done = eadm('--from', path, 'why', '3', '-j')
    verdict = json.loads(done.stdout)['data'][0]['verdict']
    unread = verdict['text'].endswith('; its completions, which may say why, cannot be read')
    assert (verdict['rule'], verdict['side'], verdict['confidence'], unread) == \
        ('qp-stopped', 'card', *(('LIKELY', True) if gone else ('CERTAIN', False)))
