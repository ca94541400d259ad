import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ChatOrMessages } from '../support/chat-or-messages.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { CALLERS, PATHS, shareAllUpstreams, type UpstreamName } from '../support/upstreams/all-upstreams.ts';
import { refuse, type Fault } from '../support/upstreams/strict-upstream.ts';

const shared = shareAllUpstreams();

const mark = (ttl?: string): JsonObject => ({
  cache_control: { type: 'ephemeral', ...(ttl !== undefined && { ttl }) },
});

/** A tool, instructions and six texts, marked as said; nothing for no mark. */
function request(
  caller: ChatOrMessages,
  tool: JsonObject,
  system: JsonObject,
  texts: readonly JsonObject[],
): JsonObject {
  const content = texts.map((marked, at) => ({ type: 'text', text: `Text ${at}.`, ...marked }));
  const rules = [{ type: 'text', text: 'Rules.', ...system }];
  return caller === 'chat'
    ? {
        tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } }, ...tool }],
        messages: [
          { role: 'system', content: rules },
          { role: 'user', content },
        ],
      }
    : {
        max_tokens: 100,
        tools: [{ name: 'look', input_schema: { type: 'object' }, ...tool }],
        system: rules,
        messages: [{ role: 'user', content }],
      };
}

const MARK =
  /"cache_control":\{"type":"ephemeral"(?:,"ttl":"(5m|1h)")?\}|"cachePoint":\{"type":"default"(?:,"ttl":"(5m|1h)")?\}/g;

/** Lifetimes of a body's marks in the order of the prompt. */
function marksOf(body: JsonObject): readonly string[] {
  const prompt = [body['tools'] ?? body['toolConfig'], body['system'], body['messages']];
  const found = prompt.flatMap((part) => [...(JSON.stringify(part) ?? '').matchAll(MARK)]);
  return found.map(([, ttl, pointTtl]) => ttl ?? pointTtl ?? '5m');
}

/** In the vendor's words. platform.claude.com "Prompt caching", read 2026-11 */
const wrongMarks: Fault = (_format, body) => {
  const marks = marksOf(body);
  const count = marks.length + (body['cache_control'] === undefined ? 0 : 1);
  if (count > 4) return `A maximum of 4 blocks with cache_control may be provided. Found ${count}.`;
  return /5m.*1h/.test(marks.join(' '))
    ? "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block"
    : undefined;
};

const WITH_MARKS = ['claude', 'messages-plain', 'converse'] as const satisfies readonly UpstreamName[];

suite('more cache breakpoints than a vendor accepts', () => {
  for (const caller of CALLERS)
    for (const name of WITH_MARKS)
      // @spec prompt-cache-2
      test(`are cut to the last four for ${name}: ${caller} caller`, async () => {
        const { upstream, ask } = shared();
        upstream.script = refuse(wrongMarks);
        const requested = request(caller, mark('1h'), mark('1h'), [mark(), {}, mark(), mark(), {}, mark()]);
        const { arrived, warnings } = await ask(caller, name, requested);
        assert.deepEqual(marksOf(arrived.body as JsonObject), ['5m', '5m', '5m', '5m']);
        const lost =
          caller === 'chat'
            ? ['tools[0].cache_control', 'messages[0].content[0].cache_control']
            : ['tools[0].cache_control', 'system[0].cache_control'];
        assert.deepEqual(
          warnings.filter((warning) => warning.endsWith('.cache_control')),
          lost.map((path) => `field-dropped ${path}`),
        );
      });

  for (const caller of CALLERS)
    // @spec prompt-cache-2
    test(`include the one of the whole request: ${caller} caller`, async () => {
      const { upstream, ask } = shared();
      upstream.script = refuse(wrongMarks);
      const requested = { ...request(caller, mark(), mark(), [mark(), mark(), {}, {}]), ...mark() };
      const { arrived } = await ask(caller, 'claude', requested);
      assert.deepEqual(arrived.body['cache_control'], { type: 'ephemeral' });
      assert.equal(marksOf(arrived.body as JsonObject).length, 3);
    });
});

suite('lifetimes of cache breakpoints', () => {
  for (const caller of CALLERS)
    for (const name of WITH_MARKS)
      test(`are sent as requested, longer ones first: ${name}, ${caller} caller`, async () => {
        const { upstream, ask } = shared();
        upstream.script = refuse(wrongMarks);
        const requested = request(caller, {}, mark('1h'), [mark('1h'), mark('5m'), mark()]);
        const { arrived } = await ask(caller, name, requested);
        assert.deepEqual(marksOf(arrived.body as JsonObject), ['1h', '1h', '5m', '5m']);
      });

  for (const caller of CALLERS)
    // @spec prompt-cache-6
    test(`are rejected in the wrong order by the vendor, in its own words: ${caller} caller`, async () => {
      const { gateway, upstream } = shared();
      upstream.script = refuse(wrongMarks);
      const requested = request(caller, {}, mark('5m'), [mark('1h')]);
      const response = await gateway.post(PATHS[caller], { model: 'acme/claude', ...requested });
      assert.equal(response.status, 400);
      assert.match(await response.text(), /must not come after/);
    });
});

suite('cache breakpoints for a provider with automatic caching', () => {
  for (const caller of CALLERS)
    for (const name of ['chat', 'gemini', 'responses', 'cohere'] as const)
      // @spec prompt-cache-5
      test(`are left out with a warning: ${name}, ${caller} caller`, async () => {
        const { ask } = shared();
        const { arrived, warnings } = await ask(caller, name, request(caller, {}, mark(), [mark()]));
        assert.ok(!/cache_control|cachePoint/.test(arrived.text));
        // OpenAI's newest have a spelling of their own.
        if (name !== 'responses')
          assert.equal(warnings.filter((warning) => warning.endsWith('cache_control')).length, 2, warnings.join());
      });
});
