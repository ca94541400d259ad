import type { Principal } from '../../accounts/principal.ts';
import type { ClientFormatId } from '../../canonical/extra.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import { newGenerationId } from '../../lib/ids.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import type { ClientFormat } from '../../wire/format.ts';
import { readWithPreset, withFullNames } from './apply-preset.ts';
import { NodeCaller } from './node-caller.ts';
import { createBodyRoute, type Admitted, type GenerationRouteDeps, type RawHandler } from './route.ts';

/** Members that only a messages body has. */
const MESSAGES_MEMBERS = ['system', 'fallbacks', 'thinking', 'stop_sequences', 'output_config', 'speed'];

/** `POST /route/explain`: a body of any format, for any key. Calls no provider, and nothing is recorded. */
export function createExplainRoute(
  formats: Readonly<Record<ClientFormatId, ClientFormat>>,
  deps: GenerationRouteDeps,
  explain: (request: GenerationRequest, principal: Principal) => Promise<JsonObject>,
): RawHandler {
  return createBodyRoute(formats.chat, { ...deps, anyKey: true }, async (admitted, response) => {
    const format = formats[formatOf(admitted)];
    const { accountId } = admitted.principal;
    const decode: ClientFormat['decodeRequest'] = (body, text, headers) =>
      format.decodeRequest(body, text, headers, { accountId });
    const named = await readWithPreset(deps.presets, format.id, decode, admitted);
    const request = withFullNames(named, deps.rename);
    const explanation = await explain(request, admitted.principal);
    new NodeCaller(response, format).answer(
      newGenerationId(deps.clock.nowMs()),
      JSON.stringify({ format: format.id, ...explanation }),
    );
  });
}

function formatOf({ body, isMessages }: Pick<Admitted, 'body' | 'isMessages'>): ClientFormatId {
  if (isMessages) return 'messages';
  if (!isJsonObject(body)) return 'chat';
  if (body['input'] !== undefined && body['messages'] === undefined) return 'responses';
  return MESSAGES_MEMBERS.some((member) => body[member] !== undefined) ? 'messages' : 'chat';
}
