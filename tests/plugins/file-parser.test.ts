import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { suite, test } from 'node:test';
import { makePdf } from '../support/files/make-pdf.ts';
import { readChatStream } from '../support/http/read-stream.ts';
import { recordOf } from '../support/tool-turns.ts';
import { json, startUpstream, type Arrived, type Script } from '../support/upstream.ts';
import {
  askForChat,
  grant,
  spent,
  stagesOf,
  startWeb,
  type Annotation,
  type ChatBody,
  type WebSetup,
} from '../support/web.ts';

const PDF = makePdf([{ lines: ['the first page'] }, { lines: ['the second'] }]);
const HASH = createHash('sha256').update(PDF).digest('hex');
const TEXT = '## Page 1\n\nthe first page\n\n## Page 2\n\nthe second';
const FILE = { type: 'file', file: { filename: 'report.pdf', file_data: dataUrl(PDF) } };
const LOCALLY = [{ id: 'file-parser', pdf: { engine: 'cloudflare-ai' } }];

function dataUrl(bytes: Buffer, type = 'application/pdf'): string {
  return `data:${type};base64,${bytes.toString('base64')}`;
}

const asking = (...files: readonly object[]) => [
  { role: 'user', content: [{ type: 'text', text: 'Before.' }, ...files, { type: 'text', text: 'After.' }] },
];

/** As Mistral's service answers. */
function ocr(pages: readonly { readonly text: string; readonly images?: readonly string[] }[]): Script {
  return json(200, {
    pages: pages.map(({ text, images = [] }, index) => ({
      index,
      markdown: text,
      images: images.map((image_base64, at) => ({ id: `img-${at}.jpeg`, image_base64 })),
    })),
    model: 'mistral-ocr-2512',
    usage_info: { pages_processed: pages.length },
  });
}

function ask(setup: WebSetup, body: object = {}, model = 'acme/blind'): Promise<{ status: number; body: ChatBody }> {
  return askForChat(setup, { model, messages: asking(FILE), ...body });
}

function annotationsOf({ choices }: ChatBody): readonly Annotation[] {
  return choices[0]?.message.annotations ?? [];
}

/** The parts of the last user message as the model got them; a lone text is one part. */
function partsOf(arrived: Arrived | undefined): readonly unknown[] {
  const messages = arrived?.body['messages'] as readonly { readonly role: string; readonly content: unknown }[];
  const content = messages.findLast(({ role }) => role === 'user')?.content;
  return Array.isArray(content) ? content : [content];
}

const text = (stated: string) => ({ type: 'text', text: stated });
const PARTS = [text('Before.'), text(`<file name="report.pdf">\n${TEXT}\n</file>`), text('After.')];
const ANNOTATION = { type: 'file', file: { hash: HASH, name: 'report.pdf', content: [{ type: 'text', text: TEXT }] } };

suite('a PDF for a model without file input', () => {
  // @spec plugin-9, translate-14
  test('is replaced by its text', async (t) => {
    const setup = await startWeb(t);
    const { status, body } = await ask(setup, { plugins: LOCALLY });
    assert.equal(status, 200);
    assert.deepEqual(partsOf(setup.chat.arrived[0]), PARTS);
    assert.deepEqual(annotationsOf(body), [ANNOTATION]);
    assert.deepEqual(stagesOf(body, 'file-parser'), [
      {
        type: 'plugin',
        name: 'file-parser',
        summary: 'Put text in the place of 1 file',
        data: { engine: 'cloudflare-ai', files: 1, parsed: 1, pages: 2 },
        cost_usd: 0,
      },
    ]);
    assert.equal(body.usage.cost, 0.000_02);
    assert.equal(setup.engine.arrived.length, 0);
  });

  // @spec plugin-9
  test("is read by the engine's older name, and whatever its declared type", async (t) => {
    const setup = await startWeb(t);
    const plugins = [{ id: 'file-parser', pdf: { engine: 'pdf-text' } }];
    const file = {
      type: 'file',
      file: { filename: 'report.pdf', file_data: dataUrl(PDF, 'application/octet-stream') },
    };
    const { body } = await ask(setup, { plugins, messages: asking(file) });
    assert.deepEqual(partsOf(setup.chat.arrived[0]), PARTS);
    assert.deepEqual(annotationsOf(body), [ANNOTATION]);
  });

  // @spec chat-response-9
  test('is returned in a stream, too, before its end', async (t) => {
    const setup = await startWeb(t);
    const request = { model: 'acme/blind', messages: asking(FILE), plugins: LOCALLY, stream: true };
    const raw = await (await setup.gateway.post('/chat/completions', request)).text();
    const { chunks } = readChatStream(raw);
    const deltas = chunks as unknown as readonly {
      choices: readonly { delta: { annotations?: readonly Annotation[] }; finish_reason: string | null }[];
    }[];
    const at = deltas.findIndex(({ choices }) => choices[0]?.delta.annotations !== undefined);
    assert.deepEqual(deltas[at]?.choices[0]?.delta.annotations, [ANNOTATION]);
    assert.ok(at < deltas.findIndex(({ choices }) => typeof choices[0]?.finish_reason === 'string'));
  });

  for (const stream of [false, true])
    test(`is read in the messages format, also in tool results: ${stream ? 'stream' : 'not streamed'}`, async (t) => {
      const setup = await startWeb(t);
      const document = {
        type: 'document',
        title: 'report.pdf',
        source: { type: 'base64', media_type: 'application/pdf', data: PDF.toString('base64') },
      };
      const answer = await setup.gateway.post('/messages', {
        model: 'acme/deaf',
        stream,
        max_tokens: 100,
        plugins: LOCALLY,
        messages: [
          { role: 'user', content: 'Look it up.' },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }] },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [document] }, document],
          },
        ],
        tools: [{ name: 'look', input_schema: { type: 'object' } }],
      });
      assert.equal(answer.status, 200, await answer.clone().text());
      const [result, second] = partsOf(setup.messages.arrived[0]) as [{ content: unknown }, { text: string }];
      const read = `<file name="report.pdf">\n${TEXT}\n</file>`;
      assert.deepEqual(result.content, [text(read)]);
      assert.equal(second.text, read);
    });
});

