import { GatewayError } from '../../canonical/gateway-error.ts';
import type { GenerateNested, StartedBy } from '../../canonical/tools/nested-generation.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { ToolProgress } from '../../canonical/tools/server-call.ts';
import { hasFragileNumbers, isJsonObject, parseJson, parseKeepingNumbers, type JsonObject } from '../../lib/json.ts';
import { findExcess } from '../../lib/json/bounds.ts';
import { failedOutcome, type OpenTool, type ToolContext, type ToolOutcome } from '../../tools/contract.ts';
import { checkShape } from '../../wire/gateway/validation/check-shape.ts';
import { startedBy } from './nested-generation.ts';
import type { OfferedTool, OfferedTools } from './offer-server-tools.ts';
import type { PendingCall } from './tool-turn.ts';

/** How long one call may take, where its tool says no other time. */
const CALL_MS_DEFAULT = 120_000;
/** Of a result as JSON text: more would fill the context of any model. */
const RESULT_CHARS_MAX = 1_000_000;
/** Of one that the model reads something else of, and that only the caller sees: it may hold a picture. */
const SHOWN_RESULT_CHARS_MAX = 32_000_000;

/** A tool that stands ready for the calls of one request. */
export interface ReadyTool extends OfferedTool {
  readonly run: OpenTool<Readonly<Record<string, unknown>>>['run'];
  /** The most that one call costs beside models that it asks, nano-USD. */
  readonly feeNanoUsdMax: number;
}

/** By the name of the function that stands for it. */
export function readyTools(
  { entries, originalRequest }: OfferedTools,
  context: Omit<ToolContext, 'index' | 'request'>,
): ReadonlyMap<string, ReadyTool> {
  return new Map(
    entries.map((entry) => {
      const opened = entry.tool.open(entry.parameters, { ...context, request: originalRequest, index: entry.index });
      const feeNanoUsdMax = opened.feeNanoUsdMax ?? entry.tool.feeNanoUsdMax?.(entry.parameters) ?? 0;
      return [entry.name, { ...entry, feeNanoUsdMax, run: (call) => opened.run(call) }];
    }),
  );
}

const KEY_CHARS_MAX = 128;

/** Upstreams number the calls of each turn anew. */
export function stepKey(turn: number, { id }: Pick<PendingCall, 'id'>): string {
  return `${turn} ${id.slice(0, KEY_CHARS_MAX)}`;
}

export interface RunInput {
  /** Which turn of the model called, from 0. */
  readonly turn: number;
  /** What the model saw when it called. */
  readonly turns: GenerationRequest['turns'];
  /** Aborts when the request is over. */
  readonly signal: AbortSignal;
  readonly generate: GenerateNested;
  /** Of a step of the generation. */
  readonly traceHeaders: (step: StartedBy) => Readonly<Record<string, string>>;
  /** For the operator's eyes: a tool broke. */
  readonly onBug: (error: unknown) => void;
  /** Absent: the caller does not watch. */
  readonly report?: ((progress: ToolProgress) => void) | undefined;
}

/**
 * Runs one call. Whatever happens, there is an outcome: an error is a result that the model reads. Never rejects, and
 * settles as soon as the signal aborts or the time of the call is over, also where the tool does not.
 * @spec tool-11
 */
