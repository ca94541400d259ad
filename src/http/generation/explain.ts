import type { GenerationRequest } from '../../canonical/request.ts';
import { newGenerationId } from '../../lib/ids.ts';
import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import type { ClientFormat } from '../../wire/format.ts';
import { createNodeCaller } from './node-caller.ts';
import { createBodyRoute, type GenerationRouteParts, type RawHandler } from './route.ts';

/** Members that only a messages body has. */
const MESSAGES_MEMBERS = ['system', 'fallbacks', 'thinking', 'stop_sequences', 'output_config', 'speed'];

/** `POST /route/explain`: a body of either endpoint, for any key. Asks no provider, and nothing is recorded. */
export function createExplainRoute(
  formats: { readonly chat: ClientFormat; readonly messages: ClientFormat },
  parts: GenerationRouteParts,
  explain: (request: GenerationRequest, accountId: string) => JsonObject,
): RawHandler {
  return createBodyRoute(
    formats.chat,
    { ...parts, anyKey: true },
    async ({ principal, body, text, headers, isMessages }, response) => {
      const format = isMessages || isMessagesBody(body) ? formats.messages : formats.chat;
      const request = format.decodeRequest(body, text, headers);
      const explanation = explain(request, principal.accountId);
      createNodeCaller(response, format).answer(
        newGenerationId(parts.clock.nowMs()),
        JSON.stringify({ format: format.id, ...explanation }),
      );
    },
  );
}

function isMessagesBody(body: Json): boolean {
  return isJsonObject(body) && MESSAGES_MEMBERS.some((member) => body[member] !== undefined);
}
