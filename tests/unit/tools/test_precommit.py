# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/pre-commit: which files it takes, what it finds in them, what it costs."""
import os
import resource
import shutil
import subprocess

import pytest

from erdma import checkout, packages, precommit
from erdma.paths import TOP

pytestmark = [pytest.mark.group('unit'), pytest.mark.limit(1000)]

#: What the checks of a small change may cost, in parts of what pylint takes for the whole tree.
SHARE = 0.75


def git(top, *words):
    """A command of git that succeeds."""
    subprocess.run(['git', '-c', 'user.name=a', '-c', 'user.email=a@example.org', *words], cwd=top,
                   check=True, stdout=subprocess.DEVNULL, timeout=60)


def repository(top):
    """A commit of all that is there."""
    git(top, 'init', '-q')
    git(top, 'add', '-A')
    git(top, 'commit', '-q', '-m', 'all')


def test_files_that_changed(tmp_path):
    for name in ('same', 'changed', 'staged', 'gone', '.gitignore'):
        (tmp_path / name).write_text('ignored\n')
    repository(tmp_path)
    (tmp_path / 'changed').write_text('1')
    (tmp_path / 'staged').write_text('1')
    git(tmp_path, 'add', 'staged')
    (tmp_path / 'gone').unlink()
    (tmp_path / 'new').write_text('1')
    (tmp_path / 'ignored').write_text('1')
    assert precommit.changed(tmp_path) == ['changed', 'new', 'staged']


@pytest.mark.parametrize('name, text, yes', (
    ('a.py', '', True), ('a', '#!/usr/bin/python3\n', True), ('a', '#!/bin/bash\n', False),
    ('a.c', 'int a;\n', False)))
def test_python_is_known_by_name_or_first_line(name, text, yes, tmp_path):
    (tmp_path / name).write_text(text)
    assert precommit.is_python(name, tmp_path) == yes


@pytest.fixture(scope='module')
def copy(tmp_path_factory):
    """A repository that is a copy of the checkout."""
    if not (TOP / '.git').exists():
        pytest.skip('no repository: this is a tarball')
    folder = checkout.copy(tmp_path_factory.mktemp('pre-commit') / 'tree')
    (folder / '.copied').unlink()
    repository(folder)
    return folder


def pre_commit(copy):
    """As a hook of git runs it: through a link, with git's variables."""
    hook = copy / '.git/hooks/pre-commit'
    if not hook.exists():
        hook.symlink_to('../../tools/pre-commit')
    return subprocess.run([hook], cwd=copy, env={**os.environ, 'GIT_INDEX_FILE': '.git/index'},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=900, check=False)


# (file, what is added to it, what is said)
MISTAKES = (
    ('driver/erdma_pd.c', 'int  erdma_x ;\n', 'erdma_pd.c:'),
    ('tools/erdma/cache.py', 'import os.path as unused\n', '(unused-import)'),
    ('docs/kernels.md', 'This is ' + 't' + 'eh end.\n', 't' + 'eh ==> the'),
    ('docs/abi.md', '[there](nowhere.md)\n', 'there is no docs/nowhere.md'),
    ('.ci/run', 'cd $undefined/x; local y\n', 'In .ci/run line '),
)


@pytest.fixture(scope='module')
def of_mistakes(copy):
    """What pre-commit says of a change with all of these, and its status."""
    before = {name: (copy / name).read_text(encoding='utf-8') for name, _text, _said in MISTAKES}
    for name, text, _said in MISTAKES:
        (copy / name).write_text(before[name] + text, encoding='utf-8')
    done = pre_commit(copy)
    for name, text in before.items():
        (copy / name).write_text(text, encoding='utf-8')
    return done


@pytest.mark.parametrize('name, said', [(x[0], x[2]) for x in MISTAKES], ids=[x[0] for x in MISTAKES])
def test_mistake_is_found(of_mistakes, name, said):
    if name.endswith('.py') and not shutil.which('pylint'):
        pytest.skip('pylint is not installed')
    assert of_mistakes.returncode == 1 and said in of_mistakes.stdout, of_mistakes.stdout


