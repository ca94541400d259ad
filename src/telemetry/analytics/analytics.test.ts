import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { serializeActivity } from './activity.ts';
import { TooLateError, type UsageReports } from '../../store/usage/usage-reports.ts';
import { createAnalytics } from './analytics.ts';

test('rejects activity that would be incomplete, since a part looks like a sum', async () => {
  const reports = { read: () => Promise.resolve({ groups: [], truncated: true }) } as unknown as UsageReports;
  const clock = { nowMs: () => Date.parse('2026-11-20T12:00:00Z'), monotonicMs: () => 0 };
  const everything = { date: undefined, keyHash: undefined, memberId: undefined, workspaceId: undefined };
  await assert.rejects(
    serializeActivity(createAnalytics({ reports, clock }), { ...everything, byWorkspace: false }),
    (error) => error instanceof GatewayError && error.status === 400 && /request one day/.test(error.message),
  );
});

// @spec analytics-8
test('returns 408 for a query of more than 20 seconds', async () => {
  let nowMs = 0;
  const reports = {
    read: (_input: unknown, { isLate }: { readonly isLate: () => boolean }) => {
      nowMs = 20_000;
      assert.equal(isLate(), false);
      nowMs += 1;
      return isLate() ? Promise.reject(new TooLateError()) : assert.fail('the query goes on');
    },
  } as unknown as UsageReports;
  const clock = { nowMs: () => Date.parse('2026-11-20T12:00:00Z'), monotonicMs: () => nowMs };
  const everything = { date: undefined, keyHash: undefined, memberId: undefined, workspaceId: undefined };
  await assert.rejects(
    serializeActivity(createAnalytics({ reports, clock }), { ...everything, byWorkspace: false }),
    (error) => error instanceof GatewayError && error.status === 408,
  );
});

// @spec analytics-14
test('refuses an export while four others are read, and takes it once one of them is over', async () => {
  const reports = { read: () => Promise.resolve({ groups: [], truncated: false }) } as unknown as UsageReports;
  const clock = { nowMs: () => Date.parse('2026-11-20T12:00:00Z'), monotonicMs: () => 0 };
  const analytics = createAnalytics({ reports, clock });
  const query = { metrics: ['request_count'] };
  const [first] = await Promise.all(Array.from({ length: 4 }, () => analytics.export(query)));
  await assert.rejects(
    analytics.export(query),
    (error) => error instanceof GatewayError && error.status === 429 && error.retryAfterMs === 5_000,
  );
  first?.release();
  first?.release();
  await assert.rejects(analytics.export({ metrics: ['colour'] }), { status: 400 });
  await analytics.export(query);
  await assert.rejects(analytics.export(query), { status: 429 });
});
