import type { Block, CacheBreakpoint, Citation } from '../canonical/blocks.ts';
import type { Extra, FormatId } from '../canonical/extra.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import { isJsonObject, type Json, type JsonObject } from '../lib/json.ts';
import {
  pathOfCitations,
  pathOfConversation,
  pathOfResultContent,
  pathsOfBlocks,
  pathsOfContent,
  pathOfSetting,
  pathsOfTurns,
} from './gateway/source/source-paths.ts';
import type { Warnings } from './gateway/warnings.ts';

/** The passthrough fields on the nodes of a request that an upstream accepts. */
export interface SupportedFields {
  readonly format: FormatId;
  /** Cache breakpoints: everywhere, on content alone and without a lifetime, or not at all. Default `all`. */
  readonly cacheBreakpoints?: 'all' | 'content' | 'none';
  /** Reasoning settings that it has besides the effort and the budget. Default: all, in the caller's own object. */
  readonly reasoning?: readonly ReasoningSetting[];
  /** Its encoder warns itself of the caller's beta flags that it leaves out. */
  readonly betas?: boolean;
}

const REASONING_SETTINGS = ['summary', 'mode', 'context', 'display'] as const;
type ReasoningSetting = (typeof REASONING_SETTINGS)[number];

/** Known members: below their name stand their unknown members. */
const NAMED_MEMBERS: ReadonlySet<string> = new Set([
  'cache_control',
  'prompt_cache_breakpoint',
  'source',
  'function',
  'image_url',
  'input_audio',
  'video_url',
  'file',
  'json_schema',
  'response_format',
  'output_config',
  'metadata',
  'tool_choice',
]);

/**
 * Warns of everything that a request loses in another format: unknown members and cache breakpoints, each under the
 * caller's own path. It visits every node, and formats a path only where there is a warning.
 * @spec request-11
 */
export function warnOfDroppedFields(
  request: GenerationRequest,
  supported: SupportedFields,
  warnings: Pick<Warnings, 'add'>,
): void {
  if (supported.betas !== true && request.directives.betas.length > 0)
    warnings.add('field-dropped', 'anthropic-beta', 'the format of the endpoint knows no beta features');
  const foreign = request.format !== supported.format;
  const marks = supported.cacheBreakpoints ?? 'all';
  noteReasoning(request, supported, warnings);
  if (!foreign && marks === 'all') return;
  const walk: Walk = { foreign, marks, format: request.format, warnings };
  const apart: Walk = { ...walk, marks: marks === 'all' ? 'all' : 'none' };
  noteNode(request, '', walk);
  if (request.settings.cache?.isAutomatic !== true) noteBreakpoint(request.settings.cache, '', apart);
  const { responseFormat } = request.settings;
  if (responseFormat?.type === 'json_schema') noteNode(responseFormat, FORMAT_PATH[request.format], walk);
  for (const [index, tool] of request.tools.entries()) {
    if (tool.type === 'opaque') continue;
    noteNode(tool, `tools[${index}]`, walk);
    if (tool.type === 'function') noteBreakpoint(tool.cache, `tools[${index}]`, apart);
  }
  let paths: readonly string[] | undefined;
  let index = -1;
  for (const turn of request.turns) {
    index++;
    if (turn.extra === undefined && !turn.blocks.some(hasExtras)) continue;
    paths ??= pathsOfTurns(request);
    const path = paths[index] ?? pathOfConversation(request.format);
    noteNode(turn, path, walk);
    noteBlocks(turn.blocks, pathsOfBlocks(request.format, turn, path), walk);
  }
}

function noteReasoning(request: GenerationRequest, supported: SupportedFields, warnings: Pick<Warnings, 'add'>): void {
  const { reasoning } = request.settings;
  const foreign = request.format !== supported.format;
  if (reasoning === undefined || (supported.reasoning === undefined && !foreign)) return;
  const path = pathOfSetting(request.format, 'reasoning');
  for (const input of REASONING_SETTINGS)
    if (reasoning[input] !== undefined && supported.reasoning?.includes(input) === false)
      warnings.add('field-dropped', `${path}.${input}`, 'is not supported in this format');
  noteNode(reasoning, path, { foreign: true, marks: 'all', format: request.format, warnings });
}

const FORMAT_PATH = {
  chat: 'response_format.json_schema',
  messages: 'output_config.format',
  responses: 'text.format',
} as const;

interface Walk {
  readonly foreign: boolean;
  readonly marks: NonNullable<SupportedFields['cacheBreakpoints']>;
  readonly format: GenerationRequest['format'];
  readonly warnings: Pick<Warnings, 'add'>;
}

/** Whether a block, or a block inside of it, has passthrough fields. */
function hasExtras(block: Block): boolean {
  if (block.extra !== undefined || block.cache !== undefined) return true;
  if (block.type === 'text') return block.citations !== undefined;
  if (block.type === 'opaque') return block.plainText !== undefined;
  if (block.type === 'tool-result') return block.content.some(hasExtras);
  return block.type === 'media' && block.source.type === 'blocks' && block.source.blocks.some(hasExtras);
}

