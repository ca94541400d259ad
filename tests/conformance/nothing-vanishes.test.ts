import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { GatewayError } from '../../src/canonical/gateway-error.ts';
import { parseJson } from '../../src/lib/json.ts';
import { pluginSchema } from '../../src/plugins/index.ts';
import { ADAPTERS } from '../../src/providers/index.ts';
import type { ProviderAdapter } from '../../src/providers/contract.ts';
import { createChatClientFormat, chatUpstreamFormat } from '../../src/wire/chat/format.ts';
import type { ClientFormat, UpstreamFormat } from '../../src/wire/format.ts';
import { GATEWAY_FIELDS } from '../../src/wire/gateway/directives.ts';
import { createMessagesClientFormat, messagesUpstreamFormat } from '../../src/wire/messages/format.ts';
import { FULL_CHAT, FULL_MESSAGES } from '../support/full-requests.ts';
import { membersOf, objectsOf, withMember, withoutMember } from './json-members.ts';

const CALLERS: Readonly<Record<'chat' | 'messages', { readonly format: ClientFormat; readonly body: object }>> = {
  chat: { format: createChatClientFormat({ plugin: pluginSchema }), body: FULL_CHAT },
  messages: { format: createMessagesClientFormat({ plugin: pluginSchema }), body: FULL_MESSAGES },
};

interface Upstream {
  readonly format: UpstreamFormat;
  readonly adapter: ProviderAdapter;
  readonly model: string;
}

const UPSTREAMS: Readonly<Record<string, Upstream>> = {
  'a plain chat host': { format: chatUpstreamFormat, adapter: ADAPTERS['openai-compatible'], model: 'one-2026' },
  'the chat vendor': { format: chatUpstreamFormat, adapter: ADAPTERS.openai, model: 'gpt-4.1' },
  'a chat host with cache breakpoints': { format: chatUpstreamFormat, adapter: ADAPTERS.openrouter, model: 'a/b' },
  'a plain messages host': { format: messagesUpstreamFormat, adapter: ADAPTERS['messages-compatible'], model: 'one' },
  'the messages vendor': { format: messagesUpstreamFormat, adapter: ADAPTERS.anthropic, model: 'claude-sonnet-4-6' },
};

interface Sent {
  readonly body: string;
  readonly warned: readonly string[];
}

/** The upstream request, and the warnings about the rest; `undefined`: the request is refused. */
function send(caller: keyof typeof CALLERS, body: object, { format, adapter, model }: Upstream): Sent | undefined {
  const text = JSON.stringify(body);
  try {
    const request = CALLERS[caller].format.decodeRequest(parseJson(text) ?? null, text, {
      serviceMetadata: false,
      betas: [],
    });
    const encoded = format.encodeRequest(request, {
      model,
      endUserId: 'hash',
      maxOutputTokens: 64_000,
      dialect: adapter.dialect({ format: format.id, model }),
    });
    const warned = [...request.warnings, ...encoded.warnings].map(({ path }) => path);
    return { body: JSON.stringify(encoded.body), warned };
  } catch (error) {
    assert.ok(error instanceof GatewayError, String(error));
    return undefined;
  }
}

/** Fields that the gateway itself reads, whatever the provider. */
function isGateways(path: string): boolean {
  const [top = ''] = path.split(/[.[]/, 1);
  return GATEWAY_FIELDS.has(top) || ['model', 'stream', 'stream_options', 'trace', 'include_reasoning'].includes(top);
}

/** Whether a warning names the member, or what it stands in or holds. */
function isNamed(path: string, warned: readonly string[]): boolean {
  const within = (inner: string, parent: string): boolean =>
    inner === parent || /^[.[]/.test(inner.slice(parent.length));
  return warned.some(
    (reported) =>
      (path.startsWith(reported) && within(path, reported)) || (reported.startsWith(path) && within(reported, path)),
  );
}

/** What is no loss, with the reason. Where two members say one thing, taking one away changes nothing. */
const STATED_OTHERWISE: Readonly<Record<keyof typeof CALLERS, readonly (readonly [path: RegExp, why: string])[]>> = {
  chat: [
    [/^max_tokens$/, 'max_completion_tokens wins'],
    [/^reasoning(?:\.effort)?$|^reasoning_effort$/, 'each says what the other does'],
    [/^reasoning\.exclude$/, 'the gateway itself leaves reasoning out of the answer'],
    [/^messages\[\d+\]\.model$/, 'for routers'],
    [/^messages\[\d+\]\.reasoning$/, 'the details say the same'],
    [/^messages\[\d+\]\.reasoning_details\[\d+\]\.format$/, 'what is signed is taken for that family'],
    [/^metadata/, 'for the record'],
    [/^messages\[3\]\.content$/, 'null is nothing'],
    [/^verbosity$/, 'the effort says the same'],
    [/^modalities$/, 'text goes without saying'],
    [/\.cache_control\.type$/, 'there is only one'],
    [/^tool_choice$/, 'auto goes without saying'],
    [/\.strict$/, 'what the format holds to a schema is held strictly'],
  ],
  messages: [
    [/^anthropic_version$/, '@spec messages-14: ignored'],
    [/^metadata\.user_id$/, 'the hash of `user` is sent, which wins'],
    [/^metadata$/, 'the hash of `user` is sent, which wins'],
    [/\.type$/, 'the other members tell it, or there is only one'],
    [/\.is_error$/, 'false goes without saying'],
    [/^thinking$|^output_config\.effort$/, 'each says that the model is to think'],
    [/^tool_choice$|^tool_choice\.type$/, 'auto goes without saying'],
  ],
};

for (const caller of ['chat', 'messages'] as const)
  for (const [name, upstream] of Object.entries(UPSTREAMS))
    suite(`a full ${caller} request to ${name}`, () => {
      const { body } = CALLERS[caller];
      const full = send(caller, body, upstream);

      // @spec request-11
      test('loses no field silently', () => {
        assert.ok(full !== undefined, 'it is taken');
        const silent = membersOf(body).filter(({ path, steps }) => {
          if (isGateways(path) || isNamed(path, full.warned)) return false;
          if (STATED_OTHERWISE[caller].some(([known]) => known.test(path))) return false;
          // What makes no difference does not arrive.
          return send(caller, withoutMember(body, steps), upstream)?.body === full.body;
        });
        assert.deepEqual(
          silent.map(({ path }) => path),
          [],
        );
      });

      // @spec request-11
      test('loses no unknown field silently, wherever it stands', () => {
        const silent = objectsOf(body).flatMap(({ path, steps }) => {
          const planted = path === '' ? 'planted' : `${path}.planted`;
          if (isGateways(path) || STATED_OTHERWISE[caller].some(([known]) => known.test(path))) return [];
          const sent = send(caller, withMember(body, steps, 'planted', 'canary-7c1f'), upstream);
          const reported = sent === undefined || sent.body.includes('canary-7c1f') || sent.warned.includes(planted);
          return reported || isNamed(path, full?.warned ?? []) ? [] : [planted];
        });
        assert.deepEqual(silent, []);
      });
    });
