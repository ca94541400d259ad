import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { manage, textAt } from '../support/byok.ts';
import { makePdf } from '../support/files/make-pdf.ts';
import { PNG_BASE64, PNG_DATA_URL } from '../support/files/media.ts';
import { listOf, objectOf } from '../support/reported.ts';
import { startToolTurns, type ToolTurns } from '../support/tool-turns.ts';
import { upload, type UploadInput } from '../support/files/upload.ts';

const PNG = Buffer.from(PNG_BASE64, 'base64');
const PDF = Buffer.from(makePdf([{ lines: ['A page.'] }]));
const UNKNOWN = `file_${'0'.repeat(32)}`;

type Format = 'chat' | 'messages';

const start = (t: TestContext): Promise<ToolTurns> => startToolTurns(t, () => ({ text: 'Seen.' }));

async function store(
  { gateway }: ToolTurns,
  content: string | Uint8Array<ArrayBuffer>,
  input: Partial<UploadInput> = {},
): Promise<string> {
  const { status, body } = await upload(gateway, content, input);
  assert.equal(status, 200, JSON.stringify(body));
  return textAt(body, 'id');
}

function part(format: Format, id: string, type: 'document' | 'image' = 'document'): object {
  return format === 'chat' ? { type: 'file', file: { file_id: id } } : { type, source: { type: 'file', file_id: id } };
}

async function ask(
  { gateway }: ToolTurns,
  format: Format,
  model: string,
  content: readonly object[],
): Promise<{ readonly status: number; readonly text: string }> {
  const answer = await gateway.post(format === 'chat' ? '/chat/completions' : '/messages', {
    model,
    max_tokens: 100,
    messages: [{ role: 'user', content }],
  });
  return { status: answer.status, text: await answer.text() };
}

function sentTo(turns: ToolTurns, format: Format): readonly JsonObject[] {
  const { body } = turns[format].arrived.at(-1) ?? {};
  const [message] = listOf(body?.['messages'] as JsonObject[]).map((one) => objectOf(one));
  return listOf(message?.['content']).map((one) => objectOf(one));
}

/** What an upstream of each format gets of each file. */
const ENCODED: readonly (readonly [
  name: string,
  content: string | Uint8Array<ArrayBuffer>,
  filename: string,
  chat: JsonObject,
  messages: JsonObject,
])[] = [
  [
    'a picture',
    PNG,
    'pixel.png',
    { type: 'image_url', image_url: { url: PNG_DATA_URL } },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG_BASE64 } },
  ],
  [
    'a PDF',
    PDF,
    'page.pdf',
    {
      type: 'file',
      file: { file_data: `data:application/pdf;base64,${PDF.toString('base64')}`, filename: 'page.pdf' },
    },
    {
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: PDF.toString('base64') },
      title: 'page.pdf',
    },
  ],
];

suite('a stored file that a request names', () => {
  for (const [name, content, filename, chat, messages] of ENCODED)
    for (const caller of ['chat', 'messages'] as const)
      for (const upstream of ['chat', 'messages'] as const)
        // @spec file-9
        test(`reaches the model as ${name.slice(2)}: ${caller} caller, ${upstream} upstream`, async (t) => {
          const turns = await start(t);
          const id = await store(turns, content, { name: filename });
          const question = { type: 'text', text: 'What is it?' };
          const { status, text } = await ask(turns, caller, `acme/${upstream}`, [question, part(caller, id)]);
          assert.equal(status, 200, text);
          assert.deepEqual(sentTo(turns, upstream)[1], upstream === 'chat' ? chat : messages);
          assert.ok(!(turns[upstream].arrived[0]?.text ?? '').includes(id), 'the id is not for upstreams');
        });

  for (const upstream of ['chat', 'messages'] as const)
    test(`becomes text if it is text: ${upstream} upstream`, async (t) => {
      const turns = await start(t);
      const id = await store(turns, '# A heading\n\nGrüße.\n', { name: 'notes.md' });
      for (const caller of ['chat', 'messages'] as const) {
        const { status, text } = await ask(turns, caller, `acme/${upstream}`, [part(caller, id)]);
        assert.equal(status, 200, text);
        const sent = turns[upstream].arrived.at(-1)?.text ?? '';
        assert.ok(sent.includes('# A heading\\n\\nGrüße.'), sent);
      }
    });

  // @spec file-9, messages-6
  test('is inserted in tool results and documents of content, too', async (t) => {
    const turns = await start(t);
    const id = await store(turns, PNG, { name: 'pixel.png' });
    const image = part('messages', id, 'image');
    const call = { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} };
    const answer = await turns.gateway.post('/messages', {
      model: 'acme/messages',
      max_tokens: 100,
      tools: [{ name: 'look', input_schema: { type: 'object' } }],
      messages: [
        { role: 'user', content: 'Look.' },
        { role: 'assistant', content: [call] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_1', content: [image] },
            { type: 'document', source: { type: 'content', content: [image] } },
          ],
        },
      ],
    });
    assert.equal(answer.status, 200, await answer.text());
    const sent = turns.messages.arrived[0]?.text ?? '';
    assert.equal(sent.split(PNG_BASE64).length - 1, 2, sent);
  });

  test('is counted as its content', async (t) => {
    const turns = await start(t);
    const id = await store(turns, 'word '.repeat(2_000));
    const answer = await turns.gateway.post('/messages/count_tokens', {
      model: 'acme/chat',
      messages: [{ role: 'user', content: [part('messages', id)] }],
    });
    const { input_tokens: tokens } = (await answer.json()) as JsonObject;
    assert.ok(Number(tokens) > 1_000, JSON.stringify(tokens));
  });
});

