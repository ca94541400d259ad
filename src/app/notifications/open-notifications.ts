import { parseStaticKeys } from '../../accounts/keys/authenticate.ts';
import type { StaticKeys } from '../../accounts/keys/keys.ts';
import { createKeyLimits } from '../../accounts/limits/key-limits.ts';
import type { FillSecrets } from '../../canonical/vault-reference.ts';
import type { Config } from '../../config/config.ts';
import type { Jobs } from '../../jobs/jobs.ts';
import type { Clock } from '../../lib/clock.ts';
import { createProxyOf } from '../../lib/net/proxy/proxies.ts';
import { isPublicOrOwnAddress } from '../../lib/net/public-address.ts';
import type { SecretBox } from '../../lib/secret-box.ts';
import type { MoneyWatchDeps } from '../../notifications/money-watch.ts';
import { createNotifications, type Notifications } from '../../notifications/notifications.ts';
import type { NotificationDeps } from '../../notifications/deps.ts';
import {
  createChatSender,
  encodeDiscord,
  encodeMattermost,
  encodeSlack,
  encodeTeams,
} from '../../notifications/senders/chat.ts';
import { sendToRoles } from '../../notifications/senders/roles.ts';
import { createMailSender } from '../../notifications/senders/email.ts';
import { createWebhookSender } from '../../notifications/senders/webhook.ts';
import type { SharedState } from '../../state/contract.ts';
import type { KeyStore } from '../../store/accounts/keys.ts';
import { createWorkspaceStore } from '../../store/accounts/workspaces.ts';
import type { Database } from '../../store/engine/database.ts';
import { createChannelStore } from '../../store/notifications/channels.ts';
import { createRoleAddresses, type RoleAddresses } from '../../store/notifications/role-addresses.ts';
import { createOutbox } from '../../store/notifications/outbox.ts';
import { createSpenders } from '../../store/notifications/spenders.ts';
import type { Log } from '../../telemetry/logs.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { createPoster } from '../../telemetry/destinations/post.ts';
import type { Administration } from '../administration.ts';
import type { AppliedRecords } from '../applied-records.ts';
import type { Spending } from '../spending.ts';
import type { VaultArea } from '../vault/vault-area.ts';
import { noticeOfChange } from './audit-notices.ts';

export interface NotificationParts {
  readonly config: Pick<Config, 'notifications' | 'organization' | 'proxies' | 'server'>;
  readonly database: Database;
  readonly state: Pick<SharedState, 'invalidations'>;
  readonly records: Pick<AppliedRecords, 'wait'>;
  readonly keyStore: Pick<KeyStore, 'find'>;
  readonly staticKeys: StaticKeys;
  readonly administration: Pick<Administration, 'policies' | 'audit'>;
  readonly spending: Pick<Spending, 'sumSince' | 'totals'>;
  readonly jobs: Jobs;
  readonly vault: Pick<VaultArea, 'fill'>;
  readonly box: () => Promise<SecretBox>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'notified'>;
  readonly random: () => number;
  readonly keepsStore: boolean;
  readonly notificationTickMs?: number | undefined;
}

const TOPIC = 'notification channels';
const DAY_MS = 86_400_000;

export function openNotifications(parts: NotificationParts): Notifications {
  const { config, database, state, clock, log, metrics, keyStore, spending, administration } = parts;
  const { close, ...outbound } = openSenders(config, parts.vault.fill, createRoleAddresses(database));
  const workspaces = createWorkspaceStore({ database });
  const spentLately = createSpenders(database);
  const notifications = createNotifications({
    channels: createChannelStore(database),
    outbox: createOutbox(database),
    jobs: parts.jobs,
    ...outbound,
    box: parts.box,
    clock,
    random: parts.random,
    publicUrl: config.server.publicUrl,
    hasUsers: config.organization.enabled,
    async onChange() {
      await notifications.refresh();
      state.invalidations.announce(TOPIC, '');
    },
    onSent: (kind, outcome) => metrics.notified(kind, outcome),
    onUnreadable: (id, error) => log.general.error({ id, err: error }, 'a notification channel cannot be read'),
    keepsStore: parts.keepsStore,
    onFailed: (error) => log.general.warn({ err: error }, 'notifications could not be looked at: tried again later'),
    tickMs: parts.notificationTickMs,
    findKey: findKeyIn(keyStore, parseStaticKeys(parts.staticKeys)),
    limits: createKeyLimits({ ...spending, policyOf: (subject) => administration.policies.policyOf(subject), clock }),
    workspaceName: async (id) => (await workspaces.find(id))?.name,
    creditsLowNanoUsd: config.notifications.creditsLowNanoUsd,
    spentLately(limit) {
      const nowMs = clock.nowMs();
      // Records of the last minutes before midnight may come after it.
      return spentLately(nowMs - (nowMs % DAY_MS) - DAY_MS, limit);
    },
    waitForRecords: () => parts.records.wait(),
    closeSenders: close,
  });
  administration.audit.watch((change) => {
    const notice = notifications.isOn ? noticeOfChange(change, clock.nowMs()) : undefined;
    if (notice !== undefined) void notifications.raise(notice);
  });
  state.invalidations.subscribe(TOPIC, () => void notifications.refresh());
  return notifications;
}

/** A key from the environment spends what its workspace and the account have, as any other. */
function findKeyIn(
  keyStore: Pick<KeyStore, 'find'>,
  staticKeys: ReturnType<typeof parseStaticKeys>,
): MoneyWatchDeps['findKey'] {
  return async (hash) => {
    const fixed = staticKeys.get(hash);
    if (fixed === undefined) return keyStore.find(hash);
    const { name, label, workspaceId, memberId } = fixed;
    const noLimit = { limitNanoUsd: null, limitReset: null, includeByokInLimit: false };
    return { hash, name, label, workspaceId, creatorUserId: memberId, ...noLimit };
  };
}

/** By what each kind of channel is reached. */
export function openSenders(
  { notifications: { smtp, privateAddresses }, proxies }: Pick<Config, 'notifications' | 'proxies'>,
  fill: FillSecrets,
  roles: RoleAddresses,
): Pick<NotificationDeps, 'senders' | 'faultOf' | 'fillAddress'> & { readonly close: () => Promise<void> } {
  const poster = createPoster({
    ...(privateAddresses && { isAllowed: isPublicOrOwnAddress, protocols: ['https:', 'http:'] }),
    proxyOf: createProxyOf(proxies),
  });
  const mail = smtp && createMailSender(smtp, fill);
  return {
    senders: {
      webhook: createWebhookSender(poster),
      slack: createChatSender(poster, encodeSlack),
      mattermost: createChatSender(poster, encodeMattermost),
      teams: createChatSender(poster, encodeTeams),
      discord: createChatSender(poster, encodeDiscord),
      email: mail && sendToRoles(mail.send, roles),
    },
    faultOf: (url) => poster.faultOf(url),
    async fillAddress(url) {
      const { texts } = await fill({ url }, { url: undefined, caller: 'notifications', isAddress: true });
      return texts['url'] ?? url;
    },
    async close() {
      mail?.close();
      await poster.close();
    },
  };
}
