import type { Policy } from '../accounts/policy/policy.ts';
import type { Principal } from '../accounts/principal.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { Clock } from '../lib/clock.ts';
import { isJsonObject, type Json, type JsonObject } from '../lib/json.ts';
import type { KeepResponse } from '../pipeline/request.ts';
import type { KeptResponse, ResponseListing, ResponseReader, ResponseRow, ResponseRows } from '../state/contract.ts';
import type { DecodeContext } from '../wire/format.ts';
import type { BackgroundRequest, BackgroundResponses } from './background/background.ts';
import { namedItems, readHistory, readReferences } from './continue.ts';
import { pageOf, type ItemsWindow } from './input-items.ts';
import { isUnderWay, objectsOf, parseItems } from './items.ts';
import {
  cannotContinueAny,
  cannotKeep,
  eventsAreGone,
  noSuchResponse,
  noBackground,
  NO_BACKGROUND_IN_CONFIGURATION,
  nothingIsKept,
  notInBackground,
  OFF_IN_CONFIGURATION,
  storeIsAway,
  WITHOUT_RUN,
} from './refusals.ts';
import type { KnownOrigins } from './origins.ts';
import { endedRow, responseOf } from './rows.ts';
import { asFailed } from '../wire/responses/response/background.ts';
import { responseIdOf } from '../wire/responses/response/response-out.ts';
import { encodeStoredStream } from '../wire/responses/response/stored-stream.ts';

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
  readonly origins: KnownOrigins;
  /** @throws GatewayError 503 when it cannot be read; as a rejection */
  readonly policyOf: (principal: Principal) => Policy | Promise<Policy>;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Absent: the configuration has none. */
  readonly background?: BackgroundResponses | undefined;
  /** What refuses a request before it is accepted for the background. @throws GatewayError */
  readonly checkAccepted: (of: BackgroundRequest) => Promise<void>;
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
   * @throws GatewayError 400 at `store` where the request insists on what cannot be
   */
  keeperOf(principal: Principal, request: GenerationRequest): Promise<KeepResponse | undefined>;
  /** Accepts a request to run it in the background. @throws GatewayError 400 at `background`, 402, 403, 404, 429, 503 */
  accept(of: BackgroundRequest): Promise<AcceptedResponse>;
  /** The response as its caller got it, with `output_text`. @throws GatewayError 404 */
  find(principal: Principal, id: string): Promise<FoundResponse>;
  /**
   * The stream of a response, behind an event where that is given.
   * @throws GatewayError 404; 400 at `starting_after` where its events are not kept
   */
  stream(principal: Principal, id: string, after: number | undefined): Promise<string | AsyncIterable<string>>;
  /** A page of the input of the response, with all that it continues. @throws GatewayError 404, 400 at `after` */
  listInput(principal: Principal, id: string, window: ItemsWindow): Promise<JsonObject>;
  /** Stops a background response. @returns the response @throws GatewayError 404; 400 for one that was none */
  cancel(principal: Principal, id: string): Promise<JsonObject>;
  /** @throws GatewayError 404 */
  delete(principal: Principal, id: string): Promise<void>;
  /** For lists of operators: what is kept, and never its content. */
  readonly kept: KeptResponses;
}

/** Whose responses are looked after: those of a workspace or, with keys, of these keys alone. */
export type KeptSight = Pick<ResponseListing, 'accountId' | 'workspaceId' | 'keyHashes'>;

export interface KeptResponses {
  /** What a normal key may see: its own, or those of its workspace where the configuration shares them. */
  sightOf(principal: Principal): KeptSight;
  /** @throws GatewayError 503 */
  list(listing: ResponseListing): Promise<readonly KeptResponse[]>;
  /** Stops a background response. @throws GatewayError 404; 400 for one that was none, or is over */
  cancel(sight: KeptSight, id: string): Promise<void>;
  /** @throws GatewayError 404 */
  delete(sight: KeptSight, id: string): Promise<void>;
}