test('routes a request with a stored file by the type of the file', async (t) => {
  const turns = await start(t);
  const id = await store(turns, 'word '.repeat(2_000));
  const explain = async (file: string): Promise<Response> =>
    turns.gateway.post('/route/explain', {
      model: 'acme/chat',
      messages: [{ role: 'user', content: [part('chat', file)] }],
    });
  const reported = (await (await explain(id)).json()) as JsonObject;
  assert.ok(Number(reported['estimated_prompt_tokens']) > 2_000, JSON.stringify(reported));
  assert.equal((await explain(UNKNOWN)).status, 404, 'as the request itself would be');
});

suite('a file that a request cannot have', () => {
  for (const [format, path] of [
    ['chat', 'messages[0].content[1].file.file_id'],
    ['messages', 'messages[0].content[1].source.file_id'],
  ] as const)
    // @spec file-10
    test(`is 404 at its path: ${format}`, async (t) => {
      const turns = await start(t);
      const text = { type: 'text', text: 'What is it?' };
      const answer = await ask(turns, format, 'acme/chat', [text, part(format, UNKNOWN)]);
      assert.equal(answer.status, 404, answer.text);
      assert.ok(answer.text.includes(path) && answer.text.includes(UNKNOWN), answer.text);
      assert.equal(turns.chat.arrived.length, 0);
    });

  // @spec file-10
  test('is 404 when it belongs to another workspace', async (t) => {
    const turns = await start(t);
    const { gateway } = turns;
    const made = await manage(gateway, 'POST', '/workspaces', { name: 'Other', slug: 'other' });
    const workspaceId = textAt(objectOf(made.body['data']), 'id');
    const created = await manage(gateway, 'POST', '/keys', { name: 'Other', workspace_id: workspaceId });
    const id = await store(turns, PNG, { key: textAt(created.body, 'key') });
    const theirs = await ask(turns, 'chat', 'acme/chat', [part('chat', id)]);
    const unowned = await ask(turns, 'chat', 'acme/chat', [part('chat', UNKNOWN)]);
    assert.equal(theirs.status, 404);
    const masked = (text: string, one: string): string => text.replaceAll(one, 'ID').replaceAll(/gen-[\w-]+/g, 'GEN');
    assert.equal(masked(theirs.text, id), masked(unowned.text, UNKNOWN));
  });

  test('is 404 when it was deleted', async (t) => {
    const turns = await start(t);
    const id = await store(turns, PNG);
    await fetch(`${turns.gateway.baseUrl}/files/${id}`, {
      method: 'DELETE',
      headers: { authorization: 'Bearer test-normal-key-0123456789abcdef' },
    });
    assert.equal((await ask(turns, 'chat', 'acme/chat', [part('chat', id)])).status, 404);
  });

  test('is 503 when another machine has its bytes', async (t) => {
    const turns = await start(t);
    const id = await store(turns, PNG);
    await rm(join(turns.gateway.dataDir, 'files'), { recursive: true });
    assert.equal((await ask(turns, 'chat', 'acme/chat', [part('chat', id)])).status, 503);
  });

  test('is 400 when it is too large for any model', async (t) => {
    const turns = await start(t);
    const id = await store(turns, 'x'.repeat(51 * 1_024 * 1_024));
    const { status, text } = await ask(turns, 'chat', 'acme/chat', [part('chat', id)]);
    assert.equal(status, 400);
    assert.match(text, /messages\[0\]\.content\[0\]\.file\.file_id: is a file of 53477376 bytes/);
  });

  // @spec file-9
  test('is 400 when it is one too many', async (t) => {
    const turns = await start(t);
    const parts = Array.from({ length: 33 }, (_, at) => part('chat', `file_${String(at).padStart(32, '0')}`));
    const { status, text } = await ask(turns, 'chat', 'acme/chat', parts);
    assert.equal(status, 400, text);
    assert.match(text, /more than 32 stored files/);
  });

  // @spec file-11
  test('passes on the file id of a vendor', async (t) => {
    const turns = await start(t);
    const { status, text } = await ask(turns, 'chat', 'acme/chat', [part('chat', 'file-abc123')]);
    assert.equal(status, 400);
    assert.match(text, /which the operator of the gateway has not opened to callers/);
  });
});