function noteBlocks(blocks: readonly Block[], paths: readonly string[], walk: Walk): void {
  for (const [at, block] of blocks.entries()) {
    if (!hasExtras(block)) continue;
    const path = paths[at] ?? '';
    noteNode(block, path, walk);
    noteBreakpoint(block.cache, path, walk);
    if (block.type === 'text') noteCitations(block.citations ?? [], path, walk);
    // The plain text holds everything but that it may be cited.
    if (block.type === 'opaque' && walk.foreign && isJsonObject(block.value['citations']))
      walk.warnings.add('field-dropped', `${path}.citations`, 'what is written out cannot be cited');
    if (block.type === 'tool-result')
      noteBlocks(
        block.content,
        pathsOfContent(block.content, block.plain, pathOfResultContent(walk.format, path)),
        walk,
      );
    if (block.type === 'media' && block.source.type === 'blocks')
      noteBlocks(
        block.source.blocks,
        pathsOfContent(block.source.blocks, block.source.plain, `${path}.source.content`),
        walk,
      );
  }
}

function noteCitations(citations: readonly Citation[], path: string, walk: Walk): void {
  const list = pathOfCitations(walk.format, path);
  for (const [at, citation] of citations.entries())
    if (citation.type === 'url') noteNode(citation, `${list}[${at}]`, walk);
}

/** What a member repeats or only remembers, so that nothing is lost with it. */
const STATES_NOTHING: Readonly<Record<string, ReadonlySet<string>>> = {
  // The details hold the same, and more.
  assistant: new Set(['reasoning', 'reasoning_content']),
  // The index, which the order of the blocks gives as well.
  reasoning: new Set(['index']),
  // An empty list is as good as none.
  'tool-result': new Set(['content']),
  // The label of a text: formats that know none have one kind of text.
  text: new Set(['phase']),
  refusal: new Set(['phase']),
  // The entry that the caller's format has for an image that the model made.
  media: new Set(['image_generation_call']),
  // `custom`, or nothing, is what every format's functions are.
  function: new Set(['type']),
};
const NOTHING: ReadonlySet<string> = new Set();

/** Our own responses mark every call as made by the model itself. @spec messages-30 */
function isCalledDirectly(type: string | undefined, member: string, value: Json | undefined): boolean {
  return type === 'tool-call' && member === 'caller' && isJsonObject(value) && value['type'] === 'direct';
}

/** What the gateway does itself where an upstream does not: `context-compression` runs for it. @spec responses-17 */
function isDoneHere({ format }: Extra, path: string, member: string): boolean {
  return path === '' && member === 'truncation' && format === 'responses';
}

interface Node {
  readonly extra?: Extra;
  readonly type?: string;
  readonly role?: string;
}

function noteNode({ extra, type, role }: Node, path: string, { foreign, warnings }: Walk): void {
  if (!foreign || extra === undefined) return;
  const empty = STATES_NOTHING[type ?? role ?? ''] ?? NOTHING;
  for (const [member, value] of Object.entries(extra.fields)) {
    // The unknown members of an entry that stood in a member of its own stand below that member's name.
    const beside = type === 'media' && (member === 'images' || member === 'audio') && isJsonObject(value);
    if (beside) noteFields(value, path, warnings, new Set(['type']));
    else if (!empty.has(member) && !isDoneHere(extra, path, member) && !isCalledDirectly(type, member, value))
      noteField(member, value, path, warnings);
  }
}

function noteFields(
  members: JsonObject,
  path: string,
  warnings: Pick<Warnings, 'add'>,
  empty: ReadonlySet<string>,
): void {
  for (const [member, value] of Object.entries(members))
    if (!empty.has(member)) noteField(member, value, path, warnings);
}

function noteField(member: string, value: Json | undefined, path: string, warnings: Pick<Warnings, 'add'>): void {
  const here = path === '' ? member : `${path}.${member}`;
  if (NAMED_MEMBERS.has(member) && isJsonObject(value)) noteFields(value, here, warnings, NOTHING);
  else warnings.add('field-dropped', here, 'is not known in this format');
}

function noteBreakpoint(mark: CacheBreakpoint | undefined, path: string, { marks, warnings }: Walk): void {
  if (mark === undefined || marks === 'all') return;
  const member = mark.kind === 'explicit' ? 'prompt_cache_breakpoint' : 'cache_control';
  const here = path === '' ? member : `${path}.${member}`;
  if (marks === 'none') warnings.add('field-dropped', here, 'the endpoint takes no cache breakpoint here');
  else if (mark.ttl !== undefined) warnings.add('field-dropped', `${here}.ttl`, 'a breakpoint has no lifetime there');
}
