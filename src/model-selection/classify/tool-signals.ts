import type { GenerationRequest } from '../../canonical/request.ts';
import { readToolUse, type ToolUse } from './tool-kinds.ts';

/** What the history of tools says of how an agent gets on. */
export interface ToolSignals {
  /** Of the worst error among the latest results: 0 none, 0.3 soft, 0.7 hard, 1 critical. */
  readonly severity: number;
  /** Long under way, and neither writes nor looks around. 0 or 1. */
  readonly spinning: number;
  /** Long under way, looks around and writes nothing. 0 or 1. */
  readonly exploring: number;
  /** The part of the latest calls that wrote or edited, of those that wrote, edited, read or planned. */
  readonly production: number;
  /** The latest results speak of tests that passed, and of none that failed. */
  readonly testsPassed: boolean;
  /** The beginning of the conversation was replaced by a summary. */
  readonly compacted: boolean;
}

export interface StageVerdict {
  readonly tier: 'capable' | 'efficient';
  /** What decided. */
  readonly by: 'override' | 'tests_passed' | 'dimensions';
  /** -1 (all is well) to 1. */
  readonly score: number;
  readonly confidence: number;
}

/** Calls and results that count. */
const WINDOW = 3;
/** Messages after which an agent that produced nothing is worth a look. */
const DEEP = 8;
/** A score as far from 0 as this decides. One full signal gives 0.46, two 0.76. */
const THRESHOLD = 0.5;
const HARD = 0.7;

/** @spec router-31; the levels are the public algorithm family's, the words ours */
const LEVELS: readonly (readonly [level: number, words: RegExp])[] = [
  [
    1,
    /out of memory|oom-?killed|cannot allocate memory|connection refused|no space left on device|kernel panic|segmentation fault/,
  ],
  [
    HARD,
    /traceback|importerror|modulenotfound|no module named|command not found|assertion(?:error)?\b.{0,20}fail|assertionerror|assert failed|valueerror|typeerror|keyerror|syntaxerror|syntax error|timed out|timeout(?:error)?\b|no such file|file not found|enoent|panic:|undefined reference|permission denied/,
  ],
  [0.3, /exit(?:ed)?(?: with)?(?: code| status)?:? [1-9]|non-zero|returned [1-9]\d* exit|\berror:|\bwarning: .*error/],
];

const PASSED =
  /\b(?:\d+|all)(?: tests?)? pass(?:ed|ing)\b|\btests? pass(?:ed)?\b|^ok\b|\bpass\b.*\b0 fail|build succe(?:eded|ssful)/m;
const FAILED =
  /\b[1-9]\d* (?:tests? )?(?:fail(?:ed|ing|ures?)?|errors?)\b|\bfail(?:ed|ing|ures?)?:? [1-9]|^not ok\b|(?<!\b0 (?:tests? )?)\bfailed\b(?!:? 0)/m;
const COMPACTED =
  /conversation (?:has been|was) (?:summari[sz]ed|compacted)|summary of (?:the )?(?:earlier|previous) (?:conversation|messages)|context was compacted/i;

/** @returns `undefined` without a tool call: then there are no signals */
export function readToolSignals(request: Pick<GenerationRequest, 'turns'>): ToolSignals | undefined {
  const uses = readToolUse(request);
  if (uses.length === 0) return undefined;
  const recent = uses.slice(-WINDOW);
  const results = recent.map(({ result }) => result.toLowerCase());
  const count = (kinds: readonly ToolUse['kind'][]): number => recent.filter(({ kind }) => kinds.includes(kind)).length;
  const made = count(['write', 'edit']);
  const looked = count(['read', 'plan', 'search']);
  const isIdle = request.turns.length >= DEEP && made === 0;
  return {
    severity: Math.max(...recent.map((use, index) => severityOf(use, results[index] ?? ''))),
    spinning: isIdle && looked === 0 ? 1 : 0,
    exploring: isIdle && looked > 0 ? 1 : 0,
    production: made + looked === 0 ? 0 : made / (made + looked),
    testsPassed: results.some((text) => PASSED.test(text)) && !results.some((text) => FAILED.test(text)),
    compacted: isCompacted(request),
  };
}

/** A tool that says itself that it failed is at least a soft error, whatever its words. */
function severityOf({ failed }: ToolUse, text: string): number {
  const level = LEVELS.find(([, words]) => words.test(text))?.[0] ?? 0;
  return failed ? Math.max(level, 0.3) : level;
}

function isCompacted({ turns }: Pick<GenerationRequest, 'turns'>): boolean {
  return turns.some(({ role, blocks }) => {
    if (role === 'assistant' || role === 'tool') return false;
    return blocks.some((block) => block.type === 'text' && COMPACTED.test(block.text.slice(0, 500)));
  });
}

/** @returns `undefined` where the signals do not decide */
export function judgeStage(signals: ToolSignals): StageVerdict | undefined {
  const { severity, spinning, exploring, production, testsPassed, compacted } = signals;
  const score = Math.tanh(0.5 * (severity / HARD + spinning + exploring - production));
  if (compacted || severity >= 1) return { tier: 'capable', by: 'override', score, confidence: 1 };
  if (testsPassed && production > 0 && severity === 0)
    return { tier: 'efficient', by: 'tests_passed', score, confidence: 1 };
  const confidence = Math.abs(score);
  if (confidence < THRESHOLD) return undefined;
  return { tier: score > 0 ? 'capable' : 'efficient', by: 'dimensions', score, confidence };
}
