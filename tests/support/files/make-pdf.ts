import { constants, deflateRawSync, deflateSync } from 'node:zlib';

export interface PdfPage {
  /** One line of text an entry; Latin letters. */
  readonly lines: readonly string[];
}

/** A whole PDF of plain text, with compressed pages as real ones have. */
export function makePdf(pages: readonly PdfPage[], title?: string): Buffer {
  return makePdfOf(
    pages.map(({ lines }) => deflateSync(formatLines(lines))),
    title,
  );
}

function formatLines(lines: readonly string[]): string {
  const shown = lines.map((line) => `(${line.replaceAll(/[\\()]/g, String.raw`\$&`)}) Tj T*`);
  return `BT /F1 11 Tf 14 TL 50 780 Td ${shown.join('\n')} ET`;
}

const MB = 1_048_576;
const BLANK = 0x20;
const ADLER_MODULUS = 65_521n;

/** So many megabytes of blanks, deflated: a thousandth of that, and made at once, since every megabyte is packed alike. */
function deflateBlanks(megabytes: number): Buffer {
  const piece = deflateRawSync(Buffer.alloc(MB, BLANK), { level: 9, finishFlush: constants.Z_FULL_FLUSH });
  // The checksum of equal bytes, RFC 1950 section 2.2.
  const count = BigInt(megabytes * MB);
  const sum = (1n + count * BigInt(BLANK)) % ADLER_MODULUS;
  const sums = (count + (BigInt(BLANK) * count * (count + 1n)) / 2n) % ADLER_MODULUS;
  const trailer = Buffer.alloc(4);
  trailer.writeUInt32BE(Number(sums * 65_536n + sum));
  const pieces = Array.from({ length: megabytes }, () => piece);
  return Buffer.concat([Buffer.of(0x78, 0x9c), ...pieces, Buffer.of(3, 0), trailer]);
}

/** A PDF of some thousand bytes, whose page unpacks to so many megabytes: what is deflated is deflated once more. */
export function makePdfBomb(megabytes: number): Buffer {
  return makePdfOf([deflateSync(deflateBlanks(megabytes), { level: 9 })], undefined, '[/FlateDecode /FlateDecode]');
}

/** @param contents of each page, deflated */
export function makePdfOf(contents: readonly Buffer[], title?: string, filter = '/FlateDecode'): Buffer {
  const first = 4;
  const kids = contents.map((_, index) => `${first + index * 2} 0 R`).join(' ');
  const objects: (string | readonly [string, Buffer])[] = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${contents.length} /Kids [${kids}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    ...contents.flatMap((content, index): (string | readonly [string, Buffer])[] => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> ` +
        `/Contents ${first + index * 2 + 1} 0 R >>`,
      [`<< /Length ${content.length} /Filter ${filter} >>`, content],
    ]),
    ...(title === undefined ? [] : [`<< /Title (${title}) >>`]),
  ];
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1')];
  const offsets: number[] = [];
  let at = parts[0]?.length ?? 0;
  const push = (part: Buffer): void => {
    parts.push(part);
    at += part.length;
  };
  for (const [index, object] of objects.entries()) {
    offsets.push(at);
    push(Buffer.from(`${index + 1} 0 obj\n`));
    if (typeof object === 'string') push(Buffer.from(`${object}\nendobj\n`, 'latin1'));
    else {
      push(Buffer.from(`${object[0]}\nstream\n`, 'latin1'));
      push(object[1]);
      push(Buffer.from('\nendstream\nendobj\n'));
    }
  }
  const start = at;
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const info = title === undefined ? '' : ` /Info ${objects.length} 0 R`;
  push(
    Buffer.from(
      `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}trailer\n` +
        `<< /Size ${objects.length + 1} /Root 1 0 R${info} >>\nstartxref\n${start}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
}
