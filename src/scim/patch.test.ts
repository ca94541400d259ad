import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseOperations, patchGroup } from './patch.ts';

const id = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const operation = fc.oneof(
  fc.record({ op: fc.constantFrom('add', 'Add'), path: fc.constant('members'), ids: fc.array(id, { minLength: 1 }) }),
  fc.record({
    op: fc.constantFrom('remove', 'Remove'),
    path: fc.constant('members'),
    ids: fc.array(id, { minLength: 1 }),
  }),
  fc.record({ op: fc.constant('replace'), path: fc.constant('members'), ids: fc.array(id) }),
);

// @spec scim-6
test('changes members as sets do, whatever the operations and their order', () => {
  fc.assert(
    fc.property(fc.array(id), fc.array(operation, { maxLength: 12 }), (start, operations) => {
      let model: ReadonlySet<string> = new Set(start);
      for (const { op, ids } of operations) {
        const named = new Set(ids);
        const kind = op.toLowerCase();
        model = kind === 'add' ? model.union(named) : kind === 'remove' ? model.difference(named) : named;
      }
      const body = {
        Operations: operations.map(({ op, path, ids }) => ({ op, path, value: ids.map((value) => ({ value })) })),
      };
      const before = { displayName: 'g', externalId: null, members: new Set(start) };
      const { members } = patchGroup(before, 'g', parseOperations(body));
      assert.deepEqual([...members].toSorted(), [...model].toSorted());
      assert.deepEqual(before.members, new Set(start));
    }),
  );
});
