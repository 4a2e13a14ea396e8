# SPDX-License-Identifier: GPL-2.0-or-later
"""Manual pages: each is installed and packaged, apropos finds it, and it has what it is about."""
import re

import pytest
from test_text import silent
from tree import TOP, files, text

pytestmark = [pytest.mark.group('static')]

PAGES = files(TOP, 'man/*.[1-8]')


def test_there_are_pages():
    assert len(PAGES) >= 7


@pytest.mark.parametrize('page', PAGES)
def test_page_is_installed_uninstalled_and_packaged(page):
    name = page.rsplit('/', maxsplit=1)[-1]
    rules = text(TOP, 'packaging/install.mk')
    assert re.search(rf'install_man,[^)]*\b{re.escape(page)}\b', rules), 'not installed'
    assert f'man{name[-1]}/{name}' in rules.split('\nuninstall:')[1], 'not uninstalled'
    # There is no rpm of the model.
    if not name.endswith('.1'):
        assert f'%{{_mandir}}/man{name[-1]}/{name}*' in text(TOP, 'packaging/rpm/erdma.spec')


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
