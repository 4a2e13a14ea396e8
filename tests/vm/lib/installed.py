# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest that has our packages: their files in its root, the module where DKMS puts it."""
from lib import products

UPDATES = '/lib/modules/$(uname -r)/updates/dkms'


def install(vm):
    """The files of the packages eadm and erdma-dev, and the module where DKMS puts it; the guest
    forgets them at its end.
    """
    products.build('installed-eadm')
    vm.run('cp -r /erdma/build/installed/usr /')
    vm.run(f'mkdir -p {UPDATES} && cp /erdma/driver/erdma.ko {UPDATES} && depmod')


#: sh -c of a container: it has /dev with these nodes alone, a /sys of its own that is read-only,
#: and its own network, PID and user namespaces. "$@" is what runs in it.
ENTER = '''
    set -e
    mkdir -p /tmp/pod && mount -t tmpfs pod /tmp/pod
    mkdir /tmp/pod/infiniband
    for node in /dev/null /dev/infiniband/uverbs* /dev/infiniband/rdma_cm; do
        : >"/tmp/pod/${node#/dev/}"
        mount --bind "$node" "/tmp/pod/${node#/dev/}"
    done
    mount --move /tmp/pod /dev
    mount -t sysfs -o ro sysfs /sys
    exec "$@"
'''
CONTAINER = ['unshare', '--user', '--map-root-user', '--mount', '--net', '--pid', '--fork',
             '--mount-proc', 'sh', '-c', ENTER, 'sh']
