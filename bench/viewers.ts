import { mkdirSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import path from 'node:path';

import { startGateway } from './gateway.ts';
import { MANAGEMENT_KEY } from './manage.ts';
import { measureSettings, type Bench, type SettingResult } from './measure.ts';
import type { LoadGenerator, ServerProcess } from './processes.ts';
import { listViewersSettings, type Plan } from './suites.ts';
import type { Variant, ViewersId } from './variants.ts';

const VIEWERS = 3;
const SAME_FORMAT = { callerFormat: 'chat', upstreamFormat: 'chat', isGateway: true } as const;
const LABELS: Readonly<Record<ViewersId, string>> = {
  unviewed: 'no live view',
  viewed: `${VIEWERS} live views`,
  'unviewed-2': 'no live view, 2 workers',
  'viewed-2': `${VIEWERS} live views, 2 workers`,
};

interface ViewersDeps extends Pick<Bench, 'mock' | 'note'> {
  readonly load: LoadGenerator;
  readonly directory: string;
}

/** The gateway while the dashboard follows its requests, beside itself without: the same program, in the same rounds. */
export async function measureViewers(
  deps: ViewersDeps,
  plan: Plan,
  rounds: Parameters<typeof measureSettings>[2],
): Promise<readonly SettingResult[]> {
  const ends: (() => unknown)[] = [];
  const views: LiveView[] = [];
  try {
    const variants: Variant[] = [];
    for (const [id, workers, isViewed] of [
      ['unviewed', 1, false],
      ['viewed', 1, true],
      ['unviewed-2', 2, false],
      ['viewed-2', 2, true],
    ] as const) {
      const server = await startVariant(deps, id, workers);
      ends.push(() => server.stop());
      variants.push({ ...SAME_FORMAT, id, label: LABELS[id], server });
      if (isViewed) for (let at = 0; at < VIEWERS; at += 1) views.push(await openView(server));
    }
    for (const view of views) ends.push(view.close);
    const results = await measureSettings({ ...deps, variants }, listViewersSettings(plan), rounds);
    // A view that ended, or never had a row, would have measured nothing.
    const idle = views.filter(({ rows, isOpen }) => rows() === 0 || !isOpen());
    if (idle.length > 0) throw new Error(`${idle.length} of ${views.length} live views got no rows, or ended`);
    return results.map(withoutCpuOfWorkers);
  } finally {
    for (const end of ends.toReversed()) await end();
  }
}

/** What is known is the CPU time of the first process, and workers are others. */
function withoutCpuOfWorkers({ setting, rows }: SettingResult): SettingResult {
  return {
    setting,
    rows: rows.map((row) => {
      if (!row.variant.endsWith('-2')) return row;
      const { cpuUs: _cpuUs, cpuRatio: _cpuRatio, serverCores: _serverCores, ...known } = row;
      return known;
    }),
  };
}

async function startVariant({ directory, mock }: ViewersDeps, id: ViewersId, workers: number): Promise<ServerProcess> {
  const own = path.join(directory, `viewers-${id}`);
  mkdirSync(own, { recursive: true });
  const args = workers === 1 ? [] : ['--workers', String(workers)];
  return startGateway({ directory: own, upstream: mock, models: ['whole'], args });
}

interface LiveView {
  /** How many frames with rows it got. */
  readonly rows: () => number;
  readonly isOpen: () => boolean;
  readonly close: () => void;
}

const OWN = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };

/** A live view of an operator that reads along, as a tab of the dashboard has it. */
async function openView(server: ServerProcess): Promise<LiveView> {
  const signedIn = await call(server, 'POST', '/ui/api/session', OWN, JSON.stringify({ key: MANAGEMENT_KEY }));
  const [cookie = ''] = signedIn.headers['set-cookie'] ?? [];
  const { data } = JSON.parse(await readText(signedIn)) as { readonly data: { readonly token: string } };
  const stream = await call(server, 'GET', '/ui/api/live', {
    ...OWN,
    cookie: cookie.slice(0, cookie.indexOf(';')),
    'x-console-token': data.token,
  });
  if (stream.statusCode !== 200) throw new Error(`/ui/api/live: ${stream.statusCode} ${await readText(stream)}`);
  let rows = 0;
  let isOpen = true;
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => (rows += text.split('event: rows').length - 1));
  stream.on('close', () => (isOpen = false));
  stream.on('error', () => (isOpen = false));
  return { rows: () => rows, isOpen: () => isOpen, close: () => stream.destroy() };
}

function call(
  { host, port }: ServerProcess,
  method: string,
  pathname: string,
  headers: Readonly<Record<string, string>>,
  body = '',
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request({ host, port, method, path: pathname, headers: { ...headers } }, resolve)
      .on('error', reject)
      .end(body);
  });
}

async function readText(message: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of message.setEncoding('utf8')) text += String(piece);
  return text;
}
