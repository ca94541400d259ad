import { invalid } from '../../canonical/gateway-error.ts';
import type { AudioFile } from '../../canonical/audio.ts';
import { audioDurationMs } from '../../lib/audio/audio-duration.ts';
import { audioTypeOf } from '../../lib/audio/audio-type.ts';
import { wavHead } from '../../lib/audio/wav.ts';
import { fileInMemory, type SpooledFile } from '../../lib/files/spool.ts';
import { isJsonObject, type Json } from '../../lib/json.ts';
import type { FormFile } from '../form/read-form-body.ts';

/** Shorter sounds say nothing. */
const DURATION_MS_MIN = 10;
/** Samples without a head are these: 16 bits, one channel. */
const PCM16 = { sampleRate: 24_000 } as const;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** The sound of a transcription: the file of a form, or `input_audio` of a body in JSON. @throws GatewayError 400 */
export function readAudio(body: Json, files: readonly FormFile[], isForm: boolean): Promise<AudioFile> {
  if (!isForm) return readInputAudio(isJsonObject(body) ? body['input_audio'] : undefined);
  const file = files.find(({ field }) => field === 'file')?.file;
  if (file === undefined) throw invalid('file', 'is required');
  return describe(file, 'file');
}

function readInputAudio(audio: Json | undefined): Promise<AudioFile> {
  if (audio === undefined || audio === null) throw invalid('input_audio', 'is required');
  if (!isJsonObject(audio)) throw invalid('input_audio', 'must be an object with data and format');
  const { data, format } = audio;
  const path = 'input_audio.data';
  if (typeof data !== 'string') throw invalid(path, 'must be a text: the sound as base64');
  if (data.startsWith('data:')) throw invalid(path, 'must be base64 alone, without "data:" before it');
  if (!BASE64.test(data)) throw invalid(path, 'is not base64');
  if (typeof format !== 'string') throw invalid('input_audio.format', 'must be a text such as "wav"');
  const bytes = Buffer.from(data, 'base64');
  const isRaw = format === 'pcm16' && bytes.length > 0;
  return describe(fileInMemory(isRaw ? Buffer.concat([wavHead(PCM16, bytes.length), bytes]) : bytes), path);
}

async function describe(file: SpooledFile, path: string): Promise<AudioFile> {
  if (file.bytes === 0) throw invalid(path, 'is empty');
  const type = audioTypeOf(file.head);
  if (type === undefined)
    throw invalid(path, 'is no sound that is known here: wav, mp3, flac, ogg, webm, mp4, aac, amr or caf');
  const durationMs = await audioDurationMs(file, type);
  if (durationMs !== undefined && durationMs < DURATION_MS_MIN)
    throw invalid(path, `is shorter than ${DURATION_MS_MIN} ms`);
  return { file, type, ...(durationMs !== undefined && { durationMs }) };
}
