import { GatewayError } from '../canonical/gateway-error.ts';
import type { ProviderPreferences } from '../canonical/directives.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { Catalog } from '../catalog/model.ts';
import type { Clock } from '../lib/clock.ts';
import { withDefaults } from '../routing/preferences.ts';
import { planRoute, type RoutePlan } from '../routing/plan.ts';
import { GenerationRecord, type Asker } from '../telemetry/record.ts';
import type { ClientFormat, ErrorContext } from '../wire/format.ts';
import { endpointName, makeAttempts, type AttemptsParts } from './attempts.ts';
import type { Caller } from './caller.ts';
import { hashEndUser } from './end-user-id.ts';
import { refuseUnbuilt } from './not-built-yet.ts';
import { relayStream, relayWhole, type RelayContext } from './relay.ts';
import { resolveModels } from './resolve-models.ts';
import { nothingFits } from './route-errors.ts';
import { closingOf, metadataOf, type Settle } from './settle.ts';
import { openStreamOutput, type StreamOutput } from './stream-output.ts';

export interface GenerateParts extends AttemptsParts {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly settle: Settle;
  readonly defaults: { readonly model?: string; readonly provider: Partial<ProviderPreferences> };
  readonly totalMs: number;
  readonly region: string;
  readonly baseUrl: () => string;
  readonly streams: { streamOpened(): void; streamClosed(): void };
  /** For the operator's eyes: a broken assumption of ours. */
  readonly onBug: (error: unknown, generationId: string) => void;
}

/** One request, decoded and admitted. */
export interface Asked {
  readonly id: string;
  readonly request: GenerationRequest;
  readonly asker: Asker;
  /** Monotonic ms. */
  readonly arrivedMs: number;
}

/** Answers the caller in every case, and returns when the answer has been handed over and accounted for. */
export type Generate = (asked: Asked, format: ClientFormat, caller: Caller) => Promise<void>;

/** What happens to a request, from top to bottom. */
export function createGenerate(parts: GenerateParts): Generate {
  return async (asked, format, caller) => {
    const record = openRecord(asked, parts);
    const { request } = record;
    const limit = limitTime(caller, parts.totalMs);
    const output = request.delivery === 'stream' ? openStreamOutput(caller, record.id, format.keepAlive) : undefined;
    if (output !== undefined) parts.streams.streamOpened();
    const context: RelayContext = {
      format,
      caller,
      record,
      settle: async () => {
        await parts.settle(record);
        return closingOf(record, parts.region);
      },
      errorContext: () => errorContext(record, parts),
    };
    try {
      refuseUnbuilt(request);
      const plan = chooseRoute(record, parts);
      const committed = await makeAttempts(parts, plan, request, record, limit.signal);
      noteStrategy(record);
      if (output === undefined) await relayWhole(committed, context);
      else await relayStream(committed, output, context);
    } catch (error) {
      // Whatever failed, an upstream that still sends must not send to nobody.
      limit.abort();
      record.error = asGatewayError(error, record, parts);
      await parts.settle(record);
      refuse(record.error, output, context);
    } finally {
      limit.stop();
      output?.stop();
      if (output !== undefined) parts.streams.streamClosed();
      await parts.settle(record);
    }
  };
}

function openRecord({ id, request, asker, arrivedMs }: Asked, { clock, defaults }: GenerateParts): GenerationRecord {
  return new GenerationRecord({
    id,
    request,
    asker,
    endUserId: hashEndUser(asker.accountId, request.directives.user),
    requested: request.directives.models[0] ?? defaults.model ?? '',
    arrivedMs,
    clock,
  });
}

/** @throws GatewayError 400 or 404 */
function chooseRoute(record: GenerationRecord, parts: GenerateParts): RoutePlan {
  const { request, report } = record;
  const { models: slugs, provider } = request.directives;
  const models = resolveModels(slugs, parts.defaults.model, parts.catalog);
  const plan = planRoute({
    request,
    models,
    preferences: withDefaults(provider, parts.defaults.provider),
    // The caller's own order is a wish that counts more.
    home: provider.order === undefined ? parts.memory.homeOf(request) : undefined,
    formats: parts.formats,
    cooldown: (endpoint) => parts.health.cooldown(endpointName(endpoint)),
  });
  report.routed = true;
  report.total = plan.considered.length;
  report.available = plan.considered
    .filter(({ exclusion }) => exclusion === undefined)
    .map(({ endpoint }) => ({ provider: endpoint.providerName, model: endpoint.model }));
  if (plan.candidates.length === 0 && plan.cooling.length === 0)
    throw nothingFits(plan.considered, slugs.length > 0 ? slugs : [report.requested]);
  return plan;
}

/** @source generation.md 3.7: a model that is not the first one asked for served */
function noteStrategy(record: GenerationRecord): void {
  if (record.endpoint?.model !== record.report.requested && record.request.directives.models.length > 1)
    record.report.strategy = 'fallback';
}

/** One signal for the whole request: the caller hung up, or the total time is over (its reason is then `total`). */
function limitTime(caller: Caller, totalMs: number): { readonly signal: AbortSignal; abort(): void; stop(): void } {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort('total'), totalMs);
  caller.onGone(() => controller.abort('gone'));
  return { signal: controller.signal, abort: () => controller.abort('over'), stop: () => clearTimeout(timer) };
}

function errorContext(record: GenerationRecord, parts: GenerateParts): ErrorContext {
  return {
    generationId: record.id,
    serviceMetadata: metadataOf(record, parts.region),
    baseUrl: parts.baseUrl(),
  };
}

function asGatewayError(error: unknown, record: GenerationRecord, parts: GenerateParts): GatewayError {
  if (record.failure?.kind === 'aborted') record.cancelled = true;
  if (error instanceof GatewayError) return error;
  parts.onBug(error, record.id);
  return new GatewayError('server', 'The gateway failed unexpectedly.', { cause: error });
}

function refuse(error: GatewayError, output: StreamOutput | undefined, context: RelayContext): void {
  const { caller, record, format } = context;
  output?.stop();
  if (!caller.started) {
    caller.refuse(error, context.errorContext());
    return;
  }
  const encoder = format.createStreamEncoder({
    id: record.id,
    createdS: Math.floor(record.createdMs / 1_000),
    model: record.report.requested,
  });
  caller.end(encoder.fail(error, undefined, context.errorContext()));
}
