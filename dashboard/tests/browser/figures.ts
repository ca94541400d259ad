import { request as callHttp } from 'node:http';
import type { Page } from 'playwright-core';
import { visit, type Stand } from './support.ts';

/** What the pages are measured by: tests hold wide bounds of it, `npm run dashboard:figures` prints it. */
export interface Scroll {
  readonly medianMs: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly rowsMax: number;
}

/** Pixels a frame: a slow wheel, a fast one, and the thumb of the scroll bar. */
export const SCROLL_STEPS = [60, 600, 20_000] as const;

/** Makes the page's list of requests so long, without the network between. */
export async function fillRequests(page: Page, stand: Stand, rows: number): Promise<void> {
  const list = (await (await stand.call('/generations')).json()) as { readonly data: readonly object[] };
  await page.addInitScript(`{
    const row = ${JSON.stringify(list.data[0])};
    const real = window.fetch.bind(window);
    window.fetch = async (input, init) => {
      const url = typeof input === 'string' ? input : input.url;
      if (!url.includes('/v1/generations?')) return real(input, init);
      const data = Array.from({ length: ${rows} }, (_, at) => ({ ...row, id: 'gen-' + at, session_id: 'session ' + at }));
      return Response.json({ data, next_cursor: null, searched_to: null, looked_at: ${rows} });
    };
  }`);
  await visit(page, `${stand.url}/ui/requests`);
}

/** Scrolls the grid down and up again, and times each frame. */
export async function measureScroll(page: Page, pxPerFrame: number, forMs: number): Promise<Scroll> {
  const { frames, rowsMax } = await page.evaluate<{ frames: number[]; rowsMax: number }>(`new Promise((resolve) => {
    const grid = document.querySelector('[role=grid][aria-label=Requests]');
    const frames = [];
    let rowsMax = 0, step = ${pxPerFrame}, before;
    const begin = performance.now();
    const next = (now) => {
      if (before !== undefined) frames.push(now - before);
      before = now;
      const end = grid.scrollHeight - grid.clientHeight;
      if (grid.scrollTop + step > end || grid.scrollTop + step < 0) step = -step;
      grid.scrollTop += step;
      rowsMax = Math.max(rowsMax, grid.querySelectorAll('[role=row]').length);
      if (now - begin < ${forMs}) requestAnimationFrame(next);
      else resolve({ frames, rowsMax });
    };
    requestAnimationFrame(next);
  })`);
  const sorted = frames.toSorted((one, other) => one - other);
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  return { medianMs: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99), rowsMax };
}

export interface TailFigures {
  readonly sent: number;
  /** Of the `counts` of a view that reads along. */
  readonly counted: number;
  /** Of a view that was not read until the end: the rows that it was then said to have missed, and those that it got. */
  readonly missed: number;
  readonly got: number;
  /** Of the main thread of the page. */
  readonly busyShare: number;
  readonly pageHeapGrowthBytes: number;
  readonly gatewayGrowthBytes: number;
}

/** A tail on the page while requests are made at a rate, beside a view that is read and one that is not. */
export async function measureTail(stand: Stand, page: Page, perSecond: number, forMs: number): Promise<TailFigures> {
  await visit(page, `${stand.url}/ui/requests?tail=true`);
  await page.getByText('The tail is live.').waitFor({ state: 'attached' });
  const counting = await openView(stand);
  const stalled = await openView(stand);
  stalled.pause();
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Performance.enable');
  const metrics = async (): Promise<ReadonlyMap<string, number>> => {
    await cdp.send('HeapProfiler.collectGarbage');
    const { metrics: all } = await cdp.send('Performance.getMetrics');
    return new Map(all.map(({ name, value }) => [name, value]));
  };
  const memory = async (): Promise<number> => {
    const { data } = (await (await stand.call('/health/details')).json()) as {
      readonly data: { readonly processes: readonly { readonly figures: { readonly memory_bytes: number } | null }[] };
    };
    return data.processes.reduce((sum, { figures }) => sum + (figures?.memory_bytes ?? 0), 0);
  };
  // The tables of the page and the code of the gateway are warm before anything is measured.
  let sent = await load(stand, perSecond, 2_000);
  const [before, memoryBefore, beganMs] = [await metrics(), await memory(), performance.now()];
  sent += await load(stand, perSecond, forMs);
  const spentMs = performance.now() - beganMs;
  const [after, memoryAfter] = [await metrics(), await memory()];
  const grown = (name: string): number => (after.get(name) ?? 0) - (before.get(name) ?? 0);
  await counting.until(({ requests }) => requests >= sent);
  stalled.resume();
  await stalled.until(({ requests }) => requests >= sent);
  const figures = {
    sent,
    counted: counting.seen.requests,
    missed: stalled.seen.missed,
    got: stalled.seen.rows,
    busyShare: (grown('TaskDuration') * 1_000) / spentMs,
    pageHeapGrowthBytes: grown('JSHeapUsedSize'),
    gatewayGrowthBytes: memoryAfter - memoryBefore,
  };
  counting.close();
  stalled.close();
  return figures;
}

