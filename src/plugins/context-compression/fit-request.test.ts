import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Block } from '../../canonical/blocks.ts';
import { estimateRequestTokens } from '../../canonical/estimate-tokens.ts';
import type { FormatId } from '../../canonical/extra.ts';
import type { GenerationRequest, Turn } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import { fitByMiddleOut } from './fit-request.ts';
import { plainDirectives } from '../../../tests/support/plain-directives.ts';

function requestOf(turns: readonly Turn[], maxTokens?: number): GenerationRequest {
  return {
    format: 'chat',
    delivery: 'whole',
    turns,
    tools: [],
    settings: maxTokens === undefined ? {} : { maxTokens },
    directives: plainDirectives('acme/one'),
    warnings: [],
  };
}

function turnOf(role: Turn['role'], text: string): Turn {
  return { role, blocks: [{ type: 'text', text }] };
}

const call = (id: string): Turn => ({
  role: 'assistant',
  blocks: [
    { type: 'text', text: 'I look.' },
    { type: 'tool-call', id, name: 'look', input: '{"at":1}', runBy: 'caller' },
  ],
});

const resultOf = (role: 'tool' | 'user', id: string, text: string): Turn => ({
  role,
  blocks: [{ type: 'tool-result', callId: id, content: [{ type: 'text', text }] }],
});

const text = fc
  .integer({ min: 0, max: 1_500 })
  .chain((chars) => fc.constantFrom('word ', '日本', '👋🏽 ').map((unit) => unit.repeat(Math.ceil(chars / unit.length))));

/** One exchange: a plain answer, or calls of tools with their results as either format writes them. */
const exchange: fc.Arbitrary<(id: string) => readonly Turn[]> = fc.oneof(
  fc.tuple(text, text).map(([requested, answered]) => () => [turnOf('user', requested), turnOf('assistant', answered)]),
  fc.tuple(text, fc.constantFrom('tool' as const, 'user' as const)).map(([found, role]) => (id: string) => [
    call(id),
    resultOf(role, id, found),
  ]),
  text.map((reported) => () => [turnOf('system', reported.slice(0, 200))]),
);

const conversation = fc
  .tuple(text, fc.array(exchange, { maxLength: 30 }), text, fc.boolean())
  .map(([first, exchanges, last, endsWithResult]): readonly Turn[] => [
    turnOf('system', 'Be brief.'),
    turnOf('user', `first ${first.slice(0, 400)}`),
    turnOf('assistant', 'yes'),
    ...exchanges.flatMap((make, index) => make(`call-${index}`)),
    ...(endsWithResult
      ? [call('last'), resultOf('tool', 'last', last.slice(0, 400))]
      : [turnOf('user', `last ${last.slice(0, 400)}`)]),
  ]);

function blocksOf(turns: readonly Turn[]): readonly Block[] {
  return turns.flatMap(({ blocks }) => blocks);
}

function assertNothingDangles(turns: readonly Turn[]): void {
  const blocks = blocksOf(turns);
  const calls = blocks.flatMap((block) => (block.type === 'tool-call' ? [block.id] : []));
  const results = blocks.flatMap((block) => (block.type === 'tool-result' ? [block.callId] : []));
  assert.deepEqual(results.toSorted(), calls.toSorted());
}

