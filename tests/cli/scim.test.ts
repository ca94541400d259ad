import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { captureCli } from '../support/cli/capture-cli.ts';
import { makeFolder, startGateway } from '../support/cli/spawn-cli.ts';
import { MANAGEMENT_KEY } from '../support/gateway.ts';

// @spec scim-15
test('makes a token that a running gateway takes, shows what came, and tries requests that change nothing', async (t) => {
  const dataDir = makeFolder(t);
  const config = join(dataDir, 'gateway.yaml');
  writeFileSync(config, 'organization: { enabled: true }\nscim: { enabled: true }\n');
  const env = { GATEWAY_MANAGEMENT_KEY: MANAGEMENT_KEY };
  const gateway = await startGateway(t, { dataDir, args: ['--config', config], env });
  const scim = (...args: readonly string[]) => captureCli(['scim', ...args, '--data-dir', dataDir, '--config', config]);
  const made = await scim('token', 'create', 'Entra ID');
  const token = made.stdout.trim();
  assert.match(token, /^scim-[\w-]{43}$/);
  const send = (method: string, path: string, body?: object) =>
    fetch(`${gateway.url}/scim/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  assert.equal((await send('POST', '/Users', { userName: 'mia@acme.example' })).status, 201);
  const listed = await scim('token', 'list');
  const [, id = ''] =
    /^(\S+) {2}scim-\.\.\.\S{4} {2}Entra ID {2}until .* {2}last used .* from 127\.0\.0\.1\n$/.exec(listed.stdout) ?? [];
  assert.ok(id, listed.stdout);
  const file = join(dataDir, 'requests.json');
  const requests = [
    { method: 'POST', path: '/Users', body: { userName: 'kim@acme.example' } },
    { method: 'POST', path: '/Users', body: { userName: 'mia@acme.example' } },
    { method: 'POST', path: '/Groups', body: { displayName: 'lab' } },
    { path: '/Users?filter=userName%20eq%20%22kim@acme.example%22' },
  ];
  writeFileSync(file, JSON.stringify(requests));
  const tried = await scim('check-file', file);
  assert.equal(tried.code, 1, tried.stderr);
  assert.match(
    tried.stdout,
    /^1 .* 201 {2}scimCreateUser .*\n2 .* 409 {2}userName: .* is taken\.\n3 .* 201 {2}scimCreateGroup .*\n4 .* 200 {2}changes nothing\n$/,
  );
  let { stdout } = await scim('status');
  // The log of requests is written once a second.
  for (let tries = 0; tries < 40 && stdout.includes('request: none'); tries++) {
    await sleep(100);
    ({ stdout } = await scim('status'));
  }
  assert.match(
    stdout,
    /^SCIM is on\n1 users, 1 of them active; 0 groups, 0 mappings\nlast request: .*\/scim\/v2\/Users {2}201/,
  );
  assert.equal((await scim('token', 'delete', id)).code, 0);
  assert.equal((await send('GET', '/Users')).status, 401);
  assert.equal((await scim('token', 'delete', id)).code, 1);
  assert.equal((await scim('token')).code, 2);
});
