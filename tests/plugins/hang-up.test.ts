import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { makePdf } from '../support/files/make-pdf.ts';
import { startToolTurns } from '../support/tool-turns.ts';
import { startUpstream, type Script } from '../support/upstream.ts';
import { grant, spent, startWeb, type WebOptions, type WebSetup } from '../support/web.ts';

/** Far more than the promise; the tests do not measure how long it took. */
const PATIENCE_MS = 5_000;

const FILE = {
  type: 'file',
  file: {
    filename: 'a.pdf',
    file_data: `data:application/pdf;base64,${makePdf([{ lines: ['x'] }]).toString('base64')}`,
  },
};
const MESSAGES = { role: 'user', content: [{ type: 'text', text: 'What is new?' }] };

interface Silence {
  readonly script: Script;
  readonly begun: Promise<void>;
  readonly gone: Promise<void>;
}

/** Sends nothing, and reports when it is called and when the caller has gone. */
function silence(): Silence {
  const begun = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  const script: Script = (_arrived, response) => {
    response.on('close', () => gone.resolve());
    begun.resolve();
  };
  return { script, begun: begun.promise, gone: gone.promise };
}

async function within(promise: Promise<void>): Promise<void> {
  const late = wait(PATIENCE_MS, undefined, { ref: false }).then(() => assert.fail('it goes on'));
  await Promise.race([promise, late]);
}

/** Sends a request, hangs up once a service was called for it, and checks that the call was aborted and no model called. */
async function hangUp(setup: WebSetup, path: string, request: object, { begun, gone }: Silence): Promise<void> {
  const caller = new AbortController();
  const requested = setup.gateway.post(path, request, {}, caller.signal).then((answer) => answer.text());
  await within(begun);
  caller.abort();
  await assert.rejects(requested);
  await within(gone);
  assert.deepEqual([setup.chat.arrived.length, setup.messages.arrived.length], [0, 0]);
}

const WAYS = [
  { path: '/chat/completions', model: 'acme/blind', stream: true },
  { path: '/chat/completions', model: 'acme/blind', stream: false },
  { path: '/messages', model: 'acme/deaf', stream: true, max_tokens: 10 },
] as const;

async function start(t: TestContext, options: WebOptions): Promise<WebSetup> {
  const setup = await startWeb(t, { ...options, yaml: 'credits: { enforce: true }' });
  await grant(setup, 10);
  return setup;
}

suite('a caller that hangs up', () => {
  for (const { path, ...way } of WAYS) {
    const how = `${path}, ${way.stream ? 'stream' : 'whole'}`;

    test(`ends a search free of charge: ${how}`, async (t) => {
      const engine = silence();
      const setup = await start(t, { engine: engine.script });
      await hangUp(setup, path, { ...way, messages: [MESSAGES], plugins: [{ id: 'web' }] }, engine);
      assert.equal(await spent(setup), 0);
    });
  }

  test('ends the OCR of a file', async (t) => {
    const engine = silence();
    const setup = await start(t, { engine: engine.script });
    const { path, ...way } = WAYS[0];
    await hangUp(setup, path, { ...way, messages: [{ role: 'user', content: [FILE] }] }, engine);
    assert.equal(await spent(setup), 0);
  });

  test('ends the fetching of a file', async (t) => {
    const { script, ...files } = silence();
    const server = createServer((request, response) => {
      void script({ path: request.url ?? '', headers: {}, body: {}, text: '' }, response, request);
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    t.after(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.pdf`;
    const setup = await start(t, { downloads: { protocols: ['http:'], isAllowed: () => true } });
    const { path, ...way } = WAYS[0];
    const plugins = [{ id: 'file-parser', pdf: { engine: 'cloudflare-ai' } }];
    const messages = [{ role: 'user', content: [{ type: 'file', file: { filename: 'a.pdf', file_data: url } }] }];
    await hangUp(setup, path, { ...way, messages, plugins }, { script, ...files });
  });

  test('ends a search of a model', async (t) => {
    const { script, begun, gone } = silence();
    const engine = await startUpstream(script);
    t.after(() => engine.close());
    const calls = [{ name: 'service_web_search', input: '{"query":"news"}' }];
    const { gateway, chat } = await startToolTurns(t, () => ({ calls }), {
      yaml: `search: { exa: { api_key: k, base_url: "${engine.baseUrl}" } }`,
    });
    const caller = new AbortController();
    const request = { model: 'acme/chat', messages: [MESSAGES], tools: [{ type: 'service:web_search' }] };
    const requested = gateway.post('/chat/completions', request, {}, caller.signal).then((answer) => answer.text());
    await within(begun);
    caller.abort();
    await assert.rejects(requested);
    await within(gone);
    assert.equal(chat.arrived.length, 1, 'there is no further turn');
  });
});
