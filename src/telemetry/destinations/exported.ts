import { isOperation } from '../../canonical/operation.ts';
import { isJsonObject, parseJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import type { ExportRow } from '../../store/exports/export-rows.ts';
import { totalCost } from '../../catalog/price.ts';
import type { GenerationRow } from '../../store/generations/columns.ts';
import type { GenerationRecord } from '../record.ts';
import type { GenerationContent } from '../serialize-content.ts';
import type { StepRun } from '../request-log.ts';
import type {
  ExportedCost,
  ExportedGeneration,
  ExportedParent,
  ExportedSettings,
  ExportedStep,
  ExportedTokens,
} from './contract.ts';
import { boundTrace } from './bound-trace.ts';
import { decodeMoments, decodeRoute, encodeMoments, encodeRoute } from './moments.ts';
import { parseTraceContext, SAMPLED } from './trace-context.ts';

/** Which parts of a record a destination receives. */
export interface IncludedParts {
  readonly cost: boolean;
  readonly identity: boolean;
  readonly requestContext: boolean;
  readonly content: boolean;
}

/** What a generation's row has no column for, as JSON: part of the record in the journal. */
export function encodeExportFacts(record: GenerationRecord): string {
  const { request, principal, cost, attempts, router, report } = record;
  const moments = encodeMoments(record);
  const { trace, traceContext } = request.directives;
  return JSON.stringify({
    settings: isOperation(request) ? undefined : settingsOf(request.settings),
    trace: trace === undefined ? undefined : boundTrace(trace),
    traceparent: traceContext?.parent,
    tracestate: traceContext?.state,
    outputType: outputTypeOf(request),
    encoding: 'encoding' in request ? request.encoding : undefined,
    keyName: principal.name,
    isPartial: cost?.isPartial,
    steps: record.steps.length === 0 ? undefined : record.steps.map(encodeStep),
    moments: moments.length === 0 ? undefined : moments,
    // Where it made a difference.
    route: attempts.length > 1 || router !== undefined ? encodeRoute(report) : undefined,
    nestedCost: nestedCostOf(record),
    startedBy: record.startedBy,
    hasContent: record.capture?.isStored === true ? true : undefined,
  });
}

/** Nano-USD; `undefined`: there are none inside, or the price of one is unknown. */
function nestedCostOf({ nestedRuns }: GenerationRecord): number | undefined {
  if (nestedRuns.length === 0) return undefined;
  return totalCost(nestedRuns.map(({ cost }) => cost))?.totalNanoUsd;
}

const STEP_NAME_CHARS_MAX = 128;

/** In short: each record that a destination may want has it. */
function encodeStep({ kind, key, name, type, callId, startMs, durationMs, hasFailed }: StepRun): JsonObject {
  const short = (text: string | undefined): string | undefined => text?.slice(0, STEP_NAME_CHARS_MAX);
  return {
    kind,
    key,
    name: short(name),
    type,
    callId: short(callId),
    at: Math.round(startMs),
    ms: Math.round(durationMs),
    failed: hasFailed || undefined,
  };
}

function decodeSteps(steps: Json | undefined, row: GenerationRow, endMs: number): readonly ExportedStep[] {
  if (!Array.isArray(steps)) return [];
  return steps.filter(isJsonObject).flatMap((step) => {
    const { kind, key, name, type, callId, at, ms, failed } = step;
    if ((kind !== 'tool' && kind !== 'plugin') || typeof key !== 'string' || typeof name !== 'string') return [];
    // Within their request, whatever the clock did meanwhile.
    const startMs = Math.min(endMs, row.createdAtMs + Math.max(0, Number(at)));
    return {
      kind,
      key,
      name,
      ...present({ type: textOf(type), callId: textOf(callId) }),
      startMs,
      endMs: Math.min(endMs, startMs + Math.max(0, Number(ms))),
      hasFailed: failed === true,
    };
  });
}

function decodeStartedBy(value: Json | undefined): ExportedParent | undefined {
  if (!isJsonObject(value)) return undefined;
  const { kind, key, generationId } = value;
  if ((kind !== 'tool' && kind !== 'plugin') || typeof key !== 'string' || typeof generationId !== 'string')
    return undefined;
  return { kind, key, generationId };
}

/** In the words of the conventions. */
function outputTypeOf(request: GenerationRecord['request']): string | undefined {
  if (isOperation(request)) return OUTPUT_TYPES.get(request.kind);
  const { responseFormat } = request.settings;
  return responseFormat?.type === 'json_object' || responseFormat?.type === 'json_schema' ? 'json' : undefined;
}

const OUTPUT_TYPES: ReadonlyMap<string, string> = new Map([
  ['image', 'image'],
  ['tts', 'speech'],
]);

type Settings = Extract<GenerationRecord['request'], { readonly settings: unknown }>['settings'];

function settingsOf({ stop, seed, ...settings }: Settings): ExportedSettings {
  const { maxTokens, temperature, topP, topK, frequencyPenalty, presencePenalty } = settings;
  return present({
    maxTokens,
    temperature,
    topP,
    topK,
    frequencyPenalty,
    presencePenalty,
    seed: typeof seed === 'number' ? seed : undefined,
    stop,
  });
}

/** What a row says for destinations. */
export interface ReadFacts {
  readonly facts: JsonObject;
  /** The workspace may have stored the content. */
  readonly hasContent: boolean;
}

export function readFacts({ facts }: Pick<ExportRow, 'facts'>): ReadFacts {
  const parsed = parseJsonObject(facts) ?? {};
  return { facts: parsed, hasContent: parsed['hasContent'] === true };
}

/** A caller that says nothing of it samples. @source W3C "Trace Context", level 1, 3.2.2.5.1, read 2026-11 */
export function isSampledByCaller({ facts }: ReadFacts): boolean {
  const context = parseTraceContext(textOf(facts['traceparent']), undefined);
  return context === undefined || (context.flags & SAMPLED) === SAMPLED;
}

/** A record with all its parts. */
export function toExported(
  { generation: row, endedMs }: Pick<ExportRow, 'generation' | 'endedMs'>,
  { facts }: ReadFacts,
  content: GenerationContent | undefined,
): ExportedGeneration {
  const trace = isJsonObject(facts['trace']) ? facts['trace'] : {};
  const traceContext = parseTraceContext(textOf(facts['traceparent']), textOf(facts['tracestate']));
  const endMs = Math.max(endedMs, row.createdAtMs);
  const encoding = textOf(facts['encoding']);
  const steps = decodeSteps(facts['steps'], row, endMs);
  const moments = decodeMoments(facts['moments'], row.createdAtMs, endMs);
  return {
    id: row.id,
    requestId: row.requestId,
    startMs: row.createdAtMs,
    endMs,
    modelRequested: row.modelRequested,
    model: row.model,
    apiType: row.apiType,
    streamed: row.streamed,
    cancelled: row.cancelled,
    status: row.status,
    settings: isJsonObject(facts['settings']) ? facts['settings'] : {},
    trace,
    isCached: row.responseCacheSourceId !== null,
    ...outcomeOf(row),
    ...(steps.length > 0 && { steps }),
    ...(moments.length > 0 && { moments }),
    ...present({
      startedBy: decodeStartedBy(facts['startedBy']),
      firstTokenMs: row.timeToFirstTokenMs === null ? undefined : row.createdAtMs + row.timeToFirstTokenMs,
      provider: row.provider ?? undefined,
      tokens: tokensOf(row),
      dimensions: row.dimensions ?? undefined,
      encodings: encoding === undefined ? undefined : [encoding],
      outputType: textOf(facts['outputType']),
      sessionId: row.sessionId ?? undefined,
      endUserId: row.endUserHash ?? undefined,
      traceContext,
      cost: costOf(row, facts),
      content,
      contentState: content?.is_cut === true ? ('cut' as const) : undefined,
    }),
    identity: {
      keyHash: row.keyHash,
      workspaceId: row.workspaceId,
      ...present({ keyName: textOf(facts['keyName']), memberId: row.memberId ?? undefined }),
    },
    context: {
      region: row.region,
      attempts: row.attempts,
      strategy: row.strategy,
      ...present({
        appUrl: row.appUrl ?? undefined,
        appTitle: row.appTitle ?? undefined,
        userAgent: row.userAgent ?? undefined,
        router: row.router ?? undefined,
        route: decodeRoute(facts['route']),
      }),
    },
  };
}

/** Leaves out what a destination does not receive. */
export function includeParts(generation: ExportedGeneration, included: IncludedParts): ExportedGeneration {
  const { cost, identity, context, content, contentState, error, ...core } = generation;
  return {
    ...core,
    // Messages of upstreams quote prompts.
    ...(error !== undefined && { error: included.content ? error : { type: error.type } }),
    ...(included.cost && cost !== undefined && { cost }),
    ...(included.identity && identity !== undefined && { identity }),
    ...(included.requestContext && context !== undefined && { context }),
    ...(included.content && content !== undefined && { content }),
    ...(included.content && contentState !== undefined && { contentState }),
  };
}

function outcomeOf(row: GenerationRow): Pick<ExportedGeneration, 'error' | 'finishReason'> {
  const { errorType, errorMessage, finishReason } = row;
  return {
    ...(errorType !== null && { error: { type: errorType, ...(errorMessage !== null && { message: errorMessage }) } }),
    ...(finishReason !== null && { finishReason }),
  };
}

function tokensOf(row: GenerationRow): ExportedTokens | undefined {
  if (row.usageSource === 'none') return undefined;
  return {
    prompt: row.tokensPrompt,
    completion: row.tokensCompletion,
    cacheRead: row.tokensCacheRead,
    cacheWrite: row.tokensCacheWrite,
    estimated: row.usageSource === 'estimated',
    ...present({
      reasoning: row.tokensReasoning ?? undefined,
      audioPrompt: row.tokensAudioPrompt ?? undefined,
      audioCompletion: row.tokensAudioCompletion ?? undefined,
      imageCompletion: row.tokensImageCompletion ?? undefined,
    }),
  };
}

function costOf(row: GenerationRow, { isPartial, nestedCost }: JsonObject): ExportedCost | undefined {
  const tools = (row.webCostNanoUsd ?? 0) + (row.fileCostNanoUsd ?? 0);
  if (row.costNanoUsd === null) return undefined;
  return {
    total: row.costNanoUsd,
    ...present({
      prompt: row.costPromptNanoUsd ?? undefined,
      completion: row.costCompletionNanoUsd ?? undefined,
      tools: tools === 0 ? undefined : tools,
      byokList: row.listCostNanoUsd ?? undefined,
      isPartial: isPartial === true || undefined,
      nested: typeof nestedCost === 'number' ? nestedCost : undefined,
    }),
  };
}

type Present<T> = { readonly [Name in keyof T]?: Exclude<T[Name], undefined> };

/** Without the members that are undefined. */
function present<T extends object>(members: T): Present<T>;
function present(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
