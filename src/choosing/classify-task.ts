import type { GenerationRequest, Turn } from '../canonical/request.ts';
import { TASK_PHRASES } from './task-phrases.ts';
import { groupOf, TASK_TAGS, type TaskTag } from './task-tags.ts';
import { TASK_TERMS } from './task-terms.ts';
import { readToolUse, type ToolUse } from './tool-kinds.ts';

/** What a request is about, and what says so. */
export interface TaskClass {
  readonly tag: TaskTag;
  /** 0 to 1: how far the tag stands before the next one. Structure that leaves no doubt is 1. */
  readonly confidence: number;
  /** `structure`: tools, results, formats, media. `rules`: words. `default`: nothing speaks for anything. */
  readonly source: 'structure' | 'rules' | 'default';
  /** The best three. */
  readonly scores: readonly { readonly tag: TaskTag; readonly score: number }[];
}

/** Of the last user message: its beginning and its end, where people say what they want. UTF-16 units. */
const HEAD_CHARS_MAX = 3_000;
const TAIL_CHARS_MAX = 1_000;
const SYSTEM_CHARS_MAX = 1_500;
/** Words at the beginning of a message count more: that is where the verb stands. */
const OPENING_WORDS = 14;
const OPENING_FACTOR = 1.8;
const SYSTEM_FACTOR = 0.55;
const STRONG = 2;
const WEAK = 0.5;
const PHRASE = 2.5;
/** Below it words decide nothing. */
const SCORE_MIN = 0.5;
/** A text as long as this with a schema to fill is read out rather than thought up. */
const LONG_TEXT_CHARS = 400;
/** So much more than the tools' own tag words must say to be believed before tools that nobody has called yet. */
const WORDS_OVER_TOOLS = 4;

/** Pure, and fast enough for every request: a few hundred look-ups of words, and no model. @source catalog of the tags: task-tags.ts */
export function classifyTask(request: GenerationRequest): TaskClass {
  const text = lastUserText(request.turns);
  const scores = scoreWords(text, systemText(request.turns));
  const structured = byStructure(request, text, scores);
  if (structured !== undefined) return { tag: structured, confidence: 1, source: 'structure', scores: best(scores) };
  if (text.trim() !== '') addShape(request, text, scores);
  const [first, second] = best(scores);
  if (first === undefined || first.score < SCORE_MIN)
    return {
      tag: text.trim() === '' ? 'other' : 'qa_knowledge',
      confidence: 0,
      source: 'default',
      scores: best(scores),
    };
  const confidence = (first.score - (second?.score ?? 0)) / (first.score + 1);
  return { tag: first.tag, confidence, source: 'rules', scores: best(scores) };
}

type Scores = Map<TaskTag, number>;

function best(scores: Scores): TaskClass['scores'] {
  return [...scores]
    .map(([tag, score]) => ({ tag, score: Math.round(score * 100) / 100 }))
    .toSorted((left, right) => right.score - left.score)
    .slice(0, 3);
}

function add(scores: Scores, tag: TaskTag, score: number): void {
  scores.set(tag, (scores.get(tag) ?? 0) + score);
}

/** What the conversation is, whatever it says. */
function byStructure(request: GenerationRequest, text: string, scores: Scores): TaskTag | undefined {
  const { settings, tools } = request;
  if (settings.modalities?.includes('image') === true) return 'image_prompting';
  const uses = readToolUse(request);
  if (uses.length > 0) return ofToolUse(uses, request, scores);
  return tools.some(({ type }) => type !== 'opaque') ? ofOfferedTools(request, text, scores) : undefined;
}

const FAULT = /traceback|exception|error:|\berror\b|panic:|failed|assert|cannot find|not found|undefined/i;
const WINDOW = 4;

/** An agent at work: what it did last tells what it does. */
function ofToolUse(uses: readonly ToolUse[], { turns }: GenerationRequest, scores: Scores): TaskTag {
  const recent = uses.slice(-WINDOW);
  const count = (...kinds: readonly ToolUse['kind'][]): number =>
    recent.filter(({ kind }) => kinds.includes(kind)).length;
  const last = recent.at(-1);
  // The caller spoke again after the tools: a new wish counts before what was done for the last one.
  const isNewWish = turns.at(-1)?.role === 'user' && turns.at(-1)?.blocks.every(({ type }) => type !== 'tool-result');
  if (isNewWish === true) {
    const [wish] = best(scores);
    if (wish !== undefined && wish.score >= WORDS_OVER_TOOLS) return wish.tag;
  }
  const coding = count('edit', 'write', 'read', 'shell');
  if (coding > 0 && coding >= recent.length / 2) {
    if (last !== undefined && (last.failed || FAULT.test(last.result.slice(-600))) && last.kind !== 'read')
      return 'code:debugging';
    if (count('edit', 'write') > 0) return 'code:file_read_write';
    if (count('shell') > 0 && last?.kind === 'shell') return 'code:shell_execution';
    return 'code:repo_scan';
  }
  if (count('search') > 0 && last?.kind === 'search') return 'agent:web_search';
  if (count('memory') > 0 && last?.kind === 'memory') return 'agent:memory_extraction';
  if (count('plan') > 0 && last?.kind === 'plan') return 'agent:multi_step_planning';
  const names = new Set(uses.map(({ name }) => name));
  return names.size >= 2 && uses.length >= 2 ? 'agent:workflow_execution' : 'agent:tool_dispatch';
}

