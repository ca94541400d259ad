import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readChatStream, readMessagesStream } from '../support/http/read-stream.ts';
import {
  startScriptedFormats,
  speakChat,
  speakMessages,
  type ScriptedFormats,
} from '../support/upstreams/scripted-formats.ts';
import { chatAnswer, chatChunk, json, messagesAnswer, sse } from '../support/upstream.ts';

const BROKEN = 'Here it is:\n```json\n{"city": "Paris", "people": 2148000.0,}\n```';
const HEALED = '{"city": "Paris", "people": 2148000.0}';
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

type Path = '/chat/completions' | '/messages';
type Body = Readonly<Record<string, unknown>>;

/** Asks for JSON in the words of the format. */
function bodyFor(path: Path, model: string, more: Body = {}): Body {
  const requested = { model, messages: [{ role: 'user', content: 'Where?' }], plugins: [{ id: 'response-healing' }] };
  return path === '/messages'
    ? { ...requested, max_tokens: 99, output_config: { format: { type: 'json_schema', schema: SCHEMA } }, ...more }
    : {
        ...requested,
        response_format: { type: 'json_schema', json_schema: { name: 'place', schema: SCHEMA } },
        ...more,
      };
}

interface Reported {
  readonly text: string;
  readonly stages: readonly { readonly type: string; readonly name: string; readonly data: Body }[];
}

async function askWhole({ gateway }: ScriptedFormats, path: Path, body: Body): Promise<Reported> {
  const response = await gateway.post(path, body, { 'x-service-metadata': 'enabled' });
  const answer = (await response.json()) as {
    readonly choices?: readonly { readonly message: { readonly content: string } }[];
    readonly content?: readonly { readonly text: string }[];
    readonly service_metadata?: { readonly pipeline?: Reported['stages'] };
  };
  assert.equal(response.status, 200, JSON.stringify(answer));
  const text = answer.choices?.[0]?.message.content ?? answer.content?.map((block) => block.text).join('') ?? '';
  return { text, stages: answer.service_metadata?.pipeline?.filter(({ name }) => name === 'response-healing') ?? [] };
}

const PATHS: readonly Path[] = ['/chat/completions', '/messages'];

for (const path of PATHS)
  for (const model of ['acme/chat', 'acme/messages']) {
    // @spec plugin-20
    test(`repairs a response that is nearly JSON, with a stage: ${path} from ${model}`, async (t) => {
      const formats = await startScriptedFormats(t);
      formats.chat.script = speakChat(BROKEN);
      formats.messages.script = speakMessages(BROKEN);
      const { text, stages } = await askWhole(formats, path, bodyFor(path, model));
      assert.equal(text, HEALED);
      assert.deepEqual(stages, [
        {
          type: 'response_healing',
          name: 'response-healing',
          summary: 'Made JSON of a response that was none',
          data: {
            mode: 'json_schema',
            improved: true,
            original_length: BROKEN.length,
            healed_length: HEALED.length,
            schema_valid: true,
          },
        },
      ]);
    });

    // @spec plugin-16
    test(`repairs a stream on request, and leaves it unchanged otherwise: ${path} from ${model}`, async (t) => {
      const formats = await startScriptedFormats(t);
      const broken = '```json\n{"city": "Paris and all around it", "people": 2148000, }\n```';
      formats.chat.script = speakChat(broken);
      formats.messages.script = speakMessages(broken);
      const read = path === '/messages' ? readMessagesStream : readChatStream;
      const stream = async (plugin: Body): Promise<string> => {
        const body = bodyFor(path, model, { stream: true, plugins: [{ id: 'response-healing', ...plugin }] });
        return read(await (await formats.gateway.post(path, body)).text()).text;
      };
      assert.deepEqual(JSON.parse(await stream({ stream: true })), {
        city: 'Paris and all around it',
        people: 2_148_000,
      });
      assert.equal(await stream({}), broken);
    });
  }

// @spec plugin-16
test('repairs nothing without the plugin, or for text', async (t) => {
  const formats = await startScriptedFormats(t);
  formats.chat.script = speakChat(BROKEN);
  const path = '/chat/completions';
  for (const more of [
    { plugins: [] },
    { plugins: [{ id: 'response-healing', enabled: false }] },
    { response_format: { type: 'text' } },
  ]) {
    const { text, stages } = await askWhole(formats, path, bodyFor(path, 'acme/chat', more));
    assert.equal(text, BROKEN);
    assert.deepEqual(stages, []);
  }
});

// @spec plugin-8, metadata-10
test('leaves valid JSON unchanged, without a stage', async (t) => {
  const formats = await startScriptedFormats(t);
  const valid = ' {"a" : 1.0,\n "b":[ ] } ';
  formats.chat.script = speakChat(valid);
  const { text, stages } = await askWhole(formats, '/chat/completions', bodyFor('/chat/completions', 'acme/chat'));
  assert.equal(text, valid);
  assert.deepEqual(stages, []);
});

// @spec plugin-19
test('repairs JSON that does not fit the schema, and reports that', async (t) => {
  const formats = await startScriptedFormats(t);
  formats.chat.script = speakChat('{"town": "Paris",}');
  const { text, stages } = await askWhole(formats, '/chat/completions', bodyFor('/chat/completions', 'acme/chat'));
  assert.equal(text, '{"town": "Paris"}');
  assert.deepEqual([stages[0]?.data['improved'], stages[0]?.data['schema_valid']], [true, false]);
});

// @spec plugin-18
test('repairs no response that a limit cut off', async (t) => {
  const formats = await startScriptedFormats(t);
  const cut = '{"city": "Pa';
  const [choice] = (chatAnswer(cut) as { choices: object[] }).choices;
  formats.chat.script = json(200, chatAnswer(cut, { choices: [{ ...choice, finish_reason: 'length' }] }));
  formats.messages.script = json(200, messagesAnswer(cut, { stop_reason: 'max_tokens' }));
  for (const path of PATHS)
    for (const model of ['acme/chat', 'acme/messages'])
      assert.deepEqual(await askWhole(formats, path, bodyFor(path, model)), { text: cut, stages: [] });
});

// @spec plugin-17
test('returns the original when it cannot be repaired, and says so in the stage', async (t) => {
  const formats = await startScriptedFormats(t);
  formats.chat.script = speakChat('I would rather not.');
  const { text, stages } = await askWhole(formats, '/chat/completions', bodyFor('/chat/completions', 'acme/chat'));
  assert.equal(text, 'I would rather not.');
  assert.equal(stages[0]?.data['improved'], false);
});

test('sends the buffered rest of a stream that breaks off, and ends with the error', async (t) => {
  const formats = await startScriptedFormats(t);
  formats.chat.script = (_arrived, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(
      sse([chatChunk({ role: 'assistant', content: 'Here: {"a": "one' }), chatChunk({ content: '",' })]),
      () => {
        setTimeout(() => response.destroy(), 50);
      },
    );
  };
  const plugins = [{ id: 'response-healing', stream: true }];
  const body = bodyFor('/chat/completions', 'acme/chat', { stream: true, plugins });
  const { text, error } = readChatStream(await (await formats.gateway.post('/chat/completions', body)).text());
  assert.equal(text, 'Here: {"a": "one",');
  assert.notEqual(error, undefined);
});
