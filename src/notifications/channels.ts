import { randomUUID } from 'node:crypto';
import { GatewayError, invalid } from '../canonical/gateway-error.ts';
import { namesVault, VaultError } from '../canonical/vault-reference.ts';
import { isUuid } from '../lib/ids.ts';
import { SecretBoxError } from '../lib/secret-box.ts';
import {
  channelResource,
  RECIPIENT_ROLES,
  type ChannelPatch,
  type ChannelRow,
  type NewChannelValues,
} from '../resources/notification-channels.ts';
import type { Page, PageWindow } from '../store/engine/page.ts';
import type { NotificationDeps } from './deps.ts';
import type { Message } from './message.ts';
import { openConfig, sealConfig, withAddress } from './sealed-address.ts';
import { newWebhookSecret } from './senders/webhook.ts';
import type { ChannelConfig } from './senders/sender.ts';

/** A channel as its owner sees it: its address is masked. */
export type ChannelRecord = Omit<ChannelRow, 'sealedConfig' | 'secretId'> & { readonly url: string | null };

/** `secret`: of a webhook, shown this once. */
export interface ChannelWithSecret {
  readonly record: ChannelRecord;
  readonly secret: string | undefined;
}

export type NewChannel = NewChannelValues & { readonly url?: string | undefined };
export type ChannelChange = ChannelPatch & {
  readonly url?: string | undefined;
  readonly rotatesSecret?: boolean | undefined;
};

export interface TestOutcome {
  readonly ok: boolean;
  readonly status: number | null;
  readonly error: string | null;
}

/** Where operators are notified. */
export interface Channels {
  /** @throws GatewayError 400, 409 when there is one of this name */
  create(input: NewChannel): Promise<ChannelWithSecret>;
  list(window: PageWindow): Promise<Page<ChannelRecord>>;
  /** @throws GatewayError 404 */
  get(id: string): Promise<ChannelRecord>;
  /** @throws GatewayError 400, 404, 409 */
  update(id: string, change: ChannelChange): Promise<ChannelWithSecret>;
  /** @throws GatewayError 404 */
  delete(id: string): Promise<void>;
  /** Sends a test, past quiet hours and bounds. @throws GatewayError 404, 429 within a minute of the last */
  test(id: string): Promise<TestOutcome>;
}

const CHANNELS_MAX = 50;
const TEST_EVERY_MS = 60_000;
const TEST_MS_MAX = 30_000;
/** For which the secret before signs as well. */
const ROTATION_MS = 86_400_000;

export function createChannels(deps: NotificationDeps): Channels {
  const { channels, onChange } = deps;
  const find = async (id: string): Promise<ChannelRow> => {
    const row = isUuid(id) ? await channels.find(id) : undefined;
    if (row === undefined) throw new GatewayError('not_found', 'There is no such channel.');
    return row;
  };
  return {
    create: (input) => create(deps, input),
    async list(window) {
      const { rows, totalCount } = await channels.list(window);
      return { rows: await Promise.all(rows.map((row) => recordOf(deps, row))), totalCount };
    },
    get: async (id) => recordOf(deps, await find(id)),
    async update(id, change) {
      return update(deps, await find(id), change);
    },
    async delete(id) {
      await find(id);
      await channels.remove(id);
      await onChange();
    },
    async test(id) {
      return test(deps, await find(id));
    },
  };
}

async function create(deps: NotificationDeps, { url, ...values }: NewChannel): Promise<ChannelWithSecret> {
  const { channels, clock, box, onChange } = deps;
  await checkTarget(deps, values.kind, { url, recipients: values.recipients ?? null });
  const secret = values.kind === 'webhook' ? newWebhookSecret() : undefined;
  const id = randomUUID();
  const nowMs = Math.floor(clock.nowMs());
  const config: ChannelConfig = { ...(url !== undefined && { url }), ...(secret !== undefined && { secret }) };
  const row = channelResource.newRow({
    ...values,
    id,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    ...sealConfig(await box(), id, config),
  });
  await channels.insert(row, (all) => {
    checkName(all, row);
    if (all.length >= CHANNELS_MAX)
      throw invalid('name', `there are ${CHANNELS_MAX} channels already, the most there may be`);
  });
  await onChange();
  return { record: await recordOf(deps, row), secret };
}

async function update(
  deps: NotificationDeps,
  before: ChannelRow,
  { url: sentUrl, rotatesSecret, ...settings }: ChannelChange,
): Promise<ChannelWithSecret> {
  const { channels, clock, box, onChange } = deps;
  const known = await openOrEmpty(deps, before);
  // What was read is sent back as it was shown.
  const url = sentUrl === undefined || sentUrl === masked(known.url) ? known.url : sentUrl;
  const recipients = settings.recipients === undefined ? before.recipients : settings.recipients;
  await checkTarget(deps, before.kind, { url, recipients });
  if (rotatesSecret === true && before.kind !== 'webhook')
    throw invalid('rotate_secret', 'is for channels of the kind webhook: the others are not signed');
  const nowMs = Math.floor(clock.nowMs());
  const needsSecret = before.kind === 'webhook' && (rotatesSecret === true || known.secret === undefined);
  const secret = needsSecret ? newWebhookSecret() : undefined;
  const config: ChannelConfig = {
    ...known,
    ...(url !== undefined && { url }),
    ...(secret !== undefined && {
      secret,
      ...(known.secret !== undefined && { previous: { secret: known.secret, untilMs: nowMs + ROTATION_MS } }),
    }),
  };
  const isTurnedOn = settings.enabled === true && !before.enabled;
  const isMended = isTurnedOn || (url !== known.url && before.state !== 'disabled');
  const row: ChannelRow = {
    ...before,
    ...settings,
    ...sealConfig(await box(), before.id, config),
    ...(isMended && { state: 'ok', failures: 0, failedEvents: 0, failingSinceMs: null, lastError: null }),
    // Never the same twice: it identifies the version.
    updatedAtMs: Math.max(nowMs, before.updatedAtMs + 1),
  };
  const isStored = await channels.update(row, before, (all) => {
    if (row.name !== before.name) checkName(all, row);
  });
  if (!isStored)
    throw new GatewayError('invalid_request', 'Another request changed the channel meanwhile.', { status: 409 });
  await onChange();
  return { record: await recordOf(deps, row), secret };
}

