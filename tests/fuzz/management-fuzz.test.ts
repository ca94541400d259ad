import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, suite, test } from 'node:test';
import { isJsonObject, parseJson, type Json, type JsonObject } from '../../src/lib/json.ts';
import { ArbitraryValue } from '../support/fuzz/arbitrary-value.ts';
import { mutateJson } from '../support/fuzz/mutate-json.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { assertAsDocumented } from '../support/management/documented.ts';
import { createRandom, readSeed, seedOf, type Random } from '../support/random.ts';
import { listOf, objectOf } from '../support/reported.ts';
import { ENGINES, type Place } from '../support/store/engines.ts';

const SEED = readSeed();
/** A fifth of what generations get. */
const REQUESTS = Math.ceil(Number(process.env['FUZZ_REQUESTS'] ?? 2_500) / 5);
const CHANGES_MAX = 3;
/** What hangs is an error of its own. */
const WAIT_MS = 20_000;
const NAMES_MAX = 400;
/** Statuses that no mistake of a caller's gets. */
const SERVER_ERRORS: ReadonlySet<number> = new Set([500, 501, 504, 505]);

/** Everything that a configuration may turn on. */
const CONFIG = `
interns: { enabled: true }
scim: { enabled: true }
vault: { writers: any }
responses: { store: database, background: true }
`;

/** They call out, never end, or take away what the others need; generations are fuzzed elsewhere. */
const LEFT_OUT =
  /^(?:POST \/(?:chat|messages|responses|embeddings|rerank|audio|images|videos|alpha)\b.*|.*\/ui\/.*|GET .*\/events|POST .*\/test|POST \/credits\/coinbase|POST \/mcp_servers.*|DELETE \/workspaces\/\{id\})$/;

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly query: readonly JsonObject[];
  readonly body: Json | undefined;
}

const DOCUMENT = objectOf(
  JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8')) as Json,
);
const COMPONENTS = objectOf(objectOf(DOCUMENT['components'] ?? {})['schemas'] ?? {});
const OPERATIONS = Object.entries(objectOf(DOCUMENT['paths'] ?? {}))
  .flatMap(([path, methods]) =>
    Object.entries(objectOf(methods)).map(([method, value]) =>
      operationOf(method.toUpperCase(), path, objectOf(value)),
    ),
  )
  .filter(({ method, path }) => !LEFT_OUT.test(`${method} ${path}`));

function operationOf(method: string, path: string, value: JsonObject): Operation {
  const content = objectOf(objectOf(value['requestBody'] ?? {})['content'] ?? {});
  return {
    method,
    path,
    query: listOf(value['parameters'] ?? [])
      .map((parameter) => objectOf(parameter))
      .filter((parameter) => parameter['in'] === 'query'),
    body: objectOf(content['application/json'] ?? {})['schema'],
  };
}

const queryTextOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

interface Made {
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
}

/** Ids, hashes and slugs that responses gave: without them no route would get further than 404. */
const names: string[] = [];
/** The same, by the area that gave them. */
const namesOf = new Map<string, string[]>();
const ODD_NAMES = ['nothing', '%00', '..%2f..', '%F0%9F%91%A9', 'a'.repeat(300), "'%20or%201=1--", '-1', '__proto__'];

function makeRequest(random: Random): Made {
  const { method, path, query, body } = random.pick(OPERATIONS);
  const values = new ArbitraryValue(COMPONENTS, random, names);
  const own = namesOf.get(areaOf(path)) ?? [];
  const step = (): string => {
    const known = own.length > 0 && random.chance(0.8) ? own : names;
    const isOdd = known.length === 0 || random.chance(0.1);
    return isOdd ? random.pick(ODD_NAMES) : encodeURIComponent(random.pick(known).toWellFormed());
  };
  const search = new URLSearchParams();
  for (const { name, schema } of query)
    if (random.chance(0.3))
      search.append(queryTextOf(name ?? ''), queryTextOf(random.chance(0.8) ? values.of(schema ?? {}) : step()));
  const changes = random.chance(0.4) ? 0 : random.int(1, CHANGES_MAX);
  return {
    method,
    path: path.replaceAll(/\{[^}]*\}/g, step) + (search.size > 0 ? `?${search.toString()}` : ''),
    body: body === undefined ? undefined : mutateJson(values.of(body), random, changes),
  };
}

