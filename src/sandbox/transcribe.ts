import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { audioDurationMs } from '../lib/audio/audio-duration.ts';
import { audioTypeOf } from '../lib/audio/audio-type.ts';
import { fileInMemory } from '../lib/files/spool.ts';
import { Refusal } from './refusal.ts';
import { refuseModel } from './speech.ts';

/** The model that hears. */
export const TRANSCRIBE = 'transcribe';

const MS_PER_SECOND = 1_000;
/** A comment that `sandbox/speech` left stands at the beginning. */
const SEARCHED_BYTES = 65_536;

/** The answer of `POST /v1/audio/transcriptions` and `translations`. @throws Refusal */
export async function transcribe(
  {
    request,
    response,
    bytes,
  }: { readonly request: IncomingMessage; readonly response: ServerResponse; readonly bytes: Uint8Array },
  task: 'transcribe' | 'translate',
): Promise<void> {
  const form = await readForm(request, bytes);
  const text = (name: string): string | undefined => {
    const value = form.get(name);
    return typeof value === 'string' ? value : undefined;
  };
  refuseModel(text('model'), TRANSCRIBE);
  const file = form.get('file');
  if (!(file instanceof Blob)) throw new Refusal(400, 'file: is required.');
  const heard = await hear(Buffer.from(await file.arrayBuffer()));
  const language = task === 'translate' ? 'english' : (text('language') ?? 'en');
  if (text('stream') === 'true') return sendEvents(response, heard);
  const granularities = form.getAll('timestamp_granularities[]').map(String);
  const { type, body } = encode(heard, text('response_format') ?? 'json', { task, language, granularities });
  response.writeHead(200, { 'content-type': type }).end(body);
  return undefined;
}

async function readForm({ headers }: IncomingMessage, bytes: Uint8Array): Promise<FormData> {
  const { 'content-type': type = '' } = headers;
  try {
    return await new Response(Buffer.from(bytes), { headers: { 'content-type': type } }).formData();
  } catch {
    throw new Refusal(400, 'We could not parse the form of your request.');
  }
}

interface Heard {
  readonly text: string;
  /** Seconds. */
  readonly duration: number;
}

async function hear(sound: Buffer): Promise<Heard> {
  const type = audioTypeOf(sound);
  if (type === undefined) throw new Refusal(400, 'file: the format of the sound is not supported.');
  const ms = (await audioDurationMs(fileInMemory(sound), type)) ?? 0;
  const duration = ms / MS_PER_SECOND;
  const digest = createHash('sha256').update(sound).digest('hex').slice(0, 8);
  return { text: commentOf(sound) ?? `Audio of ${duration} seconds, ${type}, ${digest}`, duration };
}

function commentOf(sound: Buffer): string | undefined {
  const head = sound.subarray(0, SEARCHED_BYTES);
  const wav = head.indexOf('INFOICMT');
  if (wav >= 0) return head.toString('utf8', wav + 12, wav + 12 + head.readUInt32LE(wav + 8) - 1);
  const mp3 = head.indexOf('COMM');
  if (mp3 !== 10) return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = head.subarray(14, 18);
  return head.toString('utf8', 25, 20 + (a << 21) + (b << 14) + (c << 7) + d);
}

interface Wanted {
  readonly task: 'transcribe' | 'translate';
  readonly language: string;
  readonly granularities: readonly string[];
}

function encode(
  { text, duration }: Heard,
  format: string,
  wanted: Wanted,
): { readonly type: string; readonly body: string } {
  const usage = { type: 'duration', seconds: duration };
  const segment = { start: 0, end: duration, text };
  switch (format) {
    case 'text':
      return { type: 'text/plain; charset=utf-8', body: text };
    case 'srt':
      return { type: 'text/plain; charset=utf-8', body: `1\n00:00:00,000 --> ${clock(duration, ',')}\n${text}\n` };
    case 'vtt':
      return { type: 'text/vtt; charset=utf-8', body: `WEBVTT\n\n00:00:00.000 --> ${clock(duration, '.')}\n${text}\n` };
    case 'verbose_json': {
      const { task, language, granularities } = wanted;
      const whole = {
        id: 0,
        seek: 0,
        ...segment,
        tokens: [],
        temperature: 0,
        avg_logprob: 0,
        compression_ratio: 1,
        no_speech_prob: 0,
      };
      const words = granularities.includes('word') ? { words: spread(text, duration) } : {};
      return json({ task, language, duration, text, segments: [whole], ...words, usage });
    }
    case 'diarized_json':
      return json({
        task: 'transcribe',
        duration,
        text,
        segments: [{ type: 'transcript.text.segment', id: 'seg_0', ...segment, speaker: 'A' }],
        usage,
      });
    case 'json':
      return json({ text, usage });
    default:
      throw new Refusal(400, 'response_format: is not supported.');
  }
}

function json(value: object): { readonly type: string; readonly body: string } {
  return { type: 'application/json', body: JSON.stringify(value) };
}

/** Every word takes the same time. */
function spread(text: string, duration: number): readonly object[] {
  const words = text.split(/\s+/).filter((word) => word !== '');
  const each = duration / words.length;
  return words.map((word, at) => ({ word, start: at * each, end: (at + 1) * each }));
}

function clock(seconds: number, mark: string): string {
  const date = new Date(Math.round(seconds * MS_PER_SECOND)).toISOString();
  return `${date.slice(11, 19)}${mark}${date.slice(20, 23)}`;
}

function sendEvents(response: ServerResponse, { text, duration }: Heard): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const delta of text.split(/(?<= )/))
    response.write(`data: ${JSON.stringify({ type: 'transcript.text.delta', delta })}\n\n`);
  const usage = { type: 'duration', seconds: duration };
  response.end(`data: ${JSON.stringify({ type: 'transcript.text.done', text, usage })}\n\ndata: [DONE]\n\n`);
}
