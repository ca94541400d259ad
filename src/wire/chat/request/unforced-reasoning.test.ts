import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Json } from '../../../lib/json.ts';
import type { Dialect, EncodedRequest } from '../../format.ts';
import { encodeRequest } from './request-out.ts';
import { decodeChat, PLAIN_TARGET } from '../../../../tests/support/wire/chat/request.ts';

const HOST: Dialect = { unforcedReasoning: true, reasoningSettings: 'thinking' };
const NAMED: Json = { type: 'function', function: { name: 'look' } };

function encode(dialect: Dialect, members: Record<string, Json>, listed?: readonly string[]): EncodedRequest {
  const tools: Json = [{ type: 'function', function: { name: 'look', parameters: {} } }];
  const request = decodeChat({ messages: [{ role: 'user', content: 'hi' }], tools, ...members });
  const supportedParameters = listed === undefined ? undefined : new Set(listed);
  return encodeRequest(request, { ...PLAIN_TARGET, dialect, ...(supportedParameters && { supportedParameters }) });
}

const warned = (encoded: EncodedRequest): readonly string[] =>
  encoded.warnings.map(({ code, path }) => `${code} ${path}`);

suite('a host that cannot be forced to call a tool while it reasons', () => {
  test('does not reason then, whether it was asked to or would have by itself', () => {
    for (const choice of ['required', NAMED]) {
      const requested = encode(HOST, { tool_choice: choice, reasoning: { effort: 'high' } });
      assert.deepEqual([requested.body['thinking'], requested.body['tool_choice']], [{ type: 'disabled' }, choice]);
      assert.deepEqual(warned(requested), ['field-dropped reasoning']);
      const unrequested = encode(HOST, { tool_choice: choice });
      assert.deepEqual([unrequested.body['thinking'], warned(unrequested)], [{ type: 'disabled' }, []]);
    }
  });

  test('reasons where it is not forced', () => {
    const free = encode(HOST, { tool_choice: 'auto', reasoning: { effort: 'high' } });
    assert.deepEqual([free.body['thinking'], free.body['tool_choice']], [{ type: 'enabled' }, 'auto']);
    assert.equal(encode(HOST, {}).body['thinking'], undefined);
  });

  test('chooses itself where it always reasons', () => {
    const encoded = encode({ ...HOST, mustReason: true }, { tool_choice: NAMED });
    assert.deepEqual([encoded.body['thinking'], encoded.body['tool_choice']], [undefined, 'auto']);
    assert.deepEqual(warned(encoded), ['field-changed tool_choice']);
  });

  test('is told nothing of reasoning where its list says that it does not reason', () => {
    const { body, warnings } = encode(HOST, { tool_choice: 'required' }, ['tools', 'tool_choice']);
    assert.deepEqual([body['thinking'], body['tool_choice'], warnings], [undefined, 'required', []]);
  });
});
