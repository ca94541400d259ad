import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ClientFormatId } from '../../src/canonical/extra.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { drawReasoning } from '../../src/wire/messages/draw-answer.ts';
import { CALLERS, ONE_OF_EACH, shareAllUpstreams } from '../support/all-upstreams.ts';
import { messageOf, resultsFor, toolsOf } from '../support/next-turn.ts';
import { say, speak } from '../support/speak.ts';
import { listOf, objectOf, textOf } from '../support/told.ts';

const shared = shareAllUpstreams();

const USER = { role: 'user', content: 'Look.' };
const ASKED = { max_tokens: 8_000, messages: [USER] };
const CALL = { type: 'call', id: 'call_1', name: 'look', input: '{"at":"sky"}' } as const;
const THINKING = {
  chat: { reasoning: { max_tokens: 2_000 } },
  messages: { thinking: { type: 'enabled', budget_tokens: 2_000 } },
};

/** Kinds of blocks in the order in which a messages caller gets them. */
function kindsOf(message: JsonObject): readonly string[] {
  return listOf(message['content']).map((block) => textOf(objectOf(block)['type']));
}

suite('thinking, then a call, then text', () => {
  for (const name of ONE_OF_EACH)
    for (const caller of CALLERS)
      for (const stream of [false, true])
        test(`all of it comes from ${name} to a ${caller} caller, stream: ${stream}`, async () => {
          const { upstream, ask } = shared();
          const text = { type: 'text', text: 'Looking.' } as const;
          upstream.script = speak({ parts: [{ type: 'thought', text: 'I look.' }, CALL, text] });
          const { told } = await ask(caller, name, { ...ASKED, stream, tools: toolsOf(caller, 'look') });
          assert.equal(told.reasoning, 'I look.');
          assert.equal(told.text, 'Looking.');
          assert.deepEqual(told.calls, [{ id: 'call_1', name: 'look', arguments: CALL.input }]);
          assert.equal(told.finish, caller === 'chat' ? 'tool_calls' : 'tool_use');
          if (caller === 'messages')
            // Formats that hold calls apart from the content have lost the order already when they are whole.
            assert.deepEqual(kindsOf(told.message).toSorted(), ['text', 'thinking', 'tool_use']);
        });
});

suite('encrypted reasoning of vendors whose wire format is the same', () => {
  for (const [name, family] of [
    ['responses', 'openai-responses-v1'],
    ['azure', 'azure-openai-responses-v1'],
    ['xai', 'xai-responses-v1'],
  ] as const)
    for (const stream of [false, true])
      test(`is told apart, and goes back to ${name}, stream: ${stream}`, async () => {
        const { upstream, ask } = shared();
        const text = { type: 'text', text: 'Thought.' } as const;
        upstream.script = speak({ parts: [{ type: 'thought', text: 'I think.', seal: 'gAAAAsealed' }, text] });
        for (const caller of CALLERS) {
          const { told } = await ask(caller, name, { ...ASKED, stream });
          const details = listOf(told.message['reasoning_details']).map((detail) => objectOf(detail)['format']);
          if (caller === 'chat') assert.deepEqual(details, [family, family]);
          else assert.ok(told.seals.some((seal) => seal.includes(family) && seal.endsWith(':gAAAAsealed')));
          const messages = [USER, messageOf(caller, told), { role: 'user', content: 'Go on.' }];
          const { arrived } = await ask(caller, name, { ...ASKED, stream, messages });
          const items = listOf((arrived.body as JsonObject)['input']).map((item) => objectOf(item));
          assert.deepEqual(
            items.flatMap((item) => item['encrypted_content'] ?? []),
            ['gAAAAsealed'],
          );
        }
      });
});