export async function runTool(tool: ReadyTool, call: PendingCall, options: RunInput): Promise<ToolOutcome> {
  const { turn, turns, onBug } = options;
  const limitMs = tool.tool.callMsMax ?? CALL_MS_DEFAULT;
  const end = new AbortController();
  const stop = (): void => end.abort('over');
  options.signal.addEventListener('abort', stop, { once: true });
  if (options.signal.aborted) stop();
  const timer = setTimeout(() => end.abort('time'), limitMs);
  try {
    const input = parseInput(tool, call.input);
    if ('failed' in input) return input.failed;
    const ended = new Promise<ToolOutcome>((resolve) => {
      const giveUp = (): void => resolve(cutShort(end.signal.reason, limitMs));
      end.signal.addEventListener('abort', giveUp, { once: true });
      if (end.signal.aborted) giveUp();
    });
    const step = { kind: 'tool', key: stepKey(turn, call) } as const;
    const running = tool.run({
      id: call.id,
      input: input.value,
      turn,
      turns,
      generate: startedBy(options.generate, step),
      traceHeaders: () => options.traceHeaders(step),
      signal: end.signal,
      report: options.report,
    });
    // Its outcome after its time is dropped, and no unhandled rejection either.
    running.catch(() => undefined);
    return bounded(await Promise.race([running, ended]));
  } catch (error) {
    if (error instanceof GatewayError) return failedOutcome(error.message, codeOf(error));
    onBug(error);
    return failedOutcome('The tool failed unexpectedly.');
  } finally {
    clearTimeout(timer);
    options.signal.removeEventListener('abort', stop);
  }
}

type Input =
  | { readonly value: Readonly<Record<string, unknown>> }
  | {
      readonly failed: ToolOutcome;
    };

/** Models that have nothing to say write nothing. */
function parseInput({ arguments: schema }: ReadyTool, text: string): Input {
  const value = text.trim() === '' ? {} : parseJson(text);
  if (!isJsonObject(value))
    return { failed: failedOutcome('The arguments are not a JSON object.', 'invalid_tool_input') };
  if ('jsonSchema' in schema) return parseForeignInput(value, text);
  try {
    return { value: checkShape(schema, value, { root: 'arguments' }) };
  } catch (error) {
    if (error instanceof GatewayError) return { failed: failedOutcome(error.message, 'invalid_tool_input') };
    throw error;
  }
}

/** The server that runs the call checks it against the schema. Here it is bounded, and numbers stay as the model wrote them. */
function parseForeignInput(value: JsonObject, text: string): Input {
  const excess = findExcess(value);
  if (excess !== undefined) return { failed: failedOutcome(`arguments: ${excess.message}`, 'invalid_tool_input') };
  const exact = hasFragileNumbers(text) ? parseKeepingNumbers(text) : value;
  return { value: isJsonObject(exact) ? exact : value };
}

function cutShort(reason: unknown, limitMs: number): ToolOutcome {
  return reason === 'time'
    ? failedOutcome(`The tool gave no result within ${limitMs / 1_000} seconds.`, 'execution_time_exceeded')
    : failedOutcome('The request is over.');
}

function bounded(outcome: ToolOutcome): ToolOutcome {
  const { read, shown } = charsOf(outcome);
  const charsMax = read > RESULT_CHARS_MAX ? RESULT_CHARS_MAX : SHOWN_RESULT_CHARS_MAX;
  return shown <= charsMax ? outcome : withoutResult(outcome, `The result is longer than ${charsMax} characters.`);
}

/** UTF-16 units of words that the model reads, and of all that is kept: pictures are only in that. */
export function charsOf({ result, modelReads }: ToolOutcome): { readonly read: number; readonly shown: number } {
  const reported = JSON.stringify(result).length;
  if (modelReads === undefined) return { read: reported, shown: reported };
  let [read, pictures] = [0, 0];
  for (const block of modelReads)
    if (block.type === 'text') read += block.text.length;
    else if (block.type === 'media' && block.source.type === 'base64') pictures += block.source.data.length;
  return { read, shown: Math.max(reported, read) + pictures };
}

/** What it cost is owed all the same. */
export function withoutResult({ feeNanoUsd, searches, fetches }: ToolOutcome, message: string): ToolOutcome {
  return {
    ...failedOutcome(message),
    ...(feeNanoUsd !== undefined && { feeNanoUsd }),
    ...(searches !== undefined && { searches }),
    ...(fetches !== undefined && { fetches }),
  };
}

function codeOf({ type, status }: GatewayError): ToolOutcome['errorCode'] {
  if (type === 'rate_limit_exceeded') return 'too_many_requests';
  return status === 400 ? 'invalid_tool_input' : 'unavailable';
}