function checkName(all: readonly ChannelRow[], { id, name }: ChannelRow): void {
  if (all.some((other) => other.name === name && other.id !== id))
    throw new GatewayError('invalid_request', `name: there is a channel "${name}" already`, { status: 409 });
}

/** @throws GatewayError 400 */
async function checkTarget(
  {
    senders,
    faultOf,
    fillAddress,
    hasUsers,
  }: Pick<NotificationDeps, 'senders' | 'faultOf' | 'fillAddress' | 'hasUsers'>,
  kind: ChannelRow['kind'],
  { url, recipients }: { readonly url: string | undefined; readonly recipients: readonly string[] | null },
): Promise<void> {
  if (kind === 'email') {
    if (url !== undefined) throw invalid('url', 'is not for mail: name recipients');
    if (recipients === null) throw invalid('recipients', 'is needed: the addresses that get a mail');
    if (senders.email === undefined)
      throw invalid('kind', 'cannot be email: no mail server is configured (notifications.smtp)');
    if (!hasUsers && recipients.some((each) => RECIPIENT_ROLES.some((role) => role === each)))
      throw invalid('recipients', 'roles need an organization: organization.enabled is off');
    return;
  }
  if (recipients !== null) throw invalid('recipients', 'is for channels of the kind email');
  if (url === undefined) throw invalid('url', 'is needed: the address that is called');
  const fault = faultOf(await reveal(url, fillAddress));
  if (fault !== undefined)
    throw invalid('url', `cannot be called: ${fault} (notifications.private_addresses allows your own network)`);
}

/** @throws GatewayError 400 */
async function reveal(url: string, fillAddress: NotificationDeps['fillAddress']): Promise<string> {
  if (!namesVault(url)) return url;
  try {
    return await fillAddress(url);
  } catch (error) {
    if (error instanceof VaultError) throw invalid('url', `names a secret that is not released: ${error.message}`);
    throw error;
  }
}

async function test(deps: NotificationDeps, channel: ChannelRow): Promise<TestOutcome> {
  const { channels, senders, clock } = deps;
  const nowMs = Math.floor(clock.nowMs());
  if (!(await channels.takeTest(channel.id, nowMs, TEST_EVERY_MS)))
    throw new GatewayError('rate_limit_exceeded', 'The channel was tested within the last minute. Try again later.', {
      retryAfterMs: TEST_EVERY_MS,
    });
  const sender = senders[channel.kind];
  if (sender === undefined)
    return { ok: false, status: null, error: 'No mail server is configured (notifications.smtp).' };
  const message: Message = {
    id: `evt_test_${randomUUID()}`,
    type: 'notification.test',
    severity: 'info',
    subject: `channel:${channel.id}`,
    workspaceId: null,
    title: `A test of the channel "${channel.name}"`,
    text: 'This is a test. Nothing has happened.',
    values: { channel_id: channel.id },
    link: deps.publicUrl === undefined ? null : `${deps.publicUrl}/ui/notifications`,
    atMs: nowMs,
  };
  let config;
  try {
    config = await withAddress(deps, await openOrEmpty(deps, channel));
  } catch (error) {
    if (error instanceof VaultError) return { ok: false, status: null, error: error.message };
    throw error;
  }
  const result = await sender(message, {
    channel,
    config,
    signal: AbortSignal.timeout(TEST_MS_MAX),
    nowMs,
    done: [],
    onDone: () => Promise.resolve(),
  });
  return { ok: result.isSent, status: result.status, error: result.isSent ? null : result.error };
}

/** One whose secret is gone can still be seen, given another address, and deleted. */
async function openOrEmpty({ box, onUnreadable }: NotificationDeps, row: ChannelRow): Promise<ChannelConfig> {
  try {
    return openConfig(await box(), row);
  } catch (error) {
    if (!(error instanceof SecretBoxError)) throw error;
    onUnreadable(row.id, error);
    return {};
  }
}

async function recordOf(deps: NotificationDeps, row: ChannelRow): Promise<ChannelRecord> {
  const { sealedConfig: _sealed, secretId: _secret, ...record } = row;
  return { ...record, url: masked((await openOrEmpty(deps, row)).url) ?? null };
}

/** The host says which service it is; what is behind it is a secret. */
function masked(url: string | undefined): string | undefined {
  // A reference is no secret.
  if (url !== undefined && namesVault(url)) return url;
  const parsed = url === undefined ? null : URL.parse(url);
  return parsed === null ? undefined : `${parsed.origin}/***`;
}
