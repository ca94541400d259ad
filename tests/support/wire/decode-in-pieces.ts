import type { EventBatch, GenerationEvent } from '../../../src/canonical/events.ts';
import type { FormatId } from '../../../src/canonical/extra.ts';
import type { Dialect } from '../../../src/wire/format.ts';
import { UPSTREAM_FORMATS } from '../../../src/app/upstream-formats.ts';

/** All events of a stream whose bytes come in pieces that end at these places. */
export function decodeInPieces(
  format: FormatId,
  bytes: Uint8Array,
  cuts: readonly number[],
  dialect: Dialect = {},
): EventBatch {
  const decoder = UPSTREAM_FORMATS[format].createStreamDecoder(dialect);
  const events: GenerationEvent[] = [];
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    events.push(...decoder.push(bytes.subarray(from, cut)));
    from = cut;
  }
  events.push(...decoder.end());
  return events;
}
