import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filterShape } from '../management/generations/list.ts';
import { rowTestOf } from './live-filters.ts';

const ROW = {
  id: 'g',
  api_key_hash: 'k',
  workspace_id: 'w',
  model: 'acme/one',
  requested_model: 'one',
  provider: 'beta',
  provider_name: 'Beta',
  session_id: 's',
  request_id: 'r',
  external_user: 'u',
  app_title: 'Console',
  origin: 'https://app.example',
  preset_id: 'p',
  router: 'auto',
  task_type: 'coding',
  finish_reason: 'stop',
  request_origin: 'request',
  status: 429,
  cancelled: true,
  is_cached: false,
  is_byok: true,
  is_rescued: false,
  warnings: 2,
  total_cost: 0.01,
  latency: 120,
  time_to_first_token: null,
};

const FITTING: Readonly<Record<string, readonly string[]>> = {
  status: ['error', '4xx', '429', 'cancelled'],
  model: ['acme/*', 'acme/one'],
  requested: ['one', 'o*'],
  provider: ['beta'],
  key: ['k'],
  workspace: ['w'],
  session: ['s'],
  request_id: ['r'],
  user: ['u'],
  app: ['Console', 'https://app.example'],
  preset: ['p'],
  router: ['auto'],
  task: ['coding'],
  finish: ['stop'],
  request_origin: ['request'],
  cached: ['false'],
  byok: ['true'],
  rescued: ['false'],
  warned: ['true'],
  min_cost: ['0.01', '0'],
  min_ms: ['120'],
  min_ttft: [],
};
const OTHER: Readonly<Record<string, readonly string[]>> = {
  status: ['2xx', '500'],
  provider: ['Beta'],
  model: ['acme/o', 'beta/*'],
  cached: ['true'],
  byok: ['false'],
  warned: ['false'],
  min_cost: ['0.02'],
  min_ms: ['121'],
  min_ttft: ['0'],
};

const fits = (name: string, value: string): boolean => rowTestOf(new URLSearchParams({ [name]: value }))(ROW);

test('judges a row by each filter of the list, but for the time', () => {
  const names = Object.keys(filterShape).filter((name) => name !== 'from' && name !== 'to');
  assert.deepEqual(names.toSorted(), Object.keys(FITTING).toSorted());
  for (const name of names) {
    for (const value of FITTING[name] ?? []) assert.ok(fits(name, value), `${name}=${value}`);
    for (const value of OTHER[name] ?? ['another']) assert.ok(!fits(name, value), `${name}=${value}`);
  }
});

test('shows what fits all filters of a query, and everything without one', () => {
  const both = new URLSearchParams({ model: 'acme/*', status: '2xx' });
  assert.deepEqual([rowTestOf(both)(ROW), rowTestOf(new URLSearchParams())(ROW)], [false, true]);
});
