import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { makePdf, makePdfOf } from '../../tests/support/files/make-pdf.ts';
import type { TextJob } from './job.ts';
import { createTextMaker, type TextOutcome } from './text-maker.ts';

const maker = createTextMaker({ memoryBytes: 1_073_741_824, processBytes: Infinity });
after(() => maker.close());

const TIME_MS = 60_000;

function read(job: TextJob, signal = new AbortController().signal): Promise<TextOutcome> {
  return maker.read(job, TIME_MS, signal);
}

function readHtml(html: string | Buffer, more: Partial<TextJob & { kind: 'page' }> = {}): Promise<TextOutcome> {
  return read({
    kind: 'page',
    bytes: Buffer.from(html),
    url: 'https://a.example/docs/page',
    charsMax: 10_000,
    ...more,
  });
}

function readPdf(bytes: Buffer, pagesMax = 1_000, charsMax = 100_000): Promise<TextOutcome> {
  return read({ kind: 'pdf', bytes, pagesMax, charsMax });
}

const PARAGRAPH =
  '<p>Words enough, with commas, to be what a reader came for, and not what surrounds it, on this page.</p>';

suite('a page becomes Markdown', () => {
  test('has its readable part, with absolute links', async () => {
    const html = `<!doctype html><html><head><title>The title</title></head><body>
      <nav><a href="/menu">Menu</a></nav><script>steal()</script>
      <article><h2>Heading</h2>${PARAGRAPH.repeat(8)}<p>See <a href="../other?x=1">the other</a>.</p>
      <ul><li>one</li></ul><pre><code class="language-js">let a = 1;</code></pre>
      <table><tr><th>a</th><th>b</th></tr><tr><td>1|2</td><td>3</td></tr></table></article>
      <footer>Imprint</footer></body></html>`;
    const page = await readHtml(html);
    assert.ok(page.status === 'read');
    assert.equal(page.title, 'The title');
    assert.match(page.text, /^## Heading\n\nWords enough/);
    assert.match(page.text, /See \[the other\]\(https:\/\/a\.example\/other\?x=1\)\./);
    assert.match(page.text, /-\s+one/);
    assert.match(page.text, /```js\nlet a = 1;\n```/);
    assert.match(page.text, /\| a \| b \|\n\| --- \| --- \|\n\| 1\\\|2 \| 3 \|/);
    assert.doesNotMatch(page.text, /Menu|steal|Imprint/);
  });

  test('tolerates missing tags', async () => {
    for (const [html, title, text] of [
      ['just words', '', 'just words'],
      ['<p>one<p>two', '', 'one\n\ntwo'],
      ['<!DOCTYPE html><title>T</title><p>words', 'T', 'words'],
      ['<html><head><title>T</title></head><p>words</html>', 'T', 'words'],
      ['<title>T</title><body>words</body>', 'T', 'words'],
      ['', '', ''],
    ] as const) {
      const page = await readHtml(html);
      assert.ok(page.status === 'read', html);
      assert.deepEqual([page.title, page.text], [title, text], html);
    }
  });

  test('uses the charset of the server, or of the page', async () => {
    const latin = Buffer.from('<body>caf\xe9</body>', 'latin1');
    const named = await readHtml(latin, { charset: 'iso-8859-1' });
    const itself = await readHtml(Buffer.from('<meta charset="windows-1252"><body>caf\xe9</body>', 'latin1'));
    const unknown = await readHtml('<body>café</body>', { charset: 'no-such-charset' });
    for (const page of [named, itself, unknown]) assert.equal(page.status === 'read' && page.text, 'café');
  });

  test('has at most the requested number of characters', async () => {
    const page = await readHtml(`<body>${'word '.repeat(1_000)}</body>`, { charsMax: 20 });
    assert.deepEqual(page.status === 'read' && [page.text.length, page.isCut], [20, true]);
  });

  test('shortens a gap of any length, however it is written', async () => {
    // A hundred thousand of them take a minute each.
    for (const space of ['\u00a0', '&nbsp;', '&#160;', '\u2003', ' ']) {
      const gap = space.repeat(100_000);
      const page = await readHtml(`<body><table><tr><td>one${gap}two</td></tr></table><p>three${gap}four</p></body>`);
      assert.match(page.status === 'read' ? page.text : '', /one\stwo[^]*three\sfour/, JSON.stringify(space));
    }
  });

  test('is refused when it is nested without end', async () => {
    assert.deepEqual(await readHtml('<div>'.repeat(20_000)), { status: 'failed', fault: 'unreadable' });
  });
});

suite('a PDF becomes Markdown', () => {
  test('page by page, with its title', async () => {
    const pdf = makePdf(
      [{ lines: ['First (line)', 'second line', '', 'a paragraph'] }, { lines: [] }, { lines: ['end'] }],
      'T',
    );
    assert.deepEqual(await readPdf(pdf), {
      status: 'read',
      title: 'T',
      text: '## Page 1\n\nFirst (line)\nsecond line\n\na paragraph\n\n## Page 3\n\nend',
      isCut: false,
      pages: 3,
    });
  });

  test('stops after so many pages and characters', async () => {
    const pdf = makePdf(Array.from({ length: 3 }, () => ({ lines: ['0123456789'] })));
    assert.deepEqual(await readPdf(pdf, 2), { status: 'failed', fault: 'too-many-pages' });
    const cut = await readPdf(pdf, 3, 15);
    assert.deepEqual(cut.status === 'read' && [cut.text, cut.isCut], [
      '## Page 1\n\n0123456789\n\n## Page 2\n\n01234',
      true,
    ]);
  });

  test('counts pages without reading them', async () => {
    const bytes = makePdf(Array.from({ length: 7 }, () => ({ lines: ['x'] })));
    const counted = await read({ kind: 'count', bytes, pagesMax: 1_000 });
    assert.deepEqual(counted.status === 'read' && [counted.pages, counted.text], [7, '']);
  });

  test('fails for what is none', async () => {
    for (const bytes of [Buffer.from(''), Buffer.from('nonsense'), makePdf([{ lines: ['x'] }]).subarray(0, 100)])
      assert.deepEqual(await readPdf(bytes), { status: 'failed', fault: 'unreadable' });
  });
});

test('ends the thread, not the process, for a PDF that unpacks beyond the memory', async () => {
  const million = Buffer.alloc(1_000_000, ' ');
  // Each page unpacks to 400 MB of blanks, and is packed once.
  const page = deflateSync(Buffer.concat(Array.from({ length: 400 }, () => million)));
  const bomb = makePdfOf([page, page, page]);
  assert.ok(bomb.length < 2_000_000, 'it is small before');
  assert.deepEqual(await readPdf(bomb), { status: 'failed', fault: 'memory' });
  const next = await readPdf(makePdf([{ lines: ['still here'] }]));
  assert.equal(next.status === 'read' && next.text, '## Page 1\n\nstill here');
});

test('leaves the passed bytes usable', async () => {
  const pdf = makePdf([{ lines: ['x'] }]);
  const before = Buffer.from(pdf);
  await readPdf(pdf);
  assert.ok(pdf.equals(before));
});

test('reads three hundred pages beside the main thread, which goes on meanwhile', async () => {
  const lines = Array.from(
    { length: 40 },
    (_, line) => `Line ${line} of a page that is as full of words as pages are.`,
  );
  const pdf = makePdf(Array.from({ length: 300 }, () => ({ lines })));
  // The work here is what it takes to hand the file over and to take the text back: nothing beside the reading of it.
  const before = process.threadCpuUsage();
  const all = process.cpuUsage();
  const text = await readPdf(pdf, 1_000, 8_000_000);
  const here = process.threadCpuUsage(before);
  const everywhere = process.cpuUsage(all);
  assert.ok(text.status === 'read' && text.pages === 300 && text.text.includes('## Page 300'));
  const share = (here.user + here.system) / (everywhere.user + everywhere.system);
  assert.ok(share < 0.25, `${share} of the work was done by the thread that serves`);
});

test('ends the work when the caller hangs up', async () => {
  const left = new AbortController();
  const reading = read(
    { kind: 'page', bytes: Buffer.from(PARAGRAPH.repeat(20_000)), url: 'https://a.example/', charsMax: 10 },
    left.signal,
  );
  setTimeout(() => left.abort(), 50);
  assert.deepEqual(await reading, { status: 'failed', fault: 'aborted' });
  assert.deepEqual(await readHtml('x', {}), { status: 'read', title: '', text: 'x', isCut: false, pages: 1 });
});
