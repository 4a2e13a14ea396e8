# SPDX-License-Identifier: GPL-2.0-or-later
"""packaging/debian/tests, as Debian would run them: each on a fresh system of a suite, with our
packages and what it depends on, without booting.
"""
import re
from pathlib import Path

import pytest
from lib import products

from erdma import distro
from erdma.paths import TOP

pytestmark = [pytest.mark.group('long'), pytest.mark.limit(2400)]

TESTS = TOP / 'packaging/debian/tests'
#: sh -c RUN sh QUIET PROGRAM...: in a folder of its own; unless QUIET is '', what it prints as
#: errors fails it.
RUN = ('AUTOPKGTEST_TMP=$(mktemp -d) && export AUTOPKGTEST_TMP && cd "$AUTOPKGTEST_TMP" || exit; '
       'quiet=$1; shift; "$@" 2>../err; status=$?; cat ../err; [ "$status" = 0 ] || exit "$status"; '
       '[ -z "$quiet" ] || ! [ -s ../err ]')


def described():
    """The stanzas of the file control, as dictionaries."""
    text = (TESTS / 'control').read_text(encoding='utf-8')
    return [dict(re.findall(r'(?m)^([\w-]+): (.*)$', x)) for x in text.split('\n\n')]


def name_of(stanza):
    """Of a script, or of the command in the file control."""
    return stanza.get('Tests', 'command')


@pytest.fixture(scope='module', params=distro.FOR_PACKAGES, name='system')
def _system(request):
    """A copy of a fresh system, in which packages gather."""
    system = distro.System(request.param, f'autopkgtest-{request.param}')
    yield system
    system.remove()


@pytest.mark.parametrize('stanza', described(), ids=name_of)
def test_of_the_packages(system, stanza):
    debs = {x.name.split('_')[0]: x for x in Path(products.build('debs')).glob('*.deb')}
    needed = stanza['Depends'].split(', ')
    if 'erdma-qemu-model' in needed and system.suite != 'bookworm':
        pytest.skip("the package is for Debian 12's QEMU")
    system.apt_install(*(debs.get(x, x) for x in needed))
    command = ['sh', '-c', stanza['Test-Command']] if 'Test-Command' in stanza else \
        [f'{distro.INSIDE}/{stanza["Tests"]}']
    quiet = '' if 'allow-stderr' in stanza.get('Restrictions', '') else 'quiet'
    system.must('sh', '-c', RUN, 'sh', quiet, *command, folder=TESTS)


def test_every_script_is_described():
    scripts = {x.name for x in TESTS.iterdir()} - {'control'}
    assert scripts == {x['Tests'] for x in described() if 'Tests' in x}
    assert not [x for x in scripts if not (TESTS / x).stat().st_mode & 0o100]
