import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { systemClock as clock } from '../lib/clock.ts';
import { systemDisk, type Disk } from './disk.ts';
import { readFrames } from './frames.ts';
import { listSegments, makeSegment, readHead, SEGMENT_BYTES, SEGMENT_FORMAT } from './segments.ts';
import { JournalError, JournalWriter, type JournalWriterOptions } from './writer.ts';

const STREAM = '000000000000001-abcdefABCDEF';

async function makeJournalFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'journal-'));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

async function openWriter(t: TestContext, disk: Partial<Disk> = {}, options: Partial<JournalWriterOptions> = {}) {
  const folder = await makeJournalFolder(t);
  const headOf = (base: number) => ({ format: SEGMENT_FORMAT, database: 'd', stream: STREAM, base, columns: ['id'] });
  const lost: string[] = [];
  const stuck: boolean[] = [];
  let writes = 0;
  const counted: Disk = {
    ...systemDisk,
    writeNow: (...args) => (writes++, (disk.writeNow ?? systemDisk.writeNow)(...args)),
    write: disk.write ?? systemDisk.write,
    sync: disk.sync ?? systemDisk.sync,
  };
  const writer = new JournalWriter({
    first: await makeSegment(folder, headOf(0)),
    make: (base) => makeSegment(folder, headOf(base)),
    isSynced: false,
    disk: counted,
    clock,
    onWritten: () => undefined,
    onFull: () => undefined,
    onStuck: (isStuck) => stuck.push(isStuck),
    onLost: (payload) => lost.push(payload),
    ...options,
  });
  return { writer, folder, lost, stuck, writes: () => writes };
}

/** All records in the segments of a folder. */
async function readAll(folder: string): Promise<readonly string[]> {
  const payloads: string[] = [];
  for (const { path } of await listSegments(folder)) {
    const bytes = await readFile(path);
    payloads.push(...readFrames(bytes, readHead(bytes)?.start).frames.map(({ payload }) => payload));
  }
  return payloads;
}

