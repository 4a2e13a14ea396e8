# SPDX-License-Identifier: GPL-2.0-or-later
"""What "eadm why" and "eadm doctor" do not look at, or do not show, they count."""
import mkwhy as m
import pytest
from test_attempts import ACTIVE, FRAME, REFUSED, attempt, of_processes
from test_conditions import document, findings, said

pytestmark = [pytest.mark.group('eadm'), pytest.mark.needs('unit-eadm')]


def many(n, end=REFUSED):
    """An attempt of each of so many processes, the newest last."""
    return [attempt(i, 90_000 + i, *end, pid=1000 + i) for i in range(n)]


def notes(doc, words):
    """Texts of the notes of a document that have these words."""
    return [x['text'] for x in doc['warnings'] if words in x['text']]


@pytest.mark.parametrize('verb', ['why', 'doctor'])
@pytest.mark.parametrize('n', [16, 17, 40])
def test_processes_that_are_left_out_are_counted(tmp_path, verb, n):
    doc = document(tmp_path, [m.base(log=many(n))], verb)
    assert [x['pid'] for x in of_processes(doc['data'])] == \
        [1000 + i for i in reversed(range(n))][:16]
    assert notes(doc, 'processes') == ([] if n == 16 else [
        f'erdma_0: the newest 16 of {n} processes that something failed for are shown: choose one '
        'by --pid or --comm'])


def test_doctor_counts_what_it_is_asked_about(tmp_path):
    doc = document(tmp_path, [m.base(log=many(40))], 'doctor', '--only', 'link-down')
    assert not notes(doc, 'processes')


def test_metrics_count_all_processes(tmp_path):
    rows = said(tmp_path, [m.base(log=many(40))], 'metrics')
    assert [x['value'] for row in rows for x in row['samples']
            if {'name': 'rule', 'value': 'cm-refused'} in x['labels']] == ['40']


def test_processes_without_a_failure_take_no_place(tmp_path):
    """Of more than 16 with a connection, one failed first."""
    log = [attempt(0, 90_000, *REFUSED, pid=999, peer='10.77.0.9')] + many(40, (5, ACTIVE | FRAME, 0))
    doc = document(tmp_path, [m.base(log=log)], 'doctor')
    assert [x['pid'] for x in of_processes(doc['data'])] == [999]
    assert not notes(doc, 'processes')


def pinning(n):
    """So many processes with a queue pair each; the last is near its limit."""
    return m.base(qp=[{**m.client(), 'qpn': 3 + i, 'owner.pid': 1000 + i} for i in range(n)],
                  info={**m.base()['info'], 'n_qp': n},
                  proc=[m.process(1000 + i, pinned='7500 kB' if i == n - 1 else '10 kB',
                                  locked_limits='8388608 8388608 bytes') for i in range(n)])


@pytest.mark.parametrize('n', [64, 65])
def test_processes_whose_limits_are_not_looked_at(tmp_path, n):
    doc = document(tmp_path, [pinning(n)], 'doctor')
    assert ('pinned-near' in findings(doc['data'])) == (n == 64)
    assert notes(doc, 'locked memory') == ([] if n == 64 else [
        'erdma_0: the locked memory of 64 processes was looked at, and more have queue pairs'])
    other = document(tmp_path, [pinning(n)], 'doctor', '--only', 'link-down')
    assert not notes(other, 'locked memory')
