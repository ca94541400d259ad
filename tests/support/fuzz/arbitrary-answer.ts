import * as fc from 'fast-check';
import type { Block, Citation } from '../../../src/canonical/blocks.ts';
import type { FinishReason, GenerationEvent } from '../../../src/canonical/events.ts';
import type { FormatId } from '../../../src/canonical/extra.ts';
import { NO_USAGE } from '../../../src/canonical/usage.ts';

const FORMATS = [
  'chat',
  'messages',
  'gemini',
  'converse',
  'responses',
  'cohere',
] as const satisfies readonly FormatId[];

const text = fc.string({ unit: 'grapheme', maxLength: 8 });
const seal = fc.base64String({ minLength: 4, maxLength: 12 });
const name = fc.stringMatching(/^[a-zA-Z0-9_-]{1,12}$/);
const family = fc.constantFrom('anthropic-claude-v1', 'openai-responses-v1', 'google-gemini-v1', 'unknown');

/** A block with what comes of it piece by piece. */
interface Growing {
  readonly block: Block;
  readonly deltas: readonly { readonly text?: string; readonly signature?: string; readonly citation?: Citation }[];
}

const source = { type: fc.constant('url' as const), url: fc.webUrl(), title: text };

const citation: fc.Arbitrary<Citation> = fc.oneof(
  fc.record(source),
  fc.record({ ...source, start: fc.nat({ max: 3 }), end: fc.nat({ max: 9 }) }),
);

/** Sources of the whole answer, and after how many of its events they come. */
const wholeCitations = fc.array(fc.record({ citation, at: fc.nat({ max: 30 }) }), { maxLength: 4 });

const textBlock: fc.Arbitrary<Growing> = fc.record({
  block: fc.constant({ type: 'text', text: '' }),
  deltas: fc.array(fc.oneof({ weight: 3, arbitrary: fc.record({ text }) }, fc.record({ citation })), { maxLength: 4 }),
});

const readableReasoning: fc.Arbitrary<Growing> = fc
  .record({
    form: fc.constantFrom('text' as const, 'summary' as const),
    family,
    pieces: fc.array(text, { maxLength: 3 }),
    signature: fc.option(seal, { nil: undefined }),
  })
  .map(({ form, family: signer, pieces, signature }) => ({
    block: { type: 'reasoning', form, text: '', family: signer },
    deltas: [...pieces.map((piece) => ({ text: piece })), ...(signature === undefined ? [] : [{ signature }])],
  }));

const sealedReasoning: fc.Arbitrary<Growing> = fc.record({ family, data: seal }).map(({ family: signer, data }) => ({
  block: { type: 'reasoning', form: 'encrypted', text: data, family: signer },
  deltas: [],
}));

const call: fc.Arbitrary<Growing> = fc
  .record({
    name,
    input: fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 }),
    cut: fc.nat({ max: 20 }),
    runBy: fc.constantFrom('caller' as const, 'caller' as const, 'upstream' as const),
  })
  .map(({ name: called, input, cut, runBy }) => {
    const json = JSON.stringify(input);
    return {
      block: { type: 'tool-call', id: '', name: called, input: '', runBy },
      deltas: [{ text: json.slice(0, cut) }, { text: json.slice(cut) }].filter((delta) => delta.text !== ''),
    };
  });

const image: fc.Arbitrary<Growing> = seal.map((data) => ({
  block: { type: 'media', media: 'image', source: { type: 'base64', mediaType: 'image/png', data } },
  deltas: [],
}));

const odd: fc.Arbitrary<Growing> = fc.constantFrom(...FORMATS).map((format) => ({
  block: { type: 'opaque', format, value: { type: 'kind_of_the_future', n: 7 } },
  deltas: [],
}));

const growing = fc.oneof(
  { weight: 3, arbitrary: textBlock },
  { weight: 2, arbitrary: readableReasoning },
  { weight: 3, arbitrary: call },
  sealedReasoning,
  image,
  odd,
);

const usage = fc
  .record({
    prompt: fc.nat({ max: 10_000 }),
    completion: fc.nat({ max: 10_000 }),
    read: fc.nat({ max: 10_000 }),
    write: fc.nat({ max: 10_000 }),
    reasoning: fc.option(fc.nat({ max: 10_000 }), { nil: undefined }),
  })
  .map(({ prompt, completion, read, write, reasoning }) => ({
    ...NO_USAGE,
    promptTokens: prompt + read + write,
    completionTokens: completion + (reasoning ?? 0),
    cacheReadTokens: read,
    cacheWriteTokens: write,
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
    estimated: false,
  }));

/**
 * The events of any answer that an upstream may give: blocks of every kind in any order, calls in a row with their
 * arguments by turns.
 */
export function arbitraryAnswer(): fc.Arbitrary<readonly GenerationEvent[]> {
  return fc
    .record({
      format: fc.constantFrom(...FORMATS),
      blocks: fc.array(growing, { maxLength: 6 }),
      usage,
      finish: fc.constantFrom<FinishReason>('stop', 'length', 'content_filter'),
      byTurns: fc.boolean(),
      wholeCitations,
    })
    .map((answer) => cite(eventsOf(answer), answer));
}

/** Sources of the whole answer come at any time between its start and its end; the messages format has none. */
function cite(
  events: readonly GenerationEvent[],
  answer: { readonly format: FormatId; readonly wholeCitations: readonly { citation: Citation; at: number }[] },
): readonly GenerationEvent[] {
  if (answer.format === 'messages') return events;
  let cited = events;
  for (const { citation: reported, at } of answer.wholeCitations)
    cited = cited.toSpliced(1 + (at % (cited.length - 2)), 0, { type: 'citation', index: -1, citation: reported });
  return cited;
}

function eventsOf(answer: {
  readonly format: FormatId;
  readonly blocks: readonly Growing[];
  readonly usage: typeof NO_USAGE;
  readonly finish: FinishReason;
  readonly byTurns: boolean;
}): readonly GenerationEvent[] {
  const events: GenerationEvent[] = [{ type: 'start', format: answer.format }];
  let row: { readonly index: number; readonly deltas: Growing['deltas'] }[] = [];
  const endRow = (): void => {
    const longest = Math.max(0, ...row.map(({ deltas }) => deltas.length));
    for (let at = 0; at < longest; at++)
      for (const { index, deltas } of row) {
        const delta = deltas[at];
        if (delta !== undefined) events.push({ type: 'block-delta', index, text: delta.text });
      }
    for (const { index } of row) events.push({ type: 'block-end', index });
    row = [];
  };
  for (const [index, { block, deltas }] of answer.blocks.entries()) {
    if (block.type === 'tool-call') {
      if (!answer.byTurns) endRow();
      events.push({ type: 'block-start', index, block: { ...block, id: `call_${index}` } });
      row.push({ index, deltas });
      continue;
    }
    endRow();
    events.push({ type: 'block-start', index, block });
    for (const delta of deltas) {
      if (delta.citation === undefined) events.push({ type: 'block-delta', index, ...delta });
      else events.push({ type: 'citation', index, citation: delta.citation });
    }
    events.push({ type: 'block-end', index });
  }
  endRow();
  const called = answer.blocks.some(({ block }) => block.type === 'tool-call' && block.runBy === 'caller');
  events.push(
    { type: 'usage', usage: answer.usage },
    { type: 'end', finish: called && answer.finish === 'stop' ? 'tool_calls' : answer.finish },
  );
  return events;
}
