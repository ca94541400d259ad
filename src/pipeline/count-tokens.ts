import type { Principal } from '../accounts/principal.ts';
import type { FormatId } from '../canonical/extra.ts';
import { estimateRequestTokens } from '../canonical/estimate-tokens.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { Model } from '../catalog/model.ts';
import { isJsonObject, parseJson, type JsonObject } from '../lib/json.ts';
import { tokenCount } from '../canonical/usage.ts';
import type { Provider } from '../providers/contract.ts';
import { endpointName } from '../routing/endpoint-name.ts';
import { planCandidates } from '../routing/plan.ts';
import type { Candidate } from '../routing/route-plan.ts';
import { addressOf, authorizeCall, tryPrepareCall } from './attempt/call-upstream.ts';
import { dialectOf } from './replay/reasoning-history.ts';
import { readCallerRules } from './admission/caller-rules.ts';
import { preferencesOf } from './route/choose-route.ts';
import { hasFilters } from './content-filters/filter-rules.ts';
import { isSlugOf } from './plugins/enabled-plugins.ts';
import type { GenerateDeps } from './generate.ts';
import { offerServerTools } from './server-tools/offer-server-tools.ts';
import { resolveModels } from './route/resolve-models.ts';
import { withFiles } from './admission/stored-files.ts';
import type { Dialect } from '../wire/format.ts';

export type CountTokensDeps = Pick<
  GenerateDeps,
  | 'catalog'
  | 'defaults'
  | 'fileMemory'
  | 'formats'
  | 'health'
  | 'http'
  | 'ledger'
  | 'byokCredentials'
  | 'plugins'
  | 'policyOf'
  | 'providers'
  | 'rateLimiter'
  | 'serverTools'
  | 'storedFiles'
  | 'toolAbilities'
>;

/** Some agents count before every turn: a slow one is worse than an estimate. */
const COUNT_LIMIT_MS = 5_000;
const ANSWER_BYTES_MAX = 64 * 1_024;
/** What a vendor's counting endpoint takes, by the format of the request; the rest only shapes a response. @spec messages-36 */
const COUNTED_MEMBERS: Readonly<Partial<Record<FormatId, readonly string[]>>> = {
  messages: ['model', 'messages', 'system', 'tools', 'tool_choice', 'thinking', 'output_config', 'context_management'],
  // Vendor's SDK, openai 7.55 (2026-11), `InputTokenCountParams`.
  responses: ['model', 'input', 'tools', 'tool_choice', 'parallel_tool_calls', 'reasoning', 'text'],
};
const INPUT_TOKENS = '/input_tokens';

interface CountInput {
  readonly id: string;
  readonly request: GenerationRequest;
  readonly principal: Principal;
}

/**
 * The input tokens of a request: counted by the vendor where that is free and where the caller's rules would let
 * the request go, else estimated. It counts as a request against limits on the rate.
 * @throws GatewayError 400 or 404 for the model, 429
 */
export async function countTokens(
  deps: CountTokensDeps,
  { id, request: given, principal }: CountInput,
  signal: AbortSignal,
): Promise<number> {
  return withFiles(deps, given, { owner: principal, cancellation: { signal } }, (request) =>
    count(deps, { id, request, principal }, signal),
  );
}

async function count(
  deps: CountTokensDeps,
  { id, request: originalRequest, principal }: CountInput,
  signal: AbortSignal,
): Promise<number> {
  const rules = await readCallerRules(deps, principal);
  const models = modelsToCount(deps, originalRequest, rules.policy.defaultModel ?? deps.defaults.model);
  const offered = await offerServerTools(deps, originalRequest, {
    endpointsOf: () => models.flatMap(({ endpoints }) => endpoints),
    principal: principal,
    cancellation: { signal },
  });
  const request = offered?.request ?? originalRequest;
  const { candidates } = planCandidates({
    request,
    models,
    preferences: preferencesOf(deps, request, rules),
    permissions: rules.policy,
    formats: deps.formats,
    mustFit: false,
    health: (endpoint) => deps.health.look(endpointName(endpoint)),
    random: 0,
  });
  const estimate = estimateRequestTokens(request);
  const rated = { generationId: id, promptTokens: () => estimate, isFree: false, hasPlace: true };
  const permit = await deps.rateLimiter.admit(principal, rated)?.acquire();
  try {
    // What filters might keep back is not sent anywhere to be counted.
    const [first] = hasFilters(rules.policy) ? [] : candidates;
    return (first && (await countAtVendor(deps, first, request, signal))) ?? estimate;
  } finally {
    await permit?.ended(undefined);
  }
}

