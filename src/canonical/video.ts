import type { JsonObject } from '../lib/json.ts';
import type { Directives } from './directives.ts';
import type { Warning } from './extra.ts';

/** Where a picture stands in a clip. */
export type FrameType = 'first_frame' | 'last_frame';

/** What a clip is made from, at its path in the request. */
interface VideoInput {
  readonly path: string;
  /** An address, or the id of a stored file; once it was fetched, a data URL. */
  readonly url: string;
}

/** A picture, a sound or a clip that stands in a request. */
export interface VideoReference extends VideoInput {
  readonly media: 'image' | 'audio' | 'video';
}

export interface VideoFrame extends VideoInput {
  readonly type: FrameType;
}

/** How the caller reads jobs: as the gateway shows them, or as OpenAI's client does. */
export type VideoClientShape = 'gateway' | 'vendor';

/** A request for a clip. It becomes a job. */
export interface VideoOperation {
  readonly kind: 'video';
  readonly delivery: 'whole';
  /** Absent: the pictures say it all. */
  readonly prompt?: string;
  /** Seconds. Absent: the model's own. */
  readonly durationS?: number;
  /** `720p`. */
  readonly resolution?: string;
  /** `16:9`. */
  readonly aspectRatio?: string;
  /** `1280x720`, in place of the two. */
  readonly size?: string;
  readonly frames: readonly VideoFrame[];
  readonly references: readonly VideoReference[];
  readonly generateAudio?: boolean;
  readonly seed?: number;
  readonly upscaleFactor?: number;
  readonly creativity?: number;
  /** Is called once the job is over. */
  readonly callbackUrl?: string;
  readonly shape: VideoClientShape;
  /** Members for single providers, by slug. */
  readonly providerOptions?: Readonly<Record<string, JsonObject>>;
  /** For the gateway itself, never sent upstream. */
  readonly directives: Directives;
  readonly warnings: readonly Warning[];
}

/** What is known of a model that makes clips, at one provider. Absent: unknown, which excludes nothing. */
export interface VideoFacts {
  /** Seconds. */
  readonly durations?: readonly number[];
  readonly resolutions?: readonly string[];
  readonly aspectRatios?: readonly string[];
  readonly sizes?: readonly string[];
  /** Frames that it takes; a last one without a first: only where no first one is named. */
  readonly frames?: readonly FrameType[];
  readonly references?: readonly VideoReference['media'][];
  readonly generateAudio?: boolean;
  readonly seed?: boolean;
  readonly upscaleFactor?: boolean;
  readonly creativity?: readonly number[];
  /** Seconds. */
  readonly defaultDurationS?: number;
  readonly defaultResolution?: string;
}
