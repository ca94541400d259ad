import { z } from 'zod';
import type { Block, Citation, MediaBlock } from '../canonical/blocks.ts';
import type { FormatId, Warning } from '../canonical/extra.ts';
import type { GenerateNested } from '../canonical/tools/nested-generation.ts';
import type { McpServers } from '../canonical/tools/mcp.ts';
import type { ModelChoice } from '../canonical/model-choice.ts';
import type { FileReader } from '../canonical/tools/parsed-file.ts';
import type { FindModels } from '../canonical/tools/model-search.ts';
import type { GenerationRequest, ServerTool as RequestedServerTool } from '../canonical/request.ts';
import type { PipelineStage } from '../canonical/route-report.ts';
import type { McpToolName, ToolErrorCode, ToolProgress } from '../canonical/tools/server-call.ts';
import type { Shell } from '../canonical/tools/shell.ts';
import type { StoredFiles } from '../canonical/tools/stored-files.ts';
import type { WebPages } from '../canonical/tools/web-page.ts';
import type { WebSearch } from '../canonical/tools/web-search.ts';
import { isJsonObject, type Json, type JsonObject } from '../lib/json.ts';

/**
 * Abilities of tools. The composition root builds them, and tools import none of them. One that is not configured is
 * absent, and a tool that needs it returns an error.
 */
export interface ToolAbilities {
  readonly findModels?: FindModels;
  readonly search?: WebSearch;
  readonly pages?: WebPages;
  readonly mcp?: McpServers;
  /** Files that callers and tools store. */
  readonly files?: StoredFiles;
  /** Runs commands apart from the machine of the gateway. */
  readonly shell?: Shell;
  /** Extracts the text of a file. */
  readonly reader?: FileReader;
}

/** The workspace and key of the request, for resources that belong to them. */
export interface ToolPrincipal {
  readonly accountId: string;
  readonly workspaceId: string;
  readonly keyHash: string;
}

/** The context of a tool for one request. */
export interface ToolContext {
  readonly principal: ToolPrincipal;
  /** The conversation when the tool is opened, with the caller's tools. */
  readonly request: GenerationRequest;
  /** The concrete slug of the calling model; known after its first response. */
  readonly model: () => string;
  /** The index of the entry in `tools`. */
  readonly index: number;
  /** Wall clock, Unix ms. */
  readonly nowMs: () => number;
  /** A monotonic clock for durations, ms. */
  readonly monotonicMs: () => number;
  readonly abilities: ToolAbilities;
  /** The models that it may choose from. */
  readonly choice?: ModelChoice;
  /** What the request may still cost by the stop condition `max_cost`, nano-USD; `undefined`: there is none. */
  readonly budgetNanoUsd: () => number | undefined;
  /** Records a stage for the caller's metadata. */
  readonly note: (stage: PipelineStage) => void;
}

/** One call by the model. */
export interface ToolCall<Arguments> {
  readonly id: string;
  /** Validated by the schema of `describe`. */
  readonly input: Arguments;
  /** The turn of the call, from 0: the calls of one turn run in parallel. */
  readonly turn: number;
  /** The conversation that the model saw when it called. */
  readonly turns: GenerationRequest['turns'];
  /** Calls a model on the caller's account. */
  readonly generate: GenerateNested;
  /** What lets a service of the operator's own join the trace below the call: the headers of the W3C. */
  readonly traceHeaders: () => Readonly<Record<string, string>>;
  /** Aborts when the response is no longer needed, or the call has taken too long. */
  readonly signal: AbortSignal;
  /** Tells callers that watch the call how far it is. Absent: none does. */
  readonly report?: ((progress: ToolProgress) => void) | undefined;
}

