import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ChatOrMessages } from '../support/chat-or-messages.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import {
  CALLERS,
  shareAllUpstreams,
  startAllUpstreams,
  type UpstreamName,
} from '../support/upstreams/all-upstreams.ts';
import { bring, byKey } from '../support/byok.ts';
import { cachePrompts, readBody, type CachedBody } from '../support/upstreams/caching-upstream.ts';
import { PNG_BASE64, PNG_DATA_URL } from '../support/files/media.ts';
import { messageOf, resultsFor, toolsOf } from '../support/next-turn.ts';
import type { SpokenPart } from '../support/upstreams/spoken.ts';
import { listOf, objectOf, type Reported } from '../support/reported.ts';
import type { Script } from '../support/upstream.ts';

const shared = shareAllUpstreams();

const NAMES = [
  'chat',
  'openai',
  'openrouter',
  'claude',
  'messages-plain',
  'gemini',
  'responses',
  'converse',
  'nova',
  'cohere',
] as const satisfies readonly UpstreamName[];

const LONG = 'You are an agent with many rules. '.repeat(40);
const MARK = { cache_control: { type: 'ephemeral' } };

/** What the model says, turn by turn. */
const ANSWERS: readonly (readonly SpokenPart[])[] = [
  [
    { type: 'thought', text: 'I look.', seal: 'c2VhbGVkMQ==' },
    { type: 'text', text: 'I will look.' },
    { type: 'call', id: 'call_1', name: 'look', input: '{"at": "sky", "n": 1.0}', signature: 'c2lnbmVkMQ==' },
    { type: 'call', id: 'call_2', name: 'hear', input: '{}' },
  ],
  [{ type: 'text', text: 'It is grey — and loud.' }],
];

function text(caller: ChatOrMessages, stated: string, marked: boolean): JsonObject {
  const part = { type: 'text', text: stated, ...(marked && MARK) };
  const image =
    caller === 'chat'
      ? { type: 'image_url', image_url: { url: PNG_DATA_URL } }
      : { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG_BASE64 } };
  return { role: 'user', content: stated.startsWith('See') ? [image, part] : [part] };
}

/** Where a caller says what is to be cached: on blocks, as agents do, or once for the whole request. */
type Marking = 'on blocks' | 'on the request';

const BY_MARKS: ReadonlySet<UpstreamName> = new Set(['claude', 'messages-plain', 'converse', 'nova']);

/** The same conversation with its one mark on the whole request, and texts as the bare strings that such callers write. */
function markAsAWhole({ messages, system, ...body }: JsonObject): JsonObject {
  const bare = (message: JsonObject): JsonObject => {
    const parts = listOf(message['content']).map((part) => {
      const { cache_control: _mark, ...unmarked } = objectOf(part);
      return unmarked;
    });
    const [only] = parts;
    if (parts.length === 0) return message;
    return { ...message, content: parts.length === 1 && only?.['type'] === 'text' ? (only['text'] ?? '') : parts };
  };
  return {
    ...body,
    ...(system !== undefined && { system: LONG }),
    messages: listOf(messages).map((message) => bare(objectOf(message))),
    ...MARK,
  };
}

/** A request with these messages after its instructions. */
function request(caller: ChatOrMessages, messages: readonly JsonObject[]): JsonObject {
  const system = [{ type: 'text', text: LONG, ...MARK }];
  const shape =
    caller === 'chat'
      ? { messages: [{ role: 'system', content: system }, ...messages] }
      : { max_tokens: 4_000, system, messages };
  return { ...shape, tools: toolsOf(caller, 'look', 'hear') };
}

interface Counts {
  readonly prompt: number;
  readonly read: number;
  readonly written: number;
  readonly cost: unknown;
}

function countsOf(caller: ChatOrMessages, { usage }: Reported): Counts {
  if (caller === 'chat') {
    const details = objectOf(usage['prompt_tokens_details']);
    return {
      prompt: Number(usage['prompt_tokens']),
      read: Number(details['cached_tokens'] ?? 0),
      written: Number(details['cache_write_tokens'] ?? 0),
      cost: usage['cost'],
    };
  }
  const read = Number(usage['cache_read_input_tokens'] ?? 0);
  const written = Number(usage['cache_creation_input_tokens'] ?? 0);
  return { prompt: Number(usage['input_tokens']) + read + written, read, written, cost: usage['cost'] };
}

/** USD. Of the price list of the test's models in nano-USD a token; Cohere bills units of its own, which know no cache. */
function expectedCost({ prompt, read, written }: Counts, name: UpstreamName): number {
  const promptNano =
    name === 'cohere' ? prompt * 1_000 : (prompt - read - written) * 1_000 + read * 100 + written * 1_250;
  return (promptNano + 7 * 2_000) / 1e9;
}