/** Tools that nobody has called yet. */
function ofOfferedTools({ tools }: GenerationRequest, text: string, scores: Scores): TaskTag | undefined {
  const names = tools.flatMap((tool) => (tool.type === 'opaque' ? [] : [tool.name.toLowerCase()]));
  const [wish] = best(scores);
  const isCoding = names.some((name) => /edit|write_?file|bash|shell|patch|run_command|terminal/.test(name));
  if (isCoding)
    return wish !== undefined && groupOf(wish.tag) === 'code' && wish.score >= STRONG ? wish.tag : 'code:general_impl';
  if (names.every((name) => /web|search|browse|fetch|news/.test(name))) return 'agent:web_search';
  if (names.every((name) => /memor|remember|recall/.test(name))) return 'agent:memory_extraction';
  if ((scores.get('agent:multi_step_planning') ?? 0) >= STRONG && names.length >= 2) return 'agent:multi_step_planning';
  if (wish !== undefined && wish.tag === 'customer_support' && wish.score >= WORDS_OVER_TOOLS) return wish.tag;
  const isSequence = /\b(?:then|after that|once|finally|und dann|danach|ensuite|luego|después|depois)\b/i.test(text);
  return isSequence && names.length >= 2 ? 'agent:workflow_execution' : 'agent:tool_dispatch';
}

/** What the shape of request and text says beside its words. */
function addShape({ settings, turns }: GenerationRequest, text: string, scores: Scores): void {
  const { responseFormat } = settings;
  if (responseFormat?.type === 'json_schema' || responseFormat?.type === 'json_object') {
    const schema = responseFormat.type === 'json_schema' ? JSON.stringify(responseFormat.schema ?? {}) : '';
    if (schema.includes('"enum"') && schema.length < 600) add(scores, 'classification_tagging', 3);
    else if (text.length >= LONG_TEXT_CHARS) add(scores, 'data:extraction', 3);
    else add(scores, 'data:extraction', 1.5);
  }
  const head = text.slice(0, HEAD_CHARS_MAX);
  for (const [tag, score, pattern] of SHAPES) if (pattern.test(head)) add(scores, tag, score);
  const hasMedia = turns.at(-1)?.blocks.some(({ type }) => type === 'media') === true;
  if (hasMedia) add(scores, 'qa_knowledge', 1);
  if (text.length < 40 && !/[?{}();=]/.test(text)) add(scores, 'conversational_reply', 0.8);
}

