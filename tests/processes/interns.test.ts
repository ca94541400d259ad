import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { makeFolder, startGateway } from '../support/cli/spawn-cli.ts';
import { API_KEY, MANAGEMENT_KEY } from '../support/gateway.ts';
import { startMcpHttpServer } from '../support/mcp/http-server.ts';
import { ENGINES, POSTGRES_ENGINES, type TestEngine } from '../support/store/engines.ts';

/** Longer than the lease of a process that is gone. */
const UNTIL_MS = 240_000;

type Gateway = Awaited<ReturnType<typeof startGateway>>;

const inputsSchema = z.object({
  data: z.array(z.looseObject({ id: z.string(), run_id: z.string(), kind: z.string(), state: z.string() })),
});
const dataSchema = z.object({ data: z.looseObject({ id: z.string(), status: z.string().optional() }) });

async function call(gateway: Gateway, method: string, path: string, body?: object) {
  const response = await fetch(`${gateway.url}/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${API_KEY}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, runId: response.headers.get('x-run-id') ?? '', text: await response.text() };
}

async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const end = performance.now() + UNTIL_MS;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`in vain until ${what}`);
    await sleep(50);
  }
}

/** Gateways on one database, and a server of tools that notes its calls. */
async function prepare(t: TestContext, { makePlace, isPostgres }: TestEngine) {
  const place = await makePlace();
  t.after(() => place.remove());
  const mcp = await startMcpHttpServer();
  t.after(() => mcp.close());
  const dataDir = makeFolder(t);
  const config = join(makeFolder(t), 'gateway.yaml');
  writeFileSync(config, `interns: { enabled: true }\nmcp_servers: { test: { url: '${mcp.url}' } }\n`);
  const start = () =>
    startGateway(t, {
      args: ['--config', config],
      dataDir: isPostgres ? makeFolder(t) : dataDir,
      env: {
        GATEWAY_API_KEY: API_KEY,
        GATEWAY_MANAGEMENT_KEY: MANAGEMENT_KEY,
        GATEWAY_SECRET: 'a secret of at least thirty-two characters',
        ...(isPostgres && { DATABASE_URL: place.url ?? '' }),
      },
    });
  return { start, notes: mcp.notes };
}

async function createIntern(gateway: Gateway, tool: string): Promise<string> {
  const tools = [{ type: 'service:mcp', parameters: { server: 'test', allowed_tools: [tool] } }];
  const body = { name: `with ${tool}`, model: 'sandbox/tools', tools, provision: true };
  const { status, text } = await call(gateway, 'POST', '/interns', body);
  const { data } = dataSchema.parse(JSON.parse(text));
  assert.deepEqual([status, data.status], [201, 'running'], text);
  return data.id;
}

async function askedOf(gateway: Gateway, intern: string) {
  const { text } = await call(gateway, 'GET', `/interns/${intern}/inputs`);
  return inputsSchema.parse(JSON.parse(text)).data[0];
}

/** Sends a message, and finds the call that waits for an approval. */
async function ask(gateway: Gateway, intern: string) {
  const messages = [{ role: 'user', content: 'do it' }];
  const { runId } = await call(gateway, 'POST', `/interns/${intern}/chat/completions`, { stream: true, messages });
  const input = await askedOf(gateway, intern);
  assert.equal(input?.kind, 'permission');
  return { run: `/interns/${intern}/runs/${runId}`, answer: `/interns/${intern}/inputs/${input.id}/answer` };
}

/** What a killed gateway left of a call that never ended: a question, and no second call. */
async function checkUnknown(gateway: Gateway, intern: string, run: string): Promise<void> {
  await until(async () => (await askedOf(gateway, intern))?.kind === 'question', 'a question waits');
  const question = await askedOf(gateway, intern);
  const path = `/interns/${intern}/inputs/${question?.id}/answer`;
  const known = { decision: 'deny', text: 'I looked: it did run.' };
  assert.equal((await call(gateway, 'POST', path, known)).status, 200);
  const events = await call(gateway, 'GET', `${run}/events`);
  assert.match(events.text, /"state":"unknown"[^\n]*not known whether this ran/);
  assert.match(events.text, /event: end\n[^\n]*"state":"done"/);
}

// On PostgreSQL another gateway may live, and the job waits for its lease: see below.
for (const engine of ENGINES.filter(({ isPostgres }) => !isPostgres))
  suite(`a gateway that is killed while it runs interns: ${engine.name}`, () => {
    // @spec intern-11, intern-13
    test('keeps what waits, and asks about a call that was under way, which is not made again', async (t) => {
      const { start, notes } = await prepare(t, engine);
      const first = await start();
      const intern = await createIntern(first, 'wait');
      const { run, answer } = await ask(first, intern);
      first.child.kill('SIGKILL');
      await first.exited;

      const second = await start();
      assert.equal((await askedOf(second, intern))?.state, 'pending');
      assert.equal(notes.length, 0);
      assert.equal((await call(second, 'POST', answer, { decision: 'allow_once' })).status, 200);
      await until(() => notes.includes('wait'), 'the tool is called');
      second.child.kill('SIGKILL');
      await second.exited;

      const third = await start();
      assert.equal((await call(third, 'POST', answer, { decision: 'allow_once' })).status, 409);
      await checkUnknown(third, intern, run);
      assert.equal(notes.filter((note) => note === 'wait').length, 1);
    });
  });

for (const engine of POSTGRES_ENGINES)
  suite('interns of two gateways on one database', () => {
    // @spec intern-13, intern-18
    test('makes a call once for decisions at both of them at the same moment', async (t) => {
      const { start, notes } = await prepare(t, engine);
      const gateways = await Promise.all([start(), start()]);
      const [one, other] = gateways;
      const intern = await createIntern(one, 'add');
      const { run, answer } = await ask(other, intern);
      const answers = await Promise.all(
        [...gateways, ...gateways, ...gateways].map((gateway) =>
          call(gateway, 'POST', answer, { decision: 'allow_once' }),
        ),
      );
      assert.deepEqual(
        answers.map(({ status }) => status).toSorted((left, right) => left - right),
        [200, 409, 409, 409, 409, 409],
      );
      for (const gateway of gateways)
        assert.match((await call(gateway, 'GET', `${run}/events`)).text, /event: end\n[^\n]*"state":"done"/);
      assert.deepEqual(notes, ['add']);
    });

    // @spec intern-11, intern-18
    test('goes on at the other one when one is killed in the middle of a call', async (t) => {
      const { start, notes } = await prepare(t, engine);
      const [one, other] = await Promise.all([start(), start()]);
      const intern = await createIntern(one, 'wait');
      const { run, answer } = await ask(one, intern);
      // So that the job is that of the one which is killed.
      other.child.kill('SIGSTOP');
      assert.equal((await call(one, 'POST', answer, { decision: 'allow_once' })).status, 200);
      await until(() => notes.includes('wait'), 'the tool is called');
      one.child.kill('SIGKILL');
      await one.exited;
      other.child.kill('SIGCONT');
      await checkUnknown(other, intern, run);
      assert.equal(notes.filter((note) => note === 'wait').length, 1);
    });
  });
