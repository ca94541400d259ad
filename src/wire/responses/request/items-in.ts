import type { Block } from '../../../canonical/blocks.ts';
import type { Turn } from '../../../canonical/request.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { asExtra, fieldsOf, restOf } from '../../extra.ts';
import { textOf } from '../../json-fields.ts';
import { isContainer } from '../containers.ts';
import { MCP_LIST } from '../server-tools.ts';
import { CallReader, isCallItem, isOutputItem, type ReadCall } from './call-items-in.ts';
import { decodeContent, type DecodedContent } from './content-in.ts';
import { INPUT_PATH, type PlacedItem } from './input-list.ts';
import { invalidPrompt, optionalText, requireText, type Warn } from './read-fields.ts';
import { readReasoning, type OpenReasoning } from './reasoning-in.ts';
import type { ToolNames } from './tool-names-in.ts';
import { TurnList } from './turn-list.ts';

const MESSAGE_MEMBERS: ReadonlySet<string> = new Set(['type', 'role', 'content', 'id', 'status', 'phase', 'name']);
const IMAGE_MEMBERS: ReadonlySet<string> = new Set(['type', 'result']);
const SUMMARY_LEAD = 'A summary of the earlier conversation, which was shortened:';
const FOREIGN_COMPACTION = {
  member: 'encrypted_content',
  message: 'holds a history that another service compacted, which no provider of the model can open',
};
const ROLES = ['user', 'system', 'developer', 'assistant'] as const;
type Role = (typeof ROLES)[number];

export interface ItemContext {
  readonly openReasoning: OpenReasoning;
  /** @throws GatewayError 400 where it does not open. @param path of the item */
  readonly openSummary: (encrypted: string, path: string) => string;
  readonly names: ToolNames;
  /** MCP servers of the gateway that the request names. */
  readonly servers: ReadonlySet<string>;
  readonly warn: Warn;
}

/**
 * The conversation of a list of items. Items of the model's side make one turn until one of the other side comes, and so
 * do outputs in a row; within a turn the blocks keep the order of the list.
 * @throws GatewayError 400 with the path of what is wrong
 */
export function decodeItems(items: readonly PlacedItem[], context: ItemContext): readonly Turn[] {
  const reader = new ItemReader(context);
  for (const item of items) reader.read(item);
  return reader.turns();
}

class ItemReader {
  readonly #context: ItemContext;
  readonly #turns = new TurnList();
  readonly #calls: CallReader;

  constructor(context: ItemContext) {
    this.#context = context;
    this.#calls = new CallReader(context);
  }

  turns(): readonly Turn[] {
    return this.#turns.finish();
  }

  read({ item, type, path }: PlacedItem): void {
    if (isCallItem(item)) this.#add('assistant', this.#calls.readCall(item, type, path), path);
    else if (isOutputItem(type)) this.#add('tool', this.#calls.readOutput(item, path), path);
    else this.#readOther(item, type, path);
  }

  #readOther(item: JsonObject, type: string, path: string): void {
    switch (type) {
      case 'message':
        this.#readMessage(item, path);
        return;
      case 'reasoning':
        this.#readReasoning(item, path);
        return;
      case 'image_generation_call':
        this.#readImage(item, path);
        return;
      case 'compaction':
      case 'context_compaction':
      case 'compaction_summary':
        this.#readCompaction(item, path);
        return;
      case 'agent_message':
        this.#readAgentMessage(item, path);
        return;
      // What these change, they have changed before the list is read.
      case 'additional_tools':
      case 'configuration_update':
        return;
      case MCP_LIST:
        // The gateway asks its own servers again.
        if (!this.#context.servers.has(textOf(item['server_label']) ?? '')) this.#readOpaque(item, type, path);
        return;
      default:
        this.#readOpaque(item, type, path);
    }
  }

