# SPDX-License-Identifier: GPL-2.0-or-later
"""packaging/kubernetes: the objects are what Kubernetes' own description says they are, and agree
with each other and with the card."""
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from lib import products
from lib.paths import TOP

jsonschema = pytest.importorskip('jsonschema', reason='no python3-jsonschema')
yaml = pytest.importorskip('yaml', reason='no python3-yaml')

pytestmark = [pytest.mark.group('unit'), pytest.mark.limit(1500)]

FOLDER = Path(TOP) / 'packaging/kubernetes'

NAMES = {'type': 'array', 'minItems': 1, 'items': {'type': 'string'}}

#: What the generic device plugin is given with --device, as its README describes it.
PLUGIN = {
    'type': 'object', 'required': ['name', 'groups'], 'additionalProperties': False,
    'properties': {
        'name': {'type': 'string', 'pattern': '^[A-Za-z0-9_.-]+$'},
        'groups': {'type': 'array', 'minItems': 1, 'items': {
            'type': 'object', 'required': ['paths'], 'additionalProperties': False,
            'properties': {
                'count': {'type': 'integer', 'minimum': 1},
                'paths': {'type': 'array', 'minItems': 1, 'items': {
                    'type': 'object', 'required': ['path'], 'additionalProperties': False,
                    'properties': {
                        'path': {'type': 'string', 'pattern': '^/dev/'},
                        'mountPath': {'type': 'string'},
                        'type': {'enum': ['Device', 'Mount']},
                        'readOnly': {'type': 'boolean'},
                        'permissions': {'type': 'string', 'pattern': '^[mrw]{1,3}$'},
                        'limit': {'type': 'integer', 'minimum': 1}}}}}}}}}

#: A rule of Node Feature Discovery, which is not of Kubernetes' own description.
RULE = {
    'type': 'object', 'required': ['apiVersion', 'kind', 'metadata', 'spec'],
    'additionalProperties': False,
    'properties': {
        'apiVersion': {'enum': ['nfd.k8s-sigs.io/v1alpha1']},
        'kind': {'enum': ['NodeFeatureRule']},
        'metadata': {'type': 'object', 'required': ['name']},
        'spec': {'type': 'object', 'required': ['rules'], 'additionalProperties': False,
                 'properties': {'rules': {'type': 'array', 'minItems': 1, 'items': {
                     'type': 'object', 'required': ['name', 'labels', 'matchFeatures'],
                     'additionalProperties': False,
                     'properties': {
                         'name': {'type': 'string'},
                         'labels': {'type': 'object', 'minProperties': 1,
                                    'additionalProperties': {'type': 'string'}},
                         'matchFeatures': {'type': 'array', 'minItems': 1, 'items': {
                             'type': 'object', 'required': ['feature', 'matchExpressions'],
                             'additionalProperties': False,
                             'properties': {
                                 'feature': {'enum': ['pci.device']},
                                 'matchExpressions': {
                                     'type': 'object', 'minProperties': 1,
                                     'additionalProperties': {
                                         'type': 'object', 'required': ['op', 'value'],
                                         'additionalProperties': False,
                                         'properties': {'op': {'enum': ['In']},
                                                        'value': NAMES}}}}}}}}}}}}}


def objects():
    """(name of file, object) of all files."""
    return [(path.name, x) for path in sorted(FOLDER.glob('*.yaml'))
            for x in yaml.safe_load_all(path.read_text(encoding='utf-8'))]


def named(kind, name):
    """An object."""
    return next(x for _, x in objects() if (x['kind'], x['metadata']['name']) == (kind, name))


def strict(api):
    """The description, refusing members that it does not know."""
    for definition in api['definitions'].values():
        if 'properties' in definition:
            definition['additionalProperties'] = False
        if definition.get('format') == 'int-or-string':
            definition['type'] = ['integer', 'string']
    # A quantity may be written as a number, too.
    quantity = api['definitions']['io.k8s.apimachinery.pkg.api.resource.Quantity']
    quantity['type'] = ['string', 'number']
    return api


@pytest.fixture(scope='module')
def api():
    """Kubernetes' OpenAPI description: a JSON schema for each kind."""
    with open(products.build('kubernetes-schema'), encoding='utf-8') as f:
        return strict(json.load(f))


def validate(api, thing):
    """Raise ValidationError unless the object is as described."""
    if thing['kind'] == 'NodeFeatureRule':
        jsonschema.Draft4Validator(RULE).validate(thing)
        return
    group, _, version = thing['apiVersion'].rpartition('/')
    name = next(k for k, v in api['definitions'].items()
                if {'group': group, 'version': version, 'kind': thing['kind']} in
                v.get('x-kubernetes-group-version-kind', []))
    jsonschema.Draft4Validator({'$ref': f'#/definitions/{name}',
                                'definitions': api['definitions']}).validate(thing)


def test_there_are_examples():
    kinds = [x['kind'] for _, x in objects()]
    assert kinds.count('DaemonSet') == 3 and 'NodeFeatureRule' in kinds and 'Pod' in kinds


@pytest.mark.parametrize('thing', [x for _, x in objects()],
                         ids=[f'{f}-{x["kind"]}' for f, x in objects()])
def test_object_is_as_kubernetes_describes_it(api, thing):
    validate(api, thing)


