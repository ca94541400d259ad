import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { API_KEY } from '../support/gateway.ts';
import { makePdf } from '../support/files/make-pdf.ts';
import { PNG_BASE64 } from '../support/files/media.ts';
import { textAt } from '../support/byok.ts';
import { listOf, objectOf } from '../support/reported.ts';
import { ask, startToolTurns, type Asking, type ToolTurns } from '../support/tool-turns.ts';
import { upload } from '../support/files/upload.ts';

const CHAT: Asking = { format: 'chat', model: 'acme/chat', stream: true };
const TOOLS = [{ type: 'service:files' }];

interface Files {
  readonly turns: ToolTurns;
  /** Has the model make one call. */
  readonly call: (input: object) => Promise<JsonObject>;
}

async function startFiles(t: TestContext): Promise<Files> {
  let next = '';
  const turns = await startToolTurns(t, ({ body }) => {
    const last = objectOf(listOf(body['messages'] as JsonObject[]).at(-1));
    return last['role'] === 'tool' ? { text: 'Done.' } : { calls: [{ name: 'service_files', input: next }] };
  });
  return {
    turns,
    async call(input) {
      next = JSON.stringify(input);
      const reported = await ask(turns, CHAT, { tools: TOOLS });
      assert.equal(reported.text, 'Done.');
      const [detail] = listOf(reported.message['reasoning_details']).map((one) => objectOf(one));
      return JSON.parse(textAt(detail ?? {}, 'result')) as JsonObject;
    },
  };
}

const resultOf = (answered: JsonObject): JsonObject => objectOf(answered['result']);

// @spec tool-32
test('lets a model write, list, read and edit files of the workspace, and the caller download the results', async (t) => {
  const { turns, call } = await startFiles(t);
  const { body: mine } = await upload(turns.gateway, 'Uploaded.', { name: 'mine.txt' });
  const written = resultOf(await call({ operation: 'write', filename: 'plan.md', content: '# Plan\n\nStep one.' }));
  assert.deepEqual(
    [written['filename'], written['mime_type'], written['size_bytes']],
    ['plan.md', 'text/markdown', 17],
  );
  const listed = listOf(resultOf(await call({ operation: 'list' }))['files']).map((one) => objectOf(one)['file_id']);
  assert.deepEqual(listed, [mine['id'], written['file_id']]);
  const filtered = resultOf(await call({ operation: 'list', filename_filter: 'PLAN' }));
  assert.equal(listOf(filtered['files']).length, 1);
  assert.equal(resultOf(await call({ operation: 'read', filename: 'mine.txt' }))['content'], 'Uploaded.');

  const edit = { operation: 'edit', file_id: written['file_id'], old_string: 'one', new_string: 'two' };
  const edited = resultOf(await call(edit));
  assert.notEqual(edited['file_id'], written['file_id'], 'a copy is written');
  const before = resultOf(await call({ operation: 'read', file_id: written['file_id'] }));
  assert.equal(before['content'], '# Plan\n\nStep one.', 'and the file itself stays');
  assert.equal(resultOf(await call({ operation: 'read', filename: 'plan.md' }))['content'], '# Plan\n\nStep two.');
  const renamed = resultOf(await call({ ...edit, new_filename: 'other.md' }));
  assert.equal(renamed['filename'], 'other.md');

  const answer = await fetch(`${turns.gateway.baseUrl}/files/${textAt(edited, 'file_id')}/content`, {
    headers: { authorization: `Bearer ${API_KEY}` },
  });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'text/markdown; charset=utf-8');
  assert.equal(answer.headers.get('content-disposition'), "attachment; filename*=UTF-8''plan.md");
  assert.equal(await answer.text(), '# Plan\n\nStep two.');
});

test('lets a model read the text of a PDF', async (t) => {
  const { turns, call } = await startFiles(t);
  await upload(turns.gateway, Buffer.from(makePdf([{ lines: ['Forty-two.'] }])), { name: 'answer.pdf' });
  assert.match(textAt(resultOf(await call({ operation: 'read', filename: 'answer.pdf' })), 'content'), /Forty-two\./);
});

// @spec tool-32
suite('an impossible call', () => {
  const cases: readonly (readonly [name: string, input: object, error: RegExp])[] = [
    ['no such file', { operation: 'read', file_id: 'file_x' }, /no such file/],
    ['no file named', { operation: 'read' }, /file_id or filename/],
    ['nothing to write', { operation: 'write', filename: 'a.txt' }, /filename and content/],
    ['an empty text', { operation: 'write', filename: 'a.txt', content: '' }, /empty/],
    ['a name with a path', { operation: 'write', filename: '../a.txt', content: 'x' }, /slash/],
    ['nothing to replace', { operation: 'edit', filename: 'mine.txt' }, /old_string and new_string/],
    [
      'what is not there',
      { operation: 'edit', filename: 'mine.txt', old_string: 'zzz', new_string: '' },
      /does not stand/,
    ],
    [
      'what is there twice',
      { operation: 'edit', filename: 'mine.txt', old_string: 'aa', new_string: '' },
      /more than once/,
    ],
    ['a picture', { operation: 'read', filename: 'pixel.png' }, /image\/png, which cannot be read as text/],
    ['a picture to edit', { operation: 'edit', filename: 'pixel.png', old_string: 'a', new_string: 'b' }, /only text/],
  ];
  for (const [name, input, error] of cases)
    test(name, async (t) => {
      const { turns, call } = await startFiles(t);
      await upload(turns.gateway, 'aaa', { name: 'mine.txt' });
      await upload(turns.gateway, Buffer.from(PNG_BASE64, 'base64'), { name: 'pixel.png' });
      const answered = await call(input);
      assert.deepEqual(Object.keys(answered), ['error']);
      assert.match(textAt(answered, 'error'), error);
    });
});
