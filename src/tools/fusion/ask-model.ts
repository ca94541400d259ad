import type { CacheMark, Citation, UrlCitation } from '../../canonical/blocks.ts';
import { GatewayError, type ErrorType } from '../../canonical/gateway-error.ts';
import type { InnerAnswer, InnerGenerate, InnerQuestion } from '../../canonical/inner-generation.ts';
import type { Settings, Tool } from '../../canonical/request.ts';
import { joinAnswerText } from '../../canonical/text-gap.ts';
import { addUsage, type Usage } from '../../canonical/usage.ts';

/** What one model is asked. */
export interface ModelQuestion {
  /** Slug. */
  readonly model: string;
  readonly instructions: string;
  readonly text: string;
  readonly cache?: CacheMark;
  readonly settings: Settings;
  /** The bound on the answer, in tokens, where the model is asked once more for less. */
  readonly plainTokensMax: number;
  readonly tools: readonly Tool[];
  readonly toolCallsMax: number;
  /** The most that it may cost, nano-USD. Absent: what the caller's limits leave. */
  readonly budgetNanoUsd?: number;
}

export interface Reply {
  /** The concrete slug that answered; where nobody did, the one that was asked. */
  readonly model: string;
  /** Empty where `error` says why. */
  readonly text: string;
  readonly sources: readonly UrlCitation[];
  readonly error?: GatewayError;
  readonly elapsedMs: number;
  /** `undefined`: nobody was asked in the end. */
  readonly usage: Usage | undefined;
  readonly costNanoUsd: number;
}

export interface Asking {
  readonly generate: InnerGenerate;
  readonly monotonicMs: () => number;
  /** Aborts when nobody waits for the replies any more. */
  readonly signal: AbortSignal;
}

/** Whoever is asked by a panel asks none itself. */
const WITHOUT: readonly string[] = ['service:fusion'];

/**
 * Asks one model, once more without tools and settings of taste where it cannot be asked with them. Never rejects for what
 * an upstream or the caller's limits do.
 * @param limitMs how long it may take
 */
export async function askModel(question: ModelQuestion, asking: Asking, limitMs: number): Promise<Reply> {
  const startedMs = asking.monotonicMs();
  const tally = new Tally();
  const time = limitTime(asking.signal, limitMs);
  const ask = async (plain: boolean): Promise<InnerAnswer | GatewayError> => {
    try {
      return await asking.generate(
        { ...innerQuestion(question, plain, tally.costNanoUsd), ended: (run) => tally.add(run) },
        time.signal,
      );
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return time.isOver() ? tooSlow(question.model, limitMs) : error;
    }
  };
  try {
    let answered = await ask(false);
    if (answered instanceof GatewayError && mayDoWithLess(answered, question) && !time.signal.aborted)
      answered = await ask(true);
    const { usage, costNanoUsd } = tally;
    const common = { elapsedMs: asking.monotonicMs() - startedMs, usage, costNanoUsd };
    if (answered instanceof GatewayError)
      return { ...common, model: question.model, text: '', sources: [], error: answered };
    return { ...common, model: answered.model, text: textOf(answered), sources: sourcesOf(answered) };
  } finally {
    time.stop();
  }
}

/** What all asking came to. */
class Tally {
  usage: Usage | undefined;
  costNanoUsd = 0;

  add({ usage, costNanoUsd }: { readonly usage: Usage; readonly costNanoUsd: number }): void {
    this.usage = this.usage === undefined ? usage : addUsage(this.usage, usage);
    this.costNanoUsd += costNanoUsd;
  }
}

/** @param spentNanoUsd by asking before */
function innerQuestion(question: ModelQuestion, plain: boolean, spentNanoUsd: number): InnerQuestion {
  const { model, instructions, text, cache, settings, plainTokensMax, tools, toolCallsMax, budgetNanoUsd } = question;
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

/** Somebody found the request itself at fault: tools, a schema, a temperature, a length that the model does not take. */
const FAULTS: ReadonlySet<ErrorType> = new Set([
  'invalid_request',
  'unprocessable',
  'not_found',
  'max_tokens_exceeded',
]);

function mayDoWithLess({ type, availability }: GatewayError, question: ModelQuestion): boolean {
  const { settings, tools, plainTokensMax } = question;
  const { maxTokens = Infinity, ...ofTaste } = settings;
  const asksMore = tools.length > 0 || Object.keys(ofTaste).length > 0 || maxTokens > plainTokensMax;
  return asksMore && FAULTS.has(type) && availability?.code !== 'model_not_found';
}

function tooSlow(model: string, limitMs: number): GatewayError {
  return new GatewayError('timeout', `${model} gave no answer within ${limitMs / 1_000} seconds.`);
}

interface TimeLimit {
  readonly signal: AbortSignal;
  isOver(): boolean;
  stop(): void;
}

function limitTime(outer: AbortSignal, limitMs: number): TimeLimit {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    stop();
  }, limitMs);
  if (outer.aborted) stop();
  outer.addEventListener('abort', stop, { once: true });
  return {
    signal: controller.signal,
    isOver: () => isOver,
    stop() {
      clearTimeout(timer);
      outer.removeEventListener('abort', stop);
    },
  };
}

function textOf({ answer: { format, blocks } }: InnerAnswer): string {
  return joinAnswerText(format, blocks).text.trim();
}

function sourcesOf({ answer: { blocks, citations } }: InnerAnswer): readonly UrlCitation[] {
  const ofBlocks = blocks.flatMap((block): readonly Citation[] =>
    block.type === 'text' ? (block.citations ?? []) : [],
  );
  const all = [...ofBlocks, ...citations.map(({ citation }) => citation)];
  return all.filter((citation) => citation.type === 'url');
}
