import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Writes the packages that were loaded, one a line, when the process ends. */
const RECORD = `
  import { registerHooks } from 'node:module';
  const seen = new Set();
  registerHooks({
    resolve(specifier, context, next) {
      if (!/^(?:[./]|node:|file:|data:)/.test(specifier)) seen.add(specifier);
      return next(specifier, context);
    },
  });
  process.on('exit', () => console.log([...seen].join('\\n')));
`;

/** Sets up a provider of each cloud, as the start does; the last step is what a first call does. */
const START = `
  import { createProviders } from './src/providers/index.ts';
  const entry = (slug, options) => ({ slug, adapter: slug, options, headers: {}, timeouts: {} });
  const providers = createProviders({
    config: [
      entry('bedrock', { region: 'us-east-1', access_key_id: 'i', secret_access_key: 's' }),
      entry('google-vertex', { project: 'p' }),
      entry('azure', { resource: 'r', entra: true }),
    ],
    env: {},
    timeouts: { connectMs: 1, headersMs: 1, firstTokenMs: 1, idleMs: 1, wholeMs: 1 },
  });
`;
const CALL = `
  const { settings, authorize } = providers.get('bedrock');
  const call = { format: 'converse', settings, model: 'm', stream: false, method: 'POST', headers: {}, body: '{}' };
  await authorize({ ...call, url: 'http://127.0.0.1:1/model/m/converse' });
`;

function packagesOf(code: string): readonly string[] {
  const args = [
    '--import',
    `data:text/javascript,${encodeURIComponent(RECORD)}`,
    '--input-type=module',
    '--eval',
    code,
  ];
  const run = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
  assert.equal(run.status, 0, run.stderr);
  return run.stdout.trim().split('\n');
}

const CREDENTIALS = /^(?:@aws-sdk|@smithy|@azure|google-auth-library)/;

test('loads no library that finds credentials at start, whatever the configuration', () => {
  const loaded = packagesOf(START);
  assert.ok(loaded.includes('zod'), 'the record works');
  assert.deepEqual(
    loaded.filter((name) => CREDENTIALS.test(name)),
    [],
  );
});

test('loads only the needed libraries with the first call', () => {
  const loaded = packagesOf(START + CALL).filter((name) => CREDENTIALS.test(name));
  assert.ok(loaded.includes('@smithy/signature-v4'));
  assert.ok(
    !loaded.some((name) => name.startsWith('@azure') || name.startsWith('google') || name.startsWith('@aws-sdk')),
  );
});

test('loads the parser of patterns with the first stored pattern, not with the routes', () => {
  const parser = '@eslint-community/regexpp';
  const routes = `import './src/http/routes.ts';`;
  assert.ok(!packagesOf(routes).includes(parser));
  const read = `import { checkPatterns } from './src/resources/content-filters.ts';`;
  const first = `await checkPatterns([{ pattern: 'a', action: 'flag' }]);`;
  assert.ok(packagesOf(`${routes}${read}${first}`).includes(parser));
});

const STATE = `
  import { createMemoryState } from './src/state/memory/state.ts';
  import { openSharedState } from './src/app/shared-state.ts';
  const state = createMemoryState({ clock: { nowMs: () => 0, monotonicMs: () => 0 }, textBytesMax: 0 });
`;
const TAKE = "await state.rateLimitState.acquire({ rates: [{ subject: 's', limit: 1, periodMs: 1000, take: 1 }] });";

test('loads no Redis client for state in memory, and rate counters with the first limit', () => {
  const isOf = (name: string): boolean => name === 'ioredis' || name === 'rate-limiter-flexible';
  assert.deepEqual(packagesOf(STATE).filter(isOf), []);
  assert.deepEqual(packagesOf(STATE + TAKE).filter(isOf), ['rate-limiter-flexible']);
});

test('loads no PostgreSQL client for the embedded database', () => {
  const loaded = packagesOf(`import './src/store/engine/database.ts'`);
  assert.ok(loaded.includes('kysely'), 'the record works');
  assert.ok(!loaded.includes('pg'));
});

test('loads no schemas in the thread of the embedded database', () => {
  const loaded = packagesOf(
    `import './src/store/journal/decode-batch.ts'; import './src/store/engine/sqlite/apply-batch.ts';`,
  );
  assert.deepEqual(loaded, ['']);
});

const SERVER = `
  import { createHttpServer } from './src/http/server.ts';
  const fail = () => { throw new Error('nothing comes'); };
  const mount = (fastify) => void fastify.get('/one', (request, reply) => reply.send('one'));
  const rules = { host: '127.0.0.1', port: 0, generation: {}, connectionsMax: 1, mount };
  const unread = { complete: () => undefined };
  const server = createHttpServer({ ...rules, unread, serializeError: fail, onBug: fail });
  const { port } = await server.listen();
`;
const REQUEST = `await fetch('http://127.0.0.1:' + port + '/one', { headers: { connection: 'close' } });`;
const CLOSE = `await server.close({ farewellMs: 0, drainMs: 1000 });`;

test('loads Fastify with the first request that is no generation, and no compiler of schemas', () => {
  assert.ok(!packagesOf(SERVER + CLOSE).includes('fastify'));
  // The latter is of the routes that take files.
  assert.ok(!packagesOf(`import './src/app.ts'`).some((name) => /^(?:fastify|@fastify\/busboy)$/.test(name)));
  const loaded = packagesOf(SERVER + REQUEST + CLOSE);
  assert.ok(loaded.includes('fastify'), 'the record works');
  assert.ok(!loaded.some((name) => /ajv|fast-json-stringify-compiler/.test(name)));
});

const MCP = `
  import { createMcpServers } from './src/mcp/servers.ts';
  const rules = { name: 'tests', callMsMax: 1000, transport: 'stdio', command: '/no/such/command', args: [], env: {} };
  const mcp = createMcpServers({ servers: [rules], env: {}, monotonicMs: () => 0, log: () => undefined });
`;
const ASK = `await mcp.check('tests').catch(() => undefined);`;

test('loads the MCP client with the first call of a server', () => {
  const client = '@modelcontextprotocol/client';
  assert.ok(!packagesOf(`import './src/tools/index.ts';${MCP}`).includes(client));
  assert.ok(packagesOf(MCP + ASK).includes(client));
});
