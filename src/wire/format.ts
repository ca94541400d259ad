import type { GenerationResponse } from '../canonical/response.ts';
import type { Block, MediaBlock } from '../canonical/blocks.ts';
import type { EventBatch } from '../canonical/events.ts';
import type { ClientFormatId, FormatId, Warning } from '../canonical/extra.ts';
import type { UpstreamErrorBody } from '../canonical/failure/failure.ts';
import type { GatewayError } from '../canonical/gateway-error.ts';
import type { GenerationRequest, Tool } from '../canonical/request.ts';
import type { McpTool } from '../canonical/tools/mcp.ts';
import type { ReplayedServerCall, ServerCall } from '../canonical/tools/server-call.ts';
import type { Usage } from '../canonical/usage.ts';
import type { Json, JsonObject } from '../lib/json.ts';
import type { BetaRules } from './beta-flags.ts';
import type { HeaderDirectives } from './gateway/headers.ts';

/** The identity of one response, the same on each of its frames. */
export interface ResponseIdentity {
  /** `gen-...`, equal to the `X-Generation-Id` header. */
  readonly id: string;
  /** Unix seconds. */
  readonly createdS: number;
  /** The concrete model slug that serves; before a route is known, the requested one. */
  readonly model: string;
  /** Display name of the provider that serves; absent before a route is known. */
  readonly provider?: string;
  /** A call is written as `function_call`, and there is at most one: `Directives.legacyCalls`. */
  readonly legacyCalls?: true;
  /** The request as its caller sent it, for formats whose responses repeat parts of it. */
  readonly request?: GenerationRequest;
  /** The account whose callers may read back what the response holds sealed. */
  readonly accountId?: string;
  /** The response is to be kept, and served again by its id. */
  readonly isKept?: true;
  /** It runs in the background, and its stream has begun: the number of its next event. */
  readonly nextEvent?: number;
}

/** What one generation cost the account. Nano-USD, integers. */
export interface Charge {
  readonly totalNanoUsd: number;
  readonly promptNanoUsd: number;
  readonly completionNanoUsd: number;
  /** Something else was consumed whose price is unknown. */
  readonly isPartial?: true;
}

/** What the gateway knows once the response has ended and its charge is durable. */
export interface FinalUsage {
  readonly usage: Usage;
  /** `undefined`: the price is unknown, which is not zero. */
  readonly charge: Charge | undefined;
  readonly isByok: boolean;
  /** Calls of server tools; absent: none were offered. */
  readonly serverCalls?: { readonly requested: number; readonly executed: number };
  /** The encoded `service_metadata`, when the caller opted in. */
  readonly serviceMetadata: JsonObject | undefined;
  /** The response is kept, and can be retrieved by its id. */
  readonly isStored?: true;
}

/** What stands in the answer of a call that is no generation, beside what was made. */
export interface AnswerIdentity {
  /** `gen-...`, equal to the `X-Generation-Id` header. */
  readonly id: string;
  /** The model's slug. */
  readonly model: string;
  /** Display name. */
  readonly provider: string;
}

export interface ErrorContext {
  readonly generationId: string | null;
  readonly serviceMetadata: JsonObject | undefined;
  /** For `availability.docs_url`: `http://host:port/v1`. */
  readonly baseUrl: string;
}

/** Encodes one streamed response in a caller's format. It holds the state of that one response. */
export interface StreamEncoder {
  /**
   * Frames for these events, `''` for none. Writes nothing for `end` and `failed`: the terminal frames belong to
   * `close` and `fail`, because they wait until the charge is durable.
   */
  encode(events: EventBatch): string;
  /** The debug chunk that shows the upstream body of one attempt; `''` in formats without one. */
  debug(provider: string, body: JsonObject): string;
  /** Everything that is still owed after the last event, down to the terminal frame. */
  close(finalUsage: FinalUsage): string;
  /** The in-stream error and what must follow it. `closing` carries the usage so far, where known. */
  fail(error: GatewayError, finalUsage: FinalUsage | undefined, context: ErrorContext): string;
  /**
   * What is sent beside the keep-alive of the format while nothing comes: the frames that open the response where it was
   * not open yet, and events for clients that do not count comments. Absent: nothing.
   * @param idleMs since anything of the response was sent, or since the request was admitted
   */
  idle?(idleMs: number): string;
  /** Which model serves: an encoder that opened its response before that was known says it from now on. */
  serve?(identity: ResponseIdentity): void;
  /**
   * The response as one object, as it will be once it has ended in this way; for a store that keeps it. Absent: the
   * format has none.
   */
  snapshot?(finalUsage: FinalUsage, error: GatewayError | undefined): JsonObject;
}