suite('the writer of a journal', () => {
  test('writes what is appended in one turn of the event loop at once, before it settles', async (t) => {
    const { writer, folder, writes } = await openWriter(t);
    await Promise.all(['1', '2', '3'].map((payload) => writer.append(payload)));
    assert.equal(writes(), 1);
    assert.deepEqual(await readAll(folder), ['1', '2', '3']);
    await writer.append('4');
    assert.deepEqual(await readAll(folder), ['1', '2', '3', '4']);
    await writer.close(2_000);
  });

  test('goes on in the next segment, and splits no record', async (t) => {
    const full: number[] = [];
    const { writer, folder } = await openWriter(t, {}, { onFull: (_segment, end) => full.push(end) });
    const payload = `"${'x'.repeat(300_000)}"`;
    for (let count = 0; count < 40; count++) await writer.append(payload);
    assert.equal((await readAll(folder)).length, 40);
    assert.equal(full.length, 3);
    assert.ok(full.every((end) => end <= SEGMENT_BYTES && end > SEGMENT_BYTES - 301_000));
    await writer.close(2_000);
  });

  test('leaves the event loop alone once the disk is slow, and comes back to it', async (t) => {
    let slow = true;
    let threaded = 0;
    const { writer, folder } = await openWriter(t, {
      writeNow(...args) {
        if (slow) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
        return systemDisk.writeNow(...args);
      },
      async write(...args) {
        threaded++;
        await wait(5);
        return systemDisk.write(...args);
      },
    });
    await writer.append('1');
    await Promise.all(['2', '3'].map((payload) => writer.append(payload)));
    const later = writer.append('4');
    await later;
    assert.equal(threaded, 2);
    slow = false;
    await wait(1_050);
    await writer.append('5');
    assert.equal(threaded, 2);
    assert.deepEqual(await readAll(folder), ['1', '2', '3', '4', '5']);
    await writer.close(2_000);
  });

  test('leaves the event loop alone while a sync takes long', async (t) => {
    const held = Promise.withResolvers<void>();
    const began = Promise.withResolvers<void>();
    let threaded = 0;
    const { writer } = await openWriter(t, {
      sync: () => (began.resolve(), held.promise),
      write: (...args) => (threaded++, systemDisk.write(...args)),
    });
    await writer.append('1');
    await began.promise;
    await wait(120);
    await writer.append('2');
    assert.equal(threaded, 1);
    held.resolve();
    await writer.close(2_000);
  });

  test('closes in a bounded time beside a disk whose syncs hang, with all of it written', async (t) => {
    const hung = Promise.withResolvers<void>();
    const { writer, folder, lost } = await openWriter(t, { sync: () => hung.promise });
    await writer.append('1');
    await writer.close(50);
    assert.deepEqual([await readAll(folder), lost], [['1'], []]);
    hung.resolve();
  });

  test('closes in a bounded time beside a disk whose writes hang, and gives up what was not written', async (t) => {
    const hung = Promise.withResolvers<void>();
    const { writer, lost } = await openWriter(t, {
      sync: () => hung.promise,
      write: () => new Promise(() => undefined),
    });
    await writer.append('1');
    await wait(120);
    const refused = assert.rejects(writer.append('2'), JournalError);
    await writer.close(50);
    await refused;
    assert.deepEqual(lost, ['2']);
    hung.resolve();
  });

  test('rejects what the disk does not take in two seconds, and writes it once all the same', async (t) => {
    let isFull = true;
    const { writer, folder, lost, stuck } = await openWriter(t, {
      writeNow(...args) {
        if (isFull) throw new Error('no space left');
        return systemDisk.writeNow(...args);
      },
    });
    const beganMs = performance.now();
    await assert.rejects(writer.append('1'), JournalError);
    assert.ok(performance.now() - beganMs > 1_900);
    assert.deepEqual(stuck, [true]);
    isFull = false;
    await writer.append('2');
    assert.deepEqual(await readAll(folder), ['1', '2']);
    assert.deepEqual([lost, stuck], [[], [true, false]]);
    await writer.close(2_000);
  });

  test('gives up what it could not write when it closes', async (t) => {
    const { writer, lost } = await openWriter(t, {
      writeNow() {
        throw new Error('no space left');
      },
    });
    const refused = assert.rejects(writer.append('1'), JournalError);
    await new Promise(setImmediate);
    await writer.close(2_000);
    await refused;
    await assert.rejects(writer.append('2'), /closed/);
    assert.deepEqual(lost, ['1', '2']);
  });

  test('settles only after the sync where records must survive the loss of power', async (t) => {
    const order: string[] = [];
    const { writer } = await openWriter(
      t,
      {
        async sync(fd) {
          await systemDisk.sync(fd);
          order.push('sync');
        },
      },
      { isSynced: true },
    );
    await Promise.all([writer.append('1'), writer.append('2')].map((done) => done.then(() => order.push('end'))));
    assert.deepEqual(order, ['sync', 'end', 'end']);
    await writer.close(2_000);
  });

  test('has no room without a further segment, and makes one as soon as it can', async (t) => {
    let mayMake = false;
    const folder = await makeJournalFolder(t);
    const { writer, stuck } = await openWriter(
      t,
      {},
      {
        make: (base) =>
          mayMake
            ? makeSegment(folder, { format: SEGMENT_FORMAT, database: 'd', stream: STREAM, base, columns: [] })
            : Promise.reject(new Error('no space left')),
      },
    );
    await new Promise(setImmediate);
    assert.ok(writer.hasRoomFor(100));
    assert.ok(!writer.hasRoomFor(2_000));
    mayMake = true;
    while (!writer.hasRoomFor(2_000)) await wait(50);
    assert.deepEqual(stuck, [true, false]);
    await writer.close(2_000);
  });

  test('writes over what a failed write has left', async (t) => {
    let failures = 1;
    const { writer, folder } = await openWriter(t, {
      writeNow(fd, bytes, position) {
        if (failures-- > 0) {
          systemDisk.writeNow(fd, bytes.subarray(0, 5), position);
          throw new Error('input/output error');
        }
        return systemDisk.writeNow(fd, bytes, position);
      },
    });
    await writer.append('"one"');
    await writer.append('"two"');
    assert.deepEqual(await readAll(folder), ['"one"', '"two"']);
    await writer.close(2_000);
  });

  test('gives up a record that is too large', async (t) => {
    const { writer, lost } = await openWriter(t);
    await assert.rejects(writer.append('x'.repeat(400_000)), /too large/);
    assert.equal(lost.length, 1);
    await writer.close(2_000);
  });
});
