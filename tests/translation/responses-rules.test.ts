import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { GatewayError, STATUS_OF_ERROR_TYPE, type ErrorType } from '../../src/canonical/gateway-error.ts';
import type { EventBatch } from '../../src/canonical/events.ts';
import type { GenerationRequest } from '../../src/canonical/request.ts';
import type { ServerCall } from '../../src/canonical/tools/server-call.ts';
import { NO_USAGE } from '../../src/canonical/usage.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { objectAt, objectsOf, textOf } from '../../src/wire/json-fields.ts';
import { responsesServerCalls } from '../../src/wire/responses/server-tools.ts';
import { decodeInPieces } from '../support/wire/decode-in-pieces.ts';
import {
  ACCOUNT,
  callerFormat,
  containers,
  CONTEXT,
  encodeStream,
  encodeWhole,
  FINAL_USAGE,
  identity,
  openContainers,
  request,
} from '../support/wire/responses/caller.ts';
import {
  begin,
  block,
  call,
  CALLED,
  CUT,
  delta,
  serverCall,
  STOP,
  text,
  thought,
} from '../support/wire/responses/events.ts';
import { checkStream, lastResponse, type SeenEvent } from '../support/wire/responses/stream-checker.ts';

const OPTIONS = { containers: openContainers };

/** The events of a stream that keeps the grammar, and that lists at its end what a whole response lists. */
function written(events: EventBatch, of: GenerationRequest = request()): readonly SeenEvent[] {
  const seen = checkStream(encodeStream(events, of, OPTIONS));
  const { output_text: _text, ...whole } = encodeWhole(events, of, OPTIONS);
  assert.deepEqual(lastResponse(seen), whole);
  return seen;
}

function outputOf(events: readonly SeenEvent[]): readonly JsonObject[] {
  return objectsOf(lastResponse(events)['output']);
}

function typesOf(events: readonly SeenEvent[]): readonly (string | undefined)[] {
  return outputOf(events).map(({ type }) => textOf(type));
}

function serverResult(index: number, type: string, found: ServerCall['result'], id = 'call_a'): EventBatch {
  return block(index, responsesServerCalls.encode(ran(type, found, { id, shownId: id })));
}

function ran(type: string, result: ServerCall['result'], more: Partial<ServerCall> = {}): ServerCall {
  const name = type.replaceAll(':', '_');
  return { id: 'call_a', shownId: 'call_a', type, name, input: '{}', result, turn: 0, besideCalls: false, ...more };
}

suite('usage', () => {
  // @spec responses-61, responses-pains-15
  test('has both details with integers where nothing was counted', () => {
    const encoder = callerFormat().createStreamEncoder(identity());
    const frames = encoder.encode([begin(), ...text(0, 'Hi'), STOP]);
    const seen = checkStream(frames + encoder.close({ ...FINAL_USAGE, usage: NO_USAGE, charge: undefined }));
    const usage = objectAt(lastResponse(seen), 'usage');
    assert.deepEqual([usage['input_tokens'], usage['output_tokens'], usage['total_tokens']], [0, 0, 0]);
    assert.deepEqual(usage['input_tokens_details'], { cached_tokens: 0 });
    assert.deepEqual(usage['output_tokens_details'], { reasoning_tokens: 0 });
    assert.deepEqual([usage['cost'], usage['cost_details']], [null, null]);
  });
});

