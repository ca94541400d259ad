import type { GenerationRequest } from '../canonical/request.ts';
import { groupOf, type TaskTag } from './task-tags.ts';
import { readToolUse, type ToolUse } from './tool-kinds.ts';

/** How much speaks for each tag. */
export type Scores = Map<TaskTag, number>;

/** Calls that tell what is done now. */
const WINDOW = 4;
const FAULT = /traceback|exception|error:|\berror\b|panic:|failed|assert|cannot find|not found|undefined/i;
/** Words count beside tools, but a long text has many of them. */
const WORDS_MOST = 7;
/** Words that are not about code, where tools are: they must say so much more. */
const OTHER_WORDS_FACTOR = 0.6;

/** What the conversation is, whatever else it says: tools and media leave few kinds of tasks to choose from. @param words what the words say */
export function tagOfStructure(request: GenerationRequest, words: Scores): TaskTag | undefined {
  const { settings, tools, turns } = request;
  if (settings.modalities?.includes('image') === true) return 'image_prompting';
  const uses = readToolUse(request);
  const names = tools.flatMap((tool) => (tool.type === 'opaque' ? [] : [tool.name.toLowerCase()]));
  if (uses.length === 0 && names.length === 0) return undefined;
  const evidence = uses.length > 0 ? ofUses(uses) : ofOffered(names);
  if (isCoding(uses, names)) {
    const ofCode = new Map([...evidence].filter(([tag]) => groupOf(tag) === 'code'));
    return strongest(ofCode, words, (tag) => (groupOf(tag) === 'code' ? 1 : codeLike(tag)));
  }
  for (const [tag, pattern] of TRADES) {
    const called = uses.some(({ name }) => pattern.test(name.toLowerCase()));
    if (called || names.some((name) => pattern.test(name))) add(evidence, tag, called ? CALLED : OFFERED);
  }
  // The caller spoke again after the tools: a new wish counts before what was done for the last one.
  const isNewWish = uses.length > 0 && turns.at(-1)?.role === 'user';
  return strongest(evidence, words, (tag) => {
    if (tag === 'agent:tool_dispatch') return DISPATCH_FACTOR;
    if (tag === 'conversational_reply' || tag === 'qa_knowledge') return 0;
    return groupOf(tag) === 'agent' || isNewWish ? 1 : OTHER_WORDS_FACTOR;
  });
}

/** That a tool is to be used is no news where there are some. */
const DISPATCH_FACTOR = 0.3;
const CALLED = 4;
const OFFERED = 3;

/** Tools that belong to a trade: whoever has them works in it. */
const TRADES: readonly (readonly [TaskTag, RegExp])[] = [
  ['code:sql_database', /sql|describe_table|list_tables|query_(?:db|database)/],
  ['agent:workflow_execution', /^browser_|navigate|click|fill_form/],
  ['customer_support', /order|refund|ticket|subscription|transfer_to_human|help_center|warranty|return_label/],
  ['finance_trading', /quote|price_history|fundamentals|portfolio|place_trade|candles|ticker/],
];

/** Other tags that coding agents work on, and what words for them count. */
function codeLike(tag: TaskTag): number {
  return tag === 'agent:multi_step_planning' || tag === 'agent:workflow_execution' ? OTHER_WORDS_FACTOR : 0;
}

const CODING_NAMES = /edit|write_?file|bash|shell|patch|run_command|terminal|execute$|read_file|grep/;

function isCoding(uses: readonly ToolUse[], names: readonly string[]): boolean {
  const recent = uses.slice(-WINDOW);
  const coding = recent.filter(({ kind }) => ['edit', 'write', 'read', 'shell'].includes(kind)).length;
  if (uses.length > 0 && coding > 0 && coding >= recent.length / 2)
    return names.length === 0 || names.some((name) => CODING_NAMES.test(name));
  return (
    (uses.length === 0 || recent.every(({ kind }) => kind === 'plan')) && names.some((name) => CODING_NAMES.test(name))
  );
}

/** An agent at work: what it did last tells what it does. */
function ofUses(uses: readonly ToolUse[]): Scores {
  const recent = uses.slice(-WINDOW);
  const last = recent.at(-1);
  const evidence: Scores = new Map();
  const count = (...kinds: readonly ToolUse['kind'][]): number =>
    recent.filter(({ kind }) => kinds.includes(kind)).length;
  const hasFailed = last !== undefined && (last.failed || FAULT.test(last.result.slice(-600)));
  if (hasFailed && last.kind !== 'read') add(evidence, 'code:debugging', 3);
  if (count('edit', 'write') > 0) add(evidence, 'code:file_read_write', 3.5);
  if (last?.kind === 'shell')
    add(evidence, 'code:shell_execution', recent.every(({ name }) => name === last.name) ? 3 : 2);
  if (count('read', 'shell') > 0) add(evidence, 'code:repo_scan', 1.5);
  if (last?.kind === 'search') add(evidence, 'agent:web_search', 4);
  if (last?.kind === 'memory') add(evidence, 'agent:memory_extraction', 4);
  if (last?.kind === 'plan') add(evidence, 'agent:multi_step_planning', 3.5);
  const names = new Set(uses.map(({ name }) => name));
  if (names.size >= 2 && uses.length >= 2) add(evidence, 'agent:workflow_execution', 3);
  add(evidence, 'agent:tool_dispatch', 2);
  return evidence;
}

/** Tools that nobody has called yet. */
function ofOffered(names: readonly string[]): Scores {
  const evidence: Scores = new Map([
    ['code:general_impl', 1.5],
    ['agent:tool_dispatch', 2.5],
  ]);
  if (names.length >= 5) add(evidence, 'agent:workflow_execution', 0.5);
  if (names.every((name) => /web|search|browse|fetch|news/.test(name))) add(evidence, 'agent:web_search', 4);
  if (names.every((name) => /memor|remember|recall/.test(name))) add(evidence, 'agent:memory_extraction', 4);
  return evidence;
}

function add(scores: Scores, tag: TaskTag, score: number): void {
  scores.set(tag, (scores.get(tag) ?? 0) + score);
}

/** @param weigh how much words for a tag count; 0: they do not */
function strongest(evidence: Scores, words: Scores, weigh: (tag: TaskTag) => number): TaskTag | undefined {
  const sums: Scores = new Map();
  for (const [tag, score] of evidence) add(sums, tag, score);
  for (const [tag, score] of words) if (weigh(tag) > 0) add(sums, tag, weigh(tag) * Math.min(score, WORDS_MOST));
  return [...sums].toSorted(([, left], [, right]) => right - left)[0]?.[0];
}
