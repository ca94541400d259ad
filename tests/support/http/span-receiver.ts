import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { MANAGEMENT_KEY, type RunningGateway } from '../gateway.ts';

/** A span as a receiver of OTLP in JSON reads it. */
export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
  readonly events?: readonly Pick<ReceivedSpan, 'name' | 'attributes'>[];
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number };
}

export interface SpanReceiver {
  /** Waits for so many spans, counted from the first one on. */
  next(count: number): Promise<readonly ReceivedSpan[]>;
}

interface ExportRequest {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly ReceivedSpan[] }[] }[];
}

/** A collector that is a destination of the default workspace, and receives everything but content. */
export async function startSpanReceiver(
  t: TestContext,
  gateway: RunningGateway,
  config: object = {},
): Promise<SpanReceiver> {
  const spans: ReceivedSpan[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const bytes = Buffer.concat(chunks);
      const text = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString('utf8');
      const { resourceSpans } = JSON.parse(text) as ExportRequest;
      spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
      response.writeHead(200).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await manage(gateway, 'PATCH', '/workspaces/default', { is_observability_broadcast_enabled: true });
  await manage(gateway, 'POST', '/observability/destinations', {
    type: 'otel-collector',
    name: url,
    config: { endpoint: url, ...config },
    broadcast_generation_cost: true,
    broadcast_generation_request_context: true,
    skip_test: true,
  });
  return {
    async next(count) {
      for (let tries = 0; spans.length < count; tries++) {
        assert.ok(tries < 400, `${spans.length} of ${count} spans arrived`);
        await sleep(25);
      }
      return spans;
    },
  };
}

async function manage(gateway: RunningGateway, method: string, path: string, body: object): Promise<void> {
  const answer = await fetch(gateway.baseUrl + path, {
    method,
    headers: { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  assert.ok(answer.ok, `${path}: ${text}`);
}
