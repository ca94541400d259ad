import type { Readable } from 'node:stream';
import type { DatasetItem } from './item.ts';
import { parseLine } from './parse-line.ts';

const LINE_FEED = 10;

/** Reads pieces of a stored dataset; `undefined` where it is gone. */
export type OpenDataset = (range?: { readonly start: number; readonly end: number }) => Promise<Readable | undefined>;

/** The lines of a stored dataset by their places, so that none is held that is not being worked on. */
export interface DatasetLines {
  readonly count: number;
  /** @throws Error where the file is gone, or is another one */
  read(index: number): Promise<DatasetItem>;
}

/** @throws Error where the file is gone */
export async function openLines(open: OpenDataset): Promise<DatasetLines> {
  const places = await placesOf(await opened(open));
  return {
    count: places.length,
    async read(index) {
      const place = places[index];
      if (place === undefined) throw new RangeError(`The dataset has no line ${index}.`);
      const bytes = await collect(await opened(open, place));
      const parsed = parseLine(bytes.toString('utf8'));
      if ('fault' in parsed) throw new Error(`A line of the dataset has changed: ${parsed.fault}.`);
      return parsed.item;
    },
  };
}

async function opened(open: OpenDataset, range?: { start: number; end: number }): Promise<Readable> {
  const stream = await open(range);
  if (stream === undefined) throw new Error('The file of the dataset is gone.');
  return stream;
}

/** Of lines that are not empty; both ends are included. */
async function placesOf(stream: AsyncIterable<Buffer>): Promise<readonly { start: number; end: number }[]> {
  const places: { start: number; end: number }[] = [];
  let [at, start, isEmpty] = [0, 0, true];
  const add = (): void => {
    if (!isEmpty) places.push({ start, end: at - 1 });
  };
  for await (const chunk of stream)
    for (const byte of chunk) {
      if (byte === LINE_FEED) {
        add();
        start = at + 1;
        isEmpty = true;
      } else if (byte > 32) isEmpty = false;
      at++;
    }
  add();
  return places;
}

async function collect(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
