import type { Principal } from '../../accounts/principal.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import { newGenerationId } from '../../lib/ids.ts';
import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import type { ClientFormat } from '../../wire/format.ts';
import { readWithPreset } from './apply-preset.ts';
import { createNodeCaller } from './node-caller.ts';
import { createBodyRoute, type GenerationRouteParts, type RawHandler } from './route.ts';

/** Members that only a messages body has. */
const MESSAGES_MEMBERS = ['system', 'fallbacks', 'thinking', 'stop_sequences', 'output_config', 'speed'];

/** `POST /route/explain`: a body of either endpoint, for any key. Asks no provider, and nothing is recorded. */
export function createExplainRoute(
  formats: { readonly chat: ClientFormat; readonly messages: ClientFormat },
  parts: GenerationRouteParts,
  explain: (request: GenerationRequest, principal: Principal) => Promise<JsonObject>,
): RawHandler {
  return createBodyRoute(formats.chat, { ...parts, anyKey: true }, async (admitted, response) => {
    const format = admitted.isMessages || isMessagesBody(admitted.body) ? formats.messages : formats.chat;
    const decode = format.decodeRequest.bind(format);
    const request = await readWithPreset(parts.presets, format.id, decode, admitted);
    const explanation = await explain(request, admitted.principal);
    createNodeCaller(response, format).answer(
      newGenerationId(parts.clock.nowMs()),
      JSON.stringify({ format: format.id, ...explanation }),
    );
  });
}

function isMessagesBody(body: Json): boolean {
  return isJsonObject(body) && MESSAGES_MEMBERS.some((member) => body[member] !== undefined);
}
