import { longestMs } from '../canonical/audio.ts';
import { textsOf, type Operation } from '../canonical/operation.ts';
import type { GenerationRequest, ReasoningSettings } from '../canonical/request.ts';
import { supportsParameter } from '../canonical/supports-parameter.ts';
import type { Endpoint } from '../catalog/model.ts';
import { createLruCache } from '../lib/cache/lru-cache.ts';
import type { Clock } from '../lib/clock.ts';

/**
 * Requests whose first tokens, or whole responses, take comparable time: the same delivery, depth of reasoning and size.
 * An index into the histories of an endpoint.
 */
export type RequestClass = number;

/** How long an attempt may take to its first token, or to its whole response, while another candidate is left. */
export interface Deadline {
  /** `undefined`: the configured limit. */
  readonly limitMs: number | undefined;
  readonly basis: 'history' | 'few_samples' | 'configured';
  readonly samples: number;
  /** With `history`. */
  readonly p99Ms?: number;
}

/** Learns how long endpoints take, by `candidateName`. Bounded, in memory, of this process alone. @spec fallback-12 */
export interface Deadlines {
  find(endpoint: string, requestClass: RequestClass): Deadline;
  /** The first token, or the whole response, came after this time. */
  answered(endpoint: string, requestClass: RequestClass, ms: number): void;
  /** The attempt was cut at its adaptive limit. */
  cut(endpoint: string, requestClass: RequestClass, limitMs: number): void;
}

/** Some 20 kB each when every class of request is used. */
const ENDPOINTS_MAX = 1_000;
/** @spec fallback-12 */
const SAMPLES_MIN = 20;
const COLD_STREAM_LIMIT_MS = 20_000;
const LIMIT_MS_MIN = 10_000;
const P99_FACTOR = 3;
const CUT_FACTOR = 2;
/** The samples in each of the two generations of a history: few enough that a change of pace counts after some ten responses. */
const GENERATION_SAMPLES_MAX = 500;
const GENERATION_AGE_MS_MAX = 60 * 60_000;
/** Bins an octave: a percentile is right to about 9 %, and never too low. */
const BINS_PER_OCTAVE = 8;
/** From 1 ms to 35 minutes. */
const BINS = 21 * BINS_PER_OCTAVE;
const PERCENTILE = 0.99;

/** Sizes of prompts in characters; a picture or file counts as `MEDIA_CHARS`. */
const CHARS_SMALL = 16_000;
const CHARS_MEDIUM = 128_000;
const MEDIA_CHARS = 6_400;
/** A whole response of at most this many tokens is a short one. */
const SHORT_ANSWER_TOKENS = 1_024;
/** A larger budget is deep reasoning. */
const LIGHT_REASONING_TOKENS = 8_192;

const SIZES = 3;
const DEPTHS = 3;
const DELIVERIES = 3;
const CLASSES = SIZES * DEPTHS * DELIVERIES;

/** Finds the class of a request at an endpoint, whose habit decides where the request says nothing about reasoning. */
export function requestClassOf(request: GenerationRequest, { supportedParameters }: Endpoint): RequestClass {
  const { settings, delivery } = request;
  const depth = depthOf(settings.reasoning, supportedParameters);
  const form = delivery === 'stream' ? 0 : (settings.maxTokens ?? Infinity) <= SHORT_ANSWER_TOKENS ? 1 : 2;
  return (form * DEPTHS + depth) * SIZES + sizeOf(request);
}

/** Operations of a size take comparable time. Their answers are short ones, without reasoning. */
export function operationClassOf(operation: Operation): RequestClass {
  // Sound takes as long as it is, so that its seconds say more than its bytes.
  const chars =
    operation.kind === 'stt'
      ? longestMs(operation.audio)
      : textsOf(operation).reduce((sum, text) => sum + text.length, 0);
  return DEPTHS * SIZES + sizeOfChars(chars);
}

/** 0: none; 1: some; 2: much. */
function depthOf(reasoning: ReasoningSettings | undefined, supported: ReadonlySet<string> | undefined): 0 | 1 | 2 {
  const { enabled, effort, maxTokens } = reasoning ?? {};
  if (enabled === false || effort === 'none' || maxTokens === 0) return 0;
  if (effort === 'high' || effort === 'xhigh' || effort === 'max') return 2;
  if (maxTokens !== undefined) return maxTokens > LIGHT_REASONING_TOKENS ? 2 : 1;
  if (effort !== undefined || enabled === true || reasoning?.adaptive === true) return 1;
  return supported !== undefined && supportsParameter(supported, 'reasoning') ? 1 : 0;
}