suite('errors', () => {
  // @spec responses-78, responses-pains-36
  test('have a code that is a text, whatever their type', () => {
    for (const type of Object.keys(STATUS_OF_ERROR_TYPE) as ErrorType[]) {
      const error = new GatewayError(type, 'No.');
      const encoder = callerFormat().createStreamEncoder(identity());
      const response = lastResponse(checkStream(encoder.fail(error, undefined, CONTEXT)));
      const { code, type: stated } = objectAt(response, 'error');
      assert.equal(typeof code, 'string');
      assert.ok(code !== 'server_is_overloaded' && code !== 'slow_down');
      assert.deepEqual([stated, response['error_type'], response['usage']], [type, type, null]);
      assert.equal(objectAt(callerFormat().encodeError(error, CONTEXT), 'error')['code'], error.status);
    }
  });

  // @spec responses-pains-17
  test('after the end of the upstream are not read', () => {
    const frames = [
      { type: 'response.created', response: { id: 'resp_1', model: 'm', status: 'in_progress', output: [] } },
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'Hi' },
      { type: 'response.completed', response: { id: 'resp_1', status: 'completed', output: [] } },
      { type: 'response.failed', response: { id: 'resp_1', status: 'failed', error: { code: 'server_error' } } },
    ];
    const bytes = Buffer.from(frames.map((data) => `data: ${JSON.stringify(data)}\n\n`).join(''));
    const seen = written(decodeInPieces('responses', bytes, []));
    assert.equal(seen.at(-1)?.name, 'completed');
  });

  // @spec responses-82
  test('name a bad image by the sentence that Codex looks for', () => {
    const body = callerFormat().encodeError(new GatewayError('image_too_large', 'It has 90 megapixels.'), CONTEXT);
    assert.equal(
      objectAt(body, 'error')['message'],
      'The image data you provided does not represent a valid image. It has 90 megapixels.',
    );
  });

  // @spec responses-80
  test('open a stream only for callers that want it so, and never for faults of the request', () => {
    const format = callerFormat({ streamErrors: 'in-band' });
    const opens = (type: ErrorType): boolean | undefined =>
      format.failsInStream?.(new GatewayError(type, 'No.'), request());
    for (const type of ['rate_limit_exceeded', 'payment_required', 'provider_overloaded', 'timeout'] as const)
      assert.equal(opens(type), true, type);
    for (const type of ['invalid_request', 'authentication', 'permission_denied', 'not_found'] as const)
      assert.equal(opens(type), false, type);
  });
});

suite('sources', () => {
  const source = { type: 'url', url: 'https://a.example/t', start: 4, end: 9 } as const;

  // @spec responses-64, responses-pains-19
  test('that come when the text is over stand in it before its end', () => {
    const seen = written([
      begin('gemini'),
      ...text(0, 'The tides rise.'),
      { type: 'citation', index: 0, citation: source },
      STOP,
    ]);
    const names = seen.map(({ name }) => name);
    assert.ok(names.indexOf('output_text.annotation.added') < names.indexOf('output_text.done'));
    const [part] = objectsOf(outputOf(seen)[0]?.['content']);
    assert.deepEqual(part?.['annotations'], [
      { type: 'url_citation', url: source.url, title: 'a.example', start_index: 4, end_index: 9 },
    ]);
  });

  // @spec responses-64
  test('count from the beginning of their own text, not of the response', () => {
    // Behind "One" and the gap that joins the two elsewhere.
    const citation = { ...source, start: 9, end: 14 };
    const seen = written([
      begin('messages'),
      ...text(0, 'One'),
      ...thought(1, 'anthropic-claude-v1', 'Hm.'),
      ...text(2, 'The tides rise.'),
      { type: 'citation', index: 2, citation },
      STOP,
    ]);
    const [part] = objectsOf(outputOf(seen)[2]?.['content']);
    const [annotation] = objectsOf(part?.['annotations']);
    assert.deepEqual([annotation?.['start_index'], annotation?.['end_index']], [4, 9]);
  });

  test('of the whole response wait for the next text', () => {
    const seen = written([
      begin(),
      { type: 'citation', index: -1, citation: { type: 'url', url: 'https://a.example/t' } },
      ...text(0, 'Tides.'),
      STOP,
    ]);
    const [part] = objectsOf(outputOf(seen)[0]?.['content']);
    const [annotation] = objectsOf(part?.['annotations']);
    assert.deepEqual([annotation?.['start_index'], annotation?.['end_index']], [0, 6]);
  });
});

suite('signatures of Gemini', () => {
  const sign = (index: number, id?: string): EventBatch =>
    block(index, {
      type: 'reasoning',
      form: 'encrypted',
      text: 'c2ln',
      family: 'google-gemini-v1',
      ...(id !== undefined && { id }),
    });
  const sealedIn = (item: JsonObject | undefined): unknown =>
    openContainers.open('reasoning', ACCOUNT, textOf(item?.['encrypted_content']) ?? '')?.['blocks'];

  // @spec responses-55
  test('stand sealed in front of their call', () => {
    const seen = written([begin('gemini'), ...sign(0, 'call_a'), ...call(1, 'call_a', 'now', '{}'), CALLED]);
    assert.deepEqual(typesOf(seen), ['reasoning', 'function_call']);
    assert.deepEqual(outputOf(seen)[0]?.['summary'], []);
    assert.deepEqual(sealedIn(outputOf(seen)[0]), [
      { form: 'encrypted', text: 'c2ln', id: 'call_a', callId: 'call_a', index: 0 },
    ]);
  });

  // @spec responses-55
  test('stand behind the message that they sign, whose sources still come', () => {
    const seen = written([
      begin('gemini'),
      ...text(0, 'Hello'),
      ...sign(1),
      { type: 'citation', index: 0, citation: { type: 'url', url: 'https://a.example/' } },
      STOP,
    ]);
    assert.deepEqual(typesOf(seen), ['message', 'reasoning']);
    assert.deepEqual(sealedIn(outputOf(seen)[1]), [{ form: 'encrypted', text: 'c2ln', of: 'previous', index: 0 }]);
    const [part] = objectsOf(outputOf(seen)[0]?.['content']);
    assert.equal(objectsOf(part?.['annotations']).length, 1);
  });

  test('open for the account with the real containers', () => {
    const stream = encodeStream([begin('gemini'), ...sign(0, 'call_a'), ...call(1, 'call_a', 'now', '{}'), CALLED]);
    const [item] = outputOf(checkStream(stream));
    const sealed = textOf(item?.['encrypted_content']) ?? '';
    assert.equal(containers.open('reasoning', ACCOUNT, sealed)?.['family'], 'google-gemini-v1');
    assert.equal(containers.open('reasoning', 'acc-2', sealed), undefined);
  });
});

