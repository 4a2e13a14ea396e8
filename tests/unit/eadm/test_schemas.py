# SPDX-License-Identifier: GPL-2.0-or-later
"""The JSON schemas and what eadm prints: on recorded devices, good and bad ones."""
import copy
import json
import os
import subprocess
from pathlib import Path

import pytest

from lib.paths import TOP

jsonschema = pytest.importorskip('jsonschema', reason='no python3-jsonschema')

pytestmark = [pytest.mark.group('eadm'), pytest.mark.needs('unit-eadm')]

EADM_BUILD = Path(TOP) / 'eadm/build'
COMMANDS = '''
    list dev; list qp; list cq; list eq; list mr; list pd; list ctx; list cm;
    info dev; info qp 17,18; info cq 5; info eq 1; info eq aeq; info cmdq;
    dump qp; dump qp 17 18 --last 99; dump qp 17 --hex; dump cq 5,6; dump eq 1 --last 99;
    dump eq aeq --last 99; dump eq cmdq; dump cmdq --last 99; stat; stat --style vendor;
    stat -i 100ms -n 1; stat -l -n 1; top -n 1; top -n 1 -v --by dev; top -n 1 -v --by cgroup;
    watch --until warning,works --for 1; stat --u64 string; debug-level; debug-level cm=dbg --dry-run; explain; ver;
    version; schema; list nonsense; info qp 99; log; why; why 17; why --no-hw; doctor; summary;
    recover dev --dry-run; recover dev --yes; recover eq 1 --dry-run; recover eq 1 --yes;
    recover cq 5 --yes; metrics; snapshot --write FILE; diff FILE FILE;
    match FILE FILE
'''
#: They make no calls: --timeout has no effect on them.
NO_CALLS = ('diff', 'match', 'explain', 'ver', 'version', 'schema')
SCENARIOS = '''
    basic two all-counters pod no-node no-driver none no-access denied-ring masked hidden
    broken-rings nasty-comm intree old-driver pair why-no-receive why-key-deregistered
'''.split()


@pytest.fixture(scope='module')
def schemas():
    """Name of a schema -> validator, as the files have it."""
    found = {}
    for path in (Path(TOP) / 'eadm/schema').glob('*.json'):
        schema = json.loads(path.read_text(encoding='utf-8'))
        jsonschema.Draft202012Validator.check_schema(schema)
        found[path.stem[::-1].replace('-', '/', 1)[::-1]] = schema
    return found


def closed(schema):
    """A copy that refuses members it does not know: eadm prints only what it describes."""
    schema = copy.deepcopy(schema)
    parts = [schema]
    while parts:
        part = parts.pop()
        if isinstance(part, dict):
            # A reference has the members of what it refers to, too.
            if isinstance(part.get('properties'), dict) and '$ref' not in part:
                part['additionalProperties'] = False
            parts += part.values()
        elif isinstance(part, list):
            parts += part
    return schema


def eadm(scenario, *args):
    """What it prints."""
    env = {**os.environ, 'EADM_SCENARIO': str(EADM_BUILD / f'scenarios/{scenario}.json')}
    return subprocess.run([EADM_BUILD / 'eadm-fake', *args], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, timeout=60, check=False).stdout


@pytest.mark.parametrize('scenario', SCENARIOS)
def test_documents_are_as_their_schemas_say(schemas, scenario, tmp_path):
    seen = set()
    for command in COMMANDS.replace('FILE', str(tmp_path / 'snap.eadm')).split(';'):
        words = ['-j', *command.split()]
        if words[1] not in NO_CALLS:
            words += ['--timeout', '1s']
        for line in eadm(scenario, *words).splitlines():
            document = json.loads(line)
            seen.add(document['schema'])
            jsonschema.Draft202012Validator(closed(schemas[document['schema']])).validate(document)
    assert len(seen) >= 5
    if scenario == 'basic':
        assert seen == set(schemas) - {'eadm.warning/2'}


@pytest.mark.parametrize('scenario', ['basic', 'pod', 'broken-rings'])
def test_lines_are_as_their_schemas_say(schemas, scenario, tmp_path):
    seen = set()
    for command in COMMANDS.replace('FILE', str(tmp_path / 'snap.eadm')).split(';'):
        for line in eadm(scenario, '-o', 'jsonl', *command.split()).splitlines():
            row = json.loads(line)
            seen.add(row['schema'])
            schema = schemas[row['schema']]
            jsonschema.Draft202012Validator(schema).validate(row)
            if '$defs' in schema:
                del row['schema']
                jsonschema.Draft202012Validator(closed(schema['$defs']['object'])).validate(row)
    assert len(seen) >= 5


WRONG = {
    'another schema': lambda d: d.update(schema='eadm.cq.list/2'),
    'no data': lambda d: d.pop('data'),
    'a number as text': lambda d: d['data'][0].update(qpn='17'),
    'a nested member': lambda d: d['data'][0]['owner'].update(kernel='no'),
    'an empty object': lambda d: d['data'].append({}),
    'a failure that has data': lambda d: d.update(ok=False),
}


@pytest.mark.parametrize('name', WRONG)
def test_what_is_wrong_is_found(schemas, name):
    document = json.loads(eadm('basic', '-j', 'list', 'qp'))
    validator = jsonschema.Draft202012Validator(schemas['eadm.qp.list/2'])
    validator.validate(document)
    WRONG[name](document)
    # Without data it is taken for a line, and has no member of one.
    if name == 'no data':
        validator = jsonschema.Draft202012Validator(closed(schemas['eadm.qp.list/2']['then']))
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(document)


def test_a_field_that_is_new_does_no_harm(schemas):
    """Within a schema fields are added: who has the older file must not fail."""
    document = json.loads(eadm('basic', '-j', 'list', 'qp'))
    document['data'][0]['brand_new'] = 1
    jsonschema.Draft202012Validator(schemas['eadm.qp.list/2']).validate(document)


@pytest.fixture
def folder(tmp_path):
    """A copy of the schemas."""
    copied = tmp_path / 'schema'
    copied.mkdir()
    for path in (Path(TOP) / 'eadm/schema').glob('*.json'):
        (copied / path.name).write_bytes(path.read_bytes())
    return copied


def test_sync_schemas_finds_and_mends_what_is_out_of_step(folder):
    tool = [Path(TOP) / 'tests/unit/eadm/sync-schemas']
    words = [folder, EADM_BUILD / 'eadm-fake']

    def run(*options):
        return subprocess.run([*tool, *options, *words], capture_output=True, text=True,
                              timeout=120, check=False)
    assert run('--check').returncode == 0
    one = next(folder.glob('*.json'))
    right = one.read_text()
    one.write_text(right.replace('"type"', '"kind"'))
    (folder / 'eadm.old-1.json').write_text('{}')
    assert run('--check').stdout.splitlines() == sorted([
        'eadm.old-1.json is out of step', f'{one.name} is out of step'])
    assert run().returncode == 0
    assert one.read_text() == right and run('--check').returncode == 0


def test_the_schemas_are_installed(schemas, tmp_path):
    subprocess.run(['make', '-s', '-C', TOP, 'install-dev', f'DESTDIR={tmp_path}', 'PREFIX=/usr'],
                   timeout=60, check=True)
    assert len(list((tmp_path / 'usr/share/erdma/schema').glob('*.json'))) == len(schemas)