// @spec plugin-21
test('fits what can fit, in order, with its first and last message and its instructions, and leaves nothing dangling', () => {
  let compressed = 0;
  fc.assert(
    fc.property(
      conversation,
      fc.integer({ min: 1_000, max: 12_000 }),
      fc.option(fc.integer({ min: 1, max: 500 }), { nil: undefined }),
      fc.constantFrom<FormatId>('chat', 'messages'),
      (turns, contextTokensMax, maxTokens, format) => {
        const request = requestOf(turns, maxTokens);
        const endpoint = { contextTokensMax };
        const fitting = fitByMiddleOut(request, true);
        const fitted = fitting.fit(request, endpoint, format);
        const needed = estimateRequestTokens(request) + (maxTokens ?? 0);
        if (fitted === undefined) {
          assert.ok(needed <= contextTokensMax || fitting.judge([endpoint])(endpoint) === false);
          return;
        }
        assert.ok(needed > contextTokensMax);
        const left = fitted.request.turns;
        if (fitting.judge([endpoint])(endpoint) === true) {
          assert.ok(estimateRequestTokens(fitted.request) + (maxTokens ?? 0) <= contextTokensMax);
          compressed++;
        }
        const isOfUser = ({ role, blocks }: Turn): boolean => role === 'user' && blocks[0]?.type === 'text';
        const lastOfUser = turns.findLast(isOfUser);
        let at = -1;
        let cuts = 0;
        for (const turn of left) {
          const next = turns.indexOf(turn, at + 1);
          if (next < 0) cuts++;
          else at = next;
        }
        assert.ok(cuts <= 1, 'at most one turn is cut, all others stand as they were and in their order');
        const isKept = (turn: Turn): boolean =>
          turn.role === 'system' || turn === turns[1] || turn === turns.at(-1) || turn === lastOfUser;
        for (const turn of turns.filter(isKept)) assert.ok(left.includes(turn));
        assert.equal(left.at(-1), turns.at(-1));
        assertNothingDangles(left);
        assert.deepEqual(fitted.stage.data, {
          engine: 'middle-out',
          input_type: 'messages',
          original_count: turns.length,
          compressed_count: left.length,
        });
      },
    ),
    { numRuns: 1_000, seed: 11 },
  );
  assert.ok(compressed > 100, `${compressed} of the cases were compressed`);
});

test('keeps as much of the beginning as of the end', () => {
  const middle = Array.from({ length: 40 }, (_, index) =>
    turnOf(index % 2 === 0 ? 'assistant' : 'user', `${index} ${'x'.repeat(396)}`),
  );
  const turns = [turnOf('user', 'first'), ...middle, turnOf('user', 'last')];
  const { request } =
    fitByMiddleOut(requestOf(turns), true).fit(requestOf(turns), { contextTokensMax: 3_000 }, 'chat') ?? assert.fail();
  const indexes = request.turns
    .slice(1, -1)
    .map(({ blocks: [block] }) => (block?.type === 'text' ? Number.parseInt(block.text, 10) : -1));
  const [before, after] = [indexes.filter((index) => index < 20).length, indexes.filter((index) => index >= 20).length];
  assert.ok(Math.abs(before - after) <= 1, `${before} and ${after}`);
  assert.deepEqual(
    indexes,
    indexes.toSorted((left, right) => left - right),
  );
});

test('cuts the middle of the one turn that half fits, and splits no character', () => {
  const long = turnOf('assistant', '👋'.repeat(4_000));
  const turns = [turnOf('user', 'first'), long, turnOf('user', 'last')];
  const { request } =
    fitByMiddleOut(requestOf(turns), true).fit(requestOf(turns), { contextTokensMax: 2_000 }, 'chat') ?? assert.fail();
  const [block] = request.turns[1]?.blocks ?? [];
  assert.ok(
    block?.type === 'text' && block.text.includes('[...]') && block.text.startsWith('👋') && block.text.endsWith('👋'),
  );
  assert.ok(block.text.isWellFormed());
});

