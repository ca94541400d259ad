import { SEVERITIES, type ChannelRow, type Severity } from '../resources/notification-channels.ts';
import type { NotificationEvent } from '../store/notifications/columns.ts';

/** What operators can be notified of. */
export interface EventType {
  readonly type: string;
  /** The highest that it has. */
  readonly severity: Severity;
  /** One sentence, for the dashboard and the documentation. */
  readonly what: string;
}

export const EVENT_TYPES: readonly EventType[] = [
  { type: 'credits.low', severity: 'warning', what: 'The balance of the account is low, where credit is enforced.' },
  { type: 'credits.negative', severity: 'critical', what: 'The balance of the account is used up.' },
  { type: 'key.limit', severity: 'critical', what: 'A key has spent 80 or 100 % of its limit.' },
  { type: 'workspace.budget', severity: 'critical', what: 'A workspace has spent 80 or 100 % of a budget.' },
  {
    type: 'guardrail.budget',
    severity: 'critical',
    what: 'A key or member has spent 80 or 100 % of what a guardrail allows.',
  },
  {
    type: 'key.created_by_oauth',
    severity: 'info',
    what: 'An application or a program was given a key that a person agreed to.',
  },
  {
    type: 'model.deprecated',
    severity: 'info',
    what: 'A model that was used in the last 30 days has an announced end.',
  },
  { type: 'model.gone', severity: 'warning', what: 'A model that was used in the last 30 days is gone.' },
  { type: 'price.changed', severity: 'info', what: 'A model that was used in the last 30 days has another price.' },
  { type: 'provider.down', severity: 'critical', what: 'An endpoint has failed for more than 5 minutes.' },
  { type: 'provider.recovered', severity: 'info', what: 'An endpoint that was reported serves again.' },
  { type: 'credential.rejected', severity: 'critical', what: 'A provider refuses a credential.' },
  { type: 'ledger.mismatch', severity: 'critical', what: 'Sums of the ledger do not agree.' },
  { type: 'database.away', severity: 'critical', what: 'The database did not answer for 30 seconds, and does again.' },
  { type: 'disk.low', severity: 'critical', what: 'Less than 10 % of the disk with the data are free.' },
  {
    type: 'containers.unsafe',
    severity: 'critical',
    what: 'Containers are configured, and nothing isolates them here.',
  },
  { type: 'evaluation.done', severity: 'warning', what: 'A benchmark run is done, was paused, or has failed.' },
  { type: 'security.signin_blocked', severity: 'warning', what: 'Too many sign-ins from an address were wrong.' },
  { type: 'destination.disabled', severity: 'warning', what: 'A destination was switched off after long failure.' },
  { type: 'webhook.disabled', severity: 'warning', what: 'A channel was switched off after long failure.' },
  {
    type: 'scim.user_deactivated',
    severity: 'info',
    what: 'The identity provider deactivated a user: its keys and sessions ended.',
  },
  {
    type: 'scim.last_admin_kept',
    severity: 'warning',
    what: 'The identity provider would have taken the last admin away: it keeps the role.',
  },
  { type: 'scim.silent', severity: 'warning', what: 'An identity provider has sent nothing for 7 days.' },
  { type: 'vault.stale', severity: 'warning', what: 'A secret of the vault has an old value (vault.max_age_days).' },
  { type: 'classifier.capped', severity: 'warning', what: 'A classifier has reached its cost limit of the day.' },
  {
    type: 'intern.needs_input',
    severity: 'warning',
    what: 'A run of an intern waits for a person to decide. Its creator and admins can.',
  },
  { type: 'intern.failed', severity: 'warning', what: 'A run of an intern has failed, or got no decision in time.' },
  {
    type: 'intern.schedule_skipped',
    severity: 'info',
    what: 'A schedule of an intern began no run, since as many as it may have were under way.',
  },
  { type: 'intern.schedule_paused', severity: 'warning', what: 'Five runs of a schedule have failed in a row.' },
  { type: 'notification.test', severity: 'info', what: 'The call of a test, for the channel that is tested alone.' },
];

/** Whether a channel receives an event. */
export function wants(
  { events, minSeverity, workspaceIds }: Pick<ChannelRow, 'events' | 'minSeverity' | 'workspaceIds'>,
  { type, severity, workspaceId }: Pick<NotificationEvent, 'type' | 'severity' | 'workspaceId'>,
): boolean {
  if (SEVERITIES.indexOf(severity) < SEVERITIES.indexOf(minSeverity)) return false;
  if (workspaceIds !== null && (workspaceId === null || !workspaceIds.includes(workspaceId))) return false;
  return events.some((pattern) => {
    if (pattern === '*' || pattern === type) return true;
    if (pattern === 'critical') return severity === 'critical';
    return pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1));
  });
}