/** A response that was accepted to run in the background. */
export interface AcceptedResponse {
  readonly response: JsonObject;
  /** Its stream, from the beginning. */
  follow(signal: AbortSignal): AsyncIterable<string>;
}

export interface FoundResponse {
  readonly response: JsonObject;
  /** When to look again, of one that has not ended. */
  readonly pollAfterMs?: number;
}

export function createStoredResponses(deps: StoredResponsesDeps): StoredResponses {
  const { config, rows, origins, background } = deps;
  const isOff = config.store === 'off';
  const continuing = { rows, origins, bytesMax: config.bytesMax };

  async function find(principal: Principal, id: string): Promise<ResponseRow> {
    if (isOff) throw nothingIsKept();
    const row = await rows.find(id, readerOf(principal, config.share)).catch(away);
    if (row === undefined) throw noSuchResponse();
    return row;
  }

  async function stopAndDelete(row: ResponseRow, reader: ResponseReader): Promise<void> {
    if (isUnderWay(row.status)) await background?.cancel(row).catch(away);
    if (!(await rows.delete(row.id, reader).catch(away))) throw noSuchResponse();
  }

  return {
    kept: createKept(deps, stopAndDelete),
    prepare: (principal, body) => prepare(deps, principal, body),
    async keeperOf(principal, request) {
      const setting = request.response?.store;
      if (request.response === undefined || setting === false) return undefined;
      const forbidden = isOff ? OFF_IN_CONFIGURATION : await whyForbidden(deps, principal, request);
      if (forbidden === undefined)
        return (response, isCancelled) => keep(deps, principal, request, response, isCancelled);
      if (setting === true) throw cannotKeep(forbidden);
      return undefined;
    },
    accept: (of) => accept(deps, of),
    async find(principal, id) {
      return current(deps, await find(principal, id));
    },
    async stream(principal, id, after) {
      const row = await find(principal, id);
      const followed = await background?.follow(id, after ?? -1).catch(away);
      if (followed !== undefined) return followed;
      if (after !== undefined) throw eventsAreGone();
      return encodeStoredStream((await current(deps, row)).response);
    },
    async listInput(principal, id, window) {
      const { parentId, items } = await find(principal, id);
      const reader = readerOf(principal, config.share);
      const before = parentId === null ? [] : await readHistory(continuing, reader, parentId);
      return pageOf([...before, ...parseItems(items).input], window);
    },
    async cancel(principal, id) {
      const row = await find(principal, id);
      if (responseOf(row)['background'] !== true) throw notInBackground();
      if (!isUnderWay(row.status)) return responseOf(row);
      await background?.cancel(row).catch(away);
      return (await current(deps, row)).response;
    },
    async delete(principal, id) {
      await stopAndDelete(await find(principal, id), readerOf(principal, config.share));
    },
  };
}

function createKept(
  { config, rows, background }: StoredResponsesDeps,
  stopAndDelete: (row: ResponseRow, reader: ResponseReader) => Promise<void>,
): KeptResponses {
  const isOff = config.store === 'off';
  const find = async ({ accountId, workspaceId, keyHashes }: KeptSight, id: string) => {
    const reader: ResponseReader = { accountId, workspaceId, keyHash: undefined };
    const row = isOff ? undefined : await rows.find(id, reader).catch(away);
    if (row === undefined || keyHashes?.includes(row.owner.keyHash) === false) throw noSuchResponse();
    return { row, reader };
  };
  return {
    sightOf: ({ accountId, workspaceId, keyHash }) => ({
      accountId,
      workspaceId,
      ...(config.share === 'key' && { keyHashes: [keyHash] }),
    }),
    list: async (listing) => (isOff ? [] : rows.list(listing).catch(away)),
    async cancel(sight, id) {
      const { row } = await find(sight, id);
      if (responseOf(row)['background'] !== true || !isUnderWay(row.status)) throw notInBackground();
      await background?.cancel(row).catch(away);
    },
    async delete(sight, id) {
      const { row, reader } = await find(sight, id);
      await stopAndDelete(row, reader);
    },
  };
}

