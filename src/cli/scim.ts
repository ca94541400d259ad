import { readFile } from 'node:fs/promises';
import type { Config } from '../config/config.ts';
import { CONFIG_FLAGS, parseFlags } from '../config/flags.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import { systemClock } from '../lib/clock.ts';
import { isJsonObject, type JsonObject } from '../lib/json.ts';
import { outcomeOf } from '../scim/request-log.ts';
import { respond, SCIM_ROOT } from '../scim/respond.ts';
import { createScim, type ScimEvent } from '../scim/scim.ts';
import { ScimError } from '../scim/scim-error.ts';
import { createScimTokens, type ScimTokens } from '../scim/tokens.ts';
import type { ScimRequestRow } from '../store/scim/columns.ts';
import { tryWithScimStore } from '../store/scim/dry-run.ts';
import { readScimOverview } from '../store/scim/overview.ts';
import { createScimTokenStore } from '../store/scim/tokens.ts';
import type { Database } from '../store/engine/database.ts';
import { openAuditTrail } from './audit/audit-trail.ts';
import { CommandError, unknownVerb, UsageError, type Io } from './command.ts';
import { configArgs, loadCheckedConfig } from './load-config.ts';
import { openConfiguredDatabase } from './open-database.ts';

const FLAGS = { ...CONFIG_FLAGS } as const;
/** Each with what it names. */
const VERBS = {
  'token create': 'the token, after the identity provider',
  'token list': undefined,
  'token delete': 'a token by its id',
  status: undefined,
  'check-file': 'a file',
} as const;
type Verb = keyof typeof VERBS;

/** `model-gateway scim`: works on the store itself; a running gateway sees the change at once. */
export async function runScim(args: readonly string[], io: Io): Promise<number> {
  const { values, words } = parseFlags(args, FLAGS);
  const taken = words[0] === 'token' ? 2 : 1;
  const word = words.slice(0, taken).join(' ');
  const [operand, surplus] = words.slice(taken);
  const verb = Object.keys(VERBS).find((known): known is Verb => known === word);
  if (verb === undefined) throw unknownVerb('scim', word, Object.keys(VERBS));
  const wanted = VERBS[verb];
  if (wanted !== undefined && operand === undefined) throw new UsageError(`scim ${verb}: name ${wanted}`);
  const extra = wanted === undefined ? operand : surplus;
  if (extra !== undefined) throw new UsageError(`scim ${verb}: ${extra}: unexpected argument`);
  const { config } = loadCheckedConfig(configArgs(values), io.env);
  const requests = verb === 'check-file' ? await readRequests(operand ?? '') : [];
  const database = await openConfiguredDatabase(config, { makes: verb === 'token create' });
  try {
    const tokens = createScimTokens({ store: createScimTokenStore({ database }), clock: systemClock });
    const print = (line: string): void => void io.stdout.write(`${line.replace(/\p{Cc}/gu, ' ')}\n`);
    if (verb === 'status') await showStatus(config, database, print);
    else if (verb === 'check-file') return await checkFile(config, database, requests, print);
    else await onTokens(tokens, verb, operand ?? '', print, openAuditTrail(database, io));
    return 0;
  } catch (error) {
    if (error instanceof GatewayError) throw new CommandError(error.message);
    throw error;
  } finally {
    await database.close();
  }
}

type Print = (line: string) => void;

async function onTokens(
  tokens: ScimTokens,
  verb: Verb,
  operand: string,
  print: Print,
  recordChange: ReturnType<typeof openAuditTrail>,
): Promise<void> {
  if (verb === 'token list') {
    for (const { id, name, label, expiresAtMs, lastUsedAtMs, lastUsedFrom } of await tokens.list())
      print(
        `${id}  ${label}  ${name}  ${expiresAtMs === null ? 'never expires' : `until ${timeOf(expiresAtMs)}`}  ${lastUsedAtMs === null ? 'never used' : `last used ${timeOf(lastUsedAtMs)} from ${lastUsedFrom ?? 'unknown'}`}`,
      );
  } else if (verb === 'token delete') {
    await tokens.delete(operand);
    await recordChange('scim token delete', `/scim/tokens/${operand}`);
  } else {
    const { row, token } = await tokens.create(operand, undefined);
    await recordChange('scim token create', `/scim/tokens/${row.id}`, { name: operand });
    print(token);
  }
}

async function showStatus({ scim, organization }: Config, database: Database, print: Print): Promise<void> {
  const isOn = scim.enabled && organization.enabled;
  const { users, activeUsers, groups, mappings, lastRequest, lastRefusal } = await readScimOverview(database);
  print(`SCIM is ${isOn ? 'on' : 'off'}`);
  print(`${users} users, ${activeUsers} of them active; ${groups} groups, ${mappings} mappings`);
  print(`last request: ${formatRequest(lastRequest)}`);
  print(`last refusal: ${formatRequest(lastRefusal)}`);
}

function formatRequest(row: ScimRequestRow | undefined): string {
  if (row === undefined) return 'none';
  const { atMs, method, path, status, outcome } = row;
  return `${timeOf(atMs)}  ${method} ${path}  ${status}  ${outcome}`;
}

interface FileRequest {
  readonly method: string;
  readonly url: URL;
  readonly body: string | undefined;
}

/** @throws CommandError */
async function readRequests(path: string): Promise<readonly FileRequest[]> {
  const text = await readFile(path, 'utf8').catch(() => {
    throw new CommandError(`${path}: cannot be read`);
  });
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch (cause) {
    throw new CommandError(`${path}: is not JSON`, { cause });
  }
  if (!Array.isArray(list)) throw new CommandError(`${path}: must be a list of requests`);
  return list.map((each: unknown, index) => {
    const { method = 'GET', path: target, body } = isJsonObject(each) ? each : ({} as JsonObject);
    if (typeof method !== 'string' || typeof target !== 'string' || !target.startsWith('/'))
      throw new CommandError(`${path}: request ${index + 1}: needs method, path (such as /Users), and body`);
    const url = new URL(SCIM_ROOT + target.replace(/^\/scim\/v2/, ''), 'http://host');
    return { method: method.toUpperCase(), url, body: body === undefined ? undefined : JSON.stringify(body) };
  });
}

/** What requests would change, of which nothing stays. Exits with 1 where one would be refused. */
async function checkFile(
  { scim: settings, organization }: Config,
  database: Database,
  requests: readonly FileRequest[],
  print: Print,
): Promise<number> {
  let refused = 0;
  await tryWithScimStore(database, async (store) => {
    for (const [index, request] of requests.entries()) {
      const events: ScimEvent[] = [];
      const scim = createScim({
        store,
        rules: { ...settings, adminGroup: settings.adminGroup, usersMax: organization.usersMax },
        onKeys: () => undefined,
        onEvent: async (event) => void events.push(event),
        clock: systemClock,
      });
      const place = { baseUrl: settings.baseUrl ?? SCIM_ROOT, groupPatchBody: settings.groupPatchBody };
      const say = (status: number, outcome: string): void =>
        print(`${index + 1}  ${request.method} ${request.url.pathname}  ${status}  ${outcome}`);
      try {
        const { status } = await respond(scim, { ...request, ifMatch: undefined, ifNoneMatch: undefined }, place);
        say(status, outcomeOf(events) || 'changes nothing');
      } catch (error) {
        if (!(error instanceof ScimError)) throw error;
        refused += 1;
        say(error.status, error.message);
      }
    }
  });
  return refused === 0 ? 0 : 1;
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