suite('calls', () => {
  const shell = request({ tools: [{ type: 'function', name: 'shell', kind: 'shell' }] });

  // @spec responses-48
  test('of a tool with an item of its own are built when they are complete', () => {
    const seen = written([begin(), ...call(0, 'call_a', 'shell', '{"commands":', '["ls"]}'), CALLED], shell);
    const { data } = seen.find(({ name }) => name === 'output_item.added') ?? {};
    assert.deepEqual(objectAt(objectAt(data ?? {}, 'item'), 'action')['commands'], []);
    assert.deepEqual(objectAt(outputOf(seen)[0] ?? {}, 'action')['commands'], ['ls']);
    assert.ok(seen.every(({ name }) => !name.includes('delta')));
  });

  // @spec responses-48
  test('whose arguments do not fit their tool are calls of a function', () => {
    const seen = written([begin(), ...call(0, 'call_a', 'shell', '{"commands":7}'), CALLED], shell);
    assert.deepEqual(typesOf(seen), ['function_call']);
    assert.equal(outputOf(seen)[0]?.['arguments'], '{"commands":7}');
  });

  test('wait for one whose kind of item is not known yet', () => {
    const [first, second] = [call(0, 'call_a', 'shell'), call(1, 'call_b', 'now')];
    const seen = written(
      [
        begin(),
        ...first.slice(0, 1),
        delta(0, '{"commands":'),
        ...second.slice(0, 1),
        delta(1, '{}'),
        delta(0, '["ls"]}'),
        ...second.slice(1),
        ...first.slice(1),
        CALLED,
      ],
      shell,
    );
    assert.deepEqual(typesOf(seen), ['shell_call', 'function_call']);
  });

  // @spec responses-76, responses-pains-31
  test('of a custom tool that are cut are not ended', () => {
    const of = request({ tools: [{ type: 'function', name: 'patch', kind: 'custom' }] });
    const seen = written([begin(), ...call(0, 'call_a', 'patch', '{"input":"*** Be'), CUT], of);
    assert.ok(seen.every(({ name }) => name !== 'output_item.done' && name !== 'custom_tool_call_input.done'));
    assert.deepEqual([outputOf(seen)[0]?.['input'], outputOf(seen)[0]?.['status']], ['*** Be', 'incomplete']);
  });

  test('that were whole before the cut are ended', () => {
    const seen = written([begin(), ...call(0, 'call_a', 'now', '{}'), ...call(1, 'call_b', 'now', '{"z'), CUT]);
    assert.deepEqual(
      outputOf(seen).map(({ status }) => status),
      ['completed', 'incomplete'],
    );
  });
});