def cpu_seconds(act):
    """What act() returns, and the CPU seconds of the processes that it started."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = act()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.fixture(scope='module')
def whole_tree():
    """pylint on all files: what became of it, and its CPU seconds."""
    if not shutil.which('pylint'):
        pytest.skip('pylint is not installed')
    program = 'from erdma import checkout, precommit; exit(not precommit.pylint(checkout.names()))'
    return cpu_seconds(lambda: subprocess.run(
        ['/usr/bin/python3', '-B', '-c', program], cwd=TOP / 'tools', stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900, check=False))


def test_pylint_finds_nothing_in_the_tree(whole_tree):
    """So that whoever changes a file finds what the change made, and nothing else."""
    assert whole_tree[0].returncode == 0, whole_tree[0].stdout


# ---- packages ------------------------------------------------------------------------------

def test_packages_that_are_missing_are_named(monkeypatch, capfd):
    """Instead of what Python or a test says without them; a hook installs nothing."""
    monkeypatch.setattr(packages, 'system', lambda: packages.SYSTEM)
    monkeypatch.setattr(packages, 'missing', lambda purpose: [f'{purpose}-1', 'python3-pytest'])
    monkeypatch.setattr(precommit, 'static', lambda _names: pytest.fail('it goes on'))
    assert precommit.main() == 1
    said = ''.join(capfd.readouterr())
    assert 'missing: check-1 python3-pytest\n' in said and 'tools/setup packages check' in said


def test_setup_installs_what_pre_commit_asks_for(monkeypatch):
    """CONTRIBUTING.md: "make setup" once, then "make pre-commit"."""
    asked = []
    monkeypatch.setattr(packages, 'have', asked.append)
    monkeypatch.setattr(precommit, 'changed', lambda: [])
    monkeypatch.setattr(precommit, 'static', lambda _names: True)
    assert precommit.main() == 0
    recipe = subprocess.run(['make', '-s', '-n', '-C', TOP, 'setup'], check=True, text=True, timeout=60,
                            stdout=subprocess.PIPE).stdout
    found = recipe.splitlines()[-1].split()     # behind Python's
    assert found[:2] == ['tools/setup', 'packages'] and len(found) == 3, recipe
    of_setup, = (set(packages.PURPOSES[x]) for x in found[2:])
    assert asked and of_setup >= {x for purpose in asked for x in packages.PURPOSES[purpose]}
    assert {'python3-pytest', 'shellcheck', 'codespell', 'mandoc', 'perl', 'pylint', 'git'} <= of_setup


#: A change of one file of each type that a tool reads; three of the type that changes most.
HARMLESS = {
    'driver/erdma_pd.c': '\n/* More. */', 'driver/erdma_trace.h': '\n/* More. */',
    'kunit/qp_test.c': '\n/* More. */', 'include/uapi/erdma_diag.h': '\n/* More. */',
    'eadm/parse.c': '\n/* More. */', '.ci/run': '# More.', 'tests/cli/why.bats': '# More.',
    'man/erdma-vm.1': '.\\" More.', 'docs/abi.md': '\nMore.', 'tools/erdma/cache.py': '# More.',
    'tests/vm/test_basic.py': '# More.', 'tests/vm/test_apps.py': '# More.',
    'tests/vm/test_erdma_vm.py': '# More.',
}


def test_change_without_a_mistake_passes_quickly(copy, whole_tree):
    for name, text in HARMLESS.items():
        with open(copy / name, 'a', encoding='utf-8') as f:
            f.write(text + '\n')
    (copy / 'tools/erdma/extra.py').write_text(
        '# SPDX-License-Identifier: GPL-2.0-or-later\n"""Nothing."""\n', encoding='utf-8')
    done, seconds = cpu_seconds(lambda: pre_commit(copy))
    print(f'{seconds:.1f} CPU seconds, pylint of the whole tree {whole_tree[1]:.1f}')
    assert done.returncode == 0, done.stdout
    assert f'pre-commit: {len(HARMLESS) + 1} changed files, ' in done.stdout
    assert seconds < SHARE * whole_tree[1]