BAD = {
    'an unknown member': lambda spec: spec['template']['spec'].update(hostNet=True),
    'no name': lambda spec: spec['template']['spec']['containers'][0].pop('name'),
    'no selector': lambda spec: spec.pop('selector'),
    'a number as text': lambda spec: spec.update(minReadySeconds='10'),
}


@pytest.mark.parametrize('name', BAD)
def test_what_kubernetes_would_refuse_is_found(api, name):
    thing = named('DaemonSet', 'erdma-exporter')
    validate(api, thing)
    BAD[name](thing['spec'])
    with pytest.raises(jsonschema.ValidationError):
        validate(api, thing)


def plugin_args():
    """Options of the plugin and their values."""
    words = pod_of(named('DaemonSet', 'erdma-device-plugin'))['containers'][0]['args']
    return dict(zip(words[::2], words[1::2]))


def plugin_config():
    """What --device is given, parsed."""
    return yaml.safe_load(plugin_args()['--device'])


def header_of_the_card():
    """The numbers that the driver is built with: vendor, device, class."""
    header = (Path(TOP) / 'include/erdma/erdma_reg.h').read_text(encoding='utf-8')
    return [re.search(rf'ERDMA_PCI_{x}\s+0x(\w{{4}})', header)[1]
            for x in ('VENDOR_ID', 'DEVICE_ID', 'CLASS')]


def test_configuration_is_what_the_plugin_reads():
    jsonschema.Draft4Validator(PLUGIN).validate(plugin_config())
    assert set(plugin_args()) == {'--domain', '--device'}


@pytest.mark.parametrize('change', (
    lambda rule: rule['spec'].pop('rules'),
    lambda rule: rule['spec']['rules'][0].pop('labels'),
    lambda rule: rule['spec']['rules'][0]['matchFeatures'][0].update(matchExpression={}),
    lambda rule: rule['spec']['rules'][0]['matchFeatures'][0]['matchExpressions']['vendor'].update(
        value='1ded')))
def test_rule_that_node_feature_discovery_would_refuse_is_found(api, change):
    rule = named('NodeFeatureRule', 'erdma')
    validate(api, rule)
    change(rule)
    with pytest.raises(jsonschema.ValidationError):
        validate(api, rule)


def test_node_gets_its_label_by_the_card():
    rule = named('NodeFeatureRule', 'erdma')['spec']['rules'][0]
    wanted = {k: v['value'] for k, v in rule['matchFeatures'][0]['matchExpressions'].items()}
    vendor, device, card_class = header_of_the_card()
    assert wanted == {'vendor': [vendor], 'device': [device], 'class': [card_class]}
    assert rule['labels'] == node_label()


def pod_of(thing):
    """What describes its pods: of a DaemonSet, or of a Pod itself; {} of others."""
    return thing.get('spec', {}).get('template', thing).get('spec', {})


def node_label():
    """The label of Node Feature Discovery for the card's class and vendor."""
    vendor, _, card_class = header_of_the_card()
    return {f'feature.node.kubernetes.io/pci-{card_class}_{vendor}.present': 'true'}


def test_nodes_are_those_that_have_the_card():
    assert [pod_of(x)['nodeSelector'] for _, x in objects() if x['kind'] == 'DaemonSet'] == \
        [node_label()] * 3


def test_who_needs_the_interfaces_of_the_node_is_in_its_network_namespace():
    """Counters come from rdma netlink of that namespace; connections use its interfaces."""
    for kind, name in (('DaemonSet', 'erdma-exporter'), ('Pod', 'erdma-test')):
        assert pod_of(named(kind, name)).get('hostNetwork') is True, name


def test_eadm_has_the_commands_that_are_called():
    """In a container as well as on a node."""
    env = {**os.environ, 'EADM_SCENARIO': str(Path(TOP) / 'eadm/build/scenarios/pod.json')}
    products.build('unit-eadm')
    lines = [word for _, thing in objects() for part in ('containers', 'initContainers')
             for x in pod_of(thing).get(part, []) for word in x.get('command', [])]
    calls = [x.split() for line in lines for x in re.findall(r'\beadm ([a-z ]+)', line)]
    assert len(calls) == 4
    for words in calls:
        done = subprocess.run([Path(TOP) / 'eadm/build/eadm-fake', *words], env=env, check=False,
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and done.stdout, (words, done.stderr)


def test_pod_asks_for_what_the_plugin_offers():
    name = f'{plugin_args()["--domain"]}/{plugin_config()["name"]}'
    container = named('Pod', 'erdma-test')['spec']['containers'][0]
    assert set(container['resources']['limits']) == {name}


def test_selectors_of_daemon_sets_match_their_pods():
    for _, thing in objects():
        if thing['kind'] == 'DaemonSet':
            labels = thing['spec']['template']['metadata']['labels']
            assert thing['spec']['selector']['matchLabels'].items() <= labels.items()


def test_mounts_have_their_volumes():
    for _, thing in objects():
        spec = pod_of(thing)
        volumes = {x['name'] for x in spec.get('volumes', [])}
        for container in spec.get('containers', []) + spec.get('initContainers', []):
            assert {x['name'] for x in container.get('volumeMounts', [])} <= volumes


def test_exporter_gets_the_vendors_names():
    env = named('DaemonSet', 'erdma-exporter')['spec']['template']['spec']['containers'][0]['env']
    assert {'name': 'EADM_STYLE', 'value': 'vendor'} in env
