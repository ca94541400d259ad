import type { Principal } from '../../accounts/principal.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import { newGenerationId } from '../../lib/ids.ts';
import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import type { ClientFormat } from '../../wire/format.ts';
import { readWithPreset, withFullNames } from './apply-preset.ts';
import { createNodeCaller } from './node-caller.ts';
import { createBodyRoute, type GenerationRouteDeps, type RawHandler } from './route.ts';

/** Members that only a messages body has. */
const MESSAGES_MEMBERS = ['system', 'fallbacks', 'thinking', 'stop_sequences', 'output_config', 'speed'];

/** `POST /route/explain`: a body of either format, for any key. Calls no provider, and nothing is recorded. */
export function createExplainRoute(
  formats: { readonly chat: ClientFormat; readonly messages: ClientFormat },
  deps: GenerationRouteDeps,
  explain: (request: GenerationRequest, principal: Principal) => Promise<JsonObject>,
): RawHandler {
  return createBodyRoute(formats.chat, { ...deps, anyKey: true }, async (admitted, response) => {
    const format = admitted.isMessages || isMessagesBody(admitted.body) ? formats.messages : formats.chat;
    const decode = format.decodeRequest.bind(format);
    const named = await readWithPreset(deps.presets, format.id, decode, admitted);
    const request = withFullNames(named, deps.rename);
    const explanation = await explain(request, admitted.principal);
    createNodeCaller(response, format).answer(
      newGenerationId(deps.clock.nowMs()),
      JSON.stringify({ format: format.id, ...explanation }),
    );
  });
}

function isMessagesBody(body: Json): boolean {
  return isJsonObject(body) && MESSAGES_MEMBERS.some((member) => body[member] !== undefined);
}