  #readMessage(item: JsonObject, path: string): void {
    const role = readRole(item, path);
    const content = decodeContent(item['content'], path === INPUT_PATH ? path : `${path}.content`);
    const name = optionalText(item, 'name', path);
    const rest = asExtra('responses', restOf(item, MESSAGE_MEMBERS));
    if (role === 'assistant') this.#readAssistant(item, content, path);
    else if (role === 'user') this.#turns.add({ role, ...content, path, ...(name && { name }), ...rest });
    else this.#instruct(role, content, path, { ...(name && { name }), ...rest });
  }

  /** A label of the text goes back with it. */
  #readAssistant(item: JsonObject, { blocks, paths }: DecodedContent, path: string): void {
    const phase = textOf(item['phase']);
    const labelled = phase === undefined ? blocks : blocks.map((block) => withPhase(block, phase));
    this.#turns.join('assistant', labelled, paths, path);
  }

  /** Elsewhere instructions hold no media: they stand right behind, as if the user had sent them. */
  #instruct(
    role: 'system' | 'developer',
    { blocks, paths, plain }: DecodedContent,
    path: string,
    marks: Pick<Turn, 'name' | 'extra'>,
  ): void {
    const isMedia = (block: Block): boolean => block.type === 'media';
    const texts = blocks.filter((block) => !isMedia(block));
    const pathsOf = (wanted: boolean): readonly string[] =>
      paths.filter((_path, at) => blocks.slice(at, at + 1).some((block) => isMedia(block) === wanted));
    if (texts.length > 0)
      this.#turns.add({ role, blocks: texts, paths: pathsOf(false), path, ...(plain && { plain }), ...marks });
    const media = blocks.filter(isMedia);
    if (media.length > 0) this.#turns.add({ role: 'user', blocks: media, paths: pathsOf(true), path });
  }

  #readReasoning(item: JsonObject, path: string): void {
    const { openReasoning, warn } = this.#context;
    for (const { block, ofPrevious } of readReasoning(item, path, openReasoning, warn))
      if (ofPrevious) this.#turns.insertBeforeText(block, path);
      else this.#turns.join('assistant', [block], [path], path);
  }

  #readImage(item: JsonObject, path: string): void {
    const data = textOf(item['result']);
    if (data === undefined || data === '') {
      this.#context.warn('content-dropped', path, 'holds no image');
      return;
    }
    const format = textOf(item['output_format']) ?? 'png';
    const rest = restOf(item, IMAGE_MEMBERS);
    const block: Block = {
      type: 'media',
      media: 'image',
      source: { type: 'base64', mediaType: `image/${/^[a-z]{2,8}$/.test(format) ? format : 'png'}`, data },
      ...(rest && asExtra('responses', { image_generation_call: rest })),
    };
    this.#turns.join('assistant', [block], [path], path);
  }

  #readCompaction(item: JsonObject, path: string): void {
    const encrypted = optionalText(item, 'encrypted_content', path) ?? '';
    if (encrypted !== '' && !isContainer('compaction', encrypted)) {
      const block: Block = { type: 'opaque', format: 'responses', value: item, required: FOREIGN_COMPACTION };
      this.#turns.join('assistant', [block], [path], path);
      return;
    }
    const readable = textOf(item['summary']) ?? textOf(item['content']) ?? '';
    const summary = encrypted === '' ? readable : this.#context.openSummary(encrypted, path);
    if (summary === '') {
      this.#context.warn('content-dropped', path, 'holds no summary');
      return;
    }
    this.#say(`${SUMMARY_LEAD}\n\n${summary}`, path);
  }

  #readAgentMessage(item: JsonObject, path: string): void {
    const author = requireText(item, 'author', path);
    const recipient = requireText(item, 'recipient', path);
    const { blocks, paths } = decodeContent(item['content'], `${path}.content`);
    const lead: Block = { type: 'text', text: `[${author} -> ${recipient}]` };
    const [first] = blocks;
    const joined =
      first?.type === 'text'
        ? [{ ...first, text: `${lead.text} ${first.text}` }, ...blocks.slice(1)]
        : [lead, ...blocks];
    this.#turns.add({
      role: 'user',
      blocks: joined,
      paths: joined.length === paths.length ? paths : [path, ...paths],
      path,
    });
  }

  #say(text: string, path: string): void {
    this.#turns.add({ role: 'user', blocks: [{ type: 'text', text }], paths: [path], path });
  }

  /** An item that only the vendor knows. */
  #readOpaque(item: JsonObject, type: string, path: string): void {
    const block: Block = { type: 'opaque', format: 'responses', value: item };
    if (type.endsWith('_output') || type === 'mcp_approval_response')
      this.#turns.add({ role: 'user', blocks: [block], paths: [path], path });
    else this.#turns.join('assistant', [block], [path], path);
  }

  #add(role: 'assistant' | 'tool', read: ReadCall | undefined, path: string): void {
    if (read !== undefined) this.#turns.join(role, [read.block], [path], path);
  }
}

function readRole(item: JsonObject, path: string): Role {
  const role = ROLES.find((known) => known === item['role']);
  if (role === undefined)
    throw invalidPrompt(`${path}.role`, `must be one of ${ROLES.map((known) => `"${known}"`).join(', ')}`);
  return role;
}

function withPhase(block: Block, phase: string): Block {
  return { ...block, extra: { format: 'responses', fields: { ...fieldsOf(block, 'responses'), phase } } };
}
