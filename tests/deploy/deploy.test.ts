import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { parse } from 'yaml';
import * as z from 'zod';
import { loadConfig, type LoadConfigOptions } from '../../src/config/load-config.ts';
import { ADAPTER_IDS, ADAPTER_OPTIONS, KNOWN_PROVIDER_IDS } from '../../src/providers/index.ts';
import { ROOT } from '../support/cli/spawn-cli.ts';

// No image is built here: what the files of deploy/ say is compared with what the gateway knows.

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const compose = z
  .object({
    services: z.record(
      z.string(),
      z.looseObject({
        image: z.string(),
        environment: z.record(z.string(), z.string()).optional(),
        ports: z.array(z.string()).optional(),
        volumes: z.array(z.string()).optional(),
        tmpfs: z.array(z.string()).optional(),
        depends_on: z
          .union([z.array(z.string()), z.record(z.string(), z.object({ condition: z.string() }))])
          .optional(),
        healthcheck: z.looseObject({ test: z.array(z.string()) }).optional(),
        stop_grace_period: z.string().optional(),
        build: z.object({ context: z.string(), dockerfile: z.string() }).optional(),
      }),
    ),
    volumes: z.record(z.string(), z.unknown()),
  })
  .loose()
  .parse(parse(read('deploy/compose.yaml'), { merge: true }));
const { services } = compose;
const gateways = Object.entries(services).filter(([, { image }]) => image === 'model-gateway');
const dockerfile = read('deploy/Dockerfile');
const balancer = read('deploy/haproxy.cfg');

/** `${NAME}`, `${NAME:-usual}` and `${NAME:?complaint}` as compose fills them in. */
function fillIn(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{([A-Z_]+)(?::([-?])([^}]*))?\}/g, (_all, name: string, kind?: string, rest = '') => {
    const value = values[name] ?? '';
    if (value !== '') return value;
    assert.notEqual(kind, '?', `${name} is missing`);
    return rest;
  });
}

/** Every variable that an operator must set, with a value. */
function exampleValues(): Readonly<Record<string, string>> {
  const lines = read('deploy/example.env').split('\n');
  const names = lines.flatMap((line) => /^([A-Z_]+)=/.exec(line)?.[1] ?? []);
  assert.ok(names.length > 0);
  return Object.fromEntries(names.map((name) => [name, `${name.toLowerCase()}-0123456789`]));
}

/** The names that the configuration looks for in the environment. */
function knownVariables(): ReadonlySet<string> {
  const requested = new Set<string>();
  const env = new Proxy<Record<string, string>>({}, { get: (_none, name) => void requested.add(String(name)) });
  load({ env });
  return requested;
}

function load(options: Pick<LoadConfigOptions, 'env' | 'readFile'>) {
  const nothing = (): never => {
    throw Object.assign(new Error('none'), { code: 'ENOENT' });
  };
  return loadConfig({
    argv: [],
    adapterIds: ADAPTER_IDS,
    adapterOptions: ADAPTER_OPTIONS,
    providerIds: KNOWN_PROVIDER_IDS,
    readFile: nothing,
    ...options,
  });
}

