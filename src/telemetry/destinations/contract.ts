import type { z } from 'zod';
import type { JsonObject } from '../../lib/json.ts';
import type { GenerationContent } from '../serialize-content.ts';

/** A completed generation as destinations receive it. Times are Unix ms, money is nano-USD. */
export interface ExportedGeneration {
  readonly id: string;
  readonly startMs: number;
  /** First content; absent: there was none. */
  readonly firstTokenMs?: number;
  readonly endMs: number;
  readonly modelRequested: string;
  readonly model: string;
  /** Slug; absent: none was reached. */
  readonly provider?: string;
  readonly format: string;
  readonly streamed: boolean;
  readonly cancelled: boolean;
  readonly status: number;
  readonly error?: { readonly type: string; readonly message: string };
  readonly finishReason?: string;
  readonly tokens: {
    readonly prompt: number;
    readonly completion: number;
    readonly cacheRead: number;
    readonly cacheWrite: number;
    readonly reasoning?: number;
    readonly estimated: boolean;
  };
  /** The settings of the request, as far as the record has them. */
  readonly settings: { readonly maxTokens?: number; readonly temperature?: number; readonly topP?: number };
  readonly sessionId?: string;
  /** Hash of account and end user. */
  readonly endUserId?: string;
  /** The caller's own `trace` object. */
  readonly trace: JsonObject;
  /** `null`: the price is unknown. */
  readonly costNanoUsd: number | null;
  readonly identity: {
    readonly keyHash: string;
    readonly keyName?: string;
    readonly workspaceId: string;
    readonly memberId?: string;
  };
  readonly context: {
    readonly appUrl?: string;
    readonly appTitle?: string;
    readonly userAgent?: string;
    readonly region: string;
    readonly attempts: number;
    readonly strategy: string;
  };
  /** Where the workspace keeps what is said. */
  readonly content?: GenerationContent;
}

/** The optional parts of a generation that a destination receives. */
export interface IncludedParts {
  readonly cost: boolean;
  readonly identity: boolean;
  readonly requestContext: boolean;
  readonly content: boolean;
}

/** One call that hands generations over. */
export interface OutboundPost {
  readonly url: string;
  readonly method: 'POST' | 'PUT';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A destination with its configuration. */
export interface OpenDestination {
  serialize(batch: readonly ExportedGeneration[], included: IncludedParts, nowMs: number): OutboundPost;
  /** A call without a record. 2xx and 400 prove that the destination exists. @spec destination-12 */
  serializeTest(nowMs: number): OutboundPost;
  /** Every address that it calls. */
  readonly url: string;
}

/** One kind of destination. Adding one is a folder and a line in `registry.ts`. */
export interface DestinationType {
  /** As callers write it. */
  readonly type: string;
  readonly schema: z.ZodType<JsonObject>;
  /** Members of the configuration that are masked when it is shown: texts, or objects of texts. */
  readonly secrets: readonly string[];
  /** @throws ZodError when the configuration is not one of this kind */
  open(config: JsonObject): OpenDestination;
}

/** A header that belongs to the connection, or to the gateway. */
export const RESERVED_HEADERS: ReadonlySet<string> = new Set(
  'host connection content-length content-type content-encoding transfer-encoding keep-alive upgrade te'.split(' '),
);
