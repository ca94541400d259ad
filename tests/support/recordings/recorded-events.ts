import assert from 'node:assert/strict';
import { parseJsonObject, type JsonObject } from '../../../src/lib/json.ts';
import type { Recording } from './recordings.ts';

/** One event of a recording. */
export interface RecordedEvent {
  readonly name: string;
  readonly data: JsonObject;
}

/**
 * The events of a recorded stream, read without any code of the gateway's, so that it can be judged by them. A whole
 * answer is one event without a name.
 */
export function readRecordedEvents({ body, streamed, contentType }: Recording): readonly RecordedEvent[] {
  if (contentType.startsWith('application/vnd.amazon.eventstream')) return readAwsEvents(body);
  if (!streamed) return [{ name: '', data: parseJsonObject(body.toString('utf8')) ?? {} }];
  return body
    .toString('utf8')
    .split(/\r?\n\r?\n/)
    .flatMap((frame) => {
      const lines = frame.split(/\r?\n/);
      const data = lines.flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trimStart()] : [])).join('\n');
      const name =
        lines
          .find((line) => line.startsWith('event:'))
          ?.slice(6)
          .trim() ?? '';
      const parsed = parseJsonObject(data);
      return parsed === undefined ? [] : [{ name, data: parsed }];
    });
}

const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;

/** @source AWS "Event stream encoding", read 2026-11: total length, header length, checksum; headers; payload; checksum */
function readAwsEvents(body: Buffer): readonly RecordedEvent[] {
  const events: RecordedEvent[] = [];
  for (let at = 0; at < body.length;) {
    const bytes = body.readUInt32BE(at);
    const headers = readAwsHeaders(body.subarray(at + PRELUDE_BYTES, at + PRELUDE_BYTES + body.readUInt32BE(at + 4)));
    const payload = body.subarray(at + PRELUDE_BYTES + body.readUInt32BE(at + 4), at + bytes - CHECKSUM_BYTES);
    const data = parseJsonObject(payload.toString('utf8'));
    assert.ok(data !== undefined, 'the payload is a JSON object');
    events.push({ name: headers.get(':event-type') ?? headers.get(':exception-type') ?? '', data });
    at += bytes;
  }
  return events;
}

const STRING_TYPE = 7;

function readAwsHeaders(bytes: Buffer): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (let at = 0; at < bytes.length;) {
    const nameEnd = at + 1 + bytes.readUInt8(at);
    const name = bytes.toString('utf8', at + 1, nameEnd);
    assert.equal(bytes.readUInt8(nameEnd), STRING_TYPE, `the header ${name} is a string`);
    const valueStart = nameEnd + 3;
    const valueEnd = valueStart + bytes.readUInt16BE(nameEnd + 1);
    headers.set(name, bytes.toString('utf8', valueStart, valueEnd));
    at = valueEnd;
  }
  return headers;
}
