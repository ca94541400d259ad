import { GatewayError } from '../canonical/gateway-error.ts';
import { createJobThreads, JobError, type JobThreads } from '../lib/threads/job-threads.ts';
import type { CompiledRule } from './compile-rules.ts';
import type { AnswerWindow, FilterRule, InspectedText, Inspection, RedactedText, TextInspector } from './contract.ts';
import { mergeMarks, rewriteMarks } from '../lib/text/mark-spans.ts';
import type { ScanJob } from './scan-job.ts';
import type { ScanResult } from './scan.ts';

export interface InspectorOptions {
  /** How long a thread may take for a scan, beside the time for its characters. Default: `SCAN_MS_MAX`. */
  readonly scanMsMax?: number;
  /** The same for rules that only flag, or that let pass what was not scanned in time. Default: `LENIENT_SCAN_MS_MAX`. */
  readonly lenientScanMsMax?: number;
}

/** What may be looked through between two events of a stream: at a nanosecond a step, a millisecond. */
const INLINE_STEPS_MAX = 1_000_000;
/** What a text costs besides its characters, for each rule. */
const STEPS_PER_TEXT = 1_000;
/** Characters times rules for a direct search of literals, before anything else. */
const LITERAL_CHARS_MAX = 1_000_000;

const THREADS_MAX = 2;
const WAITING_MAX = 256;
const MEMORY_BYTES_MAX = 268_435_456;
const IDLE_MS = 60_000;
/** A harmless scan takes a hundredth of it. */
const SCAN_MS_MAX = 1_000;
/** For rules that let pass what they could not look at. */
const LENIENT_SCAN_MS_MAX = 500;
/** Added for long texts. */
const SCAN_MS_PER_MILLION_CHARS = 1_000;
/** The longest stretch of an answer that is held back for matches of bounded length. */
const WINDOW_CHARS_MAX = 1_024;
const RETRY_MS = 1_000;

/** Rules that run together, with their places among all. */
interface Part {
  readonly rules: readonly (CompiledRule & { readonly index: number })[];
  readonly msMax: number;
  readonly mayBeSkipped: boolean;
}

type Texts = readonly InspectedText[];
type Outcome = Pick<ScanResult, 'redacted'> & Pick<Inspection, 'hits' | 'skipped' | 'unfinished'>;

const NOTHING_FOUND: Outcome = { hits: [], redacted: [], skipped: [], unfinished: [] };

/** Short scans run at once, others in threads that a deadline ends, whatever they compute. */
export function createTextInspector({
  scanMsMax = SCAN_MS_MAX,
  lenientScanMsMax = Math.min(scanMsMax, LENIENT_SCAN_MS_MAX),
}: InspectorOptions = {}): TextInspector {
  const threads = createJobThreads<ScanJob, ScanResult>({
    script: new URL('./scan-thread.ts', import.meta.url),
    threadsMax: THREADS_MAX,
    waitingMax: WAITING_MAX,
    memoryBytesMax: MEMORY_BYTES_MAX,
    idleMs: IDLE_MS,
  });
  const compiled = new WeakMap<readonly FilterRule[], Promise<readonly CompiledRule[]>>();
  const compiledOf = (rules: readonly FilterRule[]): Promise<readonly CompiledRule[]> => {
    const known = compiled.get(rules) ?? compile(rules);
    compiled.set(rules, known);
    return known;
  };
  return {
    async inspect(texts, rules, signal) {
      const parts = partsOf(await compiledOf(rules), scanMsMax, lenientScanMsMax);
      const scan = (some: Texts, part: Part): Promise<Outcome> => scanPart(threads, some, part, signal);
      const [strict, flagged] = await Promise.all([scan(texts, parts.strict), scan(texts, parts.flagging)]);
      const lenient = await scan(replaceTexts(texts, strict.redacted), parts.lenient);
      const all = [strict, flagged, lenient];
      return {
        hits: all.flatMap(({ hits }) => hits).toSorted((one, other) => one.rule - other.rule),
        redacted: joinRedacted(texts, strict.redacted, lenient.redacted),
        skipped: all.flatMap(({ skipped }) => skipped),
        unfinished: all.flatMap(({ unfinished }) => unfinished),
      };
    },
    async windowOf(rules) {
      const all = await compiledOf(rules);
      return windowOf(all);
    },
    close: () => threads.close(),
  };
}

function windowOf(compiled: readonly CompiledRule[]): AnswerWindow {
  const isLong = ({ rule, matcher }: CompiledRule): boolean =>
    rule.action !== 'flag' && matcher.matchCharsMax > WINDOW_CHARS_MAX;
  const long = compiled.filter(isLong).map(({ matcher }) => matcher);
  return {
    chars: Math.min(WINDOW_CHARS_MAX, Math.max(0, ...compiled.map(({ matcher }) => matcher.matchCharsMax))),
    longRules: [...compiled.entries()].flatMap(([index, each]) => (isLong(each) ? [index] : [])),
    openStart: (text) => Math.min(text.length, ...long.map(({ openStart }) => openStart?.(text) ?? 0)),
  };
}

