import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { suite, test, type TestContext } from 'node:test';
import { systemClock } from '../../src/lib/clock.ts';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { openDatabase } from '../../src/store/engine/database.ts';
import { API_KEY, MANAGEMENT_KEY } from '../support/gateway.ts';
import { makeFolder, startGateway } from '../support/cli/spawn-cli.ts';
import { startWithWorkers } from '../support/cli/workers.ts';
import { POSTGRES_ENGINES, type Place } from '../support/store/engines.ts';
import { createRandom, type Random } from '../support/random.ts';
import { bearer, jsonOf, textAt } from '../support/videos/client.ts';
import { done, startXai } from '../support/videos/fake-vendor.ts';

/** `npm run test:crash` runs more. */
const KILLS = Number(process.env['CRASH_KILLS'] ?? 2);
const SEED = Number(process.env['CRASH_SEED'] ?? 1);
const JOBS_PER_LIFE = 6;
/** From the first submission to the end: submissions, and the first looks, which are after five seconds. */
const LIFE_MS_MAX = 6_000;
/** A clip of one second. */
const COST_USD = 0.1;
/** Of a list of records, which all are on. */
const RECORDS_MAX = 500;
/** A worker that ends again and again is started later each time, up to half a minute. */
const WORKER_KILLS_MAX = 10;
const LIMIT_USD = (KILLS + 2) * JOBS_PER_LIFE * COST_USD;
const OVER_TRIES_MAX = 600;
const LOOK_MS = 100;
/** Of a list of jobs. */
const JOBS_PAGE = 100;

function configOf(baseUrl: string): string {
  return `
providers:
  alpha: { adapter: xai, base_url: "${baseUrl}", api_key: key-alpha }
models:
  acme/clip:
    output_modalities: [video]
    endpoints: [{ provider: alpha, model: grok-imagine-video, price: { prompt: 0, completion: 0, video: { "*": ${COST_USD} } } }]
videos: { assets: proxy }
`;
}

const CLIP = { model: 'acme/clip', prompt: 'x', duration: 1 };

async function createKey(url: string): Promise<string> {
  const response = await fetch(`${url}/v1/keys`, {
    method: 'POST',
    headers: { ...bearer(MANAGEMENT_KEY), 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'clips', limit: LIMIT_USD }),
  });
  return textAt(await jsonOf(response), 'key');
}

