import { estimateRequestTokens } from '../../canonical/estimate-tokens.ts';
import type { Effort, GenerationRequest } from '../../canonical/request.ts';
import { groupOf, type TaskTag } from './task-tags.ts';
import { readToolSignals } from './tool-signals.ts';

/** How hard a request looks, and what makes it look so. */
export interface Difficulty {
  /** 0: every model can do it; 1: few can. */
  readonly score: number;
  /** What each part adds; they sum up to the score before its bounds. */
  readonly parts: Readonly<Record<'task' | 'length' | 'words' | 'rules' | 'effort' | 'tools', number>>;
}

/** How hard requests of a kind mostly are. What is not listed is as hard as its group. */
const BASE: Readonly<Partial<Record<TaskTag, number>>> = {
  conversational_reply: 0.1,
  classification_tagging: 0.2,
  translation: 0.25,
  summarization: 0.25,
  roleplay_fiction: 0.25,
  image_prompting: 0.2,
  qa_knowledge: 0.3,
  customer_support: 0.3,
  content_writing: 0.3,
  finance_trading: 0.5,
  research_report: 0.55,
  math: 0.55,
  security_audit: 0.65,
  devops: 0.45,
  'code:debugging': 0.6,
  'code:review_security': 0.65,
  'code:shell_execution': 0.45,
  'agent:memory_extraction': 0.3,
  'agent:tool_dispatch': 0.4,
};

const GROUP_BASE: Readonly<Record<ReturnType<typeof groupOf>, number>> = {
  code: 0.5,
  agent: 0.5,
  data: 0.3,
  general: 0.35,
};

const EFFORT: Readonly<Record<Effort, number>> = {
  none: -0.1,
  minimal: -0.1,
  low: -0.05,
  medium: 0.05,
  high: 0.15,
  xhigh: 0.2,
  max: 0.25,
};

const HARD_WORDS =
  /\b(?:prove|proof|derive|theorem|optimi[sz]e|concurren\w+|race condition|deadlock|distributed|architect\w*|migrat\w+|refactor|invariant|complexity|edge cases?|trade-?offs?|rigorous\w*|step by step|from scratch|production|thread-?safe|lock-?free|vulnerabilit\w+|threat model|root cause|beweis\w*|optimier\w*|démontr\w*|demuestr\w*)\b/gi;
const EASY_WORDS =
  /\b(?:simple|simply|quick\w*|just|brief\w*|short|basic|trivial|one[- ]liner|in one (?:word|sentence)|tl;?dr|yes or no|hello|hi|thanks|kurz|einfach|rapide\w*|rápid\w*)\b/gi;
const WORD_WEIGHT = 0.06;
const WORDS_COUNTED = 3;
/** Numbered or dashed lines, and words that bind: each is one more thing to get wrong. */
const RULES =
  /^\s*(?:[-*•]|\d+[.)])\s+\S|\b(?:must(?: not)?|should|never|always|exactly|at (?:most|least)|without using)\b/gim;
const RULE_WEIGHT = 0.02;
const RULES_COUNTED = 8;
/** Where length says nothing, and how much each doubling adds. */
const USUAL_TOKENS = 200;
const LENGTH_WEIGHT = 0.02;
const LENGTH_LEAST = -0.08;
const LENGTH_MOST = 0.2;
/** The part of the request text that is analysed, UTF-16 units. */
const USER_TEXT_CHARS_MAX = 4_000;
const SEVERITY_WEIGHT = 0.15;
const STUCK_WEIGHT = 0.1;

/** Pure, and a guess: its parts are weights that were set by hand and looked at with prompts of our own (docs/decisions/0016). */
export function estimateDifficulty(request: GenerationRequest, tag: TaskTag): Difficulty {
  const lastUserText = lastUserTextOf(request);
  const parts: Difficulty['parts'] = {
    task: BASE[tag] ?? GROUP_BASE[groupOf(tag)],
    length: bounded(
      LENGTH_WEIGHT * Math.log2(Math.max(1, estimateRequestTokens(request)) / USUAL_TOKENS),
      LENGTH_LEAST,
      LENGTH_MOST,
    ),
    words:
      WORD_WEIGHT * (count(HARD_WORDS, lastUserText, WORDS_COUNTED) - count(EASY_WORDS, lastUserText, WORDS_COUNTED)),
    rules: RULE_WEIGHT * count(RULES, lastUserText, RULES_COUNTED),
    effort: effortOf(request),
    tools: troubleOf(request),
  };
  return {
    score: bounded(
      Object.values(parts).reduce((sum, part) => sum + part, 0),
      0,
      1,
    ),
    parts,
  };
}

function effortOf({ settings: { reasoning } }: GenerationRequest): number {
  if (reasoning?.enabled === false) return EFFORT.none;
  return reasoning?.effort === undefined ? 0 : EFFORT[reasoning.effort];
}

/** An agent that meets errors, or gets nowhere, has a hard task or the wrong model for it. */
function troubleOf(request: GenerationRequest): number {
  const signals = readToolSignals(request);
  if (signals === undefined) return 0;
  return SEVERITY_WEIGHT * signals.severity + STUCK_WEIGHT * Math.max(signals.spinning, signals.exploring);
}

function lastUserTextOf({ turns }: GenerationRequest): string {
  const turn = turns.findLast(({ role, blocks }) => role === 'user' && blocks.some(({ type }) => type === 'text'));
  const text = (turn?.blocks ?? []).map((block) => (block.type === 'text' ? block.text : '')).join('\n');
  return text.slice(0, USER_TEXT_CHARS_MAX);
}

/** Different words: one that is said again says nothing new. */
function count(words: RegExp, text: string, max: number): number {
  const found = text.match(words) ?? [];
  return Math.min(max, words === RULES ? found.length : new Set(found.map((word) => word.toLowerCase())).size);
}

function bounded(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value));
}
