import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GenerationEvent } from '../../canonical/events.ts';
import type { Warning } from '../../canonical/extra.ts';
import { NO_USAGE } from '../../canonical/usage.ts';
import type { RequestLog } from '../../telemetry/request-log.ts';
import type { ClientFormat } from '../../wire/format.ts';
import { DroppedFields } from './dropped-fields.ts';

/** The chat format, as far as is looked at. */
const CHAT = { id: 'chat', supports: ({ type }) => type === 'text' } as ClientFormat;

function pathsOf(...events: readonly GenerationEvent[]): readonly string[] {
  const warnings: Warning[] = [];
  const log = { warnings, warn: (more: readonly Warning[]) => warnings.push(...more) } as unknown as RequestLog;
  new DroppedFields(log, CHAT).note(events, 'messages');
  return warnings.map(({ path, message }) => (path === 'content' ? message : path));
}

// @spec messages-34
test('names a block that the format does not have, and the tool of a call', () => {
  assert.deepEqual(
    pathsOf(
      { type: 'block-start', index: 0, block: { type: 'text', text: '' } },
      {
        type: 'block-start',
        index: 1,
        block: { type: 'tool-call', id: 'a', name: 'web_search', input: '', runBy: 'upstream' },
      },
      { type: 'block-start', index: 2, block: { type: 'opaque', format: 'messages', value: { type: 'compaction' } } },
    ),
    ['tool-call web_search', 'compaction'].map(
      (what) => `the format chat has no field for a part of the response: ${what}`,
    ),
  );
});

test('names a citation once that only another format has, and never a web source', () => {
  const page = { type: 'opaque', format: 'messages', value: { type: 'page_location' } } as const;
  assert.deepEqual(
    pathsOf(
      { type: 'block-start', index: 0, block: { type: 'text', text: '', citations: [page] } },
      { type: 'citation', index: 0, citation: page },
      { type: 'citation', index: 0, citation: { type: 'url', url: 'https://a' } },
      { type: 'citation', index: 0, citation: { type: 'opaque', format: 'chat', value: { type: 'file' } } },
    ),
    ['the format chat has no field for a part of the response: citation page_location'],
  );
});

test('members of another format are named wherever they ride, those of the own format are not', () => {
  assert.deepEqual(
    pathsOf(
      {
        type: 'start',
        format: 'messages',
        extra: { format: 'messages', fields: { context: 1, created: 5, none: null } },
      },
      { type: 'extra', extra: { format: 'messages', fields: { choices: { message: { inner: 1 } }, context: 2 } } },
      { type: 'usage', usage: { ...NO_USAGE, extra: { format: 'messages', fields: { iterations: [] } } } },
      { type: 'end', finish: 'stop', extra: { format: 'messages', fields: { stop_details: {} } } },
      { type: 'extra', extra: { format: 'chat', fields: { own: 1 } } },
      { type: 'extra', extra: { format: 'gemini', fields: { madeForOthers: 1 } } },
    ),
    ['context', 'inner', 'usage.iterations', 'stop_details'],
  );
});

test('a picture that is shown in another place is not named, its own members are', () => {
  const warnings: Warning[] = [];
  const log = { warnings, warn: (more: readonly Warning[]) => warnings.push(...more) } as unknown as RequestLog;
  const format = { id: 'responses', supports: () => true } as unknown as ClientFormat;
  const source = { type: 'base64', mediaType: 'image/png', data: 'AAAA' } as const;
  const images = { type: 'image_url', index: 0, seed: 7 };
  const block = { type: 'media', media: 'image', source, extra: { format: 'chat', fields: { images } } } as const;
  new DroppedFields(log, format).note([{ type: 'block-start', index: 0, block }], 'chat');
  assert.deepEqual(
    warnings.map(({ path }) => path),
    ['seed'],
  );
});