suite('the OCR service', () => {
  const READ = ocr([{ text: 'first', images: ['data:image/png;base64,AAAA'] }, { text: 'second' }]);

  // @spec plugin-11
  test('reads by default, for a fee that is part of the cost', async (t) => {
    const setup = await startWeb(t, { engine: READ });
    const { body } = await ask(setup);
    assert.deepEqual(
      setup.engine.arrived.map(({ path }) => path),
      ['/v1/ocr'],
    );
    assert.deepEqual(
      partsOf(setup.chat.arrived[0])[1],
      text('<file name="report.pdf">\n## Page 1\n\nfirst\n\n## Page 2\n\nsecond\n</file>'),
    );
    assert.equal(partsOf(setup.chat.arrived[0]).length, 3, 'a model without eyes gets no pictures');
    assert.equal(body.usage.cost, 0.004_02);
    assert.equal(stagesOf(body, 'file-parser')[0]?.cost_usd, 0.004);
    const { webCostNanoUsd, fileCostNanoUsd } = await recordOf(setup.gateway, body.id);
    assert.deepEqual([webCostNanoUsd, fileCostNanoUsd], [null, 4_000_000]);
    assert.deepEqual(annotationsOf(body)[0]?.file?.content, [
      text('## Page 1\n\nfirst\n\n## Page 2\n\nsecond'),
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
    ]);
  });

  // @spec plugin-12
  test('gives at most eight images of a request to a model with image input', async (t) => {
    const images = Array.from({ length: 6 }, () => 'data:image/png;base64,AAAA');
    const setup = await startWeb(t, { engine: ocr([{ text: 'first', images }]) });
    const other = { type: 'file', file: { filename: 'b.pdf', file_data: dataUrl(makePdf([{ lines: ['other'] }])) } };
    await ask(setup, { messages: asking(FILE, other) }, 'acme/seeing');
    const kinds = partsOf(setup.chat.arrived[0]).map((part) => (part as { type: string }).type);
    assert.deepEqual(kinds, [
      'text',
      'text',
      ...Array.from({ length: 6 }, () => 'image_url'),
      'text',
      ...Array.from({ length: 2 }, () => 'image_url'),
      'text',
    ]);
  });

  test('fetches addresses itself', async (t) => {
    const setup = await startWeb(t, { engine: ocr([{ text: 'far away' }]) });
    const url = 'https://files.example/a/Report.PDF?x=1';
    const { status } = await ask(setup, { messages: asking({ type: 'file', file: { file_data: url } }) });
    assert.equal(status, 200);
    assert.deepEqual(setup.engine.arrived[0]?.body['document'], { type: 'document_url', document_url: url });
    assert.deepEqual(
      partsOf(setup.chat.arrived[0])[1],
      text('<file name="document.pdf">\n## Page 1\n\nfar away\n</file>'),
    );
  });

  // @spec plugin-11
  test('is reserved page by page: without the money nothing is read', async (t) => {
    const setup = await startWeb(t, { engine: READ, yaml: 'credits: { enforce: true }' });
    await grant(setup, 0.003);
    assert.equal((await ask(setup, { max_tokens: 10 })).status, 402);
    assert.equal(setup.engine.arrived.length, 0);
    await grant(setup, 0.1);
    assert.equal((await ask(setup, { max_tokens: 10 })).status, 200);
    assert.equal(await spent(setup), 0.004_02);
  });

  // @spec plugin-13
  test('returns 502 for its failure and 400 for a refused file, free of charge', async (t) => {
    const setup = await startWeb(t, { yaml: 'credits: { enforce: true }' });
    await grant(setup, 1);
    for (const [status, expected] of [
      [500, 502],
      [401, 502],
      [422, 400],
    ] as const) {
      setup.engine.script = json(status, { message: 'a secret of the account' });
      const answer = await ask(setup);
      assert.equal(answer.status, expected);
      assert.match(answer.body.error.message, /^The file "report.pdf" could not be read\. The service/);
      assert.doesNotMatch(JSON.stringify(answer.body), /secret/);
    }
    assert.equal(setup.chat.arrived.length, 0);
    assert.equal(await spent(setup), 0);
  });

  // @spec plugin-10
  test("gives way to the gateway's reader when it is not configured, but not when it is requested", async (t) => {
    const setup = await startWeb(t, { withoutOcr: true });
    assert.equal((await ask(setup)).status, 200);
    assert.deepEqual(partsOf(setup.chat.arrived[0]), PARTS);
    const { status, body } = await ask(setup, { plugins: [{ id: 'file-parser', pdf: { engine: 'mistral-ocr' } }] });
    assert.deepEqual(
      [status, body.error.message],
      [400, 'plugins[0].pdf.engine: the engine "mistral-ocr" is not set up on this gateway'],
    );
  });
});

