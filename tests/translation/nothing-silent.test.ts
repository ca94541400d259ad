import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { prepareRequest, withoutUnreadable } from '../support/prepare-request.ts';
import { listOf, textOf } from '../support/reported.ts';
import { CHAT, MESSAGES } from './full-requests.ts';
import { TARGETS } from './targets.ts';

/** Members that are for the gateway, so that no upstream sees a difference. */
const FOR_THE_GATEWAY =
  /^(?:provider|route|plugins|session_id|user|trace|stop_server_tools_when|max_tool_calls|debug|transforms|usage|x_search_filter|n|models|fallbacks|metadata|stream_options|include_reasoning|model|anthropic_version)\b/;

/** Members that say what holds without them, or what stands beside them a second time. */
const STATES_NOTHING: readonly RegExp[] = [
  // The default.
  /^tool_choice|^tools\[\d\]\.(?:type|function\.strict)$|parameters\.type$|input_schema\.type$|input$/,
  /refusal$|start_index$|page_age$|^modalities$|cache_control\.ttl$|^service_tier$|\$schema$/,
  // Said twice: by the details, by the other member for thinking, by the other limit.
  /^messages\[3\]\.reasoning$|^reasoning|^output_config\.effort$|^max_completion_tokens$|^verbosity$/,
  // The place of a detail among the others, and fields that only name its kind.
  /reasoning_details\[\d\]\.(?:index|id|format)$/,
  // Read by a router of the gateway. @spec router-16
  /^messages\[3\]\.model$/,
  // Written by the gateway where a strict tool must have it.
  /(?:parameters|input_schema)\.additionalProperties$/,
  // A schema is kept to anyway, and thoughts are shown in short where they are shown at all.
  /json_schema\.strict$|^thinking\.display$/,
  // Useless without `logprobs`, whose loss is reported.
  /^top_logprobs$/,
];

type Path = readonly (string | number)[];

function pathsOf(value: Json | undefined, at: Path = []): readonly Path[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => pathsOf(item, [...at, index]));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]): Path[] =>
    // A schema is one value: what may stand in it is the business of its own tests.
    name === '$defs' || name === 'properties' ? [] : [[...at, name], ...pathsOf(member, [...at, name])],
  );
}

function without(body: JsonObject, path: Path): JsonObject {
  const copy = structuredClone(body) as Record<string, unknown>;
  let holder: Record<string, unknown> = copy;
  for (const step of path.slice(0, -1)) holder = holder[step] as Record<string, unknown>;
  delete holder[path.at(-1) ?? ''];
  return copy as JsonObject;
}

function format(path: Path): string {
  return path.map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? step : `.${step}`)).join('');
}

/** Members that neither the upstream nor a warning would miss. */
function silentMembers(caller: 'chat' | 'messages', full: JsonObject, target: (typeof TARGETS)[keyof typeof TARGETS]) {
  const { body } = withoutUnreadable(caller, full, target);
  const sent = prepareRequest(caller, body, target);
  assert.equal(sent['refused'], undefined, JSON.stringify(sent));
  const reported = JSON.stringify(sent);
  const warned = listOf(sent['warnings']).map((warning) => /^\S+ (.+?): /.exec(textOf(warning))?.[1] ?? '');
  return pathsOf(body)
    .map((path) => ({ path, formatted: format(path) }))
    .filter(
      ({ formatted }) => !FOR_THE_GATEWAY.test(formatted) && !STATES_NOTHING.some((known) => known.test(formatted)),
    )
    .filter(
      ({ formatted }) =>
        !warned.some(
          (prefix) => formatted === prefix || formatted.startsWith(`${prefix}.`) || formatted.startsWith(`${prefix}[`),
        ),
    )
    .filter(({ path }) => JSON.stringify(prepareRequest(caller, without(body, path), target)) === reported)
    .map(({ formatted }) => formatted);
}

suite('a full request', () => {
  for (const [name, target] of Object.entries(TARGETS)) {
    test(`loses no field without a warning from a chat caller to ${name}`, () =>
      assert.deepEqual(silentMembers('chat', CHAT, target), []));
    test(`loses no field without a warning from a messages caller to ${name}`, () =>
      assert.deepEqual(silentMembers('messages', MESSAGES, target), []));
  }
});
