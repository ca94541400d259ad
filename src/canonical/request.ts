import type { ExactNumber, Json, JsonObject } from '../lib/json.ts';
import type { NativeWebSearch } from './tools/native-web-search.ts';
import type { Block, CacheBreakpoint, CallerToolKind, Namespaced } from './blocks.ts';
import type { Directives } from './directives.ts';
import type { ClientFormatId, Extra, FormatId, Warning } from './extra.ts';

/** One message. Tool results stand in `tool` turns (chat) or first in `user` turns (messages), as the caller put them. */
export interface Turn {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  readonly blocks: readonly Block[];
  /** The content stood as one bare string, not as an array of parts. */
  readonly plain?: true;
  /** A system turn that stood among the messages although its format has a slot of its own for instructions. */
  readonly inline?: true;
  /** Instructions of a preset, which stand nowhere in the caller's body. */
  readonly ofPreset?: true;
  readonly name?: string;
  /** Where it stood in the caller's body, where its place among the turns does not tell: several items make one turn. */
  readonly source?: TurnSource;
  /** The model that produced an assistant turn, as the caller says. */
  readonly model?: string;
  readonly extra?: Extra;
}

/** Paths in a caller's body: `input[3].content[0]`. */
export interface TurnSource {
  /** Of the first item of the turn. */
  readonly path: string;
  /** Of each block, in the same order. */
  readonly blocks: readonly string[];
}

/** A function that the caller runs. */
export interface FunctionTool {
  readonly type: 'function';
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the arguments. Absent: no arguments. */
  readonly parameters?: JsonObject;
  readonly strict?: boolean;
  readonly cache?: CacheBreakpoint;
  /** What it is to its caller and to upstreams that know such tools. Absent: a function. */
  readonly kind?: CallerToolKind;
  /** Of a tool that stands in a namespace: `name` joins both. */
  readonly namespaced?: Namespaced;
  /**
   * The entry that declared it, as the caller wrote it: upstreams that know its kind, or namespaces, are sent this. Tools
   * of one namespace share one entry.
   */
  readonly declared?: JsonObject;
  /** A search of the caller's has found it: upstreams that know such searches read of it in the result. */
  readonly isFound?: true;
  /** It stands for a search of the gateway's, which the endpoint makes by itself where it can. */
  readonly standsForSearch?: true;
  readonly extra?: Extra;
}

/** A tool that the gateway runs: `service:web_search`. */
export interface ServerTool {
  readonly type: 'server';
  readonly name: string;
  readonly parameters?: JsonObject;
  readonly extra?: Extra;
}

/** A tool that only its own format knows: a vendor's `computer_20250124`. */
export interface OpaqueTool {
  readonly type: 'opaque';
  readonly format: FormatId;
  readonly value: JsonObject;
}

export type Tool = FunctionTool | ServerTool | OpaqueTool;

export type ToolChoice =
  | { readonly type: 'auto' | 'none' | 'required' }
  | { readonly type: 'function'; readonly name: string }
  | { readonly type: 'opaque'; readonly format: FormatId; readonly value: JsonObject };

export type ResponseFormat =
  | { readonly type: 'text' | 'json_object' | 'python' }
  | {
      readonly type: 'json_schema';
      /** Absent from a messages caller, whose format has no name. */
      readonly name?: string;
      readonly description?: string;
      readonly schema?: JsonObject;
      readonly strict?: boolean;
      readonly extra?: Extra;
    }
  | { readonly type: 'grammar'; readonly grammar: string };

export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof EFFORTS)[number];

/** How much the model should think. @spec reasoning-1, messages-7 */
export interface ReasoningSettings {
  readonly effort?: Effort;
  /** Token budget. */
  readonly maxTokens?: number;
  readonly enabled?: boolean;
  /** The messages format's `thinking: {type: "adaptive"}`: on, the model decides how much. */
  readonly adaptive?: true;
  readonly summary?: 'auto' | 'concise' | 'detailed';
  /** Reasoning runs and is billed, and is removed from the response. */
  readonly exclude?: boolean;
  readonly mode?: 'standard' | 'pro';
  readonly context?: 'auto' | 'all_turns' | 'current_turn';
  readonly display?: 'summarized' | 'omitted';
  readonly extra?: Extra;
}

/** What shapes the generation itself. An absent member was not set: no default is ever put in its place. */
export interface Settings {
  readonly maxTokens?: number;
  /** What the caller calls it, where that is not `max_tokens`. */
  readonly maxTokensMember?: 'max_completion_tokens';
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly topA?: number;
  readonly minP?: number;
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  readonly repetitionPenalty?: number;
  readonly logitBias?: Readonly<Record<string, number>>;
  readonly logprobs?: boolean;
  readonly topLogprobs?: number;
  readonly stop?: readonly string[];
  /** May have 64 bits: the gateway does not calculate with it. */
  readonly seed?: number | ExactNumber;
  readonly modalities?: readonly ('text' | 'image' | 'audio')[];
  readonly parallelToolCalls?: boolean;
  readonly toolChoice?: ToolChoice;
  readonly responseFormat?: ResponseFormat;
  readonly prediction?: JsonObject;
  readonly reasoning?: ReasoningSettings;
  readonly verbosity?: 'low' | 'medium' | 'high' | 'xhigh' | 'max';
  /** As requested; `fast`, and `speed: "fast"` of the messages format, are `priority` here. */
  readonly serviceTier?: string;
  readonly promptCacheKey?: string;
  readonly promptCacheOptions?: JsonObject;
  /** The top-level cache directive: a breakpoint on the last cacheable block. */
  readonly cache?: CacheBreakpoint;
  readonly imageConfig?: Readonly<Record<string, Json>>;
  readonly audio?: JsonObject;
  readonly webSearchOptions?: JsonObject;
  /** The endpoint is to search the web by itself. A plugin sets this, even where the caller's format has no such setting. */
  readonly nativeWebSearch?: NativeWebSearch;
}

/** What a caller of the responses format wants of the response itself. Nothing in here is ever sent upstream. */
export interface ResponseOptions {
  /** Members of the body that the response repeats, as the caller wrote them, without secrets. */
  readonly echo: JsonObject;
  /** Parts of the response that are left out unless they are named here. Values of `include` that are known. */
  readonly include: ReadonlySet<string>;
  /** A refusal of status 402, 429 or 5xx comes as a stream that fails. Absent: as the operator configured it. */
  readonly failsInStream?: boolean;
  /** Events that strict clients do not know may be sent: `X-Service-Stream-Events: extended`. */
  readonly extendedEvents?: true;
  /** The caller's word on whether the response is kept. Absent: as the operator configured it. */
  readonly store?: boolean;
  readonly background?: true;
  readonly previousResponseId?: string;
  /** Items of this request, each with an id, as they are kept. */
  readonly items: readonly JsonObject[];
  /** Items of the whole conversation, where the last item asks for a compaction of it in place of a response. */
  readonly compacts?: readonly JsonObject[];
  /** An endpoint that makes such a compaction itself may do it. */
  readonly compactsNatively?: true;
}

/** One request for a generation, whatever format it came in. */
export interface GenerationRequest {
  readonly format: ClientFormatId;
  readonly delivery: 'stream' | 'whole';
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  readonly settings: Settings;
  /** For the gateway itself, never sent upstream. */
  readonly directives: Directives;
  /** Of callers of the responses format. */
  readonly response?: ResponseOptions;
  /** Members of the body that the gateway does not know. */
  readonly extra?: Extra;
  /** Deprecated spellings and ignored fields met while reading the request. */
  readonly warnings: readonly Warning[];
}
