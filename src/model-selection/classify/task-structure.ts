import type { GenerationRequest, Turn } from '../../canonical/request.ts';
import { CHANGE, pattern } from './task-feature.ts';
import { groupOf, type TaskTag } from './task-tags.ts';
import { kindOfCall, readToolUse, type ToolUse } from './tool-kinds.ts';

/** How much speaks for each tag. */
export type Scores = Map<TaskTag, number>;

/** Recent calls, which show the present activity. */
const WINDOW = 4;
const FAULT = /traceback|exception|error:|\berror\b|panic:|failed|assert|cannot find|not found|undefined/i;
/** Words count beside tools, but a long text has many of them. */
const WORDS_MOST = 7;
/** Words that are not about code, where tools are: they must say so much more. */
const OTHER_WORDS_FACTOR = 0.6;

/**
 * What the conversation is, whatever else it says: tools and media leave few kinds of tasks to choose from.
 * @param words what the words say
 * @param lastUserText what the user wants, folded
 */
export function tagOfStructure(request: GenerationRequest, words: Scores, lastUserText: string): TaskTag | undefined {
  const { settings, tools, turns } = request;
  if (settings.modalities?.includes('image') === true) return 'image_prompting';
  const all = readToolUse(request);
  const names = tools.flatMap((tool) => (tool.type === 'opaque' ? [] : [tool.name.toLowerCase()]));
  if (all.length === 0 && names.length === 0) return undefined;
  // The caller wrote again after the tools: a new request counts more than the work on the last one.
  const requestedCount = turns.findLastIndex(isSpoken);
  const uses = requestedCount > 0 ? readToolUse({ turns: turns.slice(requestedCount) }) : all;
  const isNewTask = uses.length === 0 && all.length > 0;
  if (isCoding(isNewTask ? all : uses, names)) {
    const evidence = uses.length > 0 ? ofCodingUses(uses) : ofCodingBefore(all);
    for (const [tag, score, stated] of CODING_TASKS) if (stated.test(lastUserText)) add(evidence, tag, score);
    return strongest(evidence, words, codingWords);
  }
  const known = names.length > 0 ? names : all.map(({ name }) => name.toLowerCase());
  if (known.every((name) => LOOK_UPS.test(name))) return undefined;
  const evidence = uses.length > 0 ? ofUses(uses, lastUserText) : ofOffered(known, lastUserText);
  for (const [tag, trade] of TRADES) {
    const called = uses.some(({ name }) => trade.test(name.toLowerCase()));
    if (called || names.some((name) => trade.test(name))) add(evidence, tag, called ? CALLED : OFFERED);
  }
  const serves = known.some((name) => SERVICE.test(name));
  const searches = known.some((name) => kindOfCall(name, '') === 'search');
  return strongest(evidence, words, (tag) => {
    if (tag === 'agent:tool_dispatch') return DISPATCH_FACTOR;
    if (tag === 'conversational_reply' || tag === 'qa_knowledge') return 0;
    if (tag === 'agent:web_search' && !searches) return NO_SEARCH_FACTOR;
    if (tag === 'customer_support' && !serves) return DISPATCH_FACTOR;
    return groupOf(tag) === 'agent' || isNewTask ? 1 : OTHER_WORDS_FACTOR;
  });
}

function isSpoken({ role, blocks }: Turn): boolean {
  return role === 'user' && blocks.some(({ type }) => type === 'text');
}

/** That a tool is to be used is no news where there are some. */
const DISPATCH_FACTOR = 0.3;
/** No web search happens without a tool for it, whatever "right now" suggests. */
const NO_SEARCH_FACTOR = 0.2;
const CALLED = 5;
const OFFERED = 3.5;

/** Tools that only look up facts: the task follows from the words. */
const LOOK_UPS =
  /(?:search|query|read|get|find|retrieve|lookup)_(?:the_)?(?:docs?|documents?|knowledge|kb|wiki|handbook|manual|library|corpus)|^retriev|knowledge_base/;

const SERVICE = /order|refund|ticket|subscription|transfer_to_human|help_center|warranty|return_label|customer/;

