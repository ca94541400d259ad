import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { createPublicLookup } from './public-lookup.ts';

const TYPE_A = 1;
const TYPE_AAAA = 28;
const HEADER_BYTES = 12;
const NAME_ERROR = 3;

/** A name server that knows one name, never answers for another, and has no other names. RFC 1035 4.1 */
async function startNameServer(t: TestContext): Promise<string> {
  const socket = createSocket('udp4');
  socket.on('message', (query, { address, port }) => {
    const end = query.indexOf(0, HEADER_BYTES) + 1;
    const name = query.subarray(HEADER_BYTES + 1, end - 1).toString('latin1');
    const type = query.readUInt16BE(end);
    if (name.startsWith('silent')) return;
    const record = name.startsWith('known') ? ANSWERS[type] : undefined;
    const header = Buffer.from(query.subarray(0, HEADER_BYTES));
    header.writeUInt16BE(0x8180 | (record === undefined ? NAME_ERROR : 0), 2);
    header.writeUInt16BE(record === undefined ? 0 : 1, 6);
    header.writeUInt16BE(0, 10);
    const head = Buffer.alloc(12);
    head.writeUInt16BE(0xc00c, 0);
    head.writeUInt16BE(type, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt32BE(60, 6);
    head.writeUInt16BE(record?.length ?? 0, 10);
    const answer = record === undefined ? [] : [head, record];
    socket.send(Buffer.concat([header, query.subarray(HEADER_BYTES, end + 4), ...answer]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.after(() => socket.close());
  const { port }: AddressInfo = socket.address();
  return `127.0.0.1:${port}`;
}

const ANSWERS: Readonly<Record<number, Buffer>> = {
  [TYPE_A]: Buffer.from([8, 8, 4, 4]),
  [TYPE_AAAA]: Buffer.from('20014860486000000000000000008844', 'hex'),
};

type Found = { readonly error: Error | null; readonly addresses: readonly LookupAddress[] };

function find(lookup: ReturnType<typeof createPublicLookup>, name: string): Promise<Found> {
  return new Promise((resolve) => {
    lookup(name, {}, (error, addresses) => resolve({ error, addresses }));
  });
}

test('finds all addresses of a name, of both families', async (t) => {
  const lookup = createPublicLookup({ servers: [await startNameServer(t)] });
  const { error, addresses } = await find(lookup, 'known.example');
  assert.equal(error, null);
  assert.deepEqual(
    addresses.toSorted((left, right) => left.family - right.family),
    [
      { address: '8.8.4.4', family: 4 },
      { address: '2001:4860:4860::8844', family: 6 },
    ],
  );
});

test('fails for an unknown name, and for one without an answer', async (t) => {
  const lookup = createPublicLookup({ servers: [await startNameServer(t)] });
  const [unknown, silent] = await Promise.all([find(lookup, 'nobody.example'), find(lookup, 'silent.example')]);
  assert.deepEqual([unknown.addresses, silent.addresses], [[], []]);
  assert.match(String(unknown.error), /ENOTFOUND/);
  assert.match(String(silent.error), /ETIMEOUT|ECONNREFUSED/);
});

test('finds a name at once while others get no answer', async (t) => {
  const lookup = createPublicLookup({ servers: [await startNameServer(t)] });
  let silentAnswers = 0;
  const silent = Array.from({ length: 16 }, async (_, at) => {
    await find(lookup, `silent${at}.example`);
    silentAnswers++;
  });
  const { addresses } = await find(lookup, 'known.example');
  assert.equal(addresses.length, 2);
  assert.equal(silentAnswers, 0);
  await Promise.all(silent);
});

test('resolves names of this machine to loopback, without a query', async () => {
  const lookup = createPublicLookup({ servers: ['127.0.0.1:1'] });
  for (const name of ['localhost', 'a.localhost', 'LOCALHOST.'])
    assert.deepEqual((await find(lookup, name)).addresses, [{ address: '127.0.0.1', family: 4 }]);
});