/** The outcome of a call. */
export interface ToolOutcome {
  /** The result in its documented shape: the model reads it as JSON text, and the response contains it. */
  readonly result: Json;
  /**
   * Replaces the JSON text if the model should read something else. Media are images, which are left out for a model without
   * image input: a text beside them describes them.
   */
  readonly modelReads?: readonly Block[];
  /** The call failed, and `result` says why: the model may try something else. Errors never end the request. */
  readonly failed?: true;
  /** With `failed`, the error code of the messages format; default `unavailable`. */
  readonly errorCode?: ToolErrorCode;
  /** The fee of the call itself, nano-USD, without the models that it called. */
  readonly feeNanoUsd?: number;
  /** Sources, which become citations of the whole response. */
  readonly citations?: readonly Citation[];
  /** Images for the caller. */
  readonly media?: readonly MediaBlock[];
  /** Its searches and fetches, for the usage. */
  readonly searches?: number;
  readonly fetches?: number;
  /** Names of tools that were hidden (`defer_loading`) and are offered from the next turn on. */
  readonly reveals?: readonly string[];
}

/** A tool as the model sees it. */
export interface ToolDescription<Arguments extends ArgumentsSchema> {
  readonly description: string;
  /**
   * The arguments of a call. Their JSON Schema is offered to the model; calls that violate it get an error result, from
   * the gateway or, for a foreign schema, from the server that runs them.
   */
  readonly arguments: Arguments;
}

/** The schema of any tool's arguments. */
export type ArgumentsSchema = z.ZodObject | ForeignArguments;

/** Arguments of a tool that a foreign server describes and validates. Any JSON object is accepted here. */
export interface ForeignArguments {
  readonly jsonSchema: JsonObject;
}

/** The arguments of a call, by their schema. */
export type ArgumentsOf<Schema extends ArgumentsSchema> = Schema extends z.ZodObject ? z.output<Schema> : JsonObject;

const formatted = new WeakMap<z.ZodObject, JsonObject>();

/** The JSON Schema of a tool's arguments for models. A schema that lives as long as its tool is converted once. */
export function formatArguments(schema: ArgumentsSchema): JsonObject {
  if ('jsonSchema' in schema) return schema.jsonSchema;
  const known = formatted.get(schema);
  if (known !== undefined) return known;
  const { $schema: _dialect, ...parameters }: Readonly<Record<string, unknown>> = z.toJSONSchema(schema, {
    io: 'input',
  });
  const object = isJsonObject(parameters) ? parameters : {};
  formatted.set(schema, object);
  return object;
}

/** An endpoint that could run a tool itself. */
export interface NativeEndpoint {
  /** The format of the call. */
  readonly format: FormatId;
  /** The upstream's own name of the model. */
  readonly model: string;
  /** Whether it is the vendor of the messages format, which runs its own tools. */
  readonly runsNativeTools: boolean;
}

/** A function that the caller runs without having declared it. */
export interface ClientFunction {
  readonly name: string;
  readonly description: string;
  readonly arguments: ArgumentsSchema;
}

/** A tool opened for one request, with its counters. */
export interface OpenTool<Arguments> {
  /** The most that one call costs, if that depends on the configured abilities. Wins over that of the tool. */
  readonly feeNanoUsdMax?: number;
  /** Rejects with a `GatewayError` for faults of callers, models and remote hosts, which becomes an error result. */
  run(call: ToolCall<Arguments>): Promise<ToolOutcome>;
}

/** An entry of `tools` that the gateway serves: `{"type": "service:datetime", "parameters": {...}}`. */
interface ToolEntry<Parameters extends z.ZodObject> {
  /** Its type in requests. */
  readonly type: `service:${string}`;
  /** What it does, in one sentence. */
  readonly summary: string;
  /** `parameters` of the entry. An invalid field is 400 with its path. */
  readonly parameters: Parameters;
  /** The `parameters` for an equivalent vendor tool of the messages or the responses format; otherwise `undefined`. */
  readNativeTool?(tool: JsonObject): JsonObject | undefined;
  /** Validates several entries of this type together. @throws GatewayError 400 */
  checkTogether?(entries: readonly { readonly path: string; readonly parameters: z.output<Parameters> }[]): void;
}