/** Tools of a trade, which indicate work in it. */
const TRADES: readonly (readonly [TaskTag, RegExp])[] = [
  ['code:sql_database', /sql|describe_table|list_tables|get_schema|run_query|query_(?:db|database|table)/],
  ['agent:workflow_execution', /^browser_|navigate(?:_page|_url)?$|click|fill_form|^computer|screenshot/],
  ['customer_support', SERVICE],
  ['finance_trading', /quote|price_history|fundamentals|financials|portfolio|place_trade|candles|ticker|stock/],
  ['image_prompting', /(?:generate|create|edit|draw)_?(?:image|picture)|image_gen/],
];

/** What users of coding agents want done: their verbs say more than the tools that the agent took for it. */
const CODING_TASKS: readonly (readonly [TaskTag, number, RegExp])[] = [
  [
    'code:debugging',
    3,
    /\b(?:fix(?:es)?|bugs?|fail(?:s|ing|ed|ure)?|errors?|crash\w*|broken|exception|regression|flaky|hangs?|stuck|wrong|(?:is|are) red|issue #\d+|behebe?|fehler|schlagt fehl|corrige|echoue\w*|erreur|plante|arregla|falla|erro|rompe|corrigi)\b|报错|修复|失败|直して|エラー|落ち|失敗|고쳐|실패|오류|почини|исправь|падает/,
  ],
  [
    'code:repo_scan',
    3,
    /(?:^|[.?!,:;] ?|\b(?:me|and|mir|moi|for|erklar|tell|show) )(?:where|which|who|how (?:is|are|does|do)|what (?:calls|uses|is|are|does|happens|depends)|is there|are there|find|explain|search|trace|list (?:all|every|the)|was|wo|welche|wer|wie|finde|gibt es|ou|quels?|quelles?|comment|trouve|donde|cuales|que|onde|quais|dove|quali|gdzie|ktore)\b|\b(?:overview|understand|uberblick|erklar\w*|explique\w*|explica\w*|spiega|explain)\b|哪|看看|列出|怎么|说明|どこ|どの|説明|調べ|어디|어떤|설명|где|как(?:ие|ой)?|объясни|найди/,
  ],
  [
    'code:file_read_write',
    3.5,
    pattern(
      '^\\W*(?:\\w+\\W+){0,6}?',
      CHANGE,
      '\\b|\\b',
      CHANGE,
      ' (?:the|a|an|it|all|every|this|to|die|das|den|les?|la|el|los) ',
    ),
  ],
  [
    'code:file_read_write',
    4,
    /\b(?:write|put|save|create|copy|move)\b[^\n]{0,120}\b(?:(?:in)?to|as) [\w./-]+\.[a-z]{1,5}\b|\bcreate [\w/.-]+\.[a-z]{1,5}\b/,
  ],
  ['code:devops_config', 3, /\b(?:[\w/.-]+\.(?:ya?ml|tf)|dockerfile|jenkinsfile|makefile)\b/],
  ['code:file_read_write', 2, /[\w/]\.[a-z]{1,5}\b[^]{1,200}[\w/]\.[a-z]{1,5}\b/],
  [
    'code:file_read_write',
    3,
    /\b(?:in|to|into|from|dans|en) (?:the )?[\w-]*[\w/]\.[a-z]{2,5}\b|改成|替换|添加|追加して|変更して|置き換え|바꿔|추가해|замени|добавь|переименуй/,
  ],
  [
    'code:shell_execution',
    3.5,
    /^\W*(?:\w+\W+){0,4}?(?:run|start|stop|restart|install|uninstall|kill|execute|launch|deploy|upgrade|ping|compile|build|fuhre?|starte|installier\w*|lance[rz]?|demarre|installe|ejecuta|instala|arranca|execute|roda|rode|esegui|avvia|uruchom|zainstaluj)\b|\b(?:disk|memory|ram|cpu|ports?|process(?:es)?|uptime|raid|docker ps|systemd|logs? of|on this (?:box|machine|server))\b|安装|运行|启动|実行して|起動|インストール|실행|설치|запусти|установи/,
  ],
  [
    'code:review_security',
    4,
    /\b(?:review|audit|diff|pull request|pr|object to|critique|vulnerab\w*|security|prufe|uberpruf\w*|relis|revisa|revise|pregled)\b|审查|审计|レビュー|검토|ревью|проверь/,
  ],
  [
    'code:general_impl',
    3.5,
    /\b(?:implement\w*|refactor\w*|write (?:a|an|the|some|me) (?:\w+ ){0,3}(?:function|class|method|tests?|module|script|endpoint|component)|add (?:a |an )?(?:\w+ ){0,3}(?:support|endpoint|command|flag|feature|function|method|tests?|validation|caching|retr(?:y|ies))|build (?:a|an|me)|port (?:this|it|the))\b|实现|実装|구현|реализуй/,
  ],
];

/** What words count for coding agents: those of other trades do not. */
function codingWords(tag: TaskTag): number {
  if (groupOf(tag) === 'code') return 1;
  if (tag === 'agent:workflow_execution') return 0.8;
  return tag === 'agent:multi_step_planning' ? 1 : 0;
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

const counter =
  (recent: readonly ToolUse[]) =>
  (...kinds: readonly ToolUse['kind'][]): number =>
    recent.filter(({ kind }) => kinds.includes(kind)).length;

/** A coding agent at work: what it did last hints at what it does. */
function ofCodingUses(uses: readonly ToolUse[]): Scores {
  const recent = uses.slice(-WINDOW);
  const count = counter(recent);
  const last = recent.at(-1);
  const evidence: Scores = new Map();
  const hasFailed = last !== undefined && (last.failed || FAULT.test(last.result.slice(-600)));
  if (hasFailed && last.kind !== 'read') add(evidence, 'code:debugging', 3.5);
  if (count('edit', 'write') > 0) add(evidence, 'code:file_read_write', 2.5);
  if (last?.kind === 'shell')
    add(evidence, 'code:shell_execution', recent.every(({ name }) => name === last.name) ? 3 : 1.5);
  if (count('read', 'shell') > 0) add(evidence, 'code:repo_scan', 1.5);
  if (last?.kind === 'plan') add(evidence, 'agent:multi_step_planning', 3);
  return evidence;
}

/** The work on an earlier request indicates little, except that there is a plan to speak of. */
function ofCodingBefore(uses: readonly ToolUse[]): Scores {
  const evidence: Scores = new Map([['code:general_impl', 0.5]]);
  if (uses.at(-1)?.kind === 'plan') add(evidence, 'agent:multi_step_planning', 2);
  return evidence;
}

/** An agent at work on anything else. */
function ofUses(uses: readonly ToolUse[], lastUserText: string): Scores {
  const evidence: Scores = new Map();
  const last = uses.at(-1);
  if (last?.kind === 'search') add(evidence, 'agent:web_search', 4);
  if (last?.kind === 'memory') add(evidence, 'agent:memory_extraction', 4);
  if (last?.kind === 'plan') add(evidence, 'agent:multi_step_planning', 3.5);
  const names = new Set(uses.map(({ name }) => name));
  if (names.size >= 2 && uses.length >= 2) add(evidence, 'agent:workflow_execution', 3);
  if (isSequence(lastUserText)) add(evidence, 'agent:workflow_execution', 2.5);
  add(evidence, 'agent:tool_dispatch', 2);
  return evidence;
}

/** Tools that have not been called yet. */
function ofOffered(names: readonly string[], lastUserText: string): Scores {
  const evidence: Scores = new Map([['agent:tool_dispatch', 2.5]]);
  if (isSequence(lastUserText)) add(evidence, 'agent:workflow_execution', 3);
  if (names.every((name) => kindOfCall(name, '') === 'search')) add(evidence, 'agent:web_search', 4);
  if (names.every((name) => kindOfCall(name, '') === 'memory')) add(evidence, 'agent:memory_extraction', 4);
  return evidence;
}

/** Several things, one after the other. */
const NUMBERED = /(?:^|\s)1[.)] [^]{3,400}?\s2[.)] /;
const CHAINED = /[,;:](?!\d)|[、，]|\b(?:and|then|und|dann|et|puis|y|luego|e|poi|i)\b|し、|て、|然后|最后/g;
const LINKS_MIN = 3;
const SEQUENCE_CHARS_MIN = 70;
const SEQUENCE_CHARS_MIN_DENSE = 30;

function isSequence(lastUserText: string): boolean {
  if (NUMBERED.test(lastUserText)) return true;
  // A letter of Han or kana says as much as a word's half.
  const charsMin = /[぀-ヿ一-鿿가-힣]/.test(lastUserText) ? SEQUENCE_CHARS_MIN_DENSE : SEQUENCE_CHARS_MIN;
  return lastUserText.length >= charsMin && (lastUserText.match(CHAINED)?.length ?? 0) >= LINKS_MIN;
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
