# SPDX-License-Identifier: GPL-2.0-or-later
"""The KUnit suites of kunit/, on Debian's own kernel and on the debug kernel.

Each case is a result, SUITE.CASE; what its parameters say is below it in the log.
"""
import os

import pytest

from lib import kunit, products
from lib.paths import TOP
from lib.vms import kernel_of


@pytest.mark.limit(2400)
@pytest.mark.on('kcsan')
# erdma_bringup: a fake device that does not stop
@pytest.mark.allow_log('nor the end of bus mastering was confirmed: memory is leaked')
@pytest.mark.parametrize('where', [
    pytest.param('any kernel', marks=[pytest.mark.group('kunit'),
                                      pytest.mark.vms(**kunit.SPEC)]),
    # One core: nothing here runs side by side.
    pytest.param('debug kernel', marks=[pytest.mark.group('debug'), pytest.mark.kernel('debug'),
                                        pytest.mark.not_on('gcov'),
                                        pytest.mark.vms(smp=1, **kunit.SPEC)])])
def test_kunit(request, hosts, tap, where):
    kind = kernel_of(request.node)
    folder = products.build('kunit' if kind == 'stock' else f'kunit-{kind}')
    log = kunit.run_suites(hosts[0], '/erdma/' + os.path.relpath(folder, TOP))
    with open(os.path.join(hosts.dir, 'kunit.log'), 'w', encoding='utf-8') as f:
        f.write(log)
    tap.text(kunit.tap_of(log), depth=1, name=where)
