import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { startTwoProviders } from '../support/two-providers.ts';
import { chatAnswer, chatChunk, json, sse, stream } from '../support/upstream.ts';

const messages = [{ role: 'user', content: 'hi' }];
const REST_MS = 400;
/** A loop that never rests takes the whole of a core: more than this even where four share it. */
const CPU_MS_MAX = 100;

/** A stream that says something, and is then refused for its rate. */
const LIMITED = stream(
  sse([chatChunk({ role: 'assistant', content: 'Hello' }), { error: { code: 429, message: 'RESOURCE_EXHAUSTED' } }]),
);

suite('a limit in the middle of a stream that nobody else may continue', () => {
  for (const path of ['/chat/completions', '/messages'])
    test(`leaves the processor alone, and the next request is served, ${path}`, async (t) => {
      const { gateway, first } = await startTwoProviders(t, { first: LIMITED });
      const ask = (more: object) => gateway.post(path, { model: 'acme/first', max_tokens: 50, messages, ...more });
      const broken = await (await ask({ stream: true })).text();
      assert.match(broken, /Hello[\s\S]*error/);
      const before = process.cpuUsage();
      await wait(REST_MS);
      const { user, system } = process.cpuUsage(before);
      assert.ok((user + system) / 1_000 < CPU_MS_MAX, `${(user + system) / 1_000} ms of the processor`);
      first.script = json(200, chatAnswer('well'));
      const next = await ask({ model: 'acme/both' });
      assert.equal(next.status, 200);
    });
});