function submit(url: string, key: string, body: JsonObject = CLIP): Promise<Response> {
  return fetch(`${url}/v1/videos`, {
    method: 'POST',
    headers: { ...bearer(key), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function dataOf(url: string, path: string, key: string): Promise<readonly JsonObject[]> {
  const { data } = await jsonOf(await fetch(`${url}/v1${path}`, { headers: bearer(key) }));
  assert.ok(Array.isArray(data));
  return data.filter((one) => isJsonObject(one));
}

/** All jobs of a key, page by page. */
async function jobsOf(url: string, key: string): Promise<readonly JsonObject[]> {
  const jobs: JsonObject[] = [];
  for (;;) {
    const last = jobs.at(-1);
    const page = await dataOf(
      url,
      `/videos?limit=${JOBS_PAGE}${last === undefined ? '' : `&after=${textAt(last, 'id')}`}`,
      key,
    );
    jobs.push(...page);
    if (page.length < JOBS_PAGE) return jobs;
  }
}

/** As if the time of the dead processes' leases was over. Where others live, two of them look at a job at once. */
async function endLeases(place: Pick<Place, 'path' | 'url'>): Promise<void> {
  const database = await openDatabase({ ...place, clock: systemClock });
  await database.kysely.updateTable('video_jobs').set({ lease_until_ms: 0, next_poll_ms: 0 }).execute();
  await database.close();
}

const ENV = { GATEWAY_API_KEY: API_KEY, GATEWAY_MANAGEMENT_KEY: MANAGEMENT_KEY };

/** Gateways of one database. */
interface Installation {
  readonly killsMax: number;
  /** Where it can be called, in the life that follows. */
  urls(): Promise<readonly string[]>;
  /** Kills a process, and starts another one in its place. */
  kill(random: Random): Promise<void>;
  readonly place: Pick<Place, 'path' | 'url'>;
}

type Install = (t: TestContext, config: string, dataDir: string) => Promise<Installation>;

const oneProcess: Install = async (t, config, dataDir) => {
  const start = () => startGateway(t, { dataDir, args: ['--config', config], env: ENV });
  let gateway = await start();
  return {
    killsMax: KILLS,
    urls: () => Promise.resolve([gateway.url]),
    async kill() {
      gateway.child.kill('SIGKILL');
      await gateway.exited;
      gateway = await start();
    },
    place: { path: join(dataDir, 'gateway.db') },
  };
};

const twoWorkers: Install = async (t, config, dataDir) => {
  const gateway = await startWithWorkers(t, ['--config', config], { dataDir });
  return {
    killsMax: WORKER_KILLS_MAX,
    urls: () => Promise.resolve([gateway.url]),
    async kill(random) {
      const before = gateway.pids();
      const killed = before[random.int(0, before.length - 1)] ?? 0;
      process.kill(killed, 'SIGKILL');
      while (gateway.pids().includes(killed) || gateway.pids().length < before.length) await wait(LOOK_MS);
    },
    place: { path: join(dataDir, 'gateway.db') },
  };
};

const onPostgres =
  (makePlace: () => Promise<Place>): Install =>
  async (t, config) => {
    const place = await makePlace();
    t.after(() => place.remove());
    const env = { ...ENV, DATABASE_URL: place.url ?? '', GATEWAY_SECRET: 'a secret that all of them share' };
    const start = () => startGateway(t, { args: ['--config', config], env });
    const gateways = [await start(), await start()];
    t.after(async () => {
      for (const { child } of gateways) child.kill('SIGKILL');
      await Promise.all(gateways.map(({ exited }) => exited));
    });
    return {
      killsMax: KILLS,
      urls: () => Promise.resolve(gateways.map(({ url }) => url)),
      async kill(random) {
        const at = random.int(0, gateways.length - 1);
        gateways[at]?.child.kill('SIGKILL');
        await gateways[at]?.exited;
        gateways[at] = await start();
      },
      place,
    };
  };

const INSTALLATIONS: readonly (readonly [string, Install])[] = [
  ['SQLite', oneProcess],
  ['two workers', twoWorkers],
  ...POSTGRES_ENGINES.map(({ makePlace, name }) => [`two gateways on ${name}`, onPostgres(makePlace)] as const),
];

suite(
  `each clip that was made is charged once, and nothing else, in ${KILLS} times kill -9, CRASH_SEED=${SEED}`,
  () => {
    for (const [name, install] of INSTALLATIONS)
      // @spec video-9
      test(`of ${name}`, async (t: TestContext) => {
        const random = createRandom(SEED);
        const vendor = await startXai();
        t.after(() => vendor.close());
        const dataDir = makeFolder(t);
        const config = join(dataDir, 'gateway.yaml');
        await writeFile(config, configOf(vendor.baseUrl));
        const installation = await install(t, config, dataDir);
        const urlAt = async (at: number): Promise<string> => {
          const urls = await installation.urls();
          return urls[at % urls.length] ?? '';
        };
        const accepted = new Set<string>();
        const key = await createKey(await urlAt(0));
        for (let kill = 0; kill < Math.min(KILLS, installation.killsMax); kill++) {
          // Some of the jobs that are looked at are over.
          vendor.state = (id) => (random.int(0, 1) === 0 ? { status: 'pending' } : done(vendor, id, 1));
          const submitted = Array.from({ length: JOBS_PER_LIFE }, async (_, at) => {
            const response = await submit(await urlAt(at), key).catch(() => undefined);
            const body = response?.status === 202 ? await jsonOf(response).catch(() => undefined) : undefined;
            if (body !== undefined) accepted.add(textAt(body, 'id'));
          });
          await wait(random.int(0, 3) === 0 ? random.int(0, 50) : random.int(0, LIFE_MS_MAX));
          await installation.kill(random);
          await Promise.all(submitted);
          await endLeases(installation.place);
        }
        vendor.state = (id) => done(vendor, id, 1);
        const url = await urlAt(0);
        let jobs: readonly JsonObject[] = [];
        for (let tries = 0; tries < OVER_TRIES_MAX; tries++) {
          jobs = await jobsOf(url, key);
          if (jobs.length > 0 && jobs.every(({ status }) => status === 'completed' || status === 'failed')) break;
          await wait(LOOK_MS);
        }
        const completed = jobs.filter(({ status }) => status === 'completed');
        for (const id of accepted)
          assert.ok(
            completed.some((job) => job['id'] === id),
            `${id} was accepted, and is completed`,
          );
        assert.ok(completed.length > 0, 'the load was real');
        // A submission that nothing was heard of is in no list, and not charged.
        const spent = completed.length * COST_USD;
        const { data } = await jsonOf(await fetch(`${url}/v1/key`, { headers: bearer(key) }));
        assert.ok(isJsonObject(data));
        assert.ok(
          Math.abs(Number(data['usage']) - spent) < 1e-9,
          `${Number(data['usage'])} were charged for ${completed.length} clips`,
        );
        const records = await dataOf(url, `/generations?limit=${RECORDS_MAX}`, key);
        const charged = records.filter((record) => Number(record['total_cost']) > 0);
        assert.equal(charged.length, completed.length);
        // No reservation stays: all that is left may be spent by one clip.
        const left = Math.round((LIMIT_USD - spent) / COST_USD);
        const last = await submit(url, key, { ...CLIP, duration: left });
        assert.equal(last.status, 202, await last.text());
      });
  },
);
