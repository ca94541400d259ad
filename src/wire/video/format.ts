import type { OperationFormatId, Warning } from '../../canonical/extra.ts';
import type { UpstreamErrorBody } from '../../canonical/failure/failure.ts';
import type { VideoOperation } from '../../canonical/video.ts';
import type { JsonObject } from '../../lib/json.ts';

/** The formats in which upstreams make clips: a folder each. */
export type VideoFormatId = Extract<OperationFormatId, `video/${string}`>;

export interface VideoTarget {
  /** The upstream's own name of the model. */
  readonly model: string;
  /** The provider's slug, by which callers address members to it. */
  readonly provider: string;
  /** Hash of account and end user. */
  readonly endUserId: string;
  /** The operator's own, into which clips are to be written: `gs://name/folder`. */
  readonly bucket?: string;
}

/** A call of an upstream, below the provider's base URL. */
export interface VideoCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: JsonObject;
}

export interface EncodedVideo extends VideoCall {
  readonly body: JsonObject;
  readonly warnings: readonly Warning[];
}

/** A clip as the upstream gives it: its address, or the call whose answer it stands in. */
export type Clip = { readonly url: string } | { readonly inside: VideoCall };

/** How a job stands at its upstream. */
export type UpstreamJob =
  | {
      /** `unknown`: a word that is not known here; the job stays as it is. */
      readonly state: 'pending' | 'in_progress' | 'unknown';
      /** Per cent. */
      readonly progress?: number;
      readonly nativeState?: string;
    }
  | {
      readonly state: 'completed';
      readonly clips: readonly Clip[];
      /** Of all clips, as the upstream says. */
      readonly durationMs?: number;
      readonly nativeState?: string;
    }
  | {
      readonly state: 'failed';
      /** The upstream's own words; absent: it gave no reason. */
      readonly message?: string;
      readonly isModerated: boolean;
      readonly nativeState?: string;
    }
  | { readonly state: 'cancelled' | 'expired'; readonly nativeState?: string }
  /** It is over, and its result stands elsewhere. */
  | { readonly state: 'ready'; readonly result: VideoCall };

/** A format in which upstreams make clips, each in a job. It sees no key, no store and no caller. */
export interface VideoFormat {
  readonly id: VideoFormatId;
  /** @throws GatewayError 400 for what it cannot say, which fails this attempt alone */
  encode(operation: VideoOperation, target: VideoTarget): EncodedVideo;
  /** The name of an accepted job. @throws UnreadableVideo for what is no answer */
  decodeAccepted(body: JsonObject): string;
  poll(jobId: string): VideoCall;
  /** @param body `undefined`: the answer had none. @throws UnreadableVideo for what is no answer */
  decodeJob(status: number, body: JsonObject | undefined): UpstreamJob;
  /** The clip may stand in the answer to a look, as the base64 text of the member with this name. */
  readonly clipMember?: string;
  /** Absent: a job cannot be cancelled. */
  cancel?(jobId: string): VideoCall;
  decodeError(text: string): UpstreamErrorBody;
}

/** What an upstream sent is no answer of its format. */
export class UnreadableVideo extends Error {
  override readonly name = 'UnreadableVideo';
}
