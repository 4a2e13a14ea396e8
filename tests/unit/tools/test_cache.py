# SPDX-License-Identifier: GPL-2.0-or-later
"""The cache of products: complete or absent, made once, removed when nobody asks."""
import os
import subprocess
import sys
import threading
import time

import pytest

from erdma import cache
from erdma.paths import TOOLS
from erdma.step import Failure, StepFailed

pytestmark = [pytest.mark.group('unit'), pytest.mark.limit(60)]

DAY = 86400


@pytest.fixture(autouse=True)
def root(tmp_path, monkeypatch):
    """An empty cache."""
    monkeypatch.setenv('ERDMA_CACHE', str(tmp_path / 'cache'))
    return tmp_path / 'cache'


def write(text='made'):
    """A builder that writes one file."""
    def builder(step, out):
        step.run('sh', '-c', f'echo {text} >file', cwd=out)
    return builder


def get(key='0' * 16, builder=None, limit=20):
    """The product "thing"."""
    return cache.product('thing', key, limit, 'a thing', builder or write())


def left(root):
    """What is in the cache besides locks and logs."""
    return sorted(p.name for p in root.iterdir() if p.name not in ('log', 'thing.lock'))


def test_product_is_built_once(root):
    folder = get()
    assert (folder / 'file').read_text() == 'made\n'
    assert get(builder=write('again')) == folder
    assert (folder / 'file').read_text() == 'made\n'
    assert left(root) == ['thing-' + '0' * 16]


def test_removed_product_is_built_again(root):
    folder = get()
    (folder / 'file').unlink()
    folder.rmdir()
    assert (get(builder=write('again')) / 'file').read_text() == 'again\n'


def test_other_key_is_another_product():
    assert get(cache.key('a')) != get(cache.key('b'))


def test_key_depends_on_every_input(tmp_path):
    file = tmp_path / 'input'
    file.write_text('one')
    first = cache.key(1, 'ab', file)
    assert first == cache.key(1, 'ab', file) and len(first) == 16
    assert first != cache.key(2, 'ab', file)
    assert cache.key('ab', 'c') != cache.key('a', 'bc')
    file.write_text('two')
    assert first != cache.key(1, 'ab', file)


@pytest.mark.parametrize('error', ('step', 'failure', 'exception', 'interrupt', 'limit'))
def test_nothing_is_left_of_a_builder_that_fails(root, error, capsys):
    def builder(step, out):
        (out / 'half').write_text('x')
        if error == 'step':
            step.run('sh', '-c', 'echo the reason; exit 7')
        elif error == 'limit':
            step.run('sleep', '60')
        raise {'failure': Failure('the reason', 'a hint'), 'exception': OSError('the reason'),
               'interrupt': KeyboardInterrupt()}[error]

    wanted = {'exception': OSError, 'interrupt': KeyboardInterrupt}.get(error, StepFailed)
    with pytest.raises(wanted) as e:
        get(builder=builder, limit=1)
    assert left(root) == []
    if error in ('step', 'limit'):
        assert e.value.code == {'step': 7, 'limit': 124}[error]
    if error == 'step':
        assert '| the reason' in capsys.readouterr().err
    if error == 'failure':
        assert 'the reason' in e.value.message and e.value.hint == 'a hint'
    assert (get() / 'file').exists()        # the lock is free


def test_second_builder_waits_and_finds_the_product(root, capsys):
    begun, end = threading.Event(), threading.Event()

    def slow(step, out):
        begun.set()
        assert end.wait(20)
        write('first')(step, out)

    def second():
        results.append(get(builder=write('second')))

    results = []
    one = threading.Thread(target=lambda: results.append(get(builder=slow)))
    two = threading.Thread(target=second)
    one.start()
    assert begun.wait(20)
    two.start()
    time.sleep(0.5)
    assert not results
    end.set()
    one.join(20)
    two.join(20)
    assert results[0] == results[1] and (results[0] / 'file').read_text() == 'first\n'
    assert 'another process builds it' in capsys.readouterr().err


def test_wait_for_the_lock_has_a_limit(root):
    with cache.locked(cache.make_root() / 'thing.lock', 1, 'a thing'):
        with pytest.raises(Failure, match='waited 1 s for the lock'):
            get(limit=1)


def test_killed_process_leaves_no_lock(root):
    code = ('import sys, time; sys.path.insert(0, sys.argv[1])\n'
            'from erdma import cache\n'
            'def slow(step, out):\n'
            '    print("begun", flush=True); time.sleep(60)\n'
            f'cache.product("thing", "{"0" * 16}", 60, "a thing", slow)\n')
    proc = subprocess.Popen([sys.executable, '-c', code, str(TOOLS)], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL)
    assert proc.stdout.readline() == b'begun\n'
    assert left(root)[0].startswith('tmp.thing.')
    proc.kill()
    proc.wait(20)
    proc.stdout.close()
    assert (get() / 'file').exists()
    assert left(root) == ['thing-' + '0' * 16]


def test_old_products_are_removed(root):
    old, used = get('1' * 16), get('2' * 16)
    other = cache.product('thing-too', '3' * 16, 20, 'another', write())
    past = time.time() - (cache.KEEP_DAYS + 1) * DAY
    for folder in (old, used, other):
        os.utime(folder, (past, past))
    assert cache.find('thing', '2' * 16) == used        # asked for: not old any more
    get('4' * 16)
    assert not old.exists() and used.exists() and other.exists()


def test_cache_that_cannot_be_made(tmp_path, monkeypatch):
    (tmp_path / 'file').write_text('')
    monkeypatch.setenv('ERDMA_CACHE', str(tmp_path / 'file'))
    with pytest.raises(Failure, match='cannot create the cache folder') as e:
        get()
    assert 'ERDMA_CACHE' in e.value.hint


@pytest.mark.parametrize('env, path', (
    ({'ERDMA_CACHE': '/a'}, '/a'), ({'XDG_CACHE_HOME': '/b'}, '/b/erdma'),
    ({'HOME': '/c'}, '/c/.cache/erdma'), ({'ERDMA_CACHE': '', 'HOME': '/c'}, '/c/.cache/erdma')))
def test_place_of_the_cache(env, path, monkeypatch):
    for name in ('ERDMA_CACHE', 'XDG_CACHE_HOME', 'HOME'):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert str(cache.root()) == path