/** What code, errors and formulas look like. */
const SHAPES: readonly (readonly [TaskTag, number, RegExp])[] = [
  [
    'code:debugging',
    4,
    /Traceback \(most recent call last\)|^\s+at [\w.$<>]+ ?\(|\b\w+(?:Error|Exception): |error\[E\d+\]|panicked at|SIGSEGV/m,
  ],
  [
    'code:general_impl',
    1.2,
    /```(?!\s*(?:json|csv|yaml|text|html|css|sql|diff))\w*\n|^\s*(?:def|class|func|fn|public|const|let|import|#include)\b.*[:{;]?$/m,
  ],
  ['code:sql_database', 3, /\bSELECT\b[^.]{1,300}\bFROM\b|\bCREATE TABLE\b|\bINSERT INTO\b|\bALTER TABLE\b/i],
  [
    'code:frontend_ui',
    2,
    /<(?:div|span|button|html|template|style|section|nav|ul)\b|className=|\bdisplay:\s*(?:flex|grid)/,
  ],
  ['code:devops_config', 3, /^(?:FROM \S+|apiVersion: |services:|on: |stages:|resource ")/m],
  ['code:shell_execution', 1.5, /^\s*\$ \w+/m],
  ['code:review_security', 2, /^diff --git |^@@ -\d+/m],
  ['math', 2.5, /\\(?:frac|int|sum|sqrt|begin)\b|\b[a-z]\s?[²³^]\s?\d?|\d\s*[+*/×÷]\s*\d|\bx\s*=\s*|∫|√|≤|≥/],
  ['data:transformation', 1.5, /^(?:[^,\n]{1,40},){2,}[^,\n]{1,40}$/m],
  ['roleplay_fiction', 2, /\*[a-z][^*\n]{3,80}\*/],
  ['image_prompting', 3, /--(?:ar|v|style|stylize) \S+/],
];

/** The user's last words; a turn of nothing but results of tools is not one. */
function lastUserText(turns: readonly Turn[]): string {
  const turn = turns.findLast(({ role, blocks }) => role === 'user' && blocks.some(({ type }) => type === 'text'));
  const text = turn === undefined ? '' : textOf(turn);
  return text.length <= HEAD_CHARS_MAX + TAIL_CHARS_MAX
    ? text
    : `${text.slice(0, HEAD_CHARS_MAX)}\n${text.slice(-TAIL_CHARS_MAX)}`;
}

function systemText(turns: readonly Turn[]): string {
  const turn = turns.find(({ role }) => role === 'system' || role === 'developer');
  return turn === undefined ? '' : textOf(turn).slice(0, SYSTEM_CHARS_MAX);
}

function textOf({ blocks }: Turn): string {
  let text = '';
  for (const block of blocks) if (block.type === 'text') text += text === '' ? block.text : `\n${block.text}`;
  return text;
}

interface Hint {
  readonly tag: TaskTag;
  readonly score: number;
}

/** One word may speak for several tags. */
const HINTS: ReadonlyMap<string, readonly Hint[]> = indexTerms();
/** Terms of several words by the last one, so that a word is looked at once. */
const PHRASES_BY_END: ReadonlyMap<string, readonly (readonly string[])[]> = indexPhrases();

function indexPhrases(): ReadonlyMap<string, readonly (readonly string[])[]> {
  const index = new Map<string, (readonly string[])[]>();
  for (const term of HINTS.keys()) {
    const words = term.split(' ');
    const end = words.at(-1);
    if (end !== undefined && words.length > 1) index.set(end, [...(index.get(end) ?? []), words]);
  }
  return index;
}

function indexTerms(): ReadonlyMap<string, readonly Hint[]> {
  const index = new Map<string, Hint[]>();
  for (const tag of TASK_TAGS) {
    const { strong = [], weak = [] } = TASK_TERMS[tag] ?? {};
    for (const [score, words] of [
      [STRONG, strong],
      [WEAK, weak],
    ] as const)
      for (const word of words) {
        const hints = index.get(word) ?? [];
        // More words are more certain.
        if (!hints.some((hint) => hint.tag === tag)) hints.push({ tag, score: score * (word.includes(' ') ? 1.4 : 1) });
        index.set(word, hints);
      }
  }
  return index;
}

/** Within a word `c++`, `node.js`, `ci/cd`, `don't`; a point or a colon at its end is none of it. */
const WORD = /[\p{L}\p{N}]+(?:['+#./&:-]+[\p{L}\p{N}]+)*(?:\+\+|#)?/gu;
const UNSPACED =
  /[\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}\p{Script=Hangul}]/u;

function scoreWords(text: string, system: string): Scores {
  const scores: Scores = new Map();
  scorePart(text, 1, scores);
  if (system !== '') scorePart(system, SYSTEM_FACTOR, scores);
  return scores;
}

function scorePart(text: string, factor: number, scores: Scores): void {
  const lower = text.toLowerCase().replaceAll('’', "'");
  const seen = new Set<string>();
  const words = lower.match(WORD) ?? [];
  for (const [at, word] of words.entries()) {
    const weight = factor * (at < OPENING_WORDS ? OPENING_FACTOR : 1);
    addTerm(word, weight, seen, scores);
    for (const phrase of PHRASES_BY_END.get(word) ?? [])
      if (endsWith(words, at, phrase)) addTerm(phrase.join(' '), weight, seen, scores);
  }
  if (!UNSPACED.test(lower)) return;
  for (const tag of TASK_TAGS)
    for (const phrase of TASK_PHRASES[tag] ?? [])
      if (lower.includes(phrase.toLowerCase())) add(scores, tag, PHRASE * factor);
}

/** @param at where the last word of the phrase stands */
function endsWith(words: readonly string[], at: number, phrase: readonly string[]): boolean {
  for (let back = 1; back < phrase.length; back++)
    if (words[at - back] !== phrase[phrase.length - 1 - back]) return false;
  return true;
}

function addTerm(term: string, weight: number, seen: Set<string>, scores: Scores): void {
  const hints = HINTS.get(term);
  if (hints === undefined || seen.has(term)) return;
  seen.add(term);
  // A word that speaks for many says little about each.
  for (const { tag, score } of hints) add(scores, tag, (weight * score) / Math.sqrt(hints.length));
}
