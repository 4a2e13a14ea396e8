# SPDX-License-Identifier: GPL-2.0-or-later
"""The part of --doctor that judges what eadm doctor printed."""
import json
import os
import re
import signal
import subprocess
import types

import pytest

from lib.doctor import (ANSWERS, BAD, CERTAIN, LOOP, UNLOADS, Reader, Total, Watch,
                        certain_findings, seconds_ago)
from lib.paths import TOP

pytestmark = pytest.mark.group('unit')


def finding(rule='link-down', level='fault', confidence=CERTAIN, text='it is down'):
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
        reader(0, b'110.5 11 ' + json.dumps(x).encode() + b'\n')
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
    assert all(f'"{x}"' in source for x in (*BAD, CERTAIN))


def test_answers_are_statuses_of_its_manual_page():
    with open(os.path.join(TOP, 'man/eadm-doctor.8'), encoding='utf-8') as f:
        page = f.read()
    assert {str(x) for x in ANSWERS} < set(re.findall(r'^\.It (\d+)$', page, re.M))


def test_only_certain_faults_and_warnings_count():
    found = certain_findings(document(finding(), finding('cq-overrun', level='warning'),
                                      finding(level='note'), finding(confidence='LIKELY')), 10)
    assert found == [('link-down', 'device', 'it is down'), ('cq-overrun', 'device', 'it is down')]


def test_what_is_older_than_the_test_is_of_another_one():
    old = document(finding('cm-refused', text='refused 40s ago'))
    assert not certain_findings(old, 10)
    assert certain_findings(old, 60)


def test_documents_in_pieces():
    reader, text = Reader(100), '107.25 11 ' + json.dumps(document(finding())) + '\n'
    for byte in (text * 2).encode():
        reader(0, bytes([byte]))
    reader(0, b'  \n')                          # one that did not run: no node
    reader(0, b'109 143 \n')                    # one that was ended by who unloads the module
    reader(1, b'120 0 {"data": []}\n')
    reader(0, b'121 0 {"data"')                 # the guest was gone
    assert reader.documents == [(7.25, document(finding()))] * 2
    assert not reader.problems


@pytest.mark.parametrize('line', [
    '110 0 ', '110 11 {"data": [', '110 0 no document', '110 0 []', '110 139 ', '110 124 ',
    '110 137 ', '110 1 {"data": []}', '110 99 {"data": []}'])
def test_a_run_without_an_answer_fails_the_test(line):
    watch = watch_of({'data': []})
    (_, reader), = watch._readers
    for _ in range(2):
        reader(0, line.encode() + b'\n')
    runs, _, _, problems = watch.judge(['*'])
    assert runs == 1 and len(problems) == 1
    assert f'status {line.split()[1]} ' in ''.join(problems)


def test_what_is_no_line_of_the_loop_fails_the_test():
    watch = watch_of()
    (_, reader), = watch._readers
    reader(0, b'110 0 {\n"data": []}\n')
    assert watch.judge([])[3] == ["it ended with status 0 and printed '{'", """it printed '"data": []}'"""]


@pytest.mark.parametrize('status', ANSWERS)
def test_a_device_may_go_while_doctor_looks(status):
    reader = Reader(100)
    reader(0, f'110 {status} {{"ok": false, "error": {{}}}}\n'.encode())
    assert len(reader.documents) == 1 and not reader.problems


class Guest:
    """A guest whose commands end with this status."""
    tag, running = 'vm2: ', True

    def __init__(self, status):
        self.watchers, self.driver = [], types.SimpleNamespace(kind='erdma')
        self.agent = types.SimpleNamespace(
            gone=False, popen=lambda *_, **__: None,
            run=lambda *_, **__: types.SimpleNamespace(status=status, out='100.0'))


@pytest.mark.parametrize('status, said', [(0, []), (1, ['vm2: it did not end'])])
def test_a_doctor_that_hangs_fails_the_test(status, said):
    watch = Watch([Guest(status)])
    watch.end()
    assert watch.judge([])[3] == said


@pytest.mark.parametrize('program, line', [
    ('echo "{}"; exit 10', r'10 \{\}'), ('kill -SEGV $$', '139 '), ('exec sleep 100', '124 ')])
def test_the_loop_prints_how_doctor_ended(tmp_path, program, line):
    """The real one, but for what it looks for in a guest, and how long it waits."""
    with open(os.path.join(TOP, LOOP.removeprefix('/erdma/')), encoding='ascii') as f:
        loop = re.sub(r'LIMIT=\d+', 'LIMIT=0.5', f.read())
    loop = re.sub(r'&& \[ -e /sys/module.*\n', '\n', loop)
    (tmp_path / 'loop').write_text(loop, 'ascii')
    doctor = tmp_path / 'eadm-doctor'
    doctor.write_text(f'#!/bin/bash\n{program}\n', 'ascii')
    doctor.chmod(0o755)
    os.mkfifo(tmp_path / 'clock')
    with subprocess.Popen(['bash', tmp_path / 'loop', tmp_path], text=True, stdout=subprocess.PIPE,
                          start_new_session=True) as p:
        printed = p.stdout.readline()
        (tmp_path / 'pause').touch()
        os.killpg(p.pid, signal.SIGKILL)
    assert re.fullmatch(rf'\d+\.\d+ {line}\n', printed)


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