suite('a file that was read before', () => {
  // @spec plugin-14
  test('is neither read nor sent again when its annotation comes back', async (t) => {
    const setup = await startWeb(t, { engine: ocr([{ text: 'as it was read' }]) });
    const first = await ask(setup);
    const { message } = first.body.choices[0] ?? assert.fail();
    const again = await ask(setup, {
      messages: [...asking(FILE), { role: 'assistant', ...message }, { role: 'user', content: 'And now?' }],
    });
    assert.equal(again.status, 200);
    assert.equal(setup.engine.arrived.length, 1);
    assert.equal(again.body.usage.cost, 0.000_02, 'no second fee');
    assert.equal(setup.chat.arrived[1]?.text.split('as it was read').length, 2, 'its text stands in the request once');
    assert.deepEqual(annotationsOf(again.body), annotationsOf(first.body));
    assert.deepEqual(stagesOf(again.body, 'file-parser')[0]?.data, {
      engine: 'mistral-ocr',
      files: 1,
      parsed: 0,
      pages: 0,
    });
  });

  // @spec plugin-15
  test('is reported with the error when the request fails after all', async (t) => {
    const setup = await startWeb(t);
    setup.chat.script = json(500, { error: { message: 'down' } });
    const { status, body } = await ask(setup, { plugins: LOCALLY });
    assert.equal(status, 502);
    assert.deepEqual(body.error.metadata['file_annotations'], [ANNOTATION]);
  });

  test('is read once when a request has it twice', async (t) => {
    const setup = await startWeb(t, { engine: ocr([{ text: 'once' }]) });
    const { body } = await ask(setup, { messages: asking(FILE, FILE) });
    assert.equal(setup.engine.arrived.length, 1);
    assert.equal(partsOf(setup.chat.arrived[0]).length, 4);
    assert.equal(annotationsOf(body).length, 1);
  });
});

suite('a file that is left alone', () => {
  test('goes to a model that accepts files, or as the caller says', async (t) => {
    const setup = await startWeb(t);
    await ask(setup, {}, 'acme/chat');
    await ask(setup, { plugins: [{ id: 'file-parser', pdf: { engine: 'native' } }] }, 'acme/chat');
    for (const arrived of setup.chat.arrived) assert.deepEqual((partsOf(arrived)[1] as { type: string }).type, 'file');
    const off = await ask(setup, { plugins: [{ id: 'file-parser', enabled: false }] });
    assert.equal(off.status, 404, 'no endpoint accepts it');
    assert.equal(setup.engine.arrived.length, 0);
  });

  // @spec plugin-10
  test('is read all the same when an engine is named', async (t) => {
    const setup = await startWeb(t);
    await ask(setup, { plugins: LOCALLY }, 'acme/chat');
    assert.deepEqual(partsOf(setup.chat.arrived[0]), PARTS);
  });
});

