import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { manage, textAt } from '../support/byok.ts';
import type { RunningGateway } from '../support/gateway.ts';
import { startTwoProviders, type TwoProviders, type TwoProvidersOptions } from '../support/two-providers.ts';
import { json, chatAnswer } from '../support/upstream.ts';

export interface FilteredGateway extends TwoProviders {
  readonly guardrailId: string;
  /** Everything that the first upstream was sent, as text. */
  sent(): string;
}

/** A gateway whose default workspace has these filters. */
export async function startFiltered(
  t: TestContext,
  filters: { readonly content_filters?: readonly object[]; readonly content_filter_builtins?: readonly object[] },
  options: Partial<TwoProvidersOptions> = {},
): Promise<FilteredGateway> {
  const stage = await startTwoProviders(t, { first: json(200, chatAnswer('Fine.')), ...options });
  const guardrailId = await setFilters(stage.gateway, filters);
  return { ...stage, guardrailId, sent: () => stage.first.arrived.map(({ text }) => text).join('\n') };
}

/** Adds the filters to the default guardrail. @returns the id of the guardrail */
export async function setFilters(gateway: Pick<RunningGateway, 'baseUrl'>, filters: object): Promise<string> {
  const workspaces = await manage(gateway, 'GET', '/workspaces');
  const [workspace] = workspaces.body['data'] as JsonObject[];
  assert.ok(isJsonObject(workspace), workspaces.text);
  const guardrailId = textAt(workspace, 'default_guardrail_id');
  const changed = await manage(gateway, 'PATCH', `/guardrails/${guardrailId}`, filters);
  assert.equal(changed.status, 200, changed.text);
  return guardrailId;
}

export interface Reported {
  readonly status: number;
  readonly text: string;
  readonly body: JsonObject;
  readonly error: JsonObject;
  readonly metadata: JsonObject;
  readonly stages: readonly JsonObject[];
}

/** Asks for a whole answer, with metadata. */
export async function ask({ gateway }: Pick<TwoProviders, 'gateway'>, path: string, body: object): Promise<Reported> {
  const answer = await gateway.post(
    path,
    { model: 'acme/first', ...(path === '/messages' && { max_tokens: 50 }), ...body },
    { 'x-service-metadata': 'enabled' },
  );
  const text = await answer.text();
  const parsed: unknown = JSON.parse(text);
  assert.ok(isJsonObject(parsed), text);
  const { error, service_metadata: metadata } = parsed;
  const refused = isJsonObject(error) ? error : {};
  const pipeline = isJsonObject(metadata) ? metadata['pipeline'] : undefined;
  return {
    status: answer.status,
    text,
    body: parsed,
    error: refused,
    metadata: isJsonObject(refused['metadata']) ? refused['metadata'] : {},
    stages: Array.isArray(pipeline) ? (pipeline as JsonObject[]) : [],
  };
}
