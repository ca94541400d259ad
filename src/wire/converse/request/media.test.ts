import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../../lib/json.ts';
import { takeDocumentName } from './media.ts';
import { converseUpstreamFormat } from '../format.ts';
import {
  CLAUDE,
  encodeChat,
  encodeMessages,
  model,
  type Encoded,
} from '../../../../tests/support/wire/converse/request.ts';

const PNG = 'iVBORw0KGgo=';
const PDF = 'JVBERi0=';

function dataUrl(type: string, data: string): string {
  return `data:${type};base64,${data}`;
}
function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
function image(url: string, more: JsonObject = {}): JsonObject {
  return { type: 'image_url', image_url: { url, ...more } };
}
function video(url: string): JsonObject {
  return { type: 'video_url', video_url: { url } };
}
function file(filename: string, type: string, data: string): JsonObject {
  return { type: 'file', file: { filename, file_data: dataUrl(type, data) } };
}
function contentOf({ body }: Encoded): readonly JsonObject[] {
  const [message] = body['messages'] as readonly JsonObject[];
  return message?.['content'] as readonly JsonObject[];
}
function chat(parts: readonly JsonObject[], dialect = CLAUDE): Encoded {
  return encodeChat({ messages: [{ role: 'user', content: [{ type: 'text', text: 'see' }, ...parts] }] }, dialect);
}
function documents(given: readonly JsonObject[], dialect = CLAUDE): Encoded {
  const blocks: Json = [{ type: 'text', text: 'see' }, ...given];
  return encodeMessages({ messages: [{ role: 'user', content: blocks }] }, dialect);
}

test('images and videos are sent as bytes, under the format’s own names of their types', () => {
  const { warned, ...encoded } = chat(
    [
      image(dataUrl('image/png', PNG)),
      image(dataUrl('image/jpg', 'AAAA'), { detail: 'high' }),
      image('data:image/WEBP;charset=x;base64,BBBB'),
      video(dataUrl('video/quicktime', 'CCCC')),
      video(dataUrl('video/3gpp', 'DDDD')),
    ],
    model({}),
  );
  assert.deepEqual(contentOf(encoded as Encoded), [
    { text: 'see' },
    { image: { format: 'png', source: { bytes: PNG } } },
    { image: { format: 'jpeg', source: { bytes: 'AAAA' } } },
    { image: { format: 'webp', source: { bytes: 'BBBB' } } },
    { video: { format: 'mov', source: { bytes: 'CCCC' } } },
    { video: { format: 'three_gp', source: { bytes: 'DDDD' } } },
  ]);
  assert.deepEqual(warned, ['field-dropped messages[0].content[2].image_url.detail']);
});

test('files in the provider’s own store are named, those anywhere else must be fetched before', () => {
  const { warned, ...encoded } = chat([image('s3://bucket/a.png'), video('s3://bucket/b.mp4')], model({}));
  assert.deepEqual(contentOf(encoded as Encoded).slice(1), [
    { image: { format: 'png', source: { s3Location: { uri: 's3://bucket/a.png' } } } },
    { video: { format: 'mp4', source: { s3Location: { uri: 's3://bucket/b.mp4' } } } },
  ]);
  assert.deepEqual(warned, []);
  assert.throws(
    () => chat([image('https://x.test/a.png')]),
    /: messages\[0\]\.content\[1\]: is a file at an address, which/,
  );
  assert.throws(() => chat([image('s3://bucket/c')]), /: messages\[0\]\.content\[1\]: is a file of a type, which/);
  const must = (url: string, media: 'image' | 'audio' | 'video', dialect = CLAUDE): boolean | undefined =>
    converseUpstreamFormat.mustInlineUrl?.(url, media, dialect);
  assert.equal(must('https://x.test/a.png', 'image'), true);
  assert.equal(must('https://x.test/a.png', 'image', {}), true);
  assert.equal(must('s3://bucket/a.png', 'image'), false);
  for (const nowhere of ['gs://bucket/a.png', 'file:///etc/passwd', 'a.png', 'data:image/png'])
    assert.equal(must(nowhere, 'image'), true, 'refused, because nobody can fetch it');
  assert.equal(must(dataUrl('image/png', PNG), 'image'), false);
  assert.equal(must('https://x.test/a.mp4', 'video'), false, 'what the model does not read need not be fetched');
  assert.equal(must('https://x.test/a.mp3', 'audio', {}), false);
});

test('media that the model or the format does not take is refused', () => {
  const audio: JsonObject = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } };
  for (const [part, what] of [
    [video(dataUrl('video/mp4', 'AAAA')), 'is a video'],
    [audio, 'is audio'],
    [image(dataUrl('image/tiff', 'AAAA')), 'is a file of a type'],
    [file('e', 'application/zip', 'AAAA'), 'is a file of a type'],
  ] as const)
    assert.throws(() => chat([part]), new RegExp(`: messages\\[0\\]\\.content\\[1\\]: ${what}, which`));
});