test('fetches a file at an address within the rules, and reads only a PDF', async (t) => {
  const files = await startUpstream(() => undefined);
  t.after(() => files.close());
  const address = files.baseUrl.replace('/v1', '');
  const requested: string[] = [];
  const setup = await startWeb(t, {
    downloads: {
      protocols: ['http:', 'https:'],
      isAllowed(ip) {
        requested.push(ip);
        return false;
      },
    },
  });
  const { status, body } = await ask(setup, {
    plugins: LOCALLY,
    messages: asking({ type: 'file', file: { filename: 'a.pdf', file_data: `${address}/a.pdf` } }),
  });
  assert.equal(status, 400);
  assert.match(
    body.error.message,
    /^The file "a.pdf" could not be read\. The address is not on the public Internet\.$/,
  );
  assert.deepEqual(requested, ['127.0.0.1']);
  assert.equal(files.arrived.length, 0);
});

test('fetches files two at a time, and at most 100 MB of them', async (t) => {
  const large = Buffer.alloc(27 * 1_048_576);
  PDF.copy(large);
  let [open, most] = [0, 0];
  const site = createServer((_request, response) => {
    most = Math.max(most, ++open);
    response.on('close', () => open--).end(large);
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  t.after(() => site.close());
  const { port } = site.address() as AddressInfo;
  const setup = await startWeb(t, { downloads: { protocols: ['http:'], isAllowed: () => true } });
  const files = ['a', 'b', 'c', 'd'].map((name) => ({
    type: 'file',
    file: { filename: `${name}.pdf`, file_data: `http://127.0.0.1:${port}/${name}.pdf` },
  }));
  const { status, body } = await ask(setup, { plugins: LOCALLY, messages: asking(...files) });
  assert.equal(status, 400);
  assert.equal(body.error.message, 'messages: name files of more than 104857600 bytes together at addresses');
  assert.equal(most, 2);
});

test('reports a file without text to the model and to the operator', async (t) => {
  const setup = await startWeb(t);
  const scan = { type: 'file', file: { filename: 'scan.pdf', file_data: dataUrl(makePdf([{ lines: [] }])) } };
  const { body } = await ask(setup, { plugins: LOCALLY, messages: asking(scan) });
  assert.deepEqual(partsOf(setup.chat.arrived[0])[1], text('<file name="scan.pdf">\n(no text)\n</file>'));
  const { warnings } = await recordOf(setup.gateway, body.id);
  assert.deepEqual(
    warnings.map(({ message }) => message),
    ['the file "scan.pdf" has no text; the engine "mistral-ocr" reads scans'],
  );
});

// @spec plugin-13
test('rejects an unreadable file with 400 and its name', async (t) => {
  const setup = await startWeb(t);
  const broken = { type: 'file', file: { filename: 'broken.pdf', file_data: dataUrl(PDF.subarray(0, 60)) } };
  const { status, body } = await ask(setup, { plugins: LOCALLY, messages: asking(broken) });
  assert.deepEqual(
    [status, body.error.message],
    [400, 'The file "broken.pdf" could not be read. It is no PDF that can be read.'],
  );
});

suite('a broken PDF for a model with text input only', () => {
  const broken: Readonly<Record<string, Buffer>> = {
    'cut short': PDF.subarray(0, 200),
    'without its beginning': PDF.subarray(40),
    'that is something else': Buffer.from('no PDF at all'),
  };
  for (const [how, bytes] of Object.entries(broken)) {
    test(`is a 400 with the reason: ${how}, on chat`, async (t) => {
      const setup = await startWeb(t, { withoutOcr: true });
      const file = { type: 'file', file: { filename: 'report.pdf', file_data: dataUrl(bytes) } };
      const { status, body } = await ask(setup, { messages: asking(file) });
      assert.equal(status, 400, JSON.stringify(body));
      assert.match(body.error.message, /"report\.pdf" could not be read\. It is no PDF that can be read/);
    });

    test(`is a 400 with the reason: ${how}, on messages`, async (t) => {
      const setup = await startWeb(t, { withoutOcr: true });
      const source = { type: 'base64', media_type: 'application/pdf', data: bytes.toString('base64') };
      const content = [
        { type: 'document', source },
        { type: 'text', text: 'What is in it?' },
      ];
      const request = { model: 'acme/deaf', max_tokens: 9, messages: [{ role: 'user', content }] };
      const answer = await setup.gateway.post('/messages', request);
      assert.equal(answer.status, 400);
      assert.match(await answer.text(), /could not be read\. It is no PDF that can be read/);
    });
  }
});