/** Opens what an account's callers were given sealed, and names what requests refer to. */
export interface DecodeContext {
  /** The account of the caller: texts that were sealed for another one do not open. */
  readonly accountId: string;
  /** Items of earlier responses that the request continues, which stand before its own input. */
  readonly history?: readonly JsonObject[];
  /** Kept items that the input names, by their ids. Absent: nothing is kept. */
  readonly references?: ReadonlyMap<string, JsonObject>;
}

/** Encodes server tools that ran for the callers of a format, and decodes them when callers send them back. @spec tool-19 */
export interface ServerCallCodec {
  /**
   * The id under which a caller sees a call.
   * @param id the model's own
   * @param ordinal of the call in the response, from 0
   */
  shownId(id: string, ordinal: number): string;
  /** The name under which a caller sees the call of a tool. @param name of the function that the model called */
  shownName(type: string, name: string): string;
  /** The block of a response that holds the result of a call. */
  encode(call: ServerCall): Block;
  /** Decodes a block of a caller's assistant turn about a call that the gateway ran; `undefined` for any other block. */
  decode(block: Block): ReplayedServerCall | undefined;
  /** The blocks of a response that show what tools MCP servers have. Absent: the format shows none. */
  showServers?(servers: readonly OfferedServer[]): readonly Block[];
}

/** An MCP server of a request. */
export interface OfferedServer {
  /** Of the caller's `tools`. */
  readonly entry: Tool;
  readonly server: string;
  readonly tools: readonly McpTool[];
  /** Why its tools are not known. */
  readonly failure?: string;
}

/** A format that callers speak. */
export interface ClientFormat {
  readonly id: ClientFormatId;
  /**
   * @param body the parsed JSON of the request
   * @param text the same as it came, for members whose numbers must not change
   * @throws GatewayError 400 with `issues`, each at the very member that is wrong
   */
  decodeRequest(body: Json, text: string, headers: HeaderDirectives, context?: DecodeContext): GenerationRequest;
  createStreamEncoder(identity: ResponseIdentity): StreamEncoder;
  /** Whether a stream is opened only to say that it fails, in place of a status. Absent: never. */
  failsInStream?(error: GatewayError, request: GenerationRequest): boolean;
  /** The whole response as JSON text. A response that broke off is encoded with its error. */
  encodeWhole(response: GenerationResponse, identity: ResponseIdentity, finalUsage: FinalUsage): string;
  /** The same as an object, for a store that keeps it. Absent: the format has none. */
  snapshotWhole?(response: GenerationResponse, identity: ResponseIdentity, finalUsage: FinalUsage): JsonObject;
  encodeError(error: GatewayError, context: ErrorContext): JsonObject;
  /** Whether the format can express this block of a response; another block is left out, with a warning. */
  supports(block: Block): boolean;
  readonly serverCalls: ServerCallCodec;
  /** Where clients of the format look for the id of a response, beside `x-generation-id`. */
  readonly requestIdHeader: string;
  /** Headers of its streams, beside those of every stream. Absent: none. */
  readonly streamHeaders?: Readonly<Record<string, string>>;
  /** What keeps an idle stream open: a comment or a ping, complete with its line ends. */
  readonly keepAlive: string;
  /** Its encoder sends more than that while nothing comes: `StreamEncoder.idle`. */
  readonly speaksWhileIdle?: true;
}

/** What an endpoint can do, as far as an encoder must know. Absent: unknown, so everything that the format can express is sent. */
export interface EncodeTarget {
  /** The upstream's own name of the model. */
  readonly model: string;
  readonly maxOutputTokens?: number | undefined;
  /** Parameter names of the catalog's vocabulary; absent: everything that the format knows. */
  readonly supportedParameters?: ReadonlySet<string> | undefined;
  /** Beta features that the upstream takes of the messages format; absent: unknown. */
  readonly betaRules?: BetaRules | undefined;
  /** Hash of account and end user, for the format's own field where it has one. */
  readonly endUserId: string;
  readonly dialect: Dialect;
}

/** The part of the target that the limit of a response depends on. */
export type LimitTarget = Pick<EncodeTarget, 'dialect' | 'maxOutputTokens'>;

/**
 * Facts in which upstreams of one format differ. A provider's adapter states them; encoders read them. Everything is
 * off or plain by default: the most widely understood spelling. Each format declares its own facts in
 * `wire/<format>/dialect.ts`, by declaration merging.
 */
