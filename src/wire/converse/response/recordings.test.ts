import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Block } from '../../../canonical/blocks.ts';
import type { EventBatch } from '../../../canonical/events.ts';
import { foldEvents } from '../../../canonical/fold.ts';
import { checkEvents } from '../../../../tests/support/wire/event-grammar.ts';
import type { Usage } from '../../../canonical/usage.ts';
import { dialectOf } from '../../../providers/bedrock/dialect.ts';
import { decodeWhole } from './response.ts';
import { readPieces } from '../../../../tests/support/wire/converse/streams.ts';

const ROOT =
  process.env['PROVIDER_STREAMS_DIR'] ??
  fileURLToPath(new URL('../../../../../shared/fixtures/provider-streams', import.meta.url));
const DIRECTORY = join(ROOT, 'bedrock');

/** What a recording says, as its file shows when it is read. */
interface Fact {
  readonly model: string;
  readonly blocks: readonly Block[];
  readonly usage: Partial<Usage>;
  readonly finish: string;
  readonly nativeFinish: string;
}

const SIGNED = { type: 'reasoning', form: 'text', family: 'anthropic-claude-v1' } as const;

const FACTS: Readonly<Record<string, Fact>> = {
  'claude-citations-stream.eventstream': {
    model: 'us.anthropic.claude-haiku-4-5-20251001-v1:0',
    blocks: [
      {
        type: 'text',
        text: 'Ruby was created by Yukihiro Matsumoto in 1993.',
        citations: [
          {
            type: 'opaque',
            format: 'messages',
            value: {
              type: 'char_location',
              cited_text: 'The Ruby programming language was created by Yukihiro Matsumoto in 1993. ',
              document_index: 0,
              document_title: 'facts',
              start_char_index: 0,
              end_char_index: 73,
              file_id: null,
            },
          },
        ],
      },
    ],
    usage: { promptTokens: 670, completionTokens: 28, cacheReadTokens: 0, cacheWriteTokens: 0 },
    finish: 'stop',
    nativeFinish: 'end_turn',
  },
  'claude-thinking-stream.eventstream': {
    model: 'us.anthropic.claude-sonnet-4-20250514-v1:0',
    blocks: [
      {
        ...SIGNED,
        text:
          'The user has greeted me with a simple "Hello". I should respond in a friendly and welcoming manner. This is a ' +
          "straightforward greeting, so I'll respond warmly and ask how I can help them today.",
        signature:
          'Eu0CCkgIBxABGAIqQJDccbDQkr81n7QjZ0Fi43umSvw0YvnGkMPEpaGAa2btYHyWw06KhwckvsnKzpKcxiRJT35meoG4/pdrTUiy2UISDPDa' +
          'EWfOl3+HlRVsCxoMzfiqBp252RMvpmEyIjCbQ97Ac9Epkr5mgxeu1vGtJg+fDWIg0UnpMM8NYknhhvJmsXpYrfquwGL1ZnlBslUq0gHtbAAP' +
          'wlWPmiQXU7gDQCDW9IdMVyw42b4f5MrAlpWkPWOJc9H+yYv0TpP/jY72SD1opqwkWnBgkzbi7A2jPmEFzIMQSO1KDXha5ADqQ3cLYMmVdNTS' +
          'H9wlM7G7/JJ2/cqowqkwD6/q1AnYzcPte9iC67fY1LYN0NMCOSABFojP1rmkv9YBEulx5Y6eQpeVXBQiIqcGoCmWSumpGBskS1KxGerUmzUB' +
          '0JmJnTENv4x3fSGSUSEPqMiz6Ebao8sVkb1wCWuZEXWJGtiQLMIm1o471iEYAQ==',
      },
      { type: 'text', text: "Hello! It's nice to meet you. How can I help you today?" },
    ],
    usage: { promptTokens: 36, completionTokens: 73, cacheReadTokens: 0, cacheWriteTokens: 0 },
    finish: 'stop',
    nativeFinish: 'end_turn',
  },
  'gptoss-empty-text-delta-stream.eventstream': {
    model: 'openai.gpt-oss-120b-1:0',
    blocks: [
      {
        type: 'reasoning',
        form: 'text',
        family: 'unknown',
        text: 'The user just says "Hi". We need to respond appropriately, friendly greeting. No special instructions. Should be short.',
      },
      { type: 'text', text: 'Hello! How can I help you today?' },
    ],
    usage: { promptTokens: 70, completionTokens: 43, cacheReadTokens: 0, cacheWriteTokens: 0 },
    finish: 'stop',
    nativeFinish: 'end_turn',
  },
  'nova-tool-stream.eventstream': {
    model: 'us.amazon.nova-micro-v1:0',
    blocks: [
      {
        type: 'text',
        text:
          '<thinking> To find the temperature of the capital of France, I need to first determine the capital of France ' +
          'and then get the current temperature in that city. The capital of France is Paris. I will use the ' +
          '"get_temperature" tool to find the current temperature in Paris.</thinking>\n',
      },
      {
        type: 'tool-call',
        id: 'tooluse_lAG_zP8QRHmSYOwZzzaCqA',
        name: 'get_temperature',
        input: '{"city":"Paris"}',
        runBy: 'caller',
      },
    ],
    usage: { promptTokens: 471, completionTokens: 91, cacheReadTokens: 0, cacheWriteTokens: 0 },
    finish: 'tool_calls',
    nativeFinish: 'tool_use',
  },
  'cache-read.json': {
    model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    blocks: [{ type: 'text', text: '21' }],
    usage: { promptTokens: 1324, completionTokens: 5, cacheReadTokens: 1322, cacheWriteTokens: 0 },
    finish: 'stop',
    nativeFinish: 'end_turn',
  },
  'claude-tool-with-thinking.json': {
    model: 'us.anthropic.claude-3-7-sonnet-20250219-v1:0',
    blocks: [
      {
        ...SIGNED,
        text:
          'The user is asking for the largest city in their country. To answer this, I first need to determine what ' +
          'country the user is from. I can use the `get_user_country` function to retrieve this information.\n\nOnce I ' +
          "have the user's country, I can then provide information about the largest city in that country.",
        signature:
          'ErcBCkgIBhABGAIiQDYN+P1S3ACL3r24cAMKCrRNiuPPxvmT2uzREPLRyKEUXagRbXn97QCke6L7OEZvlh7NdA/MQNTwMZV8TuB4qPASDLNx' +
          'YxDx1S3luCIfARoMIwLZXwhsvjjTN72XIjAJrEl5ryAvv6C1+6YMCPC73ffE+kgwB96IcZaOuDFQtyaoWwcFcDPBguM6YNp5e3cqHbDQ3QF5' +
          'dR4PP5q+3K23pual3pUdT/0e7khyIxXkGAI=',
      },
      { type: 'text', text: "I'll need to check what country you're from to answer that question." },
      {
        type: 'tool-call',
        id: 'tooluse_W9DaUFg4Tj2cRPpndqxWSg',
        name: 'get_user_country',
        input: '{}',
        runBy: 'caller',
      },
    ],
    usage: { promptTokens: 397, completionTokens: 130, cacheReadTokens: 0, cacheWriteTokens: 0 },
    finish: 'tool_calls',
    nativeFinish: 'tool_use',
  },
  'guardrail.json': {
    model: 'us.amazon.nova-micro-v1:0',
    blocks: [
      {
        type: 'text',
        text:
          'The capital of France is Paris. Paris is not only the capital city but also the most populous city in France, ' +
          "serving as the center of French government, culture, and commerce. It's known for its historical and cultural " +
          'landmarks such as the Eiffel Tower, the Louvre Museum, Notre-Dame Cathedral, and many charming neighborhoods ' +
          'like Montmartre.',
      },
    ],
    usage: { promptTokens: 13, completionTokens: 69, cacheReadTokens: 0, cacheWriteTokens: 0 },
    finish: 'stop',
    nativeFinish: 'end_turn',
  },
};

