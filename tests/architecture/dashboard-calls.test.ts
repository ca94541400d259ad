import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { suite, test } from 'node:test';
import * as z from 'zod';
import { findCalls, withoutNames } from '../support/architecture/dashboard-calls.ts';
import { listOwnFiles } from '../support/architecture/own-files.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const document = z
  .object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })
  .parse(JSON.parse(readFileSync(path.join(ROOT, 'docs/openapi.json'), 'utf8')));
const OPERATIONS: ReadonlySet<string> = new Set(
  Object.entries(document.paths).flatMap(([name, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${withoutNames(name)}`),
  ),
);

suite('calls of the dashboard', () => {
  test('are operations of the OpenAPI document', () => {
    const files = listOwnFiles('dashboard/src').filter((file) => /(?<!\.test|\.d)\.tsx?$/.test(file));
    const calls = files.flatMap((file) =>
      findCalls(readFileSync(path.join(ROOT, file), 'utf8')).map((call) => `${call} (${file})`),
    );
    assert.ok(calls.length > 60, `${calls.length} calls are found`);
    assert.deepEqual(
      calls.filter((call) => !OPERATIONS.has(call.slice(0, call.indexOf(' (')))),
      [],
    );
  });

  test('are found as calls of the typed client, of the console, of streams and of uploads', () => {
    const source = [
      "client.GET('/keys/{hash}', { signal });",
      "client.POST(\n  '/keys',\n  { body });",
      "await callConsole('DELETE', `/ui/api/sessions/${encodeURIComponent(id)}`);",
      "const SESSION_URL = '/ui/api/session'; callConsole('GET', SESSION_URL);",
      "openStream(`${API_ROOT}/files/${encodeURIComponent(id)}/content`, { method: 'GET' });",
      "openStream(`${API_ROOT}/generations/export?${query.toString()}`, { method: 'GET' });",
      "request.open('POST', `${API_ROOT}/files`);",
      "const LIVE_URL = '/ui/api/live'; fetch(LIVE_URL, { signal });",
      "toSnippet({ method: 'POST', path: '/chat/completions' });",
    ].join('\n');
    assert.deepEqual(findCalls(source), [
      'GET /keys/{}',
      'POST /keys',
      'DELETE /ui/api/sessions/{}',
      'GET /ui/api/session',
      'GET /files/{}/content',
      'GET /generations/export',
      'POST /files',
      'GET /ui/api/live',
    ]);
  });
});
