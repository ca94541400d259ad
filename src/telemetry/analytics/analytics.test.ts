import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { UsageReports } from '../../store/usage-reports.ts';
import { drawActivity } from './activity.ts';
import { createAnalytics } from './analytics.ts';

test('activity of which a part was left out is refused: a part of a sum looks like a sum', async () => {
  const reports = { read: () => Promise.resolve({ groups: [], truncated: true }) } as unknown as UsageReports;
  const clock = { nowMs: () => Date.parse('2026-11-20T12:00:00Z'), monotonicMs: () => 0 };
  const everything = { date: undefined, keyHash: undefined, memberId: undefined, workspaceId: undefined };
  await assert.rejects(
    drawActivity(createAnalytics({ reports, clock }), { ...everything, byWorkspace: false }),
    (error) => error instanceof GatewayError && error.status === 400 && /ask for one day/.test(error.message),
  );
});