/** What the body of a request continues and refers to. */
function prepare(
  { rows, origins, config }: StoredResponsesDeps,
  principal: Principal,
  body: Json,
): DecodeContext | Promise<DecodeContext> {
  const { accountId } = principal;
  const { previous_response_id: previousId, input } = isJsonObject(body) ? body : {};
  const continues = typeof previousId === 'string' && previousId !== '';
  if (config.store === 'off') {
    if (continues) throw cannotContinueAny();
    return { accountId };
  }
  const named = namedItems(input);
  if (!continues && named.size === 0) return { accountId, references: NO_REFERENCES };
  const continuing = { rows, origins, bytesMax: config.bytesMax };
  const reader = readerOf(principal, config.share);
  const history = continues ? readHistory(continuing, reader, previousId) : undefined;
  const references = readReferences(continuing, reader, named);
  return Promise.all([history, references]).then(([items, kept]) => ({
    accountId,
    ...(items !== undefined && { history: items }),
    references: kept,
  }));
}

async function accept(deps: StoredResponsesDeps, of: BackgroundRequest): Promise<AcceptedResponse> {
  const { background } = deps;
  const { principal, request, generationId } = of;
  if (background === undefined) throw noBackground(NO_BACKGROUND_IN_CONFIGURATION);
  const forbidden =
    request.response?.store === false ? '"store" is false' : await whyForbidden(deps, principal, request);
  if (forbidden !== undefined) throw noBackground(forbidden);
  await deps.checkAccepted(of);
  const response = await background.accept(of);
  return { response, follow: (signal) => followAccepted(background, responseIdOf(generationId), signal) };
}

/** A response as it is by now: one that was not over when its row was read may run, or have ended since. */
async function current({ rows, background, clock }: StoredResponsesDeps, row: ResponseRow): Promise<FoundResponse> {
  if (!isUnderWay(row.status)) return { response: responseOf(row) };
  const response = await background?.progress(row).catch(away);
  if (response !== undefined) return { response, pollAfterMs: pollAfterMs(clock.nowMs() - row.createdAtMs) };
  const ended = await rows.find(row.id, row.owner).catch(away);
  if (ended === undefined) throw noSuchResponse();
  // What ran it is gone without a trace, or the configuration has no background any more.
  if (isUnderWay(ended.status)) return { response: asFailed(responseOf(ended), [], WITHOUT_RUN) };
  return { response: responseOf(ended) };
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
  { rows, origins, config, clock, onLost }: StoredResponsesDeps,
  { accountId, workspaceId, keyHash }: Principal,
  { response: options }: GenerationRequest,
  response: JsonObject,
  isCancelled: boolean,
): Promise<boolean> {
  const ended: JsonObject = isCancelled ? { ...response, status: 'cancelled', error: null } : response;
  const { id, status } = ended;
  // Of a failure without output there is nothing to go on from.
  if (typeof id !== 'string' || typeof status !== 'string') return false;
  if (status === 'failed' && objectsOf(ended['output']).length === 0) return false;
  const { items: input = [], previousResponseId: parentId = null } = options ?? {};
  const owner = { accountId, workspaceId, keyHash };
  const row = endedRow({ owner, createdAtMs: clock.nowMs(), parentId, input }, ended, origins);
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

async function* followAccepted(
  background: BackgroundResponses,
  id: string,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const frames = await background.follow(id, -1, signal);
  if (frames !== undefined) yield* frames;
}

const SOON_MS = 10_000;
const LATER_MS = 60_000;

/** @param ageMs since the response was accepted */
function pollAfterMs(ageMs: number): number {
  if (ageMs < SOON_MS) return 1_000;
  return ageMs < LATER_MS ? 2_000 : 5_000;
}
