import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createSeccompFilter, hasSeccompFilter } from './seccomp.ts';

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;
const AUDIT = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;

/** Runs a program as the kernel does. */
function verdictOf(
  name: 'x64' | 'arm64',
  number: number,
  args: readonly number[] = [],
  audit: number = AUDIT[name],
): number {
  const program = createSeccompFilter(name);
  const data = new Map([[0, number], [4, audit], ...args.map((value, index) => [16 + 8 * index, value] as const)]);
  let loaded = 0;
  for (let at = 0; at * 8 < program.length; at++) {
    const code = program.readUInt16LE(at * 8);
    const [yes, no] = [program.readUInt8(at * 8 + 2), program.readUInt8(at * 8 + 3)];
    const value = program.readUInt32LE(at * 8 + 4);
    if (code === 0x20) loaded = data.get(value) ?? 0;
    else if (code === 0x06) return value;
    else if (code === 0x15) at += loaded === value ? yes : no;
    else if (code === 0x35) at += loaded >= value ? yes : no;
    else if (code === 0x45) at += (loaded & value) === 0 ? no : yes;
    else assert.fail(`an unknown instruction ${code}`);
  }
  return assert.fail('the program does not end');
}

suite('the filter of system calls', () => {
  // @spec container-3
  test('refuses what could lead out, on both architectures', () => {
    const [x64, arm64] = [
      [101, 165, 155, 272, 308, 310, 321, 250, 425, 304, 169, 428],
      [117, 40, 41, 97, 268, 270, 280, 219, 425, 265, 142, 428],
    ];
    for (const number of x64 ?? []) assert.equal(verdictOf('x64', number), EPERM, String(number));
    for (const number of arm64 ?? []) assert.equal(verdictOf('arm64', number), EPERM, String(number));
  });

  test('allows what programs do', () => {
    for (const number of [0, 1, 2, 9, 39, 57, 59, 202, 231, 257]) assert.equal(verdictOf('x64', number), ALLOW);
    for (const number of [56, 63, 64, 93, 98, 172, 221]) assert.equal(verdictOf('arm64', number), ALLOW);
  });

  // @spec container-3
  test('allows processes and threads, and no namespace with them', () => {
    const SIGCHLD = 17;
    const THREAD = 0x003d0f00;
    for (const [name, clone] of [
      ['x64', 56],
      ['arm64', 220],
    ] as const) {
      assert.equal(verdictOf(name, clone, [SIGCHLD]), ALLOW);
      assert.equal(verdictOf(name, clone, [THREAD]), ALLOW);
      for (const flag of [0x10000000, 0x20000000, 0x40000000, 0x00020000])
        assert.equal(verdictOf(name, clone, [flag | SIGCHLD]), EPERM, flag.toString(16));
      assert.equal(verdictOf(name, 435), ENOSYS);
    }
  });

  // @spec container-3
  test('allows sockets of the three usual families, and no input to terminals', () => {
    for (const family of [1, 2, 10]) assert.equal(verdictOf('x64', 41, [family]), ALLOW);
    for (const family of [0, 3, 16, 17, 38, 40, 44]) assert.equal(verdictOf('x64', 41, [family]), EPERM);
    assert.equal(verdictOf('x64', 16, [0, 0x5401]), ALLOW);
    for (const request of [0x5412, 0x541c]) assert.equal(verdictOf('x64', 16, [0, request]), EPERM);
    assert.equal(verdictOf('arm64', 198, [16]), EPERM);
  });

  test('kills what comes by another architecture or the second numbering', () => {
    assert.equal(verdictOf('x64', 1, [], 0x40000003), KILL);
    assert.equal(verdictOf('x64', 0x40000000 + 1), KILL);
    assert.equal(hasSeccompFilter('ia32'), false);
  });
});
