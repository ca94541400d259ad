import type { ServerResponse } from 'node:http';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { WAV_HEAD_BYTES, wavHead } from '../lib/audio/wav.ts';
import { isJsonObject, type Json } from '../lib/json.ts';
import { Refusal } from './refusal.ts';

/** The model that speaks. */
export const SPEECH = 'speech';
export const SANDBOX_VOICES = ['one', 'two'] as const;
export const SANDBOX_SPEECH_FORMATS = ['pcm', 'wav', 'mp3'] as const;
type Format = (typeof SANDBOX_SPEECH_FORMATS)[number];

const INPUT_CHARS_MAX = 4_096;
const SAMPLE_RATE = 24_000;
const CHARACTER_MS = 80;
const SAMPLES = (SAMPLE_RATE * CHARACTER_MS) / 1_000;
const AMPLITUDE = 8_000;
const EVERY_MS_MAX = 10_000;
/** Notes of two octaves. */
const NOTES = 24;
const LOWEST_HZ = { one: 220, two: 330 } as const;

/** The answer of `POST /v1/audio/speech`: a tone for each character. @throws Refusal */
export async function speak(body: Json | undefined, response: ServerResponse, signal: AbortSignal): Promise<void> {
  const { input, voice, format, everyMs } = readRequest(body);
  response.writeHead(200, { 'content-type': TYPES[format] });
  for (const piece of piecesOf(input, voice, format)) {
    if (everyMs > 0) await sleep(everyMs, undefined, { signal });
    if (!response.write(piece)) await once(response, 'drain', { signal });
  }
  response.end();
}

const TYPES: Readonly<Record<Format, string>> = {
  pcm: `audio/pcm;rate=${SAMPLE_RATE};channels=1`,
  wav: 'audio/wav',
  mp3: 'audio/mpeg',
};

interface SpeechRequest {
  readonly input: string;
  readonly voice: (typeof SANDBOX_VOICES)[number];
  readonly format: Format;
  readonly everyMs: number;
}

function readRequest(body: Json | undefined): SpeechRequest {
  if (!isJsonObject(body)) throw new Refusal(400, 'We could not parse the JSON body of your request.');
  const { model, input, voice = 'one', response_format: format = 'mp3' } = body;
  refuseModel(model, SPEECH);
  if (typeof input !== 'string' || input === '' || input.length > INPUT_CHARS_MAX)
    throw new Refusal(400, `input: must have 1 to ${INPUT_CHARS_MAX} characters.`);
  const knownVoice = SANDBOX_VOICES.find((one) => one === voice);
  if (knownVoice === undefined) throw new Refusal(400, `voice: must be ${SANDBOX_VOICES.join(' or ')}.`);
  const known = SANDBOX_SPEECH_FORMATS.find((one) => one === format);
  if (known === undefined) throw new Refusal(400, `response_format: must be ${SANDBOX_SPEECH_FORMATS.join(', ')}.`);
  const everyMs = Number(/\bevery=(\d{1,5})/.exec(input)?.[1] ?? 0);
  return { input, voice: knownVoice, format: known, everyMs: Math.min(everyMs, EVERY_MS_MAX) };
}

/** @throws Refusal for another model, or the status that its name says */
export function refuseModel(model: unknown, expected: string): void {
  const name = typeof model === 'string' ? model.replace(/^sandbox\//, '') : '';
  const error = /^error-([45]\d\d)$/.exec(name);
  if (error !== null) throw new Refusal(Number(error[1]), 'The request was refused.');
  if (name !== expected)
    throw new Refusal(404, `The model \`${name.slice(0, 100)}\` does not exist.`, { code: 'model_not_found' });
}

function* piecesOf(input: string, voice: SpeechRequest['voice'], format: Format): Generator<Buffer> {
  const characters = Array.from(input);
  if (format === 'mp3') {
    yield id3Comment(input);
    for (let at = 0; at < characters.length; at++) yield MP3_OF_CHARACTER;
    return;
  }
  if (format === 'wav') yield wavWithComment(input, characters.length * SAMPLES * 2);
  for (const character of characters) yield tone(LOWEST_HZ[voice], character);
}

function tone(lowestHz: number, character: string): Buffer {
  const hz = lowestHz * 2 ** (((character.codePointAt(0) ?? 0) % NOTES) / 12);
  const samples = Buffer.alloc(SAMPLES * 2);
  for (let at = 0; at < SAMPLES; at++)
    samples.writeInt16LE(Math.round(AMPLITUDE * Math.sin((2 * Math.PI * hz * at) / SAMPLE_RATE)), at * 2);
  return samples;
}

/** The text stands in a comment, so that `sandbox/transcribe` finds it again. @source Microsoft RIFF, "INFO List Chunk" */
function wavWithComment(text: string, soundBytes: number): Buffer {
  const comment = Buffer.from(`${text}\0`);
  const padded = comment.length + (comment.length & 1);
  const list = Buffer.alloc(20 + padded);
  list.write('LIST', 0, 'latin1');
  list.writeUInt32LE(12 + padded, 4);
  list.write('INFOICMT', 8, 'latin1');
  list.writeUInt32LE(comment.length, 16);
  comment.copy(list, 20);
  const head = wavHead({ sampleRate: SAMPLE_RATE }, soundBytes);
  head.writeUInt32LE(WAV_HEAD_BYTES - 8 + list.length + soundBytes, 4);
  return Buffer.concat([head.subarray(0, WAV_HEAD_BYTES - 8), list, head.subarray(WAV_HEAD_BYTES - 8)]);
}

/** A comment in UTF-8. @source id3.org, "ID3v2.4.0 Native Frames", 4.10 */
function id3Comment(text: string): Buffer {
  const content = Buffer.concat([Buffer.from([3]), Buffer.from('eng\0'), Buffer.from(text)]);
  const frame = Buffer.concat([Buffer.from('COMM'), synchsafe(content.length), Buffer.from([0, 0]), content]);
  return Buffer.concat([Buffer.from('ID3'), Buffer.from([4, 0, 0]), synchsafe(frame.length), frame]);
}

function synchsafe(value: number): Buffer {
  return Buffer.from([(value >> 21) & 127, (value >> 14) & 127, (value >> 7) & 127, value & 127]);
}

/** Frames of silence, MPEG 2, 32 kbit/s, 24 kHz, 24 ms each: as many as come nearest to a character. */
const MP3_OF_CHARACTER = ((): Buffer => {
  const frame = Buffer.alloc(96);
  frame.writeUInt32BE(0xff_f3_44_c0);
  return Buffer.concat([frame, frame, frame]);
})();
