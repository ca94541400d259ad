import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder, runCli } from '../support/cli/spawn-cli.ts';
import { startWithWorkers } from '../support/cli/workers.ts';
import { MANAGEMENT_KEY } from '../support/gateway.ts';
import { chatAnswer, json, startUpstream } from '../support/upstream.ts';

const ANSWER_USD = 0.001;
const USAGE = { prompt_tokens: 0, completion_tokens: 100, total_tokens: 100 };
const REQUEST = { model: 'acme/one', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] };
const ANSWERS = 300;
const CALLERS = 20;
const KILLED_AFTER = 60;

test('spends a limit to its end and not beyond when a worker is killed meanwhile', async (t) => {
  const upstream = await startUpstream(json(200, chatAnswer('ok', { usage: USAGE })));
  t.after(() => upstream.close());
  const dataDir = makeFolder(t);
  const config = join(dataDir, 'gateway.yaml');
  writeFileSync(
    config,
    `
providers: { alpha: { adapter: openai-compatible, base_url: "${upstream.baseUrl}", api_key: a } }
models: { acme/one: { endpoints: [{ provider: alpha, model: one, price: { prompt: 0, completion: 10 } }] } }
`,
  );
  const gateway = await startWithWorkers(t, ['--config', config], { dataDir });
  const manager = gateway.connect();
  t.after(() => manager.close());
  const made = await manager.call('POST', '/v1/keys', { name: 'limited', limit: ANSWERS * ANSWER_USD }, MANAGEMENT_KEY);
  const { key, data } = JSON.parse(made.text) as { key: string; data: { hash: string } };
  const pids = gateway.pids();
  let served = 0;
  let broken = 0;
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      let connection = gateway.connect();
      for (let status = 0; status !== 402;) {
        const answer = await connection.call('POST', '/v1/chat/completions', REQUEST, key).catch(() => undefined);
        if (answer === undefined) {
          broken++;
          connection.close();
          connection = gateway.connect();
          continue;
        }
        // 503: what was spent is being read again.
        ({ status } = answer);
        assert.ok([200, 402, 503].includes(status), answer.text);
        if (status === 200 && ++served === KILLED_AFTER) process.kill(pids[0] ?? 0, 'SIGKILL');
      }
      connection.close();
    }),
  );
  const caller = gateway.connect();
  t.after(() => caller.close());
  const spent = async (): Promise<number> => {
    const { text } = await caller.call('GET', `/v1/keys/${data.hash}`, undefined, MANAGEMENT_KEY);
    return Math.round((JSON.parse(text) as { data: { usage: number } }).data.usage / ANSWER_USD);
  };
  // What the killed worker had reserved may have been free only after the last refusal.
  for (let charged = await spent(); charged < ANSWERS; charged++)
    assert.equal((await caller.call('POST', '/v1/chat/completions', REQUEST, key)).status, 200);
  assert.equal((await caller.call('POST', '/v1/chat/completions', REQUEST, key)).status, 402);
  assert.equal(await spent(), ANSWERS);
  assert.ok(broken > 0 && served <= ANSWERS, `${served} served, ${broken} broken off`);
  gateway.child.kill('SIGTERM');
  assert.equal((await gateway.exited).code, 0);
  const verified = await runCli(t, ['credits', 'verify', '--config', config, '--data-dir', dataDir]);
  assert.equal(verified.code, 0, verified.stdout + verified.stderr);
});
