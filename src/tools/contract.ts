import { z } from 'zod';
import type { Block, Citation, MediaBlock } from '../canonical/blocks.ts';
import type { FormatId, Warning } from '../canonical/extra.ts';
import type { InnerGenerate } from '../canonical/inner-generation.ts';
import type { McpServers } from '../canonical/mcp.ts';
import type { ModelChoice } from '../canonical/model-choice.ts';
import type { FileReader } from '../canonical/parsed-file.ts';
import type { FindModels } from '../canonical/model-search.ts';
import type { GenerationRequest, ServerTool as AskedServerTool } from '../canonical/request.ts';
import type { PipelineStage } from '../canonical/route-report.ts';
import type { ToolErrorCode } from '../canonical/server-call.ts';
import type { StoredFiles } from '../canonical/stored-files.ts';
import type { WebPages } from '../canonical/web-page.ts';
import type { WebSearch } from '../canonical/web-search.ts';
import { isJsonObject, type Json, type JsonObject } from '../lib/json.ts';

/**
 * What the gateway can do for its tools. The composition root builds it; a tool takes what it needs and imports nothing of
 * it. What is not set up is absent, and a tool that needs it answers with an error.
 */
export interface ToolAbilities {
  readonly findModels?: FindModels;
  readonly search?: WebSearch;
  readonly pages?: WebPages;
  readonly mcp?: McpServers;
  /** Files that callers and tools store. */
  readonly files?: StoredFiles;
  /** Makes text of a file. */
  readonly reader?: FileReader;
}

/** Who asks, for what belongs to somebody. */
export interface ToolAsker {
  readonly accountId: string;
  readonly workspaceId: string;
  readonly keyHash: string;
}

/** What a tool is given for one request. */
export interface ToolContext {
  readonly asker: ToolAsker;
  /** The conversation as it stands when the tool is opened, with the tools that the caller wrote. */
  readonly request: GenerationRequest;
  /** The concrete slug of the model that calls; known once it has answered. */
  readonly model: () => string;
  /** Which entry of `tools` this is, from 0. */
  readonly index: number;
  /** Wall clock, Unix ms. */
  readonly nowMs: () => number;
  /** For how long something took. */
  readonly monotonicMs: () => number;
  readonly abilities: ToolAbilities;
  /** Asks a model on the caller's account. */
  readonly generate: InnerGenerate;
  /** Which models there are to choose from. */
  readonly choice?: ModelChoice;
  /** What the caller lets the request cost from here on, nano-USD, by its stop condition `max_cost`; `undefined`: it says nothing. */
  readonly budgetNanoUsd: () => number | undefined;
  /** Records a stage for the caller's metadata. */
  readonly note: (stage: PipelineStage) => void;
}

/** One call of the model's. */
export interface ToolCall<Arguments> {
  readonly id: string;
  /** Checked by the schema of `describe`. */
  readonly input: Arguments;
  /** Which turn of the model called, from 0: several calls of one turn run side by side. */
  readonly turn: number;
  /** The conversation that the model saw when it called. */
  readonly turns: GenerationRequest['turns'];
  /** Aborts when nobody waits for the answer any more, or the call has taken too long. */
  readonly signal: AbortSignal;
}

/** What came of a call. */
export interface ToolOutcome {
  /** The result as the spec draws it: the model reads it as JSON text, and the caller finds it in the record of the call. */
  readonly result: Json;
  /**
   * In place of the result as JSON text, where the model is to read something else. Media are pictures, and left out for a
   * model that reads none: a text beside them says what they are.
   */
  readonly modelReads?: readonly Block[];
  /** The call failed, and `result` says why: the model may try something else. Errors never end the request. */
  readonly failed?: true;
  /** With `failed`, the reason in the words of the messages format; default `unavailable`. */
  readonly errorCode?: ToolErrorCode;
  /** What the call itself costs the account, nano-USD, beside what models cost that it asked. */
  readonly feeNanoUsd?: number;
  /** Sources that the answer may rest on: they become citations of the whole answer. */
  readonly citations?: readonly Citation[];
  /** Pictures for the caller. */
  readonly media?: readonly MediaBlock[];
  /** Searches and fetches that it made, for the usage. */
  readonly searches?: number;
  readonly fetches?: number;
  /** Names of tools that were hidden (`defer_loading`) and are offered from the next turn on. */
  readonly reveals?: readonly string[];
}

/** How the model sees a tool. */
export interface ToolDescription<Arguments extends ArgumentsSchema> {
  readonly description: string;
  /**
   * Of the arguments of a call. Its JSON Schema is what the model is offered; calls that break it get an error result, here
   * or, where it is somebody else's, from whoever runs them.
   */
  readonly arguments: Arguments;
}

/** The shape of a tool's arguments, whatever they are. */
export type ArgumentsSchema = z.ZodObject | ForeignArguments;

/** Arguments of a tool that somebody else describes and checks. Any JSON object is a call of it here. */
export interface ForeignArguments {
  readonly jsonSchema: JsonObject;
}

/** What a tool with such arguments is called with. */
export type ArgumentsOf<Schema extends ArgumentsSchema> = Schema extends z.ZodObject ? z.output<Schema> : JsonObject;

const drawn = new WeakMap<z.ZodObject, JsonObject>();

/** The JSON Schema of a tool's arguments, as models are offered it. One that lives as long as its tool is drawn once. */
export function drawArguments(schema: ArgumentsSchema): JsonObject {
  if ('jsonSchema' in schema) return schema.jsonSchema;
  const known = drawn.get(schema);
  if (known !== undefined) return known;
  const { $schema: _dialect, ...parameters }: Readonly<Record<string, unknown>> = z.toJSONSchema(schema, {
    io: 'input',
  });
  const object = isJsonObject(parameters) ? parameters : {};
  drawn.set(schema, object);
  return object;
}

