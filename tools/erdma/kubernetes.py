# SPDX-License-Identifier: GPL-2.0-or-later
"""Kubernetes' own description of its objects, out of Debian's source package."""
from pathlib import Path

from . import apt, cache
from .step import Failure, Step, Unavailable

#: Revision of the recipe: count it up when another product comes out.
RECIPE = 1
MEMBER = 'api/openapi-spec/swagger.json'


def fetch(step: Step, out) -> None:
    """OUT/swagger.json."""
    try:
        step.run('apt-get', 'source', '--download-only', '--only-source', 'kubernetes', cwd=out,
                 env=apt.private())
    except Failure as e:
        raise Unavailable('the archive, as this machine reaches it, has no source of '
                          'kubernetes') from e
    step.run('tar', '-xzf', next(out.glob('*.orig.tar.*')), '--wildcards',
             f'--strip-components={MEMBER.count("/") + 1}', f'*/{MEMBER}', cwd=out)
    for path in [*out.glob('*.tar.*'), *out.glob('*.dsc')]:
        path.unlink()


def schema() -> Path:
    """The file swagger.json: OpenAPI 2.0, with a JSON schema for each kind of object."""
    folder = cache.product('kubernetes-schema', cache.key(RECIPE, MEMBER), 900,
                           "Kubernetes' OpenAPI description", fetch)
    return folder / 'swagger.json'
