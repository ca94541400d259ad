import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { after, before, suite, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI, { toFile } from 'openai';
import type { JsonObject } from '../../src/lib/json.ts';
import { manage, textAt } from '../support/byok.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { PNG_BASE64 } from '../support/files/media.ts';
import { listOf, objectOf } from '../support/reported.ts';
import { upload, type Uploaded, type UploadInput } from '../support/files/upload.ts';

const PNG = Buffer.from(PNG_BASE64, 'base64');

const get = (gateway: RunningGateway, path: string, key = API_KEY): ReturnType<typeof manage> =>
  manage(gateway, 'GET', path, undefined, key);

function messageOf({ body }: Pick<Uploaded, 'body'>): string {
  return textAt(objectOf(body['error']), 'message');
}

async function filesOnDisk({ dataDir }: RunningGateway): Promise<readonly string[]> {
  const entries = await readdir(join(dataDir, 'files'), { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

async function makeKey(gateway: RunningGateway, workspace: string): Promise<{ key: string; workspaceId: string }> {
  const made = await manage(gateway, 'POST', '/workspaces', { name: workspace, slug: workspace });
  assert.equal(made.status, 201, made.text);
  const workspaceId = textAt(objectOf(made.body['data']), 'id');
  const created = await manage(gateway, 'POST', '/keys', { name: workspace, workspace_id: workspaceId });
  assert.equal(created.status, 201, created.text);
  return { key: textAt(created.body, 'key'), workspaceId };
}

suite('files', () => {
  let gateway: RunningGateway;
  before(async () => {
    gateway = await startGateway();
  });
  after(() => gateway.close());

  // @spec file-1
  test('are stored, found, listed and deleted completely', async () => {
    const { status, body } = await upload(gateway, 'Hello.');
    assert.equal(status, 200);
    const { created_at: _at, id: _id, ...rest } = body;
    const [id, at] = [textAt(body, 'id'), textAt(body, 'created_at')];
    assert.deepEqual(rest, {
      _shape: 'service',
      type: 'file',
      filename: 'notes.txt',
      mime_type: 'text/plain',
      size_bytes: 6,
      downloadable: false,
    });
    assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000);
    assert.deepEqual((await get(gateway, `/files/${id}`)).body, body);
    assert.deepEqual(await filesOnDisk(gateway), [id]);
    const { body: deleted } = await manage(gateway, 'DELETE', `/files/${id}`, undefined, API_KEY);
    assert.deepEqual(deleted, { _shape: 'service', id, type: 'file_deleted' });
    assert.equal((await get(gateway, `/files/${id}`)).status, 404);
    assert.equal((await manage(gateway, 'DELETE', `/files/${id}`, undefined, API_KEY)).status, 404);
    assert.deepEqual(await filesOnDisk(gateway), []);
  });

  // @spec file-2
  test('are typed by their bytes, whatever their name', async () => {
    const { body } = await upload(gateway, PNG, { name: 'page.html' });
    assert.equal(body['mime_type'], 'image/png');
    assert.equal(body['size_bytes'], PNG.length);
  });

  // @spec file-4
  test('are listed oldest first, page by page', async () => {
    const listing = await startGateway();
    try {
      const ids: unknown[] = [];
      for (const name of ['1.txt', '2.txt', '3.txt'])
        ids.push((await upload(listing, `file ${name}`, { name })).body['id']);
      const first = (await get(listing, '/files?limit=2')).body;
      assert.deepEqual(
        listOf(first['data']).map((file) => objectOf(file)['id']),
        ids.slice(0, 2),
      );
      assert.deepEqual(
        [first['_shape'], first['has_more'], first['first_id'], first['last_id'], first['cursor']],
        ['service', true, ids[0], ids[1], ids[1]],
      );
      const second = (await get(listing, `/files?limit=2&cursor=${textAt(first, 'cursor')}`)).body;
      assert.deepEqual([second['has_more'], second['cursor'], second['last_id']], [false, null, ids[2]]);
      for (const query of ['limit=0', 'limit=1001', 'order=desc', `before_id=${String(ids[0])}`, 'after=x', 'other=1'])
        assert.equal((await get(listing, `/files?${query}`)).status, 400, query);
    } finally {
      await listing.close();
    }
  });

  // @spec file-5
  test('cannot be downloaded when they were uploaded', async () => {
    const { body } = await upload(gateway, 'Mine.');
    const content = await get(gateway, `/files/${textAt(body, 'id')}/content`);
    assert.equal(content.status, 400);
    assert.match(messageOf(content), /uploaded/);
    assert.equal((await get(gateway, '/files/file_nothing/content')).status, 404);
  });

  // @spec file-12
  suite('refused uploads', () => {
    const cases: readonly (readonly [
      name: string,
      content: string | Uint8Array<ArrayBuffer>,
      settings: Partial<UploadInput>,
      message: RegExp,
    ])[] = [
      ['an empty one', '', {}, /file: is empty/],
      ['a type that is not taken', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0]), {}, /none of the types/],
      ['a purpose that is none', 'x', { fields: { purpose: 'fun' } }, /form\.purpose/],
      ['an end that is too soon', 'x', { fields: { 'expires_after[seconds]': '5' } }, /expires_after\[seconds\]/],
      ['a name that is too long', 'x', { name: 'n'.repeat(256) }, /file\.filename/],
      ['one that is to be stored elsewhere', 'x', { query: '?provider=openai' }, /query\.provider/],
      ['an unknown parameter', 'x', { query: '?colour=red' }, /query\.colour|query: /],
    ];
    for (const [name, content, input, message] of cases)
      test(name, async () => {
        const known = await filesOnDisk(gateway);
        const answered = await upload(gateway, content, input);
        assert.equal(answered.status, 400);
        assert.match(messageOf(answered), message);
        assert.deepEqual(await filesOnDisk(gateway), known, 'nothing of it is left');
      });

    // @spec file-1
    test('reject invalid forms', async () => {
      const send = async (body: string | FormData, headers: Record<string, string> = {}): Promise<Uploaded> => {
        const authorization = `Bearer ${API_KEY}`;
        const response = await fetch(`${gateway.baseUrl}/files`, {
          method: 'POST',
          headers: { authorization, ...headers },
          body,
        });
        return { status: response.status, body: (await response.json()) as JsonObject };
      };
      const multipart = { 'content-type': 'multipart/form-data; boundary=x' };
      const part = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\nabc';
      const two = new FormData();
      two.append('file', new Blob(['one']), '1.txt');
      two.append('file', new Blob(['two']), '2.txt');
      const another = new FormData();
      another.append('picture', new Blob(['one']), '1.txt');
      const many = new FormData();
      many.append('file', new Blob(['one']), '1.txt');
      for (let at = 0; at < 20; at++) many.append(`field${at}`, 'x');
      const forms: readonly (readonly [body: string | FormData, headers: Record<string, string>])[] = [
        ['{}', { 'content-type': 'application/json' }],
        ['', {}],
        ['--x--\r\n', multipart],
        [part, multipart],
        [`${part}\r\n--x\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nvis`, multipart],
        [`${part}\r\n`, { 'content-type': 'multipart/form-data' }],
        [two, {}],
        [another, {}],
        [many, {}],
      ];
      for (const [body, headers] of forms) {
        const answered = await send(body, headers);
        assert.equal(answered.status, 400, JSON.stringify(answered.body));
        assert.equal(objectOf(answered.body['error'])['code'], 400);
      }
    });

    test('reject a file without a key, before it is read', async () => {
      assert.equal((await upload(gateway, 'x', { key: 'sk-unknown' })).status, 401);
    });

    test('reject a form with a declared size over the limit, before it is read', async () => {
      const status = await new Promise<number | undefined>((resolve, reject) => {
        const sent = request(`${gateway.baseUrl}/files`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${API_KEY}`,
            'content-type': 'multipart/form-data; boundary=x',
            'content-length': 200_000_000,
          },
        });
        sent.on('response', (response) => resolve(response.statusCode));
        sent.on('error', reject);
        sent.flushHeaders();
      });
      assert.equal(status, 413);
    });
  });

  test('accept a field that follows the file', async () => {
    const known = await filesOnDisk(gateway);
    const field = (name: string): string => `content-disposition: form-data; name="${name}"`;
    const answered = await new Promise<JsonObject>((resolve, reject) => {
      const sent = request(`${gateway.baseUrl}/files`, {
        method: 'POST',
        headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'multipart/form-data; boundary=x' },
      });
      sent.on('error', reject);
      sent.on('response', (response) => void json(response).then((body) => resolve(body as JsonObject), reject));
      sent.write(`--x\r\n${field('file')}; filename="a.txt"\r\n\r\nabc\r\n--x\r\n${field('purpose')}\r\n\r\n`);
      const goOn = async (): Promise<void> => {
        while ((await filesOnDisk(gateway)).length === known.length) await wait(5);
        // An implementation that does not wait for the field has responded by then.
        await wait(50);
        sent.end('vision\r\n--x--\r\n');
      };
      goOn().catch(reject);
    });
    assert.deepEqual([answered['_shape'], answered['purpose']], ['openai', 'vision']);
  });

  test('leave nothing when the caller hangs up', async () => {
    const known = await filesOnDisk(gateway);
    await new Promise<void>((resolve) => {
      const sent = request(`${gateway.baseUrl}/files`, {
        method: 'POST',
        headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'multipart/form-data; boundary=x' },
      });
      sent.on('error', () => resolve());
      sent.write('--x\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n');
      sent.write('a'.repeat(200_000));
      const look = setInterval(() => void hangUp(), 5);
      const hangUp = async (): Promise<void> => {
        if ((await filesOnDisk(gateway)).length === known.length) return;
        clearInterval(look);
        sent.destroy();
      };
    });
    for (let tries = 0; (await filesOnDisk(gateway)).length > known.length; tries++) {
      assert.ok(tries < 500, 'what was begun is cleared away');
      await wait(10);
    }
    const { body } = await get(gateway, '/files?limit=1000');
    assert.equal(listOf(body['data']).length, known.length);
  });
});

suite('files of a workspace', () => {
  // @spec file-6
  test('are invisible to others, and a management key names its workspace', async (t) => {
    const gateway = await startGateway();
    t.after(() => gateway.close());
    const { key, workspaceId } = await makeKey(gateway, 'other');
    const id = textAt((await upload(gateway, 'Ours.', { key })).body, 'id');
    for (const path of [`/files/${id}`, `/files/${id}/content`]) assert.equal((await get(gateway, path)).status, 404);
    assert.equal((await manage(gateway, 'DELETE', `/files/${id}`, undefined, API_KEY)).status, 404);
    assert.equal((await get(gateway, `/files?workspace_id=${workspaceId}`)).status, 404);
    assert.deepEqual((await get(gateway, '/files')).body['data'], []);
    assert.equal((await get(gateway, `/files/${id}?workspace_id=${workspaceId}`, MANAGEMENT_KEY)).status, 200);
    const deleted = await manage(gateway, 'DELETE', `/files/${id}?workspace_id=${workspaceId}`);
    assert.equal(deleted.status, 200);
    const audit = await manage(gateway, 'GET', '/audit');
    const [event] = listOf(audit.body['data']).map((one) => objectOf(one));
    assert.equal(event?.['action'], 'deleteFile', 'what an administrator deletes is on record');
  });

  test('are refused for a workspace that does not exist', async (t) => {
    const gateway = await startGateway();
    t.after(() => gateway.close());
    const query = '?workspace_id=11111111-1111-4111-8111-111111111111';
    assert.equal((await upload(gateway, 'Nobody’s.', { key: MANAGEMENT_KEY, query })).status, 400);
    assert.equal((await get(gateway, `/files${query}`, MANAGEMENT_KEY)).status, 400);
  });

  // @spec file-7
  test('have a quota, and deletion frees it', async (t) => {
    const gateway = await startGateway({ yaml: 'files: { workspace_quota_mb: 0.001 }' });
    t.after(() => gateway.close());
    const content = 'x'.repeat(700);
    const { body, status } = await upload(gateway, content);
    assert.equal(status, 200);
    const refused = await upload(gateway, content);
    assert.equal(refused.status, 413);
    assert.match(messageOf(refused), /1048 bytes/);
    assert.equal((await filesOnDisk(gateway)).length, 1);
    await manage(gateway, 'DELETE', `/files/${textAt(body, 'id')}`, undefined, API_KEY);
    assert.equal((await upload(gateway, content)).status, 200);
  });

  test("are stored in the operator's directory", async (t) => {
    const elsewhere = await startGateway();
    t.after(() => elsewhere.close());
    const directory = join(elsewhere.dataDir, 'elsewhere');
    const gateway = await startGateway({ yaml: `files: { directory: "${directory}" }` });
    t.after(() => gateway.close());
    await upload(gateway, 'Hello.');
    assert.deepEqual(await filesOnDisk(gateway), []);
    assert.equal((await readdir(directory)).length, 1);
  });
});

suite('the shape of an answer', () => {
  let gateway: RunningGateway;
  before(async () => {
    gateway = await startGateway();
  });
  after(() => gateway.close());

  // @spec file-3
  test('is that of the vendor whose client calls', async () => {
    const forB = { 'anthropic-version': '2023-06-01' };
    assert.equal((await upload(gateway, 'x', { headers: forB })).body['_shape'], 'anthropic');
    assert.equal((await upload(gateway, 'x', { fields: { purpose: 'vision' } })).body['_shape'], 'openai');
    assert.equal((await upload(gateway, 'x')).body['_shape'], 'service');
  });

  test('serves the SDK of one vendor', async () => {
    const { files } = new OpenAI({ apiKey: API_KEY, baseURL: gateway.baseUrl, maxRetries: 0 });
    const file = await toFile(Buffer.from('{"a":1}\n{"a":2}\n'), 'batch.jsonl');
    const created = await files.create({
      file,
      purpose: 'batch',
      expires_after: { anchor: 'created_at', seconds: 3_600 },
    });
    assert.deepEqual(
      [created.object, created.purpose, created.bytes, created.filename, created.status],
      ['file', 'batch', 16, 'batch.jsonl', 'processed'],
    );
    assert.equal(created.expires_at, created.created_at + 3_600);
    assert.deepEqual(await files.retrieve(created.id), created);
    await files.create({ file: await toFile(Buffer.from('two'), '2.txt'), purpose: 'batch' });
    const names: string[] = [];
    for await (const one of files.list({ purpose: 'batch', limit: 1 })) names.push(one.filename);
    assert.deepEqual(names, ['batch.jsonl', '2.txt']);
    assert.equal((await files.waitForProcessing(created.id)).id, created.id);
    await assert.rejects(files.content(created.id), OpenAI.BadRequestError);
    assert.deepEqual(await files.delete(created.id), {
      _shape: 'openai',
      id: created.id,
      object: 'file',
      deleted: true,
    });
    await assert.rejects(files.retrieve(created.id), OpenAI.NotFoundError);
  });

  test('serves the SDK of the other', async () => {
    const { files } = new Anthropic({ apiKey: API_KEY, baseURL: gateway.url, maxRetries: 0 }).beta;
    const created = await files.upload({ file: await toFile(PNG, 'pixel.png') });
    assert.deepEqual(
      [created.type, created.mime_type, created.size_bytes, created.filename, created.downloadable],
      ['file', 'image/png', PNG.length, 'pixel.png', false],
    );
    assert.deepEqual(await files.retrieveMetadata(created.id), created);
    await files.upload({ file: await toFile(PNG, 'second.png') });
    const names: string[] = [];
    for await (const one of files.list({ limit: 1 })) names.push(one.filename);
    assert.ok(names.includes('pixel.png') && names.includes('second.png'), String(names));
    await assert.rejects(files.download(created.id), Anthropic.BadRequestError);
    assert.equal((await files.delete(created.id)).id, created.id);
    await assert.rejects(files.retrieveMetadata(created.id), Anthropic.NotFoundError);
  });
});
