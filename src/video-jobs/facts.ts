import type { Principal } from '../accounts/principal.ts';
import type { SpendLimit, Spent } from '../accounts/limits/spend-limit.ts';
import type { FormatId, Warning } from '../canonical/extra.ts';
import type { RouteReport } from '../canonical/route-report.ts';
import type { VideoFacts, VideoOperation } from '../canonical/video.ts';
import type { Endpoint } from '../catalog/model.ts';
import { assert } from '../lib/assert.ts';
import { isJsonObject, parseJson } from '../lib/json.ts';
import type { Candidate } from '../routing/route-plan.ts';
import type { VideoCall } from '../wire/video/format.ts';
import type { AttemptRecord } from '../store/generations/generation-json.ts';

/** A clip at its provider: below its base URL, anywhere else, in the operator's bucket (`gs://`), or in an answer. */
export type ClipSource =
  | { readonly path: string }
  | { readonly url: string }
  | { readonly object: string }
  | { readonly inside: VideoCall; readonly member: string };

/** The endpoint that has a job, as it was when the job began: its price is the job's. */
export type JobEndpoint = Omit<Endpoint, 'supportedParameters' | 'tiersApart'>;

/** What is known of a job beside the columns of its row. It is kept sealed. */
export interface JobFacts {
  readonly version: 1;
  /** Its media are digests. */
  readonly request: VideoOperation;
  readonly principal: Principal;
  readonly endUserId: string;
  readonly limits: readonly SpendLimit[];
  /** The most that the job may cost. */
  readonly worst: Spent;
  readonly attempts: readonly AttemptRecord[];
  readonly warnings: readonly Warning[];
  readonly warningsDropped: number;
  /** Its times count from the request's arrival. */
  readonly report: RouteReport;
  /** Absent: no provider has accepted it. */
  readonly accepted?: AcceptedFacts;
  /** The clips, once there are some. */
  readonly clips?: readonly ClipSource[];
  /** How long they are together. */
  readonly durationMs?: number;
}

export interface AcceptedFacts {
  readonly endpoint: JobEndpoint;
  readonly format: FormatId;
  readonly credential?: { readonly id: string; readonly label: string };
  /** The index of the attempt. */
  readonly attempt: number;
  /** What the provider calls the job. */
  readonly jobId: string;
}

export function encodeFacts(facts: JobFacts): string {
  return JSON.stringify(facts);
}

export function decodeFacts(text: string): JobFacts {
  const value: unknown = parseJson(text);
  assert(isFacts(value), 'a job is read by the version that wrote it, or a later one');
  return value;
}

function isFacts(value: unknown): value is JobFacts {
  return isJsonObject(value) && value['version'] === 1;
}

export function acceptedBy({ endpoint, format, credential }: Candidate): Pick<AcceptedFacts, 'endpoint' | 'format'> {
  const { supportedParameters: _parameters, tiersApart: _tiers, ...kept } = endpoint;
  return { endpoint: kept, format, ...(credential !== undefined && { credential }) };
}

export function candidateOf({ endpoint, format, credential }: AcceptedFacts): Candidate {
  return { endpoint, format, ...(credential !== undefined && { credential }) };
}

/** Where nothing says how long clips of a model become. */
const DURATION_UNKNOWN_S = 15;

/** The longest clip that the request may become. */
export function longestS({ durationS }: Pick<VideoOperation, 'durationS'>, facts: VideoFacts = {}): number {
  return durationS ?? Math.max(...(facts.durations ?? []), facts.defaultDurationS ?? DURATION_UNKNOWN_S);
}

/** As long as the clip is made where its provider does not say. */
export function requestedS(operation: Pick<VideoOperation, 'durationS'>, facts: VideoFacts = {}): number {
  return operation.durationS ?? facts.defaultDurationS ?? longestS(operation, facts);
}

/** What is made, in the words of price lists, the most specific first. Empty: it is not known. */
export function variantsOf(
  { resolution, size, generateAudio }: Pick<VideoOperation, 'resolution' | 'size' | 'generateAudio'>,
  facts: VideoFacts = {},
): readonly string[] {
  const word = (resolution ?? resolutionOf(size) ?? facts.defaultResolution)?.toLowerCase();
  if (word === undefined) return [];
  if (generateAudio === undefined) return [word];
  return [`${word}_${generateAudio ? 'audio' : 'silent'}`, word];
}

const UHD_LINES = 2_160;

/** `1280x720` is `720p`. */
function resolutionOf(size: string | undefined): string | undefined {
  const lines = size === undefined ? [] : size.split('x').map(Number);
  if (lines.length !== 2) return undefined;
  const least = Math.min(...lines);
  return least === UHD_LINES ? '4k' : `${least}p`;
}