if (existsSync(DIRECTORY)) {
  suite('recorded responses of Bedrock', () => {
    test('checks every recording against its content', () => {
      const found = readdirSync(DIRECTORY).filter((name) => !name.endsWith('.meta.json'));
      assert.deepEqual(found.toSorted(), Object.keys(FACTS).toSorted());
    });
    for (const [name, fact] of Object.entries(FACTS)) {
      test(name, () => checkRecording(name, fact));
      if (name.endsWith('.eventstream'))
        test(`${name}, cut at any byte`, () => {
          const bytes = readFileSync(join(DIRECTORY, name));
          const whole = readPieces([bytes]);
          for (let cut = 0; cut <= bytes.length; cut++)
            assert.deepEqual(readPieces([bytes.subarray(0, cut), bytes.subarray(cut)]), whole);
        });
    }
    test('passes the findings of a guardrail on', () => {
      const events = readRecording('guardrail.json', {});
      const extra = events.find((event) => event.type === 'extra')?.extra;
      assert.equal(extra?.format, 'converse');
      assert.match(JSON.stringify(extra.fields['trace']), /^\{"guardrail":\{"actionReason":"No action\."/);
    });
  });
} else {
  const why = `NO RECORDINGS at ${DIRECTORY}: set PROVIDER_STREAMS_DIR to replay them`;
  console.error(why);
  test('recorded responses of Bedrock', { skip: why }, () => undefined);
}

function readRecording(name: string, dialect: ReturnType<typeof dialectOf>): EventBatch {
  const bytes = readFileSync(join(DIRECTORY, name));
  return name.endsWith('.json') ? decodeWhole(bytes.toString('utf8'), dialect) : readPieces([bytes], dialect);
}

function checkRecording(name: string, { model, blocks, usage, finish, nativeFinish }: Fact): void {
  const events = readRecording(name, dialectOf(model));
  checkEvents(events);
  assert.ok(!events.some(({ type }) => type === 'warning'));
  const response = foldEvents(events);
  assert.deepEqual(response.blocks, blocks);
  assert.deepEqual({ ...response.usage, ...usage }, response.usage);
  assert.deepEqual(response.end, { type: 'end', finish, nativeFinish });
}
