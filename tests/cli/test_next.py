# SPDX-License-Identifier: GPL-2.0-or-later
"""NEXT, word by word as eadm prints it: with two devices and of files its commands of eadm are run,
and do not ask which device or which file is meant.
"""
import copy
import json
import os
import re
import subprocess

import mkwhy as m
import pytest
from mkscenario import scenario, second

from lib import runbooks
from lib.recorded import BUILD

pytestmark = [pytest.mark.group('eadm'), pytest.mark.needs('unit-eadm')]

FAKE = os.path.join(BUILD, 'eadm-fake')
#: An answer, or there is no such object, or it may not be asked.
ANSWERS = (0, 3, 4, 7, 10, 11)
RULES = [name for name, _level in runbooks.rules().values()]
HOST = re.compile(r'on the host of (\S+): ')


def bash(folder, command, **env):
    """Run a command line; "eadm" is that of recorded devices."""
    program = folder / 'eadm'
    if not program.exists():
        program.write_text(f'#!/bin/sh\nexec {FAKE} "$@"\n', encoding='utf-8')
        program.chmod(0o755)
    clean = {k: v for k, v in os.environ.items() if not k.startswith('EADM')}
    return subprocess.run(['bash', '-c', command], cwd=folder, timeout=60, text=True, check=False,
                          env={**clean, 'PATH': f'{folder}:{clean["PATH"]}', 'LC_ALL': 'C', **env},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def steps(folder, command, **env):
    """NEXT of each finding, which the text has as well."""
    document = json.loads(bash(folder, f'{command} -j', **env).stdout)
    found = {f['next'] for row in document.get('data', [])
             for f in (row['verdict'], *row.get('also', []))}
    printed = re.findall(r'(?m)^NEXT +(.*)$', bash(folder, command, **env).stdout)
    assert set(printed) <= found and bool(printed) == bool(found)
    return found


def eadm_of(found):
    """The commands of eadm of this host among them, so that they end and change nothing."""
    parts = [re.sub('^(?:then|else) ', '', x) for step in found for x in step.split('; ')]
    for part in parts:
        if not part.startswith('eadm ') or 'at the other end' in part:
            continue
        part = re.sub(r' (?:again|shows rates|if a program hangs)$', '', part)
        part = re.sub(r' -l$', ' -l -n 1', part)
        yield runbooks.shorten(runbooks.harmless(part.replace(' PID', ' 4711')))


def run_all(folder, found, **env):
    commands = sorted(set(eadm_of(found)))
    for command in commands:
        if ' diff FILE FILE' in command:
            continue
        done = bash(folder, command, **env)
        known = done.returncode in ANSWERS or 'not in this file [ENODATA]' in done.stderr
        assert known, f'{command}: {done.returncode}, {done.stderr}'
    return commands


def recorded(rule):
    with open(os.path.join(BUILD, f'scenarios/why-{rule}.json'), encoding='utf-8') as f:
        return json.load(f)


def other_card(**kw):
    """A second device without any trouble."""
    base = m.base()
    return {**base, **{k: second()[k] for k in ('pci', 'name', 'index', 'netdev', 'node')},
            'info': {**base['info'], 'ib_index': 7, 'ib_name': 'erdma_1', 'netdev': 'eth1',
                     'pci': '0000:00:06.0'}, 'qp': [], 'log': [], **kw}


def written(folder, name, *adapters, host=None):
    path = folder / name
    path.write_text(json.dumps(host or scenario(*adapters)), encoding='ascii')
    return str(path)


# ---- two devices -------------------------------------------------------------------------

@pytest.mark.parametrize('rule', RULES)
def test_one_of_two_devices(rule, tmp_path):
    host = recorded(rule)
    host['adapters'].insert(0, other_card())
    env = {'EADM_SCENARIO': written(tmp_path, 'host.json', host=host)}
    found = steps(tmp_path, 'eadm why', **env) | steps(tmp_path, 'eadm doctor', **env)
    for command in run_all(tmp_path, found, **env):
        assert re.search(r' -d erdma_[01]\b', command) or ' diff ' in command, command


@pytest.mark.parametrize('order', (1, -1))
def test_the_device_is_that_of_the_end(order, tmp_path):
    """Of the receiver, which is on the other card, and of the sender."""
    a = m.stuck()
    cards = [{**a, 'qp': a['qp'][:1]}, other_card(qp=a['qp'][1:])]
    cards[1]['info']['n_qp'] = 1
    env = {'EADM_SCENARIO': written(tmp_path, 'host.json', *cards[::order])}
    found = steps(tmp_path, 'eadm why', **env)
    assert f'look why ib_send_bw[{m.SERVER}] posts none; eadm -d erdma_1 dump qp 4 --rq' in found
    run_all(tmp_path, found, **env)
    a = m.stopped(12)
    cards = [other_card(), a]
    env = {'EADM_SCENARIO': written(tmp_path, 'host.json', *cards[::order])}
    found = steps(tmp_path, 'eadm why', **env)
    assert 'eadm -d erdma_0 dump cq 7; eadm -d erdma_0 list mr' in found


def test_one_device_is_not_named(tmp_path):
    env = {'EADM_SCENARIO': written(tmp_path, 'host.json', m.stopped(12))}
    assert 'eadm dump cq 7; eadm list mr' in steps(tmp_path, 'eadm why', **env)


# ---- a file ------------------------------------------------------------------------------

def take(folder, name, *adapters, host=None):
    """A file; its name is as a shell has it."""
    env = {'EADM_SCENARIO': written(folder, 'host.json', *adapters, host=host)}
    done = bash(folder, f'eadm snapshot --write {name}', **env)
    assert done.returncode in (0, 7), done.stderr


@pytest.mark.parametrize('rule', RULES)
def test_of_a_file(rule, tmp_path):
    """What reads has the file, in quotes where need be; what else is a command, its host."""
    word = "'it'\\''s.eadm'"
    take(tmp_path, word, host=recorded(rule))
    env = {'EADM_SCENARIO': os.path.join(BUILD, 'scenarios/none.json')}
    found = steps(tmp_path, f'eadm why {word}', **env) | steps(tmp_path, f'eadm doctor --from {word}',
                                                              **env)
    for step in found:
        on_host = False
        for part in step.split('; '):
            on_host = bool(HOST.search(part)) or (on_host and '--from' not in part)
            (kind, command), = runbooks.steps(part)
            reads = command.startswith(f'eadm --from {word} ')
            if kind == 'prose' or ' diff ' in part or re.search(' at the other end| on both', part):
                continue
            assert reads != on_host, step
            assert 'on the host of' not in part or HOST.search(part)[1] == "it's.eadm"
    run_all(tmp_path, {x for step in found for x in step.split('; ') if '--from' in x}, **env)


def test_what_is_not_for_this_host(tmp_path):
    """A process of this number may be there, and the same event queue."""
    take(tmp_path, 'x.eadm', m.base(proc=[m.process(m.CLIENT, 'T'), m.process(m.SERVER)],
                                    qp=m.stuck()['qp']))
    assert f'on the host of x.eadm: kill -CONT {m.CLIENT}' in steps(tmp_path, 'eadm why x.eadm')
    take(tmp_path, 'x.eadm', host=recorded('irq-lost'))
    assert 'on the host of x.eadm: eadm recover eq 1' in steps(tmp_path, 'eadm doctor --from x.eadm')


def test_a_file_of_two_devices(tmp_path):
    take(tmp_path, 'x.eadm', other_card(), m.stopped(12))
    found = steps(tmp_path, 'eadm why x.eadm')
    assert 'eadm --from x.eadm -d erdma_0 dump cq 7; eadm --from x.eadm -d erdma_0 list mr' in found
    run_all(tmp_path, found)


def test_of_two_files_the_one_that_has_it(tmp_path):
    a = m.stuck()
    take(tmp_path, 'a.eadm', {**copy.deepcopy(a), 'qp': a['qp'][:1]})
    take(tmp_path, 'b.eadm', other_card(), {**copy.deepcopy(a), 'qp': a['qp'][1:]})
    for command in 'eadm match a.eadm b.eadm', 'eadm why -d all a.eadm b.eadm':
        found = steps(tmp_path, command)
        assert (f'on the host of b:erdma_0: look why ib_send_bw[{m.SERVER}] posts none; '
                'eadm --from b.eadm -d erdma_0 dump qp 4 --rq') in found
        run_all(tmp_path, found)


def test_a_report_does_not_say_in_which_folder_it_was(tmp_path):
    take(tmp_path, 'x.eadm --redact ids', m.stopped(12))
    done = bash(tmp_path, f'eadm report --from {tmp_path}/x.eadm')
    assert 'eadm --from x.eadm dump cq 7' in done.stdout and str(tmp_path) not in done.stdout
