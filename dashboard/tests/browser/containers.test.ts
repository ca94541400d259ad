import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { makeRootfs } from '../../../src/containers/rootfs.ts';
import { findChromium, findWithAxe, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();
const isThere = process.platform === 'linux' && existsSync('/usr/bin/bwrap');

suite('containers', { skip: CHROMIUM === undefined || !isThere }, () => {
  let stand: Stand;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'container-page-'));
    await makeRootfs(join(folder, 'rootfs'));
    stand = await startStand(CHROMIUM ?? '', {
      yaml: `containers: { runtime: auto, rootfs: "${join(folder, 'rootfs')}" }\n`,
    });
  });
  after(async () => {
    await stand.close();
    await rm(folder, { recursive: true, force: true });
  });

  test('are listed with their files, which are saved, and deleted after the id is typed', async () => {
    const { page, context, problems } = await stand.open();
    await visit(page, `${stand.url}/ui/containers`);
    await page.getByText('There is no container in this workspace').waitFor();
    assert.equal((await stand.call('/containers', { id: 'report-7', memory_mb: 64 })).status, 201);
    await stand.call('/workspaces/default', { is_observability_io_logging_enabled: true }, undefined, 'PATCH');
    const form = new FormData();
    form.append('file', new Blob(['a,b']), 'data.csv');
    await fetch(`${stand.url}/v1/containers/report-7/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stand.apiKey}` },
      body: form,
    });
    await visit(page, `${stand.url}/ui/containers`);
    await page.getByRole('gridcell', { name: 'report-7' }).click();
    await page.getByText('/mnt/uploads/data.csv').waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download /mnt/uploads/data.csv' }).click();
    const saved = await saving;
    assert.equal(saved.suggestedFilename(), 'data.csv');
    assert.equal(await readFile(await saved.path(), 'utf8'), 'a,b');
    await page.getByRole('button', { name: 'Delete the container' }).click();
    await page.getByLabel(/Type/).fill('report-7');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete container' }).click();
    await page.getByText('There is no container in this workspace').waitFor();
    await context.close();
    assert.deepEqual(problems, []);
  });
});
