// What the codecs alone cost, without a socket: run by codecs.ts in a process whose young generation is so large that
// nothing is collected while a batch is measured.
import * as z from 'zod';

import type { ClientFormatId } from '../../src/canonical/extra.ts';
import type { EventBatch } from '../../src/canonical/events.ts';
import { pluginSchema } from '../../src/plugins/index.ts';
import { createChatClientFormat } from '../../src/wire/chat/format.ts';
import type { ClientFormat, UpstreamFormat } from '../../src/wire/format.ts';
import { createMessagesClientFormat } from '../../src/wire/messages/format.ts';
import { createContainers } from '../../src/wire/responses/containers.ts';
import { createResponsesClientFormat } from '../../src/wire/responses/format.ts';
import { createSecretBox, secretFrom } from '../../src/lib/secret-box.ts';
import { UPSTREAM_FORMATS } from '../../src/app/upstream-formats.ts';
import { isMockFormat, type MockFormat } from '../servers/mock-formats.ts';
import { writeScript } from '../servers/mock-script.ts';
import { writeBody } from '../requests.ts';
import { median } from '../statistics.ts';

const EVENTS = 200;
const STREAM_MODEL = `burst-16x${EVENTS}`;
const ROUNDS = 15;
const WARM_UP_MS = 400;
const ROUND_MS = 20;

export const costSchema = z.object({
  what: z.string(),
  unit: z.enum(['event', 'request']),
  us: z.number(),
  /** Allocated on the heap, per unit. */
  bytes: z.number(),
});
export type Cost = Readonly<z.infer<typeof costSchema>>;

const CLIENTS: Readonly<Record<ClientFormatId, ClientFormat>> = {
  chat: createChatClientFormat({ plugin: pluginSchema }),
  messages: createMessagesClientFormat({ plugin: pluginSchema }),
  responses: createResponsesClientFormat({
    plugin: pluginSchema,
    containers: createContainers(createSecretBox([secretFrom('bench')])),
    echo: 'terminal',
    lengthErrors: 'failed',
    streamErrors: 'status',
  }),
};
const NO_HEADERS = { serviceMetadata: false, betas: [] };
const IDENTITY = { id: 'gen-bench', createdS: 1_760_000_000, model: 'bench/model', provider: 'Bench' };

/** Medians over rounds of a few milliseconds; `units` is what one call handles. */
function measure(what: string, unit: Cost['unit'], units: number, run: () => unknown): Cost {
  const untilMs = performance.now() + WARM_UP_MS;
  let calls = 0;
  while (performance.now() < untilMs) {
    run();
    calls++;
  }
  const batch = Math.max(1, Math.round((calls * ROUND_MS) / WARM_UP_MS));
  const rounds = Array.from({ length: ROUNDS }, () => {
    globalThis.gc?.();
    const before = process.memoryUsage().heapUsed;
    const beginMs = performance.now();
    for (let call = 0; call < batch; call++) run();
    const us = ((performance.now() - beginMs) * 1000) / (batch * units);
    return { us, bytes: (process.memoryUsage().heapUsed - before) / (batch * units) };
  });
  return { what, unit, us: median(rounds.map(({ us }) => us)), bytes: median(rounds.map(({ bytes }) => bytes)) };
}

/** The payloads of a scripted stream: as they come off the wire, without the framing of HTTP. */
function payloadsOf(format: MockFormat): readonly Buffer[] {
  const script = writeScript(format, STREAM_MODEL);
  if (script === undefined) throw new Error(`no stream in the format ${format}`);
  return script.writes.map((bytes, index) => {
    const chunk = index === 0 ? bytes.subarray(bytes.indexOf('\r\n\r\n') + 4) : bytes;
    const sizeEnd = chunk.indexOf('\r\n');
    return chunk.subarray(sizeEnd + 2, sizeEnd + 2 + Number.parseInt(chunk.toString('latin1', 0, sizeEnd), 16));
  });
}

function decodeStream(format: UpstreamFormat, payloads: readonly Buffer[]): readonly EventBatch[] {
  const decoder = format.createStreamDecoder({});
  return [...payloads.map((payload) => decoder.push(payload)), decoder.end()];
}

function measureStreams(): readonly Cost[] {
  return Object.values(UPSTREAM_FORMATS).flatMap((format) => {
    if (!isMockFormat(format.id)) return [];
    const payloads = payloadsOf(format.id);
    const batches = decodeStream(format, payloads);
    return [
      measure(`${format.id}: decode`, 'event', EVENTS, () => decodeStream(format, payloads)),
      ...Object.values(CLIENTS).map((client) =>
        measure(`${format.id} to ${client.id}: encode`, 'event', EVENTS, () => {
          const encoder = client.createStreamEncoder(IDENTITY);
          return batches.map((batch) => encoder.encode(batch));
        }),
      ),
    ];
  });
}

function measureRequests(): readonly Cost[] {
  return (Object.entries(CLIENTS) as [ClientFormatId, ClientFormat][]).flatMap(([format, client]) => {
    const text = JSON.stringify(writeBody({ format, model: 'bench/model', size: 'large', streams: true }));
    const read = (): ReturnType<ClientFormat['decodeRequest']> =>
      client.decodeRequest(JSON.parse(text), text, NO_HEADERS);
    const request = read();
    return [
      measure(`${client.id}, 50 KB: parse and decode`, 'request', 1, read),
      ...Object.values(UPSTREAM_FORMATS).map((upstream) =>
        measure(`${client.id} to ${upstream.id}, 50 KB: encode and write`, 'request', 1, () =>
          JSON.stringify(upstream.encodeRequest(request, { model: 'bench', endUserId: 'end-user', dialect: {} }).body),
        ),
      ),
    ];
  });
}

if (import.meta.main) console.log(JSON.stringify([...measureStreams(), ...measureRequests()]));
