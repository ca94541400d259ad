import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { startGateway, type RunningGateway } from '../support/gateway.ts';
import { speakChat, speakMessages } from '../support/upstreams/scripted-formats.ts';
import { startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

type Body = Readonly<Record<string, unknown>>;
type Path = '/chat/completions' | '/messages';

interface Sized {
  readonly gateway: RunningGateway;
  readonly chat: ScriptedUpstream;
  readonly messages: ScriptedUpstream;
}

/** `acme/chat` and `acme/messages` read 16,000 tokens, `acme/small` 4,000, and `acme/tiny` 3,000. */
async function startSized(t: TestContext): Promise<Sized> {
  const chat = await startUpstream(speakChat('Yes.'));
  const messages = await startUpstream(speakMessages('Yes.'));
  const price = 'price: { prompt: 1, completion: 2 }';
  const gateway = await startGateway({
    yaml: `
providers:
  chatty: { adapter: openai-compatible, name: Chatty, base_url: "${chat.baseUrl}", api_key: secret-1 }
  wordy: { adapter: messages-compatible, name: Wordy, base_url: "${messages.baseUrl}", api_key: secret-2 }
models:
  acme/chat: { context_length: 16000, endpoints: [{ provider: chatty, model: one, ${price} }] }
  acme/messages: { context_length: 16000, endpoints: [{ provider: wordy, model: one, ${price} }] }
  acme/small: { context_length: 4000, endpoints: [{ provider: chatty, model: one, ${price} }] }
  acme/tiny: { context_length: 3000, endpoints: [{ provider: wordy, model: one, ${price} }] }
`,
  });
  t.after(async () => {
    await gateway.close();
    await chat.close();
    await messages.close();
  });
  return { gateway, chat, messages };
}

/** Exchanges of some 500 tokens each, with a call of a tool in every one as the format writes it. */
function conversation(path: Path, exchanges: number): readonly Body[] {
  const filler = 'word '.repeat(380);
  const turns: Body[] = [{ role: 'user', content: 'the first question' }];
  for (let index = 0; index < exchanges; index++) {
    const id = `call_${index}`;
    if (path === '/messages')
      turns.push(
        { role: 'assistant', content: [{ type: 'tool_use', id, name: 'look', input: { at: index } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: filler }] },
      );
    else
      turns.push(
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id, type: 'function', function: { name: 'look', arguments: `{"at":${index}}` } }],
        },
        { role: 'tool', tool_call_id: id, content: filler },
      );
    turns.push({ role: 'assistant', content: `answer ${index}` }, { role: 'user', content: `question ${index}` });
  }
  return turns;
}

function bodyFor(path: Path, model: string, exchanges: number, more: Body = {}): Body {
  const messages = conversation(path, exchanges);
  const tool =
    path === '/messages'
      ? { name: 'look', input_schema: { type: 'object' } }
      : { type: 'function', function: { name: 'look' } };
  return {
    model,
    max_tokens: 100,
    tools: [tool],
    ...(path === '/messages'
      ? { system: 'Be brief.', messages }
      : { messages: [{ role: 'system', content: 'Be brief.' }, ...messages] }),
    ...more,
  };
}

const PLUGIN = { plugins: [{ id: 'context-compression' }] };

interface Reported {
  readonly status: number;
  readonly stages: readonly {
    readonly type: string;
    readonly data: { readonly original_count: number; readonly compressed_count: number };
  }[];
  readonly error?: { readonly message: string; readonly metadata: { readonly error_type: string } };
}

async function ask({ gateway }: Sized, path: Path, body: Body): Promise<Reported> {
  const response = await gateway.post(path, body, { 'x-service-metadata': 'enabled' });
  const answer = (await response.json()) as {
    readonly error?: Reported['error'];
    readonly service_metadata?: { readonly pipeline?: Reported['stages'] };
  };
  const stages = answer.service_metadata?.pipeline?.filter(({ type }) => type === 'context_compression') ?? [];
  return { status: response.status, stages, ...(answer.error && { error: answer.error }) };
}

/** Every id of a call and of a result that went upstream, in either format. */
function idsOf(sent: Body): { readonly calls: readonly string[]; readonly results: readonly string[] } {
  const text = JSON.stringify(sent['messages']);
  const all = (pattern: RegExp): readonly string[] => [...text.matchAll(pattern)].map(([, id = '']) => id);
  return {
    calls: [...all(/"id":"(call_\d+)"/g)],
    results: [...all(/"tool_call_id":"(call_\d+)"/g), ...all(/"tool_use_id":"(call_\d+)"/g)],
  };
}

