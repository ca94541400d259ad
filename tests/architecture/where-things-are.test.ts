import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { suite, test } from 'node:test';

/*
 * A newcomer finds a file in ten seconds: the word of the field, searched in the names of files, leads to it. When a test
 * fails here, the file has a name that only this project understands, or too many others have the word as well.
 */

const ROOT = path.join(import.meta.dirname, '../..');
/** As many names as a reader looks through at once. */
const HITS_MAX = 15;

/** What is looked for, the word that is searched for, and the file. */
const FILES: readonly (readonly [question: string, search: string, path: string])[] = [
  ['how a provider is added', 'add-a-provider', 'docs/add-a-provider.md'],
  ['the steps of a request', 'generate', 'src/pipeline/generate.ts'],
  ['the key check', 'auth', 'src/accounts/keys/authenticate.ts'],
  ['402', 'payment', 'src/accounts/limits/payment-required.ts'],
  ['a rate limit', 'rate-limit', 'src/accounts/limits/rate-limits.ts'],
  ['the budget of a request', 'budget', 'src/pipeline/admission/budget-reservation.ts'],
  ['the order of the candidates', 'plan', 'src/routing/plan.ts'],
  ['fallback between providers', 'fallback', 'src/pipeline/attempt/fallback.ts'],
  ['a retry', 'retry', 'src/routing/retry.ts'],
  ['circuit breakers and cooldowns', 'health', 'src/routing/health.ts'],
  ['a sticky session', 'sticky', 'src/routing/sticky.ts'],
  ['mid-stream failover', 'failover', 'src/pipeline/failover/failover.ts'],
  ['the SSE that a caller gets', 'sse', 'src/pipeline/response/sse-output.ts'],
  ['the SSE of an upstream', 'sse', 'src/lib/net/sse.ts'],
  ['the run of a plugin', 'plugins', 'src/pipeline/plugins/apply-plugins.ts'],
  ['the loop of server tools', 'tool-loop', 'src/pipeline/server-tools/tool-loop.ts'],
  ['the run of content filters', 'content-filters', 'src/pipeline/content-filters/content-filters.ts'],
  ['the response cache', 'response-cache', 'src/pipeline/response/response-cache.ts'],
  ['the price of a request', 'cost', 'src/pipeline/billing/final-cost.ts'],
  ['the charge of a request', 'settle', 'src/pipeline/billing/settle.ts'],
  ['the journal of records', 'journal', 'src/journal/journal.ts'],
  ['how a worker process is started', 'worker', 'src/app/workers/worker.ts'],
  ['the usage record', 'record', 'src/telemetry/record.ts'],
  ['the metrics', 'metrics', 'src/telemetry/metrics.ts'],
  ['service_metadata', 'service-metadata', 'src/wire/gateway/service-metadata.ts'],
  ['a cache breakpoint', 'cache-control', 'src/wire/messages/request/cache-control.ts'],
  ['the configuration, parsed', 'config', 'src/config/load-config.ts'],
  ['database migrations', 'migrat', 'src/store/engine/migrate.ts'],
  ['the audit log', 'audit', 'src/accounts/audit.ts'],
  ['the OpenAPI document', 'openapi', 'src/http/openapi/openapi.ts'],
];

/** Files that a reader looks through: neither tests nor data. */
const names = ['src', 'docs'].flatMap((folder) =>
  readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((name) => /\.(?:ts|md)$/.test(name) && !name.endsWith('.test.ts') && !name.includes('/data/')),
);

function findByName(search: string): readonly string[] {
  return names.filter((name) => path.posix.basename(name).toLowerCase().includes(search));
}

suite('the name of a file', () => {
  for (const [question, search, file] of FILES)
    test(`leads from "${search}" to ${question}`, () => {
      const hits = findByName(search);
      assert.ok(hits.includes(file), `${file} is not among ${hits.join(', ')}`);
      assert.ok(hits.length <= HITS_MAX, `${hits.length} names have "${search}": ${hits.join(', ')}`);
    });
});

test('names every folder of src in the tree of docs/tour.md', () => {
  const tour = readFileSync(path.join(ROOT, 'docs/tour.md'), 'utf8');
  const folders = readdirSync(path.join(ROOT, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  assert.ok(folders.length > 20);
  assert.deepEqual(
    folders.map(({ name }) => name).filter((name) => !tour.includes(`\n  ${name}/ `)),
    [],
  );
});
