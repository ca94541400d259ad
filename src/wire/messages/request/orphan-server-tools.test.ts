import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { foldEvents } from '../../../canonical/fold.ts';
import { parseJsonObject, type JsonObject } from '../../../lib/json.ts';
import { FINAL_USAGE, IDENTITY } from '../../../../tests/support/wire/chat/streams.ts';
import { objectsOf } from '../../json-fields.ts';
import { encodeWhole } from '../response/response-out.ts';
import { decode, encode, target } from '../../../../tests/support/wire/messages/request.ts';

const VENDOR = target({ vendor: true });
const HOST = target();
const QUESTION = { role: 'user', content: 'Hi' };
const TEXT = { type: 'text', text: 'Sunny.' };

function search(id: string): JsonObject {
  return { type: 'server_tool_use', id, name: 'web_search', input: { query: 'weather' } };
}

function found(id: string, type = 'web_search_tool_result'): JsonObject {
  return { type, tool_use_id: id, content: [] };
}

/** What goes upstream of what the assistant said, and the paths of the warnings. */
function sent(to: typeof VENDOR, content: readonly JsonObject[], ...after: readonly JsonObject[]) {
  const messages = [QUESTION, { role: 'assistant', content }, ...after];
  const { body, warnings } = encode(decode({ model: 'acme/one', max_tokens: 9, messages }), to);
  return { content: objectsOf(body['messages'])[1]?.['content'], warnings: warnings.map(({ path }) => path) };
}

suite('a tool that the provider of an earlier response ran', () => {
  test('is not sent where this format cannot show its result', () => {
    const response = foldEvents([
      { type: 'start', format: 'responses' },
      {
        type: 'block-start',
        index: 0,
        block: { type: 'tool-call', id: 'ws_1', name: 'web_search', input: '{"query":"weather"}', runBy: 'upstream' },
      },
      { type: 'block-end', index: 0 },
      { type: 'block-start', index: 1, block: { type: 'text', text: 'Sunny.' } },
      { type: 'block-end', index: 1 },
      { type: 'end', finish: 'stop' },
    ]);
    const shown = objectsOf(parseJsonObject(encodeWhole(response, IDENTITY, FINAL_USAGE))?.['content']);
    assert.equal(shown[0]?.['type'], 'server_tool_use');
    for (const to of [VENDOR, HOST]) {
      const { content, warnings } = sent(to, shown, QUESTION);
      assert.deepEqual(content, [TEXT]);
      assert.deepEqual(warnings, ['messages[1].content[0]']);
    }
  });

  test('goes back with its result where it came from', () => {
    const pair = [search('srvtoolu_1'), found('srvtoolu_1'), TEXT];
    for (const to of [VENDOR, HOST]) assert.deepEqual(sent(to, pair, QUESTION), { content: pair, warnings: [] });
  });

  test("stays away from the vendor under an id that is not the vendor's, and so does its result, of whatever kind", () => {
    for (const type of ['web_search_tool_result', 'tool_result']) {
      const pair = [search('call_1'), found('call_1', type), TEXT];
      assert.deepEqual(sent(HOST, pair, QUESTION), { content: pair, warnings: [] });
      assert.deepEqual(sent(VENDOR, pair, QUESTION), {
        content: [TEXT],
        warnings: ['messages[1].content[0]', 'messages[1].content[1]'],
      });
    }
  });

  test('stays while it is at work: the response pauses, or waits for a tool of the caller', () => {
    const paused = [TEXT, search('srvtoolu_1')];
    assert.deepEqual(sent(VENDOR, paused), { content: paused, warnings: [] });
    const waiting = [search('srvtoolu_1'), { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }];
    const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'ok' };
    assert.deepEqual(sent(VENDOR, waiting, { role: 'user', content: [result] }), { content: waiting, warnings: [] });
  });

  test('does not stay where the conversation has gone on without it', () => {
    const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'ok' };
    const call = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} };
    const { content } = sent(VENDOR, [search('srvtoolu_1'), call], { role: 'user', content: [result, TEXT] });
    assert.deepEqual(content, [call]);
  });

  test('answered in a later message is answered', () => {
    const later = { role: 'assistant', content: [found('srvtoolu_1'), TEXT] };
    const call = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} };
    const results = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'ok' }] };
    const stated = [search('srvtoolu_1'), call];
    assert.deepEqual(sent(VENDOR, stated, results, later, QUESTION), { content: stated, warnings: [] });
  });

  test('leaves no message without content behind', () => {
    const messages = [QUESTION, { role: 'assistant', content: [search('ws_1')] }, QUESTION];
    const { body } = encode(decode({ model: 'acme/one', max_tokens: 9, messages }), VENDOR);
    assert.deepEqual(
      objectsOf(body['messages']).map(({ role }) => role),
      ['user', 'user'],
    );
  });
});