test('documents get names that the format takes, no two alike', () => {
  const given = ['Q3 report (final).v2.pdf', 'Q3_report [final] v2.pdf', 'weiß/nicht.PDF', 'a.pdf', 'a.pdf', '.pdf'];
  const encoded = chat(given.map((name) => file(name, 'application/pdf', PDF)));
  const names = contentOf(encoded)
    .slice(1)
    .map(({ document }) => (document as JsonObject)['name']);
  assert.deepEqual(names, ['Q3 report (final) v2', 'Q3 report [final] v2', 'wei nicht', 'a', 'a-2', 'document']);
  assert.deepEqual(encoded.warned, []);
});

test('whatever a document is called, its name is one that the format takes', () => {
  const names = fc.array(fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.constantFrom('a', 'a-2', 'x.pdf')));
  fc.assert(
    fc.property(names, (given) => {
      const taken = new Set<string>();
      const encoded = given.map((name) => takeDocumentName(name, taken));
      assert.equal(new Set(encoded).size, encoded.length);
      for (const name of encoded) assert.match(name, /^(?!.*\s\s)[a-zA-Z0-9 \-()[\]]{1,200}$/);
    }),
  );
});

test('takes the type of a document from its bytes, else from its name', () => {
  const encoded = chat([
    file('a', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'AAAA'),
    file('b.xlsx', 'application/octet-stream', 'AAAA'),
    file('c.json', 'application/json', base64('{}')),
    file('d.md', 'text/markdown', base64('# d')),
  ]);
  const formats = contentOf(encoded).flatMap(({ document }) => (document as JsonObject | undefined)?.['format'] ?? []);
  assert.deepEqual(formats, ['docx', 'xlsx', 'txt', 'md']);
  assert.deepEqual(encoded.warned, []);
});

test('adds a text to a document alone', () => {
  const encoded = encodeChat({ messages: [{ role: 'user', content: [file('a.pdf', 'application/pdf', PDF)] }] });
  assert.deepEqual(contentOf(encoded), [
    { text: 'See the attached document.' },
    { document: { format: 'pdf', name: 'a', source: { bytes: PDF } } },
  ]);
  assert.deepEqual(encoded.warned, ['field-changed messages[0].content[0]']);
});

const CITED = { citations: { enabled: true } };

test('documents of text are files, and text itself where they are to be cited', () => {
  const text: JsonObject = {
    type: 'document',
    title: 'facts',
    source: { type: 'text', media_type: 'text/plain', data: 'x' },
  };
  const blocks: JsonObject = {
    type: 'document',
    title: 'parts',
    context: 'from the wiki',
    source: {
      type: 'content',
      content: [
        { type: 'text', text: 'one' },
        { type: 'text', text: 'two' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
      ],
    },
  };
  const plain = documents([text, blocks]);
  const image1 = { image: { format: 'png', source: { bytes: PNG } } };
  assert.deepEqual(contentOf(plain).slice(1), [
    { document: { format: 'txt', name: 'facts', source: { bytes: base64('x') } } },
    { document: { format: 'txt', name: 'parts', source: { bytes: base64('one\n\ntwo') }, context: 'from the wiki' } },
    image1,
  ]);
  assert.deepEqual(plain.warned, []);
  const cited = documents([
    { ...text, ...CITED },
    { ...blocks, ...CITED },
  ]);
  assert.deepEqual(contentOf(cited).slice(1), [
    { document: { format: 'txt', name: 'facts', source: { text: 'x' }, ...CITED } },
    {
      document: {
        format: 'txt',
        name: 'parts',
        source: { content: [{ text: 'one' }, { text: 'two' }] },
        context: 'from the wiki',
        ...CITED,
      },
    },
    image1,
  ]);
  assert.deepEqual(cited.warned, []);
});

test('warns on other models that citations of a document are lost', () => {
  const text: JsonObject = {
    type: 'document',
    ...CITED,
    context: 'c',
    source: { type: 'text', media_type: 'text/plain', data: 'x' },
  };
  const encoded = documents([text], model({}));
  assert.deepEqual(contentOf(encoded)[1], {
    document: { format: 'txt', name: 'document', source: { bytes: base64('x') } },
  });
  assert.deepEqual(encoded.warned.toSorted(), [
    'field-dropped messages[0].content[1].citations',
    'field-dropped messages[0].content[1].context',
  ]);
});

test('documents of text are written out for a model that reads none, others are refused', () => {
  const text: JsonObject = {
    type: 'document',
    title: 't',
    source: { type: 'text', media_type: 'text/plain', data: 'x' },
  };
  assert.deepEqual(contentOf(documents([text], model({ media: [] })))[1], {
    text: '<document title="t">\nx\n</document>',
  });
  const encoded = chat([file('d.csv', 'text/csv', base64('ä;b'))], model({ media: [] }));
  assert.deepEqual(contentOf(encoded), [{ text: 'see' }, { text: '<document title="d.csv">\nä;b\n</document>' }]);
  assert.throws(
    () => chat([file('a.pdf', 'application/pdf', PDF)], model({ media: [] })),
    /content\[1\]: is a document, which/,
  );
});

test('omits media of an assistant', () => {
  const { body, warned } = encodeMessages({
    messages: [
      { role: 'user', content: 'draw' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'here' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
        ],
      },
      { role: 'user', content: 'thanks' },
    ],
  });
  assert.deepEqual((body['messages'] as readonly JsonObject[])[1], { role: 'assistant', content: [{ text: 'here' }] });
  assert.deepEqual(warned, ['content-dropped messages[1].content[1]']);
});
