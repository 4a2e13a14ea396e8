# SPDX-License-Identifier: GPL-2.0-or-later
"""What compilers say about the driver for other kernels than test_tools.py's: part of make check-kernels."""
import os
import re
import shutil
from pathlib import Path

import pytest
from test_text import silent
from tree import lines_of

from erdma import archive, modules
from erdma.build import SPARSE
from lib import products
from lib.paths import BUILD

pytestmark = [
    pytest.mark.group('vm'),
    pytest.mark.limit(900),
    pytest.mark.on('kernels'),
    pytest.mark.not_on('stock', 'debug', 'gcov'),
]


def test_driver_builds_for_this_kernel_without_a_warning(request):
    """gcc of the kernel's suite with more warnings, and sparse where the build has it."""
    kind = request.config.option.kernel
    kernel = Path(products.build(f'kernel-{kind}'))
    out = Path(BUILD) / 'warnings' / f'gcc-{kind}'
    shutil.rmtree(out, ignore_errors=True)
    modules.copy_driver(out)
    make, kdir = archive.make_for(kernel)
    # sparse is Debian 12's, whose kernels its own make builds for; a system of another suite has none.
    # The comments are checked with 6.1, by a script for which the system of a suite may have no perl.
    lines = lines_of(*make, f'-j{os.cpu_count()}', '-C', kdir, f'M={out}/driver', 'W=1',
                     'cmd_checkdoc=', *([] if (kernel / 'root').is_dir() else SPARSE), 'modules')
    silent([x for x in lines if re.search('warning:|error:|exit status', x)])
    assert (out / 'driver/erdma.ko').exists()
