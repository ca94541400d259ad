import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DatabaseError } from 'pg';
import { hidePassword } from './address.ts';
import { classifyFault } from './fault.ts';

function answer(code: string, message = 'it said no'): DatabaseError {
  const error = new DatabaseError(message, message.length, 'error');
  error.code = code;
  return error;
}

const TRANSIENT = [
  '08006',
  '28P01',
  '40001',
  '40P01',
  '53100',
  '53300',
  '55P03',
  '57014',
  '57P01',
  '57P03',
  '25006',
  '42501',
  'XX001',
];
const PERMANENT = ['22P02', '23502', '23505', '42703', '42P01', 'XX000'];

test('distinguishes transient from permanent faults', () => {
  for (const code of TRANSIENT) assert.equal(classifyFault(answer(code)).transient, true, code);
  for (const code of PERMANENT) assert.equal(classifyFault(answer(code)).transient, false, code);
});

test('does not reuse a session that the server ends', () => {
  assert.equal(classifyFault(answer('57P01')).sessionLost, true);
  assert.equal(classifyFault(answer('57014')).sessionLost, false);
  assert.equal(classifyFault(answer('23505')).sessionLost, false);
});

test('retries a server that cannot be reached, and names it by its error', () => {
  const refused = Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' });
  assert.deepEqual(classifyFault(refused), {
    message: 'PostgreSQL cannot be reached: ECONNREFUSED',
    transient: true,
    duplicate: false,
    sessionLost: true,
  });
  assert.equal(classifyFault(new Error('Connection terminated unexpectedly')).transient, true);
});

test('does not retry a fault of our own', () => {
  assert.equal(classifyFault(new RangeError('too large')).transient, false);
});

test('does not repeat a refused value', () => {
  const fault = classifyFault(answer('22P02', 'invalid input syntax for type bigint: "secret"'));
  assert.equal(fault.message, 'The database refused a value (SQLSTATE 22P02).');
});

test('shows an address without password and parameters', () => {
  assert.equal(hidePassword('postgres://me:hunter2@db:5433/x?password=hunter2'), 'postgres://me@db:5433/x');
  for (const unescaped of ['hunter2%@db:x', '12/hunter2@db/x', 'a@hunter2/b@db/x', 'hunter2@c@db/x'])
    assert.equal(hidePassword(`postgres://me:${unescaped}`), 'of this address', unescaped);
});
