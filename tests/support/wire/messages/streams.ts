import type { EventBatch, GenerationEvent } from '../../../../src/canonical/events.ts';
import { isJsonObject } from '../../../../src/lib/json.ts';
import { messagesUpstreamFormat } from '../../../../src/wire/messages/format.ts';

/** Test support: frames a vendor would send. A value without a type is sent without an event name. */
export function frames(events: readonly unknown[]): string {
  return events
    .map((event) => {
      const type = isJsonObject(event) ? event['type'] : undefined;
      const name = typeof type === 'string' ? `event: ${type}\n` : '';
      return `${name}data: ${JSON.stringify(event)}\n\n`;
    })
    .join('');
}

/** Test support: all events of a stream that comes in these pieces and then ends. */
export function readBytes(pieces: readonly Uint8Array[]): EventBatch {
  const decoder = messagesUpstreamFormat.createStreamDecoder();
  const events: GenerationEvent[] = [];
  for (const piece of pieces) events.push(...decoder.push(piece));
  events.push(...decoder.end());
  return events;
}