suite('server tools', () => {
  // @spec responses-65, responses-pains-24
  test('come back as the very call and result that the model wrote and read', () => {
    const found = { datetime: '2026-03-01T12:00:00.000+00:00', timezone: 'UTC' };
    const encoded = responsesServerCalls.encode(
      ran('service:datetime', found, { input: '{"timezone": "UTC"}', turn: 2 }),
    );
    assert.ok(encoded.type === 'opaque');
    assert.deepEqual(responsesServerCalls.decode(encoded), {
      id: 'call_a',
      call: { name: 'service_datetime', input: '{"timezone": "UTC"}', turn: 2, besideCalls: false },
      result: { text: JSON.stringify(found), failed: false },
    });
  });

  // @spec responses-66
  test('leave a result out that is too long, and are not replayed then', () => {
    const encoded = responsesServerCalls.encode(ran('service:web_fetch', { content: 'x'.repeat(300_000) }));
    assert.ok(encoded.type === 'opaque');
    assert.equal(encoded.value['result_truncated'], true);
    assert.equal(encoded.value['result'], undefined);
    assert.equal(responsesServerCalls.decode(encoded), undefined);
  });

  // @spec responses-67, responses-pains-24
  test('are never calls of functions, and one of a vendor name comes back with its results', () => {
    const tool = {
      type: 'server',
      name: 'service:web_search',
      extra: { format: 'responses', fields: { type: 'web_search_preview' } },
    } as const;
    const of = request({ tools: [tool] }, {}, ['web_search_call.results']);
    const input = '{"query": "tides"}';
    const hits = [{ url: 'https://a.example/t', title: 'Tides', content: 'At six.' }];
    const result = responsesServerCalls.encode(ran('service:web_search', hits, { input }));
    const seen = written(
      [
        begin(),
        ...serverCall(0, 'call_a', 'service:web_search', input),
        ...block(1, result),
        ...text(2, 'At six.'),
        STOP,
      ],
      of,
    );
    assert.deepEqual(typesOf(seen), ['web_search_call', 'message']);
    const [item] = outputOf(seen);
    assert.ok(item !== undefined);
    assert.deepEqual(responsesServerCalls.decode({ type: 'opaque', format: 'responses', value: item }), {
      id: 'call_a',
      call: { name: 'service_web_search', input },
      result: { text: JSON.stringify(hits), failed: false },
    });
  });

  test('begin in the order of their calls, whichever ends first', () => {
    const seen = written([
      begin(),
      ...serverCall(0, 'call_a', 'service:web_fetch', '{"url":"https://a.example"}'),
      ...serverCall(1, 'call_b', 'service:datetime', '{}'),
      ...serverResult(2, 'service:datetime', { datetime: 'now' }, 'call_b'),
      ...serverResult(3, 'service:web_fetch', { title: 'A' }),
      ...text(4, 'Done.'),
      STOP,
    ]);
    assert.deepEqual(typesOf(seen), ['service:web_fetch', 'service:datetime', 'message']);
  });

  test('show a picture once, in the item that the caller named', () => {
    const named = request({ tools: [{ type: 'opaque', format: 'responses', value: { type: 'image_generation' } }] });
    const events: EventBatch = [
      begin(),
      ...serverCall(0, 'call_a', 'service:image_generation', '{"prompt":"a cat"}'),
      ...serverResult(1, 'service:image_generation', { status: 'ok', imageUrl: 'data:image/webp;base64,AAAA' }),
      ...block(2, { type: 'media', media: 'image', source: { type: 'url', url: 'data:image/webp;base64,AAAA' } }),
      STOP,
    ];
    const [picture, ...others] = outputOf(written(events, named));
    assert.deepEqual(
      [picture?.['type'], picture?.['result'], picture?.['output_format']],
      ['image_generation_call', 'AAAA', 'webp'],
    );
    assert.deepEqual(others, []);
    assert.deepEqual(typesOf(written(events)), ['service:image_generation']);
  });
});

suite('items that only this format knows', () => {
  // @spec responses-68
  test('pass as they came, without members that their vendor would refuse', () => {
    const listed = { id: 'mcpl_1', type: 'mcp_list_tools', server_label: 'crm', tools: [{ name: 'find' }] };
    const seen = written([
      begin('responses'),
      ...block(0, { type: 'opaque', format: 'responses', value: listed }),
      STOP,
    ]);
    assert.deepEqual(outputOf(seen), [listed]);
    assert.deepEqual(
      seen.map(({ name }) => name).filter((name) => name.startsWith('mcp_list_tools')),
      ['mcp_list_tools.in_progress', 'mcp_list_tools.completed'],
    );
  });

  // @spec responses-68
  test('get another id where theirs is taken', () => {
    const value = { id: 'x_1', type: 'mcp_approval_request', name: 'find', arguments: '{}' };
    const item = { type: 'opaque', format: 'responses', value } as const;
    const ids = outputOf(written([begin('responses'), ...block(0, item), ...block(1, item), STOP])).map(({ id }) => id);
    assert.deepEqual(ids, ['x_1', 'mcpr_1']);
  });
});

suite('what the upstream was sent', () => {
  test('is shown without secrets and long data', () => {
    const encoder = callerFormat().createStreamEncoder(identity());
    const frame = encoder.debug('Acme', { api_key: 'sk-very-secret', image: 'A'.repeat(1_000) });
    assert.match(frame, /event: response\.debug\n/);
    assert.ok(!frame.includes('sk-very-secret') && !frame.includes('AAAA'));
  });
});
