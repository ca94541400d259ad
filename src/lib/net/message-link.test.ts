import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { LinkError, openMessageLink, type MessageLink, type Procedures } from './message-link.ts';
import { connectPair, type SocketPair } from '../../../tests/support/services/socket-pair.ts';

const NOTHING = (): Procedures => ({});

const CALCULATOR = {
  double: (value: number) => value * 2,
  later: async ({ text }: { readonly text: string }) => Promise.resolve(`${text}!`),
  fail: (): void => {
    throw new Error('It is broken.');
  },
  nothing: () => null,
};

async function openCalculator(t: TestContext): Promise<SocketPair & { readonly link: MessageLink<typeof CALCULATOR> }> {
  const pair = await connectPair(t);
  openMessageLink(pair.far, () => CALCULATOR);
  return { ...pair, link: openMessageLink<typeof CALCULATOR>(pair.near, NOTHING) };
}

test('calls procedures of the other side and gives their results', async (t) => {
  const { link } = await openCalculator(t);
  const results = [
    link.call('double', 21),
    link.call('later', { text: 'two\nlines \u{1F600}' }),
    link.call('nothing', undefined),
  ];
  assert.deepEqual(await Promise.all(results), [42, 'two\nlines \u{1F600}!', null]);
});

test('rejects a call whose procedure throws, and goes on', async (t) => {
  const { link } = await openCalculator(t);
  await assert.rejects(link.call('fail', undefined), { name: 'LinkError', message: 'It is broken.' });
  assert.equal(await link.call('double', 1), 2);
});

test('sends all calls of one turn in one write', async (t) => {
  const { link, near } = await openCalculator(t);
  const written: unknown[] = [];
  const write = near.write.bind(near);
  near.write = (line: string) => {
    written.push(line);
    return write(line);
  };
  await Promise.all(Array.from({ length: 100 }, (_, value) => link.call('double', value)));
  assert.equal(written.length, 1);
});

test('reads what comes in pieces', async (t) => {
  const { near, far } = await connectPair(t);
  const heard: number[] = [];
  openMessageLink(far, () => ({ hear: (value: number) => void heard.push(value) }));
  const closed = once(far, 'close');
  const bytes = Buffer.from('[["tell",0,"hear",1]]\n[["tell",0,"hear",2],["tell",0,"hear",3]]\n');
  for (const byte of bytes) {
    near.write(Uint8Array.of(byte));
    await new Promise((resolve) => setImmediate(resolve));
  }
  near.end();
  await closed;
  assert.deepEqual(heard, [1, 2, 3]);
});

test('lets each side call the other while it is called', async (t) => {
  const { near, far } = await connectPair(t);
  type Greeter = { readonly ask: (name: string) => Promise<string> };
  type Knower = { readonly tellMe: (name: string) => string };
  openMessageLink<Knower>(far, (back) => ({ ask: async (name: string) => `${await back.call('tellMe', name)}?` }));
  const link = openMessageLink<Greeter>(near, () => ({ tellMe: (name: string) => name.toUpperCase() }));
  assert.equal(await link.call('ask', 'abc'), 'ABC?');
});

test('fails open and later calls when the other side is gone', async (t) => {
  const { near, far } = await connectPair(t);
  openMessageLink(far, () => ({ hang: () => new Promise(() => undefined) }));
  const link = openMessageLink<{ readonly hang: (value: number) => void }>(near, NOTHING);
  const open = link.call('hang', 1);
  setTimeout(() => far.destroy(), 10);
  await assert.rejects(open, LinkError);
  await link.closed;
  await assert.rejects(link.call('hang', 2), LinkError);
  link.tell('hang', 3);
});

for (const line of ['GET / HTTP/1.1', '{}', '[1]', 'null'])
  test(`closes the connection of what is no gateway: ${line}`, async (t) => {
    const { near, far } = await connectPair(t);
    const link = openMessageLink(far, NOTHING);
    near.write(`${line}\r\n`);
    await link.closed;
  });
