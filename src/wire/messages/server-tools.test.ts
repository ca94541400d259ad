import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServerCall } from '../../canonical/tools/server-call.ts';
import type { Json } from '../../lib/json.ts';
import { encodeServerResult, decodeServerResult } from './server-tools.ts';

function call(type: string, result: Json, errorCode?: ServerCall['errorCode']): ServerCall {
  const name = type.replaceAll(':', '_');
  const ids = { id: 'id', shownId: 'srvtoolu_service_0_id' };
  return { ...ids, type, name, input: '{}', result, turn: 0, besideCalls: false, ...(errorCode && { errorCode }) };
}

const page = {
  url: 'https://a.example/',
  title: 'A',
  content: 'Words.',
  status: 'completed',
  retrieved_at: '2026-11-22',
};
const hit = { url: 'https://a.example/', title: 'A', content: 'Words.' };

const CASES: Readonly<Record<string, ServerCall>> = {
  'pages that were found': call('service:web_search', [hit, { ...hit, page_age: '2026-11-01' }]),
  'a search that failed': call('service:web_search', { status: 'error', error: 'No engine.' }, 'unavailable'),
  'a page': call('service:web_fetch', page),
  'a page that was cut': call('service:web_fetch', { ...page, truncated: true }),
  'a page that could not be read': call(
    'service:web_fetch',
    { url: 'https://a.example/', status: 'failed', error: 'It is not there.' },
    'url_not_accessible',
  ),
  'tools that were found': call('service:tool_search', { tools: ['one', 'two'] }),
  'a search for tools that failed': call(
    'service:tool_search',
    { status: 'error', error: 'No.' },
    'invalid_tool_input',
  ),
  advice: call('service:advisor', { status: 'ok', model: 'acme/one', advice: 'Do it.' }),
  'no advice': call('service:advisor', { status: 'error', error: 'Too deep.' }, 'unavailable'),
  'a file': call('service:files', { result: { content: 'Words.', error: 'in the file' } }),
  'no such file': call('service:files', { error: 'There is no such file.' }, 'invalid_tool_input'),
  'the time': call('service:datetime', { datetime: '2026-11-22T10:00:00.000Z', timezone: 'UTC' }),
};

for (const [name, given] of Object.entries(CASES))
  // @spec tool-20
  test(`${name} comes back as the model read it, byte for byte`, () => {
    const { text, failed } = decodeServerResult(encodeServerResult(given).value);
    assert.equal(text, JSON.stringify(given.result));
    assert.equal(failed, given.errorCode !== undefined);
  });
