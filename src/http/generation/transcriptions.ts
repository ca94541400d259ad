import type { TranscriptionOperation } from '../../canonical/transcription.ts';
import type { RunOperation } from '../../pipeline/operation/operation-request.ts';
import { decodeTranscription, TRANSCRIPTION_FIELDS } from '../../wire/speech-to-text/request-in.ts';
import { encodeOperationError } from '../../wire/operations/operation-error.ts';
import type { FormBodyDeps } from '../form/read-form-body.ts';
import { withFullNames } from './apply-preset.ts';
import { NodeCaller } from './node-caller.ts';
import { readAudio } from './read-audio.ts';
import { createBodyRoute, type BodyRouteDeps, type RawHandler } from './route.ts';

export interface TranscriptionsRouteDeps extends BodyRouteDeps {
  readonly run: RunOperation<TranscriptionOperation>;
  readonly formBodies: FormBodyDeps;
  /** Of requests that name none. */
  readonly defaultModel: string | undefined;
  /** The slug that a model's name stands for. */
  readonly rename: (name: string) => string;
}

/** As much as vendors take. */
const AUDIO_FILE_BYTES_MAX = 26_214_400;
const RULES = { filesMax: 1, fileBytesMax: AUDIO_FILE_BYTES_MAX, fileFields: new Set(['file']) };
const CALLER = { id: 'stt', encodeError: encodeOperationError, requestIdHeader: 'x-request-id' } as const;

/** `POST /audio/transcriptions` and `POST /audio/translations`. */
export function createTranscriptionsRoute(
  deps: TranscriptionsRouteDeps,
  task: TranscriptionOperation['task'],
): RawHandler {
  const forms = { ...deps.formBodies, rules: RULES, types: TRANSCRIPTION_FIELDS };
  return createBodyRoute(CALLER, { ...deps, forms }, async (admitted, response, arrivedMs) => {
    const { id, principal, place, body, text, files, isForm, turns, headers } = admitted;
    const audio = await readAudio(body, files, isForm);
    const sent = { body, text, headers, audio, task, isForm, defaultModel: deps.defaultModel };
    const request = withFullNames(decodeTranscription(sent), deps.rename);
    const incoming = { id, request, principal, arrivedMs, place, isLarge: turns !== undefined };
    await deps.run(incoming, new NodeCaller(response, CALLER, deps.unread));
  });
}
