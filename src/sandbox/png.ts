import { crc32, deflateSync } from 'node:zlib';

/** The colour of a pixel: red, green, blue, alpha. */
export type ColourAt = (x: number, y: number) => readonly [number, number, number, number];

const SIGNATURE = Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1');
const BYTES_PER_PIXEL = 4;
const WITH_ALPHA = 6;

/** A picture, with texts that say where it comes from. @source W3C PNG, 5 and 11 */
export function encodePng(
  { width, height }: { readonly width: number; readonly height: number },
  colourAt: ColourAt,
  texts: readonly (readonly [keyword: string, text: string])[],
): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, WITH_ALPHA], 8);
  const line = width * BYTES_PER_PIXEL + 1;
  const pixels = Buffer.alloc(line * height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) pixels.set(colourAt(x, y), y * line + 1 + x * BYTES_PER_PIXEL);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    ...texts.map(([keyword, text]) => chunk('tEXt', Buffer.from(`${keyword}\0${text}`, 'latin1'))),
    chunk('IDAT', deflateSync(pixels)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}
