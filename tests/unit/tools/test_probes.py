# SPDX-License-Identifier: GPL-2.0-or-later
"""The probes of a kernel's headers (driver/compat) choose right or fail, loudly."""
import re
import subprocess

import pytest

from erdma import headers, modules
from erdma.paths import TOP

pytestmark = [pytest.mark.group('unit'), pytest.mark.limit(120)]

COMPAT = TOP / 'driver/compat'
#: A compiler that accepts the variants in the file "accepts".
COMPILER = '''\
#!/bin/sh
for x; do case $x in -DERDMA_PROBE_*) name=${x#-DERDMA_PROBE_};; esac; done
if grep -qx "$name" "$(dirname "$0")/accepts"; then exit 0; fi
echo "error: no $name here" >&2
exit 1
'''


def variants():
    """File of a probe -> its variants."""
    return {p.name: sorted(set(re.findall(r'(?m)^#ifdef ERDMA_PROBE_(\w+)$', p.read_text())))
            for p in sorted(COMPAT.glob('probe_*.c'))}


def of_one_kernel():
    """One variant of each probe."""
    return [x[-1] for name, x in variants().items() if name != 'probe_control.c']


@pytest.fixture
def probe(tmp_path):
    """Run probe.sh with a compiler that accepts these variants."""
    cc = tmp_path / 'cc'
    cc.write_text(COMPILER)
    cc.chmod(0o755)

    def run(accepts):
        (tmp_path / 'accepts').write_text(''.join(x + '\n' for x in accepts))
        done = subprocess.run([COMPAT / 'probe.sh', tmp_path / 'found', cc, '-O2'], text=True,
                              capture_output=True, check=False, timeout=60)
        assert not (tmp_path / 'found.logs').exists()
        done.found = (tmp_path / 'found').read_text() if (tmp_path / 'found').exists() else None
        assert (done.found is None) == bool(done.returncode)
        return done
    return run


def test_every_probe_has_variants_of_its_own():
    found = variants()
    assert len(found) > 1 and all(len(x) >= 2 for x in found.values()), found
    names = sum(found.values(), [])
    assert len(names) == len(set(names))


def test_one_variant_of_each_probe_is_found(probe):
    done = probe(['CONTROL_GOOD', *of_one_kernel()])
    assert done.found == ''.join(f'#define ERDMA_COMPAT_{x} 1\n' for x in of_one_kernel())


@pytest.mark.parametrize('accepts', ([], ['CONTROL_BAD_TYPE'],
                                     ['CONTROL_GOOD', 'CONTROL_BAD_NAME'],
                                     ['CONTROL_GOOD', 'CONTROL_BAD_TYPE']))
def test_a_wrong_control_ends_the_build(probe, accepts):
    done = probe(accepts + of_one_kernel())
    assert done.returncode and 'cannot be trusted' in done.stderr


def test_a_kernel_without_a_known_variant_ends_the_build(probe):
    done = probe(['CONTROL_GOOD', *(x for x in of_one_kernel() if x != 'UMEM_GET_VA')])
    assert done.returncode and 'API that the driver does not know: of compat/probe_umem.c' in \
        done.stderr
    assert 'error: no UMEM_GET_VA here' in done.stderr


def test_two_variants_end_the_build(probe):
    done = probe(['CONTROL_GOOD', 'UMEM_GET', *of_one_kernel()])
    assert done.returncode and 'UMEM_GET' in done.stderr and 'probe_umem.c' in done.stderr


# ---- with the real compiler and headers ----------------------------------------------

@pytest.fixture
def driver(tmp_path):
    """A copy of the driver; make until the probes are done."""
    modules.copy_driver(tmp_path)

    def make():
        return subprocess.run(
            ['make', '-C', headers.folder(), f'M={tmp_path}/driver', 'modules', 'erdma-y=erdma_pd.o'],
            text=True, capture_output=True, check=False, timeout=100)
    make.kbuild = tmp_path / 'driver/Kbuild'
    make.script = tmp_path / 'driver/compat/probe.sh'
    make.found = tmp_path / 'driver/compat.found'
    return make


def edit(path, old, new):
    """Break a file."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_definition_missing_on_the_command_line_ends_the_build(driver):
    edit(driver.kbuild, """-DKBUILD_MODNAME='"erdma"'""", '')
    done = driver()
    assert done.returncode and 'cannot be trusted' in done.stderr, done
    assert 'KBUILD_MODNAME' in done.stderr and not driver.found.exists()


def test_a_compiler_that_accepts_wrong_types_ends_the_build(driver):
    edit(driver.script, '-Werror=incompatible-pointer-types', '-Wno-incompatible-pointer-types')
    done = driver()
    assert done.returncode and 'cannot be trusted' in done.stderr, done
    assert 'CONTROL_BAD_TYPE' in done.stderr and not driver.found.exists()
