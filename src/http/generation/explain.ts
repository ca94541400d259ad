import type { ServerResponse } from 'node:http';
import type { Principal } from '../../accounts/principal.ts';
import type { ClientFormatId } from '../../canonical/extra.ts';
import type { Operation } from '../../canonical/operation.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import { newGenerationId } from '../../lib/ids.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import type { ClientFormat } from '../../wire/format.ts';
import { readWithPreset, withFullNames } from './apply-preset.ts';
import { decodeOperation, kindOfBody } from './decode-operation.ts';
import { NodeCaller } from './node-caller.ts';
import { createBodyRoute, type Admitted, type GenerationRouteDeps, type RawHandler } from './route.ts';

/** Members that only a messages body has. */
const MESSAGES_MEMBERS = ['system', 'fallbacks', 'thinking', 'stop_sequences', 'output_config', 'speed'];

/** Endpoints whose health is pretended to be another: by the slug of the provider, or as `GET /routing/health` names them. */
export interface PretendedHealth {
  readonly down: readonly string[];
  readonly resting: readonly string[];
}

/** Takes out of a body what is no part of the request to explain. */
export type PrepareExplain = (
  admitted: Admitted,
) => Promise<{ readonly admitted: Admitted; readonly pretend?: PretendedHealth }>;

/** What explains a request. */
export interface Explain {
  readonly generation: (
    request: GenerationRequest,
    principal: Principal,
    pretend: PretendedHealth | undefined,
  ) => Promise<JsonObject>;
  readonly operation: (
    request: Operation,
    principal: Principal,
    pretend: PretendedHealth | undefined,
  ) => Promise<JsonObject>;
  /** What the model of a name writes, as far as that is known. */
  readonly modalitiesOf: (name: string) => readonly string[] | undefined;
}

/** `POST /route/explain`: a body of any format or kind, for any key. Calls no provider, and nothing is recorded. */
export function createExplainRoute(
  formats: Readonly<Record<ClientFormatId, ClientFormat>>,
  deps: GenerationRouteDeps,
  explain: Explain,
  prepare: PrepareExplain = (admitted) => Promise.resolve({ admitted }),
): RawHandler {
  return createBodyRoute(formats.chat, { ...deps, anyKey: true }, async (sent, response) => {
    const { admitted, pretend } = await prepare(sent);
    const kind = kindOfBody(admitted.body, explain.modalitiesOf);
    if (kind !== undefined) {
      const operation = withFullNames(await decodeOperation(kind, admitted), deps.rename);
      const explanation = await explain.operation(operation, admitted.principal, pretend);
      return answer(response, formats.chat, deps, { kind, ...explanation });
    }
    const format = formats[formatOf(admitted)];
    const { accountId } = admitted.principal;
    const decode: ClientFormat['decodeRequest'] = (body, text, headers) =>
      format.decodeRequest(body, text, headers, { accountId });
    const named = await readWithPreset(deps.presets, format.id, decode, admitted);
    const request = withFullNames(named, deps.rename);
    const explanation = await explain.generation(request, admitted.principal, pretend);
    return answer(response, format, deps, { format: format.id, ...explanation });
  });
}

function answer(
  response: ServerResponse,
  format: ClientFormat,
  { clock }: Pick<GenerationRouteDeps, 'clock'>,
  explanation: JsonObject,
): void {
  new NodeCaller(response, format).answer(newGenerationId(clock.nowMs()), JSON.stringify(explanation));
}

function formatOf({ body, isMessages }: Pick<Admitted, 'body' | 'isMessages'>): ClientFormatId {
  if (isMessages) return 'messages';
  if (!isJsonObject(body)) return 'chat';
  if (body['input'] !== undefined && body['messages'] === undefined) return 'responses';
  return MESSAGES_MEMBERS.some((member) => body[member] !== undefined) ? 'messages' : 'chat';
}