/** None where a router chooses first: its choice takes longer than an estimate, and may cost. @throws GatewayError 400 or 404 */
function modelsToCount(
  { plugins, catalog }: CountTokensDeps,
  originalRequest: GenerationRequest,
  defaultModel: string | undefined,
): readonly Model[] {
  const isChoice = (slug: string): boolean => plugins.some((plugin) => isSlugOf(plugin, slug));
  const { directives } = originalRequest;
  const first = directives.models[0] ?? defaultModel;
  if (first !== undefined && isChoice(first)) return [];
  const models = directives.models.filter((slug) => !isChoice(slug));
  return resolveModels({ ...originalRequest, directives: { ...directives, models } }, defaultModel, catalog).models;
}

async function countAtVendor(
  deps: CountTokensDeps,
  candidate: Candidate,
  request: GenerationRequest,
  signal: AbortSignal,
): Promise<number | undefined> {
  const provider = deps.providers.get(candidate.endpoint.provider);
  const format = deps.formats[candidate.format];
  const members = format && COUNTED_MEMBERS[format.id];
  if (provider === undefined || format === undefined || members === undefined) return undefined;
  const dialect = dialectOf(provider, format.id, candidate.endpoint);
  const prepared = tryPrepareCall(provider, format, candidate.endpoint, { ...request, delivery: 'whole' }, '', dialect);
  // What cannot be sent to the vendor, it need not count.
  if ('kind' in prepared) return undefined;
  const path = countingPath(prepared.path, format.id, provider, dialect);
  if (path === undefined) return undefined;
  const body = pick(prepared.encoded.body, members);
  const outbound = await Promise.try(() => authorizeCall(provider, { ...prepared, path }, { body })).catch(
    () => undefined,
  );
  if (outbound === undefined || signal.aborted) return undefined;
  const call = deps.http.call(outbound);
  const timer = setTimeout(() => call.cancel(), COUNT_LIMIT_MS);
  const onAbort = (): void => call.cancel();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const answer = await call.answer;
    if (answer.status !== 200) return undefined;
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for (let chunk = await answer.read(); chunk !== undefined; chunk = await answer.read()) {
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES_MAX) return undefined;
      chunks.push(chunk);
    }
    const parsed = parseJson(Buffer.concat(chunks).toString('utf8'));
    return isJsonObject(parsed) ? tokenCount(parsed['input_tokens']) : undefined;
  } catch {
    // Whatever is wrong with the vendor's counter, the estimate is an honest answer.
    return undefined;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    call.cancel();
  }
}

/** Where the vendor counts a request that would go to a path; `undefined`: nowhere. */
function countingPath(path: string, format: FormatId, provider: Provider, dialect: Dialect): string | undefined {
  if (format === 'messages') {
    const { countTokensPath } = provider.adapter;
    return countTokensPath && addressOf(provider).basePath + countTokensPath;
  }
  if (dialect.inputTokensRoute !== true) return undefined;
  const [before = '', query] = path.split('?');
  return before + INPUT_TOKENS + (query === undefined ? '' : `?${query}`);
}

function pick(body: JsonObject, members: readonly string[]): JsonObject {
  return Object.fromEntries(members.flatMap((member) => (body[member] === undefined ? [] : [[member, body[member]]])));
}
