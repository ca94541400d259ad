import type { z } from 'zod';
import type { JsonObject } from '../../lib/json.ts';
import type { ClientFormatId } from '../../canonical/extra.ts';
import type { OperationKind } from '../../canonical/operation.ts';
import type { AttemptRecord } from '../../store/generations/generation-json.ts';
import type { GenerationContent } from '../serialize-content.ts';

/** Settings of a request that traces name. */
export interface ExportedSettings {
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  readonly seed?: number;
  readonly stop?: readonly string[];
}

/** Of which a prompt contains cached tokens, and a completion reasoning. Absent parts were not reported. */
export interface ExportedTokens {
  readonly prompt: number;
  readonly completion: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly reasoning?: number;
  readonly audioPrompt?: number;
  readonly audioCompletion?: number;
  readonly imageCompletion?: number;
  readonly estimated: boolean;
}

/** Nano-USD. */
export interface ExportedCost {
  readonly total: number;
  readonly prompt?: number;
  readonly completion?: number;
  /** Searches, pages and files. */
  readonly tools?: number;
  /** The caller's own credential paid: what the call would have cost at list price. */
  readonly byokList?: number;
  /** A part of the price is unknown. */
  readonly isPartial?: true;
  /** Of generations inside this one, which have records of their own. */
  readonly nested?: number;
}

/** What a tracing system says of the span that a request belongs to. */
export interface TraceContext {
  readonly traceId: string;
  readonly parentSpanId: string;
  readonly flags: number;
  readonly state?: string;
}

/**
 * A completed generation as a destination receives it: what its owner did not turn on is not in it. Times are Unix ms.
 */
export interface ExportedGeneration {
  readonly id: string;
  /** Groups the generations of one HTTP request. */
  readonly requestId: string;
  readonly startMs: number;
  /** First content; absent: there was none. */
  readonly firstTokenMs?: number;
  readonly endMs: number;
  readonly modelRequested: string;
  readonly model: string;
  /** Slug; absent: none was reached. */
  readonly provider?: string;
  readonly apiType: ClientFormatId | OperationKind;
  readonly streamed: boolean;
  readonly cancelled: boolean;
  readonly status: number;
  /** The message may quote a prompt: absent in privacy mode. */
  readonly error?: { readonly type: string; readonly message?: string };
  readonly finishReason?: string;
  /** Absent: no provider reported any. */
  readonly tokens?: ExportedTokens;
  readonly settings: ExportedSettings;
  readonly dimensions?: number;
  /** Of the vectors, as the request demanded. */
  readonly encodings?: readonly string[];
  /** What the request demanded: absent, where it demanded nothing. */
  readonly outputType?: string;
  readonly sessionId?: string;
  /** Hash of account and end user. */
  readonly endUserId?: string;
  /** The caller's own `trace` object. */
  readonly trace: JsonObject;
  /** Of the headers of the request. */
  readonly traceContext?: TraceContext;
  /** Tools and plugins that ran for it. */
  readonly steps?: readonly ExportedStep[];
  /** What happened at single moments of it. */
  readonly moments?: readonly ExportedMoment[];
  /** Absent: the caller, or nothing that is known, ran it. */
  readonly startedBy?: ExportedParent;
  /** A response from the cache. */
  readonly isCached: boolean;
  /** Absent: the destination does not receive it, or the price is unknown. */
  readonly cost?: ExportedCost;
  readonly identity?: ExportedIdentity;
  readonly context?: ExportedContext;
  /** Absent: the destination does not receive it, or it is not stored. */
  readonly content?: GenerationContent;
  /** Why there is less content than the destination could have. */
  readonly contentState?: 'missing' | 'cut' | 'refused';
}

/** A tool or a plugin that ran for a request. Times are Unix ms. */
export interface ExportedStep {
  readonly kind: 'tool' | 'plugin';
  /** Names it among the steps of its kind. */
  readonly key: string;
  readonly name: string;
  readonly type?: string;
  readonly callId?: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly hasFailed: boolean;
}

/** Unix ms. */
export type ExportedMoment = { readonly atMs: number } & (
  | {
      /** The model has said what it had to say, and either tools ran or the response ended. */
      readonly kind: 'turn';
      readonly n: number;
      readonly promptTokens: number;
      readonly completionTokens: number;
    }
  /** A stream broke off: another endpoint continued it, or none did. */
  | { readonly kind: 'rescue'; readonly method: string; readonly provider?: string }
  /** A filter found something, or could not look. */
  | { readonly kind: 'filter'; readonly name: string; readonly action?: string; readonly guardrailId?: string }
);

