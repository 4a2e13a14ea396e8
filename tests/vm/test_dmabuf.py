# SPDX-License-Identifier: GPL-2.0-or-later
"""Regions in dma-bufs. Debian 12's kernel has no udmabuf, the tests bring one along."""
import pytest

pytestmark = [
    pytest.mark.group('vm'),
    pytest.mark.needs('driver', 'model', 'progs', 'udmabuf'),
    pytest.mark.vms(),
]

NODE = '/dev/udmabuf'


@pytest.fixture
def exporter(vm):
    """The VM with somebody who makes dma-bufs. The module cannot go while one is left."""
    own = not vm.ok(['test', '-e', NODE])
    if own:
        vm.run('insmod /erdma/build/udmabuf/udmabuf.ko')
    yield vm
    if own:
        vm.run('rmmod udmabuf')


@pytest.mark.parametrize('what', ['write and read every size', 'part of a buffer',
                                  'region outlives its files', pytest.param(
                                      'what is refused',
                                      marks=pytest.mark.expects_verdict('verb-failed'))])
def test_dmabuf(exporter, tap, progs, what):
    tap.guest(exporter, [f'{progs}/verbs_dmabuf', exporter.address(), what], name=what)


def test_dmabuf_nothing_is_left_behind(vm):
    assert vm.out(['rdma', 'resource', 'show', 'mr']) == ''
