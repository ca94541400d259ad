import type { SpooledFile } from '../files/spool.ts';
import type { AudioType } from './audio-type.ts';
import { id3Bytes, mp3FrameAt } from './mp3-frame.ts';

const MS_PER_SECOND = 1_000;
/** A day: what claims to be longer is not believed. */
const DURATION_MS_MAX = 86_400_000;
/** Where the first frame or the last page of a file is looked for. */
const SEARCHED_BYTES = 65_536;
/** Boxes of an MP4 file, or chunks of a WAV file, that are stepped over. */
const STEPS_MAX = 64;

/**
 * How long a sound is, ms, as its headers say; `undefined`: they do not. The headers are a stranger's: they bound what is
 * reserved, and no wav file is longer than its bytes allow.
 */
export async function audioDurationMs(file: SpooledFile, type: AudioType): Promise<number | undefined> {
  const read = READERS[type];
  const seconds = read === undefined ? undefined : await read(file).catch(() => undefined);
  if (seconds === undefined || !Number.isFinite(seconds) || seconds < 0) return undefined;
  const ms = Math.ceil(seconds * MS_PER_SECOND);
  return ms > DURATION_MS_MAX ? undefined : ms;
}

type Seconds = number | undefined;

const READERS: Readonly<Partial<Record<AudioType, (file: SpooledFile) => Promise<Seconds>>>> = {
  wav: readWav,
  mp3: readMp3,
  flac: readFlac,
  ogg: readOgg,
  mp4: readMp4,
  webm: readWebm,
};

/** The size of `data` may be a lie, or unknown (ffffffff) in a stream: no more counts than there is. */
async function readWav(file: SpooledFile): Promise<Seconds> {
  let at = 12;
  let bytesPerSecond = 0;
  for (let step = 0; step < STEPS_MAX; step++) {
    const chunk = await file.read(at, 20);
    if (chunk.length < 8) return undefined;
    const name = chunk.toString('latin1', 0, 4);
    const size = chunk.readUInt32LE(4);
    if (name === 'fmt ' && chunk.length === 20) bytesPerSecond = chunk.readUInt32LE(16);
    if (name === 'data')
      return bytesPerSecond === 0 ? undefined : Math.min(size, Math.max(0, file.bytes - at - 8)) / bytesPerSecond;
    at += 8 + size + (size & 1);
  }
  return undefined;
}

/** A header of all frames where there is one, else as if each had the size of the first. */
async function readMp3(file: SpooledFile): Promise<Seconds> {
  const tagBytes = id3Bytes(file.head);
  const head = await file.read(tagBytes, SEARCHED_BYTES);
  for (let at = 0; at < head.length - 4; at++) {
    const frame = mp3FrameAt(head, at);
    if (frame === undefined || mp3FrameAt(head, at + frame.bytes) === undefined) continue;
    const mark = head.subarray(at, at + frame.bytes);
    const frames = xingFrames(mark) ?? vbriFrames(mark) ?? (file.bytes - tagBytes - at) / frame.bytes;
    return (frames * frame.samples) / frame.sampleRate;
  }
  return undefined;
}

function xingFrames(frame: Buffer): number | undefined {
  const at = Math.max(frame.indexOf('Xing'), frame.indexOf('Info'));
  if (at < 0 || at + 12 > frame.length || (frame.readUInt32BE(at + 4) & 1) === 0) return undefined;
  return frame.readUInt32BE(at + 8);
}

function vbriFrames(frame: Buffer): number | undefined {
  const at = frame.indexOf('VBRI');
  return at < 0 || at + 18 > frame.length ? undefined : frame.readUInt32BE(at + 14);
}

/** 20 bits of the rate, and 36 of the number of samples. @source RFC 9639, 8.2 */
async function readFlac(file: SpooledFile): Promise<Seconds> {
  const info = await file.read(18, 8);
  if (info.length < 8) return undefined;
  const sampleRate = info.readUIntBE(0, 3) >> 4;
  const samples = (info.readUInt8(3) & 15) * 2 ** 32 + info.readUInt32BE(4);
  return sampleRate === 0 || samples === 0 ? undefined : samples / sampleRate;
}

const OPUS_RATE = 48_000;

/** The position of the last page. @source RFC 3533, 6; RFC 7845, 4 */
async function readOgg(file: SpooledFile): Promise<Seconds> {
  const { head } = file;
  const opusAt = head.subarray(0, SEARCHED_BYTES).indexOf('OpusHead');
  const vorbisAt = head.subarray(0, SEARCHED_BYTES).indexOf('\u0001vorbis', 0, 'latin1');
  const isOpus = opusAt >= 0;
  if (!isOpus && vorbisAt < 0) return undefined;
  const sampleRate = isOpus ? OPUS_RATE : head.readUInt32LE(vorbisAt + 12);
  const skipped = isOpus ? head.readUInt16LE(opusAt + 10) : 0;
  const tail = await file.read(Math.max(0, file.bytes - SEARCHED_BYTES), SEARCHED_BYTES);
  const at = tail.lastIndexOf('OggS');
  if (at < 0 || at + 14 > tail.length) return undefined;
  const position = Number(tail.readBigUInt64LE(at + 6));
  return Math.max(0, position - skipped) / sampleRate;
}

/** The header of the movie, which stands before or behind the sound. @source ISO/IEC 14496-12, 8.2.2 */
async function readMp4(file: SpooledFile): Promise<Seconds> {
  let at = 0;
  for (let step = 0; step < STEPS_MAX; step++) {
    const box = await file.read(at, 16);
    if (box.length < 16) return undefined;
    const name = box.toString('latin1', 4, 8);
    const small = box.readUInt32BE(0);
    const size = small === 1 ? Number(box.readBigUInt64BE(8)) : small;
    if (name === 'moov') at += small === 1 ? 16 : 8;
    else if (name === 'mvhd') return readMovieHeader(await file.read(at + 8, 32));
    else if (size < 8) return undefined;
    else at += size;
  }
  return undefined;
}

function readMovieHeader(header: Buffer): Seconds {
  const isLong = header.readUInt8(0) === 1;
  const scale = header.readUInt32BE(isLong ? 20 : 12);
  const duration = isLong ? Number(header.readBigUInt64BE(24)) : header.readUInt32BE(16);
  return scale === 0 || duration === 0 || duration === 0xffff_ffff ? undefined : duration / scale;
}

const NS_PER_SECOND = 1e9;
const NS_PER_TICK_DEFAULT = 1_000_000;

/** `Duration` in ticks of `TimestampScale`. Recordings of browsers have none. @source RFC 9559, 5.1.2 */
async function readWebm(file: SpooledFile): Promise<Seconds> {
  const head = file.head.subarray(0, SEARCHED_BYTES);
  const durationAt = head.indexOf(Buffer.from([0x44, 0x89]));
  if (durationAt < 0) return await Promise.resolve(undefined);
  const isDouble = head[durationAt + 2] === 0x88;
  if (!isDouble && head[durationAt + 2] !== 0x84) return undefined;
  const ticks = isDouble ? head.readDoubleBE(durationAt + 3) : head.readFloatBE(durationAt + 3);
  const scaleAt = head.indexOf(Buffer.from([0x2a, 0xd7, 0xb1, 0x83]));
  const scale = scaleAt < 0 ? NS_PER_TICK_DEFAULT : head.readUIntBE(scaleAt + 4, 3);
  return (ticks * scale) / NS_PER_SECOND;
}
