import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { GatewayError } from '../../src/canonical/gateway-error.ts';
import type { EventBatch } from '../../src/canonical/events.ts';
import type { GenerationRequest } from '../../src/canonical/request.ts';
import type { ServerCall } from '../../src/canonical/tools/server-call.ts';
import { responsesServerCalls } from '../../src/wire/responses/server-tools.ts';
import {
  callerFormat,
  CONTEXT,
  encodeStream,
  FINAL_USAGE,
  identity,
  readBySdk,
  request,
} from '../support/wire/responses/caller.ts';
import {
  begin,
  block,
  BROKE_OFF,
  call,
  CALLED,
  CUT,
  delta,
  serverCall,
  STOP,
  text,
  thought,
} from '../support/wire/responses/events.ts';
import { inShort } from '../support/wire/responses/notation.ts';
import { checkStream } from '../support/wire/responses/stream-checker.ts';

/** What a container is called here: what it holds is tested elsewhere. */
const CONTAINERS = { seal: (kind: string) => (kind === 'reasoning' ? 'sr1.x' : 'sc1.x'), open: () => undefined };
const OPTIONS = { containers: CONTAINERS };

/** The lines of a stream that keeps the grammar and is read by the vendor's SDK. */
async function linesOf(events: EventBatch, of: GenerationRequest = request()): Promise<readonly string[]> {
  const stream = encodeStream(events, of, OPTIONS);
  const seen = checkStream(stream);
  await readBySdk(stream);
  return inShort(seen);
}

/** The result of a call as the loop of server tools gives it. */
function result(
  index: number,
  type: string,
  input: string,
  found: ServerCall['result'],
  besideCalls = false,
): EventBatch {
  const id = 'call_a';
  const name = type.replaceAll(':', '_');
  const ran = { id, shownId: id, type, name, input, result: found, turn: 0, besideCalls };
  return block(index, responsesServerCalls.encode(ran));
}

const MESSAGE = '{"id":"msg_1","type":"message","role":"assistant"}';

