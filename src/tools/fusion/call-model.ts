import type { CacheBreakpoint, Citation, UrlCitation } from '../../canonical/blocks.ts';
import { GatewayError, type ErrorType } from '../../canonical/gateway-error.ts';
import type { NestedResponse, GenerateNested, NestedInput } from '../../canonical/tools/nested-generation.ts';
import type { Settings, Tool } from '../../canonical/request.ts';
import { joinResponseText } from '../../canonical/text-gap.ts';
import { addUsage, type Usage } from '../../canonical/usage.ts';

/** The input of one model. */
export interface ModelInput {
  /** Slug. */
  readonly model: string;
  readonly instructions: string;
  readonly text: string;
  readonly cache?: CacheBreakpoint;
  readonly settings: Settings;
  /** The maximum of the response, in tokens, when the model is called once more with less. */
  readonly plainTokensMax: number;
  readonly tools: readonly Tool[];
  readonly toolCallsMax: number;
  /** The most that it may cost, nano-USD. Absent: what the caller's limits leave. */
  readonly budgetNanoUsd?: number;
}

export interface Reply {
  /** The concrete slug that served; without a response, the requested one. */
  readonly model: string;
  /** Empty where `error` says why. */
  readonly text: string;
  /** What it thought, as far as that can be read. */
  readonly reasoning: string;
  readonly sources: readonly UrlCitation[];
  readonly error?: GatewayError;
  readonly elapsedMs: number;
  /** `undefined`: no model was called in the end. */
  readonly usage: Usage | undefined;
  readonly costNanoUsd: number;
}

export interface ModelCall {
  readonly generate: GenerateNested;
  readonly monotonicMs: () => number;
  /** Aborts when the replies are no longer needed. */
  readonly signal: AbortSignal;
}

/** A member of a panel starts no panel itself. */
const WITHOUT: readonly string[] = ['service:fusion'];

/**
 * Calls one model, and once more without tools and sampling settings if it rejects them. Never rejects for failures of
 * an upstream or limits of the caller.
 * @param limitMs time limit
 */
export async function callModel(input: ModelInput, asking: ModelCall, limitMs: number): Promise<Reply> {
  const startedMs = asking.monotonicMs();
  const tally = new Tally();
  const time = limitTime(asking.signal, limitMs);
  const ask = async (plain: boolean): Promise<NestedResponse | GatewayError> => {
    try {
      return await asking.generate(
        { ...nestedInput(input, plain, tally.costNanoUsd), ended: (run) => tally.add(run) },
        time.signal,
      );
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return time.isOver() ? tooSlow(input.model, limitMs) : error;
    }
  };
  try {
    let answered = await ask(false);
    if (answered instanceof GatewayError && mayDoWithLess(answered, input) && !time.signal.aborted)
      answered = await ask(true);
    const { usage, costNanoUsd } = tally;
    const common = { elapsedMs: asking.monotonicMs() - startedMs, usage, costNanoUsd };
    if (answered instanceof GatewayError)
      return { ...common, model: input.model, text: '', reasoning: '', sources: [], error: answered };
    return {
      ...common,
      model: answered.model,
      text: textOf(answered),
      reasoning: reasoningOf(answered),
      sources: sourcesOf(answered),
    };
  } finally {
    time.stop();
  }
}

/** The sum of all calls. */
class Tally {
  usage: Usage | undefined;
  costNanoUsd = 0;

  add({ usage, costNanoUsd }: { readonly usage: Usage; readonly costNanoUsd: number }): void {
    this.usage = this.usage === undefined ? usage : addUsage(this.usage, usage);
    this.costNanoUsd += costNanoUsd;
  }
}

/** @param spentNanoUsd by earlier calls */
function nestedInput(input: ModelInput, plain: boolean, spentNanoUsd: number): NestedInput {
  const { model, instructions, text, cache, settings, plainTokensMax, tools, toolCallsMax, budgetNanoUsd } = input;
  return {
    models: [model],
    turns: [
      { role: 'system', blocks: [{ type: 'text', text: instructions }] },
      { role: 'user', blocks: [{ type: 'text', text, ...(cache !== undefined && { cache }) }] },
    ],
    withoutTools: WITHOUT,
    settings: plain ? { maxTokens: plainTokensMax } : settings,
    ...(!plain && tools.length > 0 && { tools, maxToolCalls: toolCallsMax }),
    ...(budgetNanoUsd !== undefined && { budgetNanoUsd: Math.max(0, budgetNanoUsd - spentNanoUsd) }),
  };
}

/** The request itself was at fault: tools, a schema, a temperature, or a length that the model does not accept. */
const FAULTS: ReadonlySet<ErrorType> = new Set([
  'invalid_request',
  'unprocessable',
  'not_found',
  'max_tokens_exceeded',
]);

function mayDoWithLess({ type, availability }: GatewayError, input: ModelInput): boolean {
  const { settings, tools, plainTokensMax } = input;
  const { maxTokens = Infinity, ...ofTaste } = settings;
  const asksMore = tools.length > 0 || Object.keys(ofTaste).length > 0 || maxTokens > plainTokensMax;
  return asksMore && FAULTS.has(type) && availability?.code !== 'model_not_found';
}

function tooSlow(model: string, limitMs: number): GatewayError {
  return new GatewayError('timeout', `${model} gave no response within ${limitMs / 1_000} seconds.`);
}

interface TimeLimit {
  readonly signal: AbortSignal;
  isOver(): boolean;
  stop(): void;
}

function limitTime(parent: AbortSignal, limitMs: number): TimeLimit {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    stop();
  }, limitMs);
  if (parent.aborted) stop();
  parent.addEventListener('abort', stop, { once: true });
  return {
    signal: controller.signal,
    isOver: () => isOver,
    stop() {
      clearTimeout(timer);
      parent.removeEventListener('abort', stop);
    },
  };
}

function textOf({ response: { format, blocks } }: NestedResponse): string {
  return joinResponseText(format, blocks).text.trim();
}

function reasoningOf({ response: { blocks } }: NestedResponse): string {
  return blocks
    .flatMap((block) => (block.type === 'reasoning' && block.form !== 'encrypted' ? [block.text] : []))
    .join('\n\n');
}

function sourcesOf({ response: { blocks, citations } }: NestedResponse): readonly UrlCitation[] {
  const ofBlocks = blocks.flatMap((block): readonly Citation[] =>
    block.type === 'text' ? (block.citations ?? []) : [],
  );
  const all = [...ofBlocks, ...citations.map(({ citation }) => citation)];
  return all.filter((citation) => citation.type === 'url');
}
