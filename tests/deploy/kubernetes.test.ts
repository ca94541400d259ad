import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { suite, test } from 'node:test';
import * as z from 'zod';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { StatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { Service } from 'kubernetes-models/v1/Service';
import { loadConfig } from '../../src/config/load-config.ts';
import { ROOT } from '../support/cli/spawn-cli.ts';
import { parseManifests, renderChart, renderChartText } from '../support/docs/helm-template.ts';

const CHART = path.join(ROOT, 'deploy/helm/model-gateway');
const RELEASE = { name: 'gateway', namespace: 'ai' };
const CHECKS: Readonly<Record<string, (manifest: object) => void>> = {
  ConfigMap: (manifest) => new ConfigMap(manifest).validate(),
  Deployment: (manifest) => new Deployment(manifest).validate(),
  Ingress: (manifest) => new Ingress(manifest).validate(),
  NetworkPolicy: (manifest) => new NetworkPolicy(manifest).validate(),
  PodDisruptionBudget: (manifest) => new PodDisruptionBudget(manifest).validate(),
  Service: (manifest) => new Service(manifest).validate(),
  StatefulSet: (manifest) => new StatefulSet(manifest).validate(),
};

type Manifest = Readonly<Record<string, unknown>>;

const POSTGRES = {
  database: { urlSecret: { name: 'gateway-database' } },
  redis: { urlSecret: { name: 'gateway-redis' } },
};
const SCALED = {
  ...POSTGRES,
  replicas: 3,
  persistence: { enabled: false },
  envFromSecrets: ['gateway-secrets'],
};
const FORMS: Readonly<Record<string, object>> = {
  'one gateway with its database on a volume': { envFromSecrets: ['gateway-secrets'] },
  'three gateways without volumes': SCALED,
  'three gateways with journals on volumes': {
    ...SCALED,
    persistence: { enabled: true, storageClass: 'fast', size: '5Gi' },
  },
  everything: {
    ...SCALED,
    config: {
      server: { drain_seconds: 20 },
      models: { 'acme/one': { endpoints: [{ provider: 'openai', model: 'x' }] } },
    },
    image: { digest: `sha256:${'0'.repeat(64)}` },
    imagePullSecrets: [{ name: 'registry' }],
    env: [{ name: 'GATEWAY_LOG_LEVEL', value: 'warn' }],
    ingress: { enabled: true, className: 'nginx', host: 'gateway.example', tlsSecret: 'tls', annotations: { a: 'b' } },
    serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
    serviceAccount: { name: 'gateway' },
    podAnnotations: { team: 'search' },
    nodeSelector: { disk: 'ssd' },
    tolerations: [{ key: 'dedicated', operator: 'Exists' }],
    affinity: { nodeAffinity: {} },
    service: { annotations: { a: 'b' } },
    networkPolicy: { from: [{ namespaceSelector: { matchLabels: { team: 'apps' } } }], to: [] },
  },
};

const labels = z.record(z.string(), z.string());
const selector = z.looseObject({ matchLabels: labels });
const container = z.looseObject({
  securityContext: z.record(z.string(), z.unknown()),
  volumeMounts: z.array(z.looseObject({ mountPath: z.string(), readOnly: z.boolean().optional() })),
  lifecycle: z.looseObject({ preStop: z.object({ exec: z.object({ command: z.array(z.string()) }) }) }),
});
const WORKLOAD = z.looseObject({
  kind: z.enum(['StatefulSet', 'Deployment']),
  spec: z.looseObject({
    template: z.looseObject({
      metadata: z.object({ labels, annotations: labels }),
      spec: z.looseObject({
        automountServiceAccountToken: z.boolean(),
        terminationGracePeriodSeconds: z.number(),
        securityContext: z.looseObject({ runAsNonRoot: z.boolean() }),
        containers: z.tuple([container]),
        volumes: z.array(z.looseObject({ name: z.string() })),
      }),
    }),
  }),
});
const CONFIG_MAP = z.looseObject({ data: z.object({ 'gateway.yaml': z.string() }) });
const SELECTING = z.looseObject({
  spec: z
    .looseObject({ podSelector: selector.optional(), selector: z.union([selector, labels]).optional() })
    .optional(),
});
const POLICY = z.looseObject({
  spec: z.looseObject({
    egress: z.array(
      z.looseObject({
        to: z.array(z.looseObject({ ipBlock: z.object({ cidr: z.string(), except: z.array(z.string()) }).optional() })),
      }),
    ),
  }),
});
const INGRESS = z.looseObject({
  spec: z.looseObject({
    rules: z.tuple([z.looseObject({ http: z.object({ paths: z.array(z.looseObject({ path: z.string() })) }) })]),
  }),
});

function find<Shape>(manifests: readonly Manifest[], kinds: readonly string[], shape: z.ZodType<Shape>): Shape {
  const found = manifests.find(({ kind }) => kinds.some((one) => one === kind));
  assert.ok(found !== undefined, `there is a ${kinds.join(' or ')}`);
  return shape.parse(found);
}

const workloadOf = (values: object) =>
  find(renderChart(CHART, RELEASE, values), ['StatefulSet', 'Deployment'], WORKLOAD);

function configOf(manifests: readonly Manifest[]) {
  const { data } = find(manifests, ['ConfigMap'], CONFIG_MAP);
  return loadConfig({ argv: ['--config', 'gateway.yaml'], env: {}, readFile: () => data['gateway.yaml'] });
}

/** The labels by which it selects pods, where it selects any. */
function selectorOf(manifest: Manifest): Readonly<Record<string, unknown>> {
  const { spec } = SELECTING.parse(manifest);
  const found = spec?.podSelector ?? spec?.selector ?? {};
  const { matchLabels } = found;
  return typeof matchLabels === 'object' ? matchLabels : found;
}

/** Against the JSON schemas of Kubernetes; kinds of operators have none here. */
function validate(manifest: Manifest): void {
  const kind = String(manifest['kind']);
  if (kind === 'ServiceMonitor') return;
  const check = Object.entries(CHECKS).find(([name]) => name === kind)?.[1];
  assert.ok(check !== undefined, `${kind} is checked`);
  check(manifest);
}

for (const [form, values] of Object.entries(FORMS))
  suite(`the chart for ${form}`, () => {
    const manifests = renderChart(CHART, RELEASE, values);
    const workload = workloadOf(values);
    const pod = workload.spec.template;
    const [gateway] = pod.spec.containers;

    test('follows the schemas of Kubernetes', () => {
      for (const manifest of manifests) validate(manifest);
    });

    test('selects its own pods, by labels that they have', () => {
      const selecting = manifests.filter((one) => Object.keys(selectorOf(one)).length > 0);
      assert.ok(selecting.length >= 3);
      for (const manifest of selecting)
        for (const [name, value] of Object.entries(selectorOf(manifest)))
          assert.equal(pod.metadata.labels[name], value, String(manifest['kind']));
    });

    test('runs as an ordinary user on a read-only root, without a token of the cluster', () => {
      assert.deepEqual([pod.spec.securityContext.runAsNonRoot, pod.spec.automountServiceAccountToken], [true, false]);
      assert.deepEqual(gateway.securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      const writable = gateway.volumeMounts.filter(({ readOnly }) => readOnly !== true);
      assert.deepEqual(
        writable.map(({ mountPath }) => mountPath),
        ['/data', '/tmp'],
      );
    });

    test('has time to drain before it is killed', () => {
      const { server } = configOf(manifests);
      const delay = Number(gateway.lifecycle.preStop.exec.command[1]);
      assert.ok(pod.spec.terminationGracePeriodSeconds > server.drainMs / 1_000 + delay + 2);
    });

    test('waits for the database with each response exactly where its journal would be lost with the pod', () => {
      const isLost = pod.spec.volumes.some(({ name }) => name === 'data');
      assert.equal(workload.kind, isLost ? 'Deployment' : 'StatefulSet');
      assert.equal(configOf(manifests).journal.durability, isLost ? 'database' : undefined);
    });
  });

suite('the chart', () => {
  test('is checked by schemas that refuse what is wrong', () => {
    const wrong = renderChartText(CHART, RELEASE).replace('replicas: 1', 'replicas: many');
    assert.throws(() => {
      for (const manifest of parseManifests(wrong)) validate(manifest);
    }, /replicas/);
  });

  test('refuses what would lose records or share what cannot be shared', () => {
    assert.throws(() => renderChart(CHART, RELEASE, { persistence: { enabled: false } }), /records would be lost/);
    assert.throws(() => renderChart(CHART, RELEASE, { replicas: 2 }), /belongs to one gateway/);
  });

  test('keeps one pod at work while nodes are emptied, where there are several', () => {
    const kinds = (values: object): readonly unknown[] => renderChart(CHART, RELEASE, values).map(({ kind }) => kind);
    assert.ok(!kinds({}).includes('PodDisruptionBudget'));
    assert.ok(kinds(SCALED).includes('PodDisruptionBudget'));
  });

  test('lets no pod reach the metadata of its machine', () => {
    const { spec } = find(renderChart(CHART, RELEASE), ['NetworkPolicy'], POLICY);
    const blocks = spec.egress.flatMap(({ to }) => to.flatMap(({ ipBlock }) => ipBlock ?? []));
    assert.deepEqual(blocks, [{ cidr: '0.0.0.0/0', except: ['169.254.0.0/16'] }]);
  });

  test('shows neither /metrics nor /health outside of the cluster', () => {
    const { spec } = find(renderChart(CHART, RELEASE, FORMS['everything']), ['Ingress'], INGRESS);
    assert.deepEqual(
      spec.rules[0].http.paths.map(({ path: one }) => one),
      ['/v1', '/ui'],
    );
  });

  test('restarts pods when their configuration changes', () => {
    const checksum = (values: object) => workloadOf(values).spec.template.metadata.annotations['checksum/config'];
    assert.notEqual(checksum({}), checksum({ config: { rescue: { enabled: true } } }));
  });

  test('has the version of the package', () => {
    const { version }: { version: string } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
    const chart = readFileSync(path.join(CHART, 'Chart.yaml'), 'utf8');
    for (const key of ['version', 'appVersion']) assert.match(chart, new RegExp(`^${key}: ${version}$`, 'm'));
  });
});

/** What the chart renders for those without Helm. */
const PLAIN: Readonly<Record<string, object>> = {
  'single.yaml': { envFromSecrets: ['gateway-secrets'] },
  'scaled.yaml': SCALED,
};

suite('the plain manifests', () => {
  for (const [name, values] of Object.entries(PLAIN))
    test(`are what the chart renders: ${name}`, () => {
      const file = path.join(ROOT, 'deploy/kubernetes', name);
      const text = `# From deploy/helm, by \`npm run generate\`: docs/deploy.md, "Kubernetes".\n${renderChartText(CHART, RELEASE, values)}\n`;
      if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, text);
      assert.equal(readFileSync(file, 'utf8'), text, `deploy/kubernetes/${name} is out of date: npm run generate`);
      for (const manifest of parseManifests(text)) validate(manifest);
    });
});
