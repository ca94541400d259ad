import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { startTwoProviders } from '../support/two-providers.ts';
import { chatAnswer, chatChunk, json, sse, stream } from '../support/upstream.ts';

const messages = [{ role: 'user', content: 'hi' }];
const WINDOW_MS = 100;
const WINDOWS_MAX = 50;
/** A loop that never rests takes most of every window; what else a young process does is over at some time. */
const CPU_MS_MAX = WINDOW_MS / 4;

/** A stream that says something, and is then refused for its rate. */
const LIMITED = stream(
  sse([chatChunk({ role: 'assistant', content: 'Hello' }), { error: { code: 429, message: 'RESOURCE_EXHAUSTED' } }]),
);

/** Whether the process is idle for one window at least. */
async function comesToRest(): Promise<boolean> {
  for (let window = 0; window < WINDOWS_MAX; window++) {
    const before = process.cpuUsage();
    await wait(WINDOW_MS);
    const { user, system } = process.cpuUsage(before);
    if ((user + system) / 1_000 < CPU_MS_MAX) return true;
  }
  return false;
}

suite('a limit in the middle of a stream without another candidate', () => {
  for (const path of ['/chat/completions', '/messages'])
    test(`leaves the processor idle, and the next request is served, ${path}`, async (t) => {
      const { gateway, first } = await startTwoProviders(t, { first: LIMITED });
      const ask = (more: object) => gateway.post(path, { model: 'acme/first', max_tokens: 50, messages, ...more });
      const broken = await (await ask({ stream: true })).text();
      assert.match(broken, /Hello[\s\S]*error/);
      assert.ok(await comesToRest(), 'it never rests');
      first.script = json(200, chatAnswer('well'));
      const next = await ask({ model: 'acme/both' });
      assert.equal(next.status, 200);
    });
});