/** Who would run a tool itself. */
export interface NativeEndpoint {
  /** In which it is asked. */
  readonly format: FormatId;
  /** The upstream's own name of the model. */
  readonly model: string;
  /** The messages format's own vendor, whose tools run there. */
  readonly runsVendorTools: boolean;
}

/** A function that the caller runs, although it did not write it. */
export interface ClientFunction {
  readonly name: string;
  readonly description: string;
  readonly arguments: ArgumentsSchema;
}

/** A tool that stands ready for one request: what it counts over the request lives in here. */
export interface OpenTool<Arguments> {
  /** The most that one call costs, where that depends on what the gateway can do. Wins over that of the tool. */
  readonly feeNanoUsdMax?: number;
  /** Never rejects for what a caller, a model or a remote host does, but with a `GatewayError`: both become error results. */
  run(call: ToolCall<Arguments>): Promise<ToolOutcome>;
}

/** An entry of `tools` that the gateway serves: `{"type": "service:datetime", "parameters": {...}}`. */
interface ToolEntry<Parameters extends z.ZodObject> {
  /** As callers write it. */
  readonly type: `service:${string}`;
  /** `parameters` of the entry. A wrong member is 400 with its path. */
  readonly parameters: Parameters;
  /** The `parameters` that a vendor's tool of the messages format comes to, where it is the same tool; else `undefined`. */
  readVendorTool?(tool: JsonObject): JsonObject | undefined;
  /** Rules that bind several entries of the same type. @throws GatewayError 400 */
  checkTogether?(entries: readonly { readonly path: string; readonly parameters: z.output<Parameters> }[]): void;
}

/**
 * A tool that the gateway runs while a model answers. Members of the registry import nothing but this contract,
 * `canonical/` and `lib/`.
 */
export interface ServerTool<
  Parameters extends z.ZodObject = z.ZodObject,
  Arguments extends ArgumentsSchema = ArgumentsSchema,
> extends ToolEntry<Parameters> {
  /** Bound on one call, ms. Absent: two minutes. */
  readonly callMsMax?: number;
  /** Several entries of the type may stand in `tools`: each is a function of its own. */
  readonly mayRepeat?: true;
  /** What generations inside of it are offered, of its parameter `tools`: checked before anything runs. */
  innerTools?(parameters: z.output<Parameters>): readonly AskedServerTool[];
  /**
   * What the model reads of the result of an earlier answer, which the caller sent back. Absent: all of it.
   * @param text the result as JSON text
   */
  recall?(text: string): string;
  /** Functions marked `defer_loading` are hidden from the model until a call of this tool reveals them. */
  readonly findsHiddenTools?: true;
  describe(parameters: z.output<Parameters>): ToolDescription<Arguments>;
  /**
   * The caller runs it: the function that the model is offered under that name, whose calls end the answer like those of the
   * caller's own. `undefined`: the gateway runs it.
   * @throws GatewayError 400 for what is not set up here. @param path of `parameters`
   */
  clientFunction?(parameters: z.output<Parameters>, path: string): ClientFunction | undefined;
  /**
   * The tool of the endpoint's own format that stands in for this one where the endpoint runs it itself: then the gateway
   * runs no loop for it. `undefined`: the gateway runs it.
   */
  nativeTool?(parameters: z.output<Parameters>, endpoint: NativeEndpoint): JsonObject | undefined;
  /** Whether an endpoint that searches the web in one of its formats alone is asked in that one, to run the tool itself. */
  searchesNatively?(parameters: z.output<Parameters>): boolean;
  /** The most that one call costs beside models that it asks, nano-USD: set aside before it runs. Absent: nothing. */
  feeNanoUsdMax?(parameters: z.output<Parameters>): number;
  open(parameters: z.output<Parameters>, context: ToolContext): OpenTool<ArgumentsOf<Arguments>>;
}

/**
 * An entry of `tools` that stands for any number of tools, which are known only when somebody else was asked for them: each
 * is a function of its own, and from there on a tool like any other.
 */
export interface ToolSet<Parameters extends z.ZodObject = z.ZodObject> extends ToolEntry<Parameters> {
  /** @throws GatewayError 400 or 403 for what this asker cannot have. Whoever does not answer is no error of the request. */
  list(parameters: z.output<Parameters>, question: ToolSetQuestion): Promise<ToolSetListing>;
}

export interface ToolSetQuestion {
  /** Of `parameters`. */
  readonly path: string;
  readonly asker: ToolAsker;
  readonly abilities: ToolAbilities;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

export interface ToolSetListing {
  readonly tools: readonly NamedTool[];
  /** What the caller asked for and does not get. */
  readonly warnings: readonly Warning[];
}

/** One tool of a set, opened with the parameters of the set. */
export interface NamedTool {
  /** Of the function, and unlike that of any other. */
  readonly name: string;
  readonly tool: ServerTool;
}

/** What stands in the registry. */
export type RegisteredTool = ServerTool | ToolSet;

export function isToolSet(tool: RegisteredTool): tool is ToolSet {
  return 'list' in tool;
}

/** A result that says what went wrong, in the shape that most tools have for it. */
export function failedOutcome(message: string, errorCode?: ToolErrorCode): ToolOutcome {
  const result: JsonObject = { status: 'error', error: message };
  return { result, failed: true, ...(errorCode !== undefined && { errorCode }) };
}
