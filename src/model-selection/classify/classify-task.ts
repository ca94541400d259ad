import type { GenerationRequest, Turn } from '../../canonical/request.ts';
import { foldText } from './fold-text.ts';
import { splitUserText } from './last-user-text.ts';
import { TASK_FEATURES } from '../data/task-features.ts';
import { TASK_PHRASES } from '../data/task-phrases.ts';
import { tagOfStructure, type Scores } from './task-structure.ts';
import { TASK_TAGS, type TaskTag } from './task-tags.ts';
import { TASK_KEYWORDS } from '../data/task-keywords.ts';

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
/** The continuation of a message is mostly the material. */
const USER_TEXT_WORDS = 80;
const REST_FACTOR = 0.5;
const MATERIAL_FACTOR = 0.35;
/** Whatever is wanted may be put as a question. */
const QUESTION_FACTOR = 0.55;
const SYSTEM_FACTOR = 0.55;
/** Weight of a text on which the instructions work. */
const WORKED_ON_FACTOR = 0.4;
const STRONG = 2;
const WEAK = 0.5;
const PHRASE = 2.5;
/** Below it words decide nothing. */
const SCORE_MIN = 0.5;
/** A text as long as this with a schema to fill is read out rather than thought up. */
const LONG_TEXT_CHARS = 400;

/** Pure, and fast enough for every request: a few hundred look-ups of words, and no model. @source catalog of the tags: task-tags.ts */
export function classifyTask(request: GenerationRequest): TaskClass {
  const text = lastUserText(request.turns);
  const parts = { ...partsOf(text), system: foldText(systemText(request.turns)) };
  const scores = scoreText(parts);
  addContext(request.turns, text, scores);
  if (text.trim() !== '') addShape(request, text, scores);
  temper(scores, parts.system, text.length);
  const structured = tagOfStructure(request, scores, parts.userText);
  const three = best(scores);
  if (structured !== undefined) return { tag: structured, confidence: 1, source: 'structure', scores: three };
  const [first, second] = three;
  if (first === undefined || first.score < SCORE_MIN)
    return { tag: unstated(text), confidence: 0, source: 'default', scores: three };
  const confidence = (first.score - (second?.score ?? 0)) / (first.score + 1);
  return { tag: first.tag, confidence, source: 'rules', scores: three };
}

function best(scores: Scores): TaskClass['scores'] {
  return [...scores]
    .map(([tag, score]) => ({ tag, score: Math.round(score * 100) / 100 }))
    .toSorted((left, right) => right.score - left.score)
    .slice(0, 3);
}

function add(scores: Scores, tag: TaskTag, score: number): void {
  scores.set(tag, (scores.get(tag) ?? 0) + score);
}