/** Variables that the Dockerfile sets. */
function imageVariables(): Readonly<Record<string, string>> {
  const [, block = ''] = /^ENV ((?:.*\\\n)*.*)$/m.exec(dockerfile) ?? [];
  return Object.fromEntries([...block.matchAll(/([A-Z_]+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]));
}

/** What a gateway of the compose file is started with. */
function gatewayEnvironment(): Readonly<Record<string, string>> {
  const values = exampleValues();
  const given = Object.entries(gateways[0]?.[1].environment ?? {});
  return { ...imageVariables(), ...Object.fromEntries(given.map(([name, text]) => [name, fillIn(text, values)])) };
}

const seconds = (text: string | undefined): number => Number(/^(\d+)s$/.exec(text ?? '')?.[1]);

/** Read by Node and by glibc. */
const NOT_OURS: ReadonlySet<string> = new Set(['NODE_ENV', 'MALLOC_ARENA_MAX']);

suite('the compose file', () => {
  test('runs three equal gateways, one balancer, one PostgreSQL and one Redis', () => {
    assert.equal(gateways.length, 3);
    const withoutVolumes = gateways.map(([, { volumes: _volumes, ...service }]) => service);
    for (const other of withoutVolumes) assert.deepEqual(other, withoutVolumes[0]);
    const beside = Object.keys(services).filter((name) => !gateways.some(([gateway]) => gateway === name));
    assert.deepEqual(beside.toSorted(), ['balancer', 'postgres', 'redis']);
  });

  test('sets no variable that the configuration does not know, or that the file of variables lacks', () => {
    const known = knownVariables();
    assert.ok(known.has('DATABASE_URL') && known.has('GATEWAY_SECRET'));
    const file = read('deploy/gateway.yaml');
    const unknown = Object.keys({ ...gatewayEnvironment() }).filter(
      (name) => !NOT_OURS.has(name) && !known.has(name) && !file.includes(`\${${name}}`),
    );
    assert.deepEqual(unknown, []);
  });

  test('contains a configuration that loads, and shares database, state and secret', () => {
    const requested: string[] = [];
    const config = load({
      env: gatewayEnvironment(),
      readFile(path) {
        requested.push(path);
        return read('deploy/gateway.yaml');
      },
    });
    assert.deepEqual(requested, ['/etc/gateway/gateway.yaml']);
    assert.equal(new URL(config.databaseUrl ?? '').hostname, 'postgres');
    assert.equal(new URL(config.redisUrl ?? '').hostname, 'redis');
    assert.ok(config.secret !== undefined && config.managementKey !== undefined);
    assert.equal(config.server.host, '0.0.0.0');
    const gateway = gateways[0]?.[1];
    assert.ok(gateway !== undefined);
    assert.ok(gateway.volumes?.includes(`./gateway.yaml:${requested[0]}:ro`));
    const dataVolumes = gateways.map(([, { volumes = [] }]) =>
      volumes.find((each) => each.endsWith(`:${config.dataDir}`)),
    );
    assert.equal(new Set(dataVolumes).size, 3, 'each journal has a volume of its own');
    for (const volume of dataVolumes) assert.ok((volume?.split(':')[0] ?? '') in compose.volumes);
    assert.ok(seconds(gateway.stop_grace_period) * 1_000 > config.server.drainMs + 5_000, 'draining is not cut off');
  });

  test("publishes only the balancer's port, by default only on this machine", () => {
    const open = Object.entries(services).filter(([, { ports }]) => ports !== undefined);
    assert.deepEqual(
      open.map(([name, { ports }]) => [name, ports?.map((port) => fillIn(port, {}))]),
      [['balancer', ['127.0.0.1:8787:8787']]],
    );
  });

  test('requires each secret and contains none', () => {
    for (const name of ['POSTGRES_PASSWORD', 'GATEWAY_SECRET', 'GATEWAY_MANAGEMENT_KEY']) {
      const values = { ...exampleValues(), [name]: '' };
      const all = Object.values(services).flatMap(({ environment = {} }) => Object.values(environment));
      assert.throws(() => all.map((text) => fillIn(text, values)), new RegExp(name));
    }
  });

  test('keeps PostgreSQL on a volume, and waits until it responds', () => {
    const { postgres } = services;
    const [volume = ''] = postgres?.volumes?.[0]?.split(':') ?? [];
    assert.ok(volume in compose.volumes);
    assert.match(postgres?.healthcheck?.test.join(' ') ?? '', /pg_isready/);
    const dependencies = gateways[0]?.[1].depends_on;
    assert.ok(dependencies !== undefined && !Array.isArray(dependencies));
    assert.equal(dependencies['postgres']?.condition, 'service_healthy');
  });
});

suite('the balancer', () => {
  test('lists every gateway at its port, in each of its backends', () => {
    const port = imageVariables()['GATEWAY_PORT'];
    const wanted = gateways.map(([name]) => `server ${name} ${name}:${port}`);
    const backends = balancer.split(/^backend /m).slice(1);
    assert.equal(backends.length, 2);
    for (const backend of backends) assert.deepEqual(backend.match(/server gateway-.*/g), wanted);
  });

  test("keeps the operator's metrics inside, however their path is spelled", () => {
    assert.match(balancer, /^ {2}mode http$/m);
    const frontend = /^frontend callers\n(?:(?: {2}.*)?\n)*/m.exec(balancer)?.[0] ?? '';
    assert.match(frontend, /http-request return status 404 .* if \{ path,url_dec -m beg -i \/metrics \}/);
  });

  test('has timeouts longer than the longest request', () => {
    const { timeouts } = load({ env: {} });
    for (const side of ['client', 'server']) {
      const minutes = Number(new RegExp(`^  timeout ${side} (\\d+)m$`, 'm').exec(balancer)?.[1]);
      assert.ok(minutes * 60_000 > timeouts.totalMs, side);
    }
  });

  test('notices that a gateway stops before its port closes', () => {
    const [, ready = ''] = balancer.split(/^backend ready$/m);
    const [, every, looks] = /inter (\d+)ms fall (\d+)/.exec(ready) ?? [];
    const [, farewellMs] = /^const FAREWELL_MS = ([\d_]+);$/m.exec(read('src/cli/serve.ts')) ?? [];
    assert.ok(Number(every) * Number(looks) < Number(farewellMs?.replace('_', '')));
  });
});

suite('the image', () => {
  test('uses the Node version that the project pins', () => {
    const { optionalDependencies: pinned } = JSON.parse(read('package.json')) as {
      optionalDependencies: Record<string, string>;
    };
    const versions = new Set(
      Object.entries(pinned).flatMap(([name, each]) => (name.startsWith('node-') ? [each] : [])),
    );
    assert.equal(versions.size, 1);
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
    assert.deepEqual([...new Set(bases)], ['${NODE_IMAGE}']);
    assert.match(dockerfile, new RegExp(`^ARG NODE_IMAGE=node:${[...versions].join('')}-bookworm-slim$`, 'm'));
  });

  test('copies existing files, and everything that a start needs', () => {
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, names = '']) =>
      names.split(' '),
    );
    assert.deepEqual(
      copied.filter((name) => !existsSync(join(ROOT, name))),
      [],
    );
    const allowed = read('.dockerignore').split('\n');
    for (const name of copied) assert.ok(allowed.includes(`!${name}`), `.dockerignore leaves ${name} out`);
    const [, entry = ''] = /^ENTRYPOINT \["node", .*"([^"]*)"\]$/m.exec(dockerfile) ?? [];
    assert.ok(copied.includes('src') && entry === 'dist/main.js', 'which scripts/package.ts writes from src/main.ts');
    assert.deepEqual(gateways[0]?.[1].build, { context: '..', dockerfile: 'deploy/Dockerfile' });
  });

  test('runs as an unprivileged user, keeps its data on a volume, and has a health check', () => {
    const afterLastStage = dockerfile.slice(dockerfile.lastIndexOf('FROM '));
    assert.match(afterLastStage, /^USER node$/m);
    assert.match(afterLastStage, new RegExp(`^VOLUME ${imageVariables()['GATEWAY_DATA_DIR']}$`, 'm'));
    assert.match(afterLastStage, /^HEALTHCHECK .*\\\n.*\/health\/ready/m);
    assert.match(afterLastStage, new RegExp(`^EXPOSE ${imageVariables()['GATEWAY_PORT']}$`, 'm'));
  });
});
