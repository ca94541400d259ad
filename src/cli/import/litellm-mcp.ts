import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import { noteRest } from './litellm-models.ts';
import type { Notes } from './notes.ts';
import { Section, unlessEmpty, withMember } from './section.ts';
import { textOf, translate, translateText } from './values.ts';

/** It is part of the names of functions here. */
const NOT_IN_NAME = /[^a-z0-9]+/g;

/** `mcp_servers`: those over HTTP, and those that run beside the gateway. */
export function importMcpServers(servers: Section, notes: Notes): JsonObject {
  const imported: Record<string, Json> = {};
  for (const [name, value] of servers.entries()) {
    const entry = new Section(servers.pathOf(name), value);
    const transport = entry.text('transport');
    const url = translateText(entry.text('url'));
    const command = translateText(entry.text('command'));
    if (transport === 'sse') {
      notes.add(
        'lost',
        entry.path,
        'the transport sse is not spoken here; the server may have an address for streamable HTTP',
      );
      continue;
    }
    if (url === undefined && command === undefined) {
      notes.add('lost', entry.path, 'a server has a url or a command');
      continue;
    }
    const args = entry.list('args').map((one) => translate(one));
    imported[nameOf(name)] = {
      ...withMember('url', url),
      ...withMember('headers', url === undefined ? undefined : unlessEmpty(readHeaders(entry))),
      ...withMember('command', command),
      ...(args.length > 0 && { args }),
      ...withMember('env', readMapping(entry, 'env')),
      ...readTools(entry),
    };
    for (const known of ['description', 'spec_version', 'mcp_info', 'alias']) entry.take(known);
    noteRest('mcp_servers', entry, notes);
  }
  return imported;
}

function nameOf(name: string): string {
  return name.toLowerCase().replaceAll(NOT_IN_NAME, '-').replaceAll(/^-|-$/g, '');
}

function readMapping(entry: Section, key: string): JsonObject | undefined {
  const given = entry.take(key);
  if (!isJsonObject(given)) return undefined;
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, translateText(textOf(value))]));
}

/** How their kinds of credentials stand in a header. */
const SCHEMES: Readonly<Record<string, readonly [header: string, scheme: string]>> = {
  bearer_token: ['authorization', 'Bearer '],
  basic: ['authorization', 'Basic '],
  authorization: ['authorization', ''],
  api_key: ['x-api-key', ''],
};

function readHeaders(entry: Section): JsonObject {
  const [kind, token, value] = ['auth_type', 'authentication_token', 'auth_value'].map((name) => entry.text(name));
  const scheme = kind !== undefined && Object.hasOwn(SCHEMES, kind) ? SCHEMES[kind] : undefined;
  const secret = translateText(token ?? value);
  return {
    ...(scheme !== undefined && secret !== undefined && { [scheme[0]]: `${scheme[1]}${secret}` }),
    ...readMapping(entry, 'static_headers'),
  };
}

function readTools(entry: Section): JsonObject {
  const tools = entry.list('allowed_tools').map(String);
  return tools.length > 0 ? { tools } : {};
}
