import type { GenerationRequest } from '../../canonical/request.ts';

/** What a call of a tool does, judged by its name and its input. */
export type ToolKind = 'write' | 'edit' | 'read' | 'shell' | 'search' | 'memory' | 'plan' | 'other';

/** One call of a tool in the conversation, with its result. */
export interface ToolUse {
  readonly name: string;
  readonly kind: ToolKind;
  /** Text of the result, cut; empty while there is none. */
  readonly result: string;
  readonly failed: boolean;
}

/** UTF-16 units of one result, and of one input, that are looked at: both ends of it. */
const RESULT_CHARS_MAX = 4_000;
const INPUT_CHARS_MAX = 2_000;
/** Calls that are looked at, the latest ones. */
const CALLS_MAX = 32;

/** In this order: a tool that writes and reads (`read_and_edit`) is what it does to the world. */
const NAMES: readonly (readonly [ToolKind, RegExp])[] = [
  ['edit', /edit|patch|str_?replace|replace_in|insert|refactor|rename/],
  ['write', /write|create_?(?:file|doc)|save_?file|new_?file|put_?file|overwrite/],
  ['shell', /bash|shell|terminal|exec|run_?(?:command|code|script|tests?)|command|powershell|subprocess/],
  ['memory', /memor|remember|recall|note_?(?:take|save)|save_?fact|knowledge_?store/],
  ['plan', /todo|plan|task_?list|think|checklist/],
  [
    'search',
    /web|browse(?!r_)|internet|google|bing|fetch_?(?:url|page)|open_?url|news|^search$|search_?(?:online|engine)/,
  ],
  [
    'read',
    /read|grep|glob|cat|list_?(?:dir|files)|^ls$|find_?(?:file|symbol|ref)|view|open_?file|search_?(?:code|files|repo)|tree|outline/,
  ],
];

/** By shell command; writing outranks reading. */
const COMMANDS: readonly (readonly [ToolKind, RegExp])[] = [
  ['edit', /\bsed\s+-i|\bpatch\b|\bgit\s+apply\b|\bperl\s+-p?i/],
  ['write', /(?:^|[^0-9&>])>{1,2}\s*[\w./~$"']|<<-?\s*['"]?\w+|\btee\b|\btouch\b|\bmkdir\b|\bcp\b|\bmv\b/],
  [
    'read',
    /^\W*(?:cat|ls|grep|rg|find|head|tail|tree|wc|stat|less|sed\s+-n|awk|git\s+(?:log|diff|show|status|blame))\b/,
  ],
];

/** @param input the arguments as JSON text */
export function kindOfCall(name: string, input: string): ToolKind {
  const lower = name.toLowerCase();
  const kind = NAMES.find(([, pattern]) => pattern.test(lower))?.[0] ?? 'other';
  if (kind !== 'shell') return kind;
  const command = commandOf(input);
  return COMMANDS.find(([, pattern]) => pattern.test(command))?.[0] ?? 'shell';
}

/** What stands in the first string of the arguments; a pattern over JSON text would stumble over its escapes. */
function commandOf(input: string): string {
  const quoted =
    /:\s*"((?:[^"\\]|\\.)*)"/.exec(input.slice(0, INPUT_CHARS_MAX))?.[1] ?? input.slice(0, INPUT_CHARS_MAX);
  return quoted.replaceAll('\\n', '\n').replaceAll('\\"', '"');
}

/** The latest calls of tools, oldest first, with their results. */
export function readToolUse({ turns }: Pick<GenerationRequest, 'turns'>): readonly ToolUse[] {
  const results = new Map<string, { readonly text: string; readonly failed: boolean }>();
  const uses: ToolUse[] = [];
  for (let at = turns.length - 1; at >= 0 && uses.length < CALLS_MAX; at--) {
    const blocks = turns[at]?.blocks ?? [];
    for (let index = blocks.length - 1; index >= 0 && uses.length < CALLS_MAX; index--) {
      const block = blocks[index];
      if (block?.type === 'tool-result')
        results.set(block.callId, { text: textOf(block.content), failed: block.failed === true });
      else if (block?.type === 'tool-call') {
        const { text = '', failed = false } = results.get(block.id) ?? {};
        uses.push({ name: block.name, kind: kindOfCall(block.name, block.input), result: text, failed });
      }
    }
  }
  return uses.toReversed();
}

function textOf(content: GenerationRequest['turns'][number]['blocks']): string {
  let text = '';
  for (const block of content) {
    if (block.type === 'text') text += block.text;
    if (text.length > RESULT_CHARS_MAX) return text.slice(0, RESULT_CHARS_MAX / 2) + text.slice(-RESULT_CHARS_MAX / 2);
  }
  return text;
}
