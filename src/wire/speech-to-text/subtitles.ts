import type { TranscriptSegment } from './transcript.ts';

const MS_PER_SECOND = 1_000;
const SECONDS_PER_MINUTE = 60;
const MINUTES_PER_HOUR = 60;

/** SubRip: numbered, with a comma in times. */
export function toSrt(segments: readonly TranscriptSegment[]): string {
  return segments
    .map(({ start, end, text }, at) => `${at + 1}\n${time(start, ',')} --> ${time(end, ',')}\n${oneBlock(text)}\n`)
    .join('\n');
}

/** @source W3C WebVTT, 4.1 */
export function toVtt(segments: readonly TranscriptSegment[]): string {
  const cues = segments.map(({ start, end, text }) => `${time(start, '.')} --> ${time(end, '.')}\n${oneBlock(text)}\n`);
  return ['WEBVTT\n', ...cues].join('\n');
}

/** Where the lines stand that are read, in subtitles of either form: neither numbers and names of cues nor their times. */
export function subtitleLines(subtitles: string): readonly { readonly start: number; readonly end: number }[] {
  const lines = [...subtitles.matchAll(/[^\r\n]+/g)].map(({ 0: line, index }) => ({ line, start: index }));
  return lines.flatMap(({ line, start }, at) => {
    const isHead = at === 0 && line.startsWith('WEBVTT');
    const isTime = line.includes(ARROW);
    const isName = lines[at + 1]?.line.includes(ARROW) === true && isBlankBefore(subtitles, start);
    return isHead || isTime || isName || line.trim() === '' ? [] : [{ start, end: start + line.length }];
  });
}

const ARROW = '-->';

/** A name of a cue begins its block; the last line of a block that no blank line ends does not. */
function isBlankBefore(text: string, at: number): boolean {
  return at === 0 || /(?:\r\n|\n|\r)[^\S\r\n]*(?:\r\n|\n|\r)$/.test(text.slice(Math.max(0, at - 8), at));
}

/** A blank line would end the block. */
function oneBlock(text: string): string {
  return text.trim().replaceAll(/\n\s*\n/g, '\n');
}

function time(seconds: number, mark: ',' | '.'): string {
  const allMs = Math.max(0, Math.round(seconds * MS_PER_SECOND));
  const allSeconds = Math.floor(allMs / MS_PER_SECOND);
  const allMinutes = Math.floor(allSeconds / SECONDS_PER_MINUTE);
  const two = (value: number): string => String(value).padStart(2, '0');
  const clock = [
    Math.floor(allMinutes / MINUTES_PER_HOUR),
    allMinutes % MINUTES_PER_HOUR,
    allSeconds % SECONDS_PER_MINUTE,
  ];
  return `${clock.map(two).join(':')}${mark}${String(allMs % MS_PER_SECOND).padStart(3, '0')}`;
}
