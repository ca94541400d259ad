import type { JsonObject } from '../../../lib/json.ts';

/**
 * Writes the events of one stream. Their numbers rise by one from 0, whatever they are. Silent for a response that is
 * written as a whole: the same code adds it up, and only its sum counts.
 */
export class EventFrames {
  readonly #isSilent: boolean;
  #next: number;

  /** @param first number of the first event @param isSilent nothing is written */
  constructor(first: number, isSilent: boolean) {
    this.#next = first;
    this.#isSilent = isSilent;
  }

  /** @param type without `response.` @param members behind the type and the number */
  event(type: string, members: JsonObject): string {
    return this.#isSilent ? '' : encodeEvent(type, this.#next++, members);
  }

  /** The deltas of one part: `delta` is appended to an event that is the same but for its number. */
  deltas(type: string, members: JsonObject, behind: string): DeltaFrames {
    const head = `event: response.${type}\ndata: {"type":"response.${type}","sequence_number":`;
    const middle = `,${JSON.stringify(members).slice(1, -1)},"delta":`;
    const tail = `${behind}}\n\n`;
    return (text, more) =>
      this.#isSilent ? '' : `${head}${this.#next++}${middle}${JSON.stringify(text)}${more ?? tail}`;
  }
}

/**
 * One event with more of a text: the hot path, for which no object is built.
 * @param more what stands behind the text in place of what always does, down to the end of the event
 */
export type DeltaFrames = (text: string, more?: string) => string;

export function encodeEvent(type: string, sequenceNumber: number, members: JsonObject): string {
  const rest = JSON.stringify(members).slice(1);
  return `event: response.${type}\ndata: {"type":"response.${type}","sequence_number":${sequenceNumber},${rest}\n\n`;
}