/** Sends the first request three times, then the next one twice; returns the reported usage and cost of each. */
async function talk(
  name: UpstreamName,
  caller: ChatOrMessages,
  { stream, marking }: { readonly stream: boolean; readonly marking: Marking },
): Promise<readonly Counts[]> {
  const { upstream, ask } = shared();
  upstream.script = cachePrompts((answers) => ANSWERS[answers] ?? []);
  const counts: Counts[] = [];
  const send = async (messages: readonly JsonObject[]): Promise<Reported> => {
    const requested = request(caller, messages);
    const body = marking === 'on blocks' ? requested : markAsAWhole(requested);
    const { reported } = await ask(caller, name, { ...body, stream });
    counts.push(countsOf(caller, reported));
    return reported;
  };
  const first = [text(caller, 'See this.', true)];
  const reported = await send(first);
  await send(first);
  await send(first);
  const next = [
    text(caller, 'See this.', false),
    messageOf(caller, reported),
    ...resultsFor(caller, reported),
    text(caller, 'And now?', true),
  ];
  await send(next);
  await send(next);
  return counts;
}

suite('a provider that caches prompts by prefix', () => {
  for (const name of NAMES)
    for (const caller of CALLERS) {
      for (const marking of ['on blocks', 'on the request'] as const)
        // @spec prompt-cache-10
        test(`writes once and then reads: ${name}, reported and charged for a ${caller} caller with breakpoint ${marking}`, async () => {
          const counts = await talk(name, caller, { stream: false, marking });
          const [write, read, again, longer, longest] = counts as [Counts, Counts, Counts, Counts, Counts];
          assert.equal(write.read, 0);
          assert.equal(write.written > 0, BY_MARKS.has(name));
          assert.ok(read.read > LONG.length / 4, `the instructions are read: ${read.read} of ${read.prompt}`);
          assert.equal(read.written, 0);
          if (write.written > 0) assert.equal(read.read, write.written);
          assert.deepEqual(again, read);
          assert.ok(longer.read >= read.read, 'what was cached stays cached while the conversation grows');
          assert.equal(
            longest.read,
            longer.read + longer.written + (write.written > 0 ? 0 : longest.read - longer.read),
          );
          for (const one of counts) assert.equal(one.cost, expectedCost(one, name));
          assert.deepEqual(
            await talk(name, caller, { stream: true, marking }),
            counts,
            'a stream counts and costs the same',
          );
        });

      // @spec prompt-cache-8
      test(`gets the same bytes for repeated parts: ${name}, ${caller} caller`, async () => {
        const { upstream, ask } = shared();
        upstream.script = cachePrompts((answers) => ANSWERS[answers] ?? []);
        let messages: readonly JsonObject[] = [text(caller, 'See this.', false)];
        const bodies: CachedBody[] = [];
        for (const more of ['And now?', 'And then?', '']) {
          const { reported, arrived } = await ask(caller, name, request(caller, messages));
          bodies.push(readBody(arrived));
          const again = await ask(caller, name, request(caller, messages));
          assert.equal(again.arrived.text, arrived.text, 'the same request is the same body');
          messages = [
            ...messages,
            messageOf(caller, reported),
            ...resultsFor(caller, reported).filter(hasContent),
            text(caller, more, false),
          ];
        }
        for (const [at, body] of bodies.slice(1).entries()) {
          const before = bodies[at];
          assert.ok(before !== undefined);
          assert.equal(body.prefix.slice(0, before.prefix.length), before.prefix);
          assert.equal(body.behind, before.behind);
        }
      });
    }
});

/** Each credential has a cache of its own, as each account has at a vendor. */
function cacheByCredential(): Script {
  const scripts = ['sk-own-first-0123456789', 'sk-own-second-0123456789'].map((key): [string, Script] => [
    key,
    cachePrompts(() => [{ type: 'text', text: 'Yes.' }]),
  ]);
  return byKey(Object.fromEntries(scripts));
}

suite('two BYOK credentials of an account', () => {
  for (const name of ['claude', 'messages-plain', 'openrouter'] as const satisfies readonly UpstreamName[])
    for (const caller of CALLERS)
      test(`serve one conversation with the same credential, whose cache is read: ${name}, ${caller} caller`, async (t) => {
        const { gateway, upstream, ask } = await startAllUpstreams(t);
        upstream.script = cacheByCredential();
        for (const key of ['sk-own-first-0123456789', 'sk-own-second-0123456789']) await bring(gateway, name, key);
        const read: number[] = [];
        for (let call = 0; call < 3; call++) {
          const { reported } = await ask(caller, name, request(caller, [text(caller, 'What now?', true)]));
          read.push(countsOf(caller, reported).read);
        }
        assert.equal(read[0], 0);
        assert.ok((read[1] ?? 0) > LONG.length / 4);
        assert.equal(read[2], read[1]);
      });
});

/** An answer without calls has no results. */
function hasContent({ content }: JsonObject): boolean {
  return !Array.isArray(content) || content.length > 0;
}
