# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/guide/first-rdma-program.md: its code is that of the files, its commands print what it says,
and the programs say what goes wrong."""
import pytest

from erdma.paths import TOP
from vm.lib import pages

PAGE = (TOP / 'docs/guide/first-rdma-program.md').read_text(encoding='utf-8')
EXAMPLE = TOP / 'docs/guide/example'
PROGRAMS = '/erdma/docs/guide/example/build'

pytestmark = [pytest.mark.group('hosts'), pytest.mark.vms(2), pytest.mark.limit(600),
              pytest.mark.needs('driver', 'model', 'example')]


@pytest.mark.parametrize('name', ['message.h', 'server.c', 'client.c'])
def test_code_of_the_page_is_that_of_the_files(name):
    assert ''.join(pages.blocks(PAGE, f'c {name}')) == \
        (EXAMPLE / name).read_text(encoding='utf-8')


def test_commands_of_the_page():
    assert len(pages.commands(PAGE)) >= 4
    pages.walk(PAGE, TOP)


def serve(vm, address):
    """The server, listening."""
    server = vm.popen([f'{PROGRAMS}/server', address])
    server.expect('server: waiting')
    return server


def test_both_ways(two_vms):
    for a, b in (two_vms, two_vms[::-1]):
        server = serve(b, b.address())
        out = a.run([f'{PROGRAMS}/client', b.address()]).out
        assert 'client: the server\'s memory says "read without my help"' in out
        assert 'the client says "hello"\nserver: the client says "thank you"' in \
            server.wait(30).out


@pytest.mark.expects_verdict('cm-refused')
def test_nobody_listens(two_vms):
    a, b = two_vms
    done = a.run([f'{PROGRAMS}/client', b.address()], check=False)
    assert done.status == 1 and 'connect: Connection refused' in done.err


@pytest.mark.expects_verdict('cm-refused')      # of the test before
def test_payload_that_is_lost_is_an_empty_text(two_vms):
    """What the page says at its end: the card reports success."""
    a, b = two_vms
    server = serve(b, b.address())
    a.card.fault('drop payload after=1 count=1')        # after the server's message
    out = a.run([f'{PROGRAMS}/client', b.address()]).out
    assert 'client: the server\'s memory says ""' in out and a.card.hits() == 1
    server.wait(30)