export interface Dialect {
  /**
   * Where the conversation ends with the assistant, the model continues its text instead of beginning a new response.
   * Default false: unknown.
   */
  readonly continuesResponses?: boolean;
}

export interface EncodedRequest {
  readonly body: JsonObject;
  /** `anthropic-beta` and the like. */
  readonly headers: Readonly<Record<string, string>>;
  readonly warnings: readonly Warning[];
  /** Tool names as sent, to the caller's own, where the format refuses those: calls in the response must be named back. */
  readonly toolNames?: ReadonlyMap<string, string>;
  /**
   * The name of a tool that stands in for structured output: what the model calls it with is the text of the response.
   * @spec translate-22
   */
  readonly outputTool?: string;
}

/** Reads one streamed response. Holds the state of that one response. */
export interface StreamDecoder {
  /** The events of one network read, in one synchronous pass. */
  push(chunk: Uint8Array): EventBatch;
  /**
   * Whether the reason to stop and the counts have come, so that at most the terminal frame is missing. Absent: in this
   * format they come with it.
   */
  isComplete?(): boolean;
  /**
   * The connection ended in the ordinary way. Gives what is still owed; a stream without its terminal event gives
   * `failed`, kind `early-end`.
   */
  end(): EventBatch;
}

/** What the path of a request may depend on. */
export interface PathTarget {
  /** The upstream's own name of the model. */
  readonly model: string;
  readonly stream: boolean;
}

/** Names of the catalog: `image`, `file`, `audio`, `video`. Text goes without saying. */
export interface FormatModalities {
  readonly inputs: ReadonlySet<string>;
  readonly outputs: ReadonlySet<string>;
}

/** How a format's calls are signed, for the store that keeps signatures which callers lose. @spec reasoning-20 */
export interface CallSignatures {
  /** `undefined` for a block of a response that is no signature of a call. */
  decode(block: Block): { readonly callId: string; readonly signature: string } | undefined;
  /** The request with each call signed that has lost its signature and whose id `lookUp` knows. */
  restore(request: GenerationRequest, lookUp: (callId: string) => string | undefined): GenerationRequest;
}

/** A format that upstreams speak. */
export interface UpstreamFormat {
  readonly id: FormatId;
  /** Where requests go, below the provider's base URL, which ends in its version segment. */
  path(target: PathTarget): string;
  /** The media type of a streamed response. */
  readonly streamType: 'text/event-stream' | 'application/vnd.amazon.eventstream';
  /**
   * The parameters of the catalog's vocabulary that the format can express. An endpoint without a list of its own
   * supports exactly these. @spec route-20
   */
  readonly parameters: ReadonlySet<string>;
  /** The media that the format can carry; absent: all. @spec translate-15 */
  readonly modalities?: FormatModalities;
  /**
   * Whether a file at this address must be made bytes before it is encoded, because the format's upstreams do not open
   * such addresses; absent: they open all. @spec translate-13
   */
  mustInlineUrl?(url: string, media: MediaBlock['media'], dialect: Dialect): boolean;
  /** Signatures that its upstreams demand back with the calls that they made; absent: they demand none. */
  readonly callSignatures?: CallSignatures;
  /**
   * Whether encrypted reasoning goes there by its family alone, whichever provider of that family made it; absent: the
   * format drops what its upstream could not read.
   */
  carriesForeignReasoning?(dialect: Dialect): boolean;
  /** Whether the signature of a text may come behind the text, and is taken back; absent: texts have none. */
  signsTexts?(dialect: Dialect): boolean;
  /**
   * The limit of the response, in tokens, where `encodeRequest` sends another than the requested one because reasoning is
   * part of the response. It is never less than the limit sent, and `undefined` where none is sent. Absent: the requested one.
   */
  responseLimit?(request: GenerationRequest, target: LimitTarget): number | undefined;
  /**
   * Leaves out what the format cannot express, with a warning.
   * @throws GatewayError 400 when the request cannot do without it: another format may express it
   */
  encodeRequest(request: GenerationRequest, target: EncodeTarget): EncodedRequest;
  /** @param dialect of the upstream, for formats whose responses do not name the family of their reasoning */
  createStreamDecoder(dialect?: Dialect): StreamDecoder;
  /** A whole response of status 200. What is not a response gives `failed`: an error object, or garbage. */
  decodeWhole(text: string, dialect?: Dialect): EventBatch;
  /** @param headers of the response, names in lower case: some upstreams name the error there */
  decodeError(text: string, headers?: Readonly<Record<string, string>>): UpstreamErrorBody;
}