suite('thinking that shows nothing', () => {
  for (const name of ['claude', 'converse'] as const)
    for (const caller of CALLERS)
      for (const stream of [false, true]) {
        test(`empty with a signature: it reaches a ${caller} caller of ${name} and goes back as it was, stream: ${stream}`, async () => {
          const { upstream, ask } = shared();
          upstream.script = speak({ parts: [{ type: 'thought', text: '', seal: 'c2lnbmVk' }, CALL] });
          const asked = { ...ASKED, ...THINKING[caller], stream, tools: toolsOf(caller, 'look') };
          const { told } = await ask(caller, name, asked);
          assert.deepEqual(told.seals, ['c2lnbmVk']);
          const messages = [USER, messageOf(caller, told), ...resultsFor(caller, told)];
          const { arrived } = await ask(caller, name, { ...asked, messages });
          assert.deepEqual(reasoningOf(name, arrived.body as JsonObject), [
            name === 'claude'
              ? { type: 'thinking', thinking: '', signature: 'c2lnbmVk' }
              : { reasoningContent: { reasoningText: { text: '', signature: 'c2lnbmVk' } } },
          ]);
        });

        test(`redacted: it reaches a ${caller} caller of ${name} and goes back as it was, stream: ${stream}`, async () => {
          const { upstream, ask } = shared();
          const seal = name === 'claude' ? 'RW1yZWRhY3RlZA==' : Buffer.from('EmredactedBlob').toString('base64');
          upstream.script = speak({ parts: [{ type: 'thought', seal }, CALL] });
          const asked = { ...ASKED, ...THINKING[caller], stream, tools: toolsOf(caller, 'look') };
          const { told } = await ask(caller, name, asked);
          assert.equal(told.seals.length, 1);
          const messages = [USER, messageOf(caller, told), ...resultsFor(caller, told)];
          const { arrived } = await ask(caller, name, { ...asked, messages });
          assert.deepEqual(reasoningOf(name, arrived.body as JsonObject), [
            name === 'claude'
              ? { type: 'redacted_thinking', data: seal }
              : { reasoningContent: { redactedContent: seal } },
          ]);
        });
      }
});

/** Blocks of reasoning in the assistant's message of a body. */
function reasoningOf(name: 'claude' | 'converse', body: JsonObject): readonly JsonObject[] {
  const blocks = listOf(objectOf(listOf(body['messages'])[1])['content']).map((block) => objectOf(block));
  return blocks.filter((block) =>
    name === 'claude' ? textOf(block['type']).includes('thinking') : block['reasoningContent'] !== undefined,
  );
}

/** A seal of each family, and the upstreams that get it back. */
const FAMILIES = [
  ['anthropic-claude-v1', ['claude', 'messages-plain', 'converse']],
  ['google-gemini-v1', ['gemini']],
  ['openai-responses-v1', ['responses']],
  ['azure-openai-responses-v1', ['azure']],
  ['xai-responses-v1', ['xai']],
] as const;

function sealOf(family: string): string {
  return Buffer.from(`sealed by ${family}`).toString('base64');
}

/** A message that went from vendor to vendor. */
function wanderer(caller: ClientFormatId): JsonObject {
  if (caller === 'chat')
    return {
      role: 'assistant',
      content: 'I see.',
      reasoning_details: FAMILIES.map(([format], index) => ({
        type: 'reasoning.encrypted',
        data: sealOf(format),
        format,
        index,
      })),
    };
  const content = FAMILIES.map(([family]) =>
    drawReasoning({ type: 'reasoning', form: 'encrypted', text: sealOf(family), family }),
  );
  return { role: 'assistant', content: [...content, { type: 'text', text: 'I see.' }] };
}

suite('reasoning of several vendors in one conversation', () => {
  for (const name of [...ONE_OF_EACH, 'openai', 'messages-plain', 'nova', 'azure', 'xai'] as const)
    for (const caller of CALLERS)
      test(`each piece goes to its own vendor only: ${name}, ${caller} caller`, async () => {
        const { upstream, ask } = shared();
        upstream.script = say('Done.');
        const messages = [USER, wanderer(caller), { role: 'user', content: 'And now?' }];
        const { told, arrived, warnings } = await ask(caller, name, { ...ASKED, messages });
        assert.equal(told.text, 'Done.');
        // The converse format holds the same bytes in a blob of its own.
        const sent = FAMILIES.filter(
          ([family]) => arrived.text.includes(sealOf(family)) || arrived.text.includes(blobOf(family)),
        );
        assert.deepEqual(
          sent.map(([family]) => family),
          FAMILIES.filter(([, takers]) => (takers as readonly string[]).includes(name)).map(([family]) => family),
        );
        assert.ok(arrived.text.includes('I see.'));
        assert.ok(
          warnings.some((warning) => warning.startsWith('content-dropped messages[1]')),
          warnings.join(),
        );
      });
});

function blobOf(family: string): string {
  return Buffer.from(sealOf(family)).toString('base64');
}