const areaOf = (path: string): string => path.split(/[/?]/)[1] ?? '';

function learnNames(value: Json | undefined, area: string): void {
  if (Array.isArray(value)) for (const each of value.slice(0, 5)) learnNames(each as Json, area);
  else if (isJsonObject(value))
    for (const [name, each] of Object.entries(value))
      if (typeof each !== 'string') learnNames(each, area);
      else if (/^(?:id|hash|slug|name)$|_id$|_hash$/.test(name) && each !== '') {
        remember(names, each);
        const own = namesOf.get(area) ?? [];
        namesOf.set(area, own);
        if (!/_/.test(name)) remember(own, each);
      }
}

function remember(known: string[], name: string): void {
  if (known.includes(name)) return;
  if (known.length >= NAMES_MAX) known.shift();
  known.push(name);
}

async function send(
  gateway: RunningGateway,
  { method, path, body }: Made,
  key: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(gateway.baseUrl + path, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body }),
    redirect: 'manual',
    signal: AbortSignal.timeout(WAIT_MS),
  });
  return { status: response.status, text: await response.text() };
}

function shownOf({ method, path, body }: Made): string {
  return `${method} ${path} ${(body ?? '').slice(0, 1_500)}`;
}

/** So that records, responses and files are there to be looked at. */
async function fill(gateway: RunningGateway): Promise<void> {
  for (let at = 0; at < 3; at++) {
    const response = await gateway.post('/responses', { model: 'sandbox/echo', input: 'Hello', session_id: 'one' });
    learnNames(parseJson(await response.text()), 'responses');
  }
  const form = new FormData();
  form.append('purpose', 'user_data');
  form.append('file', new Blob(['hello']), 'hello.txt');
  const headers = { authorization: `Bearer ${API_KEY}` };
  const stored = await fetch(`${gateway.baseUrl}/files`, { method: 'POST', headers, body: form });
  learnNames(parseJson(await stored.text()), 'files');
  const records = await send(gateway, { method: 'GET', path: '/generations', body: undefined }, MANAGEMENT_KEY);
  learnNames(parseJson(records.text), 'generations');
}

for (const { name, isPostgres, makePlace } of ENGINES)
  suite(`management requests: ${name}, FUZZ_SEED=${SEED}`, () => {
    let gateway: RunningGateway;
    let place: Place | undefined;
    before(async () => {
      place = isPostgres ? await makePlace() : undefined;
      const env = place?.url === undefined ? {} : { DATABASE_URL: place.url, GATEWAY_SECRET: 'a secret of this test' };
      gateway = await startGateway({ yaml: CONFIG, env });
      names.length = 0;
      namesOf.clear();
      await fill(gateway);
    });
    after(async () => {
      await gateway.close();
      await place?.remove();
    });

    // @spec error-16
    test('get a documented status and body, whatever they hold', async () => {
      for (let index = 0; index < REQUESTS; index++) {
        const random = createRandom(seedOf(SEED, index));
        const made = makeRequest(random);
        const key = random.chance(0.1) ? API_KEY : MANAGEMENT_KEY;
        const { status, text } = await send(gateway, made, key).catch((error: unknown) =>
          assert.fail(`${shownOf(made)}: ${String(error)}`),
        );
        const shown = `request ${index}: ${shownOf(made)}\n${status} ${text.slice(0, 500)}`;
        assert.ok(!SERVER_ERRORS.has(status), shown);
        const body = parseJson(text);
        if (!isJsonObject(body)) continue;
        try {
          assertAsDocumented(made.method, made.path, { status, body, text });
        } catch (error) {
          assert.fail(`${shown}\n${String(error).slice(0, 500)}`);
        }
        if (status < 300) learnNames(body, areaOf(made.path));
      }
      const last = await send(gateway, { method: 'GET', path: '/workspaces', body: undefined }, MANAGEMENT_KEY);
      assert.equal(last.status, 200, last.text);
    });
  });
