import type { OperationFormatId, Warning } from '../../canonical/extra.ts';
import type { UpstreamErrorBody } from '../../canonical/failure/failure.ts';
import type { TranscriptFormat, TranscriptionOperation } from '../../canonical/transcription.ts';
import type { ByteSource } from '../../lib/files/spool.ts';
import type { FollowJob } from '../operations/job.ts';
import type { ProviderOptions } from '../provider-options.ts';
import type { Transcript, TranscriptEvent } from './transcript.ts';

/** Where a sound goes. */
export interface TranscriptionTarget {
  /** The upstream's own name of the model. */
  readonly model: string;
  /** In which it is to answer: the caller's, or one from which the gateway makes that. */
  readonly answersIn: TranscriptFormat;
  /** Whether it is to send the transcript as it is made. */
  readonly stream: boolean;
  /** What the caller has for this provider alone. */
  readonly options: ProviderOptions;
}

export interface EncodedTranscription {
  /** Below the provider's base URL, with the query. */
  readonly path: string;
  readonly source: ByteSource & { readonly contentType: string };
  /** Its vendor makes transcripts in jobs: what follows on each answer. Absent: the first one is the transcript. */
  readonly follow?: FollowJob<undefined>;
  readonly warnings: readonly Warning[];
}

/** A format in which upstreams turn sound into text. */
export interface TranscriptionFormat {
  readonly id: OperationFormatId;
  /** It can send the transcript as it is made. */
  readonly streams: boolean;
  encode(operation: TranscriptionOperation, target: TranscriptionTarget): EncodedTranscription;
  /** An answer of status 200; `undefined`: it is none. */
  decode(text: string, answersIn: TranscriptFormat): Transcript | undefined;
  /** The data of one server-sent event; `undefined`: it says nothing. */
  decodeEvent(data: string): TranscriptEvent | undefined;
  decodeError(text: string): UpstreamErrorBody;
}