/** Loaded with the first rule: most gateways have none. */
async function compile(rules: readonly FilterRule[]): Promise<readonly CompiledRule[]> {
  const { compileRules } = await import('./compile-rules.ts');
  return compileRules(rules);
}

/**
 * Rules that only flag, or that let texts pass after a timeout, must not hold back the others; both see the redacted
 * text.
 * @spec filter-14
 */
function partsOf(
  compiled: readonly CompiledRule[],
  scanMsMax: number,
  lenientMs: number,
): Readonly<Record<'strict' | 'flagging' | 'lenient', Part>> {
  const rules = compiled.map((each, index) => ({ ...each, index }));
  const acting = rules.filter(({ rule }) => rule.action !== 'flag');
  return {
    strict: {
      rules: acting.filter(({ filter }) => filter.lateRequests === 'refused'),
      msMax: scanMsMax,
      mayBeSkipped: false,
    },
    flagging: { rules: rules.filter(({ rule }) => rule.action === 'flag'), msMax: lenientMs, mayBeSkipped: true },
    lenient: {
      rules: acting.filter(({ filter }) => filter.lateRequests === 'pass'),
      msMax: lenientMs,
      mayBeSkipped: true,
    },
  };
}

async function scanPart(
  threads: JobThreads<ScanJob, ScanResult>,
  texts: Texts,
  part: Part,
  signal: AbortSignal,
): Promise<Outcome> {
  if (part.rules.length === 0) return NOTHING_FOUND;
  const chars = texts.reduce((sum, { text }) => sum + text.length, 0);
  const rules =
    chars * part.rules.length > LITERAL_CHARS_MAX ? part.rules : part.rules.filter((each) => isLive(each, texts));
  if (rules.length === 0) return NOTHING_FOUND;
  const { scanTexts } = await import('./scan.ts');
  if (isShort(rules, texts)) return placed(scanTexts(texts, rules), rules);
  const ms = part.msMax + (chars / 1_000_000) * SCAN_MS_PER_MILLION_CHARS;
  try {
    const job = { texts, rules: rules.map(({ rule }) => rule) };
    return placed(await threads.run(job, ms, signal), rules);
  } catch (error) {
    return late(
      error,
      rules.map(({ index }) => index),
      part,
    );
  }
}

/** Whether a match cannot be ruled out at a glance: what is written with escapes or other letters is not seen at one. */
function isLive({ matcher }: CompiledRule, texts: Texts): boolean {
  return texts.some(
    ({ text, form }) => matcher.mayMatch(text) || NOT_ASCII.test(text) || (form === 'json' && text.includes('\\')),
  );
}

const NOT_ASCII = /[^\0-\x7f]/;

function isShort(rules: readonly CompiledRule[], texts: Texts): boolean {
  let steps = 0;
  for (const { matcher } of rules)
    for (const { text } of texts) {
      steps += STEPS_PER_TEXT + matcher.stepsFor(text.length);
      if (steps > INLINE_STEPS_MAX) return false;
    }
  return true;
}

function placed({ hits, redacted }: ScanResult, rules: Part['rules']): Outcome {
  return {
    ...NOTHING_FOUND,
    hits: hits.map(({ rule, patterns }) => ({ rule: rules[rule]?.index ?? 0, patterns })),
    redacted,
  };
}

/** @throws GatewayError 408 when the caller has gone, 503 */
function late(error: unknown, rules: readonly number[], { mayBeSkipped }: Part): Outcome {
  if (!(error instanceof JobError)) throw error;
  if (error.fault === 'aborted')
    throw new GatewayError('timeout', 'The request ended before its content filters had been applied.', {
      status: 408,
    });
  if (mayBeSkipped) return { ...NOTHING_FOUND, skipped: rules };
  if (error.fault === 'busy')
    throw new GatewayError('provider_overloaded', 'Too many requests wait for their content filters. Try again.', {
      retryAfterMs: RETRY_MS,
      cause: error,
    });
  return { ...NOTHING_FOUND, unfinished: rules };
}

type Redacted = ScanResult['redacted'];

function replaceTexts(texts: Texts, redacted: Redacted): Texts {
  if (redacted.length === 0) return texts;
  const other = new Map(redacted.map(({ index, text }) => [index, text]));
  return texts.map((each, index) => ({ ...each, text: other.get(index) ?? each.text }));
}

/** @param later of the texts as the earlier ones left them */
function joinRedacted(texts: Texts, earlier: Redacted, later: Redacted): Inspection['redacted'] {
  const joined = new Map<number, RedactedText>(earlier.map(({ index, text, marks }) => [index, { text, marks }]));
  for (const { index, text, marks } of later) {
    const before = joined.get(index)?.marks ?? [];
    const { back } = rewriteMarks(texts[index]?.text ?? '', before);
    const moved = marks.flatMap(({ label, ...span }) => {
      const found = back(span);
      return found === undefined ? [] : [{ ...found, label }];
    });
    joined.set(index, { text, marks: mergeMarks([...before, ...moved]) });
  }
  return joined;
}
