# SPDX-License-Identifier: GPL-2.0-or-later
"""The part of --doctor that judges what eadm doctor printed."""
import json
import os
import types

import pytest

from lib.doctor import (CERTAIN, FAULT, UNLOADS, Reader, Total, Watch, certain_faults,
                        seconds_ago)
from lib.paths import TOP

pytestmark = pytest.mark.group('unit')


def finding(rule='link-down', level=FAULT, confidence=CERTAIN, text='it is down'):
    """One, as eadm prints it."""
    return {'rule': rule, 'level': level, 'confidence': confidence, 'text': text}


def document(verdict, *also):
    """What a run prints, of one subject."""
    return {'data': [{'subject': 'device', 'verdict': verdict, 'also': list(also)}]}


def watch_of(*documents):
    """A watch of one guest that printed these."""
    watch = Watch([types.SimpleNamespace(watchers=[], running=False)])
    reader = Reader(100)
    for x in documents:
        reader(0, b'110.5 ' + json.dumps(x).encode())
    watch._readers.append(('', reader))
    return watch


@pytest.mark.parametrize('text, seconds', [
    ('it failed 3.25s ago: EIO', 3.25), ('of 1m02s ago', 62), ('2h03m ago', 7380),
    ('12ms ago', 0.012), ('nothing moved for 3s', None), ('', None)])
def test_age_of_what_a_sentence_is_about(text, seconds):
    assert seconds_ago(text) == pytest.approx(seconds)


def test_words_are_those_of_eadm():
    with open(os.path.join(TOP, 'eadm/rules.c'), encoding='utf-8') as f:
        source = f.read()
    assert f'"{FAULT}"' in source and f'"{CERTAIN}"' in source


def test_only_certain_faults_count():
    found = certain_faults(document(finding(), finding(level='warning'),
                                    finding(confidence='LIKELY')), 10)
    assert found == [('link-down', 'device', 'it is down')]


def test_what_is_older_than_the_test_is_of_another_one():
    old = document(finding('cm-refused', text='refused 40s ago'))
    assert not certain_faults(old, 10)
    assert certain_faults(old, 60)


def test_documents_in_pieces():
    reader, text = Reader(100), '107.25 ' + json.dumps(document(finding())) + '\n'
    for byte in (text * 2).encode():
        reader(0, bytes([byte]))
    reader(0, b' \n')                           # one that did not run: no node
    reader(1, b'120 {"data": []}')
    assert reader.documents == [(7.25, document(finding()))] * 2


def test_announced_verdicts_are_expected():
    watch = watch_of(document(finding('cm-refused')), document(finding('link-down')), {'data': []})
    assert watch.judge(['cm-*', 'link-down'])[:3] == (3, 2, 2)
    runs, verdicts, expected, others = watch.judge(['cm-*'])
    assert (runs, verdicts, expected) == (3, 2, 1)
    assert others == ['device: link-down: it is down']


def test_the_same_verdict_is_one_line():
    assert len(watch_of(*[document(finding())] * 3).judge([])[3]) == 1


@pytest.mark.parametrize('command, unloads', [
    ('rmmod erdma', True), ('modprobe -r erdma', True), ('modprobe -r -a ib_uverbs', True),
    ('modprobe erdma', False), ('ls /sys/module/erdma', False)])
def test_commands_that_unload_modules(command, unloads):
    assert bool(UNLOADS.search(command)) is unloads


def test_total_of_a_run_is_added_to_those_before(tmp_path):
    lines, file = [], tmp_path / 'doctor.json'
    for runs in 3, 4:
        total = Total(file)
        total.pytest_runtest_logreport(types.SimpleNamespace(doctor=(runs, 2, 1)))
        total.pytest_runtest_logreport(types.SimpleNamespace())
        total.pytest_terminal_summary(types.SimpleNamespace(write_line=lines.append))
    assert lines[2:] == ['doctor: 4 runs, 2 verdicts, of which 1 were expected',
                         'doctor, all in all: 7 runs, 4 verdicts, of which 2 were expected']
    assert json.loads(file.read_text('ascii'))['runs'] == 7