/** A person's remark about themselves, without a question. */
const SMALL_TALK_CHARS_MAX = 200;
const FIRST_PERSON = /\b(?:i|i'm|im|my|me|ich|mein|meine|je|mon|ma|yo|mi|eu|meu|minha|io)\b/i;

/** What is wanted where no word says so. */
function unstated(text: string): TaskTag {
  if (text.trim() === '') return 'other';
  const isReported = text.length <= SMALL_TALK_CHARS_MAX && !/[?？]/.test(text) && FIRST_PERSON.test(text);
  return isReported ? 'conversational_reply' : 'qa_knowledge';
}

/** What a message is made of, folded. */
interface Parts {
  readonly userText: string;
  readonly material: string;
  readonly system: string;
}

/** Instructions that say what is done with any text: what that text is about says little then. */
const WORKERS: ReadonlySet<TaskTag> = new Set([
  'classification_tagging',
  'translation',
  'summarization',
  'data:extraction',
  'data:transformation',
  'agent:memory_extraction',
  'image_prompting',
  'roleplay_fiction',
  'customer_support',
]);

/** A message as short as this continues the earlier topic. UTF-16 units. */
const GOING_ON_CHARS_MAX = 160;
const CONTEXT_FACTOR = 0.45;
const CODE_ANSWERED = 2.5;

/** What was wanted before counts for a short message: "and now with tests". */
function addContext(turns: readonly Turn[], text: string, scores: Scores): void {
  if (text.length > GOING_ON_CHARS_MAX) return;
  const requested = turns.filter(isUserText);
  const before = requested.at(-2);
  if (before === undefined) return;
  const userText = foldText(splitUserText(textOf(before).slice(0, HEAD_CHARS_MAX)).userText);
  for (const { tag, score, place, pattern } of TASK_FEATURES)
    if (place !== 'instructions' && pattern.test(userText)) add(scores, tag, score * CONTEXT_FACTOR);
  const answer = turns.findLast(({ role, blocks }) => role === 'assistant' && blocks.some(isText));
  if (answer !== undefined && textOf(answer).includes('```')) add(scores, 'code:general_impl', CODE_ANSWERED);
}

/** An opening that scores as much says what is wanted. */
const OPENING_SCORE = 3.5;

function partsOf(text: string): Pick<Parts, 'userText' | 'material'> {
  const { userText, material, opening } = splitUserText(text);
  const folded = foldText(userText);
  if (opening === undefined) return { userText: folded, material: foldText(material) };
  const head = foldText(opening);
  const isStated = TASK_FEATURES.some(
    ({ score, place, pattern }) => score >= OPENING_SCORE && place !== 'instructions' && pattern.test(head),
  );
  if (!isStated) return { userText: folded, material: foldText(material) };
  return { userText: head, material: `${folded.slice(head.length)}\n${foldText(material)}` };
}

function scoreText({ userText, material, system }: Parts): Scores {
  const reported: Scores = new Map();
  if (system !== '') {
    for (const { tag, score, place, pattern } of TASK_FEATURES)
      if (place !== 'user' && pattern.test(system)) add(reported, tag, score);
    scoreWords(system, SYSTEM_FACTOR, reported);
  }
  const stated: Scores = new Map();
  for (const { tag, score, place, pattern } of TASK_FEATURES)
    if (place !== 'instructions' && pattern.test(userText)) add(stated, tag, score);
  scoreWords(userText, 1, stated);
  scoreWords(material, MATERIAL_FACTOR, stated, false);
  const role = best(reported)[0];
  const factor = role !== undefined && role.score >= ROLE_SCORE && WORKERS.has(role.tag) ? WORKED_ON_FACTOR : 1;
  for (const [tag, score] of stated) add(reported, tag, tag === role?.tag ? score : score * factor);
  return reported;
}

/** Instructions that score as much name a role. */
const ROLE_SCORE = 4;

/** A greeting says little where instructions say what is done with it. */
const GREETING_FACTOR = 0.3;
const STATED_SCORE = 1.5;
/** Every task may be put as a question: beside a request that is as clear, its form says little. */
const USER_TEXT_SCORE = 3.5;

function temper(scores: Scores, system: string, length: number): void {
  const question = scores.get('qa_knowledge');
  if (question !== undefined && (isAnyOther(scores, 'qa_knowledge', USER_TEXT_SCORE) || scores.has('code:debugging')))
    scores.set('qa_knowledge', question * QUESTION_FACTOR);
  const greeting = scores.get('conversational_reply');
  if (greeting === undefined) return;
  const isStated = isAnyOther(scores, 'conversational_reply', STATED_SCORE);
  if (isStated && (system !== '' || length > SMALL_TALK_CHARS_MAX))
    scores.set('conversational_reply', greeting * GREETING_FACTOR);
}

function isAnyOther(scores: Scores, than: TaskTag, scoreMin: number): boolean {
  for (const [tag, score] of scores) if (tag !== than && score >= scoreMin) return true;
  return false;
}

/** What the shape of request and text says beside its words. */
function addShape({ settings, turns }: GenerationRequest, text: string, scores: Scores): void {
  const { responseFormat } = settings;
  if (responseFormat?.type === 'json_schema' || responseFormat?.type === 'json_object') {
    const schema = responseFormat.type === 'json_schema' ? JSON.stringify(responseFormat.schema ?? {}) : '';
    if (schema.includes('"enum"') && schema.length < 600) add(scores, 'classification_tagging', 3);
    else if (text.length >= LONG_TEXT_CHARS) add(scores, 'data:extraction', 5);
    else add(scores, 'data:extraction', 1.5);
  }
  const head = text.slice(0, HEAD_CHARS_MAX);
  for (const [tag, score, pattern] of SHAPES) if (pattern.test(head)) add(scores, tag, score);
  if (scores.has('code:general_impl') && CODE.test(text) && WHY.test(foldText(text.slice(0, HEAD_CHARS_MAX))))
    add(scores, 'code:debugging', 2.5);
  for (const { type } of turns.at(-1)?.blocks ?? []) {
    if (type !== 'media') continue;
    const isRetouched = RETOUCH.test(foldText(head));
    add(scores, isRetouched ? 'image_prompting' : 'qa_knowledge', isRetouched ? 4 : 1);
    break;
  }
  if (text.length < 40 && !/[?{}();=]/.test(text)) add(scores, 'conversational_reply', 0.8);
}

const CODE = /[;{}]\s*$|\w\(.*\)/m;
/** A question "why" about pasted code indicates a problem. */
const WHY = /\b(?:why|warum|wieso|pourquoi|por que|perche|waarom|dlaczego|neden|varfor)\b|为什么|なぜ|왜|почему/;

/** What is done to a picture that was sent along. */
const RETOUCH =
  /^\W*(?:please |bitte |can you )?(?:remove|make|add|change|replace|blur|crop|turn|put|entfern\w*|mach|ersetz\w*|supprime\w*|enleve\w*|remplace\w*|mets|quita|elimina|pon|cambia|togli|rimuovi)\b/;

/** What code, errors and formulas look like. */
const SHAPES: readonly (readonly [TaskTag, number, RegExp])[] = [
  [
    'code:debugging',
    4,
    /Traceback \(most recent call last\)|^[ \t]+at [\w.$<>]+ ?\(|\b\w+(?:Error|Exception): |error\[E\d+\]|panicked at|SIGSEGV/m,
  ],
  [
    'code:general_impl',
    1.2,
    /```(?!\s*(?:json|csv|yaml|text|html|css|sql|diff))\w*\n|^[ \t]*(?:def|class|func|fn|public|const|let|import|#include)\b.*[:{;]?$/m,
  ],
  ['code:sql_database', 3, /\bSELECT\b[^.]{1,300}\bFROM\b|\bCREATE TABLE\b|\bINSERT INTO\b|\bALTER TABLE\b/i],
  ['code:frontend_ui', 3, /<(?:div|nav|button|form|section|ul|table|span)[ >][^]{0,400}<\//],
  [
    'code:frontend_ui',
    2,
    /<(?:div|span|button|html|template|style|section|nav|ul)\b|className=|\bdisplay:\s*(?:flex|grid)/,
  ],
  ['code:devops_config', 3, /^(?:FROM \S+|apiVersion: |services:|on: |stages:|resource ")/m],
  ['code:shell_execution', 1.5, /^[ \t]*\$ \w+/m],
  ['code:review_security', 2.5, /^diff --git |^@@ -\d+|^```diff/m],
  ['math', 2.5, /\\(?:frac|int|sum|sqrt|begin)\b|\b[a-z]\s?[²³^]\s?\d?|\d\s*[*×÷]\s*\d|\d \+ \d|\bx\s*=\s*|∫|√|≤|≥/],
  ['data:transformation', 1.5, /^(?:[^,\n]{1,40},){2,}[^,\n]{1,40}\n(?:[^,\n]{1,40},){2,}[^,\n]{1,40}$/m],
  ['roleplay_fiction', 2, /\*[a-z][^*\n]{3,80}\*/],
  ['image_prompting', 3, /--(?:ar|v|style|stylize) \S+/],
];

/** The user's last words; a turn of nothing but results of tools is not one. */
function lastUserText(turns: readonly Turn[]): string {
  const turn = turns.findLast(isUserText);
  const text = turn === undefined ? '' : textOf(turn);
  return text.length <= HEAD_CHARS_MAX + TAIL_CHARS_MAX
    ? text
    : `${text.slice(0, HEAD_CHARS_MAX)}\n${text.slice(-TAIL_CHARS_MAX)}`;
}

function isUserText({ role, blocks }: Turn): boolean {
  return role === 'user' && blocks.some(isText);
}

function isText({ type }: Turn['blocks'][number]): boolean {
  return type === 'text';
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
const HINTS: ReadonlyMap<string, readonly Hint[]> = indexKeywords();
/** Terms of several words by the last one, so that a word is looked at once. */
const PHRASES_BY_END: ReadonlyMap<string, readonly (readonly string[])[]> = indexPhrases();

function indexPhrases(): ReadonlyMap<string, readonly (readonly string[])[]> {
  const index = new Map<string, (readonly string[])[]>();
  for (const keyword of HINTS.keys()) {
    const words = keyword.split(' ');
    const end = words.at(-1);
    if (end !== undefined && words.length > 1) index.set(end, [...(index.get(end) ?? []), words]);
  }
  return index;
}

function indexKeywords(): ReadonlyMap<string, readonly Hint[]> {
  const index = new Map<string, Hint[]>();
  for (const tag of TASK_TAGS) {
    const { strong = [], weak = [] } = TASK_KEYWORDS[tag] ?? {};
    for (const [score, words] of [
      [STRONG, strong],
      [WEAK, weak],
    ] as const)
      for (const word of words.map(foldText)) {
        const hints = index.get(word) ?? [];
        // More words are more certain.
        if (!hints.some((hint) => hint.tag === tag)) hints.push({ tag, score: score * (word.includes(' ') ? 1.4 : 1) });
        index.set(word, hints);
      }
  }
  return index;
}

/** A word of Latin letters ends where another script begins. Within a word `c++`, `node.js`, `ci/cd`, `don't`; a point or a colon at its end is none of it. */
const WORD = /[\p{Script=Latin}\p{N}]+(?:['+#./&:-]+[\p{Script=Latin}\p{N}]+)*(?:\+\+|#)?|[\p{L}\p{M}]+/gu;
/** `html+css`, `long-term`: words of their own. */
const JOINT = /[-+/&]/;
const UNSPACED =
  /[\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}\p{Script=Hangul}]/u;

function scoreWords(folded: string, factor: number, scores: Scores, hasPlaces = true): void {
  const seen = new Set<string>();
  const words = folded.match(WORD) ?? [];
  for (const [at, word] of words.entries()) {
    const weight = factor * (hasPlaces ? placeFactor(at, words.length) : 1);
    addKeyword(word, weight, seen, scores);
    if (JOINT.test(word) && !HINTS.has(word))
      for (const part of word.split(JOINT)) addKeyword(part, weight, seen, scores);
    for (const phrase of PHRASES_BY_END.get(word) ?? [])
      if (endsWith(words, at, phrase)) addKeyword(phrase.join(' '), weight, seen, scores);
  }
  if (!UNSPACED.test(folded)) return;
  for (const tag of TASK_TAGS)
    for (const phrase of TASK_PHRASES[tag] ?? [])
      if (folded.includes(foldText(phrase))) add(scores, tag, PHRASE * factor);
}

/** The beginning says most, and the end again says what to do with all of it. */
function placeFactor(at: number, length: number): number {
  if (at < OPENING_WORDS) return OPENING_FACTOR;
  return at < USER_TEXT_WORDS || at >= length - OPENING_WORDS ? 1 : REST_FACTOR;
}

/** @param at where the last word of the phrase stands */
function endsWith(words: readonly string[], at: number, phrase: readonly string[]): boolean {
  for (let back = 1; back < phrase.length; back++)
    if (words[at - back] !== phrase[phrase.length - 1 - back]) return false;
  return true;
}

function addKeyword(keyword: string, weight: number, seen: Set<string>, scores: Scores): void {
  const hints = HINTS.get(keyword);
  if (hints === undefined || seen.has(keyword)) return;
  seen.add(keyword);
  // A word that speaks for many says little about each.
  for (const { tag, score } of hints)
    add(scores, tag, ((tag === 'qa_knowledge' ? QUESTION_FACTOR : 1) * weight * score) / Math.sqrt(hints.length));
}
