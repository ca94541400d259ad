import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { findingsOf, type Provisioned } from './findings.ts';

const NOW_MS = Date.parse('2026-11-20T12:00:00Z');
const REQUEST = {
  id: 'r',
  at: '2026-11-20T11:00:00Z',
  token_id: 't',
  address: '192.0.2.1',
  method: 'POST',
  path: '/scim/v2/Users',
  status: 201,
  outcome: 'scimCreateUser',
};
const TOKEN = {
  id: 't',
  name: 'Entra',
  label: 'scim-...abcd',
  created_at: '2026-01-01T00:00:00Z',
  expires_at: '2027-06-01T00:00:00Z',
  last_used_at: '2026-11-20T11:00:00Z',
  last_used_from: '192.0.2.1',
};
const STATUS = {
  base_url: 'https://gateway.example/scim/v2',
  users: 3,
  active_users: 2,
  groups: 1,
  mappings: 1,
  last_request: REQUEST,
  last_refusal: null,
};
const WELL: Provisioned = {
  status: STATUS,
  tokens: [TOKEN],
  baseUrl: STATUS.base_url,
  nowMs: NOW_MS,
};

function read(change: Partial<Provisioned>): readonly string[] {
  return findingsOf({ ...WELL, ...change }).map(({ tone, text }) => `${tone}: ${text}`);
}

suite('what is found of provisioning', () => {
  test('is one good line while users arrive, and none before the first request', () => {
    assert.deepEqual(read({}), ['good: Users and groups arrive.']);
    assert.deepEqual(read({ status: { ...STATUS, last_request: null } }), []);
  });

  test('names an address that no provider reaches, or may not use', () => {
    const nowhere = { ...STATUS, base_url: null };
    assert.deepEqual(read({ status: nowhere, baseUrl: 'http://127.0.0.1:8787/scim/v2' }), [
      'warn: The address is of this machine, which no provider outside reaches.',
    ]);
    assert.deepEqual(read({ baseUrl: 'http://gateway.example/scim/v2' }), ['bad: The address has no TLS.']);
  });

  test('names tokens that are missing, unused, silent or about to end', () => {
    assert.deepEqual(read({ tokens: [] }), ['warn: No token is valid, so that nothing can call.']);
    assert.deepEqual(read({ tokens: [{ ...TOKEN, last_used_at: null }] }), ['warn: “Entra” has sent nothing yet.']);
    assert.match(
      read({ tokens: [{ ...TOKEN, last_used_at: '2026-11-13T11:00:00Z' }] })[0] ?? '',
      /^bad: .* for 7 days/,
    );
    assert.deepEqual(read({ tokens: [{ ...TOKEN, last_used_at: '2026-11-13T13:00:00Z' }] }).length, 1);
    assert.deepEqual(read({ tokens: [{ ...TOKEN, expires_at: '2026-12-01T00:00:00Z' }] }), [
      'warn: “Entra” ends in 10 days.',
    ]);
  });

  test('names a refusal of the last day and groups that give nothing', () => {
    const refusal = { ...REQUEST, status: 409, outcome: 'userName is taken' };
    const old = { ...refusal, at: '2026-11-19T11:00:00Z' };
    assert.deepEqual(read({ status: { ...STATUS, last_refusal: refusal } }), [
      'warn: A request of the last day was refused: userName is taken',
    ]);
    assert.deepEqual(read({ status: { ...STATUS, last_refusal: old } }), ['good: Users and groups arrive.']);
    assert.deepEqual(read({ status: { ...STATUS, mappings: 0 } }), [
      'warn: Groups are pushed, and none is mapped to a workspace.',
    ]);
  });
});
