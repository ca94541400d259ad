import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readChatStream, readMessagesStream } from '../support/read-stream.ts';
import { startScriptedFormats, speakChat, speakMessages, type ScriptedFormats } from '../support/scripted-formats.ts';
import { chatAnswer, chatChunk, json, messagesAnswer, sse } from '../support/upstream.ts';

const BROKEN = 'Here it is:\n```json\n{"city": "Paris", "people": 2148000.0,}\n```';
const HEALED = '{"city": "Paris", "people": 2148000.0}';
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

type Path = '/chat/completions' | '/messages';
type Body = Readonly<Record<string, unknown>>;

/** Asks for JSON in the words of the format. */
function bodyFor(path: Path, model: string, more: Body = {}): Body {
  const asked = { model, messages: [{ role: 'user', content: 'Where?' }], plugins: [{ id: 'response-healing' }] };
  return path === '/messages'
    ? { ...asked, max_tokens: 99, output_config: { format: { type: 'json_schema', schema: SCHEMA } }, ...more }
    : { ...asked, response_format: { type: 'json_schema', json_schema: { name: 'place', schema: SCHEMA } }, ...more };
}

interface Told {
  readonly text: string;
  readonly stages: readonly { readonly type: string; readonly name: string; readonly data: Body }[];
}

async function askWhole({ gateway }: ScriptedFormats, path: Path, body: Body): Promise<Told> {
  const response = await gateway.post(path, body, { 'x-service-metadata': 'enabled' });
  const answer = (await response.json()) as {
    readonly choices?: readonly { readonly message: { readonly content: string } }[];
    readonly content?: readonly { readonly text: string }[];
    readonly service_metadata?: { readonly pipeline?: Told['stages'] };
  };
  assert.equal(response.status, 200, JSON.stringify(answer));
  const text = answer.choices?.[0]?.message.content ?? answer.content?.map((block) => block.text).join('') ?? '';
  return { text, stages: answer.service_metadata?.pipeline?.filter(({ name }) => name === 'response-healing') ?? [] };
}

const PATHS: readonly Path[] = ['/chat/completions', '/messages'];

for (const path of PATHS)
  for (const model of ['acme/chat', 'acme/messages']) {
    test(`${path} from ${model}: a whole answer that is nearly JSON becomes JSON, and its stage says so`, async (t) => {
      const formats = await startScriptedFormats(t);
      formats.chat.script = speakChat(BROKEN);
      formats.messages.script = speakMessages(BROKEN);
      const { text, stages } = await askWhole(formats, path, bodyFor(path, model));
      assert.equal(text, HEALED);
      assert.deepEqual(stages, [
        {
          type: 'response_healing',
          name: 'response-healing',
          summary: 'Made JSON of an answer that was none',
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

    test(`${path} from ${model}: a stream is mended where that is asked for, and as it came elsewhere`, async (t) => {
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

test('nothing is mended that was not asked for: without the plugin, or where text was wanted', async (t) => {
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

test('valid JSON stays as it was written, and no stage is told of', async (t) => {
  const formats = await startScriptedFormats(t);
  const valid = ' {"a" : 1.0,\n "b":[ ] } ';
  formats.chat.script = speakChat(valid);
  const { text, stages } = await askWhole(formats, '/chat/completions', bodyFor('/chat/completions', 'acme/chat'));
  assert.equal(text, valid);
  assert.deepEqual(stages, []);
});

test('what does not fit the schema is mended all the same, and told', async (t) => {
  const formats = await startScriptedFormats(t);
  formats.chat.script = speakChat('{"town": "Paris",}');
  const { text, stages } = await askWhole(formats, '/chat/completions', bodyFor('/chat/completions', 'acme/chat'));
  assert.equal(text, '{"town": "Paris"}');
  assert.deepEqual([stages[0]?.data['improved'], stages[0]?.data['schema_valid']], [true, false]);
});

test('an answer that a limit cut off is not mended', async (t) => {
  const formats = await startScriptedFormats(t);
  const cut = '{"city": "Pa';
  const [choice] = (chatAnswer(cut) as { choices: object[] }).choices;
  formats.chat.script = json(200, chatAnswer(cut, { choices: [{ ...choice, finish_reason: 'length' }] }));
  formats.messages.script = json(200, messagesAnswer(cut, { stop_reason: 'max_tokens' }));
  for (const path of PATHS)
    for (const model of ['acme/chat', 'acme/messages'])
      assert.deepEqual(await askWhole(formats, path, bodyFor(path, model)), { text: cut, stages: [] });
});

test('where nothing can be mended the answer is the original, and the stage says that', async (t) => {
  const formats = await startScriptedFormats(t);
  formats.chat.script = speakChat('I would rather not.');
  const { text, stages } = await askWhole(formats, '/chat/completions', bodyFor('/chat/completions', 'acme/chat'));
  assert.equal(text, 'I would rather not.');
  assert.equal(stages[0]?.data['improved'], false);
});

test('a stream that breaks off gives what was held back, and ends with the error', async (t) => {
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