function sizeOf({ turns }: GenerationRequest): 0 | 1 | 2 {
  let chars = 0;
  for (const { blocks } of turns)
    for (const block of blocks) {
      if (block.type === 'text') chars += block.text.length;
      else if (block.type === 'tool-call') chars += block.input.length;
      else if (block.type === 'media') chars += MEDIA_CHARS;
      else if (block.type === 'tool-result')
        for (const inner of block.content) chars += inner.type === 'text' ? inner.text.length : MEDIA_CHARS;
    }
  return sizeOfChars(chars);
}

function sizeOfChars(chars: number): 0 | 1 | 2 {
  if (chars <= CHARS_SMALL) return 0;
  return chars <= CHARS_MEDIUM ? 1 : 2;
}

function isColdStream(requestClass: RequestClass): boolean {
  return requestClass < SIZES;
}

/** Logarithmic bins, newer and older samples apart, so that memory is the same for any traffic. */
interface History {
  current: Uint16Array;
  previous: Uint16Array;
  currentCount: number;
  previousCount: number;
  startedMs: number;
  /** The one sample that all cuts since the last response count as; 0: there were none. */
  pendingMs: number;
}

export function createDeadlines({ clock }: { readonly clock: Clock }): Deadlines {
  const endpoints = createLruCache<string, (History | undefined)[]>(ENDPOINTS_MAX);

  function historyOf(endpoint: string, requestClass: RequestClass): History {
    const known = endpoints.get(endpoint);
    const histories = known ?? Array.from<History | undefined>({ length: CLASSES });
    if (known === undefined) endpoints.set(endpoint, histories);
    const nowMs = clock.monotonicMs();
    const history = (histories[requestClass] ??= createHistory(nowMs));
    rotate(history, nowMs);
    return history;
  }

  return {
    find(endpoint, requestClass) {
      const history = endpoints.peek(endpoint)?.[requestClass];
      if (history !== undefined) rotate(history, clock.monotonicMs());
      const samples = history === undefined ? 0 : history.currentCount + history.previousCount;
      if (history === undefined || samples < SAMPLES_MIN)
        return isColdStream(requestClass)
          ? { limitMs: COLD_STREAM_LIMIT_MS, basis: 'few_samples', samples }
          : { limitMs: undefined, basis: 'configured', samples };
      const p99Ms = p99Of(history);
      return { limitMs: Math.max(LIMIT_MS_MIN, P99_FACTOR * p99Ms), basis: 'history', samples, p99Ms };
    },
    answered(endpoint, requestClass, ms) {
      const history = historyOf(endpoint, requestClass);
      if (history.pendingMs > 0) add(history, history.pendingMs);
      history.pendingMs = 0;
      add(history, ms);
    },
    // Cuts in a row are an outage, which health handles: together they count once, when the endpoint responds again.
    // Otherwise an endpoint that stays silent would cost each probe more and more.
    cut(endpoint, requestClass, limitMs) {
      const history = historyOf(endpoint, requestClass);
      history.pendingMs = Math.max(history.pendingMs, CUT_FACTOR * limitMs);
    },
  };
}

function createHistory(nowMs: number): History {
  return {
    current: new Uint16Array(BINS),
    previous: new Uint16Array(BINS),
    currentCount: 0,
    previousCount: 0,
    startedMs: nowMs,
    pendingMs: 0,
  };
}

function rotate(history: History, nowMs: number): void {
  const ageMs = nowMs - history.startedMs;
  if (history.currentCount < GENERATION_SAMPLES_MAX && ageMs < GENERATION_AGE_MS_MAX) return;
  const { current, previous } = history;
  previous.fill(0);
  history.current = previous;
  history.previous = current;
  history.previousCount = history.currentCount;
  history.currentCount = 0;
  history.startedMs = nowMs;
  if (ageMs < 2 * GENERATION_AGE_MS_MAX) return;
  current.fill(0);
  history.previousCount = 0;
}

function add(history: History, ms: number): void {
  const bin = Math.min(BINS - 1, Math.floor(Math.log2(Math.max(1, ms)) * BINS_PER_OCTAVE));
  history.current[bin] = (history.current[bin] ?? 0) + 1;
  history.currentCount++;
}

/** The upper end of its bin. */
function p99Of({ current, previous, currentCount, previousCount }: History): number {
  const rank = Math.ceil(PERCENTILE * (currentCount + previousCount));
  let bin = -1;
  for (let seen = 0; seen < rank;) {
    bin++;
    seen += (current[bin] ?? 0) + (previous[bin] ?? 0);
  }
  return Math.round(2 ** ((bin + 1) / BINS_PER_OCTAVE));
}
