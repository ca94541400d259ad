import type { Policy } from '../accounts/policy/policy.ts';
import type { Principal } from '../accounts/principal.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { Clock } from '../lib/clock.ts';
import { isJsonObject, parseJsonObject, type Json, type JsonObject } from '../lib/json.ts';
import type { KeepResponse } from '../pipeline/request.ts';
import type { ResponseReader, ResponseRow, ResponseRows } from '../state/contract.ts';
import type { DecodeContext } from '../wire/format.ts';
import { namedItems, readHistory, readReferences } from './continue.ts';
import { pageOf, type ItemsWindow } from './input-items.ts';
import { idOf, objectsOf, outputText, parseItems, serializeItems } from './items.ts';
import {
  cannotContinueAny,
  cannotKeep,
  noSuchResponse,
  noBackground,
  nothingIsKept,
  notInBackground,
  OFF_IN_CONFIGURATION,
  storeIsAway,
} from './refusals.ts';

/** The parts of the configuration that say what is kept. */
export interface StoredResponsesConfig {
  readonly store: 'off' | 'memory' | 'database';
  readonly share: 'key' | 'workspace';
  /** Whether every request forbids its providers to retain anything. */
  readonly zdr: boolean;
  /** Of a conversation that a request continues: the limit on the body of a request. */
  readonly bytesMax: number;
}

export interface StoredResponsesDeps {
  readonly config: StoredResponsesConfig;
  readonly rows: ResponseRows;
  /** @throws GatewayError 503 when it cannot be read; as a rejection */
  readonly policyOf: (principal: Principal) => Policy | Promise<Policy>;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** For the operator: a response was not kept although its request wanted that. */
  readonly onLost: (responseId: string, error: unknown) => void;
}

/** Responses that are kept so that later requests can continue, refer to and read them. */
export interface StoredResponses {
  /**
   * What a request continues and refers to, by its body as it came; for the decoder of its format, which checks the rest.
   * @throws GatewayError 400 at `previous_response_id` or `input[i].id`, 503 while kept responses cannot be read
   */
  prepare(principal: Principal, body: Json): DecodeContext | Promise<DecodeContext>;
  /**
   * What keeps the response of a request; `undefined` where it is not to be kept.
   * @throws GatewayError 400 at `store` or `background` where the request insists on what cannot be
   */
  keeperOf(principal: Principal, request: GenerationRequest): Promise<KeepResponse | undefined>;
  /** The response as its caller got it, with `output_text`. @throws GatewayError 404 */
  find(principal: Principal, id: string): Promise<JsonObject>;
  /** A page of the input of the response, with all that it continues. @throws GatewayError 404, 400 at `after` */
  listInput(principal: Principal, id: string, window: ItemsWindow): Promise<JsonObject>;
  /** Stops a background response. @returns the response @throws GatewayError 404; 400 for one that was none */
  cancel(principal: Principal, id: string): Promise<JsonObject>;
  /** @throws GatewayError 404 */
  delete(principal: Principal, id: string): Promise<void>;
}

