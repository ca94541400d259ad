import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { apiKey, managementKey, modelOr, url } from '../gateway.ts';

interface Span {
  readonly name: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}
interface Traces {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[];
}

// A collector of OpenTelemetry traces, as Langfuse, Grafana and others are, in twenty lines.
const received = Promise.withResolvers<Span>();
const collector = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const bytes = Buffer.concat(chunks);
    const isZipped = request.headers['content-encoding'] === 'gzip';
    const traces: Traces = JSON.parse(String(isZipped ? gunzipSync(bytes) : bytes));
    const spans = traces.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
    const span = spans.find(({ attributes }) => attributes.some(({ key }) => key === 'gen_ai.usage.input_tokens'));
    if (span !== undefined) received.resolve(span);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
});
collector.listen(0, '127.0.0.1');
await once(collector, 'listening');
const { port } = collector.address() as AddressInfo;

// The default workspace sends its records there. The gateway calls the collector once before it saves it.
await manage('PATCH', '/workspaces/default', { is_observability_broadcast_enabled: true });
const { data } = await manage('POST', '/observability/destinations', {
  type: 'otel-collector',
  name: 'Example collector',
  config: { endpoint: `http://127.0.0.1:${port}`, encoding: 'json', spans: 'generation' },
  broadcast_generation_cost: true,
});

const response = await fetch(`${url}/v1/chat/completions`, {
  method: 'POST',
  headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
  body: JSON.stringify({ model: modelOr('sandbox/echo'), messages: [{ role: 'user', content: 'Watch me' }] }),
});
console.log(`a call: ${response.status}`);
const { attributes } = await received.promise;
for (const name of ['gen_ai.request.model', 'gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens'])
  console.log(`${name}: ${valueOf(attributes.find(({ key }) => key === name)?.value)}`);

await manage('DELETE', `/observability/destinations/${data.id}`);
collector.close();

function valueOf(value: Readonly<Record<string, unknown>> | undefined): string {
  return String(Object.values(value ?? {})[0]);
}

async function manage(method: string, path: string, body?: object): Promise<{ data: { id: string } }> {
  const answer = await fetch(`${url}/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${managementKey}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as { data: { id: string } };
}
