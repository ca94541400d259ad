import { z } from 'zod';
import type { PluginRequest } from '../../../../src/canonical/directives.ts';
import type { GenerationRequest } from '../../../../src/canonical/request.ts';
import { parseJson, type Json } from '../../../../src/lib/json.ts';
import type { EncodeTarget } from '../../../../src/wire/format.ts';
import { createChatClientFormat } from '../../../../src/wire/chat/format.ts';

/** The format as tests use it: any object with an id passes for a plugin. */
const plugin = z
  .looseObject({ id: z.string() })
  .transform(({ id }): PluginRequest => ({ id, enabled: true, options: {} }));

const chatClient = createChatClientFormat({ plugin });

export function decodeChat(body: Json): GenerationRequest {
  return decodeChatText(JSON.stringify(body));
}

export function decodeChatText(text: string): GenerationRequest {
  return chatClient.decodeRequest(parseJson(text) ?? null, text, { serviceMetadata: false, betas: [] });
}

/** An endpoint that takes whatever the format can say. */
export const RICH_TARGET: EncodeTarget = {
  model: 'upstream-model',
  endUserId: 'hash-of-user',
  dialect: {
    developerRole: true,
    maxCompletionTokens: true,
    messageNames: true,
    originalDetail: true,
    reasoningMember: 'reasoning_details',
    reasoningSettings: 'reasoning',
    cacheBreakpoints: 'cache_control',
    documentUrls: true,
  },
};

/** The plainest endpoint. */
export const PLAIN_TARGET: EncodeTarget = { model: 'upstream-model', endUserId: 'hash-of-user', dialect: {} };
