import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { makeRootfs } from '../../src/containers/rootfs.ts';
import { isJsonObject, parseJson, type JsonObject } from '../../src/lib/json.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway } from '../support/gateway.ts';
import { ask, startToolTurns, type ToolTurns } from '../support/tool-turns.ts';

const isThere = process.platform === 'linux' && existsSync('/usr/bin/bwrap');
const skip =
  isThere || process.env['REQUIRE_CONTAINERS'] === '1'
    ? false
    : 'bubblewrap is not installed here: NO route of containers was tried';

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: JsonObject;
}

function textAt(body: JsonObject, member: string): string {
  const value = body[member];
  assert.ok(typeof value === 'string', member);
  return value;
}

suite('routes of containers', { skip }, () => {
  let folder: string;
  let yaml: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'container-routes-'));
    const rootfs = join(folder, 'rootfs');
    await makeRootfs(rootfs);
    yaml = `containers: { runtime: auto, rootfs: "${rootfs}", limits: { memory_mb: 96, disk_mb: 4 } }`;
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const caller =
    (turns: Pick<ToolTurns, 'gateway'>) =>
    async (method: string, path: string, body?: object | FormData, key = API_KEY): Promise<Answer> => {
      const isForm = body instanceof FormData;
      const response = await fetch(turns.gateway.baseUrl + path, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const parsed = parseJson(text);
      return { status: response.status, text, body: isJsonObject(parsed) ? parsed : {} };
    };

  /** A gateway whose model runs these commands in the container `mine`, one call after the other. */
  async function start(t: Parameters<typeof startToolTurns>[0], commands: readonly string[]) {
    const turns = await startToolTurns(
      t,
      (arrived, at) =>
        at % 2 === 0
          ? { calls: [{ name: 'service_shell', input: JSON.stringify({ commands: [commands[at / 2]] }) }] }
          : { text: JSON.stringify(arrived.body['messages']).slice(-900) },
      { yaml },
    );
    const environment = { type: 'container_reference', container_id: 'mine' };
    const tools = [{ type: 'service:shell', parameters: { environment } }];
    const run = () => ask(turns, { format: 'messages', model: 'acme/messages', stream: false }, { tools });
    return { turns, call: caller(turns), run };
  }

  // @spec container-16, container-17
  test('get files of the workspace, and tell of what they make', async (t) => {
    const { call, run } = await start(t, [
      'mkdir -p outputs; cat /mnt/files/notes.txt > outputs/copy.txt; echo x > beside; echo x >> /mnt/files/notes.txt',
      'cat outputs/copy.txt',
    ]);
    const form = new FormData();
    form.set('file', new Blob(['from the workspace']), 'notes.txt');
    const stored = await call('POST', '/files', form);
    assert.equal(stored.status, 200, stored.text);
    const fileId = textAt(stored.body, 'id');
    const wrong = await call('POST', '/containers', { id: 'other', file_ids: [fileId, 'file_none'] });
    assert.equal(wrong.status, 400, wrong.text);
    assert.match(wrong.text, /"path":"file_ids\[1\]"/);
    assert.equal((await call('GET', '/containers/other')).status, 404, 'nothing is made by halves');
    const made = await call('POST', '/containers', { id: 'mine', file_ids: [fileId] });
    assert.equal(made.status, 201, made.text);
    const first = await run();
    assert.match(JSON.stringify(first), /Read-only file system/);
    const outputs = /files[^\]]*outputs\/copy\.txt[^\]]*18/.exec(JSON.stringify(first))?.[0] ?? '';
    assert.ok(outputs !== '' && !outputs.includes('beside'), JSON.stringify(first));
    const listed = await call('GET', '/containers/mine/files');
    assert.match(listed.text, /"path":"\/mnt\/files\/notes\.txt"[^}]*"source":"user"/);
    const second = await run();
    assert.match(JSON.stringify(second), /from the workspace/);
    assert.doesNotMatch(JSON.stringify(second), /outputs\/copy\.txt[^\]]*18/, 'a call tells of what it made alone');
    const output = /"id":"(cfile_[^"]+)"[^}]*"path":"outputs\/copy\.txt"/.exec(listed.text)?.[1] ?? '';
    const promoted = await call('POST', `/containers/mine/files/${output}/promote`);
    assert.equal(promoted.status, 200, promoted.text);
    assert.notEqual(textAt(promoted.body, 'id'), fileId);
  });

  // @spec container-11, container-12
  test('make, show, list and delete containers, which commands use', async (t) => {
    const { call, run } = await start(t, ['mkdir -p out && echo hello > out/a.txt && ln -s /etc/passwd out/link']);
    const made = await call('POST', '/containers', {
      id: 'mine',
      memory_mb: 64,
      expires_after: { anchor: 'last_active_at', minutes: 60 },
    });
    assert.equal(made.status, 201, made.text);
    assert.partialDeepStrictEqual(made.body, {
      id: 'mine',
      object: 'container',
      status: 'asleep',
      memory_mb: 64,
      network: 'none',
    });
    assert.equal(Number(made.body['expires_at']) - Number(made.body['last_active_at']), 3_600);
    assert.equal((await call('POST', '/containers', { id: 'mine' })).status, 409);
    for (const [body, path] of [
      [{ id: 'a b' }, 'id'],
      [{ memory_mb: 9_999 }, 'memory_mb'],
      [{ network: 'allowlist' }, 'network'],
      [{ image: 'debian' }, 'image'],
      [{ expires_after: { anchor: 'last_active_at', minutes: 43_200 } }, 'expires_after.minutes'],
    ] as const) {
      const refused = await call('POST', '/containers', body);
      assert.equal(refused.status, 400, refused.text);
      assert.ok(refused.text.includes(`"path":"${path}"`), refused.text);
    }
    await run();
    const files = await call('GET', '/containers/mine/files');
    const { data } = files.body;
    assert.ok(Array.isArray(data) && data.length === 1, 'no link is a file');
    assert.partialDeepStrictEqual(data[0], {
      object: 'container.file',
      path: 'out/a.txt',
      bytes: 6,
      source: 'assistant',
    });
    const other = await call('POST', '/containers', {});
    const page = await call('GET', '/containers?limit=1');
    assert.partialDeepStrictEqual(page.body, { has_more: true });
    const rest = await call('GET', `/containers?after=${textAt(page.body, 'last_id')}`);
    const found = new Set([page.body['first_id'], rest.body['first_id']]);
    assert.deepEqual(found, new Set([other.body['id'], 'mine']));
    assert.deepEqual((await call('DELETE', '/containers/mine')).body, { deleted: true });
    for (const path of ['/containers/mine', '/containers/mine/files', '/containers/mine/files/cfile_YQ/content'])
      assert.equal((await call('GET', path)).status, 404, path);
  });

  // @spec container-12, container-13
  test('give files to the workspace and to no other one, and keep copies where they stay', async (t) => {
    const { call, run } = await start(t, ['echo "# Report" > report.md && head -c 100 /dev/zero > zeros']);
    await run();
    const id = (path: string) => `cfile_${Buffer.from(path).toString('base64url')}`;
    const content = await call('GET', `/containers/mine/files/${id('report.md')}/content`);
    assert.equal(content.text, '# Report\n');
    for (const path of ['../container.json', '/etc/passwd', 'report.md/', '/mnt/uploads/../../container.json'])
      assert.equal((await call('GET', `/containers/mine/files/${id(path)}/content`)).status, 404, path);
    const kept = await call('POST', `/containers/mine/files/${id('report.md')}/promote`);
    assert.equal(kept.status, 200, kept.text);
    assert.partialDeepStrictEqual(kept.body, { filename: 'report.md', mime_type: 'text/markdown', downloadable: true });
    assert.equal((await call('GET', `/files/${textAt(kept.body, 'id')}/content`)).text, '# Report\n');
    assert.equal((await call('POST', `/containers/mine/files/${id('zeros')}/promote`)).status, 400, 'no kind of file');
    const blind = await call('GET', `/containers/mine/files/${id('report.md')}/content`, undefined, MANAGEMENT_KEY);
    assert.equal(blind.status, 403, blind.text);
    assert.equal((await call('GET', '/containers/mine/files', undefined, MANAGEMENT_KEY)).status, 200);
    await call('PATCH', '/workspaces/default', { is_observability_io_logging_enabled: true }, MANAGEMENT_KEY);
    const seen = await call('GET', `/containers/mine/files/${id('report.md')}/content`, undefined, MANAGEMENT_KEY);
    assert.equal(seen.status, 200, seen.text);
    const made = await call('POST', '/workspaces', { name: 'Other', slug: 'other' }, MANAGEMENT_KEY);
    const workspace = isJsonObject(made.body['data']) ? textAt(made.body['data'], 'id') : '';
    const elsewhere = await call('GET', `/containers/mine?workspace_id=${workspace}`, undefined, MANAGEMENT_KEY);
    assert.equal(elsewhere.status, 404);
    assert.equal((await call('GET', `/containers/mine?workspace_id=${workspace}`)).status, 404);
  });

  // @spec container-14
  test('take files that commands read and cannot change, within the disk of the container', async (t) => {
    const command = 'cat /mnt/uploads/data.csv; echo x > /mnt/uploads/data.csv; rm /mnt/uploads/data.csv; ls /mnt';
    const { call, run } = await start(t, [command]);
    const upload = (name: string, text: string) => {
      const form = new FormData();
      form.append('file', new Blob([text]), name);
      return call('POST', '/containers/mine/files', form);
    };
    assert.equal((await upload('data.csv', 'a')).status, 404, 'there is no container yet');
    await call('POST', '/containers', { id: 'mine' });
    const put = await upload('data.csv', 'a,b\n1,2\n');
    assert.equal(put.status, 201, put.text);
    assert.partialDeepStrictEqual(put.body, { path: '/mnt/uploads/data.csv', bytes: 8, source: 'user' });
    const { text } = await run();
    assert.match(text, /a,b/);
    assert.match(text, /Read-only file system/);
    const found = await call('GET', `/containers/mine/files/${textAt(put.body, 'id')}/content`);
    assert.equal(found.text, 'a,b\n1,2\n');
    assert.equal((await upload('large', 'x'.repeat(5 * 1_048_576))).status, 413);
    const files = await call('GET', '/containers/mine/files');
    assert.ok(!files.text.includes('large') && !files.text.includes('draft'), files.text);
  });
});

// @spec container-11
test('are 404 with the setting that turns them on, where containers are off', async (t) => {
  const gateway = await startGateway({});
  t.after(() => gateway.close());
  const response = await fetch(`${gateway.baseUrl}/containers`, { headers: { authorization: `Bearer ${API_KEY}` } });
  assert.equal(response.status, 404);
  assert.match(await response.text(), /Set containers\.runtime/);
});
