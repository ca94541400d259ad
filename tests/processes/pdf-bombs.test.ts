import assert from 'node:assert/strict';
import { accessSync, constants, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { API_KEY } from '../support/gateway.ts';
import { makePdf, makePdfBomb } from '../support/files/make-pdf.ts';
import { ENTRY, makeFolder, startGateway } from '../support/cli/spawn-cli.ts';
import { emit } from '../support/tool-turns.ts';
import { startUpstream, type Arrived } from '../support/upstream.ts';
import { upload } from '../support/files/upload.ts';

/** What deploy/compose.yaml gives a gateway. */
const LIMIT_MB = 1_536;
const BYTES_PER_MB = 1_048_576;
/** The runtime and the catalog take 200 MB of it. */
const PEAK_MB_MAX = 900;
const CGROUPS = '/sys/fs/cgroup/memory';

/** Two kilobytes that unpack to a gigabyte of blanks. */
const BOMB = makePdfBomb(1_024);
const PDF = makePdf([{ lines: ['still here'] }]);

const dataUrl = (bytes: Buffer): string => `data:application/pdf;base64,${bytes.toString('base64')}`;
const inline = (bytes: Buffer) => ({ type: 'file', file: { filename: 'a.pdf', file_data: dataUrl(bytes) } });

/** Ends a process that takes more, as a container does; `undefined` if this machine allows no cgroup. */
function makeMemoryCgroup(): string | undefined {
  const path = join(CGROUPS, `model-gateway-test-${process.pid}`);
  try {
    accessSync(CGROUPS, constants.W_OK);
    mkdirSync(path);
    writeFileSync(join(path, 'memory.limit_in_bytes'), String(LIMIT_MB * BYTES_PER_MB));
  } catch {
    return undefined;
  }
  return path;
}

/** A model that takes text alone, and fetches the page that its last message is the address of. */
function answer({ body }: Arrived) {
  const messages = body['messages'] as readonly { readonly role: string; readonly content: unknown }[];
  const last = messages.at(-1);
  const stated = typeof last?.content === 'string' ? last.content : JSON.stringify(last?.content);
  if (last?.role === 'user' && stated.startsWith('http'))
    return { calls: [{ id: 'call_0', name: 'service_web_fetch', input: JSON.stringify({ url: stated }) }] };
  return { text: stated };
}

async function startSite(t: TestContext): Promise<string> {
  const site = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/pdf' }).end(BOMB);
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  t.after(() => site.close());
  return `http://127.0.0.1:${(site.address() as AddressInfo).port}/bomb.pdf`;
}

async function start(t: TestContext) {
  const cgroup = makeMemoryCgroup();
  const upstream = await startUpstream((arrived, response, request) =>
    emit('chat', answer(arrived), false)(arrived, response, request),
  );
  t.after(() => upstream.close());
  const file = join(makeFolder(t), 'gateway.yaml');
  writeFileSync(
    file,
    `
web_fetch: { private_addresses: true }
server: { memory_limit_mb: ${LIMIT_MB} }
providers: { alpha: { adapter: openai-compatible, name: Alpha, base_url: "${upstream.baseUrl}", api_key: k } }
models: { acme/blind: { input_modalities: [text], endpoints: [{ provider: alpha, model: one, price: { prompt: 1, completion: 1 } }] } }
`,
  );
  const enter = cgroup === undefined ? '' : `echo $$ > ${cgroup}/cgroup.procs; `;
  const gateway = await startGateway(t, {
    args: ['--config', file],
    env: { GATEWAY_API_KEY: API_KEY },
    command: ['sh', '-c', `${enter}exec "$0" "$@"`, process.execPath, ENTRY],
  });
  // Hooks run in their order: the process has left it by then.
  t.after(() => cgroup !== undefined && rmdirSync(cgroup));
  const ask = async (
    content: unknown,
    more: object = {},
  ): Promise<{ readonly status: number; readonly text: string }> => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'acme/blind', messages: [{ role: 'user', content }], ...more }),
    });
    return { status: response.status, text: await response.text() };
  };
  const peakMb = (): number => {
    const status = readFileSync(`/proc/${gateway.child.pid}/status`, 'utf8');
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1_024;
  };
  return { gateway, ask, peakMb };
}

test('refuses PDFs that unpack to gigabytes within the memory of a small container, and reads the next one', async (t) => {
  const site = await startSite(t);
  const { gateway, ask, peakMb } = await start(t);
  const both = await ask([
    inline(BOMB),
    { type: 'file', file: { filename: 'b.pdf', file_data: dataUrl(makePdfBomb(1_025)) } },
  ]);
  assert.equal(both.status, 400, both.text);
  assert.match(both.text, /could not be read\. It unpacks to more than there is memory for/);
  for (const { status, text } of await Promise.all(Array.from({ length: 8 }, () => ask([inline(BOMB)]))))
    assert.equal(status, 400, text);

  const stored = await upload({ baseUrl: `${gateway.url}/v1` }, new Uint8Array(BOMB), { name: 'stored.pdf' });
  const byId = await ask([{ type: 'file', file: { file_id: stored.body['id'] } }]);
  assert.equal(byId.status, 400, byId.text);
  assert.match(byId.text, /stored\.pdf.* could not be read\. It unpacks/);

  // What a model is led to read fails for the model, not for the caller.
  const led = await ask(site, { tools: [{ type: 'service:web_fetch' }] });
  assert.equal(led.status, 200, led.text);
  assert.match(led.text, /too much memory to read/);

  const fine = await ask([inline(PDF)]);
  assert.match(fine.text, /still here/);
  assert.ok(peakMb() < PEAK_MB_MAX, `the process held ${peakMb()} MB`);
});
