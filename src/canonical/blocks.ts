import type { JsonObject } from '../lib/json.ts';
import type { Extra, FormatId } from './extra.ts';
import type { McpToolName } from './tools/server-call.ts';

/**
 * A prompt-cache breakpoint after the node that carries it. `ephemeral` is the `cache_control` spelling and may have a
 * time to live; `explicit` is the `prompt_cache_breakpoint` spelling. @spec chat-14, prompt-cache-3
 */
export interface CacheBreakpoint {
  readonly kind: 'ephemeral' | 'explicit';
  readonly ttl?: '5m' | '1h';
  /** The gateway's own, for endpoints that cache nothing without one: others lose nothing without it. */
  readonly isAutomatic?: true;
}

interface BlockBase {
  readonly cache?: CacheBreakpoint;
  readonly extra?: Extra;
}

/** A source that a stretch of text rests on. */
export type Citation = UrlCitation | OpaqueCitation;

export interface UrlCitation {
  readonly type: 'url';
  readonly url: string;
  readonly title?: string;
  /** Character offsets in the text of the whole response; absent where the format cites a whole block. */
  readonly start?: number;
  readonly end?: number;
  readonly excerpt?: string;
  readonly extra?: Extra;
}

/** A citation that only its own format can express: a page of an uploaded document, a parsed file. */
export interface OpaqueCitation {
  readonly type: 'opaque';
  readonly format: FormatId;
  readonly value: JsonObject;
}

export interface TextBlock extends BlockBase {
  readonly type: 'text';
  readonly text: string;
  readonly citations?: readonly Citation[];
  /** The text is from a later turn of the model, after tools of the gateway had run. */
  readonly apart?: true;
}

/** The text with which a model declined to answer. */
export interface RefusalBlock extends BlockBase {
  readonly type: 'refusal';
  readonly text: string;
  /** It stood among the parts of the content, not in a member of its own. */
  readonly part?: true;
}

export type MediaSource =
  | { readonly type: 'base64'; readonly mediaType: string; readonly data: string }
  | { readonly type: 'url'; readonly url: string }
  | { readonly type: 'file'; readonly fileId: string }
  | { readonly type: 'text'; readonly mediaType: string; readonly text: string }
  | { readonly type: 'blocks'; readonly blocks: readonly Block[]; readonly plain?: true };

export interface MediaBlock extends BlockBase {
  readonly type: 'media';
  readonly media: 'image' | 'audio' | 'video' | 'document';
  readonly source: MediaSource;
  /** Preferred image resolution: `auto`, `low`, `high`, `original`. */
  readonly detail?: string;
  /** File name or document title. */
  readonly name?: string;
  /** The caller's description of a document. */
  readonly context?: string;
  /** The text of generated audio. */
  readonly transcript?: string;
}

/** The families of models that can each read their own signed or encrypted reasoning. @spec reasoning-16 */
export const REASONING_FAMILIES = [
  'unknown',
  'openai-responses-v1',
  'azure-openai-responses-v1',
  'bedrock-openai-responses-v1',
  'bedrock-xai-responses-v1',
  'xai-responses-v1',
  'meta-responses-v1',
  'anthropic-claude-v1',
  'google-gemini-v1',
] as const;
export type ReasoningFamily = (typeof REASONING_FAMILIES)[number];

/** How the reasoning of earlier turns goes back to an upstream of the chat format. */
export type ReasoningHistory = 'none' | 'reasoning_content' | 'reasoning' | 'think_tags';

export interface ReasoningBlock extends BlockBase {
  readonly type: 'reasoning';
  /** `text`: readable, maybe signed. `summary`: readable, not the reasoning itself. `encrypted`: `text` holds the data. */
  readonly form: 'text' | 'summary' | 'encrypted';
  /** Readable text, or the encrypted data. May be empty with a signature: a legal block whose display was omitted. */
  readonly text: string;
  readonly signature?: string;
  readonly family?: ReasoningFamily;
  readonly id?: string;
  /** The wire member that carried it, where a format has several for one idea (`reasoning`, `reasoning_content`). */
  readonly carrier?: string;
}

/**
 * Kinds of tools that callers of the responses format run, and which only that format knows as anything but functions.
 * Everywhere else the function stands for the tool, with the same name and JSON for its arguments: `{"input": text}` of a
 * custom tool, and of the others what `wire/responses/caller-tools.ts` says.
 */
export type CallerToolKind = 'custom' | 'local_shell' | 'shell' | 'apply_patch' | 'tool_search';

/** Where a tool stands that its caller groups with others: `mcp__files`, `read`. Its name elsewhere joins the two. */
export interface Namespaced {
  readonly namespace: string;
  readonly name: string;
}

export interface ToolCallBlock extends BlockBase {
  readonly type: 'tool-call';
  readonly id: string;
  readonly name: string;
  /** The arguments as JSON text, byte for byte as written: parsing and writing again would lose `1.0`. */
  readonly input: string;
  /**
   * `upstream`: a tool that the provider runs itself; `gateway`: one that the gateway ran, in a response. Neither ever
   * becomes a call for the caller to run.
   */
  readonly runBy: 'caller' | 'upstream' | 'gateway';
  /** Of a caller's history: the form in which the call stood there. Absent: a function. */
  readonly kind?: CallerToolKind;
  /** Of a caller's history: as the call named its tool. */
  readonly namespaced?: Namespaced;
  /** Of a call that the gateway ran: the tool of an MCP server. */
  readonly mcp?: McpToolName;
}

export interface ToolResultBlock extends BlockBase {
  readonly type: 'tool-result';
  readonly callId: string;
  readonly content: readonly Block[];
  /** The content stood as one bare string, not as an array of parts. */
  readonly plain?: true;
  readonly failed?: boolean;
}

/** A block that only its own format knows. Other formats drop it with a warning. */
export interface OpaqueBlock extends BlockBase {
  readonly type: 'opaque';
  readonly format: FormatId;
  readonly value: JsonObject;
  /** What came after the opening in a stream; the format's own encoder adds it up. */
  readonly deltas?: readonly JsonObject[];
  /** Its content as plain text, for formats that have no such block. */
  readonly plainText?: string;
  /** The request cannot do without it: an upstream that does not know it is not called. Absent: it is left out there. */
  readonly required?: Requirement;
}

/** What to say where content that is required cannot be sent. */
export interface Requirement {
  /** Of the content, which the message is about. */
  readonly member: string;
  readonly message: string;
}

export type Block =
  | TextBlock
  | RefusalBlock
  | MediaBlock
  | ReasoningBlock
  | ToolCallBlock
  | ToolResultBlock
  | OpaqueBlock;