suite('worked examples of the responses format', () => {
  // @spec responses-59, responses-62, responses-71
  test('a text, from a chat upstream, frame by frame', () => {
    const begun =
      '"id":"resp_6a1f0c","object":"response","created_at":1760000000,"completed_at":null,"status":"in_progress","error":null,"incomplete_details":null,"model":"acme/m1","output":[],"usage":null,"instructions":null,"tools":[],"tool_choice":"auto","parallel_tool_calls":true,"temperature":null,"top_p":null,"presence_penalty":null,"frequency_penalty":null,"metadata":{},"max_output_tokens":null,"max_tool_calls":null,"top_logprobs":null,"truncation":"disabled","background":false,"previous_response_id":null,"safety_identifier":null,"user":null,"prompt_cache_key":null,"reasoning":{"effort":null,"summary":null},"text":{"format":{"type":"text"}},"service_tier":null,"store":false';
    const part = '{"type":"output_text","text":"Hello","annotations":[],"logprobs":[]}';
    const place = '"item_id":"msg_1","output_index":0,"content_index":0';
    const item = `{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[${part}]}`;
    const ended = begun
      .replace('"completed_at":null,"status":"in_progress"', '"completed_at":1760000002,"status":"completed"')
      .replace('"model":"acme/m1"', '"model":"acme/m1","provider":"Acme"')
      .replace('"output":[]', `"output":[${item}]`)
      .replace(
        '"usage":null',
        '"usage":{"input_tokens":20,"input_tokens_details":{"cached_tokens":0},"output_tokens":3,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":23,"cost":0.00005,"cost_details":{"upstream_inference_cost":null,"upstream_inference_input_cost":0.00003,"upstream_inference_output_cost":0.00002},"is_byok":false,"server_tool_use_details":null}',
      )
      .replace('"service_tier":null', '"service_tier":"default"')
      .replace('"instructions":null,"tools":[]', '"instructions":"Be brief.","tools":[{"type":"web_search"}]');
    const frames = [
      `created|{"response":{${begun}}}`,
      `in_progress|{"response":{${begun}}}`,
      'output_item.added|{"output_index":0,"item":{"id":"msg_1","type":"message","role":"assistant","status":"in_progress","content":[]}}',
      `content_part.added|{${place},"part":{"type":"output_text","text":"","annotations":[],"logprobs":[]}}`,
      `output_text.delta|{${place},"delta":"Hello","logprobs":[]}`,
      `output_text.done|{${place},"text":"Hello","logprobs":[]}`,
      `content_part.done|{${place},"part":${part}}`,
      `output_item.done|{"output_index":0,"item":${item}}`,
      `completed|{"response":{${ended}}}`,
    ].map((frame, number) => {
      const [type = '', members = ''] = frame.split(/\|(.*)/s);
      return `event: response.${type}\ndata: {"type":"response.${type}","sequence_number":${number},${members.slice(1)}\n\n`;
    });
    const echo = { instructions: 'Be brief.', tools: [{ type: 'web_search' }] };
    const stream = encodeStream([begin(), ...text(0, 'Hello'), STOP], request({}, echo), OPTIONS);
    assert.equal(stream, `${frames.join('')}data: [DONE]\n\n`);
  });

  test('a thought with a signature, from a messages upstream', async () => {
    const [start, ...rest] = thought(0, 'anthropic-claude-v1', 'The user wants ', 'a file list.');
    const signed = { type: 'block-delta', index: 0, signature: 'EqQB' } as const;
    const events = [start, ...rest.slice(0, -1), signed, { type: 'block-end', index: 0 } as const].flatMap(
      (event) => event ?? [],
    );
    assert.deepEqual(await linesOf([begin('messages'), ...events, ...text(1, 'Here it is.'), STOP]), [
      '2 output_item.added @0 {"id":"rs_1","type":"reasoning","format":"anthropic-claude-v1"}',
      '3 reasoning_summary_part.added @0.0',
      '4 reasoning_summary_text.delta @0.0 "The user wants "',
      '5 reasoning_summary_text.delta @0.0 "a file list."',
      '6 reasoning_summary_text.done @0.0',
      '7 reasoning_summary_part.done @0.0',
      '8 output_item.done @0 {"encrypted_content":"sr1.x","signature":"EqQB"}',
      '9 output_item.added @1 {"id":"msg_1","type":"message","role":"assistant"}',
      '10 content_part.added @1.0 output_text',
      '11 output_text.delta @1.0 "Here it is."',
      '12 output_text.done @1.0',
      '13 content_part.done @1.0',
      '14 output_item.done @1',
      '15 completed R completed [=0,=1] 20/0/3/0',
    ]);
  });

  // @spec responses-40, responses-74, responses-pains-11, responses-pains-21
  test('a raw thought, then two calls whose pieces interleave, one of a namespace', async () => {
    const [a, b] = [call(1, 'call_a', 'weather'), call(2, 'call_b', 'mcp__files__read')];
    const events = [
      begin(),
      ...thought(0, undefined, 'need both'),
      ...a.slice(0, 1),
      delta(1, '{"city":'),
      ...b.slice(0, 1),
      delta(2, '{"path":"a"}'),
      delta(1, '"Oslo"}'),
      ...a.slice(1),
      ...b.slice(1),
      CALLED,
    ];
    const read = { type: 'function', name: 'mcp__files__read' } as const;
    const of = request({ tools: [{ ...read, namespaced: { namespace: 'mcp__files', name: 'read' } }] });
    assert.deepEqual(await linesOf(events, of), [
      '2 output_item.added @0 {"id":"rs_1","type":"reasoning","format":"unknown"}',
      '3 content_part.added @0.0 reasoning_text',
      '4 reasoning_text.delta @0.0 "need both"',
      '5 reasoning_text.done @0.0',
      '6 content_part.done @0.0',
      '7 output_item.done @0 {"encrypted_content":"sr1.x"}',
      '8 output_item.added @1 {"id":"fc_1","type":"function_call","call_id":"call_a","name":"weather","arguments":""}',
      '9 function_call_arguments.delta @1 "{\\"city\\":"',
      '10 output_item.added @2 {"id":"fc_2","type":"function_call","call_id":"call_b","name":"read","namespace":"mcp__files","arguments":""}',
      '11 function_call_arguments.delta @2 "{\\"path\\":\\"a\\"}"',
      '12 function_call_arguments.delta @1 "\\"Oslo\\"}"',
      '13 function_call_arguments.done @1 {"name":"weather"}',
      '14 output_item.done @1',
      '15 function_call_arguments.done @2 {"name":"read"}',
      '16 output_item.done @2',
      '17 completed R completed [=0,=1,=2] 20/0/3/0',
    ]);
  });

  // @spec responses-46
  test('a custom tool over a chat upstream, decoded as it comes', async () => {
    const pieces = ['{"inp', 'ut":"*** Begin Patch\\n*** A', 'dd File: a\\n+\\"x\\"\\n*** End Patch"}'];
    const of = request({ tools: [{ type: 'function', name: 'apply_patch', kind: 'custom' }] });
    assert.deepEqual(await linesOf([begin(), ...call(0, 'call_a', 'apply_patch', ...pieces), CALLED], of), [
      '2 output_item.added @0 {"id":"ctc_1","type":"custom_tool_call","call_id":"call_a","name":"apply_patch","input":""}',
      '3 custom_tool_call_input.delta @0 "*** Begin Patch\\n*** A"',
      '4 custom_tool_call_input.delta @0 "dd File: a\\n+\\"x\\"\\n*** End Patch"',
      '5 custom_tool_call_input.done @0',
      '6 output_item.done @0',
      '7 completed R completed [=0] 20/0/3/0',
    ]);
  });

  // @spec responses-67
  test('a search of the gateway under its vendor name', async () => {
    const entry = { type: 'web_search' };
    const tool = { type: 'server', name: 'service:web_search', extra: { format: 'responses', fields: entry } } as const;
    const of = request({ tools: [tool] }, {}, ['web_search_call.action.sources']);
    const input = '{"query":"tide oslo"}';
    const hits = [{ url: 'https://a.example/t', title: 'Tides', content: 'At six.' }];
    const events: EventBatch = [
      begin(),
      ...serverCall(0, 'call_a', 'service:web_search', input),
      ...result(1, 'service:web_search', input, hits),
      ...text(2, 'High tide is at six (a.example).').slice(0, -1),
      {
        type: 'citation',
        index: 2,
        citation: { type: 'url', url: 'https://a.example/t', title: 'Tides', start: 21, end: 30 },
      },
      { type: 'block-end', index: 2 },
      STOP,
    ];
    const action = '{"type":"search","query":"tide oslo","queries":["tide oslo"]';
    assert.deepEqual(await linesOf(events, of), [
      `2 output_item.added @0 {"id":"ws_1","type":"web_search_call","action":${action}}}`,
      '3 web_search_call.in_progress @0',
      '4 web_search_call.searching @0',
      '5 web_search_call.completed @0',
      `6 output_item.done @0 {"action":${action},"sources":[{"type":"url","url":"https://a.example/t"}]}}`,
      `7 output_item.added @1 ${MESSAGE}`,
      '8 content_part.added @1.0 output_text',
      '9 output_text.delta @1.0 "High tide is at six (a.example)."',
      '10 output_text.annotation.added @1.0 {"annotation_index":0,"annotation":{"type":"url_citation","url":"https://a.example/t","title":"Tides","start_index":21,"end_index":30}}',
      '11 output_text.done @1.0',
      '12 content_part.done @1.0',
      '13 output_item.done @1',
      '14 completed R completed [=0,=1] 20/0/3/0',
    ]);
  });

  // @spec responses-65
  test('a server tool and a function of the caller in one turn', async () => {
    const found = { datetime: '2026-03-01T12:00:00.000+00:00', timezone: 'UTC' };
    const events = [
      begin(),
      ...serverCall(0, 'call_a', 'service:datetime', '{}'),
      ...call(1, 'call_b', 'book', '{"at":12}'),
      ...result(2, 'service:datetime', '{}', found, true),
      CALLED,
    ];
    assert.deepEqual(await linesOf(events), [
      '2 output_item.added @0 {"id":"st_1","type":"service:datetime","call_id":"call_a","arguments":"{}"}',
      `3 output_item.done @0 ${JSON.stringify({ ...found, result: JSON.stringify(found), turn: 0, beside_tool_calls: true })}`,
      '4 output_item.added @1 {"id":"fc_1","type":"function_call","call_id":"call_b","name":"book","arguments":""}',
      '5 function_call_arguments.delta @1 "{\\"at\\":12}"',
      '6 function_call_arguments.done @1 {"name":"book"}',
      '7 output_item.done @1',
      '8 completed R completed [=0,=1] 20/0/3/0',
    ]);
  });

  // @spec responses-62, responses-77, responses-pains-16, responses-pains-36
  test('an upstream that dies in the middle', async () => {
    const part = '{"type":"output_text","text":"Half a","annotations":[],"logprobs":[]}';
    const why =
      '"error":{"code":"server_error","message":"The provider broke off the answer.","type":"provider_unavailable","param":null},"error_type":"provider_unavailable"';
    assert.deepEqual(await linesOf([begin(), ...text(0, 'Half a').slice(0, -1), BROKE_OFF]), [
      `2 output_item.added @0 ${MESSAGE}`,
      '3 content_part.added @0.0 output_text',
      '4 output_text.delta @0.0 "Half a"',
      `5 failed R failed [{"id":"msg_1","type":"message","role":"assistant","status":"incomplete","content":[${part}]}] 20/0/3/0 {${why}}`,
    ]);
  });

  // @spec responses-76, responses-pains-31
  test('a call that is cut by the limit is not ended, so that no client runs it', async () => {
    const cut = call(1, 'call_a', 'write', '{"text":"lor');
    assert.deepEqual(await linesOf([begin(), ...text(0, 'I write it:'), ...cut, CUT]), [
      `2 output_item.added @0 ${MESSAGE}`,
      '3 content_part.added @0.0 output_text',
      '4 output_text.delta @0.0 "I write it:"',
      '5 output_text.done @0.0',
      '6 content_part.done @0.0',
      '7 output_item.done @0',
      '8 output_item.added @1 {"id":"fc_1","type":"function_call","call_id":"call_a","name":"write","arguments":""}',
      '9 function_call_arguments.delta @1 "{\\"text\\":\\"lor"',
      '10 incomplete R incomplete [=0,{"id":"fc_1","type":"function_call","call_id":"call_a","name":"write","arguments":"{\\"text\\":\\"lor","status":"incomplete"}] 20/0/3/0 {"incomplete_details":{"reason":"max_output_tokens"}}',
    ]);
  });

  // @spec responses-62, responses-76
  test('a text that is cut by the limit is ended as incomplete', async () => {
    assert.deepEqual((await linesOf([begin(), ...text(0, 'I wri'), CUT])).slice(3), [
      '5 output_text.done @0.0',
      '6 content_part.done @0.0',
      '7 output_item.done @0 {"status":"incomplete"}',
      '8 incomplete R incomplete [=0] 20/0/3/0 {"incomplete_details":{"reason":"max_output_tokens"}}',
    ]);
  });

  // @spec responses-63
  test('a refusal', async () => {
    const events = block(0, { type: 'refusal', text: '' }, "I can't help with that.");
    assert.deepEqual(await linesOf([begin(), ...events, { type: 'end', finish: 'content_filter' }]), [
      `2 output_item.added @0 ${MESSAGE}`,
      '3 content_part.added @0.0 refusal',
      '4 refusal.delta @0.0 "I can\'t help with that."',
      '5 refusal.done @0.0',
      '6 content_part.done @0.0',
      '7 output_item.done @0',
      '8 completed R completed [=0] 20/0/3/0',
    ]);
  });

  const tooLong = new GatewayError('context_length_exceeded', 'The input is too long. Shorten it.', {
    issues: [{ path: 'input', message: 'too long' }],
  });

  // @spec responses-79
  test('too long an input fails in the stream, so that Codex shortens it', () => {
    const format = callerFormat();
    assert.equal(format.failsInStream?.(tooLong, request()), true);
    const stream = format.createStreamEncoder(identity()).fail(tooLong, undefined, CONTEXT);
    assert.deepEqual(inShort(checkStream(stream)), [
      '2 failed R failed [] - {"error":{"code":"context_length_exceeded","message":"The input is too long. Shorten it.","type":"context_length_exceeded","param":"input"},"error_type":"context_length_exceeded"}',
    ]);
    assert.deepEqual(format.encodeError(tooLong, CONTEXT)['error_type'], 'context_length_exceeded');
  });

  // @spec responses-79
  test('an input that is too long is cut where the operator wants that', () => {
    const stream = callerFormat({ lengthErrors: 'incomplete' })
      .createStreamEncoder(identity())
      .fail(tooLong, undefined, CONTEXT);
    assert.deepEqual(inShort(checkStream(stream)), [
      '2 incomplete R incomplete [] - {"incomplete_details":{"reason":"max_output_tokens"}}',
    ]);
  });

  // @spec responses-80, responses-81
  test('a limit of rates fails in the stream for callers that want it so, with the time to wait', () => {
    const busy = new GatewayError('rate_limit_exceeded', 'All providers of acme/m1 are busy.', {
      retryAfterMs: 12_000,
    });
    const format = callerFormat();
    assert.equal(format.failsInStream?.(busy, request()), false);
    const { response } = request();
    assert.ok(response !== undefined);
    assert.equal(format.failsInStream(busy, request({ response: { ...response, failsInStream: true } })), true);
    const stream = format.createStreamEncoder(identity()).fail(busy, undefined, CONTEXT);
    assert.deepEqual(inShort(checkStream(stream)), [
      '2 failed R failed [] - {"error":{"code":"rate_limit_exceeded","message":"All providers of acme/m1 are busy. Please try again in 12s","type":"rate_limit_exceeded","param":null},"error_type":"rate_limit_exceeded"}',
    ]);
  });

  // @spec responses-75, responses-pains-14, responses-pains-10
  test('silence: an event each minute, whatever is open', () => {
    const encoder = callerFormat(OPTIONS).createStreamEncoder(identity());
    const idle = (seconds: number): string => {
      let frames = '';
      for (let past = 10; past <= seconds; past += 10) frames += encoder.idle?.(past * 1_000) ?? '';
      return frames;
    };
    const opening = text(0, 'One');
    const stream =
      idle(140) +
      encoder.encode([begin(), ...opening.slice(0, -1)]) +
      idle(70) +
      encoder.encode([delta(0, ' two'), ...opening.slice(-1), STOP]) +
      encoder.close(FINAL_USAGE);
    assert.deepEqual(inShort(checkStream(stream)), [
      '2 in_progress R in_progress [] -',
      '3 in_progress R in_progress [] -',
      `4 output_item.added @0 ${MESSAGE}`,
      '5 content_part.added @0.0 output_text',
      '6 output_text.delta @0.0 "One"',
      '7 output_text.delta @0.0 ""',
      '8 output_text.delta @0.0 " two"',
      '9 output_text.done @0.0',
      '10 content_part.done @0.0',
      '11 output_item.done @0',
      '12 completed R completed [=0] 20/0/3/0',
    ]);
  });

  // @spec responses-104
  test('a compaction is one item, whose summary is sealed', async () => {
    const { response } = request();
    assert.ok(response !== undefined);
    const of = request({ response: { ...response, compacts: [] } });
    const events = [begin('messages'), ...thought(0, 'anthropic-claude-v1', 'Hm.'), ...text(1, 'They want tea.'), STOP];
    assert.deepEqual(await linesOf(events, of), [
      '2 output_item.added @0 {"id":"cmp_1","type":"compaction","encrypted_content":""}',
      '3 output_item.done @0 {"encrypted_content":"sc1.x"}',
      '4 completed R completed [=0] 20/0/3/0',
    ]);
  });
});
