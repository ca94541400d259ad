import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bubblewrapArguments } from './arguments.ts';

// @spec container-3
test('binds two directories of the host alone, hides nothing by a later mount, and shares no namespace', () => {
  const args = bubblewrapArguments({ rootfs: '/r', home: '/h', tmpBytes: 7, seccompFd: 3 });
  const line = args.join(' ');
  assert.match(line, /^--unshare-all --unshare-user --disable-userns --assert-userns-disabled /);
  assert.match(line, / --ro-bind \/r \/ --proc \/proc --dev \/dev --size 7 --tmpfs \/tmp --bind \/h \/home\/agent /);
  assert.deepEqual(
    args.filter((arg) => /bind/.test(arg)),
    ['--ro-bind', '--bind'],
  );
  const withUploads = bubblewrapArguments({ rootfs: '/r', home: '/h', mnt: '/u', tmpBytes: 7, seccompFd: 3 }).join(' ');
  assert.match(
    withUploads,
    / --bind \/h \/home\/agent --ro-bind \/u \/mnt --chdir /,
    'what is uploaded cannot be written',
  );
  for (const option of ['--new-session', '--die-with-parent', '--clearenv', '--cap-drop ALL', '--seccomp 3'])
    assert.ok(line.includes(option), option);
  assert.doesNotMatch(line, /share-net|--cap-add|\/sys|\/run/);
});
