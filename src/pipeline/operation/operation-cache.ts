import type { Operation } from '../../canonical/operation.ts';
import type { RouteReport } from '../../canonical/route-report.ts';
import { isJsonObject, parseJson } from '../../lib/json.ts';
import { AnswerMemory } from './answer-memory.ts';
import type { ByteBudget } from '../../lib/memory/byte-budget.ts';
import type { RequestLog } from '../../telemetry/request-log.ts';
import type { CallerRules, RequestFacts } from '../request.ts';
import {
  cacheName,
  headersOfHit,
  headersOfMiss,
  isComplete,
  type ResponseCacheDeps,
} from '../response/response-cache.ts';
import type { Served } from './call-candidates.ts';
import type { GivenCache } from './kind-steps.ts';

/** What the cache has for an operation. */
interface OperationLookUp<Given> {
  /** Tells the caller how it went. @spec cache-7 */
  readonly headers: Readonly<Record<string, string>>;
  /** Absent: nothing. */
  readonly hit?: { readonly sourceId: string; readonly served: Served<Given> };
  /** Keeps what was delivered, if it is to be given again. */
  keep(served: Served<Given>, facts: RequestFacts<Operation>): void;
}

interface LookUpInput<Op extends Operation, Given> {
  readonly request: Op;
  readonly report: RouteReport;
  readonly principal: RequestLog['principal'];
  readonly policy: CallerRules['policy'];
  readonly cache: GivenCache<Op, Given>;
  /** For large answers. */
  readonly memory: ByteBudget;
}

/** Another version of the gateway may have cached what this one cannot read: that is a miss. */
const VERSION = 'operation-1';
const CHARS_MAX = 1_048_576;

/** @returns `undefined` where the request does not ask for caching, or the account's rules forbid storage */
export async function lookUpOperation<Op extends Operation, Given extends object>(
  { texts, catalog, clock }: ResponseCacheDeps,
  { request, report, principal, policy, cache, memory }: LookUpInput<Op, Given>,
): Promise<OperationLookUp<Given> | undefined> {
  const setting = request.directives.responseCache;
  if (setting === undefined || Object.values(policy.zeroRetention).some(Boolean)) return undefined;
  const { ttlMs, clear, bodyDigest } = setting;
  const name = cacheName([principal.keyHash, request.kind, report.requested, bodyDigest], policy);
  if (clear) texts.delete(name);
  const text = clear ? undefined : await texts.get(name);
  const kept = text === undefined ? undefined : parseKept(text);
  // The endpoint may be gone from the catalog meanwhile: then it is a miss.
  const endpoint = kept && catalog.find(kept.model)?.endpoints.find(({ provider }) => provider === kept.provider);
  const given = kept && cache.parse(kept.given, request);
  const keep: OperationLookUp<Given>['keep'] = ({ given: made, candidate }, facts) => {
    if (!isComplete(facts)) return;
    const { model, provider } = candidate.endpoint;
    const { id: generationId } = facts.log;
    const entry = { version: VERSION, generationId, model, provider, storedAtMs: clock.nowMs(), ttlMs };
    const written = cache.serialize(made);
    if (written === undefined) return;
    const serialized = JSON.stringify({ ...entry, given: written });
    if (serialized.length <= CHARS_MAX) texts.set(name, serialized, ttlMs);
  };
  if (kept === undefined || endpoint === undefined || given === undefined)
    return { headers: headersOfMiss(ttlMs), keep };
  const [format = 'chat'] = endpoint.formats;
  const served = {
    given,
    candidate: { endpoint, format },
    startedMs: clock.monotonicMs(),
    memory: new AnswerMemory(memory),
  };
  return { headers: headersOfHit(kept, clock.nowMs()), hit: { sourceId: kept.generationId, served }, keep };
}

interface Kept {
  readonly generationId: string;
  readonly model: string;
  readonly provider: string;
  readonly storedAtMs: number;
  readonly ttlMs: number;
  readonly given: string;
}

function parseKept(text: string): Kept | undefined {
  const kept = parseJson(text);
  if (!isJsonObject(kept) || kept['version'] !== VERSION) return undefined;
  const { generationId, model, provider, storedAtMs, ttlMs, given } = kept;
  const areTexts =
    typeof generationId === 'string' &&
    typeof model === 'string' &&
    typeof provider === 'string' &&
    typeof given === 'string';
  if (!areTexts || typeof storedAtMs !== 'number' || typeof ttlMs !== 'number') return undefined;
  return { generationId, model, provider, storedAtMs, ttlMs, given };
}
