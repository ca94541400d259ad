import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STATUS_OF_ERROR_TYPE } from '../../src/canonical/gateway-error.ts';
import { AVAILABILITY_MEANINGS } from '../../src/http/management/errors.ts';
import { checkPart, markdownTable } from '../support/docs/generated-page.ts';

test('lists every kind of error with its status on the page of errors', () => {
  const byStatus = Map.groupBy(Object.entries(STATUS_OF_ERROR_TYPE), ([, status]) => status);
  const rows = [...byStatus].map(([status, kinds]) => [
    String(status),
    kinds.map(([kind]) => `\`${kind}\``).join(', '),
  ]);
  assert.ok(rows.length > 10, 'there are kinds to list');
  checkPart({ page: 'errors.md', name: 'error-types' }, markdownTable(['status', '`error_type`'], rows));
});

test('explains every availability code on the page of errors', () => {
  const rows = Object.entries(AVAILABILITY_MEANINGS).map(([code, meaning]) => [`\`${code}\``, meaning]);
  assert.ok(rows.length > 5, 'there are codes to explain');
  checkPart({ page: 'errors.md', name: 'availability' }, markdownTable(['code', 'meaning'], rows));
});