/**
 * A tool that the gateway runs in the loop around a model. Members of the registry import only this contract, `canonical/`
 * and `lib/`.
 */
export interface ServerTool<
  Parameters extends z.ZodObject = z.ZodObject,
  Arguments extends ArgumentsSchema = ArgumentsSchema,
> extends ToolEntry<Parameters> {
  /** Time limit of one call, ms. Absent: two minutes. */
  readonly callMsMax?: number;
  /** `tools` may have several entries of the type: each is a function of its own. */
  readonly mayRepeat?: true;
  /** The tools of its nested generations, from its parameter `tools`: validated before anything runs. */
  nestedTools?(parameters: z.output<Parameters>): readonly RequestedServerTool[];
  /**
   * The part of an earlier result, sent back by the caller, that the model reads. Absent: all of it.
   * @param text the result as JSON text
   */
  recall?(text: string): string;
  /** Of a tool of an MCP server. */
  readonly mcp?: McpToolName;
  /** Functions marked `defer_loading` are hidden from the model until a call of this tool reveals them. */
  readonly findsHiddenTools?: true;
  /**
   * Whether a call changes nothing, and sends nothing but to where the operator has set up: an agent runs it without an
   * approval, and once more after a crash. Absent: no call does.
   */
  onlyReads?(input: JsonObject): boolean;
  describe(parameters: z.output<Parameters>): ToolDescription<Arguments>;
  /**
   * The function that the caller runs: its calls end the response like those of the caller's own functions. `undefined`: the
   * gateway runs it.
   * @throws GatewayError 400 for an ability that is not configured. @param path of `parameters`
   */
  clientFunction?(parameters: z.output<Parameters>, path: string): ClientFunction | undefined;
  /**
   * The equivalent tool in the endpoint's own format, if the endpoint runs it itself: then the gateway runs no loop for it.
   * `undefined`: the gateway runs it.
   */
  nativeTool?(parameters: z.output<Parameters>, endpoint: NativeEndpoint): JsonObject | undefined;
  /** Whether an endpoint that searches the web in only one of its formats is called in that one, to run the tool itself. */
  searchesNatively?(parameters: z.output<Parameters>): boolean;
  /** The most that one call costs without the models that it calls, nano-USD: reserved before it runs. Absent: nothing. */
  feeNanoUsdMax?(parameters: z.output<Parameters>): number;
  open(parameters: z.output<Parameters>, context: ToolContext): OpenTool<ArgumentsOf<Arguments>>;
}

/**
 * An entry of `tools` that stands for any number of tools, which are known only after a foreign server has listed them:
 * each is a function of its own, and then a tool like any other.
 */
export interface ToolSet<Parameters extends z.ZodObject = z.ZodObject> extends ToolEntry<Parameters> {
  /** @throws GatewayError 400 or 403 for what the key may not use. A server that does not respond is no error of the request. */
  list(parameters: z.output<Parameters>, input: ToolSetInput): Promise<ToolSetListing>;
}

export interface ToolSetInput {
  /** Of `parameters`. */
  readonly path: string;
  readonly principal: ToolPrincipal;
  readonly abilities: ToolAbilities;
  /** Aborts when the response is no longer needed. */
  readonly signal: AbortSignal;
}

export interface ToolSetListing {
  readonly tools: readonly NamedTool[];
  /** Requested features that the caller does not get. */
  readonly warnings: readonly Warning[];
}

/** One tool of a set, opened with the parameters of the set. */
export interface NamedTool {
  /** The unique name of the function. */
  readonly name: string;
  readonly tool: ServerTool;
}

/** A member of the registry. */
export type RegisteredTool = ServerTool | ToolSet;

export function isToolSet(tool: RegisteredTool): tool is ToolSet {
  return 'list' in tool;
}

/** An error result in the shape that most tools use. */
export function failedOutcome(message: string, errorCode?: ToolErrorCode): ToolOutcome {
  const result: JsonObject = { status: 'error', error: message };
  return { result, failed: true, ...(errorCode !== undefined && { errorCode }) };
}