export function createStoredResponses(deps: StoredResponsesDeps): StoredResponses {
  const { config, rows } = deps;
  const isOff = config.store === 'off';
  const continuing = { rows, bytesMax: config.bytesMax };

  async function find(principal: Principal, id: string): Promise<ResponseRow> {
    if (isOff) throw nothingIsKept();
    const row = await rows.find(id, readerOf(principal, config.share)).catch(away);
    if (row === undefined) throw noSuchResponse();
    return row;
  }

  return {
    prepare(principal, body) {
      const { accountId } = principal;
      const { previous_response_id: previousId, input } = isJsonObject(body) ? body : {};
      const continues = typeof previousId === 'string' && previousId !== '';
      if (isOff) {
        if (continues) throw cannotContinueAny();
        return { accountId };
      }
      const named = namedItems(input);
      if (!continues && named.size === 0) return { accountId, references: NO_REFERENCES };
      const reader = readerOf(principal, config.share);
      const history = continues ? readHistory(continuing, reader, previousId) : undefined;
      const references = readReferences(continuing, reader, named);
      return Promise.all([history, references]).then(([items, kept]) => ({
        accountId,
        ...(items !== undefined && { history: items }),
        references: kept,
      }));
    },
    async keeperOf(principal, request) {
      if (request.response?.background === true) throw noBackground();
      const setting = request.response?.store;
      if (request.response === undefined || setting === false) return undefined;
      const forbidden = isOff ? OFF_IN_CONFIGURATION : await whyForbidden(deps, principal, request);
      if (forbidden === undefined)
        return (response, isCancelled) => keep(deps, principal, request, response, isCancelled);
      if (setting === true) throw cannotKeep(forbidden);
      return undefined;
    },
    async find(principal, id) {
      return objectOf(await find(principal, id));
    },
    async listInput(principal, id, window) {
      const { parentId, items } = await find(principal, id);
      const reader = readerOf(principal, config.share);
      const before = parentId === null ? [] : await readHistory(continuing, reader, parentId);
      return pageOf([...before, ...parseItems(items).input], window);
    },
    async cancel(principal, id) {
      const response = objectOf(await find(principal, id));
      if (response['background'] !== true) throw notInBackground();
      return response;
    },
    async delete(principal, id) {
      if (isOff) throw nothingIsKept();
      if (!(await rows.delete(id, readerOf(principal, config.share)).catch(away))) throw noSuchResponse();
    },
  };
}

const NO_REFERENCES: ReadonlyMap<string, JsonObject> = new Map();

function away(error: unknown): never {
  throw storeIsAway(error);
}

function readerOf({ accountId, workspaceId, keyHash }: Principal, share: 'key' | 'workspace'): ResponseReader {
  return { accountId, workspaceId, keyHash: share === 'key' ? keyHash : undefined };
}

/** Where providers may retain nothing, the gateway does not either. */
async function whyForbidden(
  { config, policyOf }: StoredResponsesDeps,
  principal: Principal,
  { directives }: GenerationRequest,
): Promise<string | undefined> {
  if (directives.provider.zdr || config.zdr) return 'the request allows no retention ("zdr")';
  const { zeroRetention, preferences } = await policyOf(principal);
  if (preferences.some(({ zdr }) => zdr === true)) return 'the default preferences allow no retention ("zdr")';
  return Object.values(zeroRetention).some(Boolean) ? 'a guardrail allows no retention' : undefined;
}

/** A write to the database is tried once more after this. */
const RETRY_MS = 100;

/** Never rejects: a response that cannot be kept is still a response. */
async function keep(
  { rows, config, clock, onLost }: StoredResponsesDeps,
  { accountId, workspaceId, keyHash }: Principal,
  { response: options }: GenerationRequest,
  response: JsonObject,
  isCancelled: boolean,
): Promise<boolean> {
  const {
    output: list,
    output_text: _text,
    ...object
  } = isCancelled ? { ...response, status: 'cancelled', error: null } : response;
  const { id, status } = object;
  const output = objectsOf(list);
  // Of a failure without output there is nothing to go on from.
  if (typeof id !== 'string' || typeof status !== 'string' || (status === 'failed' && output.length === 0))
    return false;
  const input = options?.items ?? [];
  const row: ResponseRow = {
    id,
    owner: { accountId, workspaceId, keyHash },
    createdAtMs: clock.nowMs(),
    status,
    parentId: options?.previousResponseId ?? null,
    itemIds: [...new Set([...input, ...output].flatMap((item) => idOf(item) ?? []))],
    items: serializeItems({ input, output }),
    object: JSON.stringify(object),
  };
  try {
    return await rows.put(row).catch(async (error: unknown) => {
      if (config.store !== 'database') throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      return rows.put(row);
    });
  } catch (error) {
    onLost(id, error);
    return false;
  }
}

function objectOf({ object, items }: ResponseRow): JsonObject {
  const { output } = parseItems(items);
  return { ...parseJsonObject(object), output, output_text: outputText(output) };
}
