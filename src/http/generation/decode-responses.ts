import type { Principal } from '../../accounts/principal.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { Json } from '../../lib/json.ts';
import type { ClientFormat, DecodeContext } from '../../wire/format.ts';
import { readWithPreset, withFullNames, type SentRequest } from './apply-preset.ts';
import type { GenerationRouteDeps } from './route.ts';

/** What kept responses are to a new request. */
export interface ContinuedResponses {
  /** What the request continues and refers to. @throws GatewayError 400, 503 */
  prepare(principal: Principal, body: Json): DecodeContext | Promise<DecodeContext>;
}

/** A request of the responses format, with what it continues. @throws GatewayError 400, 404, 503 */
export type DecodeResponses = (sent: SentRequest & { readonly principal: Principal }) => Promise<GenerationRequest>;

export function createResponsesDecoder(
  format: Pick<ClientFormat, 'id' | 'decodeRequest'>,
  { presets, rename }: Pick<GenerationRouteDeps, 'presets' | 'rename'>,
  kept: ContinuedResponses,
): DecodeResponses {
  return async (sent) => {
    const context = await kept.prepare(sent.principal, sent.body);
    const decode: ClientFormat['decodeRequest'] = (body, text, headers) =>
      format.decodeRequest(body, text, headers, context);
    return withFullNames(await readWithPreset(presets, format.id, decode, sent), rename);
  };
}
