import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { ClientFormatId } from '../../src/canonical/extra.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/lib/json.ts';
import { checkGolden, goldenNames, shortenStrings } from '../support/golden.ts';
import { prepareRequest, withoutRefused, type RequestTarget } from '../support/prepare-request.ts';
import { listOf } from '../support/reported.ts';
import { CHAT, CHAT_VARIANTS, MESSAGES, MESSAGES_VARIANTS } from './full-requests.ts';
import { prepareResponsesRequest, RESPONSES, RESPONSES_VARIANTS } from './full-responses.ts';
import { REQUEST_NOTES } from './request-notes.ts';
import { TARGETS } from './targets.ts';

const CALLERS: readonly {
  readonly format: ClientFormatId;
  readonly full: JsonObject;
  readonly variants: Readonly<Record<string, JsonObject>>;
  readonly prepare: (body: JsonObject, target: RequestTarget) => JsonObject;
}[] = [
  { format: 'chat', full: CHAT, variants: CHAT_VARIANTS, prepare: (...given) => prepareRequest('chat', ...given) },
  {
    format: 'messages',
    full: MESSAGES,
    variants: MESSAGES_VARIANTS,
    prepare: (...given) => prepareRequest('messages', ...given),
  },
  { format: 'responses', full: RESPONSES, variants: RESPONSES_VARIANTS, prepare: prepareResponsesRequest },
];

const TEXT_CHARS_MAX = 400;

/** What a variant changes in the request that leaves: members of the body that are others, or gone, and the warnings. */
function differenceOf(full: JsonObject, variant: JsonObject): JsonObject {
  if (variant['refused'] !== undefined) return variant;
  const [before, after] = [full['body'], variant['body']];
  assert.ok(isJsonObject(before) && isJsonObject(after));
  const gone: string[] = [];
  const body = changedMembers(before, after, '', gone);
  const known = listOf(full['warnings']);
  const reported = listOf(variant['warnings']);
  const [newWarnings, noWarnings] = [
    reported.filter((one) => !known.includes(one)),
    known.filter((one) => !reported.includes(one)),
  ];
  return {
    ...(variant['path'] !== full['path'] && { path: variant['path'] }),
    ...(!isDeepStrictEqual(variant['headers'], full['headers']) && { headers: variant['headers'] }),
    body,
    ...(gone.length > 0 && { without: gone }),
    ...(newWarnings.length > 0 && { warnings: newWarnings }),
    ...(noWarnings.length > 0 && { without_warnings: noWarnings }),
  };
}

/** @param gone takes the paths of the members that are not there any more */
function changedMembers(before: JsonObject, after: JsonObject, path: string, gone: string[]): JsonObject {
  for (const member of Object.keys(before)) if (!(member in after)) gone.push(path + member);
  const changed = Object.entries(after).flatMap(([member, value]): [string, Json][] => {
    const old = before[member];
    if (isDeepStrictEqual(value, old)) return [];
    const inner = isJsonObject(value) && isJsonObject(old);
    return [[member, inner ? changedMembers(old, value, `${path}${member}.`, gone) : (value ?? null)]];
  });
  return Object.fromEntries(changed);
}

function checkFullRequest(
  name: string,
  target: RequestTarget,
  { format, full, variants, prepare }: (typeof CALLERS)[number],
): void {
  const file = `${format}-full.${name}`;
  const readable = withoutRefused(full, (body) => prepare(body, target));
  const formatted = prepare(readable.body, target);
  const differences = Object.entries(variants).map(([title, change]): [string, Json] => [
    title,
    differenceOf(formatted, prepare({ ...readable.body, ...change }, target)),
  ]);
  const why = REQUEST_NOTES[file];
  const golden: JsonObject = {
    ...(why !== undefined && { why }),
    ...formatted,
    ...(readable.refused.length > 0 && { refused_files: readable.refused }),
    variants: Object.fromEntries(differences),
  };
  checkGolden(`requests/${file}.json`, shortenStrings(golden, TEXT_CHARS_MAX));
}

suite('full requests at each kind of upstream', () => {
  const formatted: string[] = [];
  for (const [name, target] of Object.entries(TARGETS)) {
    for (const caller of CALLERS) {
      const file = `${caller.format}-full.${name}`;
      formatted.push(file);
      test(file, () => checkFullRequest(name, target, caller));
    }
  }
  test('have a request for every golden and every note', () => {
    assert.deepEqual(goldenNames('requests'), formatted.toSorted());
    assert.deepEqual(
      Object.keys(REQUEST_NOTES).filter((file) => !formatted.includes(file)),
      [],
    );
  });
});
