import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ChatOrMessages } from '../support/chat-or-messages.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { encodeReasoning } from '../../src/wire/messages/response/content-out.ts';
import { CALLERS, ONE_OF_EACH, shareAllUpstreams } from '../support/upstreams/all-upstreams.ts';
import { messageOf, resultsFor, toolsOf } from '../support/next-turn.ts';
import { emit, speak } from '../support/upstreams/speak.ts';
import { listOf, objectOf, textOf } from '../support/reported.ts';

const shared = shareAllUpstreams();

const USER = { role: 'user', content: 'Look.' };
const REQUESTED = { max_tokens: 8_000, messages: [USER] };
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
        test(`reach a ${caller} caller from ${name}, stream: ${stream}`, async () => {
          const { upstream, ask } = shared();
          const text = { type: 'text', text: 'Looking.' } as const;
          upstream.script = speak({ parts: [{ type: 'thought', text: 'I look.' }, CALL, text] });
          const { reported } = await ask(caller, name, { ...REQUESTED, stream, tools: toolsOf(caller, 'look') });
          assert.equal(reported.reasoning, 'I look.');
          assert.equal(reported.text, 'Looking.');
          assert.deepEqual(reported.calls, [{ id: 'call_1', name: 'look', arguments: CALL.input }]);
          assert.equal(reported.finish, caller === 'chat' ? 'tool_calls' : 'tool_use');
          if (caller === 'messages')
            // Formats that hold calls apart from the content have lost the order already when they are whole.
            assert.deepEqual(kindsOf(reported.message).toSorted(), ['text', 'thinking', 'tool_use']);
        });
});

suite('encrypted reasoning of vendors with the same wire format', () => {
  for (const [name, family] of [
    ['responses', 'openai-responses-v1'],
    ['azure', 'azure-openai-responses-v1'],
    ['xai', 'xai-responses-v1'],
  ] as const)
    for (const stream of [false, true])
      // @spec reasoning-22
      test(`is distinguished and goes back to ${name}, stream: ${stream}`, async () => {
        const { upstream, ask } = shared();
        const text = { type: 'text', text: 'Thought.' } as const;
        upstream.script = speak({ parts: [{ type: 'thought', text: 'I think.', seal: 'gAAAAsealed' }, text] });
        for (const caller of CALLERS) {
          const { reported } = await ask(caller, name, { ...REQUESTED, stream });
          const details = listOf(reported.message['reasoning_details']).map((detail) => objectOf(detail)['format']);
          if (caller === 'chat') assert.deepEqual(details, [family, family]);
          else assert.ok(reported.seals.some((seal) => seal.includes(family) && seal.endsWith(':gAAAAsealed')));
          const messages = [USER, messageOf(caller, reported), { role: 'user', content: 'Go on.' }];
          const { arrived } = await ask(caller, name, { ...REQUESTED, stream, messages });
          const items = listOf((arrived.body as JsonObject)['input']).map((item) => objectOf(item));
          assert.deepEqual(
            items.flatMap((item) => item['encrypted_content'] ?? []),
            ['gAAAAsealed'],
          );
        }
      });
});

suite('hidden thinking', () => {
  for (const name of ['claude', 'converse'] as const)
    for (const caller of CALLERS)
      for (const stream of [false, true]) {
        // @spec reasoning-18
        test(`reaches a ${caller} caller of ${name} empty with a signature and goes back unchanged, stream: ${stream}`, async () => {
          const { upstream, ask } = shared();
          upstream.script = speak({ parts: [{ type: 'thought', text: '', seal: 'c2lnbmVk' }, CALL] });
          const requested = { ...REQUESTED, ...THINKING[caller], stream, tools: toolsOf(caller, 'look') };
          const { reported } = await ask(caller, name, requested);
          assert.deepEqual(reported.seals, ['c2lnbmVk']);
          const messages = [USER, messageOf(caller, reported), ...resultsFor(caller, reported)];
          const { arrived } = await ask(caller, name, { ...requested, messages });
          assert.deepEqual(reasoningOf(name, arrived.body as JsonObject), [
            name === 'claude'
              ? { type: 'thinking', thinking: '', signature: 'c2lnbmVk' }
              : { reasoningContent: { reasoningText: { text: '', signature: 'c2lnbmVk' } } },
          ]);
        });

        // @spec reasoning-18
        test(`reaches a ${caller} caller of ${name} redacted and goes back unchanged, stream: ${stream}`, async () => {
          const { upstream, ask } = shared();
          const seal = name === 'claude' ? 'RW1yZWRhY3RlZA==' : Buffer.from('EmredactedBlob').toString('base64');
          upstream.script = speak({ parts: [{ type: 'thought', seal }, CALL] });
          const requested = { ...REQUESTED, ...THINKING[caller], stream, tools: toolsOf(caller, 'look') };
          const { reported } = await ask(caller, name, requested);
          assert.equal(reported.seals.length, 1);
          const messages = [USER, messageOf(caller, reported), ...resultsFor(caller, reported)];
          const { arrived } = await ask(caller, name, { ...requested, messages });
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
function wanderer(caller: ChatOrMessages): JsonObject {
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
    encodeReasoning({ type: 'reasoning', form: 'encrypted', text: sealOf(family), family }),
  );
  return { role: 'assistant', content: [...content, { type: 'text', text: 'I see.' }] };
}

suite('reasoning of several vendors in one conversation', () => {
  for (const name of [...ONE_OF_EACH, 'openai', 'messages-plain', 'nova', 'azure', 'xai'] as const)
    for (const caller of CALLERS)
      // @spec reasoning-16
      test(`goes back only to its own vendor: ${name}, ${caller} caller`, async () => {
        const { upstream, ask } = shared();
        upstream.script = emit('Done.');
        const messages = [USER, wanderer(caller), { role: 'user', content: 'And now?' }];
        const { reported, arrived, warnings } = await ask(caller, name, { ...REQUESTED, messages });
        assert.equal(reported.text, 'Done.');
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