test("keeps or leaves out a vendor's calls together with their results", () => {
  const item = (role: Turn['role'], value: JsonObject): Turn => ({
    role,
    blocks: [{ type: 'opaque', format: 'responses', value }],
  });
  const fillers = Array.from({ length: 40 }, (_, index) => turnOf('assistant', `${index} ${'x'.repeat(200)}`));
  const pairs: readonly (readonly [Turn, Turn])[] = [
    [
      item('assistant', { type: 'computer_call', id: 'cu_1', call_id: 'call_1', action: { type: 'click' } }),
      item('user', { type: 'computer_call_output', call_id: 'call_1', output: { image_url: 'x'.repeat(600) } }),
    ],
    [
      item('assistant', { type: 'mcp_approval_request', id: 'mcpr_1', name: 'look', arguments: '{}' }),
      item('user', { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', reason: 'x'.repeat(600) }),
    ],
  ];
  for (const [asked, result] of pairs)
    for (let before = 0; before <= fillers.length; before++) {
      const [head, tail] = [fillers.slice(0, before), fillers.slice(before)];
      const turns = [turnOf('user', 'first'), ...head, asked, turnOf('assistant', 'Done?'), result, ...tail];
      const request = requestOf([...turns, turnOf('user', 'last')]);
      const left = fitByMiddleOut(request, true).fit(request, { contextTokensMax: 2_000 }, 'responses')?.request.turns;
      assert.equal(left?.includes(asked), left?.includes(result), `${before} turns before the call`);
    }
});

// @spec plugin-24
test('upstreams of the messages format get at most a thousand turns, half of them from each end', () => {
  const turns = Array.from({ length: 1_501 }, (_, index) => turnOf(index % 2 === 0 ? 'user' : 'assistant', `${index}`));
  const request = requestOf(turns);
  const fitting = fitByMiddleOut(request, true);
  assert.equal(fitting.fit(request, {}, 'chat'), undefined);
  const left = fitting.fit(request, {}, 'messages')?.request.turns ?? [];
  assert.equal(left.length, 1_000);
  assert.deepEqual(left, [...turns.slice(0, 500), ...turns.slice(-500)]);
});

test('runs by default for contexts of at most 8192 tokens', () => {
  const turns = [turnOf('user', 'first'), turnOf('assistant', 'x'.repeat(80_000)), turnOf('user', 'last')];
  const request = requestOf(turns);
  const fitting = fitByMiddleOut(request, false);
  const [small, large] = [{ contextTokensMax: 8_192 }, { contextTokensMax: 8_193 }];
  assert.equal(fitting.fit(request, large, 'chat'), undefined);
  assert.notEqual(fitting.fit(request, small, 'chat'), undefined);
  const pictures = { contextTokensMax: 8_192, outputModalities: ['image'] };
  assert.equal(fitByMiddleOut(request, true).fit(request, pictures, 'chat'), undefined);
});

test('tries endpoints that read half of the request, or else those that read the most of it', () => {
  const turns = [turnOf('user', 'first'), turnOf('assistant', 'x'.repeat(40_000)), turnOf('user', 'last')];
  const [most, half, less] = [{ contextTokensMax: 9_000 }, { contextTokensMax: 5_100 }, { contextTokensMax: 4_900 }];
  const fitting = fitByMiddleOut(requestOf(turns), true);
  const all = fitting.judge([most, half, less]);
  assert.deepEqual([most, half, less].map(all), [true, true, false]);
  assert.equal(fitting.judge([less])(less), true);
  assert.equal(fitting.judge([{ contextTokensMax: 20_000 }])({ contextTokensMax: 20_000 }), undefined);
  assert.equal(fitting.judge([{}])({}), undefined, 'nobody knows what it reads');
});

test('never leaves out what must be kept, and tries nothing where that is too long', () => {
  const turns = [turnOf('user', 'x'.repeat(40_000)), turnOf('assistant', 'yes'), turnOf('user', 'last')];
  const endpoint = { contextTokensMax: 6_000 };
  assert.equal(fitByMiddleOut(requestOf(turns), true).judge([endpoint])(endpoint), false);
});

test('keeps the question before a response that was begun', () => {
  const turns = [
    turnOf('user', 'first'),
    turnOf('assistant', 'x'.repeat(40_000)),
    turnOf('user', 'last'),
    turnOf('assistant', 'So'),
  ];
  const left = fitByMiddleOut(requestOf(turns), true).fit(requestOf(turns), { contextTokensMax: 100 }, 'chat')?.request
    .turns;
  assert.deepEqual(left, [turns[0], turns[2], turns[3]]);
});