for (const path of ['/chat/completions', '/messages'] as const)
  for (const model of ['acme/chat', 'acme/messages'])
    // @spec plugin-21, plugin-27
    test(`removes the middle of a long conversation, calls with their results: ${path} to ${model}`, async (t) => {
      const sized = await startSized(t);
      const { status, stages } = await ask(sized, path, bodyFor(path, model, 60, PLUGIN));
      assert.equal(status, 200);
      const upstream = model === 'acme/chat' ? sized.chat : sized.messages;
      const sent = upstream.arrived[0]?.body ?? {};
      const text = JSON.stringify(sent);
      assert.ok(text.length / 4 < 16_000, 'it fits');
      for (const kept of ['Be brief.', 'the first question', 'question 59']) assert.ok(text.includes(kept), kept);
      assert.ok(text.includes('answer 0') && !text.includes('answer 30'), 'the middle is what is missing');
      const { calls, results } = idsOf(sent);
      assert.ok(calls.length > 5 && calls.length < 60);
      assert.deepEqual(results, calls);
      const [stage] = stages;
      assert.equal(stages.length, 1);
      assert.ok(stage !== undefined && stage.data.compressed_count < stage.data.original_count);
    });

test('accepts the old spelling', async (t) => {
  const sized = await startSized(t);
  const path = '/chat/completions';
  assert.equal(
    (await ask(sized, path, bodyFor(path, 'acme/chat', 60, { transforms: ['middle-out'] }))).stages.length,
    1,
  );
});

test('sends a conversation that fits unchanged', async (t) => {
  const sized = await startSized(t);
  const path = '/chat/completions';
  const body = bodyFor(path, 'acme/chat', 5, PLUGIN);
  assert.deepEqual(await ask(sized, path, body), { status: 200, stages: [] });
  assert.deepEqual(sized.chat.arrived[0]?.body['messages'], body['messages']);
});

// @spec plugin-25
test('rejects a conversation that is too long with 400 and a remedy', async (t) => {
  const sized = await startSized(t);
  for (const path of ['/chat/completions', '/messages'] as const) {
    const { status, error } = await ask(sized, path, bodyFor(path, 'acme/chat', 100));
    assert.equal(status, 400);
    if (path === '/chat/completions') assert.equal(error?.metadata.error_type, 'context_length_exceeded');
    assert.match(
      error?.message ?? '',
      /messages.* 16000 tokens .*shorten them, or enable the plugin "context-compression"/,
    );
  }
  assert.equal(sized.chat.arrived.length, 0);
});

test('suggests no enabled plugin when even the kept parts are too long', async (t) => {
  const sized = await startSized(t);
  const path = '/chat/completions';
  const messages = [{ role: 'user', content: 'word '.repeat(30_000) }];
  const { status, error } = await ask(sized, path, { model: 'acme/chat', messages, ...PLUGIN });
  assert.deepEqual([status, error?.metadata.error_type], [400, 'context_length_exceeded']);
  assert.match(error?.message ?? '', /even without what the plugin/);
});

// @spec plugin-22
test('runs by default for small endpoints, unless it is turned off', async (t) => {
  const sized = await startSized(t);
  const path = '/chat/completions';
  assert.equal((await ask(sized, path, bodyFor(path, 'acme/small', 11))).stages.length, 1);
  for (const off of [{ plugins: [{ id: 'context-compression', enabled: false }] }, { transforms: [] }]) {
    const { status, stages } = await ask(sized, path, bodyFor(path, 'acme/small', 30, off));
    assert.deepEqual([status, stages], [400, []]);
  }
});

// @spec plugin-23
test('skips models that read less than half of the request while another reads more', async (t) => {
  const sized = await startSized(t);
  const path = '/chat/completions';
  const models = { models: ['acme/tiny', 'acme/small'] };
  const reported = await ask(sized, path, bodyFor(path, 'acme/tiny', 12, { ...models, ...PLUGIN }));
  assert.equal(reported.status, 200);
  assert.deepEqual([sized.messages.arrived.length, sized.chat.arrived.length], [0, 1]);
});

// @spec plugin-23
test('calls the largest model when none reads half of the request', async (t) => {
  const sized = await startSized(t);
  const path = '/chat/completions';
  const models = { models: ['acme/tiny', 'acme/small'] };
  assert.equal((await ask(sized, path, bodyFor(path, 'acme/tiny', 60, { ...models, ...PLUGIN }))).status, 200);
  assert.deepEqual([sized.messages.arrived.length, sized.chat.arrived.length], [0, 1]);
});
