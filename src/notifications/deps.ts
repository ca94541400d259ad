import type { Clock } from '../lib/clock.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { ChannelKind } from '../resources/notification-channels.ts';
import type { ChannelStore } from '../store/notifications/channels.ts';
import type { Outbox } from '../store/notifications/outbox.ts';
import type { Send } from './senders/sender.ts';

/** What all parts of notifications share. */
export interface NotificationDeps {
  readonly channels: ChannelStore;
  readonly outbox: Outbox;
  readonly jobs: Pick<Jobs, 'add'>;
  readonly senders: Readonly<Record<ChannelKind, Send | undefined>>;
  /** Why an address is not called whatever it answers; `undefined`: it may be. */
  readonly faultOf: (url: string) => string | undefined;
  /** The address itself, where a channel's names a secret of the vault. @throws VaultError */
  readonly fillAddress: (url: string) => Promise<string>;
  readonly box: () => Promise<SecretBox>;
  readonly clock: Clock;
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
  /** Whether there are users who have roles. */
  readonly hasUsers: boolean;
  /** Where browsers find the dashboard; absent: messages have no link. */
  readonly publicUrl: string | undefined;
  /** Channels were made, changed or deleted; settles when that counts. Never rejects. */
  readonly onChange: () => Promise<void>;
  readonly onSent: (kind: string, outcome: 'sent' | 'again' | 'failed') => void;
  readonly onUnreadable: (id: string, error: unknown) => void;
}