/** Makes requests at an even rate, whatever their responses take. @returns how many */
async function load(stand: Stand, perSecond: number, forMs: number): Promise<number> {
  const body = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello' }] };
  const pending: Promise<unknown>[] = [];
  const beganMs = performance.now();
  const total = Math.round((perSecond * forMs) / 1_000);
  while (pending.length < total) {
    const due = Math.min(total, Math.ceil(((performance.now() - beganMs) * perSecond) / 1_000));
    while (pending.length < due)
      pending.push(
        stand.call('/chat/completions', body, stand.apiKey).then(async (response) => {
          if (response.status !== 200) throw new Error(await response.text());
          return response.arrayBuffer();
        }),
      );
    // The next moment of the schedule.
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await Promise.all(pending);
  return total;
}

interface Seen {
  requests: number;
  rows: number;
  missed: number;
}

interface View {
  readonly seen: Seen;
  readonly until: (isEnough: (seen: Seen) => boolean) => Promise<void>;
  readonly pause: () => void;
  readonly resume: () => void;
  readonly close: () => void;
}

const UNTIL_MS_MAX = 20_000;

/** The headers of a session, as a page sends them. `fetch` would not send these. */
function signIn(stand: Stand): Promise<Readonly<Record<string, string>>> {
  const own = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const sent = callHttp(`${stand.url}/ui/api/session`, { method: 'POST', headers: own }, (response) => {
      const [cookie = ''] = (response.headers['set-cookie']?.[0] ?? '').split(';', 1);
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.on('end', () => {
        const { data } = JSON.parse(text) as { readonly data: { readonly token: string } };
        resolve({ ...own, cookie, 'x-console-token': data.token });
      });
    });
    sent.on('error', reject).end(JSON.stringify({ key: stand.managementKey }));
  });
}

/** A live view as a program opens it, which counts what it is sent. */
async function openView(stand: Stand): Promise<View> {
  const headers = await signIn(stand);
  const seen: Seen = { requests: 0, rows: 0, missed: 0 };
  return new Promise((resolve, reject) => {
    const sent = callHttp(`${stand.url}/ui/api/live`, { headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        const blocks = (text + piece).split('\n\n');
        text = blocks.pop() ?? '';
        for (const block of blocks) take(seen, block);
      });
      resolve({
        seen,
        async until(isEnough) {
          for (const endMs = Date.now() + UNTIL_MS_MAX; !isEnough(seen) && Date.now() < endMs;)
            await new Promise((next) => setTimeout(next, 50));
        },
        pause: () => void response.pause(),
        resume: () => void response.resume(),
        close: () => void sent.destroy(),
      });
    });
    sent.on('error', reject).end();
  });
}

function take(seen: Seen, block: string): void {
  const [, event, text] = /^event: (\w+)\n[\s\S]*?^data: (.*)$/m.exec(block) ?? [];
  if (event === undefined || text === undefined) return;
  const data = JSON.parse(text) as {
    readonly requests?: number;
    readonly rows?: readonly object[];
    readonly missed?: number | null;
  };
  seen.requests += data.requests ?? 0;
  seen.rows += data.rows?.length ?? 0;
  seen.missed += data.missed ?? 0;
}
