# SPDX-License-Identifier: GPL-2.0-or-later
"""Manual pages: each is installed and packaged, apropos finds it, and it has what it is about."""
import fnmatch
import re
import subprocess

import pytest
from test_text import silent
from tree import TOP, files, text

pytestmark = [pytest.mark.group('static')]

PAGES = files(TOP, 'man/*.[1-8]')


def test_there_are_pages():
    assert len(PAGES) >= 30


@pytest.fixture(scope='module', name='commands')
def fixture_commands():
    """What make would run to install and to uninstall."""
    def dry_run(*targets):
        return subprocess.run(['make', '-n', 'PREFIX=/usr', *targets], cwd=TOP, text=True,
                              stdout=subprocess.PIPE, timeout=60, check=True).stdout
    return {'install': dry_run('install-eadm', 'install-model', 'install-dkms'),
            'module': dry_run('install-module'), 'uninstall': dry_run('uninstall')}


@pytest.mark.parametrize('page', PAGES)
def test_page_is_installed_uninstalled_and_packaged(page, commands):
    name = page.rsplit('/', maxsplit=1)[-1]
    assert re.search(rf'\bfor m in [^;]*\b{re.escape(page)}[ ;]', commands['install']), \
        'not installed'
    assert f'/usr/share/man/man{name[-1]}/{name} ' in commands['uninstall'], 'not uninstalled'
    if name.endswith('.4'):
        assert page in commands['module'], 'not installed beside the module'
    # There is no rpm of the model.
    if not name.endswith('.1'):
        patterns = re.findall(r'(?m)^%\{_mandir\}/(\S+)$', text(TOP, 'packaging/rpm/erdma.spec'))
        assert any(fnmatch.fnmatch(f'man{name[-1]}/{name}.gz', x) for x in patterns), 'not in the rpm'


@pytest.mark.parametrize('page', PAGES)
def test_apropos_finds_the_page(page):
    """One name, that of the file, and one line that says what it is."""
    name = page.rsplit('/', maxsplit=1)[-1].rpartition('.')[0]
    found = re.search(r'(?m)^\.Sh NAME\n\.Nm (\S+)\n\.Nd (.+)\n\.Sh ', text(TOP, page))
    assert found and found[1] == name and len(found[2]) < 70


def test_every_call_of_the_node_is_in_its_page():
    calls = re.findall(r'(?m)^#define (ERDMA_DIAG_\w+)\s+_IO\(',
                       text(TOP, 'include/uapi/erdma_diag.h'))
    assert len(calls) >= 7
    page = text(TOP, 'man/erdma_diag.4')
    silent([f'man/erdma_diag.4: {x} is missing' for x in calls if f'.It Dv {x}\n' not in page])