/** Endpoints among which a route was chosen. */
export interface ExportedRoute {
  readonly ordering: string;
  readonly considered: number;
  /** Of them, those that could serve the request. */
  readonly left: number;
  /** Of those, the ones that rested after failures. */
  readonly resting: number;
  /** Why the others could not, each with a count: `context_length=2`. */
  readonly reasons: readonly string[];
}

/** The step of another generation that a generation was run by. */
export interface ExportedParent {
  readonly kind: 'tool' | 'plugin';
  readonly key: string;
  readonly generationId: string;
}

export interface ExportedIdentity {
  readonly keyHash: string;
  readonly keyName?: string;
  readonly workspaceId: string;
  readonly memberId?: string;
}

export interface ExportedContext {
  readonly appUrl?: string;
  readonly appTitle?: string;
  readonly userAgent?: string;
  readonly region: string;
  readonly attempts: readonly AttemptRecord[];
  readonly strategy: string;
  readonly router?: string;
  /** Absent: nothing was chosen, or an older version stored the record. */
  readonly route?: ExportedRoute;
}

/** One call that hands records over. */
export interface OutboundCall {
  readonly url: string;
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** The records that it contains. */
  readonly ids: readonly string[];
}

/** What an address answered. */
export interface CallAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The beginning of the body. */
  readonly text: string;
  /** The same, where it is no text. */
  readonly bytes?: Uint8Array;
}

/** What an answer means for the records of a call. */
export type Verdict =
  | {
      readonly kind: 'taken';
      /** So many were refused for good, and the answer does not say which. */
      readonly refusedCount?: number;
      /** Something that the address says although it took the call, with its status. */
      readonly warning?: string;
    }
  /** Later, as they are. */
  | { readonly kind: 'retry'; readonly message: string; readonly afterMs?: number }
  /** Credentials or the address are wrong: later, when someone has mended them. */
  | { readonly kind: 'fault'; readonly message: string; readonly suspends?: true }
  /** One of the records is wrong, or there are too many of them. */
  | { readonly kind: 'rejected'; readonly message: string }
  /** The answer to another call decides. */
  | { readonly kind: 'next'; readonly call: OutboundCall; readonly afterMs: number };

/** A call that proves a connection. */
export interface TestStep {
  readonly call: OutboundCall;
  /** What is wrong, with the member to change; `undefined`: nothing. */
  readonly judge: (answer: CallAnswer) => string | undefined;
}

/** How records are put together to calls. */
export interface BatchLimits {
  readonly records: number;
  /** Of a body before it is compressed. */
  readonly bytes: number;
  /** How long the first record waits for others. */
  readonly gatherMs: number;
  readonly callMs: number;
  readonly callsAtOnce: number;
  /** Older records are dropped. Absent: as configured. */
  readonly ageMsMax?: number;
}

/** A destination with its configuration. */
export interface OpenDestination {
  /** The address that it calls, or one of its origin. */
  readonly url: string;
  /** For which secrets are stored, where several hosts of one vendor count as one. Absent: that of the address. */
  readonly origin?: string;
  readonly limits?: Partial<BatchLimits>;
  calls(
    batch: readonly ExportedGeneration[],
    nowMs: number,
  ): readonly OutboundCall[] | Promise<readonly OutboundCall[]>;
  judge(call: OutboundCall, answer: CallAnswer): Verdict;
  test(nowMs: number): readonly TestStep[] | Promise<readonly TestStep[]>;
}

/** What sends: a gateway among those of an operator, and one process of it. */
export interface Service {
  readonly name: string;
  readonly version: string;
  /** Of this process. */
  readonly instanceId: string;
  readonly region: string;
  /** `production`, say. Absent: the operator named none. */
  readonly environment?: string | undefined;
}

/** One kind of destination. Adding one is a folder and a line in `registry.ts`. */
export interface DestinationType {
  /** As callers write it. */
  readonly type: string;
  /** For people. */
  readonly label: string;
  readonly schema: z.ZodType<JsonObject>;
  /** Members of the configuration that are masked when it is shown: texts, or objects of texts. */
  readonly secrets: readonly string[];
  /** Bodies are sent as they are: they are signed, or the vendor's page says nothing of compressed ones. */
  readonly isUncompressed?: true;
  /** It receives spans of OpenTelemetry, and so a caller's decision to sample is its, too. */
  readonly isOtlp?: true;
  /** It exists to count money: it receives the cost unless that is turned off, and never content. */
  readonly isForSpending?: true;
  /** @throws ZodError when the configuration is not one of this kind */
  open(config: JsonObject, service: Service): OpenDestination;
}

/** A header that belongs to the connection, or to the gateway. */
export const RESERVED_HEADERS: ReadonlySet<string> = new Set(
  'host connection content-length content-type content-encoding transfer-encoding keep-alive upgrade te'.split(' '),
);
